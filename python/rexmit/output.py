"""`--out DIR`: tables, figures of the worst flows, the whole answer, and a page that says what each file
is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from rexmit import written as written_list
from rexmit.units import count
from rexmit.writing import Writing

if TYPE_CHECKING:
    from rexmit.api import Capture, Flow
    from rexmit.simulation import Run
    from rexmit.tables import Table

ABOUT = {
    "flows": "one row for each direction that carried data",
    "bursts": "maximal runs of lost copies, with trigger and silence",
    "episodes": "bursts whose repair overlaps, with kind, timeouts and cost",
    "retransmissions": "every segment sent again, with cause, evidence and whether it was needless",
    "probes": "tail-loss probes",
    "idle": "gaps in sending, with cause",
    "intervals": "bytes sent, new and acknowledged, duplicate ACKs and windows, interval by interval",
    "rtt": "round-trip samples",
    "packets": "every packet, as the figures use them",
}
RUN_ABOUT = {
    "state": "what each sender knew and decided, at every change",
    "queues": "each packet that came into a queue or left it",
    "drops": "each packet that a link lost, and why",
    "truth": "each transmission of data that was not new, and whether it was needless",
    "hosts": "each packet that a host sent or received",
}
OWN_ABOUT = {
    "cwnd": "congestion window, slow-start threshold, flight and timer of the sender",
    "queue": "how much waited in the queue, what it dropped, and how long packets waited",
}
FIGURE_ABOUT = {
    "time-sequence": "sequence number against time: data, ACKs, SACK, losses, retransmissions by cause",
    "throughput": "bits per second sent, new and acknowledged",
    "rtt": "round-trip times against time and against sequence number",
    "repairs": "duplicate ACKs and retransmissions, interval by interval",
    "window": "advertised window and bytes in flight",
    "idle": "idle gaps by cause",
}


def write(
    capture: Capture,
    folder: str,
    *,
    forms: Sequence[str] = ("parquet", "csv"),
    packets_as_csv: bool = False,
    figures: str | None = "png",
    top: int = 3,
) -> str:
    """Writes everything about a capture into a folder, batch by batch; returns a sentence that says where.

    forms: of "parquet" and "csv".  packets_as_csv: one row a packet is large as text, so the packets table
    is written as CSV only on request.  figures: png, svg, pdf or None.  top: how many flows get figures, the
    worst first. What an earlier call wrote there and this one does not is removed, so that all is of one
    answer; other files stay. Raises OSError if there can be no such folder, and NotWrittenError, once all
    others are written, with the names of the files that could not be.
    """
    out = Path(folder)
    (out / "tables").mkdir(parents=True, exist_ok=True)
    files = Writing()
    done = [out / "index.md", out / "summary.json"]
    lines = ["# " + capture.name.rsplit("/", 1)[-1], "", "```", capture.page(hints=False), "```", ""]
    lines += ["## Files", "", "| file | what it is | rows |", "|---|---|---:|"]
    lines.append("| `summary.json` | the answer, as `--json` prints it | |")
    summary = out / "summary.json"
    with files.whole(summary), open(summary, "wb") as file:
        capture.analysis.write_json(file.fileno())
    written = 0
    run = _as_run(capture)
    if run:
        written_toml = run.scenario.with_(seed=run.seed).to_toml()
        with files.whole(out / "scenario.toml"):
            (out / "scenario.toml").write_text(written_toml, encoding="utf-8")
        done.append(out / "scenario.toml")
        lines.append("| `scenario.toml` | the scenario as resolved, with this run's seed: it runs again | |")
        for path in sorted(run.captures):
            about = f"the packets at {path.stem}, for Wireshark, tcpdump or rexmit analyze"
            lines.append(f"| `{path.relative_to(out)}` | {about} | |")
            done.append(path)
    own = {name: about for name, about in RUN_ABOUT.items() if run and run.records(name)}  # type: ignore[arg-type]
    for name, about in (ABOUT | own).items():
        table = capture.table(name)  # type: ignore[arg-type]
        large = name in ("packets", "state", "queues")
        here = [f for f in forms if not large or f == "parquet" or packets_as_csv]
        paths = [out / "tables" / f"{name}.{form}" for form in here]
        if not paths:
            continue
        rows = 0
        with files.whole(*paths):
            rows = write_table(table, paths)
        paths = [path for path in paths if not files.lacks(path)]
        written += len(paths)
        done += paths
        for path in paths:
            lines.append(f"| `{path.relative_to(out)}` | {about} | {rows:,} |")
    drawn: list[Path] = []
    if figures:
        # The worst flow always; another one only if something happened to it.
        for place, flow in enumerate(capture.worst(top)):
            if place == 0 or flow.row["episodes"] or flow.row["retransmitted_segments"]:
                drawn += _draw(flow, out, figures, lines, files)
        if run:
            drawn += _draw_own(run, out, figures, lines, files)
    listed = "what rexmit wrote here, so that a later answer can take its place"
    lines += [
        f"| `{written_list.LIST}` | {listed} | |",
        "",
        "rexmit's docs/definitions.md says what words and columns mean, docs/figures.md the figures.",
    ]
    with files.whole(out / "index.md"):
        (out / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    there = [path for path in done + drawn if not files.lacks(path)]
    with files.whole(out / written_list.LIST):
        gone = written_list.renew(out, there, inputs=[*capture.paths, *(capture.receiver or [])])
    files.done()
    where = os.path.join(folder, "index.md")
    what = f"{count(written, 'table')}, {count(len(drawn), 'figure')} and summary.json"
    told = f"wrote {what}; {where} says what each file is"
    return told + (f"; removed {count(gone, 'file')} of an earlier answer" if gone else "")


def _as_run(capture: Capture) -> Run | None:
    from rexmit.simulation import Run

    return capture if isinstance(capture, Run) else None


def _draw_own(run: Run, out: Path, form: str, lines: list[str], files: Writing) -> list[Path]:
    """The figures of what only the simulator shows."""
    (out / "figures").mkdir(exist_ok=True)
    made = []
    for name, figure in run.own_figures():
        path = out / "figures" / f"{name}.{form}"
        with files.whole(path):
            made.append((name, figure.save(path)))
    if made:
        lines += ["", "## Figures of senders and queues", ""]
    for name, path in made:
        about = OWN_ABOUT[name.split("-")[0]]
        lines.append(f"- [`{path.relative_to(out)}`]({path.relative_to(out).as_posix()}): {about}")
    return [path for _, path in made]


def write_table(table: Table, paths: Sequence[Path]) -> int:
    """Writes one table in one pass over its batches; returns how many rows it has."""
    reader = pa.RecordBatchReader.from_stream(table)
    writers: list[Any] = []
    try:
        for path in paths:
            if path.suffix == ".parquet":
                writers.append(pa.parquet.ParquetWriter(path, reader.schema, compression="zstd"))
            else:
                writers.append(pa.csv.CSVWriter(path, reader.schema))
        rows = 0
        for batch in reader:
            rows += batch.num_rows
            for writer in writers:
                writer.write_batch(batch)
    finally:
        for writer in writers:
            writer.close()
    return rows


def _draw(flow: Flow, out: Path, form: str, lines: list[str], files: Writing) -> list[Path]:
    folder = out / "figures" / f"flow-{flow.id}"
    folder.mkdir(parents=True, exist_ok=True)
    lines += ["", f"## Figures of {flow.sender} → {flow.receiver}", ""]
    drawn = []
    for name, figure in flow.figures():
        path = folder / f"{name}.{form}"
        with files.whole(path):
            path = figure.save(path)
        if files.lacks(path):
            continue
        about = FIGURE_ABOUT.get(name) or f"the packet exchange of episode {name.rpartition('-')[2]}"
        lines.append(f"- [`{path.relative_to(out)}`]({path.relative_to(out).as_posix()}): {about}")
        drawn.append(path)
    return drawn
