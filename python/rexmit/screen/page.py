"""The answer on one screen: the worst first, numbers aligned, units beside them, the sentence that matters
in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from rexmit.captured.episodes import weight
from rexmit.screen.connection import labelled, section
from rexmit.screen.say import one_line
from rexmit.screen.text_table import indented
from rexmit.screen.units import count, percent, rate, seconds, size
from rexmit.screen.wide import hanging, page_width
from rexmit.screen.words import cause_and_end, closed_sets

#: Connections that get a line below the worst one, which gets a section.
OTHERS = 6
#: From this many flows the page speaks about all of them first.
MANY = 20

Json = dict[str, Any]


def page(
    overview: Json,
    name: str,
    many: Json | None = None,
    *,
    command: str | None = None,
    hints: bool = True,
    most: int = OTHERS,
    why: bool = False,
) -> list[str]:
    """The whole page as lines.

    overview: what `Analysis.overview` gives.  name: the capture as the user typed it.  many: figures over
    all flows (`rexmit.captured.short_flows`), where there are many.  command: what the user typed, for the
    hint.  hints: whether to end with the next command.  why: the grounds of each cause, and all causes.
    """
    flows, total, closing = told(overview, most)
    lines = wrap(header(overview, name), page_width(), subsequent_indent="  ", break_on_hyphens=False)
    lines += notes(overview["capture"])
    if not flows:
        return [*lines, *(["", *closing] if closing else []), "", *wrap(empty(overview), page_width())]
    if int(overview["totals"].get("flows", 0)) >= MANY:
        lines += ["", *aggregate(overview["totals"], many)]
    worst, *rest = connections(flows)
    lines += ["", *section(*worst, why=why)]
    lines += closing + others([first for first, _ in rest], total, most)
    if hints:
        lines += following(worst[0], command or f"rexmit analyze {name}")
    return lines


def empty(overview: Json) -> str:
    """Why there is no flow to speak of."""
    said = "no TCP connection in it carries data"
    connections = int((overview.get("totals") or {}).get("connections") or 0)
    if not connections:
        return said
    return (
        f"{said}: {count(connections, 'connection')} without. If data was moved, the capture has the other "
        "direction only, the ACKs: take it where both pass"
    )


def _only_its_fin(flow: Json) -> bool:
    """Whether nothing but the FIN of this direction is told of it: data and SYNs are there or were lost."""
    again = (flow.get("retransmissions") or {}).get("total")
    opening = (flow.get("handshake") or {}).get("syn_retransmissions")
    return bool(again) and not flow.get("bytes") and not opening


def connections(flows: Sequence[Json]) -> list[tuple[Json, Json | None]]:
    """Each connection once: the direction with more data, and the other one where it is listed.

    A connection stands where its first flow stood.
    """
    found: dict[Any, list[Json]] = {}
    for i, flow in enumerate(flows):
        answer: Json | None = flow.get("answer")
        found.setdefault(("flow", i) if answer is None else answer["connection"], []).append(flow)
    ordered = (sorted(each, key=lambda f: -int(f["bytes"])) for each in found.values())
    return [(each[0], each[1] if len(each) > 1 else None) for each in ordered]


def by_pair(flows: Sequence[Json]) -> list[Json]:
    """The same flows, those of one pair of hosts together; pairs stand in the order of their first flow."""
    pairs: dict[frozenset[str], list[Json]] = {}
    for flow in flows:
        pairs.setdefault(pair(flow), []).append(flow)
    return [flow for together in pairs.values() for flow in together]


def pair(flow: Json) -> frozenset[str]:
    """The two hosts of a flow, whichever sends."""
    return frozenset(str(flow[end]).rpartition(":")[0] for end in ("sender", "receiver"))


def told(overview: Json, most: int) -> tuple[list[Json], int, list[str]]:
    """The flows to tell of, how many connections there are, and who sent nothing but its FIN again.

    The core names the flows in order, the worst first; behind it, those of one pair of hosts stand together.
    """
    seen: list[Json] = overview.get("flows") or []
    flows = by_pair([f for f in seen if not _only_its_fin(f) and (f.get("bytes") or not f.get("fault"))])
    totals: Json = overview.get("totals") or {}
    hidden = len(connections(seen)) - len(connections(flows))
    total = int(totals.get("connections", len(connections(seen)))) - hidden
    said = [
        f"{f['sender']} sent its FIN again ({count(int(f['retransmissions']['total']), 'time')}) and no data"
        for f in seen
        if _only_its_fin(f)
    ]
    if len(said) > most:
        said[most:] = [f"and {count(len(said) - most, 'more host')}"]
    lines = [line for i, x in enumerate(said) for line in labelled("" if i else "closing", x)]
    return flows, total, faults(seen, most) + lines


def faults(flows: Sequence[Json], most: int) -> list[str]:
    """Which flows rexmit itself failed on, a sentence each."""
    said = [f"{f['sender']} and {f['receiver']}: {f['fault']}" for f in flows if f.get("fault")]
    if len(said) > most:
        said[most:] = [f"and {count(len(said) - most, 'more flow')}"]
    return [line for i, x in enumerate(said) for line in labelled("" if i else "fault", x)]


def header(overview: Json, name: str) -> str:
    """`upload.pcap: 12,404 packets, 7.4 s, Ethernet, snap 96, offloads off, taken at the sender`."""
    capture: Json = overview["capture"]
    flows: list[Json] = overview.get("flows") or []
    words = [count(int(capture.get("packets") or 0), "packet"), seconds(float(capture.get("span_s") or 0))]
    words += [str(link) for link in capture.get("link_types") or ()]
    snap = capture.get("snaplen")
    # Nobody cut anything off with a snap length above the largest IP packet.
    if snap and int(snap) < 65_535:
        words.append(f"snap {snap}")
    words.append(_offloads(capture.get("offloads")))
    where = capture.get("vantage") or (flows[0].get("vantage") if flows else None)
    told = _taken_at(flows) or {
        "sender": "taken at the sender",
        "receiver": "taken at the receiver",
        "middle": "taken on the way",
        "both": "taken at both ends",
    }.get(str(where))
    if told:
        words.append(told)
    return f"{one_line(name)}: " + ", ".join(w for w in words if w)


def _taken_at(flows: Sequence[Json]) -> str:
    """`taken at the client`, where it is the same host for all flows that tell."""
    hosts = set()
    for flow in flows:
        if (where := flow.get("vantage")) in ("sender", "receiver") and (answer := flow.get("answer")):
            hosts.add("client" if flow[where] == answer["client"] else "server")
        elif where in ("middle", "both"):
            return ""
    return f"taken at the {hosts.pop()}" if len(hosts) == 1 else ""


def _offloads(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    if not value.get("seen"):
        return "offloads off"
    largest = int(value.get("largest_payload") or 0)
    return f"offloads on (packets of up to {size(largest)})" if largest else "offloads on"


def notes(capture: Json, most: int = 4) -> list[str]:
    """What limits the answer, as the reader and the analysis tell it."""
    said = [one_line(str(w)) for w in capture.get("warnings") or ()]
    damage = capture.get("damage")
    if damage and one_line(str(damage)) not in said:
        said.insert(0, one_line(str(damage)))
    if capture.get("interrupted"):
        said.insert(0, "stopped early: this is the answer for what was seen until then")
    told = said[:most]
    if len(said) > most:
        told.append(f"and {count(len(said) - most, 'more note')}; --json has them all")
    return [line for text in told for line in hanging("  note: ", text)]


def others(candidates: Sequence[Json], total: int, most: int) -> list[str]:
    """The connections after the worst that took time for something, one line each.

    candidates: a flow of each.  total: how many connections there are.
    """
    shown = [f for f in candidates if _matters(f)][:most]
    quiet = total - 1 - len(shown)
    rest = f"  … and {count(quiet, 'more connection')}" if quiet > 0 else ""
    if not shown:
        return ["", rest] if rest else []
    rows = [
        (
            f"{f['sender']} → {f['receiver']}",
            size(float(f["bytes"])),
            seconds(float(f.get("duration_s") or 0)),
            rate(float(f["throughput_bps"])) if f.get("throughput_bps") is not None else "",
            f"{int((f.get('retransmissions') or {}).get('total') or 0):,}",
            *_in_short(f),
        )
        for f in shown
    ]
    head = ("next worst", "bytes", "took", "rate", "resent", "of the time", "went to")
    lines = ["", *indented([head, *rows], left=(0, 6))]
    return [*lines, rest] if rest else lines


def _matters(flow: Json) -> bool:
    answer: Json | None = flow.get("answer")
    return answer is None or answer["cause"] != "nothing"


def _in_short(flow: Json) -> tuple[str, str]:
    """The share of the answer's cause, and its name."""
    answer: Json | None = flow.get("answer")
    if answer is None:
        return "", ""
    return percent(float(answer["share"])) if answer["seconds"] else "", cause_and_end(answer)


