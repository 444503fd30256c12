"""The runs of Figs. 2, 3 and 5 to 8, which nothing random decides: every packet, every loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rexmit.arrow import gather
from rexmit.frame import Frame
from rexmit.running.one_run import Run, run
from rexmit_studies import own
from rexmit_studies.wireless.measures import LABELS, PAYLOAD, SCHEDULE, VARIANTS, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rexmit._core import RunTableName

    Numbers = NDArray[np.float64]
    Flags = NDArray[np.bool_]

#: Whole cycles that the run of Figs. 5 to 8 has.
CYCLES = 3
#: Up and down time of the figures, s.
FIG2, FIG3, FIG5 = (1.0, 0.1), (5.0, 2.0), (3.0, 0.3)
TABLES: tuple[RunTableName, ...] = ("hosts", "queues", "drops", "state")


@dataclass(frozen=True)
class Loss:
    """What vanished with one disconnection. acks, packets: first and last number that was under way then.

    unseen: first and last packet sent into the dead link afterwards (ns-2 leaves no trace line for these).
    """

    at: float
    acks: tuple[int, int]
    packets: tuple[int, int]
    unseen: tuple[int, int] | None


@dataclass(frozen=True)
class Trace:
    """One run. enqueued, at_base, dropped, acked, dropped_acks: time in s and packet number."""

    variant: str
    up: float
    down: float
    enqueued: tuple[Numbers, Numbers]
    at_base: tuple[Numbers, Numbers]
    dropped: tuple[Numbers, Numbers]
    dropped_unseen: tuple[Numbers, Numbers]
    acked: tuple[Numbers, Numbers]
    dropped_acks: tuple[Numbers, Numbers]
    timeouts: tuple[Numbers, Numbers]
    fast: int
    cwnd: tuple[Numbers, Numbers, Numbers]
    lasts_s: float

    @property
    def label(self) -> str:
        """The variant's name as it is printed."""
        return LABELS[self.variant]

    def events(self) -> tuple[tuple[float, ...], ...]:
        """All that happened, to compare runs with each other."""
        parts = (self.enqueued, self.at_base, self.dropped, self.acked, self.dropped_acks, self.timeouts)
        return tuple(tuple(np.concatenate(part).tolist()) for part in parts)


#: How long the runs of the figures last, s.
LASTS_S = 10.0


def trace(
    variant: str, up: float, down: float, ssthresh: int | None = None, lasts_s: float = LASTS_S
) -> Trace:
    """One run with a fixed cycle, up first. ssthresh: in packets, instead of the window."""
    cycle = {"every": f"{up + down:g}s", "for": f"{down:g}s", "phase": f"{up:g}s"}
    keys = {SCHEDULE: cycle, "flow.ftp.stack": f"ns2-{variant}"}
    if lasts_s != LASTS_S:
        keys["duration"] = f"{lasts_s:g}s"
    if ssthresh is not None:
        keys[f"stack.ns2-{variant}.oneway.initial_ssthresh"] = f"{ssthresh} packets"
    done = run(own.applied(load("wireless-outage", keys)), at="sender", tables=TABLES)
    return of(done, variant, up, down, lasts_s)


def of(done: Run, variant: str, up: float, down: float, lasts_s: float) -> Trace:
    """What a run's tables say."""
    hosts, queues, drops, state = (Frame(gather(getattr(done, name))) for name in TABLES)
    data, unseen = drops["from_client"], drops.equals("cause", "channel")
    sent = hosts.equals("event", "sent") & hosts["from_client"]
    got_ack = hosts.equals("event", "arrived") & ~hosts["from_client"]
    at_base = queues.equals("link", "wireless") & queues.equals("direction", "forward")
    at_base &= queues.equals("event", "enqueued")
    by_timer = sent & hosts.equals("reason", "timeout")
    return Trace(
        variant, up, down,
        enqueued=_points(hosts, sent),
        at_base=_points(queues, at_base),
        dropped=_points(drops, data & ~unseen),
        dropped_unseen=_points(drops, data & unseen),
        # An ACK bears the number of the last packet that it acknowledges.
        acked=_points(hosts, got_ack, -1),
        dropped_acks=_points(drops, ~data, -1),
        timeouts=_points(hosts, by_timer),
        fast=int((sent & hosts.equals("reason", "recovery")).sum()),
        cwnd=(state["time"], state["cwnd_bytes"] / PAYLOAD, state["ssthresh_bytes"] / PAYLOAD),
        lasts_s=lasts_s,
    )  # fmt: skip


