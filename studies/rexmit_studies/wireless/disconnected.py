"""Figs. 2, 3 and 5 to 8: disconnections alone, packet by packet; and over many random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import own
from rexmit_studies.declared import Declared
from rexmit_studies.rows import exact, setup, tried
from rexmit_studies.study import Drawing, Missing, Part, Plan, Results, Row
from rexmit_studies.wireless import pictures, trace
from rexmit_studies.wireless.measures import (
    LABELS,
    NAME,
    VARIANTS,
    Counts,
    counts,
    load,
    own_stack,
    random_outages,
    table2,
)

if TYPE_CHECKING:
    from rexmit.scenario import Scenario

#: Mean up and down time of the paper's scenarios 1 and 2, s.
SCENARIOS = ((1.0, 0.1), (5.0, 2.0))
#: Length of the runs, s: about as many packets each.
SECONDS = {(1.0, 0.1): 1600, (5.0, 2.0): 300}
SECONDS_TABLE2 = 400
NO_LOSS = "the run with your values has no such disconnection, or nothing was under way then"


def outages() -> list[tuple[float, float]]:
    """Mean up and down time: those of Table 2, and of the paper's scenarios 1 and 2; s."""
    return list(dict.fromkeys((table2(), *SCENARIOS)))


def _scenario(outage: tuple[float, float], variant: str, more: Mapping[str, Any] | None = None) -> Scenario:
    keys = {"flow.ftp.stack": f"ns2-{variant}", "duration": f"{SECONDS.get(outage, SECONDS_TABLE2)}s"}
    return load("wireless-outage", random_outages(*outage) | keys | dict(more or {}))


def declare(plan: Plan) -> None:
    """The runs of the figures, one each; and random disconnections, without bit errors."""
    plan.call("traces", _traces)
    for outage in outages():
        # Few packets pass with 1 s up, and a run says less.
        seeds = plan.seeds(300 if outage == (1.0, 0.1) else 100)
        plan.runs(_batch(outage), [_scenario(outage, variant) for variant in VARIANTS], seeds)
        if mine := own_stack():
            plan.runs(f"{_batch(outage)}, single", _scenario(outage, "tahoe", mine), seeds)


def _batch(outage: tuple[float, float]) -> str:
    return f"disconnections, {outage[0]:g} s up, {outage[1]:g} s down"


def _traces() -> dict[str, Any]:
    return {
        "alike": trace.alike(),
        "fig2": trace.trace("reno", *trace.FIG2),
        "fig3": trace.trace("reno", *trace.FIG3),
        "as printed": trace.trace("tahoe", *trace.cycle(), ssthresh=32),
    }


def random(results: Results) -> dict[tuple[tuple[float, float], str], Counts]:
    """What each variant made of random disconnections, by mean up and down time."""
    found = {}
    for outage in outages():
        for variant, mine in zip(VARIANTS, counts(results[_batch(outage)]), strict=True):
            found[outage, variant] = mine
    return found


def single(results: Results, outage: tuple[float, float]) -> Counts:
    """What Tahoe makes of random disconnections, or the user's stack in its place."""
    if not own_stack():
        return random(results)[outage, "tahoe"]
    (found,) = counts(results[f"{_batch(outage)}, single"], single=True)
    return found


def setup_rows(results: Results) -> Iterator[Row | Missing]:
    """What the paper sets."""
    found = Declared(own.applied(load("wireless-outage", {"flow.ftp.stack": "ns2-tahoe"})))
    for hop in ("wired", "wireless"):
        yield setup(f"{NAME}.setup.{hop}_mbps", found.number(f"link.{hop}.rate", "Mbps"))
        yield setup(f"{NAME}.setup.{hop}_delay_ms", found.number(f"link.{hop}.delay", "ms"))
    agent = "stack.ns2-tahoe.oneway"
    in_stack = "set in the stacks"
    yield setup(f"{NAME}.setup.window_packets", found.number(f"{agent}.window"), in_stack)
    begins = (
        f"{agent}.window" if found[f"{agent}.initial_ssthresh"] == "window" else f"{agent}.initial_ssthresh"
    )
    key = f"{NAME}.setup.ssthresh_packets"
    yield tried(key, lambda: _ssthresh(results, key, found.number(begins)), NO_LOSS)
    yield setup(f"{NAME}.setup.packet_bytes", found.number(f"{agent}.packet"), in_stack)
    yield setup(f"{NAME}.setup.ack_bytes", found.number(f"{agent}.ack"), in_stack)
    yield setup(f"{NAME}.setup.queue_packets", found.number("link.wireless.queue.packets"))


