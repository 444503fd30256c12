"""The answer on one screen: the worst first, numbers aligned, units beside them, the sentence that matters
in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any

from rexmit.captured import limited
from rexmit.captured.episodes import UNKNOWN_COST, episode_table, weight
from rexmit.captured.vantage import is_away
from rexmit.screen.say import one_line
from rexmit.screen.text_table import indented
from rexmit.screen.units import count, percent, plain_seconds, rate, seconds, size, three
from rexmit.screen.words import IDLE_IN_WORDS

#: Columns of a page, at most.
WIDTH = 100
#: Lines of limits, at most; --json has them all.
LIMITS = 4
#: Flows that get a line below the worst one, which gets a section.
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
) -> list[str]:
    """The whole page as lines.

    overview: what `Analysis.overview` gives.  name: the capture as the user typed it.  many: figures over
    all flows (`rexmit.captured.short_flows`), where there are many.  command: what the user typed, for the
    hint.  hints: whether to end with the next command.
    """
    flows, total, closing = told(overview, most)
    lines = wrap(header(overview, name), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    lines += notes(overview["capture"])
    if not flows:
        return [*lines, *(["", *closing] if closing else []), "", *wrap(empty(overview), WIDTH)]
    if total >= MANY:
        lines += ["", *aggregate(overview["totals"], many)]
    lines += ["", *section(flows[0])]
    lines += closing + others(flows[1:], total, most)
    if hints:
        lines += following(flows[0], command or f"rexmit analyze {name}")
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
    """The flows to tell of, how many there are, and who sent nothing but its FIN again.

    The core names the flows in order, the worst first; behind it, those of one pair of hosts stand together.
    """
    seen: list[Json] = overview.get("flows") or []
    flows = by_pair([f for f in seen if not _only_its_fin(f) and (f.get("bytes") or not f.get("fault"))])
    total = int((overview.get("totals") or {}).get("flows", len(seen))) - (len(seen) - len(flows))
    said = [
        f"{f['sender']} sent its FIN again ({count(int(f['retransmissions']['total']), 'time')}) and no data"
        for f in seen
        if _only_its_fin(f)
    ]
    if len(said) > most:
        said[most:] = [f"and {count(len(said) - most, 'more host')}"]
    lines = [line for i, x in enumerate(said) for line in _wrapped("" if i else "closing", x)]
    return flows, total, faults(seen, most) + lines


def faults(flows: Sequence[Json], most: int) -> list[str]:
    """Which flows rexmit itself failed on, a sentence each."""
    said = [f"{f['sender']} and {f['receiver']}: {f['fault']}" for f in flows if f.get("fault")]
    if len(said) > most:
        said[most:] = [f"and {count(len(said) - most, 'more flow')}"]
    return [line for i, x in enumerate(said) for line in _wrapped("" if i else "fault", x)]


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
    told = {
        "sender": "taken at the sender",
        "receiver": "taken at the receiver",
        "middle": "taken on the way",
        "both": "taken at both ends",
    }.get(str(where))
    if told:
        words.append(told)
    return f"{one_line(name)}: " + ", ".join(w for w in words if w)


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
    return [
        line
        for text in told
        for line in wrap(
            f"note: {text}",
            WIDTH,
            initial_indent="  ",
            subsequent_indent=" " * 8,
            break_on_hyphens=False,
        )
    ]


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


def section(flow: Json) -> list[str]:
    """One flow in full."""
    ends, facts = f"{flow['sender']} → {flow['receiver']}", f"{_volume(flow)}   {rtt_words(flow)}"
    together = f"{ends}   {facts}"
    lines = [together] if len(together) <= WIDTH else [ends, f"  {facts}"]
    lines += _sum(flow)
    episodes: list[Json] = flow.get("episodes") or []
    if episodes:
        lines += ["", *episode_table(episodes, flow, WIDTH), ""]
    found = flow.get("answer")
    pairs = [("limited", limited.line(flow)), ("path", limited.path_line(flow))]
    pairs += [("resent", _resent(flow)), ("probes", _probes(flow)), ("idle", _idle(flow))]
    pairs.append(("like", _like(flow)))
    if not found:
        pairs.append(("limits", _limits(flow)))
    lines += [line for word, text in pairs if text for line in _wrapped(word, text)]
    return lines + answer(found)


def _like(flow: Json) -> str:
    """The stack that its sender is like, where the transfer was replayed through all of them."""
    like = (flow.get("inference") or {}).get("stack")
    if not like:
        return ""
    others = f"; not told from {', '.join(like['equals'])}" if like["equals"] else ""
    return f"{like['value']} (confidence {like['confidence']:.2f}; rexmit replay --stack all){others}"


def _volume(flow: Json) -> str:
    took = float(flow.get("duration_s") or 0)
    speed = flow.get("throughput_bps")
    sent, arrived = float(flow["bytes"]), float(flow.get("acked_bytes") or 0)
    # With both captures it is known what got there, and the rate is that of it.
    part = flow.get("vantage") == "both" and arrived < sent and not (flow.get("limits") or {}).get("one_way")
    words = f"{size(arrived)} of {size(sent)} in" if part else f"{size(sent)} in"
    words += f" {seconds(took)}"
    return f"{words}   {rate(float(speed))}" if speed is not None else words


def _sum(flow: Json) -> list[str]:
    """What it cost, in words, then the counts."""
    said: list[Json] = (flow.get("answer") or {}).get("findings") or []
    n = int(flow.get("episode_count") or 0)
    words = []
    if n == 0:
        words.append("No loss episode.")
    elif not said:
        cost = flow.get("cost_s")
        took = plain_seconds(float(flow.get("duration_s") or 0))
        told = ", cost unknown" if cost is None else f" cost {plain_seconds(float(cost))} of {took}"
        words.append(f"{count(n, 'episode')}{told}.")
    lost: Json = flow.get("lost") or {}
    bursts = int(flow.get("burst_count") or 0)
    if lost.get("copies") is not None and bursts:
        words.append(f"{count(int(lost['copies']), 'copy', 'copies')} lost in {count(bursts, 'burst')}.")
    elif lost.get("segments") is not None and bursts:
        words.append(f"{count(int(lost['segments']), 'segment')} lost in {count(bursts, 'burst')}.")
    elif lost.get("copies") is None and n:
        words.append("How many copies were lost cannot be known from here.")
    gaps = int(flow.get("idle_count") or 0)
    words.append(
        f"Idle {seconds(float(flow['idle_total_s']))} in {count(gaps, 'gap')}." if gaps else "Never idle."
    )
    return [*(line for found in said for line in finding(found)), "  " + "  ".join(words)]


def finding(found: Json) -> list[str]:
    """One sentence of the answer: how sure it is, what was found, and what that rests on.

    What it rests on stands beside the sentence where both fit, else in a line of its own below it.
    """
    said, because = _wrapped(str(found["certainty"]), str(found["text"])), str(found.get("because") or "")
    if not because:
        return said
    beside = f"{said[0]}   {because}"
    if len(said) == 1 and len(beside) <= WIDTH:
        return [beside]
    indent = " " * 13
    return [
        *said,
        *wrap(because, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False),
    ]


def _resent(flow: Json) -> str:
    again: Json = flow.get("retransmissions") or {}
    total = int(again.get("total") or 0)
    if total == 0:
        return ""
    causes = sorted((again.get("by_cause") or {}).items(), key=lambda item: -int(item[1]))
    words = f"{count(total, 'segment')}: " + ", ".join(f"{int(n):,} {cause}" for cause, n in causes if n)
    if again.get("needless"):
        words += f"; {int(again['needless']):,} of them needless"
    return words


def _probes(flow: Json) -> str:
    probes: Json = flow.get("probes") or {}
    words = [
        f"{int(probes[key]):,} {what}"
        for key, what in (
            ("new_data", "with new data"),
            ("repeat", "repeating data"),
            ("window", "of a closed window"),
            ("keep_alive", "keep-alive"),
        )
        if probes.get(key)
    ]
    return ", ".join(words)


def idle_by_cause(flow: Json) -> dict[str, tuple[int, float]]:
    """Gaps and seconds by cause, the longest first, over the gaps that the overview lists."""
    sums: dict[str, tuple[int, float]] = {}
    for gap in flow.get("idle") or ():
        n, length = sums.get(str(gap["cause"]), (0, 0.0))
        sums[str(gap["cause"])] = (n + 1, length + float(gap["length_s"]))
    return dict(sorted(sums.items(), key=lambda item: -item[1][1]))


def _idle(flow: Json) -> str:
    sums = idle_by_cause(flow)
    listed = sum(n for n, _ in sums.values())
    words = ", ".join(
        f"{seconds(length)} {IDLE_IN_WORDS.get(cause, cause)}" for cause, (_, length) in sums.items()
    )
    if words and listed < int(flow.get("idle_count") or 0):
        words += f" (the longest {listed} gaps)"
    return words


def _limits(flow: Json) -> str:
    found: Json = flow.get("limits") or {}
    largest = size(int(found.get("largest_payload") or 0))
    told: dict[str, Callable[[int], str]] = {
        "mid_stream": lambda _: "no SYN was captured: windows cannot be scaled",
        "one_way": lambda _: "one direction only is in the capture",
        "options_cut": lambda n: f"the snap length cut off the TCP options of {count(n, 'packet')}",
        "missing_bytes": lambda n: f"{size(n)} are missing from the capture (acknowledged, never seen)",
        "unfilled_gaps": lambda n: f"{count(n, 'gap')} in the data never filled",
        "not_followed": lambda n: f"{count(n, 'segment')} not followed: too many pieces outstanding",
        "super_packets": lambda n: f"{count(n, 'packet')} of several segments (offload), up to {largest}",
        "captured_twice": lambda n: f"{count(n, 'packet')} seen twice",
        "out_of_capture_order": lambda n: f"{count(n, 'packet')} out of capture order",
        "duplicated": lambda n: f"{count(n, 'packet')} doubled by the network",
        "reordered": lambda n: f"{count(n, 'packet')} reordered by the network",
        "bad_checksums": lambda n: count(n, "bad checksum"),
    }
    return "; ".join(words(int(found[key])) for key, words in told.items() if found.get(key))


def answer(found: Json | None) -> list[str]:
    """Where to look, what says so, and what the capture cannot show."""
    if not found:
        return []
    lines = _wrapped("look at", str(found.get("look_at") or found.get("verdict") or ""))
    sure = str(found.get("certainty") or "")
    evidence = "; ".join([*([sure] if sure else []), *map(str, found.get("evidence") or ())])
    if evidence:
        lines += _wrapped("", evidence)
    limits = [str(text) for text in found.get("limits") or ()]
    for i, text in enumerate(limits[:LIMITS]):
        lines += _wrapped("" if i else "limits", text)
    if len(limits) > LIMITS:
        lines += _wrapped("", f"and {count(len(limits) - LIMITS, 'more limit')}; --json has them all")
    return lines


def _wrapped(word: str, text: str) -> list[str]:
    """A line of the block under the table, broken where it would leave the screen."""
    return wrap(
        text, WIDTH, initial_indent=f"  {word:<8} ", subsequent_indent=" " * 11, break_on_hyphens=False
    )


def _cost(flow: Json) -> str:
    """What the episodes of a flow cost."""
    cost = flow.get("cost_s")
    if cost is None:
        return UNKNOWN_COST if flow.get("episode_count") else "0"
    return plain_seconds(max(0.0, float(cost)))


def others(candidates: Sequence[Json], total: int, most: int) -> list[str]:
    """The flows after the worst that something happened to, one line each."""
    flows = [
        f for f in candidates if f.get("episode_count") or (f.get("retransmissions") or {}).get("total")
    ][:most]
    quiet = total - 1 - len(flows)
    rest = f"  … and {count(quiet, 'more flow')}" if quiet else ""
    if not flows:
        return (
            ["", rest + " without losses"]
            if quiet and len(candidates) == quiet
            else ["", rest]
            if rest
            else []
        )
    rows = [
        (
            f"{f['sender']} → {f['receiver']}",
            size(float(f["bytes"])),
            seconds(float(f.get("duration_s") or 0)),
            rate(float(f["throughput_bps"])) if f.get("throughput_bps") is not None else "",
            f"{int((f.get('retransmissions') or {}).get('total') or 0):,}",
            f"{int(f.get('episode_count') or 0):,}",
            _cost(f),
            seconds(float(f.get("idle_total_s") or 0)),
        )
        for f in flows
    ]
    head = ("next worst", "bytes", "took", "rate", "resent", "episodes", "cost", "idle")
    lines = ["", *indented([head, *rows])]
    return [*lines, rest] if rest else lines


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
    words = f"{trouble:,} flows ({percent(trouble / flows)}) sent something again: {count(resent, 'segment')}"
    lines.append(f"  resent   {words}" + (f" ({percent(resent / segments)})" if segments else ""))
    causes = sorted((again.get("by_cause") or {}).items(), key=lambda item: -int(item[1]))
    if resent:
        lines.append("           " + ", ".join(f"{int(n):,} {cause}" for cause, n in causes if n))
    syn = int(totals.get("syn_retransmissions") or 0)
    if syn:
        lines.append(f"  opening  {count(syn, 'SYN or SYN-ACK', 'SYNs or SYN-ACKs')} had to be sent again")
    if many:
        lines += _many(many)
    if totals.get("episodes"):
        unknown = int(totals.get("cost_unknown_flows") or 0)
        cost = plain_seconds(max(0.0, float(totals.get("cost_s") or 0)))
        told = f"cost {cost} in all" + (f", unknown in {count(unknown, 'flow')}" if unknown else "")
        told = "cost unknown" if unknown and not totals.get("cost_s") else told
        lines.append(f"  episodes {int(totals['episodes']):,}, {told}")
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
        n = count(int(many["tails"]), "flow")
        lines.append(f"  tails    {n} lost the end of what they sent and waited for a timer")
    done: Json = many.get("completion_s") or {}
    for key, what in (("all", "done in"), ("clean", "clean"), ("timeout", "timeouts")):
        part = done.get(key)
        if part and part["n"]:
            figures = ", ".join(f"{p} {seconds(float(part[p]))}" for p in ("p50", "p90", "p99"))
            lines.append(f"  {what:<8} {figures}   ({count(int(part['n']), 'flow')})")
    return lines


def following(flow: Json, command: str) -> list[str]:
    """The next command."""
    episodes: list[Json] = flow.get("episodes") or []
    more, what = "--out DIR", "for tables and figures"
    if episodes:
        number = int(max(episodes, key=lambda e: weight(e, flow.get("end_s")))["number"]) + 1
        more, what = f"--ladder {number}", f"for the exchange of episode {number}"
    # Where a name is shown otherwise than it is the command cannot be copied: then, too, the option is named.
    line = f"  next     {command} {more}      {what}"
    # Long names of files push what matters off the screen: then the option alone is named.
    return [
        line
        if len(line) <= WIDTH and line == one_line(line)
        else f"  next     the same with {more}      {what}"
    ]
