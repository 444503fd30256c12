"""Table II and Fig. 2: an idle time of 57 seconds, scripted with the timestamps that the ACKs echo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rexmit.running.scripted import Script, script
from rexmit_studies import rows
from rexmit_studies.paper import figures
from rexmit_studies.rto.setting import CURED, PAPERS
from rexmit_studies.study import Drawing

if TYPE_CHECKING:
    from rexmit.figures import Figure
    from rexmit_studies.study import Results, Row

#: When the eight segments leave, s after the handshake: amid a tick of the sender's clock (10 ms).
BEGIN = 0.095
#: Segments before the paper's first: their ACKs bring cwnd to eight.
BEFORE = 7
#: What follows the last ACK lies before this, s.
END = 70.0

#: Round trips take 30 ms, so SRTT is that. Of the eight segments 1, 2, 3 and 5 arrive, and their ACKs are
#: lost; so are the retransmissions of segment 1, or their ACKs. Then ACK 4 comes through, which echoes the
#: first copy of segment 1; the next ACKs take 10 ms. After ACK 8 nothing comes.
EVENTS: list[dict[str, Any]] = [
    {"at": 0.005, "write": 100},
    {"at": 0.035, "ack": 1},
    *({"at": 0.065, "ack": number} for number in (2, 3)),
    *({"at": BEGIN, "ack": number} for number in (4, 5, 6, 7)),
    {"at": 3.105, "ack": BEFORE + 3, "sack": [(BEFORE + 4, BEFORE + 5)], "echo": BEGIN},
    {"at": 3.115, "ack": BEFORE + 5},
    {"at": 3.125, "ack": BEFORE + 7},
    {"at": END, "wait": True},
]


def play(stack: str = PAPERS) -> Script:
    """The exchange with a stack's own sender."""
    return script(stack, EVENTS, rtt=0.03)


def situations(steps: Script) -> list[dict[str, Any]]:
    """The eight rows of Table II: the last ACK of the start, four timeouts, three ACKs."""
    at = {step["event"]: step for step in steps}
    timers = [step for step in steps if step["event"] == "timer" and step["time_s"] < 3.105]
    acks = [f"ACK {BEFORE + 3} SACK {BEFORE + 4}-{BEFORE + 5}", f"ACK {BEFORE + 5}", f"ACK {BEFORE + 7}"]
    return [at[f"ACK {BEFORE}"], *timers, *(at[name] for name in acks)]


def table2(results: Results) -> Iterator[Row]:
    """Every entry of Table II, and equation (1): a script chooses the ACKs such that the table comes out."""
    yield from map(rows.fitted, _scripted())


def _scripted() -> Iterator[Row]:
    paper = figures("rto")
    for number, step in enumerate(situations(play()), start=1):
        key = f"rto.table2.{number}"
        said, same = _event(number, step)
        yield rows.stated(
            f"{key}.event",
            said,
            same,
            "what happens in the script, whose ACKs are chosen",
            "it happened otherwise",
        )
        for column, (value, definition) in _columns(step).items():
            if f"{key}.{column}" in paper:
                yield rows.exact(f"{key}.{column}", value, definition, why="the sender went another way")
    last = situations(play())[5:]
    yield rows.stated(
        "rto.formula.text",
        ", ".join(f"{step['rto_s']:.2f} s" for step in last) + " in situations 6 to 8",
        all(abs(step["rto_s"] - formula(step)) < ROUNDING for step in last),
        "RTO that the sender sets; the formula with its own SRTT, mdev, cwnd and back-off gives "
        + ", ".join(f"{formula(step):.2f} s" for step in last),
        why="the sender computes its RTO otherwise",
    )


#: Two terms of the formula are cut to 10 ms before the back-off of 4 multiplies them, s.
ROUNDING = 2 * 0.01 * 2**4


def formula(step: dict[str, Any]) -> float:
    """Equation (1) of the paper, s."""
    factor = 1 + 1 / 4 + 1 / 2 ** (step["cwnd"] - 1)
    return float((step["srtt_s"] + 4 * step["rttvar_s"]) * factor * 2 ** step["backoff"])


def _event(number: int, step: dict[str, Any]) -> tuple[str, bool]:
    """What a step is in the paper's numbers, and whether it is what this situation tells."""
    sent = [one["segment"] - BEFORE + 1 for one in step["sent"]]
    if number == 1:
        return f"segment {sent[-1]} leaves", sent[-1] == 8
    if step["event"] == "timer":
        return f"segment {sent[0]} again (timeout)", sent == [1] and number <= 5
    asked = step["una"] // step["smss_bytes"] - BEFORE + 1
    return f"ACK {asked}", asked == {6: 4, 7: 6, 8: 8}.get(number)


def _columns(step: dict[str, Any]) -> dict[str, tuple[float, str]]:
    return {
        "srtt_ms": (_tens(step["srtt_s"]), "SRTT of the sender, to 10 ms as the table and its clock have it"),
        "mdev_ms": (_tens(step["rttvar_s"]), "its mean deviation, to 10 ms"),
        "snd_cwnd": (step["cwnd"], "its congestion window, segments"),
        "ssthresh": (step["ssthresh"] or 0, "its slow-start threshold, segments"),
        "retransmits": (step["loss_timeouts"], "timeouts since the loss state began"),
        "backoff": (step["backoff"], "doublings that the timer remembers"),
        "packets_out": (step["packets_out"], "segments sent and not acknowledged"),
    }


def _tens(seconds: float) -> int:
    """Milliseconds to the next ten, halves up."""
    return int(100 * seconds + 0.5) * 10


def survives(stack: str = PAPERS) -> tuple[bool, float]:
    """Whether segment 1's back-off is still there at ACK 8, and how long the next loss waits, s."""
    steps = play(stack)
    last = situations(steps)[-1]
    after = next(step for step in steps if step["event"] == "timer" and step["time_s"] > last["time_s"])
    return last["backoff"] == 4, after["time_s"] - last["time_s"]


def text(results: Results) -> str:
    """What the table shows."""
    waits = {stack: survives(stack)[1] for stack in (PAPERS, CURED)}
    return f"""
Eight segments leave, and no ACK comes: segment 1 times out four times, and each time the timer doubles.
Then ACKs come, one after the other. The first echoes the timestamp of the first copy, 3 s ago, so SRTT
jumps to 400 ms and its deviation to 750 ms; and although segment 1 is acknowledged, the back-off of 4
stays and multiplies each new RTO by 16. One more loss, and the sender is silent for {waits[PAPERS]:.1f}
s: Table I has 57.4 s as the longest idle time of test 2. With the cure the same loss waits
{waits[CURED]:.1f} s.

The sender here is the stack itself; the script plays its peer only, and the paper's first row is brought
about by seven ACKs before it.
""".strip()


def drawings(results: Results) -> Iterator[Drawing]:
    """Fig. 2."""
    yield Drawing(
        "table2-exchange",
        "The exchange of Fig. 2: eight segments, four timeouts of the first, three ACKs that arrive and 57 s "
        "of "
        "silence. The numbers are the situations of Table II.",
        draw,
    )


def draw() -> Figure:
    """Segments and ACKs against time, broken before the silence."""
    from rexmit_studies.rto.drawings import exchange

    steps = play()
    return exchange(list(steps), situations(steps), BEFORE, BEGIN)
