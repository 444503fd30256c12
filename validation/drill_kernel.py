"""packetdrill's scripts on this machine's own kernel, by its own program (validation/drill.py --kernel)."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

#: A socket gets the congestion control that the script's sysctl asks for: within a network namespace only
#: root's setsockopt may choose one that the machine does not allow everybody.
SOCKET = re.compile(r"^(.*socket\(\.\.\., SOCK_STREAM[|\w ]*, IPPROTO_TCP\) = (\d+).*)$", re.MULTILINE)
CONTROL = re.compile(r"tcp_congestion_control=(\w+)")
#: What a script calls lies beside it, or up to two folders higher.
LEVELS = 3
#: The kernel's own selftests give a busy machine so much.
TOLERANCE_US = 14_000
#: Said by what a script sets that this kernel has not, and by Python's tracebacks.
NOISE = re.compile(r"sysctl:|qdisc kind|^Traceback|^  |^RTNETLINK")


def passes(binary: Path, path: Path, text: str) -> tuple[bool, str]:
    """Whether the kernel does what the script says, and what was said if not. Needs root."""
    control = [*CONTROL.findall(text), "cubic"][0]
    chosen = rf'\1\n+0 setsockopt(\2, SOL_TCP, TCP_CONGESTION, "{control}", {len(control)}) = 0'
    with tempfile.TemporaryDirectory() as work:
        here = Path(work, *"ab")
        here.mkdir(parents=True)
        there = path.resolve().parent
        for level in (here, here.parent, Path(work))[:LEVELS]:
            for beside in there.iterdir():
                if beside.name == "common" or beside.suffix in (".sh", ".py"):
                    (level / beside.name).symlink_to(beside)
            there = there.parent
        (here / "script.pkt").write_text(SOCKET.sub(chosen, text))
        shell = f'ip link set lo up; exec "$0" --tolerance_usecs={TOLERANCE_US} script.pkt'
        ran = subprocess.run(
            ["unshare", "--net", "sh", "-c", shell, str(binary.resolve())],
            cwd=here,
            capture_output=True,
            text=True,
            check=False,
        )
    told = [line for line in (ran.stdout + ran.stderr).splitlines() if not NOISE.search(line)]
    return ran.returncode == 0, told[-2] if len(told) > 1 else "".join(told)
