"""BBR (version 1) as Linux 6 has it, the twin of the built-in `bbr`: cwnd and pacing rate from a model of the
path, the largest delivery rate of ten round trips and the smallest RTT of ten seconds.

It gives the same packets at the same times, and tests/python/test_own_rules_driving.py holds it to that. In
Rust: crates/tcp/src/congestion/bbr.rs. Its filters are in `rexmit.rules.bbr_filters`.
"""

from __future__ import annotations

from rexmit.rules import Driving, DrivingRule, LossFacts, Progress, RateSample, Window
from rexmit.rules.bbr_filters import (
    UNIT,
    Aggregation,
    Draw,
    Policer,
    WindowedMax,
    bandwidth,
    bytes_per_s,
    delivered_in,
    segments_in,
    us,
)

#: 2 / ln 2: the smallest gain that doubles the rate each round trip; and its inverse.
HIGH_GAIN = UNIT * 2885 // 1000 + 1
DRAIN_GAIN = UNIT * 1000 // 2885
CWND_GAIN = UNIT * 2
#: Probe for more, drain what that left, cruise; it begins at any phase but the draining one.
CYCLE = (UNIT * 5 // 4, UNIT * 3 // 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT)
CYCLE_STARTS = 7
#: Round trips of the bandwidth's filter.
BW_ROUNDS = 10
#: Segments.
LEAST_CWND = 4
INITIAL_CWND = 10
#: The pipe is full after so many round trips in which the bandwidth grew by less than a quarter.
FULL_ROUNDS = 3
#: Bursts of one segment below, bytes a second.
SINGLE_BELOW = 1_200_000 // 8
#: Before there is an RTT sample.
NOMINAL_RTT_US = 1000

STARTUP, DRAIN, PROBE_BW, PROBE_RTT = "startup", "drain", "probe-bw", "probe-rtt"


class Bbr(DrivingRule):
    """min_rtt_window_ms: the smallest RTT is of so long.  probe_rtt_time_ms: to measure it, four segments are
    in flight for so long at least.  hz: jiffies a second, in which these two are counted.
    """

    def __init__(self, min_rtt_window_ms: int = 10_000, probe_rtt_time_ms: int = 200, hz: int = 250) -> None:
        self.tick = 1_000_000_000 // hz
        self.min_rtt_window = -(-min_rtt_window_ms * 1_000_000 // self.tick)
        self.probe_rtt_time = -(-probe_rtt_time_ms * 1_000_000 // self.tick)
        self.draw = Draw(0)
        self.mode = STARTUP
        self.bw = WindowedMax()
        # Round trips, by what was delivered; the next ends with what leaves once that much is delivered.
        self.rounds = 0
        self.round_ends = 0
        self.round_began = False
        # Jiffies.
        self.min_rtt_us: int | None = None
        self.min_rtt_at = 0
        # When PROBE_RTT may end (jiffies), once in flight has come down; and whether a round trip has passed.
        self.probe_rtt_ends: int | None = None
        self.probe_rtt_round = False
        # cwnd to come back to, segments.
        self.prior_cwnd = 0
        self.prior_phase = "open"
        self.conserves = False
        self.restarted = False
        self.seen_rtt = False
        self.full_bw = 0
        self.full_rounds = 0
        self.full = False
        self.cycle = 0
        self.cycle_at_ns = 0
        self.pacing_gain = HIGH_GAIN
        self.cwnd_gain = HIGH_GAIN
        self.policer = Policer()
        self.aggregation = Aggregation(0)

    def bandwidth(self) -> int:
        rate = self.policer.rate()
        return self.bw.get() if rate is None else rate

    # ---- pacing ----

    def pace_by_rtt(self, w: Window, d: Driving) -> None:
        srtt = d.srtt_ns
        self.seen_rtt = srtt is not None
        rtt = NOMINAL_RTT_US if srtt is None else max(us(srtt), 1)
        rate = bytes_per_s(bandwidth(segments(w), rtt), w.smss, HIGH_GAIN)
        d.pacing_rate = max(rate, 1)

    def pace(self, w: Window, d: Driving, gain: int) -> None:
        if not self.seen_rtt and d.srtt_ns is not None:
            self.pace_by_rtt(w, d)
        rate = bytes_per_s(self.bandwidth(), w.smss, gain)
        # Before the pipe is full the rate never goes down.
        if self.full or rate > d.pacing_rate:
            d.pacing_rate = max(rate, 1)

    # ---- what the path holds, segments ----

    def bdp(self, bw: int, gain: int) -> int:
        return INITIAL_CWND if self.min_rtt_us is None else segments_in(bw, self.min_rtt_us, gain)

    def with_room(self, cwnd: int, w: Window, d: Driving) -> int:
        """Room for three bursts in the ends, an even number, and two more while probing."""
        even = cwnd + 3 * d.goal(w.smss)
        even += even % 2
        return even + 2 if self.mode == PROBE_BW and self.cycle == 0 else even

    def target_in_flight(self, bw: int, gain: int, w: Window, d: Driving) -> int:
        return self.with_room(self.bdp(bw, gain), w, d)

    def in_network_then(self, in_flight: int, w: Window, d: Driving) -> int:
        """What of `in_flight` will be in the network as the next burst leaves."""
        until = us(max(d.next_ns, d.now_ns) - d.now_ns)
        more = d.goal(w.smss) if self.pacing_gain > UNIT else 0
        return max(0, in_flight + more - delivered_in(self.bandwidth(), until))

    # ---- the model ----

    def note_bandwidth(self, w: Window, s: RateSample, d: Driving) -> None:
        self.round_began = False
        delivered, interval = s.delivered, s.interval_ns
        if delivered is None or interval is None:
            return
        so_far = d.so_far
        if s.prior_delivered >= self.round_ends:
            self.round_ends = so_far.delivered
            self.rounds += 1
            self.round_began = True
            self.conserves = False
        self.look_for_policer(w.smss, s.newly_lost > 0, s.app_limited, so_far)
        bw = bandwidth(delivered, us(interval))
        if not s.app_limited or bw >= self.bw.get():
            self.bw.note(BW_ROUNDS, self.rounds, bw)

    def look_for_policer(self, smss: int, lost: bool, app_limited: bool, so_far: Progress) -> None:
        began, probing = self.round_began, self.mode == PROBE_BW
        verdict = self.policer.look(so_far, lost, app_limited, began, probing, smss)
        if verdict == "policed":
            self.pacing_gain = UNIT
        elif verdict == "over":
            self.probe_bandwidth(so_far)

    def next_phase_is_due(self, w: Window, s: RateSample, d: Driving) -> bool:
        least = self.min_rtt_us
        lasted = least is not None and us(d.so_far.delivered_at_ns - self.cycle_at_ns) > least
        if self.pacing_gain == UNIT:
            return lasted
        in_flight = self.in_network_then(s.prior_in_flight, w, d)
        bw = self.bw.get()
        if self.pacing_gain > UNIT:
            # Probes until what it asks for is in flight, unless that does not fit.
            wanted = self.target_in_flight(bw, self.pacing_gain, w, d)
            return lasted and (s.newly_lost > 0 or in_flight >= wanted)
        return lasted or in_flight <= self.target_in_flight(bw, UNIT, w, d)

    def next_phase(self, so_far: Progress) -> None:
        self.cycle = (self.cycle + 1) % len(CYCLE)
        self.cycle_at_ns = so_far.delivered_at_ns

    def probe_bandwidth(self, so_far: Progress) -> None:
        self.mode = PROBE_BW
        self.cycle = len(CYCLE) - 1 - self.draw.below(CYCLE_STARTS)
        self.next_phase(so_far)

    def look_for_full_pipe(self, s: RateSample) -> None:
        if self.full or not self.round_began or s.app_limited:
            return
        if self.bw.get() >= self.full_bw * 5 // 4:
            self.full_bw, self.full_rounds = self.bw.get(), 0
            return
        self.full_rounds += 1
        self.full = self.full_rounds >= FULL_ROUNDS

    def drain(self, w: Window, d: Driving) -> None:
        if self.mode == STARTUP and self.full:
            self.mode = DRAIN
            w.ssthresh = self.target_in_flight(self.bw.get(), UNIT, w, d) * w.smss
        if self.mode == DRAIN:
            target = self.target_in_flight(self.bw.get(), UNIT, w, d)
            if self.in_network_then(d.in_flight, w, d) <= target:
                self.probe_bandwidth(d.so_far)

    def note_rtt(self, w: Window, s: RateSample, d: Driving) -> None:
        now = d.now_ns // self.tick
        old = now > self.min_rtt_at + self.min_rtt_window
        if s.rtt_ns is not None:
            rtt = us(s.rtt_ns)
            if self.min_rtt_us is None or rtt <= self.min_rtt_us or (old and not s.ack_delayed):
                self.min_rtt_us, self.min_rtt_at = rtt, now
        if old and not self.restarted and self.mode != PROBE_RTT:
            self.mode = PROBE_RTT
            self.save_cwnd(w)
            self.probe_rtt_ends = None
        if self.mode == PROBE_RTT:
            self.probe_rtt(w, now, d)
        if s.delivered:
            self.restarted = False

    def probe_rtt(self, w: Window, now: int, d: Driving) -> None:
        # Four segments in flight say nothing of the bandwidth.
        d.limit_to_application = True
        if self.probe_rtt_ends is None:
            if d.in_flight <= LEAST_CWND:
                self.probe_rtt_ends = now + self.probe_rtt_time
                self.probe_rtt_round = False
                self.round_ends = d.so_far.delivered
            return
        self.probe_rtt_round |= self.round_began
        if self.probe_rtt_round:
            self.end_probe_rtt(w, now, d.so_far)

    def end_probe_rtt(self, w: Window, now: int, so_far: Progress) -> None:
        if self.probe_rtt_ends is None or now <= self.probe_rtt_ends:
            return
        self.min_rtt_at = now
        set_segments(w, max(segments(w), self.prior_cwnd))
        if self.full:
            self.probe_bandwidth(so_far)
        else:
            self.mode = STARTUP

    def set_gains(self) -> None:
        if self.mode == STARTUP:
            self.pacing_gain, self.cwnd_gain = HIGH_GAIN, HIGH_GAIN
        elif self.mode == DRAIN:
            self.pacing_gain, self.cwnd_gain = DRAIN_GAIN, HIGH_GAIN
        elif self.mode == PROBE_BW:
            policed = self.policer.rate() is not None
            self.pacing_gain, self.cwnd_gain = UNIT if policed else CYCLE[self.cycle], CWND_GAIN
        else:
            self.pacing_gain, self.cwnd_gain = UNIT, UNIT

    # ---- cwnd ----

    def save_cwnd(self, w: Window) -> None:
        """The last one that was not cut by a recovery or by PROBE_RTT."""
        whole = self.prior_phase == "open" and self.mode != PROBE_RTT
        self.prior_cwnd = segments(w) if whole else max(self.prior_cwnd, segments(w))

    def repair(self, cwnd: int, s: RateSample, d: Driving) -> tuple[int, bool]:
        """The first round trip of a recovery sends what is delivered and no more; after it cwnd comes back.
        Segments, and whether that is all.
        """
        if s.newly_lost > 0:
            cwnd = max(1, cwnd - s.newly_lost)
        if d.phase == "recovery" and self.prior_phase != "recovery":
            self.conserves = True
            self.round_ends = d.so_far.delivered
            cwnd = d.in_flight + s.newly_delivered
        elif d.phase == "open" and self.prior_phase != "open":
            cwnd = max(cwnd, self.prior_cwnd)
            self.conserves = False
        self.prior_phase = d.phase
        if self.conserves:
            return max(cwnd, d.in_flight + s.newly_delivered), True
        return cwnd, False

    def size(self, w: Window, s: RateSample, d: Driving) -> None:
        cwnd = segments(w)
        if s.newly_delivered > 0:
            cwnd, conserved = self.repair(cwnd, s, d)
            if not conserved:
                cwnd = self.towards_target(cwnd, s, w, d)
        if self.mode == PROBE_RTT:
            cwnd = min(cwnd, LEAST_CWND)
        set_segments(w, cwnd)

    def towards_target(self, cwnd: int, s: RateSample, w: Window, d: Driving) -> int:
        bw = self.bandwidth()
        extra = self.aggregation.allowance(bw) if self.full else 0
        target = self.with_room(self.bdp(bw, self.cwnd_gain) + extra, w, d)
        grown = cwnd + s.newly_delivered
        if self.full:
            cwnd = min(grown, target)
        elif cwnd < target or d.so_far.delivered < INITIAL_CWND:
            cwnd = grown
        return max(cwnd, LEAST_CWND)

    # ---- the hooks ----

    def begin(self, w: Window, d: Driving) -> None:
        self.draw = Draw(d.seed)
        self.min_rtt_us = None if d.min_rtt_ns is None else us(d.min_rtt_ns)
        self.min_rtt_at = d.now_ns // self.tick
        self.aggregation = Aggregation(d.now_ns)
        d.single_below(SINGLE_BELOW)
        self.pace_by_rtt(w, d)

    def drive(self, w: Window, s: RateSample, d: Driving) -> None:
        self.note_bandwidth(w, s, d)
        delivered_at = d.so_far.delivered_at_ns
        self.aggregation.note(s, self.round_began, self.bandwidth(), delivered_at, segments(w))
        if self.mode == PROBE_BW and self.next_phase_is_due(w, s, d):
            self.next_phase(d.so_far)
        self.look_for_full_pipe(s)
        self.drain(w, d)
        self.note_rtt(w, s, d)
        self.set_gains()
        self.pace(w, d, self.pacing_gain)
        self.size(w, s, d)

    def restart(self, w: Window, d: Driving) -> None:
        # Data leaves after nothing was in flight because there was none to send: at the bandwidth.
        if not d.so_far.app_limited:
            return
        self.restarted = True
        self.aggregation.restart(d.now_ns)
        if self.mode == PROBE_BW:
            self.pace(w, d, UNIT)
        elif self.mode == PROBE_RTT:
            self.end_probe_rtt(w, d.now_ns // self.tick, d.so_far)

    def ssthresh(self, w: Window, loss: LossFacts) -> int:
        self.save_cwnd(w)
        return w.ssthresh

    def timed_out(self, w: Window, so_far: Progress) -> None:
        self.prior_phase = "loss"
        self.full_bw = 0
        # Like the end of a round trip.
        self.round_began = True
        self.look_for_policer(w.smss, True, False, so_far)

    def taken_back(self, w: Window, cwnd: int) -> None:
        # The pipe may not have been full. cwnd comes back as the next ACK is seen.
        self.full_bw = 0
        self.full_rounds = 0
        self.policer.forget()


def segments(w: Window) -> int:
    """cwnd, in whole segments."""
    return w.cwnd // w.smss


def set_segments(w: Window, count: int) -> None:
    w.cwnd = min(max(count, 1) * w.smss, 2**32 - 1)
