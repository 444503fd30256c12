"""Peak memory of `rexmit analyze --json` over captures that are made to take memory, each against a bar.

The bar: twice the bytes read, uncompressed, and 200 MiB. A SYN flood, overlapping segments,
connections that stay young as long as they can, windows that stay closed, ACKs of what was never
sent: one capture, the same in three files, in gzip, through standard input, and beside a receiver's
that lacks every third packet. Then with a limit (`--max-memory`), above which what comes is
counted; and bombs: zeros behind a capture's head, compressed.

    .venv/bin/python validation/memory.py               a table; exit code 1 where a bar is missed
    .venv/bin/python validation/memory.py --scale 0.1   captures of a tenth; --bombs 10: gigabytes of zeros
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20
#: Allowed beside twice what is read.
ALLOWANCE = 200 * MIB
REXMIT = [sys.executable, "-m", "rexmit", "analyze", "--json"]
#: With a limit, beside twice that: the start, and what is read between two looks at what is used.
SLACK = 100 * MIB

#: At full size: how many packets.
CAPTURES = {
    "SYN flood": 5_000_000,
    "answered SYNs": 4_000_000,
    "overlapping segments": 2_000_000,
    "79 packets each": 3_000_000,
    "80 packets each": 3_000_000,
    "80 packets, scattered": 3_000_000,
    "gaps, in reverse": 2_000_000,
    "window never opens": 2_000_000,
    "ACKs of nothing": 2_000_000,
}
HEAD = 24


def write(name: str, packets: int, path: Path, *options: str) -> int:
    """How long the capture is."""
    hungry = Path(__file__).with_name("hungry.py")
    subprocess.run([sys.executable, hungry, name, str(packets), path, *options], check=True)
    return path.stat().st_size


@dataclass(frozen=True)
class Took:
    peak: int
    cpu_s: float
    code: int
    said: str
    answer: dict[str, Any] | None


def took(arguments: list[str], stdin: Path | None = None) -> Took:
    """Runs the analysis; the peak is the child's alone."""
    with tempfile.TemporaryFile() as out, (stdin or Path(os.devnull)).open("rb") as given:
        child = subprocess.Popen([*REXMIT, *arguments], stdin=given, stdout=out, stderr=subprocess.PIPE)
        assert child.stderr is not None
        said = child.stderr.read().decode()
        child.stderr.close()
        _, status, use = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        # Millions of flows are not read back here: what the capture was stands at the front.
        head = out.read(1 << 20).decode(errors="replace")
    answer = None
    if child.returncode == 0 and (at := head.find('"capture":')) >= 0:
        answer, _ = json.JSONDecoder().raw_decode(head, at + len('"capture":') + (head[at + 10] == " "))
    return Took(use.ru_maxrss * 1024, use.ru_utime + use.ru_stime, child.returncode, said, answer)


@dataclass(frozen=True)
class Row:
    case: str
    way: str
    read: int
    bar: int
    took: Took
    wrong: str = ""

    @property
    def met(self) -> bool:
        return self.took.peak <= self.bar and not self.wrong


def ways(name: str, packets: int, folder: Path, floor: int, allowance: int) -> Iterator[Row]:
    """Each way to read one capture. floor: what the analysis of next to nothing takes."""
    path, other, packed = (folder / file for file in ("a.pcap", "receiver.pcap", "a.pcap.gz"))
    size = write(name, packets, path)

    def row(way: str, read: int, arguments: list[str], stdin: Path | None = None) -> Row:
        result = took(arguments, stdin)
        return Row(name, way, read, floor + 2 * read + allowance, result, failure(result))

    yield row("one", size, [str(path)])
    yield row("standard input", size, ["-"], path)
    yield limited(name, path, floor)
    with packed.open("wb") as out:
        subprocess.run(["gzip", "-1", "-c", path], stdout=out, check=True)
    yield row("gzip", size, [str(packed)])
    packed.unlink()
    parts = split(path, packets, 3)
    yield row("three files", size, [str(part) for part in parts])
    for part in parts:
        part.unlink()
    beside = write(name, packets, other, "--lacking", "3")
    yield row("a pair", size + beside, ["--sender", str(path), "--receiver", str(other)])


