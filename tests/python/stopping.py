"""Waiting for what a command does, or for the CPU time it takes: how busy the machine is does not matter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def used_s(pid: int) -> float:
    """The CPU time of a process until now."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def stopped(after_s: float, *words: str) -> tuple[float, int, str, str]:
    """Sends Ctrl-C to a command that has used so much CPU time; returns what it used from then on, its exit
    code, and what it said.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "rexmit", *words]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    before = 0.0
    while before < after_s and child.poll() is None:
        time.sleep(0.01)
        before = used_s(child.pid)
    assert child.returncode is None, "it was over too soon"
    child.send_signal(signal.SIGINT)
    # It says little: the pipes hold it.
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    said, complaint = child.communicate()
    return usage.ru_utime + usage.ru_stime - before, child.returncode, said, complaint


def wait_until(holds: Callable[[], bool]) -> None:
    """Returns once it holds, or after 20 s: the assertions that follow tell."""
    for _ in range(400):
        if holds():
            break
        time.sleep(0.05)
