"""Section IV: the exchange of packets in three sections, beside the paper's Figs. 9 to 11."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rexmit_studies import own
from rexmit_studies.interruption import exchange, phases, setups
from rexmit_studies.interruption.sections import IN_WORDS, Section
from rexmit_studies.interruption.traces import ALL_46, Trace, trace
from rexmit_studies.paper import figures
from rexmit_studies.rows import all_tried, exact, fitted, sampled, stated, tried
from rexmit_studies.study import Drawing, Missing, Results, Row

SHIFT = (
    "{} bytes away: the paper's transfer holds a short segment (its numbers are no multiples of 1448), and "
    "which byte an outage meets depends on its phase to the millisecond"
)


#: The paper: more than ten seconds.
LONG_S = 10.0
NONE = "no transfer with your values has such a section"


@dataclass(frozen=True)
class Three:
    """The sections of the three ladders, with their transfers."""

    reno: Trace
    reno_1: Section
    reno_4: Section
    osx: Trace
    osx_2: Section


def three(results: Results) -> Three:
    reno, osx = trace(results, "reno"), trace(results, "osx")
    slow = osx.first("intermittent") or osx.sections[-1]
    return Three(reno, reno.sections[0], reno.first("with") or reno.sections[-1], osx, slow)


def needs(section: Section, kind: str) -> None:
    """Raises ValueError where the user's transfer has no section of the kind that a ladder shows."""
    if own.current() and section.kind != kind:
        raise ValueError(f"no section is {kind}")


def _which(section: Section, ordinal: str, what: str) -> str:
    """`the fourth outage`; with the user's values the section need not be the paper's."""
    return f"section ({section.number}), the first {what}" if own.current() else f"the {ordinal} outage"


def _away(here: int, there: int) -> str:
    return SHIFT.format(f"{here - there:+d}")


def rows(results: Results) -> Iterator[Row | Missing]:
    groups: dict[str, Callable[[], Iterator[Row | Missing]]] = {
        "reno_1": lambda: _reno_1(three(results)),
        "reno_4": lambda: _reno_4(three(results)),
        "osx_2": lambda: _osx_2(results),
    }
    for name, make in groups.items():
        prefix = f"interruption.episode.{name}."
        keys = [key for key in figures(setups.NAME) if key.startswith(prefix)]
        yield from all_tried(keys, make, NONE)


def _reno_1(of: Three) -> Iterator[Row]:
    key, t, s = "interruption.episode.reno_1", of.reno, of.reno_1
    after, last, sack = (
        exchange.segment(t, s.hole_end),
        exchange.last_new(t, s),
        exchange.first_with_sack(t, s),
    )
    yield fitted(
        exact(
            f"{key}.lost_segments",
            s.lost,
            "segments lost in the first outage; the air's rate is fitted to it",
        )
    )
    yield fitted(
        exact(
            f"{key}.first_lost",
            str(s.first_lost),
            "first byte lost; the phase is fitted to it",
            why=_away(s.first_lost, setups.FIT_FIRST_LOST),
        )
    )
    yield exact(
        f"{key}.first_after",
        after.data(),
        "the first segment behind the hole",
        why="the paper's own numbers differ by a segment here: 88 segments from 1967433 end at 2094857, "
        "where its SACK begins, so that what it calls the first behind the hole is the last one lost",
    )
    yield fitted(
        exact(
            f"{key}.first_sack_ack",
            sack.ack() if sack else "none",
            "the first ACK with SACK: it follows from the byte and the count that are fitted",
            why=_away(sack.sack[0][0] if sack else 0, 2_094_857),
        )
    )
    yield exact(
        f"{key}.last_new_before_recovery",
        last.data(),
        "the last new segment before the first repair",
        why=_away(last.seq, 2_416_313),
    )
    yield _next_segment(of)
    paced = exchange.paced_by_acks(t, s)
    first = next(e for e in exchange.whole(t, s) if e.what in ("resent", "timeout"))
    same = s.timeouts == 0 and paced == 1.0 and sack is not None and abs(first.at_s - sack.at_s) < 1e-3
    yield stated(
        f"{key}.trigger",
        f"the first ACK with SACK; {paced:.0%} of the retransmissions leave as an ACK comes; "
        f"{s.timeouts} timeouts",
        same,
        "from the packets of the section",
        "the repair does not begin with that ACK",
    )


def _next_segment(of: Three) -> Row:
    t, s = of.reno, of.reno_1
    after = exchange.segment(t, exchange.segment(t, s.hole_end).end)
    return exact(
        "interruption.episode.reno_1.next_segment",
        after.data(),
        "the data segment that brings the second ACK with SACK",
        why="a misprint in the paper: 1970329 is 1967433 and two segments more, the third of the 88 lost, so "
        "that it cannot have brought an ACK; what comes next is the second segment behind the hole",
    )


