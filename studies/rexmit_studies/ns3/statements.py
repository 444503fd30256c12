"""What the paper says of its Figs. 1 to 11, held against ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rexmit_studies import own
from rexmit_studies.ns3 import base, cases, silence, sweeps, tables, tuned, variants
from rexmit_studies.ns3.cases import Case, Numbers
from rexmit_studies.ns3.section2 import download
from rexmit_studies.rows import each_tried
from rexmit_studies.study import Missing, Results, Statement

KEY = "ns3.statement."
NONE = "the run with your values has none of what it speaks of"
#: Events that lie so near each other belong together, s.
NEAR_S = 0.15
#: A line is almost flat if it rises at less than this share of its usual pace.
FLAT = 1 / 3
#: Slow start is over then, s.
PAUSES_FROM_S = 1.5


def _errors(case: Case) -> Numbers:
    found: Numbers = case.drops["time"][case.drops.equals("cause", "channel")]
    return found


def _falls(case: Case, share: float = 0.75) -> Numbers:
    """When cwnd fell to such a share or less."""
    time, cwnd = case.cwnd
    found: Numbers = time[1:][cwnd[1:] <= share * cwnd[:-1]]
    return found


def _follows(events: Numbers, at: float, near_s: float = NEAR_S) -> bool:
    return bool(((events >= at - 1e-9) & (events <= at + near_s)).any())


def _near_s(case: Case) -> float:
    """How soon cwnd falls: a loss is known three duplicate ACKs, or a round trip, behind it."""
    return max(NEAR_S, 6 * case.delay_s)


def _clusters(times: Numbers, near_s: float = NEAR_S) -> list[float]:
    """The first of events that lie near each other."""
    return [float(t) for k, t in enumerate(times) if k == 0 or t - times[k - 1] > near_s]


def each(
    results: Results, makes: Mapping[str, Callable[[Results], Statement]]
) -> Iterator[Statement | Missing]:
    """The statements by the ends of their keys. What one needs need not be there with other values."""
    return each_tried(KEY, makes, results, NONE)


def of_base(results: Results) -> Iterator[Statement | Missing]:
    """Fig. 1."""
    return each(
        results,
        {
            "fig1a_linear": _linear,
            "fig1a_flat": _flat,
            "fig1b_steady": _steady,
            "fig1c_shoots": _shoots,
            "fig1c_creeps": _creeps,
            "fig1d_full": _full,
            "fig1d_errors": _by_error,
        },
    )


@dataclass(frozen=True)
class Opening:
    """When the first fast recovery makes the ACK line flat (from, to), when the line is straight afterwards,
    and when cwnd has had its first peak, s.
    """

    flat_s: tuple[float, float]
    settled_s: float
    first_peak_s: float


def opening(case: Case) -> Opening:
    """The times that the paper names; with the user's values those of the first fast recovery."""
    if not own.current():
        return Opening((1.1, 1.2), 1.3, PAUSES_FROM_S)
    first = case.recoveries[0]
    start, end = float(first["start_s"]), float(first["end_s"])
    # The ACK that ends it covers all that was lost.
    return Opening((start, end - 1e-6), end, end)


def _pace(case: Case) -> float:
    """Bytes acknowledged in a second, from 1.3 s on."""
    time, acks = case.acks
    over = opening(case).settled_s
    later = time > over
    return float((acks[-1] - acks[later][0]) / (time[-1] - over))


def _linear(results: Results) -> Statement:
    case = base.base(results)
    time, acks = case.acks
    over = opening(case).settled_s
    later = time > over
    straight = float(np.corrcoef(time[later], acks[later])[0, 1] ** 2) if later.sum() > 2 else 0.0
    return Statement(
        KEY + "fig1a_linear",
        f"a straight line explains {straight:.2%} of the ACK line from {over:.3g} s on",
        straight > 0.99,
        drawing="fig1a-sequence",
    )


