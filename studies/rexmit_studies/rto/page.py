"""The page of study `rto`: its parts, their words and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import paper
from rexmit_studies.rows import tried
from rexmit_studies.rto import drawings, fades, radios, stalls, statements, table2
from rexmit_studies.rto.axes import AXES
from rexmit_studies.rto.facts import idle_threshold, setting
from rexmit_studies.rto.gaps import threshold
from rexmit_studies.rto.measured import Sample, Values, of_papers_stack, others, reread, tests
from rexmit_studies.rto.setting import (
    CURED,
    FEWER_SEEDS,
    LOSSY,
    PAPERS,
    POOR,
    SAFE,
    SEGMENTS,
    TESTS,
    TIMER_OF_24,
    channels,
    plan,
    variants,
)
from rexmit_studies.rto.table1 import active, paper_value, table1
from rexmit_studies.rto.timer import NO_RUN, claims, gain, timer_idle, waited_for_acks
from rexmit_studies.study import Claim, Drawing, Missing, Part, Study

if TYPE_CHECKING:
    from rexmit_studies.study import Plan, Results


def introduction(results: Results) -> str:
    """What was asked, and what came out."""
    below = {test: float(np.mean(tests(results)[test]["throughput_mbps"] < 1)) for test in POOR}
    as_is = {test: float(np.mean(tests(results)[test]["throughput_mbps"])) for test in POOR}
    safe = {test: float(np.mean(others(results)[test, SAFE]["throughput_mbps"])) for test in POOR}
    return f"""
The authors sent a file over one 802.11b hop, five times, in an office with people walking about. Two of
the five transfers crawled at less than 1 Mbps. They found the sender silent for up to two minutes, and
the cause in Linux 2.2: its timer kept the back-off that one segment had earned after that segment was
acknowledged. They asked to clear it.

Here each test is run {len(tests(results)[1]["took_s"])} times, over a channel that is fitted to three
numbers of its row in Table I, all of them about frames. What TCP makes of it is not fitted. Most of Table
I then lies where such transfers lie, and one transfer says little: test 2, at 0.71 Mbps in the paper,
could as well have had {_spread(results, 2)} Mbps. {below[2]:.0%} of the transfers of test 2 and
{below[4]:.0%} of those of test 4 stay below 1 Mbps.

Their finding stands: where a transfer crawls, it is for idle time, and Linux 2.2 does keep a back-off
that is no longer earned. Their cure helps the exchange that they show, and hardly the transfer: most idle
time is earned. What they say in passing weighs more: with ACKs that are never lost, tests 2 and 4 run at
{safe[2]:.1f} and {safe[4]:.1f} Mbps instead of {as_is[2]:.1f} and {as_is[4]:.1f}.
""".strip()


def _spread(results: Results, test: int) -> str:
    low, high = np.quantile(tests(results)[test]["throughput_mbps"], [0.1, 0.9])
    return f"{low:.2f} or {high:.2f}"


SETTING = """
Two hosts, one hop, one file. Fig. 1 of the paper shows the office and its signal-to-noise ratio; there is
nothing in it to run.
""".strip()


CHANNEL = """
A channel of two states meets every frame, retries included: in the good state it hits a frame with some
small probability, in the bad state always. That the bad state hits every frame follows from the paper: in
all five tests the longest run of lost packets is the longest run of erroneous frames over the four tries
of a packet (29 and 7, 40 and 10, 50 and 12, 4 and 1).

