"""Over all phases: the paper's transfer again and again, the outages beginning anywhere in their period."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from rexmit.running.many_runs import Runs
from rexmit_studies.interruption import sections, setups
from rexmit_studies.interruption.sections import Kind, Section, numbered
from rexmit_studies.own import Interval
from rexmit_studies.study import Plan, Results

Floats = npt.NDArray[np.float64]

#: Draws of a phase and an air rate: with the server's window of Fig. 7, and for each of the others.
DRAWS, OTHER_DRAWS, QUICK = 100, 40, 3
AIR_MBPS = (setups.SLOWEST_MBPS, 5.2)
#: What the server's window ends at, in three readings: batch -> most it offers; None: what its kernel allows.
WINDOWS: dict[str, int | None] = {
    "phases": setups.FIG7_LINUX,
    "phases, free window": None,
    "phases, small window": setups.FIG7_WINDOWS,
}


@dataclass(frozen=True)
class Transfer:
    """One transfer of a sweep."""

    system: str
    phase_s: float
    mbps: float
    sections: list[Section]
    #: None: it had not ended when the run did.
    duration_s: float | None
    window_bytes: int
    #: Payload of a full segment.
    mss: int = setups.MSS

    @property
    def cost_s(self) -> float:
        """What each interruption cost: the time beyond that of an undisturbed transfer at this rate.

        NaN: there was none, or the transfer did not end.
        """
        return float("nan") if self.duration_s is None else self._cost_s(self.duration_s)

    @property
    def least_cost_s(self) -> float:
        """The same, and of a transfer that did not end what it had cost when its run did: at least so
        much.
        """
        return self._cost_s(self.duration_s or setups.lasts())

    def _cost_s(self, duration_s: float) -> float:
        down = setups.down(self.phase_s, setups.period(), duration_s)
        return beyond_undisturbed_s(self.mss, duration_s, self.mbps, down)

    def foretold(self, section: Section) -> bool:
        """Whether its kind is the one that the window tells: without time lag if more was under way than the
        air carries in one interruption.
        """
        return (section.flight_bytes > setups.outage_bytes(self.mbps)) == (section.kind == "without")


def beyond_undisturbed_s(mss: int, duration_s: float | None, mbps: float, down: Sequence[Interval]) -> float:
    """For each outage the time beyond that of an undisturbed transfer at this rate, s.

    NaN: there was none, or the transfer did not end.
    """
    if duration_s is None:
        return float("nan")
    # Those that began before its last byte had arrived.
    outages = sum(begin < duration_s for begin, _ in down)
    packets = np.ceil(setups.file_bytes() / mss)
    undisturbed = packets * setups.packet_bytes(mss) * 8 / (mbps * 1e6)
    return (duration_s - float(undisturbed)) / outages if outages else float("nan")


def segments(runs: Runs) -> dict[int, int]:
    """The payload of a full segment of each run's upload, which another stack may cut otherwise."""
    found: dict[int, int] = {}
    rows = runs.table("flows").to_arrow()
    for run, mss in zip(rows["run"].to_pylist(), rows["mss"].to_pylist(), strict=True):
        found[run] = max(found.get(run, 0), int(mss or 0))
    return {run: mss or setups.MSS for run, mss in found.items()}


def drawn() -> str:
    """What the draws are of, in words; the user's rate is not drawn."""
    low, high = air()
    what = [] if setups.listed() else ["phase"]
    what += ["air rate"] if low < high else []
    said = f"draws of {' and '.join(what)}" if what else "transfers"
    said += "" if low < high else f", the air at {low:g} Mbps"
    return said + (", the outages as given" if setups.listed() else "")


def told_of_draws() -> str:
    """The simulated transfers on which claims are tested, and their parameters."""
    low, high = air()
    rates = f"{low:g} to {high:g}" if low < high else f"{low:g}"
    phase = "the outages as given," if setups.listed() else "draws of phase (all of the period) and"
    return f"{phase} air ({rates} Mbps), the server's window at most 451,840"


def air() -> tuple[float, float]:
    """The air rates that are drawn, Mbps."""
    mine = setups.air_mbps()
    return (mine, mine) if mine else AIR_MBPS


