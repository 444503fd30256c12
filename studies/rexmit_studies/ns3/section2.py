"""Section 2: the paper's questions, asked of a download that was captured here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rexmit_studies.ns3 import drawings, tuned
from rexmit_studies.ns3.download import FACTORS, Download
from rexmit_studies.rows import exact, given, stated
from rexmit_studies.study import Drawing, Part, Results, Row, Study

#: From then on no queue stands before the bottleneck.
SETTLED_S = 3.0
OTHER = "the paper's capture is not published; this is a download of our own"
YOURS = "another capture than the paper's"


def download(results: Results) -> Download:
    found: Download = results["download"]
    return found


def rows(results: Results) -> Iterator[Row]:
    """The paper's figures: of the whole transfer as simulated, of its exchange of packets as captured."""
    yield from tuned.rows(results)
    yield from walk_through(download(results), OTHER)


def facts(here: Download, why: str) -> Iterator[Row]:
    """What the paper says of its capture, of this one."""
    size = float(here.flow["bytes"]) / 1e6
    longest = float(here.answers[1].max())

    def other(key: str, value: Any, definition: str) -> Row:
        return stated(f"ns3.download.{key}", value, False, f"{definition}, in this download", why)

    yield other("file_megabytes", round(size, 3), "payload, MB")
    yield other("capture_s", round(here.span_s, 2), "from the first packet to the last, s")
    yield other("transfer_s", round(float(here.flow["duration_s"]), 2), "from SYN to the last packet, s")
    yield other(
        "throughput_mbps", round(here.throughput_mbps, 3), "distinct payload over that time, 10^6 bit/s"
    )
    yield given(
        exact(
            "ns3.download.segment_bytes",
            here.segment_bytes,
            "the largest payload; our path has the MTU that gives the paper's segments",
            why=why,
        )
    )
    yield other("max_rtt_s", round(longest, 3), "longest time from a segment to an own ACK that covers it, s")
    yield from walk_through(here, why)


def walk_through(here: Download, why: str) -> Iterator[Row]:
    """One exchange of packets, by its numbers."""
    if not here.walks:
        return
    walk = here.example
    example = "the first burst of four segments; relative numbers"

    def other(key: str, value: Any, definition: str) -> Row:
        return stated(f"ns3.download.{key}", value, False, f"{definition}, in this download", why)

    yield other("sack_example.dupack", walk.ack, f"what the duplicate ACKs ask for, {example}")
    yield other("sack_example.sack_first", walk.first_sack, "SACK block of the first duplicate ACK")
    yield other("sack_example.sack_eighth", walk.eighth_sack, "SACK block of the eighth")
    yield other("sack_example.retransmitted", walk.resent, "segments sent again, in this order")


# ---- 2.1 ----


def draws(results: Results) -> Iterator[Drawing]:
    here = download(results)
    yield Drawing(
        "fig8-throughput", "Fig. 8: throughput of the download, second by second.", here.flow.throughput
    )
    yield Drawing(
        "fig9-repairs",
        "Fig. 9: duplicate ACKs that the receiver sent, and the retransmissions that came, in each second.",
        here.flow.repairs,
    )
    yield Drawing(
        "fig10-rtt",
        "Fig. 10: what a capture at the receiver shows as RTT, beside the round trip of the path. The line "
        "at 1.5 ms is the first of two segments, whose ACK waits for the second; the columns at losses are "
        "segments that had to wait for a hole before them to be filled.",
        lambda: drawings.round_trips(here.answers, here.path_rtt),
    )


def text(results: Results) -> str:
    here = download(results)
    answers, path = here.answers[1], here.path_rtt[1]
    return f"""\
The paper's capture is not published. This one was made for the study: a download of
{float(here.flow["bytes"]) / 1e6:.0f} MB by Linux over a path of 8 Mbps and 30 ms each way, one packet in 500
beginning a short run of losses, captured at the receiver as the paper's was (`validation/download.py` makes
another).

**Retransmissions and duplicate ACKs.** {len(here.again)} segments came again, all of them in fast recovery,
set off by duplicate ACKs with SACK blocks. The sender's timer never ran out.

**The least RTT of some ten microseconds.** Wireshark takes the RTT from a segment to the ACK that covers it.
At the receiver both are at hand: the segment has just crossed the path, and this very host answers. What is
measured is how long the host takes: {1e6 * answers.min():.0f} µs at least, {1e6 * np.median(answers):.0f} µs
in the median. (In ten microseconds light gets through two kilometres of fibre: to a server in the next
street, and back.) The round trip of the path needs the timestamp option, or the handshake:
{1e3 * path.min():.1f} ms at least, {1e3 * np.median(path):.1f} ms in the median. The paper concludes from
its ten microseconds that propagation is short; its capture cannot say that.

**The largest RTT is no round trip either.** A segment behind a hole is acknowledged only when the hole is
filled. The largest value here, {1e3 * answers.max():.0f} ms, is the time that a repair took. So it is in the
paper: its 1.16 s and its peaks "when there are multiple dupacks and several retransmissions" are how long
holes stayed open."""


# ---- 2.2 ----


def draws_sack(results: Results) -> Iterator[Drawing]:
    here = download(results)
    if not here.walks:
        return
    walk = here.example
    number = next(
        int(e["number"]) + 1
        for e in here.flow.episodes()
        if float(e["start"]) <= walk.at_s <= float(e["end"])
    )
    yield Drawing(
        "fig11-sequence",
        "Fig. 11: time and sequence around the loss of four segments. The flat ACK line is the duplicate "
        "ACKs; new data keeps coming meanwhile.",
        lambda: here.flow.time_sequence(walk.at_s - 0.04, walk.at_s + 0.12),
    )
    yield Drawing("fig11-ladder", "The same exchange packet by packet.", lambda: here.flow.ladder(number))


