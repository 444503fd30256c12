"""Figures of one flow, or of a sweep, in one style. Each function takes rows and returns a `Figure`."""

from rexmit import extras

extras.need("figures", "a figure")

from rexmit.figures.causes import causes
from rexmit.figures.idle import idle_gaps
from rexmit.figures.ladder import ladder
from rexmit.figures.repairs import repairs
from rexmit.figures.response import curves, heat_map
from rexmit.figures.rtt import rtt
from rexmit.figures.side_by_side import side_by_side
from rexmit.figures.spread import differences, distributions
from rexmit.figures.state import cwnd, queue
from rexmit.figures.style import Figure
from rexmit.figures.throughput import throughput
from rexmit.figures.time_sequence import time_sequence
from rexmit.figures.window import window

__all__ = [
    "Figure",
    "causes",
    "curves",
    "cwnd",
    "differences",
    "distributions",
    "heat_map",
    "idle_gaps",
    "ladder",
    "queue",
    "repairs",
    "rtt",
    "side_by_side",
    "throughput",
    "time_sequence",
    "window",
]
