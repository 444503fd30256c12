"""Section 1.1: the base case and its five graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from rexmit.scenario import Scenario
from rexmit_studies import own, scenario
from rexmit_studies.declared import Declared
from rexmit_studies.ns3 import cases
from rexmit_studies.ns3.cases import Case
from rexmit_studies.rows import exact, fitted, setup, stated, tried
from rexmit_studies.study import Drawing, Missing, Part, Results, Row

ON_THE_WIRE = "payload the sender put on the wire × 8 / 2^20 / 9 s"


def base(results: Results) -> Case:
    found: Case = results["paper"]["base"]
    return found


def rows(results: Results) -> Iterator[Row | Missing]:
    case = base(results)
    given = Declared(own.applied(Scenario.load(scenario(cases.NAME))))
    yield setup("ns3.setup.bandwidth_mbps", given.number("link.link.rate", "Mbps"))
    yield setup("ns3.setup.delay_ms", given.number("link.link.delay", "ms"))
    yield setup(
        "ns3.setup.queue_packets",
        given.number("link.link.queue.packets"),
        "set in the scenario; the packet being sent is not counted",
    )
    yield setup(
        "ns3.setup.error_rate",
        own.value("error_rate", float(cases.BASE_ERRORS)),
        f"per byte of a frame; {cases.lost()}",
    )
    variant = "NewReno" if given["flow.bulk.stack"] == "ns3.20-newreno" else str(given["flow.bulk.stack"])
    yield setup("ns3.setup.variant", variant, "the stack of the scenario")
    yield setup(
        "ns3.setup.simulated_s",
        given.number("duration"),
        "set in the scenario; the application sends from 1 s",
    )
    yield fitted(
        stated(
            "ns3.throughput_definition",
            ON_THE_WIRE,
            True,
            "used for every throughput of section 1: of several definitions the one that gives them",
        )
    )
    yield exact("ns3.base_throughput_mbps", case.throughput_mbps, f"{ON_THE_WIRE}, cut off", "Mbps", True)
    for key, make in first_recovery(case).items():
        yield tried(key, make, "no fast recovery in the base case with your values")
    yield fitted(
        exact(
            "ns3.base_cwnd_drops",
            len(case.recoveries),
            "fast recoveries entered: the count that gives the paper's",
        )
    )


def first_recovery(case: Case) -> dict[str, Callable[[], Row]]:
    """The rows about the first fast recovery, by key: it need not be there with other values."""
    setup_, exit_ = "ns3.setup.", "ns3.first_recovery_exit."

    def of_first(key: str, name: str, definition: str, unit: str = "", why: str = "") -> Callable[[], Row]:
        return lambda: exact(key, case.recoveries[0][name], definition, unit, why=why)

    before, after = setup_ + "first_fast_recovery_cwnd_bytes", setup_ + "cwnd_after_bytes"
    why = "no ACK in ns-3.20's own trace says 95945: there the last segment begins that this ACK covers"
    halved = "cwnd after it: half of it and three segments"
    return {
        before: of_first(before, "cwnd_before", "cwnd when the third duplicate ACK comes", "B"),
        after: of_first(after, "cwnd_after", halved, "B"),
        "ns3.dupacks_1_1_to_1_2_s": partial(_first_hole, case),
        exit_ + "about_s": of_first(exit_ + "about_s", "end_s", "the first fast recovery ends", "s"),
        exit_ + "ack": of_first(exit_ + "ack", "ack", "the ACK that ends it", why=why),
    }


def _first_hole(case: Case) -> Row:
    hole = int(case.recoveries[0]["hole"])
    found = duplicates(case, hole)
    return fitted(
        exact(
            "ns3.dupacks_1_1_to_1_2_s",
            len(found),
            f"duplicate ACKs of the first hole, {hole}, from {found[0]:.3f} to {found[-1]:.3f} s: the count "
            f"that gives the paper's (of all numbers {len(within(case, 1.1, 1.2))} come from 1.1 to 1.2 s)",
        )
    )


def repeated(case: Case) -> tuple[cases.Numbers, cases.Numbers]:
    """ACKs that say what the one before said: when, and what."""
    time, acks = case.acks
    again = np.append(False, acks[1:] == acks[:-1])
    return time[again], acks[again]


def duplicates(case: Case, number: int) -> cases.Numbers:
    """When ACKs came that repeat `number`."""
    at, acks = repeated(case)
    found: cases.Numbers = at[acks == number]
    return found


def within(case: Case, start: float, end: float) -> cases.Numbers:
    """When ACKs came, from start to end, that repeat the one before."""
    at, _ = repeated(case)
    found: cases.Numbers = at[(at >= start) & (at <= end)]
    return found


def drawings(results: Results) -> Iterator[Drawing]:
    case = base(results)
    run = case.run
    flow = run.worst(1)[0]
    flat = (1.08, 1.28)
    if own.current() and case.recoveries:
        first = case.recoveries[0]
        start, end = float(first["start_s"]), float(first["end_s"])
        flat = (start - 0.15 * (end - start), end + 0.15 * (end - start))
    yield Drawing(
        "fig1a-sequence",
        "Fig. 1a: what node 0 sends and the ACKs that come back, over the whole run.",
        flow.time_sequence,
    )
    yield Drawing(
        "fig1a-first-recovery",
        "Fig. 1a, the flat part: eleven segments are lost in slow start, and NewReno repairs one in a "
        "round trip.",
        lambda: flow.time_sequence(*flat),
    )
    yield Drawing("fig1b-throughput", "Fig. 1b: throughput second by second.", flow.throughput)
    yield Drawing(
        "fig1c-cwnd",
        "Fig. 1c: the congestion window, and below it the timer. ns-3.20 adds a segment for each "
        "duplicate ACK and lets the window swell to 54,940 bytes in the first recovery.",
        run.cwnd,
    )
    yield Drawing(
        "fig1de-queue",
        "Figs. 1d and 1e: how many packets wait at node 0, and how long each one waited.",
        lambda: run.queue("link"),
    )


def text(results: Results) -> str:
    case = base(results)
    errors = case.drops["time"][case.drops.equals("cause", "channel")]
    at = ", ".join(f"{t:.2f}" for t in errors)
    return f"""\
The paper's base case: 5 Mbps, 5 ms, a queue of ten packets, one byte in a million in error, NewReno. Slow
start runs into the full queue at 1.106 s and loses every third segment, eleven in all. NewReno repairs one
of them in each round trip; that is the flat part of the sequence graph, and it ends at 1.259 s.

**What the paper counts as 25 drops of cwnd** are its fast recoveries. The trace of cwnd falls 61 times,
because ns-3.20 takes cwnd back a little at each partial ACK, and twice in a recovery of one loss: to half
plus three segments at its beginning, to half at its end.

**What the paper counts as 21 duplicate ACKs** are those of the first hole. The receiver sends
{len(within(case, 1.1, 1.2))} between 1.1 and 1.2 s.

The paper blames errors for the drops at 7.5, 8.1 and 9.1 s, and is right: frames are in error at {at} s. The
one at 3.01 s falls together with a full queue, so that one recovery serves both."""


PARTS = [Part("1.1 The base case", rows, drawings, text=text)]
