"""Fig. 7: what the server's window ends at, for senders that have more or less under way."""

from __future__ import annotations

from typing import Any

from rexmit.frame import Frame
from rexmit.many_runs import Runs
from rexmit.studies.interruption import setups
from rexmit.studies.interruption.sections import main_flow
from rexmit.studies.study import Part, Plan, Results

#: Windows 7's send buffer, bytes: what it can have under way. 64 KiB is the stack's.
BUFFERS = (8_192, 16_384, 32_768, 65_536, 131_072)
QUICK = (16_384, 65_536)
#: What an untuned server of Linux 2.6 offers at most.
UNTUNED = 65_535


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
    return {"Windows 7's sender and the server's window": made}


def text(results: Results) -> str:
    found = offered(results)
    plain = {window for (_, stamps), (_, window) in found.items() if not stamps}
    least = min(window for _, window in found.values())
    flight, window = found[65_536, True]
    return f"""\
The paper explains the 55,488 bytes by auto-tuning: the server offers twice what it takes the sender's window
to be, and Windows' is small. The server here does that if it can: with timestamps and {flight:,} bytes under
way it offers {window:,}. Windows 7 sends no timestamps. Then the server has to take for a round trip the time
in which a whole window comes, and offers {" or ".join(f"{w:,}" for w in sorted(plain))}, whatever the
sender has under way.

**Neither gives 55,488.** A server that has not tuned anything yet offers {UNTUNED:,} bytes, and no sender
here, however little it has under way, is offered less than {least:,} in the end. The paper's server stayed
below that, so that tuning alone does not explain it; what else did is not known. It is not needed for the
time lags: a sender with a buffer of 64 KiB has them with any window."""


PART = Part("Fig. 7: the server's window", tables=tables, text=text)
