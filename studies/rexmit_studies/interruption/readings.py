"""Which readings of what the paper leaves open give its sections."""

from __future__ import annotations

from typing import Any

from rexmit.running.many_runs import Runs
from rexmit_studies.interruption import sections, server, setups
from rexmit_studies.interruption.sections import Section
from rexmit_studies.study import Plan, Results

#: The readings: what the server's window ends at, the air, the queue before it.
READINGS: dict[str, dict[str, Any]] = {
    "5.2 Mbps, window as the kernel allows": setups.steady(5.2),
    "4.6 Mbps, window as the kernel allows": setups.steady(4.6),
    "5.2 Mbps, window of Fig. 7": {**setups.steady(5.2), **setups.server(setups.FIG7_LINUX)},
    "4.6 Mbps, window of Fig. 7": {**setups.steady(4.6), **setups.server(setups.FIG7_LINUX)},
    "4.2 Mbps, window of Fig. 7": {**setups.steady(4.2), **setups.server(setups.FIG7_LINUX)},
    "4.6 Mbps, window of Fig. 7, queue of 100 packets": {
        **setups.steady(4.6),
        **setups.server(setups.FIG7_LINUX),
        setups.QUEUE: 100,
    },
    "the air slowing, window of Fig. 7 (fitted)": setups.fitted(),
    "802.11g at 6 Mbps, window of Fig. 7": {**setups.hop(), **setups.server(setups.FIG7_LINUX)},
    "802.11g at 6 Mbps, a frame in ten repeated, window of Fig. 7": {
        **setups.hop(0.1),
        **setups.server(setups.FIG7_LINUX),
    },
    "5.2 Mbps, a server with buffers of 16 KiB that does not tune": {**setups.steady(5.2), **server.fig7()},
}
#: Enough to see the difference that the air and the window make.
QUICK = ("5.2 Mbps, window as the kernel allows", "4.6 Mbps, window of Fig. 7")
#: The systems that stand in the table.
SHOWN = ("reno", "cubic", "cubic-plain", "westwood", "windows7", "osx")
LETTER = {"without": "–", "with": "lag", "intermittent": "intermittent", "other": "?"}


def declare(plan: Plan) -> None:
    plan.runs(
        "readings",
        [setups.setup(name, {**READINGS[r], **setups.BARE}) for r in asked(plan.quick) for name in SHOWN],
        tables=sections.TABLES,
    )


def asked(quick: bool) -> tuple[str, ...]:
    """The readings that are run."""
    return QUICK if quick else tuple(READINGS)


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