def _points(frame: Frame, which: Flags, shift: int = 0) -> tuple[Numbers, Numbers]:
    return frame["time"][which], frame["seq"][which].astype(float) + shift


def users_schedule() -> bool:
    """Whether the user says when the link is down, so that no cycle of the figures is run."""
    return any(key.startswith(SCHEDULE) for key, _ in own.current().pairs)


def gone(found: Trace) -> list[own.Interval]:
    """When the link is down, s: in each cycle, or as the user lists it. Raises ValueError where the user has
    it drawn.
    """
    if mine := own.current().outages:
        return list(mine)
    if users_schedule():
        raise ValueError("when the link is down is known to the schedule of the user only")
    starts = np.arange(found.up, found.lasts_s, found.up + found.down)
    return [(float(at), float(at) + found.down) for at in starts]


def loss(found: Trace, k: int) -> Loss:
    """The k-th disconnection's losses, from 0."""
    at, until = gone(found)[k]
    seen = _between(found.dropped, at, until - at)
    acks = _between(found.dropped_acks, at, until - at)
    unseen = _between(found.dropped_unseen, at, until - at)
    # What the timer sends again into a link that is down for long is no new packet.
    unseen = unseen[unseen > seen.max()] if len(seen) else unseen
    return Loss(float(found.dropped[0][found.dropped[0] >= at][0]), _ends(acks), _ends(seen),
                _ends(unseen) if len(unseen) else None)  # fmt: skip


def _between(points: tuple[Numbers, Numbers], at: float, length: float) -> Numbers:
    time, number = points
    found: Numbers = np.unique(number[(time >= at - 1e-9) & (time < at + length)])
    return found


def _ends(numbers: Numbers) -> tuple[int, int]:
    """First and last, of numbers without a gap."""
    if len(numbers) != numbers[-1] - numbers[0] + 1:
        raise ValueError(f"packets {numbers.tolist()} are no run")
    return int(numbers[0]), int(numbers[-1])


def first_timeout(found: Trace, after: float = 0.0) -> tuple[float, int]:
    """When the timer fired first, s, and what was sent then. after: the first one behind this moment."""
    time, number = found.timeouts
    return float(time[time > after][0]), int(number[time > after][0])


def next_ack(found: Trace, after: float) -> int:
    """The number of the first ACK that arrives after a moment."""
    time, number = found.acked
    return int(number[time > after][0])


def slow_start(found: Trace) -> tuple[int, int]:
    """First and last packet of slow start, window by window: 1, 2, 4, ... up to the first full one.

    A window is what is sent until the last packet of the one before is acknowledged.
    """
    sent, number = found.enqueued
    last, size, most = 0, 1, found.cwnd[2][0]
    while size < most:
        time, ack = found.acked
        there = float(time[ack >= last][0])
        now = int(number[sent <= there].max())
        size, last = now - last, now
    return int(number.min()), last


def cycle() -> tuple[float, float]:
    """Up and down time of Figs. 5 to 8, s."""
    return own.value("cycle_up", FIG5[0]), own.value("cycle_down", FIG5[1])


def alike() -> dict[str, Trace]:
    """Figs. 5 to 8: the four variants. With the user's times, too, there are three cycles."""
    up, down = cycle()
    lasts_s = max(LASTS_S, CYCLES * (up + down))
    return {variant: trace(variant, up, down, lasts_s=lasts_s) for variant in VARIANTS}
