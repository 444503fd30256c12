"""Sweeps: parameter grids, replications, paired comparisons, on all cores or in parts (docs/sweep.md).

The ways through it: `making` makes a `plan` of `axes`; `sizing` cuts it into blocks; `carry_out` has an
`engine` make each `block` and keeps it in a `store`, which `results` reads.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.sweeps.results import Sweep, load
    from rexmit.sweeps.sweeping import sweep

__all__ = ["Sweep", "load", "sweep"]
_HOME = {"Sweep": "results", "load": "results", "sweep": "sweeping"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rexmit.sweeps' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"rexmit.sweeps.{_HOME[name]}"), name)
