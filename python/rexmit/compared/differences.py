"""What differs between two transfers, in the order of what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rexmit.captured.vantage import is_away
from rexmit.frame import Frame
from rexmit.screen.page import WIDTH
from rexmit.screen.say import one_line
from rexmit.screen.units import count, percent, plain_seconds, rate, seconds, size, three
from rexmit.screen.words import IDLE_IN_WORDS

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.flows import Flow

#: Columns of a table, times in seconds.
Columns = Mapping[str, npt.NDArray[Any]] | Frame

#: Share of a transfer that must lie outside of episodes to say what they cost.
LEAST_OUTSIDE = 0.05
#: Idle causes that belong to loss episodes, whose cost is counted there.
IN_EPISODES = frozenset({"timeout", "timeout-backoff"})


@dataclass(frozen=True)
class Profile:
    """Where the time of one flow went, seconds."""

    name: str
    sender: str
    receiver: str
    bytes: int
    duration_s: float
    throughput_bps: float
    episodes: int
    #: None: it cannot even be estimated, and so stands in the rate while sending.
    episodes_cost_s: float | None
    lost: int | None
    retransmitted: int
    segments: int
    needless: int
    timeouts: int
    #: Outside of episodes, by cause; and all of it, theirs too.
    idle_s: dict[str, float]
    idle_all_s: float
    rtt_mean_s: float | None
    rtt_min_s: float | None
    window_max_bytes: int | None
    flight_max_bytes: int

    @property
    def sending_s(self) -> float:
        """What is left of the duration without the cost of episodes and without idle gaps outside of them."""
        return max(1e-9, self.duration_s - (self.episodes_cost_s or 0.0) - sum(self.idle_s.values()))


@dataclass(frozen=True)
class Difference:
    """One thing that differs. cost_s: how much longer the second transfer takes for it, for as many bytes as
    the first moved; None where it has no cost of its own."""

    what: str
    first: str
    second: str
    cost_s: float | None
    weight: float


@dataclass(frozen=True)
class Comparison:
    first: Profile
    second: Profile
    longer_s: float
    differences: tuple[Difference, ...]
    look_at: tuple[str, ...] = ()
    #: Why nothing is attributed to what differs: sentences; none where it is.
    withheld: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As plain values, for --json."""
        return {
            "first": asdict(self.first),
            "second": asdict(self.second),
            "longer_s": self.longer_s,
            "differences": [
                {"what": d.what, "first": d.first, "second": d.second, "cost_s": d.cost_s}
                for d in self.differences
            ],
            "look_at": list(self.look_at),
            "withheld": list(self.withheld),
        }


def between(first: Capture, second: Capture) -> Comparison:
    """Compares the largest flow of one capture with the largest of another.

    Raises ValueError if one of them has no flow with data.
    """
    a, b = largest(first), largest(second)
    profiles = profile(a, first.name), profile(b, second.name)
    return of_profiles(*profiles, look_at_slower(profiles, (first, second), (a, b)))


def of_profiles(
    a: Profile, b: Profile, advice: Sequence[str] = (), withheld: Sequence[str] = ()
) -> Comparison:
    """Compares two profiles.

    advice: what to look at in the slower, in sentences.  withheld: why the transfers are not to be judged:
    then figures stand side by side, and none is said to have cost anything.
    """
    # Seconds for as many bytes as the first transfer moved, so that a longer file alone is no difference.
    scale = a.bytes / b.bytes if b.bytes else 1.0
    found = [_episodes(a, b, scale), *_idles(a, b, scale), _sending(a, b, scale), *_facts(a, b)]
    kept = [d for d in found if d is not None]
    if withheld:
        kept, advice = [replace(d, cost_s=None) for d in kept], ()
    return Comparison(
        a,
        b,
        b.duration_s * scale - a.duration_s,
        tuple(sorted(kept, key=lambda d: (d.cost_s is None, -abs(d.cost_s or 0.0), -d.weight))),
        tuple(advice),
        tuple(withheld),
    )


def largest(capture: Capture) -> Flow:
    """The flow with the most data. Raises ValueError if there is none."""
    chosen = capture.flows.largest()
    if chosen is None or int(chosen.row["bytes"]) == 0:
        raise ValueError(f"{capture.name}: no TCP connection in it carries data")
    return chosen