def _flat(results: Results) -> Statement:
    case = base.base(results)
    time, acks = case.acks
    low, high = opening(case).flat_s
    first = case.recoveries[0]
    # The ACK that ends it covers all that was lost.
    start, end = float(first["start_s"]), float(first["end_s"]) - 1e-6

    def rises(since: float, until: float) -> float:
        at = [float(acks[time <= t][-1]) for t in (since, until)]
        return (at[1] - at[0]) / (until - since) / _pace(case)

    said = f"in the first fast recovery, from {start:.4g} to {end:.4g} s, the ACK line rises at "
    said += f"{rises(start, end):.0%} of its later pace"
    if (low, high) != (start, end):
        said += f"; from {low:.3g} to {high:.3g} s as a whole at {rises(low, high):.0%}"
    return Statement(
        KEY + "fig1a_flat",
        said,
        rises(start, end) < FLAT,
        drawing="fig1a-first-recovery",
    )


def _steady(results: Results) -> Statement:
    mbps = base.base(results).throughput_mbps
    return Statement(
        KEY + "fig1b_steady",
        f"{mbps:.2f} Mbps over the 9 s",
        abs(mbps - 4.2) < 0.05,
        drawing="fig1b-throughput",
    )


def _shoots(results: Results) -> Statement:
    case = base.base(results)
    when, cwnd = case.cwnd
    until = opening(case).first_peak_s
    first = float(cwnd[when < until].max())
    most = float(cwnd[when >= until].max())
    return Statement(
        KEY + "fig1c_shoots",
        f"{first:,.0f} bytes before {until:.3g} s, {most:,.0f} at most afterwards",
        first > 1.5 * most,
        drawing="fig1c-cwnd",
    )


def _creeps(results: Results) -> Statement:
    case = base.base(results)
    when, cwnd = case.cwnd
    one = case.recoveries[0]
    inside = (when > one["start_s"] + 1e-9) & (when < one["end_s"] - 1e-9)
    within = cwnd[inside]
    down = 1 - within[1:][np.diff(within) < 0] / within[:-1][np.diff(within) < 0]
    return Statement(
        KEY + "fig1c_creeps",
        f"cwnd falls {len(down)} times inside the first recovery, by {np.median(down):.1%} in the median"
        if len(down)
        else "cwnd never falls inside the first recovery",
        # Small beside the half that a loss takes.
        len(down) > 0 and float(np.median(down)) < 0.1,
        drawing="fig1c-cwnd",
    )


def _full(results: Results) -> Statement:
    case = base.base(results)
    near_s = _near_s(case)
    falls, full = _falls(case), _clusters(case.full["time"], near_s)[1:]
    if not full:
        raise ValueError("the queue is full once at most")
    hit = sum(_follows(falls, t, near_s) for t in full)
    return Statement(
        KEY + "fig1d_full",
        f"behind {hit} of {len(full)} times that the queue was full, the first left out, cwnd falls to 3/4 "
        "or less "
        f"within {near_s:g} s",
        hit == len(full),
        drawing="fig1de-queue",
    )


def _by_error(results: Results) -> Statement:
    case = base.base(results)
    if own.current():
        return _by_own_errors(case)
    falls, full = _falls(case), _clusters(case.full["time"])[1:]
    by_error = [
        t
        for t in (7.5, 8.1, 9.1)
        if any(abs(e - t) < 0.1 and _follows(falls, e) and not _near(full, e) for e in _errors(case))
    ]
    return Statement(
        KEY + "fig1d_errors",
        "cwnd falls behind a frame in error, and without a full queue, near "
        + (", ".join(f"{t:g} s" for t in by_error) or "none of these times"),
        len(by_error) == 3,
        drawing="fig1c-cwnd",
    )


