"""The hooks that a rule of one's own may have: what is asked, when, and what holds where a class is silent.

They are those of the rules in Rust, with the same names (crates/tcp/src/congestion/mod.rs, detect/mod.rs,
recovery/mod.rs). Bytes and offsets are whole numbers; times are whole nanoseconds, on the clock of the run. A
rule reads no clock and draws no random numbers: the same scenario and seed give the same run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
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

#: ssthresh before the first loss, where the stack leaves it open (RFC 5681, section 3.1: "arbitrarily high").
UNBOUNDED = 2**32 - 1


class WindowHooks:
    """What either kind of window rule is told; classes derive from one of the kinds.

    Before a repair that may be undone the object is copied (`copy.deepcopy`), and put back if the repair
    turns out needless: all that it knows is to be in its attributes.
    """

    def timed_out(self, w: Window, so_far: Progress) -> None:
        """A timeout, each of several in a row, too; after `ssthresh`, if that is reduced."""

    def taken_back(self, w: Window, cwnd: int) -> None:
        """A repair was needless, and the stack undoes as Linux does; cwnd was this as it began."""
        w.cwnd = max(w.cwnd, cwnd)

    def on_recovery_end(self, w: Window, now_ns: int) -> None:
        """Recovery is over; with a recovery rule, what it has left of the window is in `w`."""

    def after_idle(self, w: Window, now_ns: int) -> None:
        """Nothing was in flight for longer than an RTO, and data is about to be sent."""


class WindowRule(WindowHooks):
    """How large is the window, apart from what recovery does with it? One object for each connection."""

    #: What is acknowledged is counted in segments, whatever they hold. Read once, as the rule is made.
    counts_segments: bool = False

    def measure(self, w: Window, a: AckFacts, open: bool) -> None:
        """Looks at every ACK that advances, whether or not the window may grow; `open` outside recovery."""

    def in_slow_start(self, w: Window) -> bool:
        """Whether this ACK belongs to slow start, which the stack's `slow_start` does."""
        return w.cwnd < w.ssthresh

    def avoid(self, w: Window, a: AckFacts, acked: int) -> None:
        """Congestion avoidance: sets `w.cwnd`. acked: the bytes that slow start did not use."""
        raise NotImplementedError

    def at_round_end(self, w: Window, a: AckFacts) -> bool:
        """For rules that decide once a round trip: True if this ACK ended one, and the window is set."""
        return False

    def rest(self, a: AckFacts) -> None:
        """An ACK came while the application or the receiver, not cwnd, limited sending: the window rests."""

    def ssthresh(self, w: Window, loss: LossFacts) -> int:
        """A loss was found: the new ssthresh, bytes; forgets what belonged to the time before."""
        raise NotImplementedError


class DrivingRule(WindowHooks):
    """How large is the window, and how fast may be sent? For a rule that sets both itself at every ACK, while
    losses are repaired, too (as BBR does): neither slow start nor a recovery rule is asked.

    The stack paces, and rates of delivery are sampled.
    """

    def begin(self, w: Window, d: Driving) -> None:
        """The handshake is over: sets `w.cwnd` and `d.pacing_rate`, bytes a second."""

    def drive(self, w: Window, s: RateSample, d: Driving) -> None:
        """After each ACK, and what it did to the sender: sets `w.cwnd` and `d.pacing_rate`."""
        raise NotImplementedError

    def restart(self, w: Window, d: Driving) -> None:
        """Data is about to leave, and nothing is in flight."""

    def ssthresh(self, w: Window, loss: LossFacts) -> int:
        """A loss was found: the new ssthresh, bytes. cwnd is this rule's all the same."""
        return w.ssthresh


class Detector:
    """Which segments are lost? A detector that counts; one object for each connection that sends."""

    #: Duplicates are ACKs with news in their SACK blocks (RFC 6675, section 2) rather than those of RFC 5681.
    counts_news: bool = False

    def judge(self, f: DetectFacts) -> Verdict:
        """What follows from what is known: asked at ACKs while there are duplicates or SACKed data."""
        raise NotImplementedError


