"""One story from both ends: the answers from the sender's capture, the receiver's and both, compared as data.

    .venv/bin/python validation/ends.py --simulated 300 --live 60 [--seed 1] [--only NAME] [--evidence]

Transfers are drawn from the seed (ends_draw.py) and run, in the simulator or through the live bench
(Linux, root, iperf3). Every claim that an answer makes (what set a repair off, timeouts, why nothing was
sent, outages with begin and end, the cause of most of the time) is compared with the truth (ends_truth.py),
and those that are *known* at two ends with each other. Exits 0 if every bar is met; else 1, with the
transfers that failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ends_compare
import ends_draw
import ends_outages
import ends_truth
import rexmit as rx
from ends_compare import CLASS, SIDES
from ends_outages import CLOSE, Bound, Stated
from ends_truth import MS, Truth
from rexmit.screen.words import cause_and_end

SURE = ("known", "likely")
#: Of what is true, the share that an answer names *known* or *likely*, and right, at least.
FLOOR = {"both": 0.7, "sender": 0.6, "receiver": 0.4}
LIKELY_WRONG_MOST, LIKELY_WRONG_LEAST = 0.10, 0.02
#: Of the intervals stated at the receiver, the share that holds the schedule's begin, and its end.
HELD = 0.95

Json = dict[str, Any]


@dataclass
class Claim:
    """One thing that an answer says, and whether it is so (None: the truth is not known)."""

    transfer: str
    what: str
    side: str
    certainty: str
    right: bool | None
    said: str
    evidence: tuple[str, ...] = ()


@dataclass
class Score:
    claims: list[Claim] = field(default_factory=list)
    #: (what, side): how many are true, and how many of them were named *known* or *likely*.
    true: Counter[tuple[str, str]] = field(default_factory=Counter)
    named: Counter[tuple[str, str]] = field(default_factory=Counter)
    contradictions: list[str] = field(default_factory=list)
    #: What is known at two ends and was compared, by what it is.
    pairs: Counter[str] = field(default_factory=Counter)
    #: Outages stated at the receiver where the schedule has one, however sure.
    bounds: list[Bound] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    made: int = 0
    skipped: list[str] = field(default_factory=list)

    def add(self, claim: Claim) -> bool:
        """Whether it counts as named."""
        self.claims.append(claim)
        return claim.right is True and claim.certainty in SURE


@dataclass
class Answers:
    """What is said of one transfer from each side; times in ns on the captures' clock."""

    name: str
    flows: dict[str, Json]
    origin: dict[str, int]

    def ns(self, side: str, seconds: float | None) -> int | None:
        return None if seconds is None else self.origin[side] + round(seconds * 1e9)


def asked(name: str, folder: Path, t: Truth) -> Answers:
    """The largest flow, from each side."""
    near, far = folder / "pc.pcapng", folder / "server.pcapng"
    captures = {
        "sender": rx.capture(near, at="sender"),
        "receiver": rx.capture(far, at="receiver"),
        "both": rx.capture(near, receiver=far),
    }
    flows, origin = {}, {}
    for side, capture in captures.items():
        wanted = f"{t.src[0]}:{t.src[1]}"
        listed = capture.overview(8)["flows"]
        flows[side] = next(f for f in listed if f["sender"] == wanted)
        origin[side] = capture.origin_ns
    return Answers(name, flows, origin)


def evidence(row: Json) -> tuple[str, ...]:
    return tuple(row["evidence"])


