"""What the timer costs: idle time, the surviving back-off, the cure, lost ACKs; and the claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import own
from rexmit_studies.paper import figures
from rexmit_studies.rows import tried
from rexmit_studies.rto.measured import Sample, Values, of_papers_stack, others, reread, tests
from rexmit_studies.rto.setting import BOTH, CURED, FILE_BYTES, PAPERS, POOR, SAFE, TIMER_GAP
from rexmit_studies.rto.table2 import survives
from rexmit_studies.study import Claim, Missing, Verdict
from rexmit_studies.verdict import judge

if TYPE_CHECKING:
    from rexmit_studies.study import Results

NO_RUN = "no run with your values has it"
READING = "the channel is asked for each frame, and stands still while nobody sends"
#: Where the paper speaks of poor throughput, Mbps; and what the same transfer makes there without errors.
POOR_MBPS, ERROR_FREE_MBPS = 1.0, 4.893


def claims(results: Results) -> Iterator[Claim | Missing]:
    """The paper's four claims."""
    found: dict[str, Callable[[], Claim]] = {
        "idle_dominates": lambda: _idle_dominates(results),
        "backoff_survives": _backoff_survives,
        "cure": lambda: _cure(results),
        "ack_loss_matters": lambda: _ack_loss(results),
    }
    for key, make in found.items():
        yield tried(f"rto.claim.{key}", make, NO_RUN)


def _idle_dominates(results: Results) -> Claim:
    idle, other, poor, runs = [], [], 0, 0
    least = level_mbps(results, POOR_MBPS)
    for test in POOR:
        sample = tests(results)[test]
        below = sample["throughput_mbps"] < least
        total = timer_idle(sample)
        idle.append(total[below])
        other.append((sample["took_s"] - error_free_s(results) - total)[below])
        poor, runs = poor + int(below.sum()), runs + len(below)
    idle_s, other_s = np.concatenate(idle), np.concatenate(other)
    share = float(np.mean(idle_s / (idle_s + other_s))) if len(idle_s) else np.nan
    ranks = [_ranks_apart(results, test) for test in POOR]
    if not poor:
        evidence = f"none of the {runs} transfers of tests 2 and 4 stayed below {least:g} Mbps"
        return Claim("rto.claim.idle_dominates", evidence, settled="not decided", reading=READING)
    evidence = (
        f"in the {poor} of {runs} transfers of tests 2 and 4 that stayed below {least:g} Mbps, gaps above "
        f"{TIMER_GAP} s are {share:.1%} of the time lost against an error-free channel; the rank correlation "
        f"of throughput with idle time is {_rho(results, 2, 'idle'):.2f} in test 2 and "
        f"{_rho(results, 4, 'idle'):.2f} in test 4, with the loss rate {_rho(results, 2, 'loss'):.2f} and "
        f"{_rho(results, 4, 'loss'):.2f}"
    )
    lost = stats.Test.paired(
        f"idle time less all other lost time, transfers below {least:g} Mbps", idle_s, other_s, "s"
    )
    return Claim("rto.claim.idle_dominates", evidence, (lost, *ranks), reading=READING)


def level_mbps(results: Results, papers: float) -> float:
    """A level of throughput that the paper names; with a rate of the user's the same share of what a transfer
    makes without errors.
    """
    if own.mine("rate") is None:
        return papers
    counted = results["clean"].summary.to_arrow()
    free = 8e-6 * float(counted.column("delivered_bytes")[0].as_py()) / error_free_s(results)
    return float(f"{papers * free / ERROR_FREE_MBPS:.3g}")


def error_free_s(results: Results) -> float:
    """How long the transfer takes without errors, s."""
    counted = results["clean"].summary.to_arrow()
    return float(counted.column("duration_s")[0].as_py())


def _compared(results: Results, test: int, what: str) -> tuple[Values, Values]:
    sample = tests(results)[test]
    by = timer_idle(sample) if what == "idle" else sample["ip_loss_percent"]
    return sample["throughput_mbps"], by