Three unknowns remain, and three columns of Table I are about frames. The error rate and the mean burst
are met exactly; the longest burst is met such that half of the transfers have a longer one. Frames arrive
in the good state only, so bursts are independent of each other, and all of this is known in closed form.
How wide the longest burst scatters shows how loosely one transfer fixes a channel. Each direction has a
channel of its own, with the same parameters.
""".strip()


def _fits(results: Results) -> dict[str, Any]:
    fitted = [channels()[test] for test in TESTS]
    longest = [channel.longest(SEGMENTS) for channel in fitted]
    sampled = tests(results)
    return {
        "the fitted channels": {
            "test": list(TESTS),
            "error while good": [f"{channel.loss_good:.4f}" for channel in fitted],
            "mean good period (frames)": [f"{1 / channel.good_to_bad:.0f}" for channel in fitted],
            "mean bad period (frames)": [f"{1 / channel.bad_to_good:.1f}" for channel in fitted],
            "FER: paper": [f"{paper_value(test, 'fer'):g}" for test in TESTS],
            "fit": [f"{channel.frame_error_rate:.4f}" for channel in fitted],
            "runs": [f"{np.mean(sampled[test]['fer']):.4f}" for test in TESTS],
            "mean burst: paper": [f"{paper_value(test, 'avg_error_frame_burst'):g}" for test in TESTS],
            "fit ": [f"{channel.mean_burst:.2f}" for channel in fitted],
            "runs ": [f"{np.mean(sampled[test]['avg_error_frame_burst']):.2f}" for test in TESTS],
            "longest burst: paper": [f"{paper_value(test, 'max_error_frame_burst'):g}" for test in TESTS],
            "fit, median and 95%": [f"{middle} ({low} to {high})" for middle, low, high in longest],
            "runs, median": [f"{np.median(sampled[test]['max_error_frame_burst']):g}" for test in TESTS],
        }
    }


def _channel_drawings(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "channel-bursts",
        "Bursts of erroneous frames in the fitted channels. Dots: the longest burst of each test in the "
        "paper; bars: where 95% of transfers have theirs. Dotted: one burst in a transfer.",
        drawings.bursts,
    )


def _table1_text(results: Results) -> str:
    found = list(table1(results))
    fitted = [row for row in found if row.grade == "fitted"]
    inside = sum(row.reproduced for row in found)
    return f"""
Of the {len(found)} figures {len(fitted)} are what the channels and the threshold are fitted to. Of the
other {len(found) - len(fitted)} the paper has {inside} where 95% of the transfers have theirs. The loss
of packets, their bursts, how often segments are sent again, and the minutes of silence all follow from
the errors of frames.

Tests 3 and 5 show what does not: there the paper's transfers stood still for more than a second in all,
with two or three retransmissions. Errors of frames do not do that; other stations or the hosts may.

Which packets the paper timed for its RTT it does not say. With timestamps a sender may time resent data,
too: then a
copy whose ACK was lost counts with the time until a later one came, and the mean is that of the silences.
In no
reading is it 42 to 50 ms in all five tests.
""".strip()


def _table1_drawings(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "throughput",
        "Throughput of all transfers of each test. Diamonds: the paper's one transfer. Tests 1, 2 and 4 "
        "spread over the whole range.",
        lambda: drawings.throughput(results),
    )


def _idle_text(results: Results) -> str:
    without = ", ".join(f"{active(test):.2f}" for test in TESTS)
    found = threshold(results)
    long = {
        test: float(np.sum(timer_idle(tests(results)[test])) / np.sum(tests(results)[test].idle(found.s)[0]))
        for test in POOR
    }
    return f"""
The paper says what its idle times add up to, and not from which length on a gap counts. Test 3 tells: its
longest gap is below the least RTO, so no timer made any of them. Frame errors alone give its total with a
threshold of {found}. It can hardly have been shorter; stalls of another cause, as tests 3 and 5 had them,
ask for a longer one. In the poor tests it does not matter: gaps above 0.1 s make {long[2]:.0%} of the
idle time in test 2 and {long[4]:.0%} in test 4.

The paper's own table already shows what idle time does: without it the five transfers ran at {without}
Mbps.
""".strip()


def _idle_drawings(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "idle-threshold",
        "Total idle time as the threshold grows. Dashed: the paper's totals. The band is where single "
        "transfers put the threshold that gives the paper's total in test 3.",
        lambda: drawings.idle_threshold(results),
    )
    yield Drawing(
        "idle-or-loss",
        "Each dot a transfer. Throughput is set by idle time, and hardly by how many packets were lost. "
        "Diamonds: the paper's two transfers. Dotted: 1 Mbps, below which the paper calls throughput poor.",
        lambda: drawings.idle_or_loss(results),
    )


def _cost_text(results: Results) -> str:
    words = []
    for test in POOR:
        before, after = tests(results)[test], others(results)[test, CURED]
        found = gain(results, test, CURED)
        words.append(
            f"In test {test} clearing the back-off brings {found.value:.2f} Mbps ({found.low:.2f} to "
            f"{found.high:.2f}) on top of {np.mean(before['throughput_mbps']):.2f}, and idle time falls "
            f"from {np.mean(timer_idle(before)):.0f} s to {np.mean(timer_idle(after)):.0f} s on average."
        )
    had = waited_for_acks(results)
    return f"""
{" ".join(words)} What the cure takes away is real, as Table II shows, but rare: for a back-off to
survive, an ACK must come through that leaves something unacknowledged, and then a repair or its ACK must
be lost. Nearly all idle time is the doubling itself: one segment, or its ACK, is lost again and again,
and no stack clears a back-off for that.