def score_triggers(a: Answers, side: str, t: Truth, score: Score) -> None:
    """What set the repair of each burst off, by the copy that was the first repair."""
    when = {(s.arrived if side == "receiver" else s.packet.time): s for s in t.sent if s.again}
    named = set()
    for b in a.flows[side]["bursts"]:
        if b["trigger"] == "unrepaired":
            continue
        s = when.get(a.ns(side, b["first_repair_s"]) or 0)
        if s is None or s.cause is None:
            right = None if not t.causes_known or s is not None else False
        else:
            true = {"timeout": "timer-rto", "probe": "timer-probe"}.get(s.cause, "ack")
            right = true == b["trigger"]
        said = f"{b['trigger']} at {b['first_repair_s']:.6f} ({s.cause if s else 'nothing'})"
        if score.add(Claim(a.name, "trigger", side, b["certainty"], right, said, evidence(b))) and s:
            named.add(s.packet.seq)
    if t.causes_known:
        # True bursts are those of both captures: each names its first repair.
        true = {b["seq_start"] for b in a.flows["both"]["bursts"] if b["trigger"] != "unrepaired"}
        score.true["trigger", side] += len(true)
        score.named["trigger", side] += min(len(named), len(true))


def score_timeouts(a: Answers, side: str, t: Truth, score: Score) -> None:
    """How often the timer fired in each episode; at the receiver as far as what it sent arrived."""
    if not t.causes_known:
        return
    times = [(s.arrived if side == "receiver" else s.packet.time) for s in t.timeouts]
    times = sorted(x for x in times if x is not None)
    last = t.sent[-1].packet.time + 60_000 * MS
    named = 0
    for e in a.flows[side]["episodes"]:
        begin, end = a.ns(side, e["first_repair_s"]), a.ns(side, e["end_s"]) or last
        true = sum(begin - 1000 <= x <= end + 1000 for x in times)
        said = f"{e['timeouts']} timeouts at {e['first_repair_s']:.6f} ({true})"
        right = true == e["timeouts"]
        score.add(Claim(a.name, "timeouts", side, e["certainty"], right, said, evidence(e)))
        if e["certainty"] in SURE:
            named += min(true, e["timeouts"])
    score.true["timeout", side] += len(t.timeouts)
    score.named["timeout", side] += named


def true_gap(t: Truth, side: str, start: int, end: int) -> str | None:
    """Why nothing was sent in most of this span (where packets arrive: of what should have arrived in it)."""
    overlaps = []
    for g in t.gaps:
        shift = 0
        if side == "receiver":
            s = next((s for s in t.sent if s.packet.time >= g.end and s.arrived), None)
            shift = (s.arrived - s.packet.time) if s and s.arrived else 0
        overlaps.append((min(end, g.end + shift) - max(start, g.start + shift), g.cause))
    most = max(overlaps, default=(0, "sending"))
    return most[1] if 2 * most[0] >= end - start else "sending"


def score_idle(a: Answers, side: str, t: Truth, score: Score) -> None:
    for row in a.flows[side]["idle"]:
        if row["cause"] == "handshake":
            continue
        start = a.ns(side, row["start_s"])
        end = start + round(row["length_s"] * 1e9)
        true, said = true_gap(t, side, start, end), CLASS[row["cause"]]
        right = None if true == "unknown" or said == "unknown" else true == said
        words = f"{row['cause']} at {row['start_s']:.6f} for {row['length_s']:.3f} ({true})"
        score.add(Claim(a.name, "idle", side, row["certainty"], right, words, evidence(row)))


def stated(a: Answers, side: str, o: Json) -> Stated:
    b0, b1, e0, e1 = (
        a.ns(side, o[k]) for k in ("begin_earliest_s", "begin_latest_s", "end_earliest_s", "end_latest_s")
    )
    assert b0 is not None
    assert b1 is not None
    assert e0 is not None
    return Stated((b0, b1), (e0, e1), o["certainty"])


