"""Which readings of what the paper leaves open give its sections."""

from __future__ import annotations

from typing import Any

from rexmit.running.many_runs import Runs
from rexmit_studies.interruption import sections, server, setups
from rexmit_studies.interruption.sections import Section
from rexmit_studies.study import Plan, Results


def readings() -> dict[str, dict[str, Any]]:
    """The readings: what the server's window ends at, the air, the queue before it. An air of the user's own
    takes the place of all rates but that of 802.11g, so that several readings are one.
    """
    fig7 = setups.server(setups.FIG7_LINUX)
    found: dict[str, dict[str, Any]] = {}
    for mbps in (5.2, 4.6):
        found[f"{setups.rate(mbps)}, window as the kernel allows"] = setups.steady(mbps)
    for mbps in (5.2, 4.6, 4.2):
        found[f"{setups.rate(mbps)}, window of Fig. 7"] = {**setups.steady(mbps), **fig7}
    short = {**setups.steady(4.6), **fig7, setups.QUEUE: 100}
    found[f"{setups.rate(4.6)}, window of Fig. 7, queue of 100 packets"] = short
    if not setups.air_mbps():
        found["the air slowing, window of Fig. 7 (fitted)"] = setups.fitted()
    found["802.11g at 6 Mbps, window of Fig. 7"] = {**setups.hop(), **fig7}
    found["802.11g at 6 Mbps, a frame in ten repeated, window of Fig. 7"] = {**setups.hop(0.1), **fig7}
    untuned = f"{setups.rate(5.2)}, a server with buffers of 16 KiB that does not tune"
    found[untuned] = {**setups.steady(5.2), **server.fig7()}
    return found


#: The systems that stand in the table.
SHOWN = ("reno", "cubic", "cubic-plain", "westwood", "windows7", "osx")
LETTER = {"without": "–", "with": "lag", "intermittent": "intermittent", "other": "?"}


def declare(plan: Plan) -> None:
    plan.runs(
        "readings",
        [
            setups.setup(name, {**keys, **setups.BARE})
            for reading, keys in readings().items()
            if reading in asked(plan.quick)
            for name in SHOWN
        ],
        tables=sections.TABLES,
    )


def asked(quick: bool) -> tuple[str, ...]:
    """The readings that are run; if quick, enough to see the difference that the air and the window make."""
    few = (f"{setups.rate(5.2)}, window as the kernel allows", f"{setups.rate(4.6)}, window of Fig. 7")
    return few if quick else tuple(readings())


def found(results: Results) -> dict[str, dict[str, list[Section]]]:
    """The sections of each system under each reading."""
    runs: Runs = results["readings"]
    every = sections.of_runs(runs, [setups.FITTED_PHASE_S] * len(runs))
    n = len(SHOWN)
    return {
        reading: dict(zip(SHOWN, every[k * n : (k + 1) * n], strict=True))
        for k, reading in enumerate(asked(results.quick))
    }


def free_window(results: Results, name: str) -> int:
    """The most that the server offers in the first reading, where nothing caps it, bytes."""
    rows = results["readings"].table("flows").to_arrow()
    windows = zip(rows["run"].to_pylist(), rows["window_max_bytes"].to_pylist(), strict=True)
    return max(int(window or 0) for run, window in windows if run == SHOWN.index(name))


def table(results: Results) -> dict[str, list[str]]:
    """A row for each reading, a column for each system: `–, –, –, lag`."""
    rows = found(results)
    made = {"reading": list(rows)}
    for name in SHOWN:
        made[setups.title(name)] = [
            ", ".join(LETTER[s.kind] for s in of[name] if s.outages) or "none" for of in rows.values()
        ]
    return made
