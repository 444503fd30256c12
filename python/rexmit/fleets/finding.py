"""Which captures there are: files in folders and under patterns, those of a rotation joined as one."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rexmit.files.address import is_remote
from rexmit.fleets import remote

#: What captures are called, also those that tcpdump numbers behind the name (`x.pcap3`).
_NAMED = re.compile(r"\.(pcapng|pcap|cap|snoop|dmp)\d*(\.(gz|zst|xz))?$", re.IGNORECASE)
#: How one begins whose name does not say so: pcap either way round, its times in ns, pcapng, snoop.
_BEGINS = (
    bytes.fromhex("d4c3b2a1"),
    bytes.fromhex("a1b2c3d4"),
    bytes.fromhex("4d3cb2a1"),
    bytes.fromhex("a1b23c4d"),
    bytes.fromhex("0a0d0d0a"),
    b"snoop\0\0\0",
)
#: `tcpdump -C`: `x.pcap`, `x.pcap1`, `x.pcap2`, …; with `-W` padded, and the first one numbered, too.
_COUNTED = re.compile(r"^(?P<base>.+\.(?:pcapng|pcap|cap|dmp))(?P<order>\d*)(?P<rest>(?:\.(?:gz|zst|xz))?)$")
#: `dumpcap -b`: `x_00001_20261123120000.pcapng`.
_DUMPCAP = re.compile(r"^(?P<base>.+_)(?P<order>\d{5,})(?P<rest>_)\d{14}(?P<end>\..+)$")
#: `tcpdump -G`: a time by strftime somewhere in the name, to the minute at least.
_TIMED = re.compile(
    r"^(?P<base>.*?)(?P<order>\d{4}[-_.]?\d\d[-_.]?\d\d[-_.T ]?\d\d[-_.:h]?\d\d(?:[-_.:m]?\d\d)?)"
    r"(?P<rest>\D.*)$"
)
#: Between files of `-G` nothing is missing: the next one begins within this share of the last one's length.
GAP = 0.1
GAP_S = 1.0


@dataclass(frozen=True)
class File:
    """A file as it was when it was found."""

    path: str
    bytes: int
    mtime_ns: int


#: One capture: a file, or the files of a rotation in order.
Found = tuple[File, ...]


def find(paths: Sequence[str]) -> list[Found]:
    """The captures of these files, folders and patterns, by name. Raises ValueError for a path that leads to
    none.
    """
    names: dict[str, None] = {}
    known: dict[str, File] = {}
    for path in paths:
        before = len(names)
        if is_remote(path):
            far = remote.files(path, lambda name: bool(_NAMED.search(name)) and not name.startswith("."))
            known |= {name: File(name, *told) for name, *told in far}
            names |= dict.fromkeys(name for name, *_ in far)
        else:
            names |= dict.fromkeys(os.path.abspath(name) for name in _under(path))
        if (
            len(names) == before
            and not any(map(os.path.exists, glob.glob(path)))
            and not os.path.exists(path)
        ):
            raise ValueError(f"{path}: there is no such file or folder, and no file that it is a pattern of")
    if not names:
        raise ValueError(f"{', '.join(paths)}: there is no capture (.pcap, .pcapng, .cap, .snoop, .dmp)")
    return _joined([known.get(name) or _file(name) for name in sorted(names, key=_natural)])


def _under(path: str) -> Iterator[str]:
    if os.path.isdir(path):
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            yield from (os.path.join(folder, name) for name in sorted(files) if _is_capture(folder, name))
    elif os.path.exists(path):
        yield path
    else:
        for name in sorted(glob.glob(path, recursive=True)):
            if os.path.isfile(name):
                yield name


def _is_capture(folder: str, name: str) -> bool:
    if name.startswith("."):
        return False
    if _NAMED.search(name):
        return True
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read(8).startswith(_BEGINS)
    except OSError:
        return False


def _file(path: str) -> File:
    try:
        told = os.stat(path)
    except OSError:
        # Whoever reads it says why that cannot be.
        return File(path, 0, 0)
    return File(path, told.st_size, told.st_mtime_ns)


def _natural(name: str) -> list[tuple[int, str]]:
    """`x.pcap2` before `x.pcap10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _joined(files: Sequence[File]) -> list[Found]:
    """Files of one rotation together, in its order; all others by themselves."""
    families: dict[tuple[str, ...], list[tuple[int, File]]] = {}
    for file in files:
        family, order = _family(file.path)
        families.setdefault(family, []).append((order, file))
    found: list[Found] = []
    for (kind, *_), members in families.items():
        members.sort(key=lambda member: member[0])
        run = [members[0]]
        for member in members[1:]:
            if not _follows(kind, run[-1], member):
                found.append(tuple(file for _, file in run))
                run = []
            run.append(member)
        found.append(tuple(file for _, file in run))
    return sorted(found, key=lambda one: _natural(one[0].path))


def _family(path: str) -> tuple[tuple[str, ...], int]:
    """What names of one rotation have in common, and the place in it."""
    folder, name = os.path.split(path)
    for kind, pattern in (("dumpcap", _DUMPCAP), ("timed", _TIMED), ("counted", _COUNTED)):
        told = pattern.match(name)
        if told:
            order = re.sub(r"\D", "", told["order"])
            rest = told["rest"] + (told["end"] if kind == "dumpcap" else "")
            return (kind, folder, told["base"], rest), int(order or 0)
    return ("alone", path), 0


def _follows(kind: str, before: tuple[int, File], after: tuple[int, File]) -> bool:
    """Whether one file goes on where the other ended: by their numbers or times, and by their packets."""
    if kind != "timed" and after[0] != before[0] + 1:
        return False
    ends, begins = _span(before[1].path), _span(after[1].path)
    if ends is None or begins is None or begins[0] < ends[0]:
        return False
    if kind != "timed":
        return True
    gap = begins[0] - ends[1]
    return -GAP_S <= gap <= GAP_S + GAP * (ends[1] - ends[0])


def _span(path: str) -> tuple[float, float] | None:
    """When its first and its last packet were seen, s since 1970; None if it cannot be read."""
    from rexmit import _core
    from rexmit.api import Capture

    options: dict[str, Any] = dict.fromkeys(("flow", "host", "port", "start", "at", "idle"))
    # All packets are read, and the first one is analysed.
    options |= {"end": 1e-9, "interval": 1.0, "threads": 1}
    try:
        with remote.here([path]) as near:
            seen = Capture(near or [path], None, options)
    except (_core.CaptureError, OSError):
        return None
    if seen.info["start"] is None:
        return None
    begins = seen.origin_ns / 1e9
    return begins, begins + float(seen.info["span_s"] or 0)