Later stacks clear the back-off as the paper asks, and do worse here. One reason is their timer:
{_timer_of_24(results)}. It waits at least 200 ms on top of the RTT, where that of Linux 2.2 waits 200 ms
in all, and every doubling starts from there.

Lost ACKs cost far more than the surviving back-off does. {had[2]:.0%} of the time in long silences in
test 2, and {had[4]:.0%} in test 4, ended with data that the receiver had already: only the ACK was
missing. To take ACKs as free of errors, which the authors warn of, hides most of what they saw.
""".strip()


def _timer_of_24(results: Results) -> str:
    words = []
    for test in POOR:
        cured, later = (others(results)[test, name]["throughput_mbps"] for name in (CURED, TIMER_OF_24))
        lost = stats.paired(cured, later)
        words.append(f"{lost.value:.2f} Mbps ({lost.low:.2f} to {lost.high:.2f}) in test {test}")
    return f"put into the cured stack it costs {' and '.join(words)}"


def _stacks(results: Results) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {
        "test": [], "sender": [], "throughput (Mbps)": [], "gain (Mbps), 95%": [], "below 1 Mbps": [],
        "idle time, mean (s)": [], "median (s)": [], "gave up": [],
    }  # fmt: skip
    for test in (*POOR, 1):
        rows = [(PAPERS, of_papers_stack(results)[test])]
        rows += [(name, others(results)[test, name]) for name in variants(test)]
        for name, sample in rows:
            found = None if name == PAPERS else gain(results, test, name)
            _row(columns, test, name, sample, found)
    return {"stacks": columns}


def _row(columns: dict[str, list[Any]], test: int, name: str, sample: Sample, found: Any) -> None:
    idle = timer_idle(sample)
    values = (
        test,
        name,
        f"{np.mean(sample['throughput_mbps']):.2f}",
        "" if found is None else f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f})",
        f"{np.mean(sample['throughput_mbps'] < 1):.0%}",
        f"{np.mean(idle):.1f}",
        f"{np.median(idle):.1f}",
        int(np.sum(sample["complete"] == 0)),
    )
    for column, value in zip(columns.values(), values, strict=True):
        column.append(value)


def _cost_drawings(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "idle-distribution",
        "Gaps in a transfer by their length. Steps at 0.2, 0.4, 0.8 s and so on are the timer's doublings; "
        "120 s is the largest RTO. Diamonds: the paper's longest.",
        lambda: drawings.idle_distribution(results),
    )
    yield Drawing(
        "gains",
        "What each change brings against the paper's stack, with the same seeds; bars: 95% intervals of "
        "the mean.",
        lambda: drawings.gains(results),
    )


READINGS = """
Whether a channel's bad periods are counted in frames or in time changes everything. Counted in frames the
channel stands still while the sender is silent, so that its next try meets the same fade. Counted in
time, a fade that lasts as long as the same number of frames does is over before the first timeout; one of
2.5 times that length, which loses longer runs of packets than the paper saw, nearly always. Then hardly a
transfer falls below 1 Mbps, and no segment is sent more than a few times. The paper's transfers sent one
segment again up to eight times, over many seconds: their fades outlasted the timer, and only the first
reading has that. The claims are judged on it.