def profile(flow: Flow, name: str) -> Profile:
    """Where a flow's time went."""
    row = flow.row
    idle = flow.columns("idle", "start", "end", "cause")
    episodes = flow.columns("episodes", "start", "end", "cost_s", "delivered_bytes")
    sums = {}
    outside = ~_overlapping(idle, episodes) if len(idle) else np.ones(0, dtype=bool)
    for cause in IDLE_IN_WORDS:
        mask = (idle.equals("cause", cause) if len(idle) else np.zeros(0, dtype=bool)) & outside
        if mask.any() and cause not in IN_EPISODES:
            sums[cause] = float((idle["end"] - idle["start"])[mask].sum())
    # ACKs show the path's round trip at the sender; elsewhere how long the receiving host takes to answer.
    kind = "rtt_ack" if row.get("rtt_ack_n") and not is_away(row) else "rtt_timestamps"
    return Profile(
        name=name,
        sender=flow.sender,
        receiver=flow.receiver,
        bytes=int(row["bytes"]),
        duration_s=float(row["duration_s"]),
        throughput_bps=float(row.get("throughput_bps") or 0.0),
        episodes=int(row["episodes"]),
        episodes_cost_s=episodes_cost(episodes, row, sum(sums.values())) if len(episodes) else 0.0,
        lost=None if row.get("lost_copies") is None else int(row["lost_copies"]),
        retransmitted=int(row["retransmitted_segments"]),
        segments=int(row["segments"]),
        needless=int(row["needless"]),
        timeouts=int(row["timeouts"]),
        idle_s=sums,
        idle_all_s=float(row["idle_total_s"]),
        rtt_mean_s=row.get(f"{kind}_mean_s"),
        rtt_min_s=row.get(f"{kind}_min_s"),
        window_max_bytes=_known(row["window_max_bytes"]),
        flight_max_bytes=int(row["flight_max_bytes"]),
    )


def _overlapping(gaps: Columns, episodes: Columns) -> npt.NDArray[np.bool_]:
    """Whether an episode goes on in each of the gaps; one without an end goes on for ever."""
    order = np.argsort(episodes["start"], kind="stable")
    ends = episodes["end"][order]
    # When the last of those that began so far ends.
    latest = np.maximum.accumulate(np.where(np.isnan(ends), np.inf, ends))
    begun = np.searchsorted(episodes["start"][order], gaps["end"], side="left")
    found: npt.NDArray[np.bool_] = np.r_[-np.inf, latest][begun] > gaps["start"]
    return found


def episodes_cost(episodes: Columns, row: dict[str, Any], idle_s: float) -> float | None:
    """What loss episodes cost, seconds; one whose cost is unknown, by the rate outside of all such episodes.

    episodes: `start`, `end`, `cost_s` and `delivered_bytes`, NaN where there is none.  row: the flow's.
    idle_s: gaps outside of episodes.  Returns None where hardly anything was sent outside.
    """
    costs = episodes["cost_s"]
    unknown = np.isnan(costs)
    known = float(costs[~unknown].sum())
    if not unknown.any():
        return max(0.0, known)
    begin, end = episodes["start"][unknown], episodes["end"][unknown]
    took = np.where(np.isnan(end), float(row["start"]) + float(row["duration_s"]), end) - begin
    delivered = episodes["delivered_bytes"][unknown]
    outside_s = float(row["duration_s"]) - float(took.sum()) - known - idle_s
    outside = float(row["bytes"]) - float(delivered.sum())
    # A flow may take no time at all: then nothing was sent outside, either.
    if outside_s <= LEAST_OUTSIDE * float(row["duration_s"]) or outside <= LEAST_OUTSIDE * float(
        row["bytes"]
    ):
        return None
    speed = outside / outside_s
    lost = float(np.maximum(0.0, took - delivered / speed).sum())
    return max(0.0, known + lost)


def _known(value: Any) -> int | None:
    return None if value is None else int(value)


def is_first_slower(a: Profile, b: Profile) -> bool:
    """For as many bytes."""
    return a.duration_s * b.bytes > b.duration_s * a.bytes


def look_at_slower(
    profiles: tuple[Profile, Profile], captures: tuple[Capture, Capture], flows: tuple[Flow, Flow]
) -> list[str]:
    """What to look at in the flow that takes longer for as many bytes, in sentences."""
    slower = 0 if is_first_slower(*profiles) else 1
    return look_at(captures[slower], flows[slower])


def look_at(capture: Capture, flow: Flow) -> list[str]:
    """What to look at in a flow, in sentences."""
    from rexmit.screen.page import answer

    for seen in capture.overview(16)["flows"]:
        if int(seen["flow"]) == flow.id:
            return answer(seen.get("answer"))
    return []


def _episodes(a: Profile, b: Profile, scale: float) -> Difference | None:
    if not a.episodes and not b.episodes:
        return None

    def words(p: Profile) -> str:
        if not p.episodes:
            return "none"
        lost = f", {p.lost:,} lost" if p.lost is not None else ""
        took = "cost unknown" if p.episodes_cost_s is None else plain_seconds(p.episodes_cost_s)
        return f"{p.episodes:,}{lost}, {count(p.timeouts, 'timeout')}: {took}"

    if a.episodes_cost_s is None or b.episodes_cost_s is None:
        return Difference("loss episodes", words(a), words(b), None, float("inf"))
    cost = b.episodes_cost_s * scale - a.episodes_cost_s
    return Difference("loss episodes", words(a), words(b), cost, abs(cost))


def _idles(a: Profile, b: Profile, scale: float) -> list[Difference]:
    found = []
    for cause, words in IDLE_IN_WORDS.items():
        if cause in IN_EPISODES:
            continue
        x, y = a.idle_s.get(cause, 0.0), b.idle_s.get(cause, 0.0)
        cost = y * scale - x
        if abs(cost) >= 0.001:
            found.append(Difference(f"idle, {words}", plain_seconds(x), plain_seconds(y), cost, abs(cost)))
    return found


