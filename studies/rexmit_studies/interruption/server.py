"""Fig. 7: what the server's window ends at: by what is under way, and by the memory that a segment takes."""

from __future__ import annotations

from typing import Any

from rexmit.frame import Frame
from rexmit.running.many_runs import Runs
from rexmit_studies.interruption import setups
from rexmit_studies.interruption.sections import main_flow
from rexmit_studies.study import Part, Plan, Results

#: Windows 7's send buffer, bytes: what it can have under way. 64 KiB is the stack's.
BUFFERS = (8_192, 16_384, 32_768, 65_536, 131_072)
QUICK = (16_384, 65_536)
#: Memory of a received segment in the server's kernel, bytes: the card's buffer, and 232 for the header.
CARDS = {"1.6 KB": 1_832, "4 KiB": 4_096 + 232, "8 KiB": 8_192 + 232, "16 KiB": 16_384 + 232}
QUICK_CARDS = ("1.6 KB", "16 KiB")
SENDERS = ("windows7", "reno")


def declare(plan: Plan) -> None:
    plan.runs(
        "server",
        [
            setups.setup("windows7", {**setups.steady(5.2), **setups.BARE, **sender(buffer, stamps)})
            for stamps in (False, True)
            for buffer in buffers(plan.quick)
        ],
        tables=("flows",),
    )
    plan.runs(
        "server's memory",
        [
            setups.setup(system, {**setups.steady(5.2), **setups.BARE, **card(CARDS[name], moderated)})
            for system, name, moderated in cases(plan.quick)
        ],
        tables=("flows",),
    )


def cases(quick: bool) -> list[tuple[str, str, bool]]:
    """Sender, card, whether reading makes the server's buffer larger."""
    cards = QUICK_CARDS if quick else tuple(CARDS)
    return [(system, name, moderated) for system in SENDERS for name in cards for moderated in (False, True)]


def card(segment_memory: int, moderated: bool) -> dict[str, Any]:
    window = setups.SERVER_WINDOW
    return {f"{window}.segment_memory": f"{segment_memory} bytes", f"{window}.moderated": moderated}


def fig7() -> dict[str, Any]:
    """The server that stops at Fig. 7's 55,488 bytes for Windows: such a card, and no tuning; both chosen."""
    return card(CARDS["16 KiB"], False)


def by_memory(results: Results) -> dict[tuple[str, str, bool], int]:
    """Case -> the most that the server offered, bytes."""
    rows = Frame(results["server's memory"].table("flows")).rows()
    return {
        case: int(main_flow([row for row in rows if row["run"] == k])["window_max_bytes"])
        for k, case in enumerate(cases(results.quick))
    }


def buffers(quick: bool) -> tuple[int, ...]:
    return QUICK if quick else BUFFERS


def sender(buffer: int, timestamps: bool) -> dict[str, Any]:
    stack = "stack.windows-7"
    return {f"{stack}.send.buffer": f"{buffer} bytes", f"{stack}.options.timestamps": timestamps}


def offered(results: Results) -> dict[tuple[int, bool], tuple[int, int]]:
    """Buffer and timestamps -> the most that was under way, and the most that the server offered, bytes."""
    runs: Runs = results["server"]
    rows = Frame(runs.table("flows")).rows()
    asked = [(buffer, stamps) for stamps in (False, True) for buffer in buffers(results.quick)]
    found = {}
    for k, key in enumerate(asked):
        flow = main_flow([row for row in rows if row["run"] == k])
        found[key] = (int(flow["flight_max_bytes"]), int(flow["window_max_bytes"]))
    return found


def tables(results: Results) -> dict[str, Any]:
    made: dict[str, list[str]] = {
        "sender's buffer B": [], "timestamps": [], "most under way B": [], "server offers at most B": [],
    }  # fmt: skip
    for (buffer, stamps), (flight, window) in offered(results).items():
        row = (f"{buffer:,}", "yes" if stamps else "no", f"{flight:,}", f"{window:,}")
        for column, value in zip(made.values(), row, strict=True):
            column.append(value)
    memory: dict[str, list[str]] = {
        "sender": [], "a card with buffers of": [], "before tuning B": [], "at most B": [],
    }  # fmt: skip
    found = by_memory(results)
    for (system, name, moderated), window in found.items():
        if not moderated:
            row = (setups.title(system), name, f"{window:,}", f"{found[system, name, True]:,}")
            for column, value in zip(memory.values(), row, strict=True):
                column.append(value)
    return {
        "Windows 7's sender and the server's window": made,
        "the memory of a segment and the server's window": memory,
    }


def text(results: Results) -> str:
    found, memory = offered(results), by_memory(results)
    flight, window = found[65_536, True]
    untuned, tuned = (memory["windows7", "16 KiB", moderated] for moderated in (False, True))
    linux = memory["reno", "16 KiB", True]
    same = "the paper's figure to the byte" if untuned == setups.FIG7_WINDOWS else "not the paper's"
    return f"""\
The paper explains the 55,488 bytes by auto-tuning: the server offers twice what it takes the sender's window
to be, and Windows' is small. The kernel's rules are here as it has them. Its buffer counts memory, three
quarters of which are for payload; the window begins at four segments, climbs by two for each that arrives as
long as there is memory for it, and is rounded up to the scale; what was read in a round trip makes the buffer
larger. The round trip is timed by timestamps and by the time in which a window comes, either of which counts.

**55,488 is where the climb ends, with a card whose buffers have 16 KiB.** 87,380 bytes less one such segment,
three quarters of it, are more than 36 segments of 1460 bytes and less than 38: the window stops at 38 of
them, {untuned:,} bytes, {same}. Reading would then tune it to {tuned:,}: the paper's
server did not tune for Windows, and why is not known. With {flight:,} bytes under way and timestamps it ends
at {window:,}.

**451,840 is not explained by it.** With buffers of 16 KiB the server stops at {linux:,} bytes for Reno, since
what a segment takes is too much for a larger window; with smaller ones it goes on for as long as the queue
grows, and nothing in the kernel's rules ends it there. Where the readings need it, the window is capped.

None of it is needed for the time lags: a sender with a buffer of 64 KiB has them with any window."""


PART = Part("Fig. 7: the server's window", tables=tables, text=text)
