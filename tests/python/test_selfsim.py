"""Estimators of the Hurst parameter: on exact noise, on a series that is none, and where they must refuse."""

from __future__ import annotations

import numpy as np
import pytest

from rexmit_studies import selfsim
from rexmit_studies.selfsim import calibration, frequency, time_domain, wavelets

HURSTS = (0.6, 0.7, 0.8, 0.9)
#: Of each estimator: bias and RMSE on exact noise, n = 1024, that others reached, for each of HURSTS.
OTHERS = {
    "R/S": (time_domain.rs_of, (0.031, 0.013, 0.020, 0.067), (0.052, 0.045, 0.048, 0.080)),
    "v–t": (time_domain.variance_time_of, (0.026, 0.031, 0.061, 0.091), (0.065, 0.071, 0.085, 0.109)),
    "Abry–Veitch": (wavelets.abry_veitch_of, (0.007, 0.014, 0.020, 0.023), (0.045, 0.052, 0.053, 0.051)),
    "lag 1": (time_domain.kettani_gubner_1_of, (0.004, 0.005, 0.018, 0.039), (0.023, 0.021, 0.027, 0.043)),
    "50 lags": (time_domain.kettani_gubner_of, (0.011, 0.020, 0.049, 0.079), (0.025, 0.036, 0.059, 0.088)),
    "local Whittle": (frequency.local_whittle_of, (0.006, 0.005, 0.005, 0.003), (0.057, 0.061, 0.059, 0.060)),
    "Whittle": (frequency.whittle_of, (0.003, 0.002, 0.001, 0.001), (0.022, 0.022, 0.022, 0.023)),
}  # fmt: skip
ESTIMATORS = {
    "R/S": selfsim.hurst_rs,
    "variance–time": selfsim.hurst_variance_time,
    "Abry–Veitch": lambda x: selfsim.hurst_abry_veitch(x, first=2),
    "Kettani–Gubner": selfsim.hurst_kettani_gubner,
    "lag 1": lambda x: selfsim.hurst_kettani_gubner(x, lags=1),
    "local Whittle": selfsim.hurst_local_whittle,
    "Whittle": selfsim.hurst_whittle,
}


@pytest.fixture(scope="module")
def noise() -> dict[float, np.ndarray]:
    return {h: selfsim.fgn(1024, h, 11, paths=400) for h in (0.5, *HURSTS)}


def autoregression(n: int, paths: int) -> np.ndarray:
    from scipy.signal import lfilter

    draws = np.random.default_rng(5).standard_normal((paths, n + 200))
    return lfilter([1.0], [1.0, -0.5], draws, axis=1)[:, 200:]


# Exact noise


@pytest.mark.parametrize("hurst", [0.3, 0.5, 0.8, 0.95])
def test_noise_has_the_covariances_of_its_definition(hurst: float) -> None:
    paths, n = 4000, 64
    x = selfsim.fgn(n, hurst, 3, paths=paths)
    for lag in (0, 1, 2, 10, 40):
        products = (x[:, : n - lag] * x[:, lag:]).mean(axis=1)
        error = products.std(ddof=1) / np.sqrt(paths)
        assert abs(products.mean() - selfsim.correlation(hurst, lag)) < 4 * error


def test_noise_sums_to_fractional_brownian_motion() -> None:
    x = selfsim.fgn(256, 0.8, 4, paths=4000)
    squares = x.sum(axis=1) ** 2
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    assert abs(squares.mean() - 256**1.6) < 4 * error


def test_the_same_seed_gives_the_same_noise_and_one_series_is_one_row() -> None:
    assert np.array_equal(selfsim.fgn(100, 0.7, 9), selfsim.fgn(100, 0.7, 9, paths=1)[0])
    assert not np.array_equal(selfsim.fgn(100, 0.7, 9), selfsim.fgn(100, 0.7, 10))