def draws(n: int) -> list[tuple[float, float]]:
    """Phases (s) and air rates (Mbps), spread evenly over both (the R2 sequence); the first few are too."""
    plastic = 1.324717957244746
    k = np.arange(1, n + 1)
    phase = (0.5 + k / plastic) % 1.0
    rate = (0.5 + k / plastic**2) % 1.0
    low, high = air()
    return [
        (float(p) * setups.period(), low + float(r) * (high - low)) for p, r in zip(phase, rate, strict=True)
    ]


def declare(plan: Plan) -> None:
    for name, window in WINDOWS.items():
        usual = DRAWS if name == "phases" else OTHER_DRAWS
        n = len(plan.seeds(usual, QUICK))
        set = {} if window is None else setups.server(window)
        plan.runs(
            name,
            [
                setups.setup(system, {**set, **setups.steady(mbps, at), **setups.BARE})
                for system in setups.SYSTEMS
                for at, mbps in draws(n)
            ],
            tables=sections.TABLES,
        )


_read: WeakKeyDictionary[Runs, dict[str, list[Transfer]]] = WeakKeyDictionary()


def sweep(results: Results, name: str = "phases") -> dict[str, list[Transfer]]:
    """The transfers of one sweep by system, in the order of the draws: the same k is the same draw."""
    runs: Runs = results[name]
    if runs not in _read:
        _read[runs] = _transfers(runs)
    return _read[runs]


def _transfers(runs: Runs) -> dict[str, list[Transfer]]:
    n = len(runs) // len(setups.SYSTEMS)
    at = draws(n) * len(setups.SYSTEMS)
    found = sections.of_runs(runs, [phase for phase, _ in at])
    lasted = runs.summary.to_arrow()["duration_s"].to_pylist()
    largest: dict[int, int] = {}
    flows = runs.table("flows").to_arrow()
    for run, window in zip(flows["run"].to_pylist(), flows["window_max_bytes"].to_pylist(), strict=True):
        largest[run] = max(largest.get(run, 0), int(window or 0))
    mss = segments(runs)
    systems = [name for name in setups.SYSTEMS for _ in range(n)]
    every = [
        Transfer(system, *draw, found[k], lasted[k], largest.get(k, 0), mss[k])
        for k, (system, draw) in enumerate(zip(systems, at, strict=True))
    ]
    return {name: every[k * n : (k + 1) * n] for k, name in enumerate(setups.SYSTEMS)}


def met(transfers: Iterable[Transfer]) -> list[tuple[Transfer, Section]]:
    """Every section that an interruption made, with its transfer."""
    return [(t, s) for t in transfers for s in t.sections if s.outages and s.kind != "other"]


def share(transfers: Iterable[Transfer], holds: Callable[[Transfer, Section], bool]) -> tuple[int, int]:
    """How many of the sections show something, and how many there are."""
    every = met(transfers)
    return sum(holds(t, s) for t, s in every), len(every)


def each(transfers: Iterable[Transfer], holds: Callable[[Transfer, Section], bool]) -> Floats:
    """For each transfer the share of its sections that show something; NaN where it has none."""
    found = []
    for transfer in transfers:
        every = met([transfer])
        found.append(sum(holds(t, s) for t, s in every) / len(every) if every else np.nan)
    return np.array(found, dtype=float)


def with_pattern(
    transfers: Iterable[Transfer], wanted: Mapping[Kind, Sequence[int]], whole: bool = True
) -> int:
    """How many transfers have these sections, by kind and number. whole: and no others."""
    return sum(_has(t.sections, wanted, whole) for t in transfers)


def _has(found: Sequence[Section], wanted: Mapping[Kind, Sequence[int]], whole: bool) -> bool:
    here = {kind: set(numbered(found, kind)) for kind in wanted}
    if whole:
        return len(found) == sum(map(len, wanted.values())) and all(
            here[k] == set(v) for k, v in wanted.items()
        )
    return all(set(v) <= here[k] for k, v in wanted.items())


def unfinished(transfers: Iterable[Transfer]) -> int:
    """How many had not ended when their run did."""
    return sum(t.duration_s is None for t in transfers)


def column(transfers: Iterable[Transfer], what: Callable[[Transfer], float]) -> Floats:
    return np.array([what(t) for t in transfers], dtype=float)
