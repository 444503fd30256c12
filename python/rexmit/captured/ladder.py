"""The packet exchange of one episode, folded until a person can read it.

Both ladders, the figure and the one for the terminal, draw what `steps` returns: packets in the order in
which they were seen, long runs of alike ones as one step, labelled as tcpdump writes them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from typing import Any

from rexmit.captured.episodes import one_per_timeout
from rexmit.captured.lost import copies as lost_copies
from rexmit.frame import Frame
from rexmit.screen.units import count, plain_seconds, seconds
from rexmit.screen.words import KIND_IN_WORDS, closed_sets, properties

#: Fewer alike packets than this are drawn one by one.
FOLD_FROM = 4
#: What a person takes in on one page.
MAX_STEPS = 56
#: Steps that say why things went on are never folded away.
NOTABLE = frozenset(c for c, group in properties("cause", "group").items() if group == "timer")

Block = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """One arrow or band: `packets` alike packets in one direction, the first and last seen at these times
    (s).
    """

    to_receiver: bool
    kind: str  # new, repair, ack, partial, duplicate, dsack, control, hole, lost-acks, mixed
    first_s: float
    last_s: float
    packets: int = 1
    segments: int = 1
    seq_start: int = 0
    seq_end: int = 0
    ack_first: int = -1
    ack_last: int = -1
    sack: tuple[Block, ...] = ()
    dsack: bool = False
    cause: str | None = None
    lost: bool = False
    needless: bool = False
    parts: tuple[tuple[str, int], ...] = ()
    order: int = 0  # in the capture, for packets of the same instant

    @property
    def folded(self) -> bool:
        return self.packets > 1 or self.kind in ("hole", "lost-acks", "mixed")

    def label(self) -> str:
        """In tcpdump's style: `1967433:1968881(1448)`, `ack 1965985, SACK 2094857-2096305`."""
        if self.kind == "mixed":
            return "… " + ", ".join(count(n, what, _MANY.get(what, what)) for what, n in self.parts)
        if self.to_receiver:
            return self._data_label()
        if self.kind == "lost-acks":
            return f"… {count(self.packets, 'ACK')} lost on the way"
        if self.folded:
            if self.kind in ("duplicate", "dsack"):
                up_to = f", SACK up to {max(end for _, end in self.sack)}" if self.sack else ""
                return f"… {count(self.packets, _ONE[self.kind])}, ack {self.ack_last}{up_to}"
            return f"… {count(self.packets, _ONE[self.kind])}, ack {self.ack_first} to {self.ack_last}"
        blocks = list(self.sack)
        words = [f"ack {self.ack_last}"]
        if self.dsack and blocks:
            start, end = blocks.pop(0)
            words.append(f"DSACK {start}-{end}")
        if blocks:
            words.append("SACK " + " ".join(f"{start}-{end}" for start, end in blocks))
        return ", ".join(words)

    def _data_label(self) -> str:
        span = f"{self.seq_start}:{self.seq_end}"
        if self.kind == "hole":
            return f"… {count(self.segments, 'segment')} missing, {span}"
        if self.folded:
            return f"… {count(self.segments, 'segment')}, {span}"
        return f"{span}({self.seq_end - self.seq_start})"

    def remark(self) -> str:
        """What the label does not say: again, why, whether needlessly, and whether it was lost."""
        words = []
        if self.kind == "repair":
            words.append(f"again: {closed_sets()['cause'][self.cause or 'unknown']}")
        if self.needless:
            words.append("needless")
        if self.lost and self.kind not in ("hole", "lost-acks"):
            words.append("lost")
        return ", ".join(words)


_ONE = {
    "ack": "ACK",
    "partial": "partial ACK",
    "duplicate": "duplicate ACK",
    "dsack": "ACK with DSACK",
    "lost-acks": "lost ACK",
}
_MANY = {
    "ACK with DSACK": "ACKs with DSACK",
    "new segment": "new segments",
    "lost segment": "lost segments",
} | {
    name: name + "s"
    for name in ("ACK", "lost ACK", "partial ACK", "duplicate ACK", "repair", "control packet", "segment")
}


@dataclass(frozen=True)
class Ladder:
    """The exchange of one episode.

    one_way_s: the assumed one-way delay, half of the smallest round trip, seconds; None where no round trip
    can be seen.
    observed: the side at which times were observed; the other side's are assumed.
    """

    number: int
    sender: str
    receiver: str
    steps: tuple[Step, ...]
    one_way_s: float | None
    observed: str
    start_s: float
    end_s: float | None
    headline: str
    #: What times count from, in words.
    since: str
    silences: tuple[tuple[float, float], ...] = field(default=())
    #: Numbers of packets in the capture: all, those that were lost (seen at the sender), those sent again.
    packets: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    resent: tuple[int, ...] = ()