def _by_own_errors(case: Case) -> Statement:
    """The same with the user's values, whose frames in error have times of their own."""
    near_s = _near_s(case)
    falls, full = _falls(case), _clusters(case.full["time"], near_s)
    alone = [t for t in _clusters(_errors(case), near_s) if not any(abs(f - t) < near_s for f in full)]
    if not alone:
        raise ValueError("no frame is in error away from a full queue")
    hit = sum(_follows(falls, t, near_s) for t in alone)
    return Statement(
        KEY + "fig1d_errors",
        f"behind {hit} of {len(alone)} frames in error (or bursts of them) away from a full queue cwnd falls "
        f"to 3/4 or less within {near_s:g} s",
        2 * hit > len(alone),
        drawing="fig1c-cwnd",
    )


def _near(times: Sequence[float], at: float) -> bool:
    return any(abs(t - at) < NEAR_S for t in times)


def pauses(case: Case) -> tuple[Numbers, Numbers]:
    """The pauses of more than half a round trip behind 1.5 s: end and length of each, s; and which of them
    lie in a fast recovery or in the round trip behind it.
    """
    sent = case.host.where(case.host.equals("event", "sent"))["time"]
    sent = sent[sent > PAUSES_FROM_S]
    gaps, rtt = np.diff(sent), 2 * case.delay_s
    long = gaps > rtt / 2
    ends = sent[1:][long]
    during = [any(r["start_s"] <= t <= r["end_s"] + rtt for r in case.recoveries) for t in ends]
    return np.column_stack([ends, gaps[long]]), np.array(during, dtype=bool)


def round_trips(case: Case) -> float:
    """How many round trips of an empty path there are in the time in which pauses are looked for."""
    return (cases.END_S - PAUSES_FROM_S) / (2 * case.delay_s)


def of_fast(results: Results) -> Iterator[Statement]:
    """Fig. 2."""
    yield _sweeps(results)
    case = tables.case(results, "50 Mbps 5")
    waits, in_recovery = pauses(case)
    during = int(in_recovery.sum())
    yield Statement(
        KEY + "fig2_waits",
        f"{len(waits)} pauses of more than half a round trip behind {PAUSES_FROM_S:g} s, in "
        f"{round_trips(case):.0f} round trips; {len(waits) - during} of them lie outside recoveries",
        len(waits) >= 3,
        drawing="fig2-sequence-50mbps",
    )


def _sweeps(results: Results) -> Statement:
    """Section 1.2, the last sentence: what else was changed changed less."""
    mean = {name: float(values.mean()) for name, values in sweeps.fast_mbps(results["fast seeds"]).items()}
    span = {
        what: [m for name, m in mean.items() if name.startswith(what)]
        for what in ("delay", "errors", "queue")
    }
    factor = {what: max(each) / min(each) for what, each in span.items()}
    said = ", ".join(f"{what} by {f:.2f}" for what, f in factor.items())
    return Statement(
        KEY + "fast_others",
        "over delays of 1 to 10 ms, error rates of 1e-5 to 1e-7, queues of 5 to 100 packets the largest "
        "mean is above "
        f"the least: {said} times",
        factor["delay"] > 2 * max(factor["errors"], factor["queue"]),
        drawing="throughput-50mbps",
    )


def of_delay(results: Results) -> Iterator[Statement]:
    """Figs. 3 and 4."""
    thr = {d: tables.case(results, f"delay {d}").throughput_mbps for d in cases.DELAYS_MS}
    product = {d: float(d) * mbps for d, mbps in thr.items()}
    yield Statement(
        KEY + "fig3_inverse",
        "delay × throughput, which would be constant, is "
        + ", ".join(f"{p:.0f}" for p in product.values())
        + f" ms Mbps at {', '.join(product)} ms",
        max(product.values()) < 1.5 * min(product.values()),
        drawing="fig3-delay",
    )
    changes = {d: len(tables.case(results, f"delay {d}").cwnd[0]) for d in ("1", "5", "50", "100")}
    yield Statement(
        KEY + "fig4_seldom",
        ", ".join(f"{n:,} changes at {d} ms" for d, n in changes.items()),
        min(changes["1"], changes["5"]) > 2 * max(changes["50"], changes["100"]),
        drawing="fig4-cwnd-delay",
    )
    far = {d: tables.case(results, f"delay {d}") for d in ("50", "100")}
    said = "; ".join(
        f"at {d} ms {len(c.full)} drops by the full queue, {len(_errors(c))} errors" for d, c in far.items()
    )
    yield Statement(
        KEY + "fig4_not_full",
        said,
        all(len(c.full) < len(_errors(c)) for c in far.values()),
        drawing="fig4-cwnd-delay",
    )


