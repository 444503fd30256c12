"""The fitted scenario, run several times and compared with the capture that it was fitted to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rexmit.fitted.seen import Seen
from rexmit.fitted.value import quantile

if TYPE_CHECKING:
    from rexmit.api import Capture, Progress
    from rexmit.fitted.fitting import Fit

#: A duration within this share of the capture's is given back; where losses are random, the median of the
#: draws.
WITHIN, AT_RANDOM = 0.05, 0.10
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Line:
    """One figure: of the capture, the middle of the draws and their range; whether the range holds the
    capture's.
    """

    name: str
    captured: float
    median: float
    low: float
    high: float
    unit: str
    given_back: bool


@dataclass(frozen=True)
class Check:
    """What the draws gave back.  causes: of the draws, by number; cause: the capture's."""

    draws: int
    lines: list[Line]
    cause: str
    causes: dict[str, int]

    @property
    def same_cause(self) -> bool:
        """Most draws have the capture's cause."""
        return 2 * self.causes.get(self.cause, 0) >= self.draws

    @property
    def not_given_back(self) -> list[str]:
        """As the page says it."""
        names = [line.name for line in self.lines if not line.given_back]
        return names + ([] if self.same_cause else ["the cause"])

    def to_dict(self) -> dict[str, Any]:
        """As `rexmit fit --json` prints it."""
        return {
            "draws": self.draws,
            "figures": [line.__dict__ for line in self.lines],
            "cause": self.cause,
            "causes": self.causes,
            "not_given_back": self.not_given_back,
        }


def check(fit: Fit, draws: int = 20, progress: Progress | None = None) -> Check:
    """Runs the scenario with the seeds 1 to `draws`, seen from where the capture was taken."""
    from rexmit.running.one_run import run

    at: Literal["sender", "receiver"] = "receiver" if fit.seen.arriving else "sender"
    captured = _figures(fit.seen)
    found: list[dict[str, float]] = []
    causes: Counter[str] = Counter()
    for number in range(draws):
        drawn = run(fit.scenario, number + 1, at=at, tables=("rtt",))
        seen = Seen.of(drawn, _fitted(drawn))
        found.append(_figures(seen))
        causes[str(seen.answer.get("cause"))] += 1
        if progress is not None and not progress(number + 1, draws, 0):
            break
    lines = [_line(fit, name, value, [f[name] for f in found]) for name, value in captured.items()]
    return Check(len(found), lines, str(fit.seen.answer.get("cause")), dict(causes.most_common()))


def _fitted(drawn: Capture) -> str:
    """The connection of the scenario's first flow, which has the lowest port."""
    first = min(
        drawn.flows, key=lambda f: sorted(int(end.rpartition(":")[2]) for end in (f.sender, f.receiver))
    )
    return f"{first.sender}-{first.receiver}"


def _figures(seen: Seen) -> dict[str, float]:
    row = seen.row
    rtts = sorted(rtt for _, rtt in seen.samples) or [0.0]
    quantiles = {f"RTT, {100 * q:.0f}%": quantile(rtts, q) for q in QUANTILES}
    first, last = row["first_data"], row["last_data"]
    took = last - first if first is not None and last is not None else seen.seconds
    return {
        "duration": float(took),
        "lost copies": float(row["lost_copies"] or row["lost_segments"] or 0),
        "timeouts": float(row["timeouts"] or 0),
        **quantiles,
    }


def _line(fit: Fit, name: str, captured: float, drawn: list[float]) -> Line:
    ordered = sorted(drawn)
    middle, low, high = quantile(ordered, 0.5), ordered[0], ordered[-1]
    unit = "" if name in ("lost copies", "timeouts") else "s"
    if name == "duration":
        part = AT_RANDOM if fit.losses.kind in ("random", "gilbert-elliott") else WITHIN
        back = abs(middle - captured) <= part * max(captured, 1e-9)
    elif unit:
        slack = max(0.1 * captured, 0.001)
        back = low - slack <= captured <= high + slack
    else:
        slack = max(0.25 * captured, 2.0)
        back = low - slack <= captured <= high + slack
    return Line(name, captured, middle, low, high, unit, back)
