"""The paper's claims, judged over the runs of all parts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rexmit import stats
from rexmit.stats import Test
from rexmit.studies.study import Claim, Results
from rexmit.studies.wireless import disconnected, proposal, uptime
from rexmit.studies.wireless.both import Both
from rexmit.studies.wireless.errors import READING, Errors, own_ber
from rexmit.studies.wireless.measures import BER, LABELS, NAME, VARIANTS, fastest

UNIT = "packets/s"
#: Throughputs that differ by less than this share of Tahoe's are alike.
ALIKE = 0.05


def claims(results: Results) -> Iterator[Claim]:
    """All six."""
    yield _ber(results)
    yield _disconnection_over_ber(results)
    yield _up_time_rules(results)
    yield _variants_alike(results)
    yield _reno_best(results)
    yield _proposal_helps(results)


def _ber(results: Results) -> Claim:
    errors = Errors(results)
    fast, slow = (errors.of(ber, "throughput_packets_s") for ber in ("1e-6", "1e-5"))
    short, long = (errors.of(ber, "transfer_time_s") for ber in ("1e-6", "1e-5"))
    return Claim(
        f"{NAME}.claim.ber",
        f"at 1e-6 Tahoe makes {np.mean(fast) / np.mean(slow):.2f} times the throughput of 1e-5 "
        f"({np.mean(fast):.1f} against {np.mean(slow):.1f} packets/s), and 5000 packets take "
        f"{np.mean(short):.0f} s instead of {np.mean(long):.0f} s",
        [
            Test.paired("throughput at 1e-6 less twice that at 1e-5", fast, 2 * slow, UNIT),
            Test.paired("transfer time at 1e-5 less twice that at 1e-6", long, 2 * short, "s"),
        ],
        effect=f"{np.mean(fast) / np.mean(slow):.2f} times the throughput",
        reading=READING,
    )


def _disconnection_over_ber(results: Results) -> Claim:
    errors, random = Errors(results), disconnected.random(results)
    points = uptime.UpTimes(results)
    ber = own_ber() or BER
    alone = errors.of(ber, "throughput_packets_s")
    printed = errors.of(ber, "throughput_packets_s", "as printed")
    tests, said = [], []
    for up, down in disconnected.outages():
        gone = random[(up, down), "tahoe"].throughput
        both = min(len(alone), len(gone))
        what = f"Tahoe: bit errors alone less disconnections alone ({up:g} s up, {down:g} s down)"
        tests.append(Test.paired(what, alone[:both], gone[:both], UNIT))
        said.append(f"{np.mean(gone):.1f} ({up:g} s / {down:g} s)")
    late = float(np.mean(points.throughput("9%", 10.0)))
    return Claim(
        f"{NAME}.claim.disconnection_over_ber",
        f"with bit errors alone Tahoe makes {np.mean(alone):.1f} packets/s of {fastest():.1f}, with "
        f"disconnections alone {', '.join(said)}; it depends on the up time, though: with 10 s up and 1 s "
        f"down Reno still makes {late:.0f}; bit errors as printed would leave {np.mean(printed):.1f}",
        tests,
        effect=f"{tests[0].effect:.0f} packets/s more with bit errors than with Table 2's disconnections",
        reading=f"{READING}; disconnections as in Table 2 and in scenarios 1 and 2",
    )


def _up_time_rules(results: Results) -> Claim:
    points = uptime.UpTimes(results)
    level = points.throughput(*uptime.SECOND)
    at = points.crossing("throughput")
    tests = [
        Test.paired(f"p = 28.6% (5 s up) over p = 9% ({up:g} s up)", level, points.throughput("9%", up), UNIT)
        for up in (1.0, 2.0)
    ]
    for share, ups in (("9%", (2.0, 5.0)), ("28.6%", (2.0, 5.0))):
        low, high = (points.throughput(share, up) for up in ups)
        tests.append(Test.paired(f"p = {share}: 5 s up over 2 s up", high, low, UNIT))
    ratio = float(np.mean(level) / np.mean(points.throughput(*uptime.FIRST)))
    return Claim(
        f"{NAME}.claim.up_time_rules",
        f"with p = 28.6% and 5 s up Reno makes {ratio:.1f} times the throughput of p = 9% and 1 s up; the "
        f"lines cross at {at.value:.2f} s ({at.low:.2f} to {at.high:.2f}): between there and 3 s p = 9% is "
        "already the better one",
        tests,
        effect=f"{ratio:.1f} times the throughput",
        reading="up times of 1 and 2 s stand for “below 3 s”",
    )


def _variants_alike(results: Results) -> Claim:
    random = disconnected.random(results)
    alike = results["traces"]["alike"]
    same = len({each.events() for each in alike.values()}) == 1
    tests, worst = [], 0.0
    for outage in disconnected.outages():
        tahoe = random[outage, "tahoe"].throughput
        margin = ALIKE * float(np.mean(tahoe))
        for variant in VARIANTS[1:]:
            what = f"{LABELS[variant]} less Tahoe, {outage[0]:g} s up, {outage[1]:g} s down"
            test = Test.alike(what, random[outage, variant].throughput, tahoe, margin, UNIT)
            tests.append(test)
            worst = max(worst, abs(test.effect) / float(np.mean(tahoe)))
    return Claim(
        f"{NAME}.claim.variants_alike",
        f"in the run of Figs. 5 to 8 all four are {'the same packet by packet' if same else 'not the same'}; "
        f"over random disconnections their mean throughputs lie within {worst:.1%} of Tahoe's",
        tests,
        effect=f"at most {worst:.1%} apart",
        reading=f"alike: mean throughput within {ALIKE:.0%} of Tahoe's",
    )


def _reno_best(results: Results) -> Claim:
    both = Both.of(results)
    tests = []
    for column, unit in (("throughput_packets_s", UNIT), ("transfer_time_s", "s"), ("delay_s", "s")):
        values = dict(zip(VARIANTS, both.better(column), strict=True))
        name = {"throughput_packets_s": "throughput", "transfer_time_s": "transfer time", "delay_s": "delay"}[
            column
        ]
        for variant in ("tahoe", "newreno", "sack"):
            what = f"{name}: Reno better than {LABELS[variant]}"
            tests.append(Test.paired(what, values["reno"], values[variant], unit))
    rate = dict(zip(VARIANTS, both.better("throughput_packets_s"), strict=True))
    for variant in ("tahoe", "newreno"):
        what = f"throughput: {LABELS[variant]} better than Sack"
        tests.append(Test.paired(what, rate[variant], rate["sack"], UNIT))
    best = both.shares("throughput_packets_s")["Reno best"]
    means = ", ".join(f"{LABELS[v]} {np.mean(rate[v]):.2f}" for v in VARIANTS)
    gap = stats.paired(rate["sack"], rate["reno"])
    return Claim(
        f"{NAME}.claim.reno_best",
        f"mean throughput over {best.n} runs: {means} packets/s; Sack is ahead of Reno by {gap.value:.2f} "
        f"({gap.low:.2f} to {gap.high:.2f}); a single run of each shows Reno best in {best.value:.0%} of "
        "cases, by luck",
        tests,
        effect=f"Reno less Sack {-gap.value:.2f} packets/s",
        reading=READING,
    )


def _proposal_helps(results: Results) -> Claim:
    found = proposal.pairs(results)
    tests = [
        Test.paired(
            f"{LABELS[v]}: fast recovery less slow start",
            found[*proposal.main(), v].with_it,
            found[*proposal.main(), v].without,
            UNIT,
        )
        for v in proposal.TRIED
    ]
    said = ", ".join(f"{LABELS[v]} {found[*proposal.main(), v].relative:+.0%}" for v in proposal.TRIED)
    return Claim(
        f"{NAME}.claim.proposal_helps",
        f"paired runs, {proposal.on_average()}, no bit errors: {said} new packets per second",
        tests,
        effect=said,
        reading="half of what was in flight in place of one packet after a timeout; senders by the RFCs",
    )
