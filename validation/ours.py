"""What rexmit says about a capture: its JSON by the command, its retransmissions by the Python interface."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BESIDE = Path(sys.executable).with_name("rexmit")
REXMIT = BESIDE if BESIDE.exists() else ROOT / ".venv" / "bin" / "rexmit"


@dataclass
class Answer:
    """One answer, summed over the flows that one host sent."""

    flows: list[dict[str, Any]]

    def resent(self) -> int:
        return sum(f["retransmissions"]["total"] for f in self.flows)

    def by_cause(self, cause: str) -> int:
        return sum(f["retransmissions"]["by_cause"].get(cause, 0) for f in self.flows)

    def probes(self, kind: str) -> int:
        return sum(f["probes"][kind] for f in self.flows)

    def lost(self) -> int | None:
        """Lost copies; None if they are unknowable for any flow."""
        copies = [f["lost"]["copies"] for f in self.flows]
        return None if any(c is None for c in copies) else sum(copies)

    def lists(self, name: str) -> list[dict[str, Any]]:
        return [row for f in self.flows for row in f[name]]


def host_of(endpoint: str) -> str:
    return endpoint.rpartition(":")[0].strip("[]")


def answer(host: str, capture: Path, receiver: Path | None = None, at: str | None = None) -> Answer:
    """Raises RuntimeError with rexmit's own words if it fails."""
    command = [str(REXMIT), "analyze"]
    command += ["--sender", str(capture), "--receiver", str(receiver)] if receiver else [str(capture)]
    command += ["--at", at] if at else []
    done = subprocess.run([*command, "--json"], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
    flows = json.loads(done.stdout)["flows"]
    return Answer([f for f in flows if host_of(f["sender"]) == host])


def retransmissions(capture: Path) -> list[dict[str, Any]]:
    """Rows of the table `retransmissions`, by the packet's place in the capture."""
    import pyarrow as pa  # comes with rexmit; only this function needs it

    try:
        from rexmit import _core
    except ImportError:
        sys.exit(f"rexmit is not installed for {sys.executable}; run make build, then .venv/bin/python")
    analysis = _core.analyze([str(capture)], tables=["retransmissions"])
    reader = pa.RecordBatchReader.from_stream(analysis.table("retransmissions"))
    names = ["packet", "segments", "cause"]
    return reader.read_all().select(names).to_pylist()
