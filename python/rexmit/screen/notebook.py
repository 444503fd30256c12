"""How an answer shows itself: one line as `repr`, its page where it is printed and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rexmit.screen.say import markup, one_line, visible


class Shown(ABC):
    """An answer with a page."""

    @abstractmethod
    def page(self) -> str:
        """The answer on one screen."""

    @abstractmethod
    def _line(self) -> str:
        """What it is, in a few words."""

    def __repr__(self) -> str:
        return f"<{one_line(self._line())}>"

    def __str__(self) -> str:
        return visible(self.page())

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def preformatted(text: str) -> str:
    """Text as a page has it, for a notebook: names in it are anybody's and are no markup."""
    return f"<pre>{markup(text)}</pre>"
