"""The grades of a study's figures and their words, which a report of its folder shows, too."""

from __future__ import annotations

from typing import Literal

#: How a figure of the paper stands beside ours, the first two of which say nothing about rexmit
#: (docs/studies.md).
Grade = Literal["set", "fitted", "exact", "mean", "scatter", "no"]
#: In the order in which they are counted, in words.
GRADES: dict[Grade, str] = {
    "exact": "the printed digits",
    "mean": "inside the interval of the mean",
    "scatter": "within the scatter of single runs",
    "no": "not reproduced",
    "fitted": "fitted to it, or scripted",
    "set": "set as printed",
}