def _ssthresh(results: Results, key: str, packets: float) -> Row:
    small = trace.loss(results["traces"]["as printed"], 0).packets
    return setup(
        key,
        packets,
        "set in the stacks, as the text on Fig. 5 has it",
        f"Fig. 5 starts with ssthresh = 50; with 32 the first disconnection takes packets {small[0]} to "
        f"{small[1]}, not 197 to 233",
    )


def rows(results: Results) -> Iterator[Row | Missing]:
    """The packets that the text names, which are the same in all four variants."""
    alike = results["traces"]["alike"]
    same = len({each.events() for each in alike.values()}) == 1
    who = "all four variants" if same else "Tahoe"
    one = alike["tahoe"]

    def first() -> trace.Loss:
        return trace.loss(one, 0)

    def second() -> trace.Loss:
        return trace.loss(one, 1)

    def timer() -> tuple[float, int]:
        return trace.first_timeout(one)

    facts: tuple[tuple[str, Callable[[], Any], Callable[[], str], str], ...] = (
        ("first_loss.at_s", lambda: first().at, lambda: "first packet lost", "s"),
        ("first_loss.acks", lambda: first().acks,
         lambda: "ACKs on the wireless hop that the disconnection took", ""),
        ("first_loss.packets", lambda: first().packets,
         lambda: f"packets in its queue and on it; {_and_unseen(first())}", ""),
        ("first_loss.timeout_s", lambda: timer()[0], lambda: "first packet sent by the timer", "s"),
        ("first_loss.resent", lambda: timer()[1], lambda: "its number", ""),
        ("first_loss.then_ack", lambda: trace.next_ack(one, timer()[0]),
         lambda: "number of the next ACK", ""),
        ("second_loss.at_s", lambda: second().at,
         lambda: "first packet lost by the second disconnection", "s"),
        ("second_loss.acks", lambda: second().acks, lambda: "ACKs on the wireless hop that it took", ""),
        ("second_loss.packets", lambda: second().packets,
         lambda: f"packets; {_and_unseen(second())}", ""),
        ("slow_start_packets", lambda: trace.slow_start(one),
         lambda: "windows of 1, 2, 4, ... packets up to the first of 50", ""),
    )  # fmt: skip
    for name, value, definition, unit in facts:
        yield _fact(f"{NAME}.trace.{name}", value, definition, who, unit)


def _fact(
    key: str, value: Callable[[], Any], definition: Callable[[], str], who: str, unit: str
) -> Row | Missing:
    return tried(key, lambda: exact(key, value(), f"{definition()}; {who}", unit), NO_LOSS)


def _and_unseen(loss: trace.Loss) -> str:
    if loss.unseen is None:
        return "no other"
    first, last = loss.unseen
    return f"{first} to {last}, sent into the dead link, are lost too: ns-2 has no line for them"


FIGURES = {"tahoe": 5, "reno": 6, "newreno": 7, "sack": 8}


def drawings(results: Results) -> Iterator[Drawing]:
    """As the paper draws them."""
    for variant, number in FIGURES.items():
        found: trace.Trace = results["traces"]["alike"][variant]
        yield _drawing(
            found, number, f"Fig. {number}: {LABELS[variant]}, up {found.up:.1f} s, down {found.down:.1f} s."
        )


