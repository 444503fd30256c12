"""What is known of a run besides its packets: its scenario, and what its senders told of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rexmit.files.reading import contents, json_of
from rexmit.frame import Frame
from rexmit.running.folder import LiveFolder, table
from rexmit.running.one_run import Run

if TYPE_CHECKING:
    from rexmit.api import Capture

Row = dict[str, Any]


def told(capture: Capture) -> Row | None:
    """The scenario as text, the seed, the bench and what hosts and links counted; None of a capture."""
    if isinstance(capture, Run):
        text = capture.scenario.with_(seed=capture.seed).to_toml()
        return {
            "name": capture.name,
            "bench": capture.bench,
            "seed": capture.seed,
            "scenario": text,
            "simulation": capture.summary,
        }
    if isinstance(capture, LiveFolder):
        summary = json_of(capture.folder / "summary.json")["simulation"]
        scenario = capture.folder / "scenario.toml"
        return {
            "name": capture.name,
            "bench": "live",
            "seed": summary.get("seed"),
            "scenario": contents(scenario).decode("utf-8", "replace") if scenario.exists() else None,
            "simulation": summary,
        }
    return None


def state(capture: Capture, flow: Row) -> Frame | None:
    """The rows of the table `state` of a flow; None where nobody told. flow: as docs/json.md has it."""
    if isinstance(capture, Run):
        if not capture.records("state"):
            return None
        return Frame(capture.state, capture.origin_ns, capture.since, flow=int(flow["flow"]))
    if isinstance(capture, LiveFolder):
        found = _of_folder(capture, flow)
        if found is None:
            return None
        rows = found
    else:
        return None
    return Frame(rows, capture.origin_ns, capture.since)


def _of_folder(capture: LiveFolder, flow: Row) -> Any:
    """The folder's rows of the flow that is this one there: its ends have the same addresses."""
    import pyarrow.compute as pc

    flows, rows = (table(capture.folder, name) for name in ("flows", "state"))
    if flows is None or rows is None or "flow" not in rows.column_names:
        return None
    ends = (pc.equal(flows.column(end), flow[end]) for end in ("sender", "receiver"))
    same = flows.filter(pc.and_(*ends)).column("flow")
    return rows.filter(pc.is_in(rows.column("flow"), same))
