"""`rx.capture(path)`: the answer about a capture as tables and figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

from rexmit import _core
from rexmit.captured.flows import ON_DEMAND, RANKED, Flow, Flows
from rexmit.files.reach import WITHIN
from rexmit.memory import limit
from rexmit.screen.notebook import Shown
from rexmit.tables import Named, Table

if TYPE_CHECKING:
    from rexmit.captured.groups import By
    from rexmit.report.cell import Report

Path = str | os.PathLike[str]
Progress = Callable[[int, int | None, int], bool]
Vantage = Literal["sender", "receiver", "middle"]


def capture(
    *paths: Path,
    receiver: Path | Sequence[Path] | None = None,
    flow: str | None = None,
    host: str | None = None,
    port: int | None = None,
    start: float | None = None,
    end: float | None = None,
    at: Vantage | None = None,
    idle: float | None = None,
    interval: float = 1.0,
    checksums: bool = False,
    tables: Sequence[_core.TableName] = (),
    max_memory: int | str | None = None,
    threads: int | None = None,
    like: bool = False,
    progress: Progress | None = None,
) -> Capture:
    """Reads a capture and analyses it.

    paths: capture files; several are one rotation in order of time, "-" is standard input; or a folder that
    `record` made.  receiver:
    captures of the same transfer at the receiver; `paths` are then the sender's, and losses are exact.
    flow: "ip:port-ip:port" in either order; host: an address; port: a port.  start, end: s after the first
    packet.  at: where it was taken (default: inferred).  idle: threshold of an idle gap, s (default max(2
    RTTmin, 50 ms)).  interval: length of the throughput intervals, s.  checksums: verify those of TCP, and
    take a segment whose checksum is wrong as not arrived (a pass over every byte, so it takes longer).
    tables: which of retransmissions, intervals, rtt and packets to keep at once; what is not kept is computed
    by another pass when first used.  max_memory: bytes, or text such as "2GB" (default: three quarters of
    what is free), that connections may take; once a share of them has used up its part, what comes of it is
    counted, not analysed (`not_analysed_packets`, docs/json.md).
    threads: how many read and analyse (default: one a core); the answer is the same.
    like: replay the transfer with the most data through every stack: which is its sender like (`inference`)?

    Raises CaptureError if nothing could be read, ValueError for arguments that make no sense.
    """
    if not paths:
        raise ValueError("capture() needs at least one file")
    if receiver is not None and isinstance(receiver, (str, os.PathLike)):
        receiver = [receiver]
    options = {"flow": flow, "host": host, "port": port, "start": start, "end": end}
    options |= {"at": at, "idle": idle, "interval": interval, "checksums": checksums}
    options |= {"max_memory": max_memory, "threads": threads, "like": like}
    if len(paths) == 1 and receiver is None and os.path.isdir(paths[0]):
        from rexmit.captured.recording import Recording, is_recording

        if is_recording(paths[0]):
            return Recording(paths[0], options, tuple(tables), progress)
    return Capture(
        [os.fspath(p) for p in paths],
        None if receiver is None else [os.fspath(p) for p in receiver],
        options,
        tuple(tables),
        progress,
    )


class Capture(Named, Shown):
    """What one pass over a capture found. Made by `rexmit.capture`."""

    def __init__(
        self,
        paths: list[str],
        receiver: list[str] | None,
        options: dict[str, Any],
        tables: tuple[_core.TableName, ...] = (),
        progress: Progress | None = None,
    ) -> None:
        #: Somebody waits for the answer: it does without what takes long.
        self.hurried = False
        self.paths = paths
        self.receiver = receiver
        self._options = options
        self._progress = progress
        self._kept: frozenset[str] = frozenset()
        self._analysis = self._run(tables)

    def _run(self, tables: Sequence[_core.TableName], **changed: Any) -> _core.Analysis:
        options = self._options | changed
        if changed:
            options["like"] = False
        options["max_memory"] = limit(options.get("max_memory"))
        found = _core.analyze(
            self.paths,
            receiver=self.receiver,
            tables=list(tables),
            within=WITHIN.get(),
            progress=self._progress,
            **options,
        )
        if not changed:
            self._kept = frozenset(tables)
        return found

    def _has(self, name: str) -> bool:
        return name not in ON_DEMAND or name in self._kept

    def _keep(self, *names: _core.TableName) -> None:
        """Makes sure that these rows are there, by another pass if they were not kept."""
        missing = [n for n in names if not self._has(n)]
        if not missing:
            return
        if "-" in self.paths + (self.receiver or []):
            wanted = ", ".join(map(repr, missing))
            raise ValueError(
                f"standard input can be read once only: ask for its rows at once, tables=({wanted},)"
            )
        self._analysis = self._run(cast("list[_core.TableName]", sorted(self._kept | set(missing))))

    @property
    def analysis(self) -> _core.Analysis:
        """The compiled core's answer."""
        return self._analysis

    @property
    def failed(self) -> bool:
        """True if rexmit itself failed on a flow: its column `fault`, or `flows[].fault`, says where."""
        return self._analysis.failed()

    @property
    def interrupted(self) -> bool:
        """True if the reading was stopped early; what was read until then is here."""
        return self._analysis.interrupted()

    @property
    def sender_paths(self) -> list[str]:
        """The files whose packets are numbered here: of two captures the sender's, however given."""
        return self.receiver if self.receiver and self._analysis.swapped() else self.paths

    def write_json(self, fd: int) -> None:
        """The whole answer as docs/json.md describes it, into an open file."""
        self.analysis.write_json(fd)

    def overview(self, top: int = 5) -> dict[str, Any]:
        """`capture`, `totals` and the `top` flows that cost most, as docs/json.md describes them."""
        return cast("dict[str, Any]", json.loads(self._analysis.overview(top)))

    @cached_property
    def info(self) -> dict[str, Any]:
        """The capture itself: packets, span_s, link_types, offloads, drops, warnings (docs/json.md)."""
        return cast("dict[str, Any]", self.overview(0)["capture"])

    @cached_property
    def origin_ns(self) -> int:
        """The first packet's time, nanoseconds since 1970: what figures and pages count from."""
        return _nanoseconds(self.info.get("start"))

    @property
    def since(self) -> str:
        """What times count from, in words."""
        from rexmit.frame import FIRST_PACKET

        return FIRST_PACKET

    def table(self, name: _core.TableName | _core.AnswerTableName) -> Table:
        """One of the tables by its name. Rows that were not kept are computed when first used."""

        def load() -> _core.Table:
            self._keep(cast("Any", name))
            return self._analysis.table(name)

        return Table(name, load)

    @property
    def causes(self) -> Table:
        """Of each connection its answer, and every other cause that took time."""
        return self.table("causes")

    @property
    def owners(self) -> Table:
        """Of each connection which cause owns which part of its time, in parts of about a round trip or one
        pause. A row holds until the next begins.
        """
        return self.table("owners")

    @property
    def flows(self) -> Flows:
        """One row for each direction that carried data; `flows[0]` is the first of them as a `Flow`."""
        return Flows(self)

    def worst(self, n: int = 1) -> list[Flow]:
        """The n flows that could have carried most in the time that they lost, the worst first."""
        wanted = [int(f["flow"]) for f in self.overview(n)["flows"]]
        rows = self.flows._rows_of(set(wanted))
        return [Flow(self, rows[i]) for i in wanted if i in rows]

    def by(self, what: By) -> Table:
        """Flows added up, those that lost most time first: by `pair`, `host`, `port` or `cause`.

        The columns stand at `rexmit.captured.groups.groups`. Raises ValueError for another way.
        """
        from rexmit.captured.groups import groups

        return groups(self, what)

    def page(self, top: int = 7, hints: bool = True, why: bool = False) -> str:
        """The answer on one screen, as `rexmit analyze` prints it.

        hints: with the next command.  why: with what each cause means and rests on.
        """
        from rexmit.screen.page import MANY, page

        seen = self.overview(max(top, RANKED))
        summary = None
        if int(seen["totals"]["flows"]) >= MANY and not self.hurried:
            from rexmit.captured.short_flows import many

            summary = many(self)
        said = page(seen, self.name, summary, command=self.command, hints=hints, most=top - 1, why=why)
        return "\n".join(said)

    def report(self, *, anonymize: bool = False) -> Report:
        """The interactive page of `rexmit report`, which a notebook shows in a cell; `save` writes it.

        anonymize: other addresses, names and paths in their places (docs/report.md).
        """
        from rexmit.report.cell import Report

        return Report(self, anonymize=anonymize)

    @property
    def name(self) -> str:
        """The capture as the user named it."""
        first = self.paths[0] if self.paths[0] != "-" else "standard input"
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        both = f" with {self.receiver[0]}" if self.receiver else ""
        return first + more + both

    @property
    def command(self) -> str:
        """The command line that analyses the same again, without its options."""
        from shlex import join

        if self.receiver:
            return join(["rexmit", "analyze", "--sender", *self.paths, "--receiver", *self.receiver])
        chosen = [
            ["--" + name, str(self._options[name])]
            for name in ("flow", "host", "port")
            if self._options[name]
        ]
        return join(["rexmit", "analyze", *self.paths, *(word for pair in chosen for word in pair)])

    def _line(self) -> str:
        from rexmit.screen.units import count

        totals = self.overview(1)["totals"]
        return f"capture {self.name}: {count(int(totals['flows_with_data']), 'flow')} with data"


def _nanoseconds(stamp: str | None) -> int:
    """Nanoseconds since 1970 of an RFC 3339 time in UTC with up to nine decimals."""
    if not stamp:
        return 0
    from calendar import timegm
    from time import strptime

    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return timegm(strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 1_000_000_000 + int((fraction + "0" * 9)[:9])
