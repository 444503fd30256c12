"""One connection on the page: who talked to whom, where the time went, and facts beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rexmit.captured.episodes import episode_table
from rexmit.captured.vantage import is_away
from rexmit.screen.units import count, percent, plain_seconds, rate, seconds, size, three
from rexmit.screen.wide import hanging, page_width
from rexmit.screen.words import CAUSES, cause_and_end, closed_sets, properties

Json = dict[str, Any]

#: Causes with less than this share of the time get no line, unless --why asks for all.
SMALL = 0.05
#: Causes and findings that get a line, at most.
CAUSES_SHOWN, FINDINGS_SHOWN = 4, 4
#: Lines of limits, at most; --json has them all.
LIMITS = 4
#: Advice is given on causes with this share of the time, and on the first.
LARGE = 0.2
#: A direction with a smaller part of the bytes than this is not named in the first line.
SIDE = 0.02
#: Where the words behind a label begin.
INDENT = 11


def section(flow: Json, partner: Json | None = None, why: bool = False) -> list[str]:
    """A connection in full.

    flow: the direction with most to tell.  partner: the other direction, where it is listed.  why: also what
    each cause means, how it is recognised and what the statement rests on, and causes of little time.
    """
    answer: Json | None = flow.get("answer")
    lines = head(flow, answer)
    if answer:
        lines += causes(answer, why)
        lines += findings(answer)
    for each in (flow, partner):
        lines += repairs(each, both=partner is not None) if each else []
    lines += labelled("path", _path(flow))
    lines += labelled("like", _like(flow))
    return lines + limits(flow, answer)


def head(flow: Json, answer: Json | None) -> list[str]:
    """`10.8.0.9:21 (server) → 10.8.0.2:41822 (client)   10.0 MB in 7.31 s   10.9 Mbps   RTT 41 ms`."""
    ends = f"{flow['sender']} → {flow['receiver']}"
    facts = _volume(flow)
    if answer:
        ends = f"{_named(flow['sender'], answer)} → {_named(flow['receiver'], answer)}"
        sent = [float(answer["client_bytes"]), float(answer["server_bytes"])]
        if min(sent) > SIDE * max(sent):
            ends = f"{answer['client']} (client) ↔ {answer['server']} (server)"
            facts = f"{size(sent[0])} and {size(sent[1])} in {seconds(float(answer['took_s']))}"
    facts += f"   {rtt_words(flow)}"
    together = f"{ends}   {facts}"
    return [together] if len(together) <= page_width() else [ends, f"  {facts}"]


def _named(end: str, answer: Json) -> str:
    role = "client" if end == answer["client"] else "server" if end == answer["server"] else None
    return f"{end} ({role})" if role else str(end)


def _volume(flow: Json) -> str:
    took = float(flow.get("duration_s") or 0)
    speed = flow.get("throughput_bps")
    sent, arrived = float(flow["bytes"]), float(flow.get("acked_bytes") or 0)
    # With both captures it is known what got there, and the rate is that of it.
    part = flow.get("vantage") == "both" and arrived < sent and not (flow.get("limits") or {}).get("one_way")
    words = f"{size(arrived)} of {size(sent)} in" if part else f"{size(sent)} in"
    words += f" {seconds(took)}"
    return f"{words}   {rate(float(speed))}" if speed is not None else words


def rtt_words(flow: Json) -> str:
    """`RTT 41 ms (38 to 212)`: of the whole path, from where it shows.

    ACKs show it at the sender; elsewhere they show how long the receiving host takes to answer, and echoed
    timestamps or the handshake stand in.
    """
    found = flow.get("rtt") or {}
    near = is_away(flow)
    handshake = flow.get("handshake") or {}
    opened = None if handshake.get("resent") else handshake.get("time_s")
    for kind in ("timestamps",) if near else ("ack", "timestamps"):
        sample = found.get(kind) or {}
        if sample.get("n"):
            # Far below the handshake's they do not show the whole path.
            if near and opened is not None and float(sample["min_ms"]) < 500 * opened:
                continue
            low, mean, high = (float(sample[f"{k}_ms"]) for k in ("min", "mean", "max"))
            return f"RTT {three(mean)} ms ({three(low)} to {three(high)})"
    if opened is not None:
        return f"RTT {seconds(float(opened))} in the handshake"
    return "RTT unknown"


def causes(answer: Json, why: bool = False) -> list[str]:
    """Where the time went, the cause with most of it first: how sure, its seconds, what would help."""
    shares: list[Json] = answer.get("causes") or []
    first = [s for s in shares if (s["cause"], s["by"]) == (answer["cause"], answer["by"])]
    others = [s for s in shares if s not in first]
    lines = cause(first[0], True, why) if first else _timeless(answer, why)
    if answer["cause"] == "nothing" and not why:
        return lines
    shown = others if why else [s for s in others if s["share"] >= SMALL][: CAUSES_SHOWN - 1]
    for share in shown:
        lines += cause(share, False, why)
    left = sum(float(s["seconds"]) for s in others if s not in shown)
    rest = []
    if left >= SMALL * float(answer["owed_s"]) and left > 0:
        rest.append(f"other causes: {plain_seconds(left)} (--why)")
    took = float(answer["took_s"])
    if (idle := took - float(answer["owed_s"])) >= SMALL * took and idle > 0:
        rest.append(f"in the other {plain_seconds(idle)} nobody waited, and shares leave it out")
    return lines + labelled("besides", "; ".join(rest))


def cause(share: Json, first: bool, why: bool) -> list[str]:
    """One cause: its seconds and its share, a sentence, and what helps."""
    time = f"{plain_seconds(float(share['seconds']))} ({percent(float(share['share']))})"
    lines = labelled(str(share["certainty"]), f"{cause_and_end(share)}: {time}. {share['text']}")
    if (first or why or share["share"] >= LARGE) and share["helps"]:
        words = f"helps: {'; '.join(share['helps'])}."
        if share["does_not_help"]:
            words += f" Does not help: {'; '.join(share['does_not_help'])}."
        lines += labelled("", words)
    return lines + (_why(share) if why else [])


def _timeless(answer: Json, why: bool) -> list[str]:
    """An answer that is no share of the time: a reset, or nothing."""
    name = "" if answer["cause"] == "nothing" else f"{cause_and_end(answer)}. "
    lines = labelled(str(answer["certainty"]), f"{name}{answer['text']}")
    return lines + (_why(answer) if why else [])


def _why(share: Json) -> list[str]:
    meaning, sign = properties("answer_cause", "means"), properties("answer_cause", "recognised")
    name = str(share["cause"])
    texts = [f"meaning: {meaning[name]}", f"recognised by: {sign[name]}", *share.get("grounds", ())]
    return [line for text in texts for line in labelled("", text)]


def findings(answer: Json) -> list[str]:
    """Facts that own no time of their own."""
    found: list[Json] = answer.get("findings") or []
    return [line for f in found[:FINDINGS_SHOWN] for line in labelled(str(f["certainty"]), str(f["text"]))]


def repairs(flow: Json, both: bool = False) -> list[str]:
    """What was lost in one direction, and how each loss was repaired. both: name the sender."""
    found: list[Json] = flow.get("episodes") or []
    again = resent(flow)
    if not found and not again and not probes(flow):
        return []
    lines: list[str] = []
    if found:
        words = lost(flow)
        if both:
            words = f"Sent by {flow['sender']}: {words[0].lower()}{words[1:]}"
        lines += ["", f"  {words}", *episode_table(found, flow, page_width()), ""]
    lines += labelled("resent", again)
    return lines + labelled("probes", probes(flow))


def lost(flow: Json) -> str:
    """How much was lost, in a sentence."""
    found: Json = flow.get("lost") or {}
    bursts = int(flow.get("burst_count") or 0)
    n = found.get("copies") if found.get("copies") is not None else found.get("segments")
    if n is None:
        return "How many packets were lost does not show from here."
    if not n:
        return "Nothing was lost, but data was sent again."
    what = (
        count(int(n), "packet was", "packets were")
        if found.get("copies") is not None
        else (count(int(n), "segment was", "segments were"))
    )
    return f"{what} lost, in {count(bursts, 'run')}." if bursts > 1 else f"{what} lost."


def resent(flow: Json) -> str:
    """Segments that were sent again, by what sent them."""
    again: Json = flow.get("retransmissions") or {}
    total = int(again.get("total") or 0)
    if total == 0:
        return ""
    words = closed_sets()["cause"]
    order = {name: i for i, name in enumerate(CAUSES)}
    by = sorted((again.get("by_cause") or {}).items(), key=lambda item: (-int(item[1]), order[item[0]]))
    said = f"{count(total, 'segment')}: " + ", ".join(f"{int(n):,} {words[name]}" for name, n in by if n)
    return said + (f"; {int(again['needless']):,} of them needless" if again.get("needless") else "")


def probes(flow: Json) -> str:
    """Packets that asked for an ACK."""
    sent: Json = flow.get("probes") or {}
    window, unanswered = (int(sent.get(key) or 0) for key in ("window", "window_unanswered"))
    none = "none answered" if unanswered == window else f"{unanswered:,} not answered"
    words = [
        f"{int(sent[key]):,} {what}"
        for key, what in (
            ("new_data", "with new data"),
            ("repeat", "repeating data"),
            ("window", f"of a closed window ({none})" if unanswered else "of a closed window"),
            ("keep_alive", "keep-alive"),
        )
        if sent.get(key)
    ]
    return ", ".join(words)


def _path(flow: Json) -> str:
    """What the path carries, where a full one showed it."""
    path: Json = flow.get("path") or {}
    # What passes a policer between its drops is not what it carries.
    if not path.get("capacity_bps") or path.get("at_least") or path.get("policer_bps"):
        return ""
    words = f"carries {rate(float(path['capacity_bps']))} of data"
    share = float(path.get("own_share") or 1)
    return words + (f"; {percent(share)} of what arrived was this connection's" if share < 0.99 else "")


def _like(flow: Json) -> str:
    """The stack that its sender is like, where the transfer was replayed through all of them."""
    like = (flow.get("inference") or {}).get("stack")
    if not like:
        return ""
    others = f"; not told from {', '.join(like['equals'])}" if like["equals"] else ""
    return f"{like['value']} (confidence {like['confidence']:.2f}; rexmit replay --stack all){others}"


def limits(flow: Json, answer: Json | None) -> list[str]:
    """What the capture cannot show."""
    said: Sequence[str] = [str(text) for text in (answer or {}).get("limits") or ()]
    lines: list[str] = []
    for i, text in enumerate(said[:LIMITS]):
        lines += labelled("" if i else "limits", text)
    if len(said) > LIMITS:
        lines += labelled("", f"and {count(len(said) - LIMITS, 'more limit')}; --json has them all")
    return lines


def labelled(word: str, text: str) -> list[str]:
    """Text behind a word in the first columns, broken where it would leave the screen; nothing of no text."""
    if not text:
        return []
    return hanging(f"  {word}", text, INDENT)