@pytest.mark.parametrize("hurst", [0.0, 1.0, -0.2])
def test_noise_of_no_hurst_parameter_is_refused(hurst: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        selfsim.fgn(10, hurst)


@pytest.mark.parametrize("hurst", [0.55, 0.8, 0.95])
def test_the_spectrum_is_the_transform_of_the_correlation(hurst: float) -> None:
    """ρ(k) = ∫ f cos kλ from −π to π: on midpoints, dense at 0 where the spectrum has its pole."""
    edge = np.linspace(0, 1, 200_001) ** 12 * np.pi
    middle, width = (edge[1:] + edge[:-1]) / 2, np.diff(edge)
    f = np.exp(selfsim.log_spectrum(hurst, middle))
    for lag in (0, 1, 5):
        found = 2 * (f * np.cos(lag * middle) * width).sum()
        assert found == pytest.approx(float(selfsim.correlation(hurst, lag)), abs=3e-3)


# Estimators


@pytest.mark.parametrize("name", OTHERS)
def test_on_exact_noise_no_estimator_is_worse_than_others_of_its_kind(
    name: str, noise: dict[float, np.ndarray]
) -> None:
    of, biases, errors = OTHERS[name]
    for hurst, bias, error in zip(HURSTS, biases, errors, strict=True):
        away = of(noise[hurst]) - hurst
        n, rmse = len(away), float(np.sqrt(np.mean(away**2)))
        # Three standard errors of this test's own means, and the rounding of the others' digits.
        assert abs(away.mean()) <= bias + 0.0005 + 3 * away.std() / np.sqrt(n), (name, hurst)
        assert rmse <= error + 0.0005 + 3 * rmse / np.sqrt(2 * n), (name, hurst)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("hurst", [0.5, 0.7, 0.9])
def test_intervals_hold_the_truth_as_often_as_they_say(
    name: str, hurst: float, noise: dict[float, np.ndarray]
) -> None:
    of = ESTIMATORS[name]
    hits = sum(hurst in of(x) for x in noise[hurst][:100])
    # 95 of 100, less four standard errors (2.2 each), and asymptotic intervals are a little short.
    assert hits >= 84


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimate_stands_inside_its_interval_and_changes_with_neither_unit_nor_level(name: str) -> None:
    x = selfsim.fgn(2048, 0.75, 21)
    one, other = ESTIMATORS[name](x), ESTIMATORS[name](1000 * x + 5000)
    assert one.low <= one.value <= one.high
    assert other.value == pytest.approx(one.value, abs=1e-6)
    assert one.n == 2048


def test_longer_series_give_shorter_intervals() -> None:
    for name, of in ESTIMATORS.items():
        short, long = (of(selfsim.fgn(n, 0.8, 8)) for n in (512, 8192))
        assert long.high - long.low < short.high - short.low, name


def test_short_range_correlation_misleads_those_that_believe_in_noise_and_not_the_others() -> None:
    x = autoregression(4096, 40)
    means = {
        "lag 1": time_domain.kettani_gubner_1_of(x).mean(),
        "whittle": frequency.whittle_of(x).mean(),
        "local": frequency.local_whittle_of(x).mean(),
        "octave 5": wavelets.abry_veitch_of(x, 5).mean(),
    }
    # What is known of these four (n = 4096): .79, .85, .51, .51, and errors of means over 40 series.
    assert means["lag 1"] == pytest.approx(0.79, abs=0.02)
    assert means["whittle"] > 0.75
    assert means["local"] == pytest.approx(0.51, abs=0.03)
    assert means["octave 5"] == pytest.approx(0.51, abs=0.06)


def test_the_octave_is_chosen_behind_short_range_structure() -> None:
    for x in autoregression(8192, 5):
        found = selfsim.hurst_abry_veitch(x)
        assert int(found.note.split()[1]) >= 3
        assert abs(found.value - 0.5) < 0.2
    assert selfsim.hurst_abry_veitch(selfsim.fgn(8192, 0.8, 2)).note.startswith("octaves 2 ")


def test_a_trend_does_not_move_the_wavelets() -> None:
    x = selfsim.fgn(4096, 0.6, 5)
    trend = 5 * np.linspace(-1, 1, 4096) ** 2
    one, other = (selfsim.hurst_abry_veitch(s, first=2).value for s in (x, x + trend))
    assert abs(one - other) < 0.01
    assert selfsim.hurst_local_whittle(x + trend).value > selfsim.hurst_local_whittle(x).value + 0.1


def test_the_cure_takes_the_bias_that_removing_the_mean_brings() -> None:
    x = selfsim.fgn(1024, 0.9, 13, paths=400)
    raw, cured = (time_domain.kettani_gubner_1_of(x, cure=c).mean() - 0.9 for c in (False, True))
    assert raw == pytest.approx(-0.039, abs=0.005)
    assert abs(cured) < 0.006


@pytest.mark.parametrize("name", ["rs", "variance_time", "kettani_gubner_1", "kettani_gubner"])
def test_the_calibration_is_what_simulating_it_gives(name: str) -> None:
    """One cell of the table anew, with fewer series."""
    of = {
        "rs": time_domain.rs_of,
        "variance_time": time_domain.variance_time_of,
        "kettani_gubner_1": time_domain.kettani_gubner_1_of,
        "kettani_gubner": time_domain.kettani_gubner_of,
    }[name]
    n, h = calibration.LENGTHS.index(512), calibration.GRID.index(0.8)
    mean, spread = calibration.table()[name][n][h]
    ours, own_spread = calibration.cell(of, 512, 0.8, 200)
    assert abs(ours - mean) < 4 * spread / np.sqrt(200)
    assert own_spread == pytest.approx(spread, rel=0.25)


def test_other_choices_than_the_tables_are_calibrated_when_asked_for() -> None:
    found = selfsim.hurst_kettani_gubner(selfsim.fgn(512, 0.7, 3), lags=5, cure=False)
    assert found.low < 0.7 < found.high
    assert found.method == "Kettani–Gubner, 5 lags"


@pytest.mark.parametrize(
    ("series", "why"),
    [
        (np.ones(500), "constant"),
        (np.arange(100.0), "too short"),
        (np.full((2, 500), 1.0), "one dimension"),
        (np.append(np.arange(500.0), np.nan), "no numbers"),
    ],
)
@pytest.mark.parametrize("of", [*ESTIMATORS.values(), selfsim.hurst])
def test_what_has_no_hurst_parameter_is_refused(of, series: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        of(series)


# Five at once


def test_five_estimators_agree_on_noise_and_say_nothing() -> None:
    found = selfsim.hurst(selfsim.fgn(4096, 0.8, 1))
    assert len(found.estimates) == 5
    assert len({e.method for e in found.estimates}) == 5
    assert found.agree
    assert found.warnings == ()


def test_where_they_disagree_it_is_said_and_who_is_to_be_trusted() -> None:
    found = selfsim.hurst(autoregression(4096, 1)[0])
    assert not found.agree
    assert any("disagree" in w and "local Whittle" in w for w in found.warnings)


def test_a_level_that_moves_is_told() -> None:
    x = np.random.default_rng(1).poisson(10, 4096).astype(float)
    assert not any("stationary" in w for w in selfsim.hurst(x).warnings)
    x[3000:] += 5
    assert any("not stationary" in w for w in selfsim.hurst(x).warnings)


def test_long_memory_alone_is_seldom_taken_for_a_level_that_moves() -> None:
    told = [
        any("quarter" in w for w in selfsim.hurst(x).warnings) for x in selfsim.fgn(1024, 0.85, 6, paths=60)
    ]
    assert sum(told) <= 6


def test_few_bins_and_empty_bins_are_told() -> None:
    x = np.random.default_rng(2).poisson(0.1, 300).astype(float)
    said = " ".join(selfsim.hurst(x).warnings)
    assert "300 bins are few" in said
    assert "empty" in said