def _rho(results: Results, test: int, what: str) -> float:
    return rank_correlation(*_compared(results, test, what))


def rank_correlation(x: Values, y: Values) -> float:
    """Spearman's."""
    return float(np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1])


def _ranks_apart(results: Results, test: int) -> stats.Test:
    """How much closer throughput follows idle time than the loss rate, by bootstrap over transfers."""
    throughput, idle = _compared(results, test, "idle")
    loss = _compared(results, test, "loss")[1]

    def apart(which: Any) -> float:
        by_idle = rank_correlation(throughput[which], idle[which])
        return abs(by_idle) - abs(rank_correlation(throughput[which], loss[which]))

    n = len(throughput)
    draws = np.random.default_rng(1).integers(0, n, (2000, n))
    found = np.array([apart(draw) for draw in draws])
    low, high = np.quantile(found, [0.025, 0.975])
    # Two-sided, and never below what so many draws can tell.
    p = min(1.0, 2 * (1 + min((found <= 0).sum(), (found >= 0).sum())) / (1 + len(found)))
    what = f"rank correlation of throughput with idle time less that with the loss rate, test {test}"
    return stats.Test(what, apart(np.arange(n)), (float(low), float(high)), float(p), n)


def _backoff_survives() -> Claim:
    remains, waits = survives()
    evidence = (
        "in the scripted exchange of Table II the back-off is "
        + ("still 4" if remains else "no longer 4")
        + " after ACKs 4, 6 and 8, although segment 1, which earned it, was acknowledged; the next loss "
        f"waits {waits:.1f} s"
    )
    verdict: Verdict = "holds" if remains and waits > 50 else "fails"
    return Claim("rto.claim.backoff_survives", evidence, settled=verdict, effect=f"{waits:.1f} s")


def _cured(before: Sample, after: Sample, where: str) -> tuple[stats.Test, stats.Test]:
    """That clearing the back-off raises throughput, and that it removes idle time."""
    more, less = after["throughput_mbps"], before["throughput_mbps"]
    return (
        stats.Test.paired(f"throughput, cured less {PAPERS}, {where}", more, less, "Mbps"),
        stats.Test.paired(f"idle time removed, {where}", timer_idle(before), timer_idle(after), "s"),
    )


def _cure(results: Results) -> Claim:
    found: list[stats.Test] = []
    words = []
    for test in POOR:
        before, after = of_papers_stack(results)[test], others(results)[test, CURED]
        idle, left = timer_idle(before), timer_idle(after)
        found += _cured(before, after, f"test {test}")
        gain = float(np.mean(after["throughput_mbps"]) / np.mean(before["throughput_mbps"]) - 1)
        spared = int(np.sum(idle - left > 10))
        words.append(
            f"in test {test} throughput rises by {gain:.1%}, {_stays(idle, left)} of the idle "
            f"time stays, and {spared} of {len(idle)} transfers are spared more than 10 s"
        )
    alone, cured = survives()[1], survives(CURED)[1]
    shared = "; ".join(
        f"{how}: {verdict}, {gain:+.2f} Mbps in test 2, {other:+.2f} in test 4"
        for how, verdict, gain, other in shared_state(results)
    )
    evidence = (
        f"the idle time of Table II shrinks from {alone:.1f} to {cured:.1f} s; {'; '.join(words)}; with a "
        "state that "
        f"both directions share ({shared}). By the paper's own trace {of_paper()}"
    )
    reading = f"{READING}; those idle times are removed if there is less of them on average"
    return Claim("rto.claim.cure", evidence, found, reading=reading)


def _stays(idle: Values, left: Values) -> str:
    """The share of the idle time that the cure leaves."""
    return f"{np.mean(left) / np.mean(idle):.0%}" if np.mean(idle) > 0 else "nothing"


