"""What an analysis takes at most, over a tenth of the captures that are made to take memory."""

from __future__ import annotations

import gzip
import lzma
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's peak of a process is Linux's")

VALIDATION = Path(__file__).parent.parent.parent / "validation"


@pytest.mark.slow
def test_no_capture_takes_more_than_twice_its_bytes_and_the_allowance() -> None:
    command = [sys.executable, str(VALIDATION / "memory.py"), "--scale", "0.1", "--bombs", "0.2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" met") >= 8 * 6 + 2, done.stdout


def write_bomb(path: Path) -> None:
    """Four thousand million packets of no bytes behind a capture's head: an hour of reading."""
    head = bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000")
    # Members of a file may follow each other: one is written, and repeated.
    pack = gzip.compress if path.suffix == ".gz" else partial(lzma.compress, preset=0)
    path.write_bytes(pack(head) + pack((b"\1" + bytes(15)) * (1 << 22)) * 1000)


@pytest.mark.parametrize("name", ["bomb.pcap.gz", "bomb.pcap.xz"])
def test_a_bomb_is_stopped_by_ctrl_c(tmp_path: Path, name: str) -> None:
    bomb = tmp_path / name
    write_bomb(bomb)
    command = [sys.executable, "-m", "rexmit", "analyze", str(bomb)]
    said = tmp_path / "said"
    with said.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as child:
        try:
            # It reads once it has taken some time of the processor.
            while cpu_s(child.pid) < 1.0:
                assert child.poll() is None, said.read_text()
                time.sleep(0.05)
            before = after = cpu_s(child.pid)
            child.send_signal(signal.SIGINT)
            while child.poll() is None:
                after = max(after, cpu_s(child.pid))
                assert after - before < 5.0, "seconds of the processor after Ctrl-C"
                time.sleep(0.01)
        finally:
            child.kill()
    assert "stopped early" in said.read_text()
    assert "Traceback" not in said.read_text()


def cpu_s(pid: int) -> float:
    """User and system time of a process so far; 0 of one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