def tables_sack(results: Results) -> dict[str, Any]:
    here = download(results)
    if not here.walks:
        return {}
    walk, segment = here.example, here.segment_bytes
    paper_at, paper_first, paper_eighth = 68876665, (68882257, 68885053), (68882257, 68894839)
    paper_sent = (68876665, 68878063, 68879461, 68880859)

    def after(values: tuple[int, ...], start: int, segment: int = 1398) -> str:
        return ", ".join(f"{(v - start) / segment:g}" for v in values)

    return {
        "the walk-through, counted in segments from the first missing byte": {
            "what": ["missing", "first SACK block", "eighth SACK block", "sent again"],
            "paper": [
                after((paper_at, paper_first[0]), paper_at),
                after(paper_first, paper_at),
                after(paper_eighth, paper_at),
                after(paper_sent, paper_at),
            ],
            "here": [
                after(walk.hole, walk.ack, segment),
                after(walk.first_sack, walk.ack, segment),
                after(walk.eighth_sack, walk.ack, segment),
                after(walk.resent, walk.ack, segment),
            ],
        },
        "every burst with eight duplicate ACKs or more": {
            "at s": [round(w.at_s, 2) for w in here.walks],
            "segments lost": [round((w.hole[1] - w.hole[0]) / segment) for w in here.walks],
            "duplicate ACKs before the repair": [w.dupacks for w in here.walks],
            "new segments meanwhile": [w.new_meanwhile for w in here.walks],
        },
    }


def text_sack(results: Results) -> str:
    here = download(results)
    walk = here.example
    counts = [w.dupacks for w in here.walks]
    kept = [share for at, share in here.kept if at > SETTLED_S]
    return f"""\
The paper follows one repair: a duplicate ACK for 68876665 whose SACK block begins four segments further on,
a block that grows, and after the eighth duplicate ACK the four missing segments in a row. The same happens
here at {walk.at_s:.2f} s: four segments are missing from {walk.ack}, and exactly these four come again, in
order.

**The eighth duplicate ACK is no threshold.** The paper says that the server enters fast retransmission after
the eighth. The third was enough for it, but seen from the receiver the answer takes a round trip to come,
and every segment that arrives in the meantime sets off one more duplicate ACK. In our capture {min(counts)}
to {max(counts)} come before the repair, about as many as segments were under way behind the hole.

**Which variant?** Not Tahoe: after a repair the data of the next round trip is {min(kept):.0%} to
{max(kept):.0%} of that before the loss (losses after the first {SETTLED_S:.0f} s, median
{np.median(kept):.0%}), not one segment. Not Reno's or NewReno's one hole in a round trip either: several
holes are repaired at once, from SACK. And not their halving: what is kept lies near CUBIC's
{FACTORS["cubic"]:.0%}, not at {FACTORS["reno"]:.0%}. It is CUBIC, as we know here. The paper's "Reno-like"
says no more than that the sender kept on sending."""


PARTS = [
    Part(
        "2.1 A captured download",
        rows,
        draws,
        tuned.table,
        lambda r: f"{text(r)}\n\n{tuned.text(r)}",
    ),
    Part("2.2 The recovery of the download", drawings=draws_sack, tables=tables_sack, text=text_sack),
]


# ---- a capture of one's own ----


def captured(paths: Sequence[Path], whole: Study) -> Study:
    """Section 2 of a capture that somebody else took at its receiver."""
    (path,) = paths
    parts = [
        Part("2.1 Your download", lambda r: facts(download(r), YOURS), draws, text=text_of_yours),
        Part(
            "2.2 The recovery of your download",
            drawings=draws_sack,
            tables=tables_sack,
            text=text_sack_of_yours,
        ),
    ]
    return replace(
        whole,
        plan=lambda plan: plan.call("download", lambda: Download.of(path), worth=1.0),
        parts=parts,
        claims=lambda r: [],
        introduction="",
    )


def text_of_yours(results: Results) -> str:
    here = download(results)
    answers, path = here.answers[1], here.path_rtt[1]
    by_ack = sum(cause == "recovery" for cause in here.again.text("cause"))
    if len(path):
        round_trip = f"the path's round trip, by timestamps, {1e3 * path.min():.1f} ms at least"
    else:
        round_trip = "the path's round trip cannot be told: there are no timestamps"
    return f"""\
{len(here.again)} segments came again, {by_ack} of them in fast recovery; the sender's timer ran out
{int(here.flow["timeouts"])} times. From a segment to the ACK that covers it, which Wireshark shows as the
RTT, {1e6 * answers.min():.0f} µs passed at least and {1e3 * answers.max():.0f} ms at most; {round_trip}.
(Read as a capture at the receiver, as the paper's is.)"""


def text_sack_of_yours(results: Results) -> str:
    here = download(results)
    if not here.walks:
        return "No burst of losses was followed by eight duplicate ACKs, so that there is no walk-through."
    kept = [share for _, share in here.kept]
    said = (
        f"After a repair the data of the next round trip is {np.median(kept):.0%} of that before, in the "
        "median; "
        if kept
        else ""
    )
    counts = [w.dupacks for w in here.walks]
    return f"""\
{said}{min(counts)} to {max(counts)} duplicate ACKs came before a repair. CUBIC keeps {FACTORS["cubic"]:.0%},
Reno and NewReno {FACTORS["reno"]:.0%}, Tahoe one segment."""
