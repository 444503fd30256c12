"""Table 1: bit errors alone, Tahoe; and which reading of the error model gives the paper's figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import own
from rexmit_studies.paper import figures
from rexmit_studies.rows import FEW, fitted, sampled, setup
from rexmit_studies.study import Part, Plan, Results, Row
from rexmit_studies.wireless.measures import (
    DURATION,
    GOODPUT,
    NAME,
    Counts,
    counts,
    durations,
    load,
    own_stack,
    throughput_said,
    transfer,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rexmit.scenario import Scenario

#: Mean good periods in packets, data and ACKs, by bit error rate.
GOOD = {"1e-5": (100, 1000), "1e-6": (1000, 10000)}
#: Mean bad periods in packets, data and ACKs, by reading.
BAD = {"one packet": (0.08, 0.03), "as printed": (8, 3)}

PACKETS, PATIENCE = 5000, 8000
#: The paper does not say how long it ran. With three decimals its two throughputs, 39.439 and 87.455, are
#: counts over 1000 s, or over multiples of it; over 200 s they are none.
SECONDS = 1000
#: How long ns-2.35 was run for the comparison (validation/ns2_wireless.tcl), s.
SHORTER_S = 200
READING = "bad periods of one packet"
#: The figure that the reading was chosen by.
CHOSEN_BY = ("1e-5", "throughput_packets_s")


def own_ber() -> str | None:
    """The user's bit error rate, where it is none of Table 1."""
    mine = own.mine("ber")
    known = next((ber for ber in GOOD if mine is not None and float(ber) == mine), None)
    return known if mine is None or known else f"{mine:g}"


def cases() -> list[tuple[str, str]]:
    """Bit error rates and readings: the paper's, and the user's rate beside them."""
    mine = own_ber()
    rates = [*GOOD, mine] if mine and mine not in GOOD else list(GOOD)
    return [(ber, reading) for ber in rates for reading in BAD]


def good_periods(ber: str) -> tuple[float, ...]:
    """Mean good periods in packets, data and ACKs: the paper has them go with the inverse of the rate."""
    return GOOD.get(ber) or tuple(n * 1e-5 / float(ber) for n in GOOD["1e-5"])


def channel(ber: str, reading: str) -> dict[str, str]:
    """The keys of the two-state error models, of data and of ACKs."""
    keys = {}
    for channel, good, bad in zip(
        ("data-errors", "ack-errors"), good_periods(ber), BAD[reading], strict=True
    ):
        keys[f"link.wireless.channel.{channel}.good"] = f"{good:g} packets"
        keys[f"link.wireless.channel.{channel}.bad"] = f"{bad} packets"
    return keys


def _scenario(ber: str, reading: str, keys: dict[str, Any] | None = None) -> Scenario:
    return load("wireless-ber", channel(ber, reading) | own_stack() | (keys or {}))


def declare(plan: Plan) -> None:
    """Each bit error rate in both readings: for a while, and until 5000 packets are through."""
    seeds = plan.seeds(100)
    plan.runs("bit errors", [_scenario(*case, {"duration": f"{SECONDS}s"}) for case in cases()], seeds)
    shorter = [_scenario(ber, "one packet", {"duration": f"{SHORTER_S}s"}) for ber in GOOD]
    plan.runs(f"bit errors, {SHORTER_S} s", shorter, seeds)
    files = [_scenario(*case, transfer(PACKETS, PATIENCE)) for case in cases()]
    plan.runs("bit errors, 5000 packets", files, seeds)


class Errors:
    """Throughput, goodput and transfer time of each case, a value for each seed."""

    def __init__(self, results: Results) -> None:
        counted = dict(zip(cases(), counts(results["bit errors"], single=True), strict=True))
        took = dict(zip(cases(), durations(results["bit errors, 5000 packets"]), strict=True))
        self.columns: dict[tuple[str, str], dict[str, NDArray[np.float64]]] = {
            case: {
                "throughput_packets_s": counted[case].throughput,
                "goodput": counted[case].goodput,
                "transfer_time_s": took[case],
            }
            for case in cases()
        }

    @staticmethod
    def shorter(results: Results) -> dict[str, Counts]:
        """Throughput and goodput of runs as long as ns-2's, by bit error rate."""
        return dict(zip(GOOD, counts(results[f"bit errors, {SHORTER_S} s"], single=True), strict=True))

    def of(self, ber: str, column: str, reading: str = "one packet") -> NDArray[np.float64]:
        """One column of Table 1."""
        return self.columns[ber, reading][column]


def definitions() -> dict[str, tuple[str, str]]:
    """Of each column what it is, and its unit."""
    return {
        "throughput_packets_s": (f"{throughput_said()}, {SECONDS} s; {READING}", "packets/s"),
        "goodput": (f"{GOODPUT}; {READING}", ""),
        "transfer_time_s": (f"{DURATION.format(n=PACKETS)}; {READING}", "s"),
    }


SHORT = {
    "throughput_packets_s": "throughput (packets/s)",
    "goodput": "goodput",
    "transfer_time_s": f"time for {PACKETS} packets (s)",
}


