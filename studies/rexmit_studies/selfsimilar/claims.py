"""The paper's claims, judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rexmit import stats
from rexmit.stats import Test
from rexmit_studies.rows import each_tried
from rexmit_studies.selfsimilar import hurst, load, radio, runs, table2
from rexmit_studies.selfsimilar.runs import VARIANTS, Numbers
from rexmit_studies.study import Claim, Missing, Results

AT = {variant: k for k, variant in enumerate(VARIANTS)}
#: Until when Vegas should be ahead, s: the paper has it fall back from 50 s on.
EARLY_S = 50


def claims(results: Results) -> Iterator[Claim | Missing]:
    found = {
        "newreno_best": _newreno,
        "tcp_becomes_selfsimilar": _selfsimilar,
        "vegas_lowest": _vegas,
        "load": load.claim,
        "wireless_hop": radio.claim,
    }
    return each_tried(f"{runs.NAME}.claim.", found, results, "no run with your values has it")


def of_table2(results: Results) -> Iterator[Claim]:
    """Those that the paper makes of Table 2."""
    yield _newreno(results)
    yield _selfsimilar(results)
    yield _vegas(results)


def _newreno(results: Results) -> Claim:
    thr, efficiency = table2.throughput(results), table2.counts(results)["efficiency"]
    ours = AT["newreno"]
    tests = []
    me = runs.labels()["newreno"]
    for other, name in VARIANTS.items():
        if other == "newreno":
            continue
        k = AT[other]
        tests.append(runs.less(f"throughput, {me} less {name}", thr[ours], thr[k]))
        more = 100 * (efficiency[ours] - efficiency[k])
        tests.append(Test.mean(f"efficiency, {me} less {name}", more, unit="percent"))
    tahoe, sack = (stats.paired(thr[ours], thr[AT[v]]) for v in ("tahoe", "sack"))
    median = {v: f"{np.median(efficiency[k]):.4f}" for v, k in AT.items()}
    return Claim(
        "selfsimilar.claim.newreno_best",
        f"{me} carries {tahoe.value:+.2f} Mbps beside Tahoe and {_kbps(sack.value)} kbps "
        f"({_kbps(sack.low)} to {_kbps(sack.high)}) beside SACK; its median efficiency is "
        f"{median['newreno']}, SACK's {median['sack']}, Vegas's {median['vegas']}",
        tests=tests,
        reading=runs.reading(),
    )


def _kbps(mbps: float) -> str:
    """`+2`, `-25`, `0`."""
    return f"{1e3 * mbps:+.0f}" if round(1e3 * mbps) else "0"


def _selfsimilar(results: Results) -> Claim:
    beside, alone = hurst.of_flow(results), hurst.of_flow(results, batch="alone")[:, :1]
    whittle = hurst.of_flow(results, "local Whittle")
    key = f"{runs.NAME}.claim.tcp_becomes_selfsimilar"
    return Claim(
        key,
        f"By the paper's estimator the flow has {beside.mean():.2f} beside the background",
        tests=[Test.mean("H by the paper's estimator", beside.mean(axis=0), above=0.5)],
        reading=f"{runs.reading(False)}; bins of 100 ms; the paper's own test, H of what arrives above 0.5",
        beside=_by_control(results, key, beside, float(alone.mean()), float((whittle > 1).mean())),
    )


#: The least H by which neighbours that are self-similar have to differ from others.
LEAST_H = 0.05


def _by_control(results: Results, key: str, beside: Numbers, alone: float, beyond: float) -> Claim | None:
    """The same against a control: neighbours of the same mean rate that are not self-similar."""
    if hurst.CONTROL not in results:
        return None
    other = hurst.of_flow(results, batch=hurst.CONTROL)
    n = other.shape[1]
    pareto, exponential = beside.mean(axis=0)[:n], other.mean(axis=0)
    more = pareto - exponential
    # A conclusion is drawn where the difference is none that counts.
    cause = "" if more.mean() >= LEAST_H else ": its beginning makes H, not its neighbours"
    return Claim(
        key,
        f"beside sources with exponential ON and OFF times the flow has {other.mean():.2f}, and "
        f"{alone:.2f} with nobody beside it{cause}; local Whittle puts {beyond:.0%} of the runs above 1, "
        "where a series is not stationary",
        tests=[
            Test.mean(
                f"H beside Pareto less H beside exponential sources, less {LEAST_H}",
                more - LEAST_H,
            )
        ],
        reading=f"“sustains” means that its neighbours' tails raise the flow's H, by {LEAST_H} at least",
    )


def _vegas(results: Results) -> Claim:
    thr = table2.throughput(results)
    early = runs.series(results, "arrived_bytes")[..., : round(EARLY_S / runs.BIN_S)].sum(axis=2)
    early = early * runs.payload_share(results) * 8 / EARLY_S / 1e6
    vegas = AT["vegas"]
    tests = [
        runs.less(f"throughput, {name} less Vegas", thr[AT[v]], thr[vegas])
        for v, name in runs.labels().items()
        if v != "vegas"
    ]
    others = early[[k for v, k in AT.items() if v != "vegas"]].max(axis=0)
    tests.append(runs.less("in the first 50 s, Vegas less the best of the others", early[vegas], others))
    last = (np.argmin(thr, axis=0) == vegas).mean()
    less = stats.paired(thr[vegas], thr[AT["tahoe"]]).value
    return Claim(
        "selfsimilar.claim.vegas_lowest",
        f"Vegas has the lowest throughput of the four in {last:.0%} of the runs; Tahoe's is "
        f"{abs(less):.2f} Mbps {'lower' if less >= 0 else 'higher'} on average",
        tests=tests,
        reading=runs.reading(),
    )
