"""What tshark, tcptrace and tstat say about a capture, in their own words, for the sending host's packets."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

TSHARK_FIELDS = {
    "retransmission": "tcp.analysis.retransmission",
    "fast": "tcp.analysis.fast_retransmission",
    "spurious": "tcp.analysis.spurious_retransmission",
    "rto": "tcp.analysis.rto",
    "out of order": "tcp.analysis.out_of_order",
    "lost segment": "tcp.analysis.lost_segment",
}


def installed() -> list[str]:
    return [name for name in ("tshark", "tcptrace", "tstat") if shutil.which(name)]


def run(command: list[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    return done.stdout


def tshark(path: Path, host: str) -> dict[str, int]:
    """Packets of `host` under each of Wireshark's labels; "any" holds fast and spurious ones too."""
    wanted = " || ".join(TSHARK_FIELDS.values())
    command = ["tshark", "-n", "-r", str(path), "-Y", f"ip.src == {host} && ({wanted})", "-T", "fields"]
    command += [part for name in TSHARK_FIELDS.values() for part in ("-e", name)]
    counts: Counter[str] = Counter()
    for line in run(command).splitlines():
        cells = line.split("\t")
        marked = {label for label, cell in zip(TSHARK_FIELDS, cells, strict=False) if cell}
        counts.update(marked)
        if marked & {"retransmission", "fast", "spurious"}:
            counts["any retransmission"] += 1
    return dict(counts)


def tcptrace(path: Path, host: str) -> dict[str, int]:
    """Retransmitted and out-of-order packets in the direction from `host`."""
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix == ".gz":
            plain = Path(folder) / path.stem
            plain.write_bytes(gzip.decompress(path.read_bytes()))
            path = plain
        said = run(["tcptrace", "-n", "-l", str(path)])
    counts: Counter[str] = Counter()
    column = 0
    for line in said.splitlines():
        # The two hosts of a connection in turn: the first one's figures stand in the left column.
        if (m := re.match(r"\s*host (\S+?):\s+(\S+):\d+", line)) and m[2] == host:
            column = (ord(m[1][-1]) - ord("a")) % 2
        for label in ("rexmt data pkts", "outoforder pkts"):
            if m := re.findall(rf"{label}:\s+(\d+)", line):
                counts[label] += int(m[column])
    return dict(counts)


def tstat(path: Path, host: str) -> dict[str, int]:
    """Retransmissions by tstat's classes, from its table of completed connections."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        run(["tstat", "-s", folder, str(path)])
        for table in Path(folder).rglob("log_tcp_*complete"):
            lines = table.read_text().splitlines()
            if not lines:
                continue
            names = [re.sub(r"[#:].*$", "", n) for n in lines[0].lstrip("#").split()]
            for line in lines[1:]:
                row = dict(zip(names, line.split(), strict=False))
                side = "c" if row.get("c_ip") == host else "s"
                for label in ("pkts_retx", "pkts_rto", "pkts_fs", "pkts_unk", "pkts_ooo"):
                    counts[label] += int(row.get(f"{side}_{label}", 0))
    return dict(counts)
