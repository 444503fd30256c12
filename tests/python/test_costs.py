"""What findings cost, over every capture that ships, and those that lie beside the project, if they do."""

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


def test_what_a_flow_lost_is_no_more_than_it_took(tmp_path: Path) -> None:
    flows, dearer = 0, []
    for path in captures():
        try:
            found = _core.analyze([str(path)])
        except (_core.CaptureError, OSError):
            continue  # no capture, or none with TCP in it
        for flow in written(found, tmp_path)["flows"]:
            if (answer := flow["answer"]) is None:
                continue  # too little passed to say anything of it
            flows += 1
            costs = sum(finding["cost_s"] or 0.0 for finding in answer["findings"])
            if max(costs, answer["cost_s"]) > flow["duration_s"] * 1.0001 + 1e-6:
                dearer.append((path.name, flow["flow"], costs, answer["cost_s"], flow["duration_s"]))
    assert flows
    assert not dearer
