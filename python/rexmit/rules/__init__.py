"""Rules of one's own: a window rule, a loss detector or a recovery rule of a stack, as a Python class.

from rexmit.rules import WindowRule

A stack file names the class: `[congestion] rule = "python"`, `class = "mine:Gentle"` (docs/own-rules.md).
Three twins of rules that are built in show how: `rexmit.rules.aimd`, `rexmit.rules.dup_acks`,
`rexmit.rules.newreno`.
"""

from rexmit._core import AckFacts, DetectFacts, LossFacts, Progress, RepairFacts, Verdict, Window
from rexmit.rules.hooks import UNBOUNDED, Detector, Habits, Recovery, WindowRule

__all__ = [
    "UNBOUNDED",
    "AckFacts",
    "DetectFacts",
    "Detector",
    "Habits",
    "LossFacts",
    "Progress",
    "Recovery",
    "RepairFacts",
    "Verdict",
    "Window",
    "WindowRule",
]