A fade that hits both directions at once loses data and ACKs together, and could make the back-off survive
more often. Two readings have one state for both: such fades of 3 s on average, every 20 s, beside those in
frames, and alone. The last column says what the cure gains there; the claim is judged on each.
""".strip()


def _readings(results: Results) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {
        "test": [], "periods": [], "datagrams lost (%)": [], "longest run of lost packets": [],
        "most times one segment was sent again": [], "throughput (Mbps)": [], "below 1 Mbps": [],
        "gain by the cure (Mbps), 95%": [],
    }  # fmt: skip
    for test in LOSSY:
        before = {"in frames": of_papers_stack(results)[test]} | reread(results)[test]
        after = {"in frames": others(results)[test, CURED]} | reread(results, CURED)[test]
        for name, sample in before.items():
            gained = stats.paired(after[name]["throughput_mbps"], sample["throughput_mbps"])
            values = (
                test,
                name,
                f"{stats.known_mean(sample['ip_loss_percent']):.2f}",
                f"{np.mean(sample['max_lost_packet_burst']):.1f}",
                f"{np.mean(sample['max_retransmissions_one_segment']):.1f}",
                f"{np.mean(sample['throughput_mbps']):.2f}",
                f"{np.mean(sample['throughput_mbps'] < 1):.0%}",
                f"{gained.value:+.2f} ({gained.low:+.2f} to {gained.high:+.2f})",
            )
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
    return {"in frames or in time": columns}


def _readings_drawings(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "frames-or-time",
        "Throughput with the channel's periods in frames and in time. Diamonds: the paper's transfers.",
        lambda: drawings.readings(results),
    )


def every_claim(results: Results) -> Iterator[Claim | Missing]:
    """The paper's claims, and what it extrapolates."""
    yield from claims(results)
    yield tried("rto.claim.other_radios", lambda: radios.claim(results), NO_RUN)


def _rtt_table(results: Results) -> dict[str, Any]:
    """The RTT by what is timed: the paper does not say."""
    made: dict[str, list[str]] = {"test": [str(test) for test in TESTS]}
    for what, stem in (("mean", "rtt{}_mean_ms"), ("deviation", "rtt{}_stddev_ms")):
        made[f"{what}, paper (ms)"] = [f"{paper_value(test, stem.format('')):g}" for test in TESTS]
        for named, which in (("data sent once", ""), ("echoed timestamps, resent data too", "_timestamps")):
            found = [tests(results)[test][stem.format(which)] for test in TESTS]
            made[f"{what}, {named}"] = [_middle_and_spread(x) for x in found]
    return {"the RTT by which packets are timed: median and 95% of transfers": made}


def _middle_and_spread(x: Values) -> str:
    known = x[np.isfinite(x)]
    if not len(known):
        return "not known: no transfer has one"
    low, middle, high = np.quantile(known, [0.025, 0.5, 0.975])
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def declare(runs: Plan) -> None:
    """Declares the runs of all parts."""
    plan(runs)
    seeds = runs.seeds(FEWER_SEEDS)
    fades.declare(runs, seeds)
    stalls.declare(runs, seeds)
    radios.declare(runs, seeds)


ABOUT = paper.about("rto")
STUDY = Study(
    name="rto",
    title=ABOUT.title,
    source=ABOUT.source,
    about=ABOUT.about,
    plan=declare,
    introduction=introduction,
    claims=every_claim,
    compares=("flow.transfer.stack", "link.air.channel"),
    axes=AXES,
    parts=(
        Part("The setting", text=SETTING, rows=setting, statements=statements.of_setting),
        Part("A channel for each test", text=CHANNEL, tables=_fits, drawings=_channel_drawings),
        Part(
            "Table I",
            text=_table1_text,
            rows=table1,
            tables=_rtt_table,
            drawings=_table1_drawings,
            statements=statements.of_table1,
        ),
        fades.PART,
        stalls.PART,
        Part("Idle time", text=_idle_text, rows=idle_threshold, drawings=_idle_drawings),
        Part(
            "Table II and Fig. 2: 57 seconds",
            text=table2.text,
            rows=table2.table2,
            drawings=table2.drawings,
            statements=statements.of_table2,
        ),
        Part("What the back-off costs", text=_cost_text, tables=_stacks, drawings=_cost_drawings),
        radios.PART,
        Part("Frames or seconds", text=READINGS, tables=_readings, drawings=_readings_drawings),
    ),
)