def of_errors(results: Results) -> Iterator[Statement]:
    """Fig. 5."""
    thr = [tables.case(results, f"error {e}").throughput_mbps for e in cases.ERROR_RATES]
    rising = all(b > a for a, b in pairwise(thr[:5]))
    yield Statement(
        KEY + "fig5_rises",
        ", ".join(f"{t:.3f}" for t in thr) + " Mbps at 1e-3 to 1e-8",
        rising and thr[-1] == thr[-2],
        drawing="fig5-error-rate",
    )


def of_silence(results: Results) -> Iterator[Statement | Missing]:
    """Section 1.4."""
    return each(results, {"fig5_early": _early, "fig5_silent": _silent})


def _early(results: Results) -> Statement:
    case = silence.case(results)
    early = float(case.drops["time"].min())
    ones = int((case.cwnd[1][1:] == cases.SEGMENT_BYTES).sum())
    return Statement(
        KEY + "fig5_early",
        f"the first packet is lost at {early:.2f} s, and cwnd falls to one segment {ones} times",
        early < 1.5 and ones > 2,
        drawing="fig-silence",
    )


def _silent(results: Results) -> Statement:
    inside = silence.inside(silence.case(results))
    new = sum(not s["again"] for s in inside)
    each_in_vain = ", each in vain" if not any(s["arrived"] for s in inside) else ""
    again = f"{len(inside) - new} copies" + (" of one" if len({s["seq"] for s in inside}) == 1 else "")
    return Statement(
        KEY + "fig5_silent",
        f"with a correction: {new} new segments leave, and {again} by the timer{each_in_vain}",
        new == 0 and not any(s["arrived"] for s in inside),
        drawing="fig-silence",
    )


def of_queue(results: Results) -> Iterator[Statement]:
    """Fig. 6 and section 1.5."""
    thr = {q: tables.case(results, f"queue {q}").throughput_mbps for q in cases.QUEUES}
    each = list(thr.values())
    yield Statement(
        KEY + "fig6_rises",
        ", ".join(f"{t:.3f}" for t in each) + f" Mbps with {', '.join(thr)} packets",
        all(b >= a for a, b in pairwise(each)) and each[-1] == each[-2] and each[0] < 0.1 * each[1],
        drawing="fig6-queue-size",
    )
    most = [tables.case(results, f"queue {q}").most_waiting for q in ("500", "1000")]
    # The paper's number is what the receiver's window leaves beside its path; so is the user's.
    bound = 115 if own.mine("stack") is not None or not own.current() else tables.window_bound() + 4
    yield Statement(
        KEY + "fig6_110",
        f"{most[0]} and {most[1]} packets at most",
        max(most) <= bound,
        drawing="queue-occupancy",
    )


def of_variants(results: Results) -> Iterator[Statement | Missing]:
    """Fig. 7."""
    makes = {"fig7_none": _none, "fig7_one": _one, "fig7_first": _first, "fig7_leaves": _leaves}
    return each(results, makes)


def _variants(results: Results) -> dict[str, Case]:
    return {name: variants.case(results, v) for v, name in variants.NAMES.items()}


def _none(results: Results) -> Statement:
    fired = {name: variants.timeouts(c) for name, c in _variants(results).items()}
    return Statement(
        KEY + "fig7_none",
        ", ".join(f"{name} {n}" for name, n in fired.items()) + " timeouts",
        sum(fired.values()) == 0,
        drawing="fig7-variants",
    )


