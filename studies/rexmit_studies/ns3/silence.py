"""The silence between 3 and 8 s at an error rate of 1e-3, which the paper leaves unexplained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rexmit_studies.ns3 import cases, drawings, sweeps
from rexmit_studies.ns3.cases import Case
from rexmit_studies.study import Drawing, Part, Results

FROM_S, TO_S = 3.0, 8.0


def case(results: Results) -> Case:
    found: Case = results["paper"]["error 1e-3"]
    return found


def sends(case: Case) -> list[dict[str, Any]]:
    """Every segment that node 0 sent: when, what, why, whether it arrived, and the RTO until then."""
    host = case.host.where(case.host.equals("event", "sent"))
    lost = set(case.drops["copy"].tolist())
    reason = host.text("reason")
    state, rows = case.state["time"], []
    for at, seq, size, copy, why in zip(
        host["time"], host["seq"], host["payload_bytes"], host["copy"], reason, strict=True
    ):
        if size:
            before = max(0, int((state < at - 1e-9).sum()) - 1)
            rows.append(
                {
                    "at_s": float(at),
                    "seq": int(seq),
                    "again": why != "new",
                    "arrived": int(copy) not in lost,
                    "waited_s": float(case.state["rto_s"][before]),
                    "why": why,
                }
            )
    return rows


def inside(case: Case) -> list[dict[str, Any]]:
    """Everything that node 0 sends in the silence."""
    return [s for s in sends(case) if FROM_S < s["at_s"] < TO_S]


def stuck(case: Case) -> list[dict[str, Any]]:
    """All transmissions of the segment that the silence is about."""
    silent = inside(case)
    return [s for s in sends(case) if s["seq"] == silent[0]["seq"]] if silent else []


def tables(results: Results) -> dict[str, Any]:
    rows = stuck(case(results))
    return {
        f"the segment {rows[0]['seq']}": {
            "sent at s": [f"{s['at_s']:.3f}" for s in rows],
            "why": ["new" if s["why"] == "new" else "the timer ran out" for s in rows],
            "arrived": ["yes" if s["arrived"] else "no, in error" for s in rows],
            "RTO that ran out s": ["–" if s["why"] == "new" else f"{s['waited_s']:g}" for s in rows],
        }
    }


def draws(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "fig-silence",
        "Error rate 1e-3: everything that node 0 sends, and its retransmission timer. In the shaded "
        "silence it sends one segment three times, each time in vain.",
        lambda: drawings.silence(case(results), sends(case(results))),
    )


def text(results: Results) -> str:
    found = case(results)
    rows = stuck(found)
    hit = 1 - (1 - 1e-3) ** cases.FRAME_BYTES
    again = [s for s in rows if s["again"]]
    lost = [s for s in again if not s["arrived"]]
    times = ", ".join(f"{s['at_s']:.3f}" for s in again)
    pauses = sweeps.pauses_s(results["silence seeds"])
    waited = ", ".join(f"{s['waited_s']:g}" for s in again)
    return f"""\
The paper says that node 0 sends nothing between 3 and 8 s, "possibly because", and stops there.

The trace has the reason: **exponential back-off of the retransmission timer, over one segment that was
unlucky {len(lost) + 1} times in a row.** Segment {rows[0]["seq"]} was sent at {rows[0]["at_s"]:.3f} s and
lost. cwnd was two segments, so only one more followed it: a single duplicate ACK came back, where fast
retransmission needs three. So the timer had to do it. Its RTO was {waited} s in turn, doubled each time, and
it ran out at {times} s. All copies but the last were in error too. With {hit:.3f} of the frames lost,
{len(lost)} of them in a row is what happens to {hit ** len(lost):.1%} of the segments that a timer has to
send.

So node 0 is not quite silent: between 3 and 8 s it sends this segment three times. The graph of cwnd does
not show it, because cwnd is one segment before each timeout and after it. The longest time in which nothing
is sent at all is the 3.2 s of the fifth RTO, from 5.688 to 8.888 s.

It is no rare accident either: of {len(pauses)} other draws at this error rate {(pauses >= 3).mean():.0%}
have a pause of three seconds or more. A timer that doubles needs only a few losses in a row to get there,
and at this rate nearly every other segment is lost."""


PART = Part("1.4 The silence at error rate 1e-3", drawings=draws, tables=tables, text=text)