def _reno_4(of: Three) -> Iterator[Row]:
    key, t, s = "interruption.episode.reno_4", of.reno, of.reno_4
    needs(s, "with")
    yield exact(
        f"{key}.lost_segments",
        s.lost,
        f"segments lost in {_which(s, 'fourth', 'with a time lag')}",
        why=f"the whole window is lost, and it is cwnd after three halvings: {s.flight_bytes // setups.MSS} "
        f"segments here, 59 in the paper",
    )
    yield exact(
        f"{key}.lost_acks",
        s.lost_acks,
        "ACKs lost with it",
        why="whether the last ACK before the outage still passes is a matter of milliseconds",
    )
    una = next((e for e in exchange.whole(t, s) if e.what == "timeout"), None)
    yield fitted(
        exact(
            f"{key}.delivered_but_unacknowledged",
            una.data() if una else "none",
            "what the timer resends: it had arrived, its ACK was lost; the second rate is fitted to it",
            why=_away(una.seq if una else 0, 10_058_857),
        )
    )
    opening = exchange.opening(t, s)
    words = {"timeout": "retransmission timeout", "dsack": "DSACK", "ack": "new ACK",
             "duplicate": "duplicate ACK", "resent": "retransmission on SACK",
             "new × 2": "two new segments"}  # fmt: skip
    told = ", ".join(words.get(w, w) for w in opening)
    same = opening in (["timeout", "dsack", "new × 2", "duplicate", "resent"],)
    yield stated(
        f"{key}.trigger",
        told,
        same,
        "what is sent and comes, in order",
        "no ACK was lost here, so that nothing arrives twice and the answer to the first retransmission is a "
        "new ACK instead of a DSACK",
    )


def _osx_2(results: Results) -> Iterator[Row | Missing]:
    key, of = "interruption.episode.osx_2", three(results)
    osx = phases.sweep(results)["osx"]
    left = phases.unfinished(osx)
    every = phases.met(osx)
    slow = [s for _, s in every if s.kind == "intermittent"]
    if slow or not own.current():
        yield sampled(
            f"{key}.lost_segments",
            [s.lost for s in slow],
            "segments lost in an intermittent section, over all phases",
            why="in rexmit most of them lose a window of about 75 segments, just too small to outlast the "
            "outage; with 46 segments under way 44 to 46 are lost",
        )
    else:
        yield Missing(f"{key}.lost_segments", "with your values no section of any transfer is intermittent")
    yield tried(f"{key}.first_lost", lambda: _osx_first(of), NONE)
    lengths = np.array([s.length_s for s in slow])
    long = float(np.mean(lengths > LONG_S)) if len(lengths) else 0.0
    yield stated(
        f"{key}.duration_s_over",
        _lasting(lengths, left, len(osx)),
        long > 0,
        "from the link's return to the end of the repair, over all phases",
        "none lasts as long",
    )
    whole = trace(results, ALL_46)
    section = whole.sections[0]
    yield fitted(
        exact(
            f"{key}.cycle",
            exchange.cycle(whole, section) or exchange.one_timeout(whole, section),
            "what happens from the first timeout to the second; the server's window is set to 46 segments",
            why="the packets come in another order",
        )
    )


def _osx_first(of: Three) -> Row:
    needs(of.osx_2, "intermittent")
    return exact(
        "interruption.episode.osx_2.first_lost",
        exchange.segment(of.osx, of.osx_2.first_lost).data(),
        "the transfer of the figures",
        why="another section, the fourth, is the intermittent one here",
    )


def _lasting(lengths: phases.Floats, unfinished: int, n: int) -> str:
    if not len(lengths):
        return "no section of any transfer is intermittent"
    return (
        f"{np.mean(lengths > LONG_S):.0%} of {len(lengths)} intermittent sections last more than 10 s, "
        f"median {np.median(lengths):.1f} s; {_unfinished(unfinished, n)}"
    )


def _unfinished(unfinished: int, n: int) -> str:
    if not unfinished:
        return "all transfers ended"
    return (
        f"{unfinished} of {n} transfers did not end with their run, and their last sections count as far as "
        "they went"
    )