def score_outages(a: Answers, side: str, t: Truth, score: Score) -> None:
    """Each outage that is named against the schedule, and how many of the schedule's were named."""
    named: set[int] = set()
    found = a.flows[side]["outages"] or {"each": []}
    for o in found["each"]:
        s = stated(a, side, o)
        near = [k for k, (x, y, *_) in enumerate(t.outages) if s.near(x, y)]
        hit = [k for k in near if s.holds_begin(t.outages[k][0]) and s.holds_end(t.outages[k][1])]
        said = (
            f"begin {o['begin_earliest_s']:.3f} to {o['begin_latest_s']:.3f}, "
            f"end {o['end_earliest_s']:.3f} to {o['end_latest_s']} "
            f"({[tuple(round((x - a.origin[side]) / 1e9, 3) for x in t.outages[k][:2]) for k in near]})"
        )
        # A channel that loses in bursts delivers nothing for a while, too.
        burst = any(s.holds_begin(x) and y <= s.over + CLOSE for x, y in t.runs)
        claim = Claim(a.name, "outage", side, o["certainty"], bool(hit) or burst, said, evidence(o))
        if score.add(claim):
            named.update(hit)
        if near and side == "receiver":
            x, y, *_ = t.outages[(hit or near)[0]]
            score.bounds.append(ends_outages.bound(f"{a.name}: {said}", s, x, y, t))
    score.true["outage", side] += len(t.outages)
    score.named["outage", side] += len(named)
    for k, (x, y, way, n) in enumerate(t.outages):
        if k not in named:
            begin, end = ((v - a.origin[side]) / 1e9 for v in (x, y))
            score.unnamed.append(f"{side} {a.name}: {begin:.3f} to {end:.3f}, {way}, took {n} packets")


def score_cause(a: Answers, side: str, d: ends_draw.Drawn, score: Score) -> None:
    """The answer: the cause that took most of the time."""
    answer = a.flows[side]["answer"]
    if not answer:
        return
    # A program that is stopped now and then is held by its path most of the time.
    told = d.causes is not None and (d.state or d.kind != "pauses") and answer["cause"] != "cannot-tell"
    right = answer["cause"] in (d.causes or ()) if told else None
    said = f"{cause_and_end(answer)} for {answer['seconds']:.2f} s"
    score.add(Claim(a.name, "cause", side, answer["certainty"], right, said, (answer["cause"],)))
    score.true["cause", side] += 1
    score.named["cause", side] += answer["certainty"] in SURE and right is not False


def transfer(d: ends_draw.Drawn, live: bool, score: Score) -> str | None:
    """Runs one, and scores it; why it could not be, if so."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        bench = "live" if live else "sim"
        try:
            run = rx.run(rx.Scenario.parse(d.text, d.name), bench=bench, captures=folder)
        except (rx.LiveError, OSError) as e:
            return str(e)
        late = (run.summary.get("bridge") or {}).get("late_p99_s") or 0
        if late > 0.005:
            return f"the bridge was late: p99 {late * 1000:.1f} ms"
        t = ends_truth.of(run, folder, d, live)
        if len(t.sent) < 20:
            return "too little was sent"
        a = asked(d.name, folder, t)
    for side in SIDES:
        score_triggers(a, side, t, score)
        score_timeouts(a, side, t, score)
        score_idle(a, side, t, score)
        score_outages(a, side, t, score)
        score_cause(a, side, d, score)
    for what, one, other, excluded in ends_compare.pairs(a.flows, a.origin):
        score.pairs[what] += 1
        if excluded:
            score.contradictions.append(f"{a.name}: {what}, {one} and {other}: {excluded}")
    return None


def report_bounds(bounds: list[Bound], listed: bool) -> list[str]:
    """Prints how many intervals of begin and end held the schedule's, and how wide they were."""
    if not bounds:
        return []
    n = len(bounds)
    missed = []
    for word, held in (("begin", [b.begin_in for b in bounds]), ("end", [b.end_in for b in bounds])):
        print(f"outages at the receiver: {word} within its bounds {sum(held)} of {n} ({HELD:.0%})")
        if sum(held) < HELD * n:
            missed.append(f"the {word} of an outage at the receiver: within its bounds {sum(held)} of {n}")
    for sending, than in ((True, "a round trip"), (False, "the silence")):
        of = [b for b in bounds if b.still_sending is sending]
        narrow = sum(b.narrow for b in of)
        print(f"outages at the receiver: bounds no wider than {than} {narrow} of {len(of)} ({HELD:.0%})")
        if narrow < HELD * len(of):
            missed.append(f"bounds of an outage at the receiver: {narrow} of {len(of)} within {than}")
    if listed:
        wrong = [b for b in bounds if not (b.begin_in and b.end_in and b.narrow)]
        print("bounds that missed:", *wrong, sep="\n  ")
    return missed


