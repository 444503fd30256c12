"""What `rexmit report` writes: META and blobs of captures and runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rexmit import _core
from rexmit.report.held import RAW, hold
from rexmit.report.plain import in_json
from rexmit.words import closed_sets

if TYPE_CHECKING:
    from rexmit.report.source import Row, Source

#: Of the format that explorer/FORMAT.md describes.
FORMAT = 1
#: Flows that a page tells everything of at once; of further ones in blobs of so many.
AT_ONCE, IN_A_BLOB = 16, 64
#: Flows that it tells everything of: where all packets are there, and where not.
MOST_DETAILED, MOST_OF_MANY = 20_000, 500


def meta(kind: str, title: str, command: str, sources: Sequence[Row], notes: Sequence[str]) -> Row:
    """META but for what only some pages have."""
    return {
        "format": FORMAT,
        "kind": kind,
        "title": title,
        "version": f"rexmit {_core.__version__}",
        "command": command,
        "anonymized": False,
        "notes": list(notes),
        "words": closed_sets(),
        "sources": list(sources),
        "comparison": None,
        "study": None,
    }


def filled(source: Source) -> tuple[Row, bool]:
    """META of a source with its details, and whether all of its packets are there."""
    said = source.meta()
    most = MOST_DETAILED if len(source.packets) <= RAW else MOST_OF_MANY
    details = [source.detail(flow) for flow in source.worst(most)]
    whole = hold(source, details)
    said["details"] = details[:AT_ONCE]
    for first in range(AT_ONCE, len(details), IN_A_BLOB):
        part = details[first : first + IN_A_BLOB]
        name = f"{source.number}/details/{first}"
        said["more"].append({"blob": name, "flows": [told["flow"] for told in part]})
        source.blobs[name] = partial(in_json, part)
    return said, whole


def too_many(source: Source, view: str) -> str:
    """What is said of a file that does not hold all packets."""
    return (
        f"{source.label}: of {len(source.packets):,} packets this file holds what happened in each moment, "
        f"and those of the worst episodes whole; {view} shows every one"
    )
