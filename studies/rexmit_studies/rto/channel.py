"""The two-state channel of frame errors, fitted to a row of Table I in closed form.

In the good state a frame is hit with probability `loss_good`, in the bad state always. The channel may change
its state before each frame. Frames arrive in the good state only, so that it begins anew with each frame that
arrives: bursts of erroneous frames are independent, and their lengths have a distribution of phase type.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Bursts(Protocol):
    """Frames that arrive do so in one state only, the first, so that bursts are independent."""

    @property
    def burst_begins(self) -> float:
        """Probability that the frame behind one that arrived is erroneous."""

    def hits(self) -> NDArray[np.float64]:
        """From state to state with the next frame hit, states by states."""


def beyond(channel: Bursts, most: int) -> NDArray[np.float64]:
    """P(a burst is longer than k frames) for k = 0 to `most`: a distribution of phase type."""
    hits = channel.hits()
    state = hits[0] / hits[0].sum()
    tail = np.empty(most + 1)
    for k in range(most + 1):
        tail[k] = state.sum()
        state = state @ hits
    return tail


def longest_at_most(channel: Bursts, arrived: float, most: int = 400) -> NDArray[np.float64]:
    """P(the longest burst has at most k frames) for k = 0 to `most`, while `arrived` frames arrive."""
    return (1 - channel.burst_begins * beyond(channel, most)) ** arrived


def excess(channel: Bursts, longest: int, arrived: float) -> float:
    """P(longest burst < l) + P(= l)/2 - 1/2: above 0 where bursts are too short."""
    below, upto = longest_at_most(channel, arrived, longest)[longest - 1 :]
    return float(below + upto) / 2 - 0.5


@dataclass(frozen=True)
class Channel:
    """A fitted channel. Probabilities are per frame: of going bad, of recovering, of an error while good."""

    good_to_bad: float
    bad_to_good: float
    loss_good: float

    @property
    def frame_error_rate(self) -> float:
        """Erroneous frames over all frames, in the long run."""
        bad = self.good_to_bad / (self.good_to_bad + self.bad_to_good)
        return bad + (1 - bad) * self.loss_good

    @property
    def burst_begins(self) -> float:
        """Probability that the frame behind one that arrived is erroneous."""
        return self.good_to_bad + (1 - self.good_to_bad) * self.loss_good

    @property
    def mean_burst(self) -> float:
        """Mean length of a run of erroneous frames."""
        rate = self.frame_error_rate
        return rate / ((1 - rate) * self.burst_begins)

    def hits(self) -> NDArray[np.float64]:
        """From state to state with the next frame hit: good, bad."""
        return np.array(
            [
                [(1 - self.good_to_bad) * self.loss_good, self.good_to_bad],
                [self.bad_to_good * self.loss_good, 1 - self.bad_to_good],
            ]
        )

    def longest(self, arrived: float, share: float = 0.95) -> tuple[int, int, int]:
        """Median and central interval of the longest burst while `arrived` frames arrive."""
        at_most = longest_at_most(self, arrived)
        low, middle, high = np.searchsorted(at_most, [(1 - share) / 2, 0.5, (1 + share) / 2])
        return int(middle), int(low), int(high)

    def spec(self, **more: Any) -> dict[str, Any]:
        """As a scenario writes it: asked for each frame, in each direction on its own."""
        return {
            "name": "fading",
            "kind": "gilbert-elliott",
            "good_to_bad": self.good_to_bad,
            "bad_to_good": self.bad_to_good,
            "loss_good": self.loss_good,
            "loss_bad": 1.0,
        } | more

    def timed(self, frame_s: float) -> dict[str, Any]:
        """The same channel with its periods in time, a frame being `frame_s` seconds."""
        return {
            "name": "fading",
            "kind": "gilbert-elliott",
            "good": f"{frame_s / self.good_to_bad:.6f}s",
            "bad": f"{frame_s / self.bad_to_good:.6f}s",
            "loss_good": self.loss_good,
            "loss_bad": 1.0,
        }


def fit(rate: float, mean_burst: float, longest_burst: int, arrived: float) -> Channel:
    """The channel with this frame error rate and mean burst, exactly, whose longest burst is as likely above
    `longest_burst` as below it while `arrived` frames arrive.

    Given the probability of recovering, the two moments leave a quadratic equation for that of going bad; a
    search finds the third condition. Where bursts are short it holds twice: also for bad periods so long and
    rare that half of the transfers meet none. The quicker recovery is taken: the row is then an ordinary
    transfer. Raises ValueError where no such channel exists: bursts shorter than those of independent errors,
    1/(1 - rate), or longest ones that do not go with the mean.
    """
    begins = rate / (mean_burst * (1 - rate))
    if not 0 < begins <= rate < 1:
        raise ValueError(
            f"bursts of {mean_burst} are shorter than independent errors have at a rate of {rate}"
        )
    last: Channel | None = None
    for recovers in np.geomspace(1, 1e-4, 300):
        channel = _with(rate, begins, float(recovers))
        if channel and last and excess(channel, longest_burst, arrived) <= 0:
            return _between(channel, last, rate, begins, longest_burst, arrived)
        last = channel
    raise ValueError(
        f"no two-state channel has bursts of {mean_burst} and {longest_burst} at a rate of {rate}"
    )


def _with(rate: float, begins: float, recovers: float) -> Channel | None:
    """The channel of this error rate and mean burst that recovers with this probability, if there is one.

    With p of going bad and e of an error while good: 1 - begins = (1 - p)(1 - e), and
    1 - rate = (1 - e) recovers / (p + recovers). The smaller root for p has e >= 0.
    """
    linear, rest = 1 - recovers, recovers * (1 - begins) / (1 - rate) - recovers
    inside = linear * linear - 4 * rest
    if inside < 0:
        return None
    bad = (linear - sqrt(inside)) / 2
    good = 1 - (1 - begins) / (1 - bad)
    return Channel(bad, recovers, good) if good >= 0 else None


def _between(
    slow: Channel, quick: Channel, rate: float, begins: float, longest: int, arrived: float
) -> Channel:
    """Bisection between a channel whose bursts are too long and one whose are too short."""
    for _ in range(50):
        middle = _with(rate, begins, sqrt(slow.bad_to_good * quick.bad_to_good))
        if middle is None:  # the two are one already
            break
        if excess(middle, longest, arrived) > 0:
            quick = middle
        else:
            slow = middle
    return slow