def report(score: Score, by_evidence: bool, listed: int) -> list[str]:
    """Prints the tables; the bars that are missed."""
    missed = []
    groups: dict[tuple[str, str, str], list[Claim]] = defaultdict(list)
    for c in score.claims:
        groups[c.what, c.side, c.certainty].append(c)
    print(f"{'claim':<10} {'side':<9} {'sure':<7} {'right':>6} {'wrong':>6} {'?':>5}")
    for (what, side, sure), claims in sorted(groups.items()):
        right = sum(c.right is True for c in claims)
        wrong = [c for c in claims if c.right is False]
        print(
            f"{what:<10} {side:<9} {sure:<7} {right:>6} {len(wrong):>6} {len(claims) - right - len(wrong):>5}"
        )
        if sure == "known":
            missed += [
                f"known and wrong: {c.transfer} {c.side} {c.what}: {c.said} {c.evidence}" for c in wrong
            ]
        if by_evidence:
            sets: Counter[tuple[tuple[str, ...], bool]] = Counter(
                (c.evidence, c.right is not False) for c in claims
            )
            for (names, ok), n in sorted(sets.items(), key=lambda item: -item[1])[:14]:
                print(f"    {n:>5} {'right' if ok else 'WRONG'}  {' '.join(names)}")
            for c in wrong[:listed]:
                print(f"      {c.transfer}: {c.said}")
    likely = [c for c in score.claims if c.certainty == "likely" and c.right is not None]
    wrong = sum(c.right is False for c in likely)
    share = wrong / max(1, len(likely))
    print(f"\nlikely: {wrong} of {len(likely)} wrong, {share:.1%} (2% to 10%)")
    if share > LIKELY_WRONG_MOST:
        missed.append(f"likely is wrong in {share:.1%}")
    if likely and share < LIKELY_WRONG_LEAST:
        missed.append(f"likely is wrong in {share:.1%}: too weak a word")
    for (what, side), n in sorted(score.true.items()):
        part = score.named[what, side] / max(1, n)
        named = f"{score.named[what, side]:>5} of {n:>5} known or likely"
        print(f"{what:<10} {side:<9} {named}: {part:.0%} ({FLOOR[side]:.0%})")
        if n and part < FLOOR[side]:
            missed.append(f"{what} at {side}: {part:.0%} known or likely")
    missed += report_bounds(score.bounds, by_evidence)
    if by_evidence:
        print("outages that nobody named:", *score.unnamed, sep="\n  ")
    each = ", ".join(f"{what} {n}" for what, n in sorted(score.pairs.items()))
    print(f"known at two ends: {score.pairs.total()} pairs ({each}), {len(score.contradictions)} contradict")
    return missed + score.contradictions


def run(seed: int, simulated: int, live: int, only: str | None = None, kind: str | None = None) -> Score:
    """Runs and scores so many transfers."""
    score = Score()
    for bench, count in ((False, simulated), (True, live)):
        for number in range(count):
            d = ends_draw.drawn(seed, number, bench)
            if (only and d.name != only) or (kind and d.kind != kind):
                continue
            failed = transfer(d, bench, score)
            score.made += failed is None
            if failed:
                score.skipped.append(f"{d.name} ({'live' if bench else 'simulated'}): {failed}")
    return score


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulated", type=int, default=0, metavar="N")
    parser.add_argument("--live", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the transfer of this name alone; shows what is said of it")
    parser.add_argument("--kind", help="only this kind")
    parser.add_argument("--evidence", action="store_true", help="right and wrong by what the claims rest on")
    parser.add_argument("--listed", type=int, default=4, help="wrong claims shown with --evidence")
    args = parser.parse_args()
    score = run(args.seed, args.simulated, args.live, args.only, args.kind)
    missed = report(score, args.evidence, args.listed)
    print(f"{score.made} transfers, seed {args.seed}; {len(score.skipped)} could not be scored")
    print(*score.skipped, sep="\n")
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
