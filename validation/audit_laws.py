"""Laws that every answer keeps, held from outside: against the JSON, the page, the tables and the report.

No rule of the analysis is repeated here. The numbers are those that rexmit itself gives in two or more
places, and the packets are those of the capture.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import rexmit as rx
from rexmit.screen.units import plain_seconds
from rexmit.screen.words import cause_and_end
from situation.evidence import in_ns

Row = dict[str, Any]
#: A law, and a sentence about an answer that breaks it.
Broken = tuple[str, str]

ROOT = Path(__file__).resolve().parents[1]
#: What docs/json.md rounds a share to.
SHARE = Decimal("1e-8")
#: A rate is rounded, and bins cut off their edges.
ROUNDING = 0.9
#: Answers without time of their own, or of several causes.
TIMELESS = ("nothing", "reset", "cannot-tell")
#: An event that was counted 0 times, in words. A length of 0 s or a share of 0% is none.
COUNTED_NONE = re.compile(
    r"(?<![\d.,:/])0 (?:more |data |single |lost |of \d+ )?"
    r"(?:packets?|segments?|times|messages?|copies|copy|ACKs?|SYNs?|FINs?|runs?|bursts?|episodes?|timeouts?|"
    r"repairs?|probes?|outages?|gaps?|flows?|connections?|requests?|answers?|bytes|round trips|marks)\b"
)
NAMES = r"[a-z]+(?:-[a-z]+)*(?: \((?:client|server)\))?"
NO_STATEMENT = re.compile(r" {11}(?:helps|meaning|recognised by|other causes): ")
STATEMENT = re.compile(rf"(known|likely|open) +({NAMES}): ([\d.,]+ s) \(([\d.e-]+%)\)\. (.*)")


@dataclass
class Seen:
    """A capture with all that rexmit says of it. Numbers of the JSON are decimals, as they stand there."""

    capture: rx.Capture
    json: Row
    #: By connection: its answer, and its flows.
    answers: dict[int, Row] = field(default_factory=dict)
    flows: dict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, capture: rx.Capture) -> Seen:
        with tempfile.TemporaryFile() as file:
            capture.write_json(file.fileno())
            file.seek(0)
            seen = cls(capture, json.load(file, parse_float=Decimal))
        for flow in seen.json["flows"]:
            if flow.get("answer"):
                number = flow["answer"]["connection"]
                seen.answers.setdefault(number, flow["answer"])
                seen.flows[number].append(flow)
        return seen

    @cached_property
    def waits(self) -> dict[int, list[Row]]:
        """By connection, the rows of the table `waits`, whose times are ns since 1970."""
        found: dict[int, list[Row]] = defaultdict(list)
        for row in in_ns(self.capture.table("waits").to_arrow(unit="ns")):
            found[int(row["flow"]) // 2].append(row)
        return found

    @cached_property
    def packets(self) -> dict[int, list[Row]]:
        """By flow, the rows of the table `packets` in order of the capture, times in ns since its start."""
        found: dict[int, list[Row]] = defaultdict(list)
        names = ["flow", "packet", "time", "data", "flags", "seq", "len", "ack", "window_bytes"]
        names += [f"sack{k}_{end}" for k in range(1, 5) for end in ("start", "end")]
        for row in in_ns(self.capture.table("packets").to_arrow(unit="ns").select(names)):
            row["time"] -= self.capture.origin_ns
            found[int(row["flow"])].append(row)
        return found


def broken(seen: Seen, report: bool = False) -> list[Broken]:
    """Every law that the answers about a capture break. report: the page of `rexmit report`, too."""
    found = [("rust", one) for one in seen.capture.analysis.audit(1000)[1]]
    for law in (faults, sums, waits, words, table, page, known, capacity, outages):
        found += law(seen)
    if report:
        found += reported(seen)
    return found


def ends(answer: Row) -> str:
    return f"{answer['client']} and {answer['server']}"


def faults(seen: Seen) -> Iterator[Broken]:
    """rexmit failed on no flow."""
    for flow in seen.json["flows"]:
        if flow.get("fault"):
            yield "fault", f"{flow['sender']} and {flow['receiver']}: {flow['fault']}"


def sums(seen: Seen) -> Iterator[Broken]:
    """Seconds add up to the owed time, and none are above the whole."""
    for number, answer in seen.answers.items():
        who, owed, causes = ends(answer), answer["owed_s"], answer["causes"]
        total = sum((c["seconds"] for c in causes), Decimal(0))
        if total != owed:
            yield "sum", f"{who}: the causes have {total} of {owed} s"
        start = min(answer["start_s"], *(flow["start_s"] for flow in seen.flows[number]))
        end = max(max(flow["observed_until_s"], flow["end_s"]) for flow in seen.flows[number])
        end = max(end, answer["start_s"] + answer["took_s"])
        if owed > end - start:
            yield "whole", f"{who}: {owed} s are owed in a connection of {end - start} s"
        for c in causes:
            name = cause_and_end(c)
            if not 0 < c["seconds"] <= owed:
                yield "whole", f"{who}: {name} has {c['seconds']} of {owed} s"
            elif abs(Decimal(c["seconds"]) / owed - c["share"]) > SHARE:
                yield "sum", f"{who}: {name} has {c['seconds']} of {owed} s, and a share of {c['share']}"
            if not start <= c["first_s"] <= c["last_s"] <= end:
                yield "whole", f"{who}: {name} is from {c['first_s']} to {c['last_s']} s of {start} to {end}"
            elif c["seconds"] > c["last_s"] - c["first_s"]:
                held = f"held from {c['first_s']} to {c['last_s']} s"
                yield "whole", f"{who}: {name} has {c['seconds']} s and {held}"
        yield from leads(answer)
        if any(flow["answer"] != answer for flow in seen.flows[number]):
            yield "agree: JSON", f"{who}: its two flows have different answers"


def leads(answer: Row) -> Iterator[Broken]:
    """The answer is the first of the causes, with its words."""
    if answer["cause"] in TIMELESS:
        return
    first = answer["causes"][0] if answer["causes"] else {}
    for key in ("cause", "by", "certainty", "seconds", "share", "text"):
        if answer[key] != first.get(key):
            says = f"the answer has {answer[key]!r}, and its first cause {first.get(key)!r}"
            yield "agree: JSON", f"{ends(answer)}: {key}: {says}"


def waits(seen: Seen) -> Iterator[Broken]:
    """What a connection waited for has no gaps, adds up, and holds the time that was owed."""
    for number, rows in seen.waits.items():
        answer = seen.answers.get(number)
        who = ends(answer) if answer else f"connection {number}"
        at: int | None = None
        stretches: dict[tuple[int, int], float] = defaultdict(float)
        for row in rows:
            stretches[row["start"], row["end"]] += row["time_s"]
        for (start, end), time in sorted(stretches.items()):
            if at is not None and start != at:
                yield "waits", f"{who}: a stretch ends at {at} ns and the next begins at {start} ns"
            at = end
            if abs(round(time * 1e9) - (end - start)) > 1000 + 1e-12 * (end - start):
                yield "waits", f"{who}: a stretch of {(end - start) / 1e9} s has rows of {time} s"
        whole = sum(end - start for start, end in stretches)
        if answer and float(answer["owed_s"]) > whole / 1e9 + 1e-6:
            yield "whole", f"{who}: {answer['owed_s']} s are owed, and it waited for {whole / 1e9} s"


def words(seen: Seen) -> Iterator[Broken]:
    """No event that was counted 0 times is asserted."""
    for answer in seen.answers.values():
        texts = [answer["text"], *answer["limits"], *(f["text"] for f in answer["findings"])]
        for c in answer["causes"]:
            texts += [c["text"], *c["grounds"], *c["helps"], *c["does_not_help"]]
        for text in dict.fromkeys(texts):
            if not text.strip() or "  " in text or re.search(r"\b(?:nan|inf|None)\b", text, re.I):
                yield "words", f"{ends(answer)}: no sentence: {text!r}"
            if COUNTED_NONE.search(text):
                yield "zero", f"{ends(answer)}: {text}"
    for text in seen.json["capture"]["warnings"]:
        if COUNTED_NONE.search(text):
            yield "zero", text


def table(seen: Seen) -> Iterator[Broken]:
    """The table `causes` has the causes of the JSON."""
    said: dict[int, list[Row]] = defaultdict(list)
    for row in seen.capture.causes.to_arrow().to_pylist():
        said[int(row["flow"]) // 2].append(row)
    for number, answer in seen.answers.items():
        who, rows = ends(answer), said.get(number, [])
        leader = (answer["cause"], answer["by"])
        theirs = {(r["cause"], r["by"]): (r["certainty"], r["seconds"]) for r in rows}
        ours = {(c["cause"], c["by"]): (c["certainty"], float(c["seconds"])) for c in answer["causes"]}
        ours.setdefault(leader, (answer["certainty"], 0.0))
        same = ours.keys() == theirs.keys() and all(is_same(ours[key], theirs[key]) for key in ours)
        if not same or len(theirs) != len(rows):
            yield "agree: table", f"{who}: the JSON has {ours}, and the table {theirs}"
        if [(r["cause"], r["by"]) for r in rows if r["answer"]] != [leader]:
            yield "agree: table", f"{who}: the answer is {leader}, and the table marks another row"


def is_same(one: tuple[str, float], other: tuple[str, float]) -> bool:
    """The same certainty and seconds, as far as a double holds ns."""
    return one[0] == other[0] and abs(one[1] - other[1]) <= max(1e-9, 1e-12 * one[1])


def page(seen: Seen) -> Iterator[Broken]:
    """The page says what the JSON says, with and without `--why`."""
    if not seen.answers:
        return
    for why in (False, True):
        lines = seen.capture.page(hints=False, why=why).splitlines()
        for line in lines:
            if COUNTED_NONE.search(line):
                yield "zero", f"on the page: {line.strip()}"
        statements = [m for text in joined(lines) if (m := STATEMENT.match(text))]
        named = {i for line in lines[:40] for i, a in seen.answers.items() if heads(line, a)}
        wrong = [list(differs(statements, seen.answers[i], why)) for i in sorted(named)]
        # Where connections have the same ends, one of them has to fit.
        if wrong and all(wrong):
            yield from (("agree: page", f"{ends(seen.answers[min(named)])}: {one}") for one in wrong[0])
        if not named and statements:
            yield "agree: page", "the page has causes of a connection that it does not name"
        yield from rows_of_others(seen, lines)


def joined(lines: list[str]) -> Iterator[str]:
    """Statements with the lines that continue them."""
    said: str | None = None
    for line in lines:
        begins = re.match(r"  (known|likely|open) ", line)
        goes_on = re.match(r" {11}\S", line) and not NO_STATEMENT.match(line)
        if said is not None and not goes_on:
            yield said
            said = None
        if begins:
            said = line.strip()
        elif said is not None:
            said += " " + line.strip()
    if said is not None:
        yield said


def heads(line: str, answer: Row) -> bool:
    """Whether a line begins the section of this connection: it has no indent, and both ends."""
    named = (f"{answer['client']} (client)", f"{answer['server']} (")
    return not line.startswith(" ") and all(name in line for name in named)


def differs(statements: list[re.Match[str]], answer: Row, why: bool) -> Iterator[str]:
    causes = {cause_and_end(c): c for c in answer["causes"]}
    for m in statements:
        certainty, name, time, share, text = m.groups()
        c = causes.pop(name, None)
        if c is None:
            yield f"the page has {name}, which the JSON has not"
            continue
        if certainty != c["certainty"]:
            yield f"{name} is {certainty} on the page, and {c['certainty']} in the JSON"
        if time != plain_seconds(float(c["seconds"])):
            yield f"{name} has {time} on the page, and {c['seconds']} s in the JSON"
        shown, exact = Decimal(share.rstrip("%")), 100 * c["share"]
        if abs(shown - exact) > max(Decimal("0.0051"), exact / 10) and abs(shown - exact) > Decimal("0.51"):
            yield f"{name} has {share} on the page, and a share of {c['share']} in the JSON"
        if text != " ".join(c["text"].split()):
            yield f"{name}: {text!r} on the page, and {c['text']!r} in the JSON"
    if why and causes:
        yield f"the page with --why lacks {', '.join(causes)}"
    first = cause_and_end(answer)
    if statements and answer["cause"] not in TIMELESS and statements[0][2] != first:
        yield f"the page begins with {statements[0][2]}, and the answer is {first}"


def rows_of_others(seen: Seen, lines: list[str]) -> Iterator[Broken]:
    """In the list of the next worst connections each has the cause of its answer."""
    listed = False
    for line in lines:
        if line.strip().startswith("next worst"):
            listed = True
        elif listed and " → " in line:
            who = " → ".join(re.split(r"\s+", line.strip())[:3:2])
            of = [
                cause_and_end(f["answer"]) for f in seen.json["flows"]
                if f.get("answer") and f"{f['sender']} → {f['receiver']}" == who
            ]  # fmt: skip
            if of and not any(line.rstrip().endswith(cause) for cause in of):
                yield "agree: page", f"{who}: the page has {line.split()[-1]}, and the JSON {of}"


def reported(seen: Seen) -> Iterator[Broken]:
    """The page of `rexmit report` has the answers of the JSON."""
    from rexmit.report.make import of_capture
    from rexmit.report.source import sources

    made = of_capture(sources(seen.capture), "audit").meta["sources"][0]
    columns = made["flows"]["columns"]
    flows = {int(flow["flow"]): flow for flow in seen.json["flows"]}
    for number, cause, seconds in zip(columns["flow"], columns["cause"], columns["cause_s"], strict=True):
        answer = flows.get(int(number), {}).get("answer")
        if answer and cause is not None and (cause, seconds) != (answer["cause"], float(answer["seconds"])):
            says = f"{cause} with {seconds} s in the report's list"
            yield "agree: report", f"{ends(answer)}: {says}, {answer['cause']} {answer['seconds']} s"
    for detail in made["details"]:
        flow = flows.get(detail["flow"])
        if flow and as_floats(flow.get("answer")) != as_floats(detail["answer"]):
            yield "agree: report", f"{flow['sender']}: the report has another answer than the JSON"
        if flow and as_floats(flow.get("outages")) != as_floats(detail["outages"]):
            yield "agree: report", f"{flow['sender']}: the report has other outages than the JSON"


def as_floats(value: Any) -> Any:
    return json.loads(json.dumps(value, default=float))


#: What has to be seen where a cause is *known*: a necessary condition each, of the flows and of the sums of
#: `waits`. A cause that is not in this list is never known.
OBSERVED: dict[str, tuple[str, Callable[[Row, list[Row], dict[str, float]], bool]]] = {
    "handshake": ("time in the handshake", lambda a, f, w: w["handshake"] > 0),
    # What a program follows up at a time of its own is under way meanwhile, and nobody waits for it.
    "sender-idle": ("time in a program", lambda a, f, w: w["program"] + w["path"] > 0),
    "request-response": ("time on the path", lambda a, f, w: w["path"] > 0),
    "receive-window": ("time before the window", lambda a, f, w: w["window"] > 0),
    "receiver-not-reading": (
        "a window that closed, or time before one",
        lambda a, f, w: w["closed-window"] + w["window"] > 0 or any(x["window"]["zero_count"] for x in f),
    ),
    "delayed-ack": (
        "time before a small segment",
        lambda a, f, w: w["small-segment"] > 0,
    ),
    "send-window": ("data as it leaves, and time before ACKs", lambda a, f, w: leaves(f) and w["ack"] > 0),
    "slow-start": ("time before ACKs", lambda a, f, w: w["ack"] > 0),
    "timer": ("a segment sent again", lambda a, f, w: resent(f)),
    "sender-stalled": (
        "three duplicate ACKs, and a segment that a timer sent again",
        lambda a, f, w: any(
            x["acks"]["duplicate"] >= 3 and x["retransmissions"]["by_cause"]["timeout"] for x in f
        ),
    ),
    "reordering": ("data that was sent again needlessly", lambda a, f, w: needless(f)),
    "outage": (
        "both ends, or a run of lost packets and a timer that backed off",
        lambda a, f, w: any(x["vantage"] == "both" or dark(x) for x in f),
    ),
    "ack-loss": ("both ends", lambda a, f, w: any(x["vantage"] == "both" for x in f)),
    "mtu": ("packets that were too large", lambda a, f, w: any(x["too_large"] for x in f)),
    "reset": ("a reset", lambda a, f, w: any(x["reset_by"] for x in f)),
    "nothing": ("little time", lambda a, f, w: True),
}


def resent(flows: list[Row]) -> bool:
    return any(flow["retransmissions"]["total"] for flow in flows)


def leaves(flows: list[Row]) -> bool:
    return any(flow["vantage"] in ("sender", "both") for flow in flows)


def dark(flow: Row) -> bool:
    return leaves([flow]) and flow["burst_largest"] >= 8 and flow["max_backoff"] >= 2


def needless(flows: list[Row]) -> bool:
    return any(flow["retransmissions"]["needless"] for flow in flows)


def known(seen: Seen) -> Iterator[Broken]:
    """*Known* rests on observations of a short list: of a row its evidence, of a cause `OBSERVED`."""
    for flow in seen.json["flows"]:
        outages = (flow.get("outages") or {}).get("each") or []
        lists = [(name, flow.get(name) or []) for name in ("bursts", "episodes", "idle")]
        for name, rows in [*lists, ("outages", outages)]:
            for row in rows:
                where = {"place-unknown"} & set(row["evidence"])
                if row["certainty"] == "known" and (not row["evidence"] or where):
                    yield "known", f"{flow['sender']}: a row of {name} is known on {row['evidence']}"
    for number, answer in seen.answers.items():
        sums: dict[str, float] = defaultdict(float)
        for row in seen.waits.get(number, []):
            sums[row["waits_for"]] += row["time_s"]
        for c in [answer, *answer["causes"]]:
            if c["certainty"] != "known":
                continue
            what, holds = OBSERVED.get(c["cause"], ("nothing: it is never known", lambda *_: False))
            if not holds(answer, seen.flows[number], sums):
                yield "known", f"{ends(answer)}: {c['cause']} is known, which wants {what}"


def capacity(seen: Seen) -> Iterator[Broken]:
    """A path carries at least what it did carry."""
    for flow in seen.json["flows"]:
        path = flow.get("path") or {}
        who = f"{flow['sender']} → {flow['receiver']}"
        if path and not 0 <= path["own_share"] <= 1:
            yield "capacity", f"{who}: its share of the path is {path['own_share']}"
        base, largest = path.get("base_rtt_s"), path.get("largest_rtt_s")
        if base is not None and largest is not None and base > largest:
            yield "capacity", f"{who}: round trips of {base} s at least and {largest} s at most"
        carries = path.get("capacity_bps")
        if carries is None or flow["first_data_s"] is None:
            continue
        # All that was acknowledged arrived from the first packet of data to a round trip behind the last.
        took = float(flow["last_data_s"] - flow["first_data_s"] + (largest or 0))
        rate = 8 * flow["acked_bytes"] / took if took > 0 and largest is not None else 0
        rates = [("acknowledged", rate), ("throughput", float(flow["throughput_bps"] or 0))]
        if flow["acked_bytes"] < flow["bytes"]:
            rates.pop()
        for what, rate in rates:
            if not path["at_least"] and float(carries) < ROUNDING * rate:
                yield "capacity", f"{who}: it carries {carries:.0f} bps, and carried {rate:.0f} ({what})"


def outages(seen: Seen) -> Iterator[Broken]:
    """Nothing vanished in a direction while a packet sent then is proved to have arrived."""
    from audit_arrivals import vanished

    return vanished(seen)
