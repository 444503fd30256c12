"""What study `rto` runs: the five tests, each with its own channel, and the stacks that are compared."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rexmit.scenario import Scenario
from rexmit_studies import own, scenario
from rexmit_studies.paper import figures
from rexmit_studies.rto.channel import Channel, fit

if TYPE_CHECKING:
    from rexmit_studies.study import Plan

TESTS = (1, 2, 3, 4, 5)
#: The tests that the paper calls poor, below 1 Mbps.
POOR = (2, 4)
#: Those whose channel has long bad periods.
LOSSY = (1, *POOR)
#: Data frames that arrive in a transfer: its segments.
SEGMENTS = 7500
SEGMENT_BYTES = 1448
FILE_BYTES = SEGMENT_BYTES * SEGMENTS
SEEDS = 200
FEWER_SEEDS = 40
PAPERS = "linux-2.2"
CURED = "linux-2.2-cured"
LATER = ("linux-2.4", "linux-2.6-cubic", "rfc-sack")
#: The cured stack with the timer of what came later: nothing else differs between these two.
TIMER_OF_24 = "cured, timer of 2.4"
#: The channel spares frames that carry ACKs.
SAFE = "ACKs safe"
#: Gaps of at least this length are kept, s: the ACK clock of an undisturbed transfer ticks every 4.7 ms.
SHORTEST_GAP = 0.005
#: Where the timer's gaps are all that matters, s: half of the least RTO.
TIMER_GAP = 0.1
#: The air: Mbps, and tries of a frame.
RATE_MBPS, TRIES = 11.0, 4
#: The test whose fades are the scenario's; their mean length, and mean number of frames between them, by fit.
FADED = 2
FADE, BETWEEN = 8.35, 76.9
#: Channels with periods in time: how much longer than the same number of frames takes.
STRETCHES = {"in time": 1.0, "in time, 2.5 times as long": 2.5}


def stack() -> str:
    """The sender's stack in the tests."""
    return str(own.value("stack", PAPERS))


def frame_s() -> float:
    """A data frame and the waits around it, s: the scenario's air time of a try."""
    return 1536 * 8 / (1e6 * float(own.value("rate", RATE_MBPS))) + 1250e-6


def channels() -> dict[int, Channel]:
    """The channel of each test, fitted to three of its columns; or with the user's fades in test 2."""
    found = fitted()
    fade, between = own.mine("fade"), own.mine("between")
    if fade is None and between is None:
        return found
    before = found[FADED]
    mine = Channel(
        before.good_to_bad if between is None else 1 / between,
        before.bad_to_good if fade is None else 1 / fade,
        before.loss_good,
    )
    return {**found, FADED: mine}


@cache
def fitted() -> dict[int, Channel]:
    """The channel of each test, fitted to three of its columns."""
    paper: Any = figures("rto")
    found = {}
    for test in TESTS:
        row = f"rto.table1.{test}"
        rate, mean = paper[f"{row}.fer"], paper[f"{row}.avg_error_frame_burst"]
        found[test] = fit(rate, mean, int(paper[f"{row}.max_error_frame_burst"]), SEGMENTS)
    return found


def transfer(channel: dict[str, Any] | None, by: str | None = None) -> Scenario:
    """The transfer over this channel, or over one without errors. by: a stack; None: that of the tests."""
    sender = by or stack()
    keys = {"link.air.channel": [channel] if channel else [], "flow.transfer.stack": sender, "record": {}}
    return Scenario.load(scenario("rto")).with_(keys)


def variants(test: int) -> dict[str, Scenario]:
    """What a test is run with besides the paper's stack."""
    channel = channels()[test].spec()
    found = {CURED: transfer(channel, CURED)}
    if test in POOR:
        found |= {stack: transfer(channel, stack) for stack in LATER}
        found[TIMER_OF_24] = found[CURED].with_({f"stack.{CURED}.rto.rule": "linux"})
        found[SAFE] = transfer(channels()[test].spec(only="data"))
    return found


#: Somebody who walks through the beam: fades in time that hit both directions at once, besides the others.
WALKER = {
    "name": "walker",
    "kind": "gilbert-elliott",
    "good": "20s",
    "bad": "3s",
    "loss_good": 0.0,
    "loss_bad": 1.0,
}
WALKED = "in frames, and fades of 3 s for both"
#: All fades are one state in time that both directions share; frames are hit on their own besides.
SHARED = "fades of 3 s for both, no others"
#: Readings in which a fade hits data and ACKs alike (a channel in time has one state for both directions).
BOTH = (WALKED, SHARED)


def readings(test: int, by: str) -> dict[str, Scenario]:
    """The channel read in other ways than frame by frame in each direction, by how."""
    found = {
        name: transfer(channels()[test].timed(stretch * frame_s()), by) for name, stretch in STRETCHES.items()
    }
    both = [channels()[test].spec(), WALKER]
    found[WALKED] = transfer(None, by).with_({"link.air.channel": both})
    alone = {**WALKER, "loss_good": channels()[test].loss_good}
    found[SHARED] = transfer(alone, by)
    return found


def plan(runs: Plan) -> None:
    """Declares the runs. With the same seed all variants of a test meet the same channel, frame by frame."""
    seeds = runs.seeds(SEEDS)
    tests = [transfer(channels()[test].spec()) for test in TESTS]
    runs.runs("tests", tests, seeds, ("flows", "idle", "retransmissions"), idle=SHORTEST_GAP)
    if stack() != PAPERS:
        # What the cure and the other stacks are compared with.
        tests = [transfer(channels()[test].spec(), PAPERS) for test in TESTS]
        runs.runs("tests, paper's stack", tests, seeds, ("flows", "idle"), idle=SHORTEST_GAP)
    others = [scenario for test in LOSSY for scenario in variants(test).values()]
    runs.runs("others", others, seeds, ("flows", "idle"), at="sender", idle=TIMER_GAP)
    fewer = runs.seeds(FEWER_SEEDS)
    for name, by, at in (("readings", PAPERS, "both"), ("readings, cured", CURED, "sender")):
        read = [scenario for test in LOSSY for scenario in readings(test, by).values()]
        runs.runs(name, read, fewer, ("flows", "idle"), at=at, idle=TIMER_GAP)
    runs.runs("clean", transfer(None), [1], ("flows", "idle"))