def cycle_drawings(results: Results) -> Iterator[Drawing]:
    """Figs. 2 and 3."""
    for number, p in ((2, "9%"), (3, "28.6%")):
        found: trace.Trace = results["traces"][f"fig{number}"]
        yield _drawing(
            found, number, f"Fig. {number}: Reno with p = {p}: up {found.up:.1f} s, down {found.down:.1f} s."
        )


MARKS = (
    " Squares: a packet at FH and at BS; circles: its ACK at FH; crosses: packets lost; squares with a line: "
    "ACKs lost; shaded: disconnected."
)


def _drawing(found: trace.Trace, number: int, caption: str) -> Drawing:
    title = f"{found.label}, {found.up:.1f} s up, {found.down:.1f} s down"
    try:
        gone = trace.gone(found)
    except ValueError:
        gone = []
    if trace.users_schedule():
        title = f"{found.label}, disconnections as given"
    draw = partial(pictures.packets, found, gone, title, f"fig{number}")
    return Drawing(f"fig{number}", caption + MARKS, draw)


def cycle_text(results: Results) -> str:
    two, three = (results["traces"][f"fig{k}"] for k in (2, 3))
    said = [(len(np.unique(t.acked[1])), len(t.timeouts[0])) for t in (two, three)]
    return f"""\
Ten seconds each with a fixed cycle. With 1 s up and 0.1 s down (Fig. 2) the sender hardly gets a window
open before the next disconnection takes it: {said[0][0]} packets are acknowledged, and the timer fires
{said[0][1]} times. With 5 s up and 2 s down (Fig. 3), more than three times the share of time down, it is
{said[1][0]} packets and {said[1][1]} timeouts: the timer, not the outage itself, is what costs."""


def text(results: Results) -> str:
    alike = results["traces"]["alike"]
    same = len({each.events() for each in alike.values()}) == 1
    first = trace.loss(alike["tahoe"], 0)
    fast = sum(each.fast for each in alike.values())
    return f"""\
At 3.0 s the mobile host goes. ACKs {first.acks[0]} to {first.acks[1]} and packets {first.packets[0]} to
{first.packets[1]} are under way and vanish; nothing that comes later can tell the sender, so it waits for
its timer, sends {trace.first_timeout(alike["tahoe"])[1]} at {trace.first_timeout(alike["tahoe"])[0]:.3f} s,
and begins again with one packet. Every packet that the paper names is the same here.

The four variants' runs are {"the same to the last packet" if same else "not the same"}: without duplicate
ACKs there is no fast retransmit ({"none" if fast == 0 else fast} in the four runs), and timeouts are all
that is left. The paper's point holds."""


def tables(results: Results) -> dict[str, Any]:
    """Random disconnections: what each variant makes of them."""
    found = random(results)
    names = (
        "up_s",
        "down_s",
        "variant",
        "throughput_packets_s",
        "±",
        "less Tahoe",
        "from",
        "to",
        "timeouts a run",
    )
    table: dict[str, list[Any]] = {name: [] for name in names}
    for outage, variant in product(outages(), VARIANTS):
        mine, tahoe = found[outage, variant], found[outage, "tahoe"]
        mean, less = stats.mean(mine.throughput), stats.paired(mine.throughput, tahoe.throughput)
        cells = (
            *outage, LABELS[variant], round(mean.value, 2), round(mean.high - mean.value, 2),
            *(round(v, 2) for v in (less.value, less.low, less.high)), round(float(mine.timeouts.mean()), 1),
        )  # fmt: skip
        for name, cell in zip(names, cells, strict=True):
            table[name].append(cell)
    return {"random disconnections": table}


SETUP = Part(
    "The path",
    rows=setup_rows,
    text="""\
A fixed host, a base station and a mobile host; the wireless hop is the narrow one. One-way senders and
receivers as ns-2 had them in 1998: they count packets, send no SYN, and their timer ticks in tenths of a
second. When the link goes down, all that is on it or waits for it is lost, in both directions.""",
)