def drawing(results: Results) -> Iterator[Drawing]:
    of = three(results)
    yield Drawing(
        "fig9-reno-1",
        "Fig. 9: Reno (1). The first ACK with SACK begins the repair, and each ACK that comes back brings "
        "another retransmission.",
        lambda: of.reno.flow.ladder(of.reno.episode(of.reno_1)),
    )
    yield Drawing(
        "fig10-reno-4",
        "Fig. 10: Reno (4). All that was under way is lost; the timer begins. What it resends had arrived, "
        "hence the DSACK; two new segments (F-RTO) bring SACK, and SACK the rest.",
        lambda: of.reno.flow.ladder(of.reno.episode(of.reno_4)),
    )
    yield Drawing(
        "fig11-osx",
        "Fig. 11: OS X's intermittent section: timeout, new ACK, one new segment, a duplicate ACK, and "
        "nothing; the timer again. The next outage takes a retransmission, and behind it each new ACK, which "
        "carries SACK, brings the next repairs, as at the paper's (g) and (h).",
        lambda: of.osx.flow.ladder(of.osx.episode(of.osx_2)),
    )
    yield Drawing(
        "fig9-close",
        "Reno (1) as a sequence graph.",
        lambda: of.reno.graph(of.reno_1.start_s - 0.2, _until(of.reno_1, 0.2)),
    )
    yield Drawing(
        "fig10-close",
        "Reno (4) as a sequence graph.",
        lambda: of.reno.graph(of.reno_4.start_s - 0.1, _until(of.reno_4, 0.1)),
    )
    yield Drawing(
        "fig11-close",
        "OS X's intermittent section as a sequence graph: a step for each timeout.",
        lambda: of.osx.graph(of.osx_2.start_s - 0.3, _until(of.osx_2, 0.3)),
    )


def _until(section: Section, more_s: float) -> float | None:
    """A little behind the end of a repair; None, the end of the run, where it did not end in it."""
    return section.end_s + more_s if np.isfinite(section.end_s) else None


def tables(results: Results) -> dict[str, dict[str, list[str]]]:
    of = three(results)
    whole = trace(results, ALL_46)
    reno_4 = exchange.opening(of.reno, of.reno_4)
    same, n = exchange.cycles(whole, whole.sections[0])
    return {
        "the three ladders": {
            "ladder": _names(of),
            "paper lost": ["88", "58", "46", "46"],
            "rexmit lost": [str(s.lost) for s in (of.reno_1, of.reno_4, of.osx_2, whole.sections[0])],
            "timeouts": [str(s.timeouts) for s in (of.reno_1, of.reno_4, of.osx_2, whole.sections[0])],
            "repaired after s": [
                f"{s.length_s:.2f}" for s in (of.reno_1, of.reno_4, of.osx_2, whole.sections[0])
            ],
            "what comes first": [
                "ACK with SACK, retransmission, …",
                ", ".join(reno_4),
                ", ".join(exchange.opening(of.osx, of.osx_2)[:5]) + ", …",
                f"the paper's cycle, {same} times of {n}",
            ],
        }
    }


def _names(of: Three) -> list[str]:
    """The ladders; with the user's values the sections that stand for the paper's."""
    papers = ["Fig. 9, Reno (1)", "Fig. 10, Reno (4)", "Fig. 11, OS X (2)", "OS X, 46 under way"]
    if not own.current():
        return papers
    each = (("reno", of.reno_1), ("reno", of.reno_4), ("osx", of.osx_2))
    return [f"{setups.title(name)} ({s.number}), {IN_WORDS[s.kind]}" for name, s in each] + papers[3:]


def text(results: Results) -> str:
    of = three(results)
    whole = trace(results, ALL_46)
    slow = whole.sections[0]
    same, n = exchange.cycles(whole, slow)
    flight = of.reno_1.sent - of.reno_1.first_lost
    return f"""\
**Reno (1).** From the first lost byte to the last one sent before the repair the paper has 450,328 bytes,
rexmit {flight:,}. Both are the window of 451,840 bytes, used up. The paper prints one number that cannot
be: it calls 2093409:2094857 the first segment behind the hole, but 88 segments from 1967433 end at 2094857,
and there its SACK begins. That segment is the last one lost. A second one is a slip, too: at 9(e) "the next
data segment, 1970329:1971777" is the third of the 88 lost; it can have brought no ACK.

**Why nobody was "still sending".** The paper says that a section has no time lag if the sender goes on for
longer than the interruption. It does not go on: ACKs are dropped too, so that a sender whose window is full
stops as soon as they do. What goes on is the queue before the bridge. It holds what was sent up to a second
earlier, and the part that passes after the link's return brings the first SACK.

**Reno (4).** {of.reno_4.lost} segments and {of.reno_4.lost_acks} ACK are lost (paper: 58 and 1). The exchange
is {", ".join(exchange.opening(of.reno, of.reno_4))}: the paper's (b) to (f). The paper's section IV.B opens
with "this section is of type without time lag": a misprint, for it goes on to describe the timeout, and its
own summary calls the section one with time lag.

**OS X.** With 46 segments under way, which is what the paper saw lost, rexmit loses
{slow.lost}, and needs {slow.timeouts} timeouts and {slow.length_s:.1f} s. The paper's cycle, and nothing
else, lies between {same} of {n} pairs of timeouts. From the second time on the new ACK carries SACK, because
the server has segments from beyond the hole by then. How long it took the paper says twice: "more than ten
seconds" in section III, "several seconds" in section V."""