def aggregate(totals: Json, many: Json | None) -> list[str]:
    """What happened to all of them, where there are many."""
    again: Json = totals.get("retransmissions") or {}
    segments = int(totals.get("segments") or 0)
    resent = int(again.get("total") or 0)
    trouble = int(totals.get("flows_with_trouble") or 0)
    flows = int(totals["flows"])
    lines = [
        f"{count(int(totals.get('connections') or flows), 'connection')}, "
        f"{count(int(totals.get('flows_with_data', flows)), 'flow')} with data, "
        f"{size(float(totals.get('bytes') or 0))} in {count(segments, 'segment')}"
    ]
    words = f"{count(trouble, 'flow')} ({percent(trouble / flows)}) sent something again"
    if resent:
        words += f": {count(resent, 'segment')}" + (f" ({percent(resent / segments)})" if segments else "")
    lines.append(f"  resent   {words if trouble else 'nothing'}")
    causes = sorted((again.get("by_cause") or {}).items(), key=lambda item: -int(item[1]))
    if resent:
        words_of = closed_sets()["cause"]
        lines.append("           " + ", ".join(f"{int(n):,} {words_of[cause]}" for cause, n in causes if n))
    syn = int(totals.get("syn_retransmissions") or 0)
    if syn:
        lines.append(f"  opening  {count(syn, 'SYN or SYN-ACK', 'SYNs or SYN-ACKs')} had to be sent again")
    if many:
        lines += _many(many)
    if many and len(many.get("pairs") or ()) > 1:
        from rexmit.screen.groups_page import overview

        lines += ["", *overview(many["pairs"])]
    return lines


