"""Fits the weights by which another candidate for a retransmission's cause is told.

    .venv/bin/python validation/fit_likelihoods.py [--check]

Writes `crates/analysis/src/stream/repair/likelihoods.rs`. Random simulated transfers of every family tell
what stood around each retransmission where the data arrives, and why it was truly sent again (the example
`observed` of the crate `rexmit-results`). Multinomial logistic regression with a quadratic penalty gives
each step of each observation a weight for each cause; then the margin is chosen below which at most four in
a hundred retransmissions of any family between all stacks have another candidate. Fitted on seeds 10,000 to
11,199 (today's stacks alone: 10,000 to 10,299). `--check` fits nothing and tells, for seeds 20,000 to
20,599 (20,000 to 20,199), how many of those without another candidate are right. No score of
`validation/causes.py` is taken from any of these.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

ROOT = Path(__file__).resolve().parent.parent
WEIGHTS = ROOT / "crates/analysis/src/stream/repair/likelihoods.rs"
FITTED = (("10000", "11200"), ("10000", "10300", "today"))
CHECKED = (("20000", "20600"), ("20000", "20200", "today"))
PENALTY = 3.0
MOST_IN_DOUBT = 0.04
TODAY = " of today"
NEW = "unknown"  # a cause's name where the truth is: new data


@dataclass
class Seen:
    """Retransmissions by the truth or by the analysis, and which step of which table held at each."""

    tables: list[str]
    causes: list[str]
    family: list[str]
    judged: list[str]
    truth: list[str]
    steps: list[list[tuple[int, int]]]


def told(words: Iterable[str]) -> list[str]:
    example = [
        "cargo",
        "run",
        "--quiet",
        "--profile",
        "local",
        "-p",
        "rexmit-results",
        "--example",
        "observed",
        "--",
    ]
    done = subprocess.run([*example, *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def seen(runs: Iterable[Iterable[str]]) -> Seen:
    all_seen: Seen | None = None
    for words in runs:
        lines = told(words)
        if all_seen is None:
            all_seen = Seen(lines[0].split(",")[3:], lines[1].split(",")[1:], [], [], [], [])
        for line in lines[2:]:
            family, judged, truth, *steps = line.split(",")
            all_seen.family.append(family + (TODAY if "today" in words else ""))
            all_seen.judged.append(judged)
            all_seen.truth.append(NEW if truth == "new" else truth)
            all_seen.steps.append([(t, int(s)) for t, s in enumerate(steps) if s])
    if all_seen is None:
        raise ValueError("no run to learn from")
    return all_seen


def sums(s: Seen, weights: NDArray[np.float64], counts: list[int]) -> NDArray[np.float64]:
    """What all observations weigh together, for each retransmission and cause."""
    first = np.concatenate([[0], np.cumsum(counts)])
    out = np.zeros((len(s.steps), len(s.causes)))
    for at, steps in enumerate(s.steps):
        for table, step in steps:
            out[at] += weights[first[table] + step]
    return out


def fit(s: Seen, counts: list[int]) -> NDArray[np.float64]:
    first = np.concatenate([[0], np.cumsum(counts)])
    use = [
        i
        for i in range(len(s.steps))
        if s.judged[i] in s.causes[:3] and s.truth[i] in s.causes and s.steps[i]
    ]
    truth = np.array([s.causes.index(s.truth[i]) for i in use])
    tables = [(np.full(len(use), -1)) for _ in counts]
    for row, i in enumerate(use):
        for table, step in s.steps[i]:
            tables[table][row] = first[table] + step
    n, k, rows = int(first[-1]), len(s.causes), np.arange(len(use))

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        w = np.vstack([flat.reshape(n, k), np.zeros((1, k))])
        e = sum(w[t] for t in tables)
        e = e - e.max(axis=1, keepdims=True)
        p = np.exp(e)
        p /= p.sum(axis=1, keepdims=True)
        value = -np.log(p[rows, truth] + 1e-300).sum() + PENALTY / 2 * float((flat**2).sum())
        p[rows, truth] -= 1
        gradient = np.zeros((n + 1, k))
        for t in tables:
            for cause in range(k):
                gradient[:, cause] += np.bincount(np.where(t < 0, n, t), weights=p[:, cause], minlength=n + 1)
        return value, gradient[:n].ravel() + PENALTY * flat

    best = minimize(loss, np.zeros(n * k), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(best.x).reshape(n, k)


def leads(s: Seen, weights: NDArray[np.float64], counts: list[int]) -> NDArray[np.float64]:
    """By how much what was judged outweighs the best of the others; infinite where it is not weighed."""
    all_sums = sums(s, weights, counts)
    out = np.full(len(s.steps), np.inf)
    for i, judged in enumerate(s.judged):
        if judged in s.causes[:3] and s.steps[i]:
            at = s.causes.index(judged)
            out[i] = all_sums[i, at] - np.delete(all_sums[i], at).max()
    return out


def margin(s: Seen, lead: NDArray[np.float64]) -> float:
    family = np.array(s.family)
    least = []
    for name in sorted(f for f in set(s.family) if not f.endswith(TODAY)):
        sorted_leads = np.sort(lead[family == name])
        least.append(sorted_leads[int(len(sorted_leads) * MOST_IN_DOUBT)])
    return float(min(least))


def written(s: Seen, weights: NDArray[np.float64], counts: list[int], least: float) -> str:
    first = np.concatenate([[0], np.cumsum(counts)])
    lines = [
        "//! Fitted by `validation/fit_likelihoods.py`, which writes this file: change nothing by hand.",
        "//! Log-odds by step of each observation for "
        f"{', '.join(s.causes[:3])} and new data, in this order.",
        "",
        "use super::evidence::Table;",
        "",
        "/// Two causes whose weights are closer than this are both possible.",
        f"pub(super) const MARGIN: f32 = {least:.3};",
        "",
        f"pub(super) const TABLES: [Table; {len(counts)}] = [",
    ]
    for table, name in enumerate(s.tables):
        rows = ", ".join(
            "[" + ", ".join(f"{w:.3f}".replace("-0.000", "0.000") for w in weights[first[table] + step]) + "]"
            for step in range(counts[table])
        )
        lines += [f"    // {name}", f"    &[{rows}],"]
    return "\n".join([*lines, "];", ""])


def report(s: Seen, lead: NDArray[np.float64], least: float) -> None:
    family, right = np.array(s.family), np.array([j == t for j, t in zip(s.judged, s.truth, strict=True)])
    for name in dict.fromkeys(s.family):
        here, sure = family == name, lead >= least
        doubted = here & ~sure
        print(
            f"{name:20} {right[here].mean():8.2%} right of {here.sum():6}, "
            f"{right[here & sure].mean():8.2%} of those without another candidate; "
            f"{doubted.sum() / here.sum():6.2%} have one, "
            f"{(doubted & ~right).sum()} of {(here & ~right).sum()} errors among them"
        )


def read() -> tuple[NDArray[np.float64], list[int], float]:
    """The weights as they stand."""
    counts, rows, least = [], [], 0.0
    for line in WEIGHTS.read_text().splitlines():
        if "const MARGIN" in line:
            least = float(line.split("=")[1].strip(" ;"))
    inside = WEIGHTS.read_text().split("= [", 1)[1]
    for part in inside.split("&[")[1:]:
        entries = [e.split("]")[0] for e in part.split("[")[1:]]
        counts.append(len(entries))
        rows += [[float(w) for w in e.split(",") if w.strip()] for e in entries]
    return np.array(rows), counts, least


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="fit nothing, and score the weights on other seeds"
    )
    if parser.parse_args().check:
        weights, counts, least = read()
        s = seen(CHECKED)
        report(s, leads(s, weights, counts), least)
        return
    s = seen(FITTED)
    counts = [
        1 + max((step for steps in s.steps for t, step in steps if t == table), default=0)
        for table in range(len(s.tables))
    ]
    weights = fit(s, counts)
    lead = leads(s, weights, counts)
    least = margin(s, lead)
    WEIGHTS.write_text(written(s, weights, counts, least))
    subprocess.run(["rustfmt", str(WEIGHTS)], check=True)
    report(s, lead, least)


if __name__ == "__main__":
    main()
