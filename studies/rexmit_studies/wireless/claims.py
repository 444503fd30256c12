"""The paper's claims, judged over the runs of all parts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rexmit import stats
from rexmit.stats import Test
from rexmit_studies import own
from rexmit_studies.rows import each_tried
from rexmit_studies.study import Claim, Missing, Results
from rexmit_studies.wireless import disconnected, proposal, uptime, wired
from rexmit_studies.wireless.both import Both
from rexmit_studies.wireless.errors import BAD, READING, Errors, own_ber
from rexmit_studies.wireless.measures import BER, LABELS, NAME, VARIANTS, fastest

UNIT = "packets/s"
#: Throughputs that differ by less than this share of Tahoe's are alike.
ALIKE = 0.05


def claims(results: Results) -> Iterator[Claim | Missing]:
    """All seven."""
    found = {
        "ber": _ber,
        "disconnection_over_ber": _disconnection_over_ber,
        "up_time_rules": _up_time_rules,
        "variants_alike": _variants_alike,
        "reno_best": _reno_best,
        "unlike_wired": _unlike_wired,
        "proposal_helps": _proposal_helps,
    }
    return each_tried(f"{NAME}.claim.", found, results, "no run with your values has it")


def _ber(results: Results) -> Claim:
    errors = Errors(results)
    fast, slow = (errors.of(ber, "throughput_packets_s") for ber in ("1e-6", "1e-5"))
    short, long = (errors.of(ber, "transfer_time_s") for ber in ("1e-6", "1e-5"))
    return Claim(
        f"{NAME}.claim.ber",
        f"at 1e-6 {own.value('stack', 'Tahoe')} makes {np.mean(fast) / np.mean(slow):.2f} times the "
        "throughput of 1e-5 "
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
    errors = Errors(results)
    points = uptime.UpTimes(results)
    ber = own_ber() or BER
    alone = {reading: errors.of(ber, "throughput_packets_s", reading) for reading in BAD}
    gone = {outage: disconnected.single(results, outage).throughput for outage in disconnected.outages()}
    who = own.value("stack", "Tahoe")

    def tests(reading: str) -> list[Test]:
        made = []
        for (up, down), found in gone.items():
            both = min(len(alone[reading]), len(found))
            what = f"{who}: bit errors alone less disconnections alone ({up:g} s up, {down:g} s down)"
            made.append(Test.paired(what, alone[reading][:both], found[:both], UNIT))
        return made

    said = ", ".join(f"{np.mean(found):.1f} ({up:g} s / {down:g} s)" for (up, down), found in gone.items())
    late = float(np.mean(points.throughput("9%", 10.0)))
    one = tests("one packet")
    key, where = (
        f"{NAME}.claim.disconnection_over_ber",
        "disconnections as in Table 2 and in scenarios 1 and 2",
    )
    return Claim(
        key,
        f"with bit errors alone {who} makes {np.mean(alone['one packet']):.1f} packets/s of {fastest():.1f}, "
        f"with disconnections alone {said}; it depends on the up time, though: with 10 s up and 1 s down "
        f"{own.value('stack', 'Reno')} still makes {late:.0f}",
        one,
        effect=f"{abs(one[0].effect):.0f} packets/s {'more' if one[0].effect >= 0 else 'less'} with bit "
        "errors than with Table 2's disconnections",
        reading=f"{READING}, which give Table 1; {where}",
        beside=Claim(
            key,
            f"with the error model as printed {who} makes {np.mean(alone['as printed']):.1f} packets/s",
            tests("as printed"),
            reading="bad periods of 8 packets and of 3, as printed, which do not give Table 1",
        ),
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
        f"with p = 28.6% and 5 s up {own.value('stack', 'Reno')} makes {ratio:.1f} times the throughput "
        f"of p = 9% and 1 s up; {uptime.crossing_said(at, 'lines')}"
        + (": between there and 3 s p = 9% is already the better one" if at.value < 3 else ""),
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
        f"mean throughput over {best.n} runs: {means} packets/s; Sack less Reno is {gap.value:+.2f} "
        f"({gap.low:+.2f} to {gap.high:+.2f}); of single runs of each {best.value:.0%} show Reno best",
        tests,
        effect=f"Reno less Sack {-gap.value:.2f} packets/s",
        reading=READING,
    )


def _unlike_wired(results: Results) -> Claim:
    costs, both = wired.costs(results), Both.of(results)
    several = [n for n in wired.DROPS if n > 1]
    rate = dict(zip(VARIANTS, both.better("throughput_packets_s"), strict=True))
    tests = [
        Test.paired(
            f"on a wire, {n} packets of a window dropped: what they cost Reno less what they cost Sack",
            costs["reno", n],
            costs["sack", n],
            "s",
        )
        for n in several
    ]
    here = Test.paired("here (Table 2): throughput, Reno less Sack", rate["reno"], rate["sack"], UNIT)
    said = ", ".join(
        f"{np.mean(costs['reno', n]):.1f} and {np.mean(costs['sack', n]):.1f} s" for n in several
    )
    return Claim(
        f"{NAME}.claim.unlike_wired",
        f"on a wire {wired.listed(several)} packets of a window dropped cost Reno and Sack {said}; here Reno "
        f"carries {here.effect:+.2f} packets/s beside Sack",
        [*tests, here],
        effect=f"Reno less Sack here {here.effect:+.2f} packets/s",
        reading="the study's path without errors and disconnections, packets of one window dropped; "
        f"{READING}",
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
