"""The Hurst parameters: of the background, of the micro-flow, and of the micro-flow with nobody beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import own, rows
from rexmit_studies.selfsim import frequency, time_domain, wavelets
from rexmit_studies.selfsimilar import drawings, runs
from rexmit_studies.selfsimilar.runs import NAME, VARIANTS, Numbers
from rexmit_studies.study import Drawing, Part, Results, Row

if TYPE_CHECKING:
    from rexmit.running.many_runs import Runs

PAPERS = "Kettani–Gubner, as the paper"
#: The batch of runs beside sources that are not self-similar.
CONTROL = "exponential sources"


def papers_way(x: Numbers) -> Numbers:
    """Kettani and Gubner's optimisation over 50 lags, the removed mean not allowed for."""
    return time_domain.kettani_gubner_of(x, 50, cure=False)


METHODS: dict[str, Callable[[Numbers], Numbers]] = {
    PAPERS: papers_way,
    "Kettani–Gubner, cured": time_domain.kettani_gubner_of,
    "R/S": time_domain.rs_of,
    "variance–time": time_domain.variance_time_of,
    "Abry–Veitch, octaves 3 on": lambda x: wavelets.abry_veitch_of(x, 3),
    "local Whittle": frequency.local_whittle_of,
}


def of_flow(results: Results, method: str = PAPERS, batch: str = "runs") -> Numbers:
    """Of the bytes that came to the receiver per bin, the whole run: shape (variants, seeds)."""
    return _of_flow(results[batch], method)


@lru_cache(maxsize=32)
def _of_flow(batch: Runs, method: str) -> Numbers:
    x = runs._series(batch, "arrived_bytes", "micro", "forward")
    return METHODS[method](x.reshape(-1, x.shape[-1])).reshape(x.shape[:2])


def of_background(results: Results, method: str = PAPERS) -> Numbers:
    """Of the background's bytes sent per bin: by seed, since it is the same beside every variant."""
    return METHODS[method](runs.series(results, "sent_bytes", "background")[0])


def table(results: Results) -> Iterator[Row]:
    found = of_flow(results)
    definition = (
        "bytes that came to the receiver per 100 ms, whole run: Kettani and Gubner's optimisation over 50 "
        "lags, mean removed; of the lengths of bins below the one that comes nearest to the paper's four "
        "figures"
    )
    for k, variant in enumerate(VARIANTS):
        yield rows.fitted(
            rows.sampled(
                f"{NAME}.table2.{variant}.hurst",
                found[k],
                definition,
                why="it hangs on a few stalls and on the length of the bins, which the paper does not say",
            )
        )
    shape = own.value("shape", runs.SHAPE)
    yield rows.sampled(
        f"{NAME}.setup.hurst_background",
        of_background(results),
        f"of the background's bytes sent per 100 ms, by the same method; {(3 - shape) / 2:.3g} is what shape "
        f"{shape:g} gives in the limit, (3 − shape) / 2",
        why="the paper aims at 0.8 with the shape that gives 0.9, and does not say what it measured",
    )


def tables(results: Results) -> dict[str, Any]:
    cells: dict[str, list[str]] = {"estimator": list(METHODS)}
    cells["background"] = [_cell(of_background(results, m)) for m in METHODS]
    for k, name in enumerate(runs.labels().values()):
        cells[name] = [_cell(of_flow(results, m)[k]) for m in METHODS]
    alone: dict[str, list[str]] = {"estimator": list(METHODS)}
    control: dict[str, list[str]] = {"estimator": list(METHODS)}
    for k, name in enumerate(runs.labels().values()):
        alone[name] = [f"{of_flow(results, m, 'alone')[k, 0]:.2f}" for m in METHODS]
        control[name] = [_cell(of_flow(results, m, CONTROL)[k]) for m in METHODS]
    return {
        "H by estimator, mean and where 95% of runs lie": cells,
        "H of the same flow with nobody beside it": alone,
        "H of the same flow beside exponential sources": control,
        "H by length of the bins, as the paper estimates it": by_bins(results),
    }


def by_bins(results: Results) -> dict[str, list[str]]:
    widths = (0.1, 0.2, 0.5, 1.0)
    found: dict[str, list[str]] = {"bins": [f"{w * 1e3:g} ms" for w in widths]}
    x, alone = (runs.series(results, "arrived_bytes", batch=b) for b in ("runs", "alone"))
    for k, name in enumerate(runs.labels().values()):
        found[name] = [_cell(papers_way(runs.longer(x[k], w))) for w in widths]
        found[f"{name} alone"] = [f"{papers_way(runs.longer(alone[k], w))[0]:.2f}" for w in widths]
    return found


def _cell(values: Numbers) -> str:
    low, high = stats.central(values)
    return f"{np.mean(values):.2f} ({low:.2f} to {high:.2f})"


def draws(results: Results) -> Iterator[Drawing]:
    x, alone = (runs.series(results, "arrived_bytes", batch=b) for b in ("runs", "alone"))
    background = runs.series(results, "sent_bytes", "background")
    yield Drawing(
        "arrivals",
        "What H is computed from: bytes per 100 ms of the background, of each flow beside it (seed 1), and "
        "of NewReno with nobody beside it.",
        lambda: drawings.arrivals(background[0, 0], x[:, 0], alone[1, 0]),
    )
    yield Drawing(
        "hurst",
        "H by estimator: each dot a run (what lies beyond is drawn at the edge), crosses the flow alone, "
        "lines the paper's figures.",
        lambda: drawings.hurst(
            {
                m: (of_background(results, m), of_flow(results, m), of_flow(results, m, "alone"))
                for m in METHODS
            }
        ),
    )


def summary(results: Results) -> str:
    found, alone = of_flow(results), of_flow(results, batch="alone")
    low, high = found.mean(axis=1).min(), found.mean(axis=1).max()
    return f"""\
- The paper's Hurst parameters come out ({low:.2f} to {high:.2f} on average), but they do not mean what the
  paper takes them to mean: **the same flow with nobody beside it has {alone.min():.2f} to
  {alone.max():.2f}.** The estimator sees
  a flow that catches up with its source, in some seconds or (Tahoe) over and over. Local Whittle
  says so: its estimates lie beyond 1, where a series is not stationary."""


TEXT = """\
The paper finds about 0.85 for the flow, near that of its background, and concludes that TCP takes over the
self-similarity of what it shares a link with. There is a control that it did not run: the same flow alone. A
flow that has fallen behind at its beginning, when its first window met a queue of ten packets, catches up for
some ten seconds and is from then on as regular as its source. Tahoe does it over and over, in saw teeth.
The paper's method believes that a series is fractional Gaussian noise, and reads such steps as long memory,
with a background or without. A second control has as many sources of the same mean, whose ON and OFF times
are
exponential, so that their sum is not self-similar: the claim is judged by the paper's own method, and
beside it
against this control.

The paper does not say how long its bins are. Of 100 ms to 1 s (the last table) 100 ms comes nearest to its
figures. An estimate by local Whittle of 1.2 is the end of what it searches: above 1, no more."""

PART = Part("Hurst parameters", rows=table, drawings=draws, tables=tables, text=TEXT)
