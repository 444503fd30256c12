"""The paper's claims, judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rexmit.stats import Test
from rexmit_studies import own
from rexmit_studies.ns3 import cases, silence, statements, sweeps, tables, variants
from rexmit_studies.ns3.section2 import download
from rexmit_studies.rows import each_tried
from rexmit_studies.study import Claim, Missing, Results

#: What still counts as no change of throughput: this share of it.
SAME = 0.01
#: What still counts as proportional: a slope of -1 ± this.
SLOPE = 0.1


def claims(results: Results) -> Iterator[Claim | Missing]:
    found = {
        "silence": _silence,
        "delay_rules": _delay,
        "error_saturates": _errors,
        "queue_saturates": _queue,
        "sender_waits": _waits,
        "variants": _variants,
        "min_rtt": _min_rtt,
        "retransmissions_by_dupack": _dupacks,
    }
    return each_tried("ns3.claim.", found, results, statements.NONE)


def same_mbps(values: cases.Numbers) -> float:
    """What still counts as no change of throughput, Mbps."""
    return SAME * float(f"{values.mean():.2g}")


def _silence(results: Results) -> Claim:
    rows = silence.stuck(silence.case(results))
    inside = silence.inside(silence.case(results))
    waits = [s["waited_s"] for s in rows if s["again"]]
    quiet = all(s["again"] and not s["arrived"] for s in inside)
    if not rows:
        said = "Node 0 sends nothing at all between 3 and 8 s"
    elif not quiet:
        said = f"Node 0 sends {len(inside)} segments between 3 and 8 s, and not all of them in vain"
    else:
        lost = sum(not s["arrived"] for s in rows)
        said = (
            f"Node 0 sends segment {rows[0]['seq']} {len(inside)} times between 3 and 8 s, all in error: its "
            f"timer backs off from {min(waits):g} to {max(waits):g} s over {lost} losses of this one segment"
        )
        said += f", and the copy of {rows[-1]['at_s']:.3f} s arrives" if rows[-1]["arrived"] else ""
    frames = "the frames lost that ns-3.20 lost"
    return Claim(
        "ns3.claim.silence",
        said,
        settled="fails" if inside else "holds",
        effect=f"{len(inside)} segments are sent in the silence",
        reading=f"{frames}; the paper's words: nothing is sent at all",
        beside=Claim(
            "ns3.claim.silence",
            "the paper's graph is one of cwnd, which is one segment before each of these timeouts and after "
            "it: in it the copies cannot be seen"
            if quiet
            else "the paper's graph is one of cwnd, and what leaves between 3 and 8 s is not only copies",
            settled="holds" if quiet else "fails",
            effect=f"{sum(not s['again'] for s in inside)} new segments, {len(inside)} copies in all",
            reading=f"{frames}; what the paper's graph can show: nothing new is sent",
        ),
    )


def _waits(results: Results) -> Claim:
    case = tables.case(results, "50 Mbps 5")
    recovering = sum(r["end_s"] - r["start_s"] for r in case.recoveries)
    waits, during = statements.pauses(case)
    lasted = cases.END_S - cases.START_S
    idle = float(waits[:, 1].sum()) if len(waits) else 0.0
    inside = float(waits[during, 1].sum()) if len(waits) else 0.0
    return Claim(
        "ns3.claim.sender_waits",
        f"The sender pauses {len(waits)} times for more than half a round trip, {idle:.2f} of {lasted:g} s "
        f"in all, {len(waits) - int(during.sum())} of them outside of recoveries: its {len(case.recoveries)} "
        f"recoveries take {recovering:.2f} s together, and pauses in them {inside:.2f} s"
        f". From {statements.PAUSES_FROM_S:g} s on there are {statements.round_trips(case):.0f} round trips",
        settled="holds" if inside > idle / 2 else "fails",
        effect=f"{inside / idle if idle else 0:.0%} of the time in pauses is in recoveries",
        reading=f"the run of Fig. 2: 50 Mbps, 5 ms, {cases.lost()}",
    )


def _delay(results: Results) -> Claim:
    slopes = sweeps.slopes(results["formula seeds"])
    near, far = (tables.case(results, f"delay {d}") for d in ("50", "100"))
    return Claim(
        "ns3.claim.delay_rules",
        f"At a given loss throughput goes with the round trip to the power {slopes.mean():.3f}; in Table 1, "
        f"whose rows differ in their loss, it is {near.throughput_mbps / far.throughput_mbps:.1f} times less "
        "at 100 than at 50 ms",
        tests=[
            Test.alike(
                "how far the slope of log throughput on log delay is from -1",
                slopes,
                np.full(len(slopes), -1.0),
                SLOPE,
            )
        ],
        reading="a given error rate, 1e-5, on a link that is never full; Table 1 has neither",
    )


def _errors(results: Results) -> Claim:
    thr = sweeps.throughput_mbps(results["error seeds"], len(cases.ERROR_RATES))
    means = dict(zip(cases.ERROR_RATES, thr.mean(axis=1), strict=True))
    pairs = [("1e-4", "1e-3"), ("1e-5", "1e-4"), ("1e-6", "1e-5")]
    at = {e: thr[k] for k, e in enumerate(cases.ERROR_RATES)}
    rising = [Test.paired(f"at {a} less at {b}", at[a], at[b], "Mbps") for a, b in pairs]
    return Claim(
        "ns3.claim.error_saturates",
        "Mean throughput at 1e-3 to 1e-8: " + ", ".join(f"{m:.3f}" for m in means.values()) + " Mbps",
        tests=[
            *rising,
            Test.alike("at 1e-8 less at 1e-7", at["1e-8"], at["1e-7"], same_mbps(at["1e-7"]), "Mbps"),
        ],
        reading="errors per byte, other random draws than ns-3.20's; saturated: within 1%",
    )


def _queue(results: Results) -> Claim:
    thr = sweeps.throughput_mbps(results["queue seeds"], len(cases.QUEUES))
    at = {q: thr[k] for k, q in enumerate(cases.QUEUES)}
    pairs = [("2", "1"), ("5", "2"), ("10", "5"), ("100", "10"), ("500", "100")]
    most = tables.case(results, "queue 1000").most_waiting
    if own.current():
        # With the user's values a queue of 100 may never be full: a longer one then changes nothing.
        pairs = [(a, b) for a, b in pairs if int(b) <= most]
    rising = [Test.paired(f"queue of {a} less {b}", at[a], at[b], "Mbps") for a, b in pairs]
    # Another stack has other segments.
    why = (
        f": the receiver's window of 122 segments leaves room for {tables.window_bound()} beside those on "
        "the path"
        if own.mine("stack") is None
        else ""
    )
    return Claim(
        "ns3.claim.queue_saturates",
        f"At most {most} packets wait with a queue of 500 or 1000{why}",
        tests=[
            *rising,
            Test.alike("queue of 1000 less 500", at["1000"], at["500"], same_mbps(at["500"]), "Mbps"),
        ],
        reading="errors per byte, other random draws than ns-3.20's",
    )


def _variants(results: Results) -> Claim:
    tahoe, reno, newreno = (variants.case(results, v) for v in variants.NAMES)
    falls = [after for _, _, after in variants.reductions(tahoe)]
    first = [r["ack"] == r["first_new"] for r in variants.leaving(reno)]
    whole = [r["ack"] >= r["sent"] for r in variants.leaving(newreno)]
    there = bool(falls and first and whole)
    good = there and all(f == cases.SEGMENT_BYTES for f in falls) and all(first) and all(whole)
    return Claim(
        "ns3.claim.variants",
        f"Tahoe falls to one segment in {sum(f == cases.SEGMENT_BYTES for f in falls)} of {len(falls)} "
        f"reductions, Reno leaves at the first new ACK in {sum(first)} of {len(first)} recoveries, NewReno "
        f"with the whole window acknowledged in {sum(whole)} of {len(whole)}",
        settled="holds" if good else "fails" if there else "not decided",
        effect=f"first recovery: Reno {_length(reno):.0f} ms, NewReno {_length(newreno):.0f} ms",
        reading=f"{cases.lost()} in the base case",
    )


def _length(case: cases.Case) -> float:
    first = case.recoveries[0]
    return 1e3 * (first["end_s"] - first["start_s"])


#: A propagation delay that a least round trip of so much would be small beside, s.
SMALL_S = 1e-3


def _min_rtt(results: Results) -> Claim:
    here = download(results)
    answers, path = here.answers[1], here.path_rtt[1]
    least, mean = float(path.min()), float(path.mean())
    return Claim(
        "ns3.claim.min_rtt",
        f"What the paper plots is the time from a segment's arrival to this host's own ACK, "
        f"{1e6 * answers.min():.0f} µs at least and {1e3 * answers.mean():.1f} ms on average: it holds "
        "neither propagation nor transmission. The path's round trip, by timestamps of the same packets, is "
        f"never below {1e3 * least:.1f} ms, so that the propagation delay is not small",
        settled="holds" if least < SMALL_S and least > mean / 2 else "fails",
        effect=f"of the path's own round trip, {1e3 * mean:.1f} ms on average, the least value is "
        f"{least / mean:.0%}: of it the second half of the claim {'holds' if least > mean / 2 else 'fails'}",
        reading="our own download, captured at the receiver like the paper's",
    )


def _dupacks(results: Results) -> Claim:
    here = download(results)
    causes = here.again.text("cause")
    by_ack = sum(cause == "recovery" for cause in causes)
    late = int(here.flow["timeouts"])
    return Claim(
        "ns3.claim.retransmissions_by_dupack",
        f"{by_ack} of {len(causes)} retransmissions came in fast recovery, {late} by a timeout; meanwhile "
        f"up to {max(w.new_meanwhile for w in here.walks)} new segments arrived",
        settled="holds" if by_ack == len(causes) and late == 0 else "fails",
        effect=f"{by_ack / len(causes):.0%} of the retransmissions",
        reading="our own download: the paper's is not published",
    )