def build(
    packets: Frame,
    episode: dict[str, Any],
    bursts: Sequence[dict[str, Any]],
    flow: dict[str, Any],
    resent: Frame,
    max_steps: int = MAX_STEPS,
) -> Ladder:
    """The ladder of one episode.

    packets, resent: the flow's `packets` and `retransmissions` rows.  episode, bursts, flow: rows, times in
    seconds since the capture's first packet. Raises ValueError if the packets of the episode are not in the
    table.
    """
    number = int(episode["number"])
    mine = [b for b in bursts if b.get("episode") == number]
    rtt = round_trip(flow)
    start = min([float(episode["start"])] + [float(b["start"]) for b in mine])
    last_seen = max(packets.plain("time"), default=start)
    end = episode.get("end")
    until = float(end) if end is not None else last_seen
    window = _window(packets, start, until)
    if len(window) == 0:
        raise ValueError(f"no packets of episode {number + 1} are in the packets table")
    vantage = str(flow.get("vantage") or "unknown")
    found = steps(
        window,
        # A copy that an overlapping episode counts is lost here, too.
        mine if vantage == "receiver" else bursts,
        holes=vantage == "receiver",
        quiet_s=max(0.02, rtt or 0.0),
        mss=max(1, int(flow.get("mss") or 1448)),
        needless={
            packet
            for packet, in_vain in zip(resent.plain("packet"), resent.plain("needless"), strict=True)
            if in_vain
        },
    )
    numbers = window.plain("packet")
    found = sorted([*found, *_lost_acks(episode)], key=lambda s: (s.first_s, s.order))
    return Ladder(
        number=number + 1,
        sender=str(flow["sender"]),
        receiver=str(flow["receiver"]),
        steps=tuple(fold_middle(found, max_steps)),
        one_way_s=None if rtt is None else rtt / 2,
        observed="receiver" if vantage == "receiver" else "sender",
        start_s=start,
        end_s=None if end is None else float(end),
        headline=headline(episode, mine),
        since=packets.since,
        silences=tuple(silences(window, max(0.05, 2 * (rtt or 0.0)))),
        packets=tuple(numbers),
        lost=() if vantage == "receiver" else tuple(compress(numbers, lost_copies(window, bursts))),
        resent=tuple(compress(numbers, window.text("cause"))),
    )


def round_trip(flow: dict[str, Any]) -> float | None:
    """The smallest round trip between the hosts that can be seen from here, s.

    At the receiver an ACK follows its data at once, which says nothing about the path; the handshake does.
    """
    seen = flow.get("handshake_s")
    if flow.get("vantage") != "receiver":
        seen = flow.get("rtt_ack_min_s") or flow.get("rtt_timestamps_min_s") or seen
    return float(seen) if seen else None


def headline(episode: dict[str, Any], bursts: Sequence[dict[str, Any]]) -> str:
    """What the episode was, in one line."""
    lost = episode.get("lost_copies")
    lost = episode.get("lost_segments") if lost is None else lost
    words = [f"{count(int(lost), 'copy', 'copies')} lost" if lost else "nothing lost"]
    if len(bursts) > 1:
        words[0] += f" in {len(bursts)} bursts"
    kind = str(episode["kind"])
    by_one = kind != "intermittent" or one_per_timeout(episode)
    words.append(KIND_IN_WORDS.get(kind, kind) if by_one else "repaired with progress between its timeouts")
    if episode.get("timeouts"):
        words.append(count(int(episode["timeouts"]), "timeout"))
    if episode.get("cost_s") is not None:
        # What went on faster than before it cost nothing, as on the page.
        words.append(f"cost {plain_seconds(max(0.0, float(episode['cost_s'])))}")
    return ", ".join(words)


def _window(packets: Frame, start: float, end: float, lead: int = 2, tail: int = 2) -> Frame:
    """The packets of the episode in order of time, with a few before and after it."""
    time = packets.plain("time")
    order = sorted(range(len(time)), key=time.__getitem__)
    low = bisect_left(order, start - 1e-9, key=time.__getitem__) - lead
    high = bisect_right(order, end + 1e-9, key=time.__getitem__) + tail
    return packets.take(sorted(order[max(0, low) : high]))


