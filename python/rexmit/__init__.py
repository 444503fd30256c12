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
    from rexmit.api import Capture, capture
    from rexmit.captured.flows import Flow, Flows
    from rexmit.captured.frame_counts import Traffic, traffic
    from rexmit.captured.recording import Recording, record
    from rexmit.compared.episode_match import SideBySide, compare
    from rexmit.compared.replaying import Replay, replay
    from rexmit.compared.stack_ranking import Ranking, rank_stacks
    from rexmit.fitted.fitting import Fit, fit
    from rexmit.fleets.analysing import fleet
    from rexmit.fleets.results import Fleet
    from rexmit.running.many_runs import Runs, runs
    from rexmit.running.one_run import LiveRun, Run, run
    from rexmit.running.scripted import Script, script
    from rexmit.scenario import Scenario
    from rexmit.studies import study
    from rexmit.sweeps.results import Sweep
    from rexmit.sweeps.sweeping import sweep
    from rexmit.tables import Table

__all__ = [
    "Capture",
    "CaptureError",
    "Fit",
    "Fleet",
    "Flow",
    "Flows",
    "LiveError",
    "LiveRun",
    "Ranking",
    "Recording",
    "Replay",
    "Run",
    "Runs",
    "Scenario",
    "ScenarioError",
    "Script",
    "SideBySide",
    "Sweep",
    "Table",
    "Traffic",
    "__version__",
    "capture",
    "compare",
    "fit",
    "fleet",
    "rank_stacks",
    "record",
    "replay",
    "run",
    "runs",
    "script",
    "study",
    "sweep",
    "traffic",
]

_HOME = {
    "Capture": "rexmit.api",
    "CaptureError": "rexmit._core",
    "Fit": "rexmit.fitted.fitting",
    "Fleet": "rexmit.fleets.results",
    "Flow": "rexmit.captured.flows",
    "Flows": "rexmit.captured.flows",
    "LiveError": "rexmit._core",
    "LiveRun": "rexmit.running.one_run",
    "Ranking": "rexmit.compared.stack_ranking",
    "Recording": "rexmit.captured.recording",
    "Replay": "rexmit.compared.replaying",
    "Run": "rexmit.running.one_run",
    "Runs": "rexmit.running.many_runs",
    "Scenario": "rexmit.scenario",
    "ScenarioError": "rexmit._core",
    "SideBySide": "rexmit.compared.episode_match",
    "Script": "rexmit.running.scripted",
    "Sweep": "rexmit.sweeps.results",
    "Table": "rexmit.tables",
    "Traffic": "rexmit.captured.frame_counts",
    "__version__": "rexmit._core",
    "capture": "rexmit.api",
    "compare": "rexmit.compared.episode_match",
    "fit": "rexmit.fitted.fitting",
    "fleet": "rexmit.fleets.analysing",
    "rank_stacks": "rexmit.compared.stack_ranking",
    "record": "rexmit.captured.recording",
    "replay": "rexmit.compared.replaying",
    "run": "rexmit.running.one_run",
    "runs": "rexmit.running.many_runs",
    "script": "rexmit.running.scripted",
    "study": "rexmit.studies",
    "sweep": "rexmit.sweeps.sweeping",
    "traffic": "rexmit.captured.frame_counts",
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
