"""`rexmit help CAUSE`: what one cause of lost time means, and how it is recognised."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from textwrap import wrap

from rexmit.screen.connection import labelled
from rexmit.screen.wide import hanging, page_width
from rexmit.screen.words import closed_sets, properties


def names() -> tuple[str, ...]:
    """The causes, in the order of the documents."""
    return tuple(closed_sets()["answer_cause"])


def page(cause: str) -> list[str]:
    """One cause as lines. Raises KeyError if there is no such cause."""
    words = closed_sets()["answer_cause"][cause]
    lines = [f"{cause}: {words}"]
    for label, key in (("means", "means"), ("seen by", "recognised"), ("helps", "helps")):
        lines += labelled(label, properties("answer_cause", key)[cause])
    return lines


def listed() -> list[str]:
    """All causes, each with the first sentence of what it means."""
    means = properties("answer_cause", "means")
    width = max(map(len, means))
    lines = []
    for name, text in means.items():
        lines += hanging(f"  {name}", text.split(". ")[0].rstrip(".") + ".", width + 4)
    more = "rexmit help CAUSE says what one means, how it is recognised, and what helps"
    return [*lines, "", *wrap(more, page_width())]


def unknown(word: str, commands: Sequence[str]) -> str:
    """A sentence about a word that is neither a command nor a cause."""
    near = get_close_matches(word, [*commands, *names()], 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no command and no cause {word!r}{hint} (rexmit help causes lists the causes)"