def silences(packets: Frame, longer_than_s: float) -> list[tuple[float, float]]:
    """Where no data packet left for longer than this: (from, to), seconds."""
    columns = (packets.plain(name) for name in ("time", "data", "len"))
    sent = sorted(at for at, data, length in zip(*columns, strict=True) if data and length > 0)
    return [(a, b) for a, b in pairwise(sent) if b - a > longer_than_s]


def steps(
    packets: Frame,
    bursts: Sequence[dict[str, Any]],
    *,
    holes: bool,
    quiet_s: float,
    mss: int,
    needless: Collection[int],
) -> list[Step]:
    """Packets as steps, runs of alike ones in one direction folded.

    holes: the capture is the receiver's, where a lost copy is a hole and no packet.  quiet_s: a pause after
    which a run does not go on, seconds.  mss: what a packet of several segments counts in, bytes.
    needless: numbers of the packets whose data had arrived already.
    """
    singles = _singles(packets, [] if holes else bursts, mss, needless)
    if holes:
        singles += [_hole(b) for b in bursts if b.get("seq_end", 0) > b.get("seq_start", 0)]
        singles.sort(key=lambda s: s.first_s)
    folded: list[Step] = []
    for direction in (True, False):
        folded += _fold([s for s in singles if s.to_receiver == direction], quiet_s)
    return sorted(folded, key=lambda s: (s.first_s, s.order))


def _hole(burst: dict[str, Any]) -> Step:
    return Step(
        True,
        "hole",
        float(burst["start"]),
        float(burst["start"]),
        segments=int(burst.get("lost_segments") or 1),
        seq_start=int(burst["seq_start"]),
        seq_end=int(burst["seq_end"]),
        lost=True,
    )


def _lost_acks(episode: dict[str, Any]) -> list[Step]:
    """Of ACKs that were lost between its first copy and its first repair the number is known, with both
    captures, but nothing was seen where the packets are from.
    """
    n = int(episode.get("lost_acks") or 0)
    first, last = float(episode["start"]), float(episode["first_repair"])
    return [Step(False, "lost-acks", first, last, packets=n, lost=True)] if n else []


