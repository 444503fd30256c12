"""`rx.script(stack, events)`: a stack's own endpoint, driven by segments that a script writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, cast, overload

from rexmit import _core, extras
from rexmit.tables import Table

Json = dict[str, Any]
#: What an event may be; exactly one of them.
KINDS = ("write", "ack", "data", "close", "wait")
WITH_ACK = ("sack", "window", "echo")


def script(
    stack: str,
    events: Iterable[Mapping[str, Any]],
    *,
    rtt: float = 0.1,
    mss: int | None = None,
    unit: Literal["segments", "bytes"] = "segments",
) -> Script:
    """What a stack's endpoint sends, and what it knows and decides, when a script plays its peer.

    stack: a built-in stack or a stack file; a real endpoint, no one-way agent.  events: dictionaries in order
    of time, s after the handshake, which took `rtt`:

    {"at": 0, "write": 100}       the application writes so much
    {"at": 0.1, "ack": 3}         all before segment 3 is acknowledged, counted from 0; with it `sack`:
                                  [(5, 7), …] in the order of the option, `window`: the peer's from now on,
                                  bytes, and `echo`: the ACK echoes the timestamp of the copy that was sent
                                  last by this time, s (without: of the segment that filled the gap)
    {"at": 0.1, "data": (0, 2)}   the peer sends these segments of its own stream
    {"at": 0.2, "close": True}    the application has written all
    {"at": 9, "wait": True}       nothing happens until then; timers fire between events, and at their times

    mss: of both sides, in the place of the stack's.  unit: what `write`, `ack`, `sack` and `data` count.
    Raises ScenarioError for a stack that is none, ValueError for an event.
    """
    listed = [_event(number, event) for number, event in enumerate(events)]
    text = _core.script(stack, [e for e, _ in listed], rtt=rtt, mss=mss, in_bytes=unit == "bytes")
    return Script([_row(step, [said for _, said in listed]) for step in json.loads(text)])


class Script(Sequence[Json]):
    """The steps of a script: a row for each event and for each timer that fired. Made by `rexmit.script`.

    A row has `time_s`, `event` (in words), `sent` (what left: a list of {segment, seq, bytes, why, ack, sack,
    window_field, tsval}) and the sender after it: `cwnd` and `ssthresh` in segments and bytes, `packets_out`
    (sent and not acknowledged), `flight_bytes`, `pipe_bytes`, `srtt_s`, `rttvar_s`, `rto_s`, `backoff`,
    `dupacks`, `phase`, `una`, `nxt`, `timeouts` (since the cumulative ACK moved) and `loss_timeouts` (since
    the loss phase began).
    """

    def __init__(self, rows: list[Json]) -> None:
        self.rows = rows
        timeouts = 0
        for row in rows:
            fired = sum(sent["why"] == "timeout" for sent in row["sent"])
            timeouts = timeouts + fired if row["phase"] == "loss" else 0
            row["loss_timeouts"] = timeouts

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, which: int) -> Json: ...
    @overload
    def __getitem__(self, which: slice) -> list[Json]: ...
    def __getitem__(self, which: int | slice) -> Json | list[Json]:
        return self.rows[which]

    def __iter__(self) -> Iterator[Json]:
        return iter(self.rows)

    @cached_property
    def table(self) -> Table:
        """The rows as a table; `sent` in words."""
        extras.need("tables", "a script as a table")
        import pyarrow as pa

        rows = [row | {"sent": told(row["sent"])} for row in self.rows]
        return Table("script", lambda: pa.Table.from_pylist(rows))

    def __repr__(self) -> str:
        lines = [f"{'s':>9}  {'event':<24} {'cwnd':>6} {'ssthr':>6} {'out':>4} {'SRTT':>7} {'RTO':>8}  sent"]
        for row in self.rows:
            ssthresh = "" if row["ssthresh"] is None else f"{row['ssthresh']:.4g}"
            srtt = "" if row["srtt_s"] is None else f"{row['srtt_s'] * 1e3:.4g}"
            lines.append(
                f"{row['time_s']:>9.4f}  {row['event']:<24} {row['cwnd']:>6.4g} {ssthresh:>6}"
                f" {row['packets_out']:>4} {srtt:>7} {row['rto_s'] * 1e3:>8.5g}  {told(row['sent'])}"
            )
        return "\n".join(line.rstrip() for line in lines)


def told(sent: Sequence[Json]) -> str:
    """`4-7 new, 2 recovery`: segments by their numbers, with why they left."""
    runs: list[tuple[str, int, int]] = []
    for one in sent:
        if not one["bytes"]:
            blocks = "".join(f" SACK {b['start']}-{b['end']}" for b in one["sack"])
            runs.append((f"ACK {one['ack']}{blocks}" if one["why"] == "ack" else one["why"], -1, -1))
        elif runs and runs[-1][0] == one["why"] and runs[-1][2] + 1 == one["segment"]:
            runs[-1] = (runs[-1][0], runs[-1][1], one["segment"])
        else:
            runs.append((one["why"], one["segment"], one["segment"]))
    words = [
        why if first < 0 else f"{first} {why}" if first == last else f"{first}-{last} {why}"
        for why, first, last in runs
    ]
    return ", ".join(words)


def _row(step: Json, said: list[str]) -> Json:
    smss = step.pop("smss_bytes")
    event, sent = step.pop("event"), step.pop("sent")
    for one in sent:
        one["segment"] = one["seq"] // smss
    ssthresh = step["ssthresh_bytes"]
    return {
        "time_s": step.pop("time_s"),
        "event": "timer" if event is None else said[event],
        "sent": sent,
        "cwnd": step["cwnd_bytes"] / smss,
        "ssthresh": None if ssthresh is None else ssthresh / smss,
        "packets_out": -(-step["flight_bytes"] // smss),
        "smss_bytes": smss,
        **step,
    }


def _event(number: int, event: Mapping[str, Any]) -> tuple[_core.Happening, str]:
    """An event as the core takes it, and in words."""
    where = f"event {number}"
    kinds = [kind for kind in KINDS if kind in event]
    if len(kinds) != 1:
        raise ValueError(f"{where}: {dict(event)} needs one of {', '.join(KINDS)}")
    [kind] = kinds
    allowed = ("at", kind, *(WITH_ACK if kind == "ack" else ()))
    for key in event:
        if key not in allowed:
            raise ValueError(f"{where}: {key} is no key beside {kind}: {', '.join(allowed)}")
    if "at" not in event:
        raise ValueError(f"{where}: it needs a time, at = s after the handshake")
    value = event[kind]
    first, last = 0, 0
    if kind == "data":
        first, last = int(value[0]), int(value[1])
    elif kind in ("write", "ack"):
        first = int(value)
    happening: _core.Happening = {
        "at": float(event["at"]),
        "kind": cast("Any", kind),
        "from": first,
        "to": last,
        "sack": [(int(left), int(right)) for left, right in event.get("sack", ())],
        "window": event.get("window"),
        "echo": event.get("echo"),
    }
    words = {"write": f"write {first}", "ack": f"ACK {first}", "data": f"data {first}-{last}"}.get(kind, kind)
    blocks = ", ".join(f"{left}-{right}" for left, right in happening["sack"])
    return happening, f"{words} SACK {blocks}" if blocks else words
