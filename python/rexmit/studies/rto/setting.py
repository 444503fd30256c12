"""What study `rto` runs: the five tests, each with its own channel, and the stacks that are compared."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rexmit.scenario import Scenario
from rexmit.studies import scenario
from rexmit.studies.paper import figures
from rexmit.studies.rto.channel import Channel, fit

if TYPE_CHECKING:
    from rexmit.studies.study import Plan

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
#: A data frame and the waits around it, s: the scenario's air time of a try.
FRAME_S = (1536 * 8 / 11e6) + 1250e-6
#: Channels with periods in time: how much longer than the same number of frames takes.
STRETCHES = {"in time": 1.0, "in time, 2.5 times as long": 2.5}


@cache
def channels() -> dict[int, Channel]:
    """The channel of each test, fitted to three of its columns."""
    paper: Any = figures("rto")
    found = {}
    for test in TESTS:
        row = f"rto.table1.{test}"
        rate, mean = paper[f"{row}.fer"], paper[f"{row}.avg_error_frame_burst"]
        found[test] = fit(rate, mean, int(paper[f"{row}.max_error_frame_burst"]), SEGMENTS)
    return found


def transfer(channel: dict[str, Any] | None, stack: str = PAPERS) -> Scenario:
    """The transfer over this channel, or over one without errors."""
    keys = {"link.air.channel": [channel] if channel else [], "flow.transfer.stack": stack, "record": {}}
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


def readings(test: int, stack: str) -> dict[str, Scenario]:
    """The channel read in other ways than frame by frame in each direction, by how."""
    found = {
        name: transfer(channels()[test].timed(stretch * FRAME_S), stack)
        for name, stretch in STRETCHES.items()
    }
    both = [channels()[test].spec(), WALKER]
    found[WALKED] = transfer(None, stack).with_({"link.air.channel": both})
    alone = {**WALKER, "loss_good": channels()[test].loss_good}
    found[SHARED] = transfer(alone, stack)
    return found


def plan(runs: Plan) -> None:
    """Declares the runs. With the same seed all variants of a test meet the same channel, frame by frame."""
    seeds = runs.seeds(SEEDS)
    tests = [transfer(channels()[test].spec()) for test in TESTS]
    runs.runs("tests", tests, seeds, ("flows", "idle", "retransmissions"), idle=SHORTEST_GAP)
    others = [scenario for test in LOSSY for scenario in variants(test).values()]
    runs.runs("others", others, seeds, ("flows", "idle"), at="sender", idle=TIMER_GAP)
    fewer = runs.seeds(FEWER_SEEDS)
    for name, stack, at in (("readings", PAPERS, "both"), ("readings, cured", CURED, "sender")):
        read = [scenario for test in LOSSY for scenario in readings(test, stack).values()]
        runs.runs(name, read, fewer, ("flows", "idle"), at=at, idle=TIMER_GAP)
    runs.runs("clean", transfer(None), [1], ("flows", "idle"))
