"""rexmit: what a burst of losses did to a TCP transfer, and how the transfer came back.

import rexmit as rx
cap = rx.capture("slow.pcapng")
cap.episodes.to_polars()
cap.flows[0].time_sequence().show()
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit._core import CaptureError
    from rexmit.api import Capture, Flow, Flows, capture
    from rexmit.tables import Table

__all__ = ["Capture", "CaptureError", "Flow", "Flows", "Table", "__version__", "capture"]

_HOME = {
    "Capture": "rexmit.api",
    "CaptureError": "rexmit._core",
    "Flow": "rexmit.api",
    "Flows": "rexmit.api",
    "Table": "rexmit.tables",
    "__version__": "rexmit._core",
    "capture": "rexmit.api",
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
