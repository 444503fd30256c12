"""What `rexmit report` writes: META and blobs of captures and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.report.source import AT_ONCE, IN_A_BLOB, Source, with_packets
from rexmit.words import closed_sets

if TYPE_CHECKING:
    from rexmit.report.source import Row

#: Of the format that explorer/FORMAT.md describes.
FORMAT = 1
#: Up to so many packets of a capture stand in the file.
RAW = 200_000
#: Flows that a page tells everything of.
MOST_DETAILED = 20_000

Blobs = Iterator[tuple[str, bytes]]


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


def source_whole(source: Source) -> tuple[Row, dict[str, Any]]:
    """META of a source whose packets all stand in the file, and its blobs by name."""
    said = source.meta()
    flows = source.worst(MOST_DETAILED)
    details = list(source.details(flows))
    made: dict[str, Any] = {}
    for _, own in details:
        made |= own
    made |= dict(with_packets(source, details))
    told = [one for one, _ in details]
    said["details"] = told[:AT_ONCE]
    said["more"] = []
    for first in range(AT_ONCE, len(told), IN_A_BLOB):
        part = told[first : first + IN_A_BLOB]
        name = f"{source.number}/details/{first}"
        said["more"].append({"blob": name, "flows": [one["flow"] for one in part]})
        made[name] = part
    return said, made
