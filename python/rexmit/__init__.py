"""rexmit: what a burst of losses did to a TCP transfer, and how the transfer came back.

import rexmit as rx
cap = rx.capture("slow.pcapng")
cap.episodes.to_polars()
cap.flows[0].time_sequence().show()
run = rx.run("scenarios/interruption.toml", seed=3)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit._core import CaptureError, LiveError, ScenarioError
    from rexmit.api import Capture, Flow, Flows, capture
    from rexmit.batch import Runs, runs
    from rexmit.beside import SideBySide, compare
    from rexmit.counts import Traffic, traffic
    from rexmit.scenario import Scenario
    from rexmit.scripted import Script, script
    from rexmit.simulation import LiveRun, Run, run
    from rexmit.tables import Table

__all__ = [
    "Capture",
    "CaptureError",
    "Flow",
    "Flows",
    "LiveError",
    "LiveRun",
    "Run",
    "Runs",
    "Scenario",
    "ScenarioError",
    "Script",
    "SideBySide",
    "Table",
    "Traffic",
    "__version__",
    "capture",
    "compare",
    "run",
    "runs",
    "script",
    "traffic",
]

_HOME = {
    "Capture": "rexmit.api",
    "CaptureError": "rexmit._core",
    "Flow": "rexmit.api",
    "Flows": "rexmit.api",
    "LiveError": "rexmit._core",
    "LiveRun": "rexmit.simulation",
    "Run": "rexmit.simulation",
    "Runs": "rexmit.batch",
    "Scenario": "rexmit.scenario",
    "ScenarioError": "rexmit._core",
    "SideBySide": "rexmit.beside",
    "Script": "rexmit.scripted",
    "Table": "rexmit.tables",
    "Traffic": "rexmit.counts",
    "__version__": "rexmit._core",
    "capture": "rexmit.api",
    "compare": "rexmit.beside",
    "run": "rexmit.simulation",
    "runs": "rexmit.batch",
    "script": "rexmit.scripted",
    "traffic": "rexmit.counts",
}


def __getattr__(name: str) -> Any:
    # Imported when first used, so that `rexmit --help` pays for nothing it does not need.
    if name not in _HOME:
        raise AttributeError(f"module 'rexmit' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