def _many(many: Json) -> list[str]:
    lines = []
    unanswered = int(many.get("unanswered") or 0)
    if unanswered:
        lines.append(f"  opening  {count(unanswered, 'connection was', 'connections were')} never answered")
    if many.get("tails"):
        n = int(many["tails"])
        whose = "what it" if n == 1 else "what they"
        lines.append(f"  tails    {count(n, 'flow')} lost the end of {whose} sent and waited for a timer")
    done: Json = many.get("completion_s") or {}
    for key, what in (("all", ""), ("clean", " without a retransmission"), ("timeout", " with a timeout")):
        part = done.get(key)
        if part and part["n"]:
            figures = ", ".join(f"{p} {seconds(float(part[p]))}" for p in ("p50", "p90", "p99"))
            lines.append(f"  took     {figures}   ({count(int(part['n']), 'flow')}{what})")
    return lines


def following(flow: Json, command: str) -> list[str]:
    """The next command."""
    episodes: list[Json] = flow.get("episodes") or []
    more, what = "--out DIR", "for tables and figures"
    if episodes:
        number = int(max(episodes, key=lambda e: weight(e, flow.get("end_s")))["number"]) + 1
        more, what = f"--ladder {number}", f"for the packets of repair {number}"
    # Where a name is shown otherwise than it is the command cannot be copied: then, too, the option is named.
    line = f"  next     {command} {more}      {what}"
    # Long names of files push what matters off the screen: then the option alone is named.
    return [
        line
        if len(line) <= page_width() and line == one_line(line)
        else f"  next     the same command with {more}      {what}"
    ]
