"""What BBR's model is made of: rates in whole numbers, the largest of a window, ACKs that come together, and
policed paths. In Rust: crates/tcp/src/congestion/units.rs, windowed_max.rs, draw.rs, bbr/.
"""

from __future__ import annotations

from typing import Literal

from rexmit.rules import Progress, RateSample

#: A gain of one; a bandwidth is segments a microsecond, times 2^24.
UNIT = 256
BW_BITS = 24
MARGIN_PERCENT = 1


def us(ns: int) -> int:
    """Whole microseconds."""
    return max(ns // 1000, 0)


def bandwidth(segments: int, us: int) -> int:
    """`segments` in `us`, rounded down."""
    return (segments << BW_BITS) // max(us, 1)


def segments_in(bw: int, us: int, gain: int) -> int:
    """Segments in `us` at `bw`, times `gain`, rounded up."""
    scaled = bw * us * gain // UNIT
    return min(-(-scaled >> BW_BITS), (2**32 - 1) // 4)


def delivered_in(bw: int, us: int) -> int:
    """Whole segments in `us` at `bw`."""
    return bw * us >> BW_BITS


def bytes_per_s(bw: int, smss: int, gain: int) -> int:
    """At `bw` times `gain`, a little below: what the path carries keeps the queue short then."""
    return (bw * smss * gain // UNIT) * (10_000 * (100 - MARGIN_PERCENT)) >> BW_BITS


class Draw:
    """Random numbers from the connection's initial sequence number (SplitMix64: Steele and others 2014)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, n: int) -> int:
        """Evenly below n."""
        whole = 2**64 - 1
        self.state = (self.state + 0x9E37_79B9_7F4A_7C15) & whole
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9 & whole
        z = (z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB & whole
        z ^= z >> 31
        return z * n >> 64


class WindowedMax:
    """The largest value of a sliding window, by its three best candidates (Linux: lib/win_minmax.c)."""

    def __init__(self) -> None:
        # When it was seen, and the value; each later than the one before.
        self.best = [(0, 0)] * 3

    def get(self) -> int:
        return self.best[0][1]

    def note(self, window: int, at: int, value: int) -> None:
        """A new value; those older than `window` go."""
        new, best = (at, value), self.best
        if value >= best[0][1] or at - best[2][0] > window:
            self.best = [new] * 3
            return
        if value >= best[1][1]:
            best[1] = best[2] = new
        elif value >= best[2][1]:
            best[2] = new
        age = at - best[0][0]
        if age > window:
            # The best is too old: the others move up, twice if need be.
            best[:] = best[1], best[2], new
            if at - best[0][0] > window:
                best[:] = best[1], best[2], new
        elif best[1][0] == best[0][0] and age > window // 4:
            best[1] = best[2] = new
        elif best[2][0] == best[1][0] and age > window // 2:
            best[2] = new


class Aggregation:
    """How much more is acknowledged at a time than the bandwidth explains, so that cwnd has room for it and
    sending goes on between ACKs that come together (Linux: bbr_update_ack_aggregation).
    """

    #: Each of the two maxima is of so many round trips.
    WINDOW_ROUNDS = 5
    #: An epoch ends where so many segments were acknowledged in it.
    LONGEST = 1 << 20
    #: The excess that counts is at most this long a time's.
    MOST_US = 100_000

    def __init__(self, now_ns: int) -> None:
        self.epoch_ns = now_ns
        self.acked = 0
        self.most = [0, 0]
        self.current = 0
        self.rounds = 0

    def restart(self, now_ns: int) -> None:
        """Nothing was in flight for a while."""
        self.epoch_ns, self.acked = now_ns, 0

    def allowance(self, bw: int) -> int:
        """Segments to add to cwnd."""
        return min(max(self.most), delivered_in(bw, self.MOST_US))

    def note(self, s: RateSample, round_began: bool, bw: int, delivered_at_ns: int, cwnd: int) -> None:
        newly = s.newly_delivered
        if newly == 0 or s.interval_ns is None:
            return
        if round_began:
            self.rounds += 1
            if self.rounds >= self.WINDOW_ROUNDS:
                self.rounds = 0
                self.current ^= 1
                self.most[self.current] = 0
        expected = delivered_in(bw, us(delivered_at_ns - self.epoch_ns))
        # Slower than expected, or long ago: what comes from here on is compared anew.
        if self.acked <= expected or self.acked + newly >= self.LONGEST:
            self.acked = 0
            self.epoch_ns = delivered_at_ns
            expected = 0
        self.acked = min(self.acked + newly, self.LONGEST - 1)
        extra = min(self.acked - expected, cwnd, 2**16 - 1)
        self.most[self.current] = max(self.most[self.current], extra)


class Policer:
    """Is the path policed? Two intervals of like throughput in which much is lost: their mean is the
    bandwidth for a while (Linux: bbr_lt_bw_sampling; Flach and others, SIGCOMM 2016).
    """

    #: Round trips of an interval at least, and at most; and for which the rate holds.
    LEAST_ROUNDS = 4
    MOST_ROUNDS = 16
    HOLDS_ROUNDS = 48
    #: Lost for each 256 delivered: a fifth.
    LOSSY = 50
    #: Two intervals are alike within an eighth, or within so many bytes a second.
    ALIKE = 8
    ALIKE_BYTES = 4000 // 8

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.sampling = False
        # As the interval began: delivered, when, lost.
        self.start = (0, 0, 0)
        self.rounds = 0
        # Of the interval before; the bandwidth to go by, if `found`.
        self.bw = 0
        self.found = False

    def rate(self) -> int | None:
        """The policed rate, if that is what to go by."""
        return self.bw if self.found else None

    def look(
        self, so_far: Progress, lost: bool, app_limited: bool, round_began: bool, probing_bw: bool, smss: int
    ) -> Literal["nothing", "policed", "over"]:
        """policed: the path is, from now on.  over: it was long enough, probe again."""
        if self.found:
            self.rounds += probing_bw and round_began
            if self.rounds < self.HOLDS_ROUNDS:
                return "nothing"
            self.forget()
            return "over"
        if not self.sampling:
            # The first loss tells that the tokens are spent: before, the burst would be measured.
            if not lost:
                return "nothing"
            self.sampling = True
            self.begin(so_far)
        if app_limited:
            self.forget()
            return "nothing"
        self.rounds += round_began
        if self.rounds > self.MOST_ROUNDS:
            self.forget()
        elif self.rounds >= self.LEAST_ROUNDS and lost and self.interval(so_far, smss):
            return "policed"
        return "nothing"

    def begin(self, so_far: Progress) -> None:
        self.start = (so_far.delivered, so_far.delivered_at_ns, so_far.lost)
        self.rounds = 0

    def interval(self, so_far: Progress, smss: int) -> bool:
        """Whether this one is like the one before."""
        lost = so_far.lost - self.start[2]
        delivered = so_far.delivered - self.start[0]
        took_ms = so_far.delivered_at_ns // 1_000_000 - self.start[1] // 1_000_000
        if delivered == 0 or lost * 256 < self.LOSSY * delivered or took_ms < 1:
            return False
        bw = bandwidth(delivered, took_ms * 1000)
        if self.bw > 0:
            apart = abs(bw - self.bw)
            if apart * self.ALIKE <= self.bw or bytes_per_s(apart, smss, UNIT) <= self.ALIKE_BYTES:
                mean = (bw + self.bw) // 2
                self.forget()
                self.bw, self.found = mean, True
                return True
        self.bw = bw
        self.begin(so_far)
        return False
