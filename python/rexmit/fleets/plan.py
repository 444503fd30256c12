"""What a folder of many captures' results says of itself: `plan.json`, which grows as captures come."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rexmit.fleets.finding import File, Found

FORMAT = 3
KIND = "captures"


def _file(path: Any, bytes: Any, mtime_ns: Any) -> File:
    """Raises ValueError for values that are of other kinds: anybody may have written them."""
    if type(path) is not str or type(bytes) is not int or type(mtime_ns) is not int:
        raise ValueError
    return File(path, bytes, mtime_ns)


@dataclass(frozen=True)
class Plan:
    """options: of the analysis, the same for all.  captures: by number; None in the place of one whose files
    are others by now, and which has another number.
    """

    rexmit: str
    options: Mapping[str, Any]
    captures: tuple[Found | None, ...] = ()

    def to_json(self) -> str:
        """As `plan.json` has it."""
        captures = [None if one is None else [asdict(file) for file in one] for one in self.captures]
        told = {"kind": KIND, "format": FORMAT, "rexmit": self.rexmit, "options": dict(self.options)}
        return json.dumps(told | {"captures": captures}, indent=1) + "\n"

    @classmethod
    def of_json(cls, text: str) -> Plan:
        """Raises ValueError if that is no plan of captures."""
        try:
            told = json.loads(text)
            if told["kind"] != KIND or told["format"] != FORMAT:
                raise ValueError
            captures = tuple(
                None if one is None else tuple(_file(**file) for file in one) for one in told["captures"]
            )
            version, options = told["rexmit"], told["options"]
            if type(version) is not str or type(options) is not dict or () in captures:
                raise ValueError
            return cls(version, options, captures)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ValueError("is no plan of captures that this rexmit reads, or cut off") from None

    def with_found(self, found: Sequence[Found]) -> Plan:
        """The plan with what is there now: files that changed, or were joined by more, are another capture.
        What is there no more keeps its results.
        """
        known = {one: k for k, one in enumerate(self.captures) if one is not None}
        fresh = [one for one in found if one not in known]
        changed = {file.path for one in fresh for file in one}
        kept = [
            None if one is not None and any(file.path in changed for file in one) else one
            for one in self.captures
        ]
        return replace(self, captures=(*kept, *fresh))

    @property
    def numbers(self) -> list[int]:
        """Of the captures that count."""
        return [k for k, one in enumerate(self.captures) if one is not None]

    def capture(self, number: int) -> Found:
        """The files of a capture."""
        found = self.captures[number]
        assert found is not None
        return found
