"""The discontinuous sections of a transfer, numbered and told apart as the paper does it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rexmit.frame import Frame
from rexmit_studies.interruption import setups

if TYPE_CHECKING:
    from rexmit.running.many_runs import Runs
    from rexmit.running.one_run import AnyTable
    from rexmit_studies.own import Interval

Kind = Literal["without", "with", "intermittent", "other"]

#: The paper's words for the kinds of an episode (docs/definitions.md).
OF_EPISODE: dict[str, Kind] = {
    "ack": "without",
    "timer-rto": "with",
    "timer-probe": "with",
    "intermittent": "intermittent",
}
IN_WORDS = {
    "without": "without time lag",
    "with": "with time lag",
    "intermittent": "intermittent",
    "other": "not repaired",
}
#: The tables of runs that sections are made of.
TABLES: tuple[AnyTable, ...] = ("flows", "episodes", "bursts", "retransmissions")


@dataclass(frozen=True)
class Section:
    """One discontinuous section: an episode in which something was lost.

    number: from 1, in order of time. lost_acks: lost together with its data. in_a_row: lost by the outage,
    without what a queue dropped before. backoff: how often the timer had fired in a row for one segment.
    first_lost, hole_end: offsets in the sequence, of what the outage took. sent: the highest sequence number
    sent before the repair. last_sent_s: when the last data before it was sent. outages: how many met it.
    back_s: when the link came back, the first time.
    """

    run: int
    number: int
    kind: Kind
    lost: int
    lost_acks: int
    in_a_row: int
    timeouts: int
    backoff: int
    start_s: float
    repair_s: float
    end_s: float
    flight_bytes: int
    first_lost: int
    hole_end: int
    sent: int
    last_sent_s: float
    outages: int
    back_s: float

    @property
    def length_s(self) -> float:
        """From the link's return to the ACK that ends the repair."""
        return self.end_s - self.back_s

    @property
    def lag_s(self) -> float:
        """From the link's return to the first repair."""
        return self.repair_s - self.back_s

    @property
    def beyond_bytes(self) -> int:
        """Sent behind the hole before any repair: what tells the receiver of it."""
        return self.sent - self.hole_end

    @property
    def still_sending(self) -> bool:
        """Whether data was still being sent when the link came back: the paper's words taken literally."""
        return self.last_sent_s > self.back_s - 1e-3


def of_runs(
    runs: Runs,
    phases_s: Sequence[float],
    period_s: float | None = None,
    down: Sequence[Sequence[Interval]] = (),
) -> list[list[Section]]:
    """The sections of each run. phases_s: when each run's first outage begins. down: when each run's link was
    down, in place of the study's outages.
    """
    tables = {name: Frame(runs.table(name)) for name in TABLES}
    by_run: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for name, table in tables.items():
        by_run[name] = _grouped(_first_repairs(table) if name == "retransmissions" else table.rows())
    return [
        sections(
            main_flow(by_run["flows"][run]),
            by_run["episodes"][run],
            by_run["bursts"][run],
            by_run["retransmissions"][run],
            down[run] if down else setups.down(phases_s[run], period_s or setups.period(), setups.last()),
            run,
        )
        for run in range(len(runs))
    ]


def _grouped(rows: Iterable[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[int(row["run"])].append(row)
    return found


def _first_repairs(table: Frame) -> list[dict[str, Any]]:
    """Of each episode only the first retransmission: there are a hundred times as many others."""
    run, flow, episode = table["run"], table["flow"], table["episode"]
    order = np.lexsort((table["time"], episode, flow, run))
    keys = np.stack([run[order], flow[order], episode[order]])
    first = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)) if len(order) else np.zeros(0, bool)
    mask = np.zeros(len(run), dtype=bool)
    mask[order[first]] = True
    return table.where(mask).rows()


def main_flow(flows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return max(flows, key=lambda f: int(f["bytes"]))


def sections(
    flow: dict[str, Any],
    episodes: Sequence[dict[str, Any]],
    bursts: Sequence[dict[str, Any]],
    repairs: Sequence[dict[str, Any]],
    down: Sequence[tuple[float, float]],
    run: int = 0,
) -> list[Section]:
    """The sections of one transfer. down: when the link delivered nothing, s."""
    found: list[Section] = []
    for episode in episodes:
        number = episode["number"]
        mine = [b for b in bursts if b["flow"] == flow["flow"] and b["episode"] == number]
        if episode["flow"] != flow["flow"] or not mine:
            continue
        met = [o for o in down if any(_meets(o, b) for b in mine)]
        # Of several bursts the one that the first outage made: the queue's are shorter.
        taken = [b for b in mine if met and _meets(met[0], b)] or mine
        hit = max(taken, key=lambda b: int(b["lost_segments"] or 0))
        begun = float(episode["first_repair"])
        repair = begun if hit["first_repair"] is None else float(hit["first_repair"])
        first = next((r for r in repairs if r["episode"] == number and r["flow"] == flow["flow"]), None)
        una = int(first["seq_start"]) if first else int(hit["seq_start"])
        silence = episode["silence_s"] or 0.0
        found.append(
            Section(
                run=run,
                number=len(found) + 1,
                kind=OF_EPISODE.get(str(episode["kind"]), "other"),
                lost=int(episode["lost_segments"]),
                lost_acks=sum(int(b["lost_acks"] or 0) for b in mine),
                in_a_row=int(hit["lost_segments"] or 0),
                timeouts=int(episode["timeouts"]),
                backoff=int(episode["max_backoff"] or 0),
                start_s=float(episode["start"]),
                repair_s=repair,
                end_s=float(episode["end"]) if episode["end"] is not None else float("nan"),
                flight_bytes=int(episode["flight_bytes"] or 0),
                first_lost=int(hit["seq_start"]),
                hole_end=int(hit["seq_end"]),
                sent=una + int(episode["sent_after_loss_bytes"] or 0),
                last_sent_s=begun - float(silence),
                outages=len(met),
                back_s=met[0][1] if met else float(hit["start"]),
            )
        )
    return found


def _meets(outage: tuple[float, float], burst: dict[str, Any]) -> bool:
    """Whether an outage lies between a burst's first loss and its first repair.

    A burst is timed when it was sent; behind a deep queue it met the outage up to two seconds later.
    """
    repaired = burst["first_repair"]
    return outage[1] > float(burst["start"]) and (repaired is None or outage[0] < float(repaired))


def numbered(found: Sequence[Section], kind: Kind) -> tuple[int, ...]:
    """The numbers of the sections of one kind, as the paper's figures name them."""
    return tuple(s.number for s in found if s.kind == kind)


def told(found: Sequence[Section]) -> str:
    """`(1) without, (2) with`."""
    return ", ".join(f"({s.number}) {s.kind}" for s in found) or "none"
