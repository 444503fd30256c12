"""On a wire: one to four packets of a window are dropped and nothing else, as Fall and Floyd did it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies.rows import seen
from rexmit_studies.study import Part, Plan, Results, Statement
from rexmit_studies.wireless.measures import LABELS, NAME, VARIANTS, durations, load, transfer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rexmit.scenario import Scenario

    Numbers = NDArray[np.float64]

#: How many packets of one window are dropped: every second one, from a first one on.
DROPS = (1, 2, 3, 4)
#: The first packet that is dropped, counted from 0: the window is open to 50 packets, or nearly.
FIRST, QUICK = tuple(range(120, 160, 2)), (120, 130)
#: A file of so many packets, and when it is given up, s.
PACKETS, PATIENCE = 400, 100
#: A difference of less than this share of what the drops cost counts as none.
LEAST = 0.1


def firsts(quick: bool) -> tuple[int, ...]:
    """The first packets that are dropped, one a run."""
    return QUICK if quick else FIRST


def _scenario(variant: str, dropped: Sequence[int]) -> Scenario:
    channels = [{"name": "drops", "kind": "list", "direction": "forward", "packets": list(dropped)}]
    keys = {"flow.ftp.stack": f"ns2-{variant}", "link.wireless.channel": channels if dropped else []}
    return load("wireless-outage", keys | transfer(PACKETS, PATIENCE))


def declare(plan: Plan) -> None:
    """Each variant with each number of drops, and without."""
    each = [
        _scenario(variant, [first + 2 * k for k in range(n)])
        for variant in VARIANTS
        for n in DROPS
        for first in firsts(plan.quick)
    ]
    plan.runs("on a wire", [*each, *(_scenario(variant, ()) for variant in VARIANTS)])


def costs(results: Results) -> dict[tuple[str, int], Numbers]:
    """What the drops cost each variant, s: its file's time less that of the same file without."""
    times = np.array([took[0] for took in durations(results["on a wire"], PATIENCE)])
    n = len(firsts(results.quick))
    each, alone = times[: -len(VARIANTS)].reshape(len(VARIANTS), len(DROPS), n), times[-len(VARIANTS) :]
    return {
        (variant, drops): each[v, d] - alone[v]
        for v, variant in enumerate(VARIANTS)
        for d, drops in enumerate(DROPS)
    }


def tables(results: Results) -> dict[str, Any]:
    """What the drops cost, by variant and number of drops."""
    found = costs(results)
    made: dict[str, list[str]] = {"dropped": [str(n) for n in DROPS]}
    for variant in VARIANTS:
        means = [stats.mean(found[variant, n]) for n in DROPS]
        made[f"{LABELS[variant]} s"] = [f"{m.value:.2f} ± {(m.high - m.low) / 2:.2f}" for m in means]
    return {"on a wire: what the dropped packets of one window cost": made}


def listed(numbers: Sequence[int]) -> str:
    """`2, 3 and 4`."""
    return ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"


def statements(results: Results) -> Iterator[Statement]:
    """What the paper tells of Fall and Floyd."""
    found = costs(results)
    several = [n for n in DROPS if n > 1]
    reno, sack = (np.concatenate([found[v, n] for n in several]) for v in ("reno", "sack"))
    more = float(reno.mean() / sack.mean() - 1)
    yield seen(
        f"{NAME}.statement.wired_reno",
        int((reno > (1 + LEAST) * sack).sum()),
        len(reno),
        f"with {listed(several)} packets dropped Reno loses {reno.mean():.2f} s on average, Sack "
        f"{sack.mean():.2f}",
        effect=(more, LEAST),
    )
    every = {v: np.concatenate([found[v, n] for n in DROPS]) for v in VARIANTS}
    others = np.min([every[v] for v in VARIANTS if v != "sack"], axis=0)
    yield seen(
        f"{NAME}.statement.wired_sack",
        int((every["sack"] <= others + 1e-9).sum()),
        len(others),
        "Sack loses least, or as little as the best other; on average "
        + ", ".join(f"{LABELS[v]} {x.mean():.2f} s" for v, x in every.items()),
    )


TEXT = f"""\
The paper sets its result against that of Fall and Floyd, who dropped one to four packets of a window on a
wire.
Here the same is done on the study's own path, with neither errors nor disconnections: every second packet
from a
first one on is dropped, once, while the window is open, and a file of {PACKETS} packets is timed."""

PART = Part("On a wire", tables=tables, text=TEXT, statements=statements)