def limited(name: str, path: Path, floor: int) -> Row:
    """With a quarter of its length as the limit, and with what is read between two looks, and the answer."""
    limit = path.stat().st_size // 4
    result = took(["--max-memory", str(limit), str(path)])
    told = result.answer or {}
    left = told.get("not_analysed_packets", 0)
    named = "--max-memory" in str(told.get("warnings"))
    wrong = failure(result) or ("" if named == bool(left) else f"{left} packets left out: named, {named}")
    return Row(name, f"--max-memory {limit / MIB:.0f} MiB", limit, floor + 2 * limit + SLACK, result, wrong)


def failure(result: Took) -> str:
    return "" if result.code == 0 else f"exit code {result.code}: {result.said.strip()[-200:]}"


def split(path: Path, packets: int, into: int) -> list[Path]:
    """The same packets in several files; all of its packets are equally long."""
    each = (path.stat().st_size - HEAD) // packets * -(-packets // into)
    parts = []
    with path.open("rb") as whole:
        head = whole.read(HEAD)
        for k in range(into):
            part = path.with_name(f"part{k}.pcap")
            with part.open("wb") as out:
                out.write(head)
                left = each
                while left and (some := whole.read(min(left, MIB))):
                    out.write(some)
                    left -= len(some)
            parts.append(part)
    return parts


def bombs(folder: Path, gigabytes: float) -> Iterator[Row]:
    """A capture's head and a packet, then zeros, in each compression whose program is there."""
    head = folder / "head.pcap"
    write("SYN flood", 1, head)
    for program in ("gzip", "xz", "zstd"):
        if shutil.which(program) is None:
            print(f"skipped: no {program} here", file=sys.stderr)
            continue
        path = folder / f"bomb.{program}"
        zeros = f"{{ cat '{head}'; head -c {int(gigabytes * 1e9)} /dev/zero; }} | {program} -1 > '{path}'"
        subprocess.run(["sh", "-c", zeros], check=True)
        result = took([str(path)])
        case = f"{gigabytes:g} GB of zeros"
        yield Row(case, program, path.stat().st_size, ALLOWANCE, result, failure(result))
        path.unlink()


def measure(scale: float, gigabytes: float, only: str | None) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # At full size the allowance is for all; of a part of it, for a part of what grows.
        least = 0
        if scale < 1:
            small = folder / "small.pcap"
            write("SYN flood", 100, small)
            least = took([str(small)]).peak
        for case, packets in CAPTURES.items():
            if only is None or only in case:
                yield from ways(case, int(packets * scale), folder, least, int(ALLOWANCE * scale))
        if gigabytes:
            yield from bombs(folder, gigabytes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--bombs", type=float, default=0.0, metavar="GB")
    parser.add_argument("--only", metavar="NAME", help="captures whose name holds this")
    options = parser.parse_args()
    print(f"{'capture':22} {'read':24} {'MiB':>7} {'bar':>7} {'peak':>7} {'CPU s':>7}")
    missed = 0
    for row in measure(options.scale, options.bombs, options.only):
        missed += not row.met
        read, bar, peak = (n / MIB for n in (row.read, row.bar, row.took.peak))
        line = f"{row.case:22} {row.way:24} {read:7.1f} {bar:7.0f} {peak:7.0f}"
        said = row.took.answer or {}
        left = said.get("not_analysed_packets")
        verdict = "met" if row.met else "MISSED"
        print(
            f"{line} {row.took.cpu_s:7.1f}  {verdict}  {row.wrong}"
            + (f"{left:,} packets counted, not analysed" if left else ""),
            flush=True,
        )
    print(f"{missed} bars missed" if missed else "every bar met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
