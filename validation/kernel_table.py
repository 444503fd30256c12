"""Two sides of one run beside each other, and how often they agree (validation/kernel.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

#: Within this share of the kernel's figure, or this much; counts that have no share here are equal or not.
TOLERANCE = {"share": 0.1, "seconds": 0.001, "copies": 1}
#: A path's own time is the least that an RTT can be; ms.
RTT_MS = 1.0

#: Figures of a transfer, by how they are compared.
TRANSFER = {
    "throughput_mbps": "share",
    "duration_s": "seconds",
    "rtt_mean_ms": "ms",
    "idle_s": "seconds",
    "episodes": "equal",
    "timeouts": "equal",
    "lost_queue": "copies",
    "lost_outages": "copies",
}
EVENT = {
    "trigger": "equal",
    "lost_copies": "copies",
    "lost_acks": "copies",
    "silence_s": "seconds",
    "repair_after_return_s": "seconds",
    "duration_s": "seconds",
    "timeouts": "equal",
}
HEADS = {
    "throughput_mbps": "Mbps",
    "duration_s": "duration, s",  # of an event: the whole episode's
    "rtt_mean_ms": "mean RTT, ms",
    "idle_s": "idle, s",
    "episodes": "episodes",
    "timeouts": "timeouts",
    "lost_queue": "lost to the queue",
    "lost_outages": "lost to outages",
    "trigger": "trigger",
    "lost_copies": "lost copies",
    "lost_acks": "lost ACKs",
    "silence_s": "silence, s",
    "repair_after_return_s": "repair after the link's return, s",
}

KINDS = ("transfers", "outages", "queue episodes")

Value = float | int | str | None


@dataclass
class Event:
    """An episode, or what one outage did within an episode. `duration_s` and `timeouts` are the episode's."""

    what: str
    trigger: str
    lost_copies: int | None
    lost_acks: int | None
    silence_s: float | None
    repair_after_return_s: float | None
    duration_s: float | None
    timeouts: int
    probes: int
    episode: int


@dataclass
class Side:
    """A transfer, by simulator or kernel."""

    throughput_mbps: float
    duration_s: float
    rtt_mean_ms: float
    idle_s: float
    episodes: int
    timeouts: int
    probes: int
    lost_queue: int
    lost_outages: int
    lost_copies: int
    initial_window: int | None
    window_max_bytes: int | None
    events: list[Event] = field(default_factory=list)


@dataclass
class Agreement:
    of: str
    column: str
    agree: int = 0
    compared: int = 0


def agrees(rule: str, sim: Value, kernel: Value) -> bool:
    """By the tolerance; what one side does not have the other must not have either."""
    if sim is None or kernel is None or isinstance(sim, str) or isinstance(kernel, str) or rule == "equal":
        return sim == kernel
    least = {"ms": RTT_MS}.get(rule, TOLERANCE.get(rule, 0.0)) if rule != "share" else 0.0
    return abs(sim - kernel) <= max(least, TOLERANCE["share"] * abs(kernel))


def matched(sim: Side, kernel: Side) -> Iterator[tuple[str, Event | None, Event | None]]:
    """Outages by their number, the other episodes in order."""
    ours, theirs = ({event.what: event for event in side.events} for side in (sim, kernel))
    for what in sorted(ours.keys() | theirs.keys(), key=lambda w: (w.split()[0], int(w.split()[1]))):
        yield what, ours.get(what), theirs.get(what)


def agreement(pairs: Iterable[tuple[Side, Side]]) -> list[Agreement]:
    """Column by column over all runs; episodes that only one side has are counted as such, apart."""
    counts: dict[tuple[str, str], Agreement] = {}

    def count(of: str, column: str, equal: bool) -> None:
        kept = counts.setdefault((of, column), Agreement(of, column))
        kept.agree += equal
        kept.compared += 1

    for sim, kernel in pairs:
        for column, rule in TRANSFER.items():
            count("transfers", column, agrees(rule, getattr(sim, column), getattr(kernel, column)))
        for what, ours, theirs in matched(sim, kernel):
            of = "outages" if what.startswith("outage") else "queue episodes"
            count(of, "on both sides", ours is not None and theirs is not None)
            if ours is None or theirs is None:
                continue
            for column, rule in EVENT.items():
                a, b = getattr(ours, column), getattr(theirs, column)
                if a is not None or b is not None:
                    count(of, column, agrees(rule, a, b))
    return list(counts.values())


def tables(compared: list[tuple[str, Side, Side]]) -> list[str]:
    """Sim / kernel in each cell, those in bold that do not agree."""
    lines = ["Each cell: simulator / kernel; bold where they do not agree.", ""]
    lines += grid(["run", *(HEADS[c] for c in TRANSFER)], (transfer(*row) for row in compared))
    for kind, head in (("outage", "outage"), ("queue", "queue's episode")):
        columns = [c for c in EVENT if kind == "outage" or c not in ("lost_acks", "repair_after_return_s")]
        rows = list(events(kind, columns, compared))
        if rows:
            names = {"duration_s": "episode, s"}
            lines += ["", *grid(["run", head, *(names.get(c, HEADS[c]) for c in columns)], rows)]
    return [*lines, "", *counted((sim, kernel) for _, sim, kernel in compared)]


def transfer(name: str, sim: Side, kernel: Side) -> list[str]:
    return [name, *(cell(rule, getattr(sim, c), getattr(kernel, c)) for c, rule in TRANSFER.items())]


def events(kind: str, columns: list[str], compared: list[tuple[str, Side, Side]]) -> Iterator[list[str]]:
    for name, sim, kernel in compared:
        for what, ours, theirs in matched(sim, kernel):
            if not what.startswith(kind):
                continue
            if ours is None or theirs is None:
                only = "simulator" if theirs is None else "kernel"
                said = (shown(getattr(ours or theirs, c)) for c in columns)
                yield [name, f"{what.split()[1]}, **{only} only**", *said]
                continue
            cells = (cell(EVENT[c], getattr(ours, c), getattr(theirs, c)) for c in columns)
            yield [name, what.split()[1], *cells]


def counted(pairs: Iterable[tuple[Side, Side]]) -> list[str]:
    """How many agree: a row for each figure, a column for each kind of thing compared."""
    found = {(a.of, a.column): f"{a.agree} of {a.compared}" for a in agreement(pairs)}
    kinds = [kind for kind in KINDS if any(of == kind for of, _ in found)]
    figures = dict.fromkeys(column for _, column in found)
    rows = [[HEADS.get(f, f), *(found.get((kind, f), "") for kind in kinds)] for f in figures]
    return grid(["agree", *kinds], rows)


def cell(rule: str, sim: Value, kernel: Value) -> str:
    """`18.3 / 18.2 (1.01)`: with the ratio where there is one."""
    said = f"{shown(sim)} / {shown(kernel)}"
    if isinstance(sim, float) and isinstance(kernel, float) and kernel > 0 and sim > 0:
        said += f" ({sim / kernel:.2f})"
    return said if agrees(rule, sim, kernel) else f"**{said}**"


def shown(value: Value) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
    return str(value)


def grid(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
