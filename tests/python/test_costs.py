"""What causes take, over every capture that ships, and those that lie beside the project, if they do."""

from __future__ import annotations

from pathlib import Path

from rexmit import _core
from test_core import DATA, ROOT, written

SHARED = ROOT.parent / "shared" / "captures"
#: Larger ones are of one transfer each, whose like is among the others.
MOST_BYTES = 40_000_000


def captures() -> list[Path]:
    both = [path for folder in (DATA, SHARED) if folder.exists() for path in folder.rglob("*cap*")]
    return sorted(path for path in both if path.is_file() and path.stat().st_size <= MOST_BYTES)


def test_what_causes_take_is_what_was_owed_and_no_more_than_the_connection_took(tmp_path: Path) -> None:
    connections, wrong = 0, []
    for path in captures():
        try:
            found = _core.analyze([str(path)])
        except (_core.CaptureError, OSError):
            continue  # no capture, or none with TCP in it
        for flow in written(found, tmp_path)["flows"]:
            if (answer := flow["answer"]) is None:
                continue  # rexmit failed on it
            connections += 1
            seconds = [share["seconds"] for share in answer["causes"]]
            owed, took = answer["owed_s"], answer["took_s"]
            whole = abs(sum(seconds) - owed) < 1e-6 * (1 + owed)
            if not whole or owed > took * 1.0001 + 1e-6 or min(seconds, default=0.0) < 0.0:
                wrong.append((path.name, flow["flow"], sum(seconds), owed, took))
    assert connections
    assert not wrong