def shared_state(results: Results) -> list[tuple[str, Verdict, float, float]]:
    """The same tests where a fade hits both directions: how, the verdict, and what test 2 and 4 gain,
    Mbps.
    """
    made = []
    for how in BOTH:
        found = [
            each
            for test in POOR
            for each in _cured(reread(results)[test][how], reread(results, CURED)[test][how], f"test {test}")
        ]
        (judged,) = judge([Claim("rto.claim.cure", how, found)])
        made.append((how, judged.verdict, found[0].effect, found[2].effect))
    return made


def of_paper() -> str:
    """What the surviving back-off cost the paper's transfer of test 2: its longest gap was one."""
    printed: Any = figures("rto")
    longest, total = (float(printed[f"rto.table1.2.{name}_idle_s"]) for name in ("max", "total"))
    megabits = 8e-6 * FILE_BYTES
    took = megabits / float(printed["rto.table1.2.throughput_mbps"])
    return (
        f"{longest:g} of the {total:.1f} s of idle time in test 2 were this defect: without them it would "
        "have run at "
        f"{megabits / (took - longest):.2f} Mbps instead of {megabits / took:.2f}"
    )


def _ack_loss(results: Results) -> Claim:
    found, words = [], []
    for test in POOR:
        before, after = tests(results)[test], others(results)[test, SAFE]
        found.append(
            stats.Test.paired(
                f"throughput, ACKs never lost less as it is, test {test}",
                after["throughput_mbps"],
                before["throughput_mbps"],
                "Mbps",
            )
        )
        words.append(
            f"{np.mean(before['throughput_mbps']):.2f} to {np.mean(after['throughput_mbps']):.2f} Mbps in "
            f"test {test}"
        )
    had = waited_for_acks(results)
    evidence = (
        f"with the ACK frames spared, throughput rises from {' and from '.join(words)}; {had[2]:.0%} (test "
        f"2) and {had[4]:.0%} (test 4) of the time in gaps above 1 s is spent waiting to send data that had "
        "arrived"
    )
    return Claim("rto.claim.ack_loss_matters", evidence, found, reading=READING)


def timer_idle(sample: Sample) -> Values:
    """Idle time of each run in gaps that only a timer makes, s."""
    return sample.idle(TIMER_GAP)[0]


def waited_for_acks(results: Results, longer_s: float = 1.0) -> dict[int, float]:
    """For each poor test, the share of the time in gaps above `longer_s` that ended with data that had
    arrived already: only its ACK was missing.
    """
    if "waited" not in results:
        results["waited"] = {test: _needless_share(results, test - 1, longer_s) for test in POOR}
    found: dict[int, float] = results["waited"]
    return found


def _needless_share(results: Results, variant: int, longer_s: float) -> float:
    import pyarrow.compute as pc

    def rows(name: str, *columns: str) -> Any:
        table = results["tests"].table(name).to_arrow(unit="ns")
        return table.filter(pc.equal(table.column("variant"), variant)).select(["run", *columns])

    gaps = rows("idle", "end", "length_s")
    gaps = gaps.filter(pc.greater(gaps.column("length_s"), longer_s))
    again = rows("retransmissions", "time", "needless")
    ended = gaps.join(again, ["run", "end"], ["run", "time"], join_type="inner")
    needless = pc.fill_null(ended.column("needless"), False).to_numpy(zero_copy_only=False)
    length = ended.column("length_s").to_numpy()
    return float(length[needless].sum() / length.sum()) if len(length) else 0.0


def gain(results: Results, test: int, name: str) -> stats.Estimate:
    """Throughput of a variant less that of the paper's stack, pair by pair, Mbps."""
    after = others(results)[test, name]["throughput_mbps"]
    return stats.paired(after, of_papers_stack(results)[test]["throughput_mbps"])


def counterfactual_mbps(sample: Sample, idle: Values) -> Values:
    """Throughput if the idle time were taken away, Mbps."""
    found: Values = 8e-6 * FILE_BYTES / (sample["took_s"] - idle)
    return found
