"""Tables 1 and 2 beside ns-2.35 itself, set up as of 1998 (validation/ns2_wireless.tcl)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rexmit import stats
from rexmit_studies import own
from rexmit_studies.study import Part, Results
from rexmit_studies.wireless.both import SHORT, Both
from rexmit_studies.wireless.errors import Errors
from rexmit_studies.wireless.measures import LABELS
from rexmit_studies.wireless.uptime import SECOND, UpTimes

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: ns-2.35's mean, half of its 95% interval and number of runs: bad periods of 0.08 and 0.03 packets.
TABLE1 = {
    ("1e-5", "throughput_packets_s"): (38.836, 0.365, 200),
    ("1e-5", "goodput"): (0.9872, 0.0002, 200),
    ("1e-5", "transfer_time_s"): (129.07, 1.61, 200),
    ("1e-6", "throughput_packets_s"): (87.977, 0.350, 200),
    ("1e-6", "goodput"): (0.99884, 0.00005, 200),
    ("1e-6", "transfer_time_s"): (57.55, 0.40, 200),
}
TABLE2 = {
    ("tahoe", "throughput_packets_s"): (10.252, 0.141, 200),
    ("tahoe", "goodput"): (0.9039, 0.0007, 200),
    ("tahoe", "transfer_time_s"): (872.2, 16.7, 200),
    ("reno", "throughput_packets_s"): (10.357, 0.154, 200),
    ("reno", "goodput"): (0.9053, 0.0008, 200),
    ("reno", "transfer_time_s"): (867.3, 18.0, 200),
    ("newreno", "throughput_packets_s"): (10.623, 0.154, 200),
    ("newreno", "goodput"): (0.9051, 0.0008, 200),
    ("newreno", "transfer_time_s"): (843.4, 17.7, 200),
    ("sack", "throughput_packets_s"): (10.619, 0.164, 200),
    ("sack", "goodput"): (0.9054, 0.0008, 200),
    ("sack", "transfer_time_s"): (841.6, 18.3, 200),
}
#: Fig. 4, Reno: 200 s with p = 28.6%, 5 s up; and 5000 packets with p = 9%, 5 s up.
FIG4_THROUGHPUT, FIG4_DURATION = (25.15, 1.90, 100), (109.2, 5.7, 100)


def tables(results: Results) -> dict[str, Any]:
    """Each mean with its interval, and whether the difference could be none."""
    if changed := [name for name in ("stack", "rate", "delay") if own.mine(name) is not None]:
        raise ValueError(f"ns-2 was run with the paper's {' and '.join(changed)} only")
    errors, both, points = Errors(results), Both.of(results), UpTimes(results)
    found: dict[str, list[Any]] = {
        name: [] for name in ("case", "quantity", "ns-2.35", "runs", "rexmit", "runs ", "apart")
    }
    # The runs of Table 1 are longer than ns-2's were.
    shorter = Errors.shorter(results)
    counted = {
        (ber, column): values
        for ber, one in shorter.items()
        for column, values in (("throughput_packets_s", one.throughput), ("goodput", one.goodput))
    }
    cases = [
        (f"Tahoe, BER {ber}", column, counted.get((ber, column), errors.of(ber, column)), ns2)
        for (ber, column), ns2 in TABLE1.items()
    ]
    cases += [
        ("Reno, 5 s / 2 s", "throughput_packets_s", points.throughput(*SECOND), FIG4_THROUGHPUT),
        ("Reno, 5 s / 0.5 s", "transfer_time_s", points.took["9%", 5.0], FIG4_DURATION),
    ]
    # ns-2 was run with Table 2's errors and disconnections only.
    if not any(own.mine(name) is not None for name in ("ber", "up", "down")):
        cases += [
            (f"{LABELS[variant]}, both", column, both.columns[variant][column], ns2)
            for (variant, column), ns2 in TABLE2.items()
        ]
    for case, column, values, ns2 in cases:
        mean = stats.mean(values)
        digits = 5 if column == "goodput" else 2
        cells = (
            case,
            SHORT[column] if "both" in case else SHORT[column].replace("9210", "5000"),
            f"{ns2[0]:.{digits}f} ± {ns2[1]:.{digits}f}",
            ns2[2],
            f"{mean.value:.{digits}f} ± {mean.high - mean.value:.{digits}f}",
            mean.n,
            round(apart(values, ns2), 1),
        )
        for name, cell in zip(found, cells, strict=True):
            found[name].append(cell)
    return {"against ns-2": found}


def apart(values: NDArray[Any], ns2: tuple[float, float, int]) -> float:
    """The difference of the means in standard errors of it."""
    mean = stats.mean(values)
    own = (mean.high - mean.low) / 2
    return (mean.value - ns2[0]) / math.hypot(own, ns2[1]) * 1.96


TEXT = """\
The same runs in ns-2.35 itself, with its settings of 1998 and its own random numbers
(`validation/ns2_wireless.tcl`). `apart` is the difference of the two means in standard errors:
beyond ± 3 the two would not be the same simulator. The variants of each met the same disconnections, so
that their differences go together. On the same losses, given one by one, rexmit's agents send ns-2's
packets one by one ([validation](../simulator-validation.md))."""

PART = Part("Beside ns-2", tables=tables, text=TEXT)