def _singles(
    packets: Frame, bursts: Sequence[dict[str, Any]], mss: int, needless: Collection[int]
) -> list[Step]:
    names = ("time", "data", "seq", "len", "ack", "dsack", "packet")
    time, data, seq, length, ack, dsack, number = (packets.plain(name) for name in names)
    order = sorted(range(len(time)), key=time.__getitem__)
    cause = packets.text("cause")
    sack = [(packets.plain(f"sack{k}_start"), packets.plain(f"sack{k}_end")) for k in range(1, 5)]
    gone = lost_copies(packets, bursts)
    result: list[Step] = []
    newest_ack = -1
    for place, i in enumerate(order):
        at = time[i]
        if data[i] and length[i] > 0:
            result.append(
                Step(
                    True,
                    "repair" if cause[i] else "new",
                    at,
                    at,
                    segments=max(1, -(-length[i] // mss)),
                    seq_start=seq[i],
                    seq_end=seq[i] + length[i],
                    cause=cause[i],
                    lost=bool(gone[i]),
                    needless=number[i] in needless,
                    order=place,
                )
            )
        elif data[i]:
            result.append(Step(True, "control", at, at, seq_start=seq[i], seq_end=seq[i], order=place))
        else:
            blocks = tuple((start[i], end[i]) for start, end in sack if end[i] > 0)
            value = ack[i]
            if dsack[i]:
                kind = "dsack"
            elif value <= newest_ack:
                kind = "duplicate"
            else:
                kind = "partial" if blocks else "ack"
            newest_ack = max(newest_ack, value)
            result.append(
                Step(
                    False,
                    kind,
                    at,
                    at,
                    ack_first=value,
                    ack_last=value,
                    sack=blocks,
                    dsack=bool(dsack[i]),
                    order=place,
                )
            )
    return result


def _alike(step: Step) -> tuple[object, ...]:
    return (step.kind, step.cause, step.lost, step.needless)


def _fold(one_way: list[Step], quiet_s: float) -> list[Step]:
    runs: list[list[Step]] = []
    for step in one_way:
        previous = runs[-1][-1] if runs else None
        same = previous is not None and _alike(previous) == _alike(step) and step.kind != "hole"
        if same and previous is not None and step.first_s - previous.last_s <= quiet_s:
            runs[-1].append(step)
        else:
            runs.append([step])
    result: list[Step] = []
    for run in runs:
        # The first repair of a run is what an ACK or the timer set off: it stands alone.
        head = 1 if run[0].kind == "repair" and len(run) > FOLD_FROM else 0
        result += run[:head]
        rest = run[head:]
        result += rest if len(rest) < FOLD_FROM else [_join(rest)]
    return result


def _join(run: list[Step]) -> Step:
    first, last = run[0], run[-1]
    newest = max(run, key=lambda s: max((end for _, end in s.sack), default=0))
    return replace(
        first,
        last_s=last.last_s,
        packets=len(run),
        segments=sum(s.segments for s in run),
        seq_start=min(s.seq_start for s in run),
        seq_end=max(s.seq_end for s in run),
        ack_last=last.ack_last,
        sack=newest.sack,
    )


def fold_middle(found: list[Step], limit: int) -> list[Step]:
    """At most about `limit` steps: how it began and ended stays, so do the first repair and what a timer
    sent; the rest is summed up.
    """
    if len(found) <= limit:
        return found
    head = tail = limit // 4
    middle = found[head : len(found) - tail]
    notable = [s for s in middle if s.cause in NOTABLE][: limit // 8]
    notable += [s for s in middle if s.kind == "lost-acks"]
    if not any(s.kind == "repair" for s in found[:head]):
        notable += [s for s in middle if s.kind == "repair"][:1]
    keep = {id(s) for s in notable}
    result = found[:head]
    pending: list[Step] = []
    for step in middle:
        if id(step) in keep:
            result += [*_sum_up(pending), step]
            pending = []
        else:
            pending.append(step)
    return result + _sum_up(pending) + found[len(found) - tail :]


def _sum_up(pending: Iterable[Step]) -> list[Step]:
    result: list[Step] = []
    pending = list(pending)
    for direction in (True, False):
        run = [s for s in pending if s.to_receiver == direction]
        if len(run) < FOLD_FROM and not any(s.kind == "mixed" for s in run):
            result += run
        elif run:
            result.append(
                replace(
                    _join(run),
                    kind="mixed",
                    cause=None,
                    packets=sum(s.packets for s in run),
                    lost=all(s.lost for s in run),
                    parts=_parts(run),
                )
            )
    return sorted(result, key=lambda s: (s.first_s, s.order))


def _parts(run: list[Step]) -> tuple[tuple[str, int], ...]:
    counted: dict[str, int] = {}
    for step in run:
        if step.kind == "mixed":
            continue
        if step.to_receiver:
            name = {"repair": "repair", "control": "control packet"}.get(step.kind, "new segment")
            name = "lost segment" if step.lost and step.kind != "repair" else name
            counted[name] = counted.get(name, 0) + step.segments
        else:
            name = _ONE[step.kind]
            counted[name] = counted.get(name, 0) + step.packets
    return tuple(counted.items())


def text(ladder: Ladder, width: int = 100) -> list[str]:
    """The ladder for the terminal, one line a step.

    width: columns to fit in; labels are never cut, so that a narrow terminal wraps instead of hiding.
    """
    labels = [s.label() for s in ladder.steps if s.to_receiver]
    left = max([len(text) for text in labels] + [24])
    shaft = max(8, min(20, width - 12 - left - 34))
    lines = [
        f"episode {ladder.number}: {ladder.headline}",
        "",
        f"{'s':>10}  {ladder.sender:<{left}}  {'':<{shaft}}  {ladder.receiver}".rstrip(),
    ]
    gaps = list(ladder.silences)
    for step in ladder.steps:
        while gaps and step.to_receiver and step.first_s >= gaps[0][1] - 1e-9:
            quiet = gaps[0][1] - gaps[0][0]
            lines.append(f"{'':>10}  (no data sent for {seconds(quiet)})")
            gaps.pop(0)
        lines.append(_line(step, left, shaft))
    if ladder.end_s is None:
        lines.append(f"{'':>10}  (the end: nothing more was seen of it)")
    return lines


def _line(step: Step, left: int, shaft: int) -> str:
    stroke = "═" if step.folded else "─"
    at = f"{step.first_s:>10.4f}"
    if step.to_receiver:
        arrow = stroke * (shaft // 2) + "✕" if step.lost else stroke * (shaft - 1) + "▶"
        return f"{at}  {step.label():<{left}}  {arrow:<{shaft}}  {step.remark()}".rstrip()
    arrow = f"{'✕' + stroke * (shaft // 2):>{shaft}}" if step.lost else "◀" + stroke * (shaft - 1)
    return f"{at}  {'':<{left}}  {arrow}  {step.label()}"