def rows(results: Results) -> Iterator[Row]:
    """Table 1, and the means that the text prints for it."""
    errors = Errors(results)
    for ber, good in GOOD.items():
        bad = BAD["one packet"]
        low, high = stats.central(errors.of(ber, "throughput_packets_s", "as printed"))
        printed = f"with the printed mean of {{}} packets 95% of runs make {low:.1f} to {high:.1f} packets/s"
        for k, what in enumerate(("data", "ack")):
            yield setup(
                f"{NAME}.error_model_packets.ber_{ber}.{what}",
                (float(good[k]), bad[k]),
                "mean good and bad period, packets; the second is set to the paper's / 100",
                f"{printed.format(8 if what == 'data' else 3)}, and Table 1 has more; / 100 gives it",
            )
        for column, (definition, unit) in definitions().items():
            key = f"{NAME}.table1.ber_{ber}.{column}"
            # Of the readings of the bad period the one was taken that gives this throughput.
            chosen = (ber, column) == CHOSEN_BY
            group = "" if chosen else f"Table 1, BER {ber}"
            why = _why(results, ber, column)
            row = sampled(key, errors.of(ber, column), definition, unit, why, group)
            yield fitted(row) if chosen else row


def _why(results: Results, ber: str, column: str) -> str:
    """Of goodput: shorter runs scatter more."""
    if column != "goodput":
        return ""
    there: Any = figures(NAME)[f"{NAME}.table1.ber_{ber}.{column}"]
    each = Errors.shorter(results)[ber].goodput
    if len(each) < FEW:
        return ""
    far = float(((each >= there) if there > each.mean() else (each <= there)).mean())
    return (
        f"over {SHORTER_S} s {far:.0%} of the runs are as far from the mean, over {SECONDS} s hardly any: "
        "the "
        "throughputs' digits ask for the longer run, and its goodput is nearer to the mean than the paper's"
    )


def tables(results: Results) -> dict[str, Any]:
    """Both readings beside the paper's figures."""
    from rexmit_studies import paper

    errors, printed = Errors(results), paper.figures(NAME)
    found: dict[str, list[Any]] = {
        name: []
        for name in (
            "BER",
            "bad period",
            "quantity",
            "paper",
            "mean",
            "95% of runs from",
            "to",
            "gives the paper's",
        )
    }
    for ber, reading in cases():
        for column in SHORT:
            values = errors.of(ber, column, reading)
            low, high = stats.central(np.minimum(values, PATIENCE))
            there: Any = printed.get(f"{NAME}.table1.ber_{ber}.{column}", "none")
            mean = float(np.minimum(values, PATIENCE).mean())
            inside = "" if there == "none" else "yes" if low <= there <= high else "no"
            cells = (ber, reading, SHORT[column], there, mean, low, high, inside)
            for name, cell in zip(found, cells, strict=True):
                found[name].append(f"{cell:.4g}" if isinstance(cell, float) else cell)
    return {"readings": found}


def text(results: Results) -> str:
    errors = Errors(results)
    mean = {case: stats.mean(errors.of(case[0], "throughput_packets_s", case[1])) for case in cases()}
    one, printed = mean["1e-5", "one packet"], mean["1e-5", "as printed"]
    there: Any = figures(NAME)[f"{NAME}.table1.ber_1e-5.throughput_packets_s"]
    return f"""\
The channel has good and bad periods of exponential lengths, counted in packets; what a bad one touches is
lost. The paper takes the mean bad period from the bit error rate: BER × bits of a packet × mean good
period, and prints 8 packets for 100 good ones. **As printed**, 8% of the packets are lost, in bursts of
eight, and Tahoe manages {printed.value:.1f} packets/s ({printed.low:.1f} to {printed.high:.1f}):
{printed.value / there:.0%} of what Table 1 says.

If **one packet** is hit at a time instead (a hundredth: 0.08 packets on average, which spoil the packet
they fall on), 1.1% are lost, and Tahoe makes {one.value:.1f} packets/s ({one.low:.1f} to {one.high:.1f}):
Table 1 comes out. All that follows rests on this reading; where the other one changes a result, it is said.

**How long the paper ran** it does not say. Its digits do: 39.439 and 87.455 have three decimals, so that
they are
counts over {SECONDS} s (over 200 s the first would be 7887.8 ACKs). So long are the runs here.

So what the paper calls a bit error rate of 1e-5 loses as many packets as independent bit errors of 1.3e-6
would."""


def yours(results: Results) -> str:
    """The user's bit error rate, which Table 1 need not have."""
    ber = own_ber()
    if ber is None or ber in GOOD:
        return ""
    errors = Errors(results)
    each = {reading: errors.of(ber, "throughput_packets_s", reading) for reading in BAD}
    ends = {reading: stats.central(values) for reading, values in each.items()}
    said = {
        reading: f"{values.mean():.1f} packets/s (95% of {len(values)} runs: {ends[reading][0]:.1f} to "
        f"{ends[reading][1]:.1f})"
        for reading, values in each.items()
    }
    goodput = errors.of(ber, "goodput").mean()
    took = np.minimum(errors.of(ber, "transfer_time_s"), PATIENCE).mean()
    return (
        f"With your bit error rate of {ber}, which Table 1 does not have, the sender makes "
        f"{said['one packet']} at a goodput of {goodput:.4f} and needs {took:.0f} s for {PACKETS} packets; "
        f"with bad periods as printed it makes {said['as printed']}."
    )


PART = Part("Table 1: bit errors", rows=rows, tables=tables, text=text, yours=yours)
