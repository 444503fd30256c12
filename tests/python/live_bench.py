"""A short scenario for the live bench, and whether the bench can run here."""

from __future__ import annotations

import os
import subprocess

import pytest

SCENARIO = """
name = "short"
duration = "20s"
[chain]
nodes = ["pc", "server"]
rate = "20Mbps"
delay = "5ms"
queue = { kind = "droptail", packets = 100 }
[[chain.channel]]
name = "dark"
kind = "outage"
schedule = { every = "10s", for = "60ms", phase = "150ms", anchor = "first-syn" }
[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "linux-2.6-reno"
workload = { kind = "file", size = "1MB" }
"""


def no_bench() -> str:
    """Why there is no live bench here; empty if there is."""
    if os.geteuid() != 0:
        return "not root"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "no network namespaces"


WHY = no_bench()
needs_bench = pytest.mark.skipif(bool(WHY), reason=f"the live bench cannot run here: {WHY}")