def _one(results: Results) -> Statement:
    least = [after for _, _, after in variants.reductions(_variants(results)["Tahoe"])]
    low, high = min(least), max(least)
    return Statement(
        KEY + "fig7_one",
        f"it falls to {low:.0f}"
        + (f" to {high:.0f}" if high > low else "")
        + f" bytes in {len(least)} reductions",
        all(after == cases.SEGMENT_BYTES for after in least),
        drawing="fig7-variants",
    )


def _first(results: Results) -> Statement:
    first = {name: variants.reductions(c)[0][1] for name, c in _variants(results).items()}
    return Statement(
        KEY + "fig7_first",
        ", ".join(f"{name} {before:,.0f}" for name, before in first.items())
        + " bytes before the first reduction",
        all(before == 17688 for before in first.values()),
        drawing="fig7-variants",
    )


def _leaves(results: Results) -> Statement:
    found = _variants(results)
    reno = [r["ack"] == r["first_new"] for r in variants.leaving(found["Reno"])]
    newreno = [r["ack"] >= r["sent"] for r in variants.leaving(found["NewReno"])]
    if not reno or not newreno:
        raise ValueError("one of them has no fast recovery")
    return Statement(
        KEY + "fig7_leaves",
        f"Reno in {sum(reno)} of {len(reno)} recoveries, NewReno in {sum(newreno)} of {len(newreno)}",
        all(reno) and all(newreno),
        drawing="fig7-variants",
    )


def of_download(results: Results) -> Iterator[Statement]:
    """Figs. 8 to 10, of a download of our own."""
    here = download(results)
    simulated = tuned.tuned(results)
    lasts, rate = float(simulated.flow["duration_s"]), tuned.wire_mbps(simulated)
    yield Statement(
        KEY + "fig8_span",
        f"simulated at {rate:.3f} Mbps, all bytes counted, 74 MiB take {lasts:.1f} s, of the paper's 110",
        abs(lasts - 110) < 5 and round(rate, 3) == 6.142,
        rows=["ns3.download.transfer_s"],
        drawing="fig8-throughput",
    )
    causes = here.again.text("cause")
    late = int(here.flow["timeouts"])
    yield Statement(
        KEY + "fig9_all",
        f"{sum(c == 'recovery' for c in causes)} of {len(causes)} retransmissions in fast recovery, {late} "
        "timeouts, in "
        "our download",
        late == 0 and all(c == "recovery" for c in causes),
        drawing="fig9-repairs",
    )
    at, answers = here.answers
    yield Statement(
        KEY + "fig10_least",
        f"{1e6 * answers.min():.0f} µs, from a segment to this host's own ACK, in our download",
        1e-6 < float(answers.min()) < 1e-4,
        drawing="fig10-rtt",
    )
    peaks = at[answers > 0.5 * answers.max()]
    again = here.again["time"]
    beside = float(np.mean([bool((np.abs(again - t) < 0.2).any()) for t in peaks]))
    yield Statement(
        KEY + "fig10_peaks",
        f"{beside:.0%} of the {len(peaks)} values above half of the largest, {1e3 * answers.max():.0f} ms, "
        "lie within "
        "0.2 s of a retransmission, in our download",
        beside > 0.95,
        drawing="fig10-rtt",
    )


def of_sack(results: Results) -> Iterator[Statement]:
    """Fig. 11, and what section 2.2 says of it."""
    walk = download(results).example
    counts = sorted(w.dupacks for w in download(results).walks)
    yield Statement(
        KEY + "eighth",
        f"before {len(counts)} repairs {counts[0]} to {counts[-1]} duplicate ACKs come, as many as a round "
        "trip holds behind the third, which is what sets the repair off; none waits for an eighth, in our "
        "download",
        counts[0] == counts[-1] == 8,
        drawing="fig11-ladder",
    )
    yield Statement(
        KEY + "fig11_goes_on",
        f"{walk.new_meanwhile} new segments arrive during {walk.dupacks} duplicate ACKs, in our download",
        walk.new_meanwhile >= 0.5 * walk.dupacks,
        drawing="fig11-sequence",
    )
