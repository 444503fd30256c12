"""Study `ns3`: G. Naik, "Report on Programming Assignment 2: Understanding TCP", IIT Bombay, 2014."""

from __future__ import annotations

from dataclasses import replace

from rexmit_studies import paper
from rexmit_studies.ns3 import (
    axes,
    base,
    cases,
    section2,
    silence,
    statements,
    sweeps,
    tables,
    tuned,
    variants,
)
from rexmit_studies.ns3.claims import claims
from rexmit_studies.ns3.download import Download
from rexmit_studies.study import Plan, Results, Study


def plan(plan: Plan) -> None:
    """The paper's own runs once each, the captured download, and the same questions over many seeds."""
    plan.call("paper", cases.run_all, worth=2.0)
    plan.call("download", Download.read, worth=0.3)
    plan.call("tuned download", tuned.run, worth=0.3)
    sweeps.declare(plan)


def introduction(results: Results) -> str:
    n = len(results["error seeds"]) // len(cases.ERROR_RATES)
    return f"""\
A student's report: one TCP flow over one link in ns-3.20, with bandwidth, delay, error rate, queue and TCP
variant changed one by one; then a download, captured and read.

**How rexmit repeats it.** The same link, the same TCP, and the very frames lost that ns-3.20 lost: its
errors come from its own random stream (seed 1, run 1), of which the study carries the result, four short
lists. Everything else follows. Throughput as the paper has it is payload that the sender put on the wire,
repeats included, × 8 / 2^20 / 9 s, cut off after the printed digits.

**What came out.** All 22 throughputs have the paper's digits (one is rounded, the others cut off), and so
have all mean windows and queueing delays. Where the paper guesses, the trace knows:

- The silence between 3 and 8 s at error rate 1e-3 is the timer's back-off over one unlucky segment.
- At 50 Mbps throughput is low for want of window, not because the sender waits after losses.
- No more than 111 packets ever wait, because the receiver's window holds 122 segments.
- The square-root formula holds, but Table 1 does not show it: its rows differ in their loss.
- The RTT of ten microseconds is how fast the receiver answers, and that of 1.16 s how long a hole stood open.

One draw of errors stands behind each row. The rows are run again with {n} others, and claims are judged on
those."""


ABOUT = paper.about(cases.NAME)
STUDY: Study = Study(
    name=cases.NAME,
    title=ABOUT.title,
    source=ABOUT.source,
    about=ABOUT.about,
    plan=plan,
    parts=[
        replace(base.PARTS[0], statements=statements.of_base),
        replace(tables.PARTS[0], statements=statements.of_fast),
        replace(tables.PARTS[1], statements=statements.of_delay),
        replace(tables.PARTS[2], statements=statements.of_errors),
        replace(silence.PART, statements=statements.of_silence),
        replace(tables.PARTS[3], statements=statements.of_queue),
        replace(variants.PART, statements=statements.of_variants),
        replace(section2.PARTS[0], statements=statements.of_download),
        replace(section2.PARTS[1], statements=statements.of_sack),
    ],
    claims=claims,
    introduction=introduction,
    compares=(cases.STACK,),
    axes=axes.AXES,
    of_capture=lambda paths: section2.captured(paths, STUDY),
)
