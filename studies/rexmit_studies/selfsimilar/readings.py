"""What the paper leaves open: who the background is, and whether the flow always has something to send. The
figures of Table 2 and the claims under each reading.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

import numpy as np

from rexmit.scenario import Scenario
from rexmit_studies import own, scenario
from rexmit_studies.selfsimilar import claims, hurst, runs, table2
from rexmit_studies.selfsimilar.runs import NAME, VARIANTS
from rexmit_studies.study import Part, Plan, Results, Row
from rexmit_studies.verdict import judge

SEEDS, QUICK = 8, 2
#: Batches are called so, and then as the reading.
BATCH = "reading: "


def base() -> str:
    """The name of the study's own reading."""
    return f"{own.value('sources', runs.SOURCES)} datagram sources"


def _whole() -> dict[str, Any]:
    return tomllib.loads(scenario(NAME).read_text(encoding="utf-8"))


def _tcp(count: int, window: int | None = None) -> dict[str, Any]:
    """Pareto ON/OFF applications over TCP of their own, ns-2's NewReno, as many. window: packets; ns-2's "
    "own is
    20, which it has unless it is told otherwise.
    """
    whole = _whole()
    flow = whole["flow"][1]
    del flow["transport"], flow["packet"]
    stack = "newreno"
    if window:
        stack = "windowed"
        oneway = {"packet": "1040 bytes", "window": f"{window} packets"}
        whole["stack"].append({"name": stack, "based_on": "ns2.35-newreno", "wire": False, "oneway": oneway})
    flow |= {"stack": stack, "count": count}
    flow["workload"]["message"] = "1000B"
    return whole


def _greedy() -> dict[str, Any]:
    """The flow always has data to send."""
    whole = _whole()
    whole["flow"][0]["workload"] = {"kind": "endless"}
    return whole


#: Numbers of TCP sources that are tried, with a window that never limits and with ns-2's own, packets.
TCP_SOURCES, DEFAULT_WINDOW, WINDOWED = (10, 14, 16, 20), 20, (9, 10)


def readings() -> dict[str, dict[str, Any]]:
    """Readings that a careful reader could defend."""
    return {
        **{f"{n} TCP sources": _tcp(n) for n in TCP_SOURCES},
        **{f"{n} TCP sources, a window of {DEFAULT_WINDOW}": _tcp(n, DEFAULT_WINDOW) for n in WINDOWED},
        f"{base()}, a greedy flow": _greedy(),
    }


def _kept(name: str) -> tuple[str, ...]:
    """The axes that a reading varies itself."""
    if name.endswith("greedy flow"):
        return ("flow_rate",)
    return ("sources",)


def declare(plan: Plan) -> None:
    seeds = plan.seeds(SEEDS, QUICK)
    for name, whole in readings().items():
        if not plan.quick or name == "14 TCP sources":
            each = runs.each(Scenario.of(whole))
            plan.runs(BATCH + name, each, seeds, keeps=_kept(name), bin=runs.BIN_S)


def under(results: Results, name: str) -> Results:
    """The study's results, had this been its reading."""
    batch = results["runs"] if name == base() else results[BATCH + name]
    found = Results({"runs": batch, "alone": results["alone"]})
    found.quick = results.quick
    return found


def asked(results: Results, names: Sequence[str]) -> list[str]:
    """Those of them that were run."""
    return [name for name in names if BATCH + name in results]


def rows_of_table2(results: Results, name: str) -> list[Row]:
    """Table 2 under a reading."""
    every = [*table2.table(under(results, name)), *hurst.table(under(results, name))]
    return [row for row in every if ".table2." in row.key]


def fits(rows: Sequence[Row]) -> tuple[int, float]:
    """Of the first few runs, as many under each reading: how many figures lie between their least and
    largest, and how far the paper is from their mean, as a factor, in the middle of the counts.
    """
    within, off = 0, []
    for row in rows:
        values, there = np.array(row.values[:SEEDS]), float(row.paper)  # type: ignore[arg-type]
        within += bool(values.min() <= there <= values.max())
        if not row.key.endswith(("efficiency", "hurst")) and values.mean() > 0:
            off.append(abs(np.log(there / values.mean())))
    return within, float(np.exp(np.median(off)))


def _with_papers_vegas(results: Results) -> list[str]:
    """The readings whose runs have Vegas's packets between their least and largest."""
    found = []
    for name in asked(results, list(readings())):
        row = next(r for r in rows_of_table2(results, name) if r.key.endswith("vegas.arrived"))
        if min(row.values) <= float(row.paper) <= max(row.values):  # type: ignore[arg-type]
            found.append(name)
    return found


def best(results: Results) -> tuple[str, int, float]:
    """The reading whose figures the paper's are nearest to: most within, then the smallest factor."""
    found = {
        name: fits(rows_of_table2(results, name)) for name in (base(), *asked(results, list(readings())))
    }
    name = max(found, key=lambda each: (found[each][0], -found[each][1]))
    return name, *found[name]


def tables(results: Results) -> dict[str, Any]:
    names = [base(), *asked(results, list(readings()))]
    made: dict[str, list[Any]] = {"reading": [], "rows within": [], "off by, in the middle": []}
    made |= {f"packets, {label}": [] for label in runs.labels().values()}
    keys = ("newreno_best", "tcp_becomes_selfsimilar", "vegas_lowest")
    made |= {key.replace("_", " "): [] for key in keys}
    for name in names:
        rows, sub = rows_of_table2(results, name), under(results, name)
        within, off = fits(rows)
        arrived = table2.counts(sub)["arrived"].mean(axis=1)
        verdict = {j.claim.key.rpartition(".")[2]: str(j.verdict) for j in judge(claims.of_table2(sub))}
        cells = [name, f"{within} of {len(rows)}", f"{off:.2f}", *(f"{n:,.0f}" for n in arrived)]
        for column, cell in zip(made.values(), [*cells, *(verdict[key] for key in keys)], strict=True):
            column.append(cell)
    return {"the readings": made}


def text(results: Results) -> str:
    name, within, off = best(results)
    rows = len(rows_of_table2(results, name))
    few = min(SEEDS, len(results["runs"]) // len(VARIANTS))
    vegas = "; ".join(_with_papers_vegas(results)) or "none of the others either"
    return f"""\
"TCP packets are generated using the on-off Pareto model", says the paper: its background may be TCP sources
fed by Pareto ON/OFF applications, where the study has datagrams; how many there were and how large their
window (ns-2's own is 20 packets) it does not
say; and
though its flow's source is constant, a greedy one is tried too. Table 2 and the claims are judged under each
reading; how many of the rows lie between the least and the largest run is counted over {few} seeds for all.
**The paper's figures lie nearest to {name}**: {within} of its {rows} do, and the paper is off by a factor of
{off:.2f} in the middle of the counts. Claims are judged on what was run: {few} seeds of the other readings,
all of the study's own.

With TCP sources, whose backlog leaves in bursts of a window, NewReno, SACK and Vegas fall behind their
source too, by amounts that a few sources more or less decide. Vegas's 61,853 packets, which no run of the
study's own reading shows, lie within the runs of {vegas}. Tahoe stays below the paper's 70,070 on average,
with datagrams and with TCP sources alike."""


PART = Part("What the paper leaves open", tables=tables, text=text)
