"""Study `interruption`: W. Wang, C. Wu, S. Ohzahata, T. Kato, on losses by transmission interruptions."""

from __future__ import annotations

import rexmit as rx
from rexmit_studies import own, paper
from rexmit_studies.interruption import (
    axes,
    captures,
    defect,
    graphs,
    ladders,
    lengths,
    osx,
    phases,
    readings,
    server,
    setups,
    shares,
    statements,
    traces,
)
from rexmit_studies.interruption.claims import claims
from rexmit_studies.study import Part, Plan, Results, Study


def plan(plan: Plan) -> None:
    """The transfers of the figures, the readings, all phases, OS X's sweep, and the captures."""
    plan.call("traces", traces.run_all, worth=0.6)
    plan.call("at server", at_server, worth=0.1)
    plan.call("captures", captures.read, worth=0.3)
    readings.declare(plan)
    server.declare(plan)
    phases.declare(plan)
    lengths.declare(plan)
    osx.declare(plan)


def at_server() -> rx.Run:
    """Reno's transfer as a capture at the server shows it."""
    return rx.run(own.applied(setups.setup("reno", setups.fitted())), at="receiver")


def introduction(results: Results) -> str:
    reno = traces.trace(results, "reno").sections
    drawn = phases.sweep(results)["cubic"]
    cubic = phases.with_pattern(drawn, *graphs.NAMED["cubic"])
    slow, n = phases.share(phases.sweep(results)["osx"], lambda t, s: s.kind == "intermittent")
    return f"""\
A PC sends 10 MB over Wi-Fi to a server; a bridge on the way drops everything for 200 ms every five seconds.
How do Linux, Windows 7 and Mac OS X come out of it? The paper shows one transfer of each, finds sections
**without time lag** (an ACK with SACK begins the repair), **with time lag** (the timer does), and with OS X
an **intermittent** one, a segment per timeout.

**How rexmit repeats it.** The same hosts as stacks, a slow link with a deep queue, the same outages. The
paper gives neither the air's rate nor the phase; what its numbers give away of them is worked out below, and
what stays free is swept: all phases of the period, air from 4.2 to 5.2 Mbps, three limits of the server's
window.

**What came out.**

- Reno's four sections are the paper's: three without time lag, the fourth with one; {reno[0].lost} and
  {reno[-1].lost} segments lost where the paper has 88 and 58, and the exchange of packets is that of Figs. 9
  and 10.
- What decides the kind is whether more is under way than the air carries in 200 ms. That the sender still
  sends when the link returns is not needed: the queue does.
- CUBIC's first sections need the HyStart of its kernel: without it no section has a time lag. All four are
  the paper's in {cubic} of {len(drawn)} draws.
- OS X's intermittent sections ({slow} of {n}) come from a rule in its source: an ACK within one SRTT of a
  timeout undoes it. Behind a queue that an outage has emptied that is always so. The next outage ends it.
- One number of the paper cannot be right: what it calls the first segment behind the hole is the last one
  lost."""


ABOUT = paper.about(setups.NAME)
STUDY: Study = Study(
    name=setups.NAME,
    title=ABOUT.title,
    source=ABOUT.source,
    about=ABOUT.about,
    plan=plan,
    parts=[
        Part(
            "III Sequence graphs and windows",
            graphs.rows,
            graphs.drawing,
            graphs.tables,
            graphs.text,
            statements.of_graphs,
        ),
        server.PART,
        *shares.PARTS[:1],
        Part(
            "IV Ladders", ladders.rows, ladders.drawing, ladders.tables, ladders.text, statements.of_ladders
        ),
        *shares.PARTS[1:],
        lengths.PART,
        *defect.PARTS,
        *captures.PARTS,
    ],
    claims=claims,
    introduction=introduction,
    compares=(setups.STACK,),
    axes=axes.AXES,
    checked=axes.checked,
    outages=setups.SCHEDULE,
    of_capture=lambda paths: captures.captured(paths, STUDY),
)
