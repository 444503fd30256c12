"""Rules of one's own: a window rule, a loss detector or a recovery rule of a stack, as a Python class.

from rexmit.rules import WindowRule

A stack file names the class: `[congestion] rule = "python"`, `class = "mine:Gentle"` (docs/own-rules.md).
Twins of rules that are built in show how: `rexmit.rules.aimd`, `rexmit.rules.dup_acks`,
`rexmit.rules.newreno`, `rexmit.rules.bbr`, `rexmit.rules.rack`.
"""

from rexmit._core import (
    AckFacts,
    Delivery,
    DetectFacts,
    Driving,
    Horizon,
    LossFacts,
    Patience,
    Progress,
    RateSample,
    RepairFacts,
    Verdict,
    Window,
)
from rexmit.rules.hooks import (
    UNBOUNDED,
    Detector,
    DrivingRule,
    Habits,
    Recovery,
    TimeDetector,
    WindowRule,
)

__all__ = [
    "UNBOUNDED",
    "AckFacts",
    "Delivery",
    "DetectFacts",
    "Detector",
    "Driving",
    "DrivingRule",
    "Habits",
    "Horizon",
    "LossFacts",
    "Patience",
    "Progress",
    "RateSample",
    "Recovery",
    "RepairFacts",
    "TimeDetector",
    "Verdict",
    "Window",
    "WindowRule",
]