class TimeDetector:
    """Which segments are lost? A detector that goes by time (as RACK does); one object for each connection.

    It says against what copies are held (`Horizon`): what left before its `newest` copy is lost once
    `wait_ns` have passed since it left. The sender marks what is, and asks again when the rest would be. A
    copy is when it left, ns, and the offset after its last byte. Without SACK duplicate ACKs are counted.
    """

    def note(self, d: Delivery) -> None:
        """What an ACK said about time and order."""
        raise NotImplementedError

    def note_plain(self, newest: tuple[int, int], now_ns: int) -> None:
        """The same of the next ACK while nothing is wrong: the last of what it acknowledges was sent once,
        and last. `note` is asked where a class has none.
        """

    def look(self, p: Patience, now_ns: int) -> Horizon | None:
        """After `note`: against what copies are held; None where nothing is to be looked for."""
        raise NotImplementedError

    def horizon(self, p: Patience, now_ns: int) -> Horizon | None:
        """The same when the timer fired that `look` has led to."""
        raise NotImplementedError

    def spared_since(self, now_ns: int) -> int:
        """A timeout: what left later than this may still arrive, and is not marked lost."""
        return now_ns

    def recovery_ended(self) -> None:
        """A recovery ended, and was not needless."""

    def taken_back(self) -> None:
        """A repair was needless: what is on its way is looked at anew."""

    def taken_back_by_dsack(self) -> None:
        """The same, as DSACKs said."""

    def reordering(self, dupthresh: int) -> int:
        """Segments may come so far out of order. Above DupThresh the window grows by what is SACKed, too."""
        return dupthresh

    def reordering_seen(self) -> int:
        """How often they did, for the table of states."""
        return 0


@dataclass(frozen=True)
class Habits:
    """How a recovery begins and ends, and what the sender remembers of it."""

    #: No recovery: a fast retransmit is followed by slow start from one segment (Tahoe).
    slow_start: bool = False
    #: The first ACK that advances ends it, whatever is missing (RFC 5681, section 3.2 (6)).
    ends_at_any_advance: bool = False
    #: A loss leaves a part of cwnd; RFC 5681 (4) has FlightSize.
    reduces_cwnd: bool = False
    #: Duplicates that may come of an earlier repair begin none (RFC 6582, section 3.2 (2)).
    remembers_repairs: bool = True
    #: What begins recovery sends the oldest segment and nothing else, whatever cwnd allows.
    enters_with_one_segment: bool = False
    #: A fast retransmit that slow start follows starts the timer anew.
    fast_retransmit_restarts_timer: bool = True
    #: The window grows by the ACK that ends recovery, too.
    last_ack_grows: bool = False


class Recovery:
    """How much may be sent while losses are repaired? Moves cwnd from the beginning of a recovery to its end.

    `w.ssthresh` is what the window rule left of the window. cwnd is one segment at least, whatever a hook
    sets.
    """

    #: cwnd is held against what is believed to be in the network, and what was found lost is sent again,
    #: rather than against FlightSize, and the oldest segment. Read once, as the rule is made.
    uses_pipe: bool = False
    #: What the rule wants of the sender around it.
    habits: ClassVar[Habits] = Habits()

    def enter(self, w: Window, dupthresh: int, f: RepairFacts) -> None:
        """Recovery begins; `f.flight` and `f.pipe` are as the loss was found."""
        raise NotImplementedError

    def on_ack(self, w: Window, f: RepairFacts) -> None:
        """An ACK below the recovery point, a duplicate or one that advances."""
        raise NotImplementedError

    def sent(self, bytes: int) -> None:
        """So much left, new or again."""

    def exit(self, w: Window, f: RepairFacts) -> None:
        """The recovery point is acknowledged."""
        raise NotImplementedError

    def partial_ack_restarts_timer(self, first: bool) -> bool:
        """Does a partial ACK restart the timer; `first`: it is the first one (RFC 6582, section 4)?"""
        return True