def _sending(a: Profile, b: Profile, scale: float) -> Difference:
    apart = a.episodes_cost_s is not None and b.episodes_cost_s is not None
    what = "rate while sending" if apart else "rate, with the loss episodes in it"
    # Where those of one have no cost of their own, those of the other stand in its rate, too.
    x, y = (p.sending_s + (0.0 if apart else p.episodes_cost_s or 0.0) for p in (a, b))
    rates = [rate(p.bytes * 8 / spent) if p.duration_s else "–" for p, spent in ((a, x), (b, y))]
    cost = y * scale - x
    return Difference(what, rates[0], rates[1], cost, abs(cost))


def _facts(a: Profile, b: Profile) -> list[Difference]:
    """What has no cost of its own: it explains the others."""
    found = []

    def add(what: str, x: float, y: float, first: str, second: str, least: float = 1.1) -> None:
        low, high = sorted((max(x, 1e-12), max(y, 1e-12)))
        if high / low >= least:
            found.append(Difference(what, first, second, None, min(high / low, 1e6)))

    if a.rtt_mean_s and b.rtt_mean_s and a.rtt_min_s and b.rtt_min_s:
        words = [f"{seconds(p.rtt_mean_s or 0)}, least {seconds(p.rtt_min_s or 0)}" for p in (a, b)]
        add("RTT, mean", a.rtt_mean_s, b.rtt_mean_s, words[0], words[1])
    if max(a.idle_all_s, b.idle_all_s) >= 0.01:
        words = [plain_seconds(p.idle_all_s) for p in (a, b)]
        add("idle, in episodes and outside", a.idle_all_s, b.idle_all_s, words[0], words[1])
    shares = [p.retransmitted / p.segments if p.segments else 0.0 for p in (a, b)]
    words = [f"{p.retransmitted:,} ({percent(s)})" for p, s in zip((a, b), shares, strict=True)]
    if a.retransmitted or b.retransmitted:
        add("sent again", max(shares[0], 1e-5), max(shares[1], 1e-5), words[0], words[1])
    if a.needless or b.needless:
        add("sent again needlessly", a.needless + 0.5, b.needless + 0.5, f"{a.needless:,}", f"{b.needless:,}")
    for what, x, y in (
        ("receiver's window, largest", a.window_max_bytes, b.window_max_bytes),
        ("in flight, largest", a.flight_max_bytes, b.flight_max_bytes),
    ):
        if x is not None and y is not None:
            add(what, x, y, size(x), size(y), 1.25)
    return found


def page(found: Comparison) -> list[str]:
    """The comparison as lines: the sentence first, then the differences by cost."""
    a, b = found.first, found.second
    lines = [
        line for text in found.withheld for line in [*wrap(one_line(text), WIDTH, break_on_hyphens=False), ""]
    ]
    lines += [
        f"{place:<7} {one_line(p.name)}: {p.sender} → {p.receiver}, {size(p.bytes)} in "
        f"{seconds(p.duration_s)}, {rate(p.throughput_bps)}"
        for place, p in (("first", a), ("second", b))
    ]
    lines += [
        "",
        f"  {verdict(found)}",
        "",
    ]
    rows = [
        (d.what, d.first, d.second, "" if d.cost_s is None else _signed(d.cost_s)) for d in found.differences
    ]
    head = ("what differs", "first", "second", "costs")
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(4)]
    for row in [head, *rows]:
        cells = [f"{cell:{'<' if i == 0 else '>'}{widths[i]}}" for i, cell in enumerate(row)]
        lines.append(("  " + "  ".join(cells)).rstrip())
    if found.look_at:
        first = is_first_slower(found.first, found.second)
        lines += ["", *(["  of the first, which is the slower:"] if first else []), *found.look_at]
    return lines


def _signed(value: float) -> str:
    shown = plain_seconds(abs(value))
    return shown if shown == plain_seconds(0.0) else ("+" if value > 0 else "−") + shown


def verdict(found: Comparison) -> str:
    """The difference in one sentence."""
    a, b, longer = found.first, found.second, found.longer_s
    if abs(longer) < 0.02 * max(a.duration_s, 1e-9):
        return f"The two take the same time for {size(a.bytes)} (within 2%)."
    slower, words = ("second", longer) if longer > 0 else ("first", -longer)
    rates = sorted((max(a.throughput_bps, 1.0), max(b.throughput_bps, 1.0)))
    times = three(rates[1] / rates[0])
    sentence = f"For {size(a.bytes)} the {slower} takes {plain_seconds(words)} longer ({times} times)."
    same = [d for d in found.differences if d.cost_s is not None and d.cost_s * longer > 0]
    if same:
        most = same[0]
        cost = plain_seconds(abs(most.cost_s or 0))
        sentence += f" {cost} of it: {most.what} ({most.first} against {most.second})."
    return sentence
