"""Rows that one run has to give all at once, judged at once; and what contradicts a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rexmit.stats import holm
from rexmit_studies import cells, paper
from rexmit_studies.study import Row, Statement, Together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: Fewer runs than this many times the rows do not tell how the rows go together.
RUNS_A_ROW = 3
#: Nor do so few.
FEW = 20


def together(rows: Sequence[Row]) -> list[Together]:
    """Each group of rows that is judged at once: those of it that stand alone. Holm's correction is over all
    groups of the study that are judged.
    """
    names = dict.fromkeys(row.together for row in rows if row.together)
    found = [_judged(name, [row for row in rows if row.together == name]) for name in names]
    # The paper counts as one more run.
    ps = [(group.share * group.n + 1) / (group.n + 1) for group in found if group.share is not None]
    corrected = iter(holm(ps))
    return [
        group
        if group.share is None
        else replace(group, p=next(corrected), least=min(1.0, len(ps) / (group.n + 1)))
        for group in found
    ]


def _judged(name: str, rows: Sequence[Row]) -> Together:
    alone = [row for row in rows if row.reproduced]
    # Some batches have more seeds than others: the first ones are the same.
    n = min((len(row.values) for row in alone), default=0)
    runs = np.array([_as_printed(row, n) for row in alone], dtype=float).reshape(len(alone), n).T
    runs = runs[np.isfinite(runs).all(axis=1)]
    there = np.array([float(row.paper) for row in alone])  # type: ignore[arg-type]
    keys = tuple(row.key for row in alone)
    enough = len(alone) > 1 and len(runs) >= max(FEW, RUNS_A_ROW * len(alone))
    return Together(name, keys, len(runs), share_as_far(runs, there) if enough else None)


def _as_printed(row: Row, n: int) -> Numbers:
    """The first runs with as many digits as the paper prints: what follows from another figure still does
    then.
    """
    return np.round(np.array(row.values[:n], dtype=float), paper.printed(row.key).decimals[0])


def share_as_far(runs: Numbers, there: Numbers) -> float:
    """The share of runs at least as far from the middle of all as the paper's is.

    Far is Mahalanobis' distance between normal scores of ranks, over the runs and the paper's together, so
    that the paper's counts as one more of them (a conformal test): were it such a run, the share would be as
    likely large as small, whatever the figures' distributions and however they hang together.
    """
    from scipy.stats import norm, rankdata

    every = np.vstack([runs, there])
    scores = norm.ppf(rankdata(every, axis=0) / (len(every) + 1))
    scores -= scores.mean(axis=0)
    inverse = np.linalg.pinv(np.atleast_2d(np.cov(scores, rowvar=False)), rcond=1e-9)
    far = np.einsum("ij,jk,ik->i", scores, inverse, scores)
    return float((far[:-1] >= far[-1] * (1 - 1e-12)).mean())


def contradicted(row: Row, groups: Sequence[Together], statements: Sequence[Statement]) -> Row:
    """The row, not reproduced if something that it cannot stand beside says otherwise."""
    if not row.reproduced:
        return row
    for statement in statements:
        if statement.agrees is False and row.key in statement.rows:
            said = paper.statements(row.key.partition(".")[0])[statement.key]
            return row.refused(
                f"{said.figure} of the paper contradicts it: {said.text}; here: {statement.found}"
            )
    for group in groups:
        if group.reproduced is False and row.key in group.keys:
            return row.refused(
                f"alone it lies within the runs, but together with the other {len(group.keys) - 1} figures "
                f"of “{group.name}” it does not: {group.share:.0%} of {group.n} runs are as far from the "
                f"others ({cells.p_value(group.p or 0.0)}, corrected)"
            )
    return row
