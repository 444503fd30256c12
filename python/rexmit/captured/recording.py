"""`rexmit record`: this machine's own traffic, and beside it what its kernel knows of it.

A recording is a folder that reads back on any machine (docs/record.md).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any, cast

from rexmit import _core, extras
from rexmit.api import Capture
from rexmit.captured.flows import RANKED
from rexmit.captured.kernel_word import join_all, told_by_kernel
from rexmit.files import passing
from rexmit.files.reach import exists, lexists, placed
from rexmit.files.reading import check, contents, json_of
from rexmit.running.folder import NEEDED, table, with_columns
from rexmit.screen.say import as_json

if TYPE_CHECKING:
    from rexmit.captured.reasons import Joined

Json = dict[str, Any]

#: What makes a folder a recording.
ABOUT = "record.json"
CAPTURES = "captures"
KERNEL = "kernel"
#: Columns of the kernel's tables that hold words; all others hold whole numbers.
WORDS = ("local", "remote", "cause", "evidence", "ca_state", "timer", "what", "before", "now", "state")
#: What the kernel counts of what its senders did, in the order of the page.
COUNTED = (
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPTimeouts",
    "TCPLossProbes",
    "TCPLossProbeRecovery",
    "TCPSpuriousRTOs",
    "TCPSynRetrans",
    "TCPRetransFail",
)
MOST_DIFFERENCES = 4


def record(
    folder: str | os.PathLike[str],
    command: Sequence[str] = (),
    *,
    filter: str | None = None,
    interface: str | None = None,
    payload: bool = False,
    ring: tuple[int, int] | None = None,
    limit: float | None = None,
    progress: Callable[[float, float | None, int], bool] | None = None,
) -> Recording:
    """Records the traffic of this machine, or of a command, into a new folder, and analyses it.

    command: a program and its arguments; what it and its children send and receive is recorded, until it
    ends.
    filter: which traffic (`host 10.0.0.1 and port 443`, docs/record.md).  interface: one only.  payload:
    packets whole; else their headers.  ring: of so many files of so many bytes each the newest stay.  limit:
    s.  progress(s done, s in all or None, packets) is called about ten times a second and says whether to go
    on.

    Linux, root or CAP_NET_RAW (and CAP_BPF, CAP_PERFMON for the kernel's own word). Raises LiveError where
    that is missing or nothing passed, ValueError for a filter, an interface, a command or a folder that is
    none.
    """
    core = getattr(_core, "record", None)
    if core is None:
        raise _core.LiveError("rexmit record needs Linux; the folders that it makes are read anywhere")
    if filter is not None:
        _core.record_filter(filter)
    out = Path(folder)
    _new(out)
    asked = {
        "rexmit": _core.__version__,
        "command": list(command) or None,
        "filter": filter,
        "interface": interface,
        "payload": payload,
        "ring": None if ring is None else {"files": ring[0], "bytes": ring[1]},
        "limit_s": limit,
        "began": datetime.now(UTC).isoformat(),
    }
    _write(out, asked | {"end": "killed"})
    try:
        # The cgroup of a command.
        with passing.live():
            told = core(
                os.fspath(out),
                filter=filter,
                interface=interface,
                command=list(command),
                payload=payload,
                ring=ring,
                limit=limit,
                progress=progress,
            )
    except BaseException:
        _undo(out)
        raise
    about = asked | json.loads(told)
    _write(out, about)
    _condense(out / KERNEL)
    if not about["packets"]:
        notes = "".join(f"; {note}" for note in notes_of(about))
        hint = "" if command else ": was the filter right, and was there traffic?"
        raise _core.LiveError(f"{out}: nothing of the chosen traffic passed{hint}{notes}")
    return Recording(out)


def is_recording(path: str | os.PathLike[str]) -> bool:
    """Whether this is a folder that `record` made."""
    about = Path(path) / ABOUT
    return exists(about) and about.is_file()


def _new(out: Path) -> None:
    """A recording is never written over, nor mixed with something else."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        what = "a recording" if is_recording(out) else "something"
        raise ValueError(f"{out}: there is {what} already; name a folder that is new or empty")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.mkdir(mode=0o700, exist_ok=True)


def _write(out: Path, about: Json) -> None:
    draft = out / (ABOUT + ".new")
    with _private(draft) as file:
        file.write((json.dumps(about, indent=1) + "\n").encode())
    os.replace(draft, out / ABOUT)


def _private(path: Path) -> IO[bytes]:
    """A file that only this user can read, opened to be written anew: packets are those of all users."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _undo(out: Path) -> None:
    """Removes a folder in which nothing was recorded."""
    if any(path.stat().st_size > 200 for path in (out / CAPTURES).glob("*.pcapng")):
        return
    for path in [*out.glob(f"{CAPTURES}/*"), *out.glob(f"{KERNEL}/*"), out / ABOUT]:
        path.unlink(missing_ok=True)
    for place in (out / CAPTURES, out / KERNEL, out):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()


def _condense(folder: Path) -> None:
    """The kernel's tables as Parquet, once nothing is added any more; where that fails they stay text."""
    import pyarrow.parquet as parquet

    for path in sorted(folder.glob("*.csv")):
        draft = path.with_suffix(".new")
        try:
            with _private(draft) as file:
                parquet.write_table(_rows(path), file, compression="zstd")
            os.replace(draft, path.with_suffix(".parquet"))
            path.unlink()
        except OSError:
            draft.unlink(missing_ok=True)


def _about(path: Path) -> Json:
    """record.json. Raises ValueError, with its name and the key, for one that `record` did not write."""
    about = json_of(path)
    wrong = next(iter(_wrong(about, _KINDS)), None)
    if wrong is not None:
        raise ValueError(f"{path}: {wrong or 'it'} is not what rexmit record writes")
    return cast("Json", about)


#: What is read of record.json: a type, a list of one, or keys with theirs. Any of it may be null or missing.
_COUNTS: Any = {"": int}
_KINDS: Any = {
    **dict.fromkeys(("packets", "dropped", "kernel_lost"), int),
    **dict.fromkeys(("end", "kernel_silent", "no_cgroup", "capture_error", "kernel_error"), str),
    "counters": _COUNTS,
    "warnings": [str],
    "interfaces": [
        {"name": str, "queue": str, "offloads": [str], "counts": _COUNTS, "queue_counts": _COUNTS},
    ],
}


def _wrong(found: Any, kind: Any, key: str = "") -> Iterator[str]:
    """The keys whose values are of another kind."""
    if isinstance(kind, list):
        if not isinstance(found, list):
            yield key
            return
        for k, one in enumerate(found):
            yield from _wrong(one, kind[0], f"{key}[{k}]")
    elif isinstance(kind, dict):
        if not isinstance(found, dict):
            yield key
            return
        for name, value in found.items():
            of = kind.get(name, kind.get(""))
            if of is not None and value is not None:
                yield from _wrong(value, of, f"{key}.{name}" if key else name)
    elif not isinstance(found, kind) or isinstance(found, bool):
        yield key


def _rows(path: Path) -> Any:
    """One of the kernel's tables from its text. The last line of one that was killed may be cut."""
    import pyarrow as pa
    import pyarrow.csv as csv

    # A last line without its end is one that a kill cut off.
    whole = contents(path).rpartition(b"\n")[0] + b"\n"
    names = whole.partition(b"\n")[0].decode("ascii").split(",")
    types = {name: pa.string() if name in WORDS else pa.int64() for name in names}
    columns, here = csv.ConvertOptions(column_types=types), csv.ReadOptions(use_threads=False)
    rows = csv.read_csv(pa.BufferReader(whole), read_options=here, convert_options=columns)
    times = rows.column("time_ns").cast(pa.timestamp("ns", "UTC"))
    rows = rows.set_column(0, "time", times)
    if "failed" in names:
        at = names.index("failed")
        rows = rows.set_column(at, "failed", rows.column("failed").cast(pa.bool_()))
    return rows


class Recording(Capture):
    """A recording, read from its folder: a capture, and the kernel's own word beside it."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        options: Json | None = None,
        tables: tuple[_core.TableName, ...] = (),
        progress: Any = None,
    ) -> None:
        extras.need("tables", "a recording")
        self.folder = Path(folder)
        self.about: Json = _about(self.folder / ABOUT)
        captures = self.folder / CAPTURES
        taken = sorted(placed(captures).glob("*.pcapng")) if exists(captures) else []
        for path in taken:
            check(path)
        paths = [os.fspath(path) for path in taken]
        if not paths:
            raise ValueError(f"{self.folder}: a recording without a capture in {CAPTURES}/")
        plain: Json = dict.fromkeys(("flow", "host", "port", "start", "end", "at", "idle"))
        #: By flow: what was sent again, with the kernel's reasons; flows of other hosts are not in it.
        self.joined: dict[int, Joined] = {}
        super().__init__(paths, None, plain | {"interval": 1.0} | (options or {}), tables, progress)

    @property
    def name(self) -> str:
        """The folder, as the user named it."""
        return os.fspath(self.folder)

    @property
    def command(self) -> str:
        """The command line that analyses the same again, without its options."""
        from shlex import join

        chosen = [
            ["--" + name, str(self._options[name])]
            for name in ("flow", "host", "port")
            if self._options[name]
        ]
        return join(["rexmit", "analyze", self.name, *(word for pair in chosen for word in pair)])

    def kernel(self, name: str) -> Any:
        """One of the kernel's tables as a pyarrow table: retransmissions, senders, states or sockets.

        None if there is none.
        """
        path = self.folder / KERNEL / f"{name}.csv"
        if not lexists(path):
            return table(self.folder, name, KERNEL)
        import pyarrow as pa

        try:
            return with_columns(_rows(path), NEEDED.get(name, {}))
        except (pa.ArrowException, KeyError, UnicodeDecodeError):
            raise ValueError(f"{path}: is no table that rexmit record wrote; remove it") from None

    def _run(self, tables: Sequence[_core.TableName], **changed: Any) -> _core.Analysis:
        """One pass over the packets, which is then told what the kernel knows of them."""
        found = super()._run(sorted({*tables, "retransmissions"}), **changed)
        joined = join_all(found, self.kernel("retransmissions"), self.kernel("sockets"))
        if not changed:
            self.joined = joined
        return found

    def reasons(self) -> Any:
        """The `retransmissions` table with `kernel_cause` behind `cause`, as a pyarrow table.

        It is null where the kernel told nothing.
        """
        import pyarrow as pa

        rows = self.table("retransmissions").to_arrow(unit="ns")
        told = {flow: iter(joined.reasons) for flow, joined in self.joined.items()}
        none: Any = iter(())
        reasons = [next(told.get(flow, none), None) for flow in rows.column("flow").to_pylist()]
        place = rows.column_names.index("cause") + 1
        return rows.add_column(place, "kernel_cause", pa.array(reasons, pa.string()))

    def page(self, top: int = 7, hints: bool = True, why: bool = False) -> str:
        """The answer on one screen, and below it what the kernel itself says."""
        told = [super().page(top, hints=False, why=why), "", *self.kernel_lines(), *self._hint(hints)]
        return "\n".join(told)

    def _hint(self, wanted: bool) -> list[str]:
        return [f"  next     {self.command} --out DIR      for tables and figures"] if wanted else []

    def write_json(self, fd: int) -> None:
        """As for any capture, with `recording` (docs/record.md)."""
        with TemporaryFile() as file:
            self.analysis.write_json(file.fileno())
            file.seek(0)
            answer = json.load(file)
        flows = [{"flow": flow} | joined.as_json() for flow, joined in sorted(self.joined.items())]
        answer["recording"] = self.about | {"retransmissions": flows}
        with open(fd, "w", encoding="utf-8", closefd=False) as out:
            out.write(as_json(answer) + "\n")

    def kernel_lines(self) -> list[str]:
        """What the kernel told, as lines of a page."""
        about = self.about
        lines = _said("kernel", self._reasons())
        for text in told_by_kernel(self.overview(RANKED)["flows"]):
            lines += _said("", text)
        counters = about.get("counters") or {}
        counted = ", ".join(f"{name} {counters[name]:,}" for name in COUNTED if counters.get(name))
        if counted:
            lines += _said("", f"counted in this network namespace meanwhile, all connections: {counted}")
        used = [i for i in about.get("interfaces") or () if i.get("counts")]
        for k, interface in enumerate(used):
            lines += _said("" if k else "machine", _interface(interface))
        return lines + [line for text in notes_of(self.about) for line in _said("note", text)]

    def _reasons(self) -> str:
        """Whose word the causes above are."""
        from rexmit.captured.reasons import Joined
        from rexmit.screen.units import count

        about = self.about
        if about.get("kernel_silent"):
            return (
                f"it does not tell why it sends again ({about['kernel_silent']}): the causes above are "
                "likely, from the capture alone"
            )
        sums = Joined()
        for joined in self.joined.values():
            sums.add(joined)
        known, silent = sums.known.total(), sums.silent.total()
        if not known and not silent:
            return "this host sent nothing again" if self.kernel("retransmissions") is not None else ""
        all_of_it = "all " if not silent and known > 1 else ""
        words = [f"known, the kernel's own word, for {all_of_it}{count(known, 'segment')} sent again here: "]
        words.append(", ".join(f"{n:,} {cause}" for cause, n in sums.known.most_common()))
        words.append(f"; the capture alone says the same of {sums.agree:,}")
        if sums.differ:
            differ = [
                f"{n:,} {theirs} in the kernel's word {ours} by the capture"
                for (ours, theirs), n in sums.differ.most_common(MOST_DIFFERENCES)
            ]
            words.append(f" (of the others {', '.join(differ)})")
        if silent:
            words.append(f"; of {count(silent, 'segment')} it told nothing: those are likely")
        if sums.unseen:
            words.append(f"; {count(sums.unseen, 'segment')} that it sent again the capture does not show")
        return "".join(words)


def notes_of(about: Json) -> list[str]:
    """What limits a recording, by its record.json."""
    from rexmit.screen.units import count

    said = [str(text) for text in about.get("warnings") or ()]
    if about.get("end") == "killed":
        said.append("the recording was killed: what was on the disk until then is here")
    if about.get("dropped"):
        said.append(f"the recorder lost {count(about['dropped'], 'packet')}: the kernel had no room for them")
    if about.get("kernel_lost"):
        said.append(f"the kernel had no room for {count(about['kernel_lost'], 'row')} of its tables")
    if about.get("no_cgroup"):
        said.append(
            f"no cgroup of its own for the command ({about['no_cgroup']}): recorded is what the sockets "
            "of its processes were seen to do; connections that lived for some milliseconds only may be "
            "missing"
        )
    for key in ("capture_error", "kernel_error"):
        if about.get(key):
            what = "the capture ends" if key == "capture_error" else "the kernel's tables end"
            said.append(f"{what} early: {about[key]}")
    return said


def _interface(i: Json) -> str:
    """`eth0: tso, gso, gro on; queue fq_codel, 3 dropped`."""
    counts, queue = i.get("counts") or {}, i.get("queue_counts") or {}
    name, offloads = i.get("name") or "?", i.get("offloads")
    words = f"{name}: {', '.join(offloads)} on" if offloads else f"{name}: no offloads"
    words += f"; queue {i['queue']}" if i.get("queue") else ""
    dropped = {
        "dropped by the queue": queue.get("drops", 0),
        "dropped as they came": counts.get("rx_dropped", 0),
        "dropped as they left": counts.get("tx_dropped", 0),
        "errors": counts.get("rx_errors", 0) + counts.get("tx_errors", 0),
    }
    told = [f"{n:,} {what}" for what, n in dropped.items() if n]
    return words + "; " + (", ".join(told) if told else "nothing dropped")


def _said(word: str, text: str) -> list[str]:
    from rexmit.screen.wide import page_width

    if not text:
        return []
    first = f"  {word:<9}"
    return wrap(text, page_width(), initial_indent=first, subsequent_indent=" " * 11, break_on_hyphens=False)
