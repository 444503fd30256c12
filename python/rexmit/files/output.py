"""`--out DIR`: tables, figures of the worst flows, the whole answer, and a page that says what each file
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rexmit import extras
from rexmit.files.destination import LIST
from rexmit.running.traces import FOLDER, apart
from rexmit.screen.say import code, fenced, markdown, one_line
from rexmit.screen.units import count

if TYPE_CHECKING:
    from argparse import Namespace

    from rexmit.api import Capture
    from rexmit.captured.flows import Flow
    from rexmit.files.destination import Destination
    from rexmit.running.one_run import Run
    from rexmit.tables import Table

ABOUT = {
    "flows": "one row for each direction that carried data",
    "bursts": "maximal runs of lost copies, with trigger and silence",
    "episodes": "bursts whose repair overlaps, with kind, timeouts and cost",
    "retransmissions": "every segment sent again, with cause, evidence and whether it was needless",
    "probes": "tail-loss probes",
    "idle": "gaps in sending, with cause",
    "rounds": "what was sent, delivered and waited for, in pieces of about a round trip",
    "waits": "what the next byte of each conversation waited for, in pieces of about a round trip",
    "causes": "of each connection its answer, and every other cause that took time",
    "owners": "of each connection which cause owns which part of its time",
    "intervals": "bytes sent, new and acknowledged, duplicate ACKs and windows, interval by interval",
    "rtt": "round-trip samples",
    "packets": "every packet, as the figures use them",
}
#: Those that are made of the answers, and which no simulation of many runs keeps.
OF_ANSWERS = ("causes", "owners")
RUN_ABOUT = {
    "state": "what each sender knew and decided, at every change",
    "queues": "each packet that came into a queue or left it",
    "drops": "each packet that a link lost, and why",
    "truth": "each transmission of data that was not new, and whether it was needless",
    "hosts": "each packet that a host sent or received, and what released it",
    "applications": "when each program wrote, read and closed",
    "blocked": "what kept each sender from sending more, at every change",
    "held": "each packet that a channel kept back or made late",
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
    "causes": "where the time of the connection went",
}


def write(
    capture: Capture,
    into: Destination,
    *,
    forms: Sequence[str] = ("parquet", "csv"),
    packets_as_csv: bool = False,
    figures: str | None = "png",
    top: int = 3,
    report: bool = False,
    goes_on: Callable[[], bool] | None = None,
) -> str:
    """Writes everything about a capture into a folder, batch by batch; returns a sentence that says where.

    forms: of "parquet" and "csv".  packets_as_csv: one row a packet is large as text, so the packets table
    is written as CSV only on request.  figures: png, svg, pdf or None.  top: how many flows get figures, the
    worst first.  report: also the page of `rexmit report`.  goes_on: asked between figures; once it
    says no, no more are drawn. What an earlier call wrote there and this one does
    not is removed, so that all is of one answer; other files stay. Raises NotWrittenError, once all others
    are written, with the names of the files that could not be.
    """
    lines = ["# " + markdown(capture.name.rsplit("/", 1)[-1]), "", *fenced(capture.page(hints=False)), ""]
    lines += ["## Files", "", "| file | what it is | rows |", "|---|---|---:|"]
    lines.append("| `summary.json` | the answer, as `--json` prints it | |")
    with into.file("summary.json") as (path,), open(path, "wb") as file:
        capture.write_json(file.fileno())
    if report:
        from rexmit.report import beside

        with into.file(beside.NAME) as (path,):
            beside.of_capture(capture, path)
        lines.append(f"| `{beside.NAME}` | the same to look at: open it in a browser | |")
    written = 0
    run = _as_run(capture)
    if run:
        scenario, traces = apart(run.scenario.with_(seed=run.seed).to_toml())
        for name, content in {"scenario.toml": scenario, **traces}.items():
            with into.file(name) as (path,):
                path.write_text(content, encoding="utf-8")
        lines.append("| `scenario.toml` | the scenario as resolved, with this run's seed: it runs again | |")
        lines += [f"| {code(name)} | a trace that `scenario.toml` names | |" for name in traces]
        for taken in sorted(run.captures):
            about = f"the packets at {taken.stem}, for Wireshark, tcpdump or rexmit analyze"
            lines.append(f"| {code(into.came(taken))} | {about} | |")
    own = {name: about for name, about in RUN_ABOUT.items() if run and run.records(name)}  # type: ignore[arg-type]
    for name, about in (ABOUT | own).items():
        table = capture.table(name)  # type: ignore[arg-type]
        large = name in ("packets", "state", "queues")
        here = [f for f in forms if not large or f == "parquet" or packets_as_csv]
        names = [f"tables/{name}.{form}" for form in here]
        if not names:
            continue
        rows = 0
        with into.file(*names) as paths:
            rows = write_table(table, paths)
        names = [name for name in names if not into.lacks(name)]
        written += len(names)
        lines += [f"| {code(name)} | {about} | {rows:,} |" for name in names]
    listed = "what rexmit wrote here, so that a later answer can take its place"
    lines.append(f"| `{LIST}` | {listed} | |")
    drawn = 0
    if figures:
        # The worst flow always; another one only if something happened to it.
        goes_on = goes_on or _always
        for place, flow in enumerate(capture.worst(top)):
            if not goes_on():
                break
            if place == 0 or flow.row["episodes"] or flow.row["retransmitted_segments"]:
                drawn += _draw(flow, into, figures, lines, goes_on)
        if run and goes_on():
            drawn += _draw_own(run, into, figures, lines, goes_on)
    lines += [
        "",
        "rexmit's docs/definitions.md says what words and columns mean, docs/figures.md the figures.",
    ]
    with into.file("index.md") as (path,):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    gone = into.finish([*capture.paths, *(capture.receiver or [])])
    into.done()
    what = f"{count(written, 'table')}, {count(drawn, 'figure')} and summary.json"
    told = f"wrote {what}; {one_line(str(into.path / 'index.md'))} says what each file is"
    return told + (f"; removed {count(gone, 'file')} of an earlier answer" if gone else "")


def planned(captures: Iterable[str] = ()) -> list[str]:
    """What `write` may write, for `Destination`. captures: names of the files that the core writes."""
    names = ["index.md", "summary.json", "scenario.toml", "report.html"]
    names += [f"tables/{name}.{form}" for name in ABOUT | RUN_ABOUT for form in ("parquet", "csv")]
    names += [f"{FOLDER}/rates-*.txt", f"{FOLDER}/outages-*.txt"]
    names += [f"figures/flow-*/{name}.*" for name in (*FIGURE_ABOUT, "ladder-*")]
    names += [f"figures/{name}-*.*" for name in OWN_ABOUT]
    return names + [f"captures/{name}" for name in captures]


def _as_run(capture: Capture) -> Run | None:
    from rexmit.running.one_run import Run

    return capture if isinstance(capture, Run) else None


def _always() -> bool:
    return True


def _draw_own(run: Run, into: Destination, form: str, lines: list[str], goes_on: Callable[[], bool]) -> int:
    """The figures of what only the simulator shows; returns how many."""
    made = []
    for name, figure in run.own_figures():
        target = f"figures/{name}.{form}"
        with into.file(target) as (path,):
            figure.save(path)
        if not into.lacks(target):
            made.append((name, target))
        if not goes_on():
            break
    if made:
        lines += ["", "## Figures of senders and queues", ""]
    lines += [_item(target, OWN_ABOUT[name.split("-")[0]]) for name, target in made]
    return len(made)


def write_table(table: Table, paths: Sequence[Path]) -> int:
    """Writes one table in one pass over its batches; returns how many rows it has.

    paths: names that end in .csv or .parquet; the latter needs the extra `tables`.
    """
    from rexmit.files.as_csv import Writer
    from rexmit.frame import Opened

    opened, rows = Opened(table), 0
    with ExitStack() as files:
        writers: list[Callable[[Any], None]] = []
        for path in paths:
            # Opened here: Arrow takes no name that is not UTF-8.
            file = files.enter_context(open(path, "wb"))
            if path.suffix == ".parquet":
                writers.append(files.enter_context(_parquet(opened.schema, file)))
            else:
                text = Writer(file, opened.kinds)
                files.callback(text.end)
                writers.append(text.write)
        for batch in opened:
            rows += len(batch)
            for write_batch in writers:
                write_batch(batch)
    return rows


@contextmanager
def _parquet(schema: Any, file: Any) -> Iterator[Callable[[Any], None]]:
    """What writes batches as Parquet into an open file."""
    extras.need("tables", "Parquet")
    import pyarrow as pa
    import pyarrow.parquet

    with pa.parquet.ParquetWriter(file, pa.schema(schema), compression="zstd") as writer:
        yield lambda batch: writer.write_batch(pa.record_batch(batch))


def chosen(o: Namespace) -> tuple[list[str], str | None, str]:
    """Forms of tables, and of figures, that a command's options ask for and installed packages can write; and
    the end of a sentence that says how to have the others.
    """
    forms = [form for form in ("parquet", "csv") if getattr(o, form) or not (o.csv or o.parquet)]
    figures = None if o.figures == "none" else o.figures or "png"
    lacking = []
    if "parquet" in forms and not o.parquet and not extras.has("tables"):
        forms.remove("parquet")
        lacking.append(f"no Parquet ({extras.command('tables')})")
    if figures and not o.figures and not extras.has("figures"):
        figures = None
        lacking.append(f"no figures ({extras.command('figures')})")
    return forms, figures, "".join(f"; {what}" for what in lacking)


def _draw(flow: Flow, into: Destination, form: str, lines: list[str], goes_on: Callable[[], bool]) -> int:
    lines += ["", f"## Figures of {flow.sender} → {flow.receiver}", ""]
    drawn = 0
    for name, figure in flow.figures():
        target = f"figures/flow-{flow.id}/{name}.{form}"
        with into.file(target) as (path,):
            figure.save(path)
        if into.lacks(target):
            continue
        about = FIGURE_ABOUT.get(name) or f"the packet exchange of episode {name.rpartition('-')[2]}"
        lines.append(_item(target, about))
        drawn += 1
        if not goes_on():
            break
    return drawn


def _item(name: str, about: str) -> str:
    return f"- [{code(name)}]({quote(name)}): {about}"
