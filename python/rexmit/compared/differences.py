"""What differs between two transfers, in the order of what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rexmit.captured.vantage import is_away
from rexmit.screen import connection
from rexmit.screen.say import one_line
from rexmit.screen.units import count, percent, plain_seconds, rate, seconds, size, three
from rexmit.screen.wide import page_width
from rexmit.screen.words import cause_and_end

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.flows import Flow

Json = dict[str, Any]

#: A cause that takes less of the longer transfer's time more or less is no difference.
LEAST = 0.002


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
    lost: int | None
    retransmitted: int
    segments: int
    needless: int
    timeouts: int
    #: Of the connection, by cause and the responsible end.
    causes_s: dict[str, float]
    rtt_mean_s: float | None
    rtt_min_s: float | None
    window_max_bytes: int | None
    flight_max_bytes: int

    @property
    def rest_s(self) -> float:
        """The time in which nothing was owed, or of which no cause is told."""
        return self.duration_s - sum(self.causes_s.values())


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
    #: Where the time of the slower went, as lines of a page.
    answer: tuple[str, ...] = ()
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
            "answer": list(self.answer),
            "withheld": list(self.withheld),
        }


def between(first: Capture, second: Capture) -> Comparison:
    """Compares the largest flow of one capture with the largest of another.

    Raises ValueError if one of them has no flow with data.
    """
    flows = largest(first), largest(second)
    return of_flows(flows, (first.name, second.name))


def of_flows(flows: tuple[Flow, Flow], names: tuple[str, str], withheld: Sequence[str] = ()) -> Comparison:
    """Compares two flows. names: of what they are in.  withheld: as `of_profiles` has it."""
    told = [flow.answer() for flow in flows]
    a, b = (profile(*each) for each in zip(flows, names, told, strict=True))
    slower = told[0 if is_first_slower(a, b) else 1]
    return of_profiles(a, b, connection.causes(slower) if slower else (), withheld)


def of_profiles(
    a: Profile, b: Profile, answer: Sequence[str] = (), withheld: Sequence[str] = ()
) -> Comparison:
    """Compares two profiles.

    answer: where the time of the slower went, as lines.  withheld: why the transfers are not to be judged:
    then figures stand side by side, and none is said to have cost anything.
    """
    # Seconds for as many bytes as the first transfer moved, so that a longer file alone is no difference.
    scale = a.bytes / b.bytes if b.bytes else 1.0
    kept = [*_causes(a, b, scale), *_facts(a, b)]
    if withheld:
        kept, answer = [replace(d, cost_s=None) for d in kept], ()
    return Comparison(
        a,
        b,
        b.duration_s * scale - a.duration_s,
        tuple(sorted(kept, key=lambda d: (d.cost_s is None, -abs(d.cost_s or 0.0), -d.weight))),
        tuple(answer),
        tuple(withheld),
    )


def largest(capture: Capture) -> Flow:
    """The flow with the most data. Raises ValueError if there is none."""
    chosen = capture.flows.largest()
    if chosen is None or int(chosen.row["bytes"]) == 0:
        raise ValueError(f"{capture.name}: no TCP connection in it carries data")
    return chosen


def profile(flow: Flow, name: str, answer: Json | None) -> Profile:
    """Where a flow's time went. answer: about its connection."""
    row = flow.row
    # ACKs show the path's round trip at the sender; elsewhere how long the receiving host takes to answer.
    kind = "rtt_ack" if row.get("rtt_ack_n") and not is_away(row) else "rtt_timestamps"
    causes_s = {cause_and_end(c): float(c["seconds"]) for c in (answer or {}).get("causes", ())}
    return Profile(
        name=name,
        sender=flow.sender,
        receiver=flow.receiver,
        bytes=int(row["bytes"]),
        # Causes are those of the connection, which takes longer than its data where a handshake held it.
        duration_s=max(float(row["duration_s"]), sum(causes_s.values())),
        throughput_bps=float(row.get("throughput_bps") or 0.0),
        episodes=int(row["episodes"]),
        lost=None if row.get("lost_copies") is None else int(row["lost_copies"]),
        retransmitted=int(row["retransmitted_segments"]),
        segments=int(row["segments"]),
        needless=int(row["needless"]),
        timeouts=int(row["timeouts"]),
        causes_s=causes_s,
        rtt_mean_s=row.get(f"{kind}_mean_s"),
        rtt_min_s=row.get(f"{kind}_min_s"),
        window_max_bytes=_known(row["window_max_bytes"]),
        flight_max_bytes=int(row["flight_max_bytes"]),
    )


def _known(value: Any) -> int | None:
    return None if value is None else int(value)


def is_first_slower(a: Profile, b: Profile) -> bool:
    """For as many bytes."""
    return a.duration_s * b.bytes > b.duration_s * a.bytes


def _causes(a: Profile, b: Profile, scale: float) -> list[Difference]:
    """What each cause took in both; the costs add up to the difference of the durations."""
    least = LEAST * max(a.duration_s, b.duration_s * scale)
    times = {cause: tuple(p.causes_s.get(cause, 0.0) for p in (a, b)) for cause in a.causes_s | b.causes_s}
    times["none of these" if times else "time"] = (a.rest_s, b.rest_s)
    found = []
    for cause, (x, y) in times.items():
        cost = y * scale - x
        if abs(cost) > least:
            found.append(Difference(cause, plain_seconds(x), plain_seconds(y), cost, abs(cost)))
    return found


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
    if a.episodes or b.episodes:
        words = [_losses(p) for p in (a, b)]
        add("loss episodes", a.episodes + 0.5, b.episodes + 0.5, words[0], words[1])
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


def _losses(p: Profile) -> str:
    lost = f", {p.lost:,} lost" if p.lost is not None else ""
    return f"{p.episodes:,}{lost}, {count(p.timeouts, 'timeout')}" if p.episodes else "none"


def page(found: Comparison) -> list[str]:
    """The comparison as lines: the sentence first, then the differences by cost."""
    a, b = found.first, found.second
    lines = [
        line
        for text in found.withheld
        for line in [*wrap(one_line(text), page_width(), break_on_hyphens=False), ""]
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
    if found.answer:
        slower = "first" if is_first_slower(found.first, found.second) else "second"
        lines += ["", f"  where the time of the {slower} went", *found.answer]
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
