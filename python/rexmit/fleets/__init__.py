"""Many separate captures, one analysis each, and what all of them come to (docs/fleet.md).

The ways through it: `finding` finds captures and joins rotations; `plan` numbers them; `one` analyses one,
wherever an engine of `rexmit.sweeps` has that done; `fleet` keeps the tables; `summary` adds them up.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.fleets.analysing import fleet
    from rexmit.fleets.results import Fleet, load

__all__ = ["Fleet", "fleet", "load"]
_HOME = {"Fleet": "results", "fleet": "analysing", "load": "results"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rexmit.fleets' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"rexmit.fleets.{_HOME[name]}"), name)
