#!/usr/bin/env python3
"""How good the estimators of the Hurst parameter are: bias, error and coverage on exact fractional Gaussian
noise, beside what other implementations reached, and on a series that is none.

    python benches/hurst.py                  the tables, as Markdown (about a minute)
    python benches/hurst.py --paths 300      sooner, and rougher
    python benches/hurst.py --calibrate      makes studies/rexmit_studies/selfsim/calibration.json anew
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from rexmit_studies.selfsim import calibration, fgn, hurst_abry_veitch
from rexmit_studies.selfsim import frequency as f
from rexmit_studies.selfsim import time_domain as t
from rexmit_studies.selfsim import wavelets as w
from rexmit_studies.selfsim.estimate import HurstEstimate

HURSTS = (0.6, 0.7, 0.8, 0.9)
LENGTHS = (256, 1024, 4096)
PATHS, COVERED = 2000, 200

#: Name, many series to estimates, one series to one with its interval, and others' bias/RMSE at n = 1024.
ESTIMATORS: tuple[tuple[str, Callable, Callable, tuple[tuple[float, float], ...]], ...] = (
    ("R/S", t.rs_of, t.hurst_rs, ((0.031, 0.052), (0.013, 0.045), (-0.020, 0.048), (-0.067, 0.080))),
    (
        "variance–time", t.variance_time_of, t.hurst_variance_time,
        ((-0.026, 0.065), (-0.031, 0.071), (-0.061, 0.085), (-0.091, 0.109)),
    ),
    (
        "Abry–Veitch, db3, from octave 2", w.abry_veitch_of, partial(hurst_abry_veitch, first=2),
        ((0.007, 0.045), (0.014, 0.052), (0.020, 0.053), (0.023, 0.051)),
    ),
    (
        "Kettani–Gubner, lag 1", t.kettani_gubner_1_of, partial(t.hurst_kettani_gubner, lags=1),
        ((-0.004, 0.023), (-0.005, 0.021), (-0.018, 0.027), (-0.039, 0.043)),
    ),
    (
        "Kettani–Gubner, 50 lags", t.kettani_gubner_of, t.hurst_kettani_gubner,
        ((-0.011, 0.025), (-0.020, 0.036), (-0.049, 0.059), (-0.079, 0.088)),
    ),
    (
        "local Whittle, m = n^.65", f.local_whittle_of, f.hurst_local_whittle,
        ((-0.006, 0.057), (0.005, 0.061), (0.005, 0.059), (0.003, 0.060)),
    ),
    (
        "Whittle, fGn spectrum", f.whittle_of, f.hurst_whittle,
        ((-0.003, 0.022), (0.002, 0.022), (-0.001, 0.022), (0.001, 0.023)),
    ),
)  # fmt: skip
CALIBRATED = {
    "rs": t.rs_of,
    "variance_time": t.variance_time_of,
    "kettani_gubner_1": t.kettani_gubner_1_of,
    "kettani_gubner": t.kettani_gubner_of,
}


def worse(bias: float, rmse: float, theirs: tuple[float, float], paths: int) -> bool:
    """Beyond what chance explains: both figures are means over so many series, and theirs are rounded."""
    spread = max(rmse**2 - bias**2, 0.0) ** 0.5
    return (
        abs(bias) > abs(theirs[0]) + 0.0005 + 3 * spread / paths**0.5
        or rmse > theirs[1] + 0.0005 + 3 * rmse / (2 * paths) ** 0.5
    )


def errors(paths: int) -> list[str]:
    lines = []
    for n in LENGTHS:
        many = min(paths, paths * 1024 // n)
        series = {h: fgn(n, h, [n, round(100 * h)], paths=many) for h in HURSTS}
        lines += [
            "",
            f"Bias / RMSE, n = {n}, {many} series each" + (" (others' in brackets)" if n == 1024 else ""),
        ]
        lines += [
            "",
            "| | " + " | ".join(f"H = {h}" for h in HURSTS) + " |",
            "|---" * (len(HURSTS) + 1) + "|",
        ]
        for name, of, _, theirs in ESTIMATORS:
            cells = []
            for h, others in zip(HURSTS, theirs, strict=True):
                away = of(series[h]) - h
                bias, rmse = float(away.mean()), float(np.sqrt((away**2).mean()))
                cell = f"{bias:+.3f} / {rmse:.3f}"
                if n == 1024:
                    cell += f" ({others[0]:+.3f} / {others[1]:.3f})"
                    cell += " **worse**" if worse(bias, rmse, others, many) else ""
                cells.append(cell)
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def coverage(paths: int) -> list[str]:
    many = min(paths, COVERED)
    lines = ["", f"Share of the 95% intervals that hold the true H, {many} series each"]
    lengths = (256, 1024)
    heads = [f"n = {n}, H = {h}" for n in lengths for h in (0.5, *HURSTS[::2], HURSTS[-1])]
    lines += ["", "| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    rows = []
    for name, _, one, _ in ESTIMATORS:
        cells = []
        for n in lengths:
            for h in (0.5, *HURSTS[::2], HURSTS[-1]):
                found: list[HurstEstimate] = [one(x) for x in fgn(n, h, [7, n, round(100 * h)], paths=many)]
                cells.append(f"{sum(h in e for e in found) / many:.2f}")
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines + rows


def short_range(paths: int) -> list[str]:
    """A first-order autoregression: no long memory at all (H = ½), but much short-range correlation."""
    from scipy.signal import lfilter

    many, n = min(paths, 200), 4096
    noise = np.random.default_rng(5).standard_normal((many, n + 200))
    x = lfilter([1.0], [1.0, -0.5], noise, axis=1)[:, 200:]
    methods = [(name, of) for name, of, _, _ in ESTIMATORS]
    methods.append(("Abry–Veitch, db3, from octave 5", partial(w.abry_veitch_of, first=5)))
    lines = ["", f"Mean estimate of an AR(1) series with φ = .5, whose H is .5; n = {n}, {many} series"]
    lines += ["", "| | mean | spread |", "|---|---|---|"]
    for name, of in methods:
        found = of(x)
        lines.append(f"| {name} | {found.mean():.2f} | {found.std():.2f} |")
    chosen = np.array([hurst_abry_veitch(row).value for row in x])
    lines.append(f"| Abry–Veitch, db3, octave chosen | {chosen.mean():.2f} | {chosen.std():.2f} |")
    return lines


def calibrate(paths: int) -> None:
    table = {
        name: [
            [[round(v, 5) for v in calibration.cell(of, n, h, min(paths, max(200, paths * 1024 // n)))]
             for h in calibration.GRID]
            for n in calibration.LENGTHS
        ]
        for name, of in CALIBRATED.items()
    }  # fmt: skip
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in table.items())
    out = Path(calibration.__file__).with_name("calibration.json")
    out.write_text("{" + rows + "}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=PATHS, help="series for each cell (default 2000)")
    parser.add_argument("--calibrate", action="store_true", help="make the calibration anew instead")
    o = parser.parse_args()
    if o.calibrate:
        calibrate(o.paths)
        return
    print("\n".join(["# Hurst estimators", *errors(o.paths), *coverage(o.paths), *short_range(o.paths)]))


if __name__ == "__main__":
    main()
