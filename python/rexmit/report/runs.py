"""What is known of a run besides its packets: its scenario, and what its senders told of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rexmit.files.reading import contents, json_of
from rexmit.frame import batches
from rexmit.running.folder import LiveFolder, table
from rexmit.running.one_run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rexmit.api import Capture
    from rexmit.frame import ArrowStream

Row = dict[str, Any]
#: Of the table `state` what a page shows.
STATE = {
    "flow": "int",
    "time": "time",
    **dict.fromkeys(("cwnd_bytes", "ssthresh_bytes", "srtt_s", "rto_s"), "float"),
    "phase": "text",
}


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


def state(capture: Capture) -> tuple[ArrowStream, dict[int, list[int]]] | None:
    """The table `state` of a live run's folder, and by its flows those that they are here, whose ends have
    the same addresses. None where the folder has none; a run's own is in the core.
    """
    if not isinstance(capture, LiveFolder):
        return None
    flows, rows = (table(capture.folder, name) for name in ("flows", "state"))
    if flows is None or rows is None or not {*STATE} <= {*rows.column_names}:
        return None
    import pyarrow as pa

    here: dict[tuple[str, str], list[int]] = {}
    for batch in batches(capture.table("flows")):
        for ends, flow in zip(_ends(batch.column), batch.column("flow"), strict=True):
            here.setdefault(ends, []).append(flow)
    known = _ends(lambda name: flows.column(name).to_pylist())
    there = zip(known, flows.column("flow").to_pylist(), strict=True)
    kinds = {"int": pa.uint32(), "time": pa.timestamp("ns"), "float": pa.float64(), "text": pa.string()}
    columns = pa.schema([(name, kinds[kind]) for name, kind in STATE.items()])
    try:
        return rows.select(columns.names).cast(columns), {flow: here.get(ends, []) for ends, flow in there}
    except (pa.ArrowException, OSError):
        raise ValueError(f"{capture.folder}: its table state is none of rexmit's; remove it") from None


def _ends(column: Callable[[str], Sequence[Any]]) -> Iterator[tuple[str, str]]:
    return zip(column("sender"), column("receiver"), strict=True)
