"""The page of a simulated run: that of a capture, with the run's own first line and what its links lost."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from rexmit.running.late import banner
from rexmit.screen.connection import section
from rexmit.screen.page import MANY, OTHERS, aggregate, connections, following, notes, others, told
from rexmit.screen.say import one_line
from rexmit.screen.units import count, percent, rate, seconds
from rexmit.screen.wide import hanging, page_width

Json = dict[str, Any]

#: Links that get a line, at most.
LINKS = 6
CAUSES = {
    "queue-full": "queue full",
    "aqm": "dropped early by the queue",
    "channel": "by channel {}",
    "policer": "dropped by policer {}",
    "mtu": "too large for {}",
    "flushed": "flushed by {}",
    "arq-gave-up": "given up by the link layer in {}",
}
LATE = (("p50", "p50"), ("p99", "p99"), ("p99.9", "p999"), ("at most", "max"))
SEEN = {"both": "seen at both ends", "sender": "seen at the sender", "receiver": "seen at the receiver"}


def page(
    overview: Json,
    many: Json | None,
    *,
    command: str,
    hints: bool = True,
    most: int = OTHERS,
    why: bool = False,
) -> list[str]:
    """The whole page as lines: `overview` as `Analysis.overview` gives it for a run."""
    run: Json = overview["simulation"]
    flows, total, closing = told(overview, most)
    warning = banner(run.get("bridge"))
    lines = [*wrap(warning, page_width(), break_on_hyphens=False), ""] if warning else []
    lines += wrap(header(overview), page_width(), subsequent_indent="  ", break_on_hyphens=False)
    lines += notes(overview["capture"])
    if int(overview["totals"].get("flows", 0)) >= MANY:
        lines += ["", *aggregate(overview["totals"], many)]
    if flows:
        worst, *rest = connections(flows)
        lines += ["", *section(*worst, why=why), *closing, *others([first for first, _ in rest], total, most)]
    else:
        lines += ["", "no TCP connection of it carries data"]
    lines += ["", *datagrams(run), *links(run), *outages(run), *bridge(run)]
    if hints and flows:
        lines += following(worst[0], command)
    return lines


def header(overview: Json) -> str:
    """`simulated: interruption-reno, seed 1, 21.4 s, 12,404 packets, seen at both ends`."""
    run: Json = overview["simulation"]
    # A connection that waits for stray packets after its end (TIME-WAIT) makes nobody else wait.
    took = overview["capture"]["span_s"] if run["end"] == "done" else run["time_s"]
    words = [one_line(str(run["name"])), f"seed {run['seed']}", seconds(float(took or run["time_s"]))]
    words.append(count(int(overview["capture"]["packets"]), "packet"))
    words.append(SEEN[str(run["at"])])
    bridge = run.get("bridge")
    return f"live, {bridge['kernel']}: " + ", ".join(words) if bridge else "simulated: " + ", ".join(words)


def bridge(run: Json) -> list[str]:
    """How well the live bench's bridge kept time."""
    kept: Json | None = run.get("bridge")
    if not kept:
        return []
    whose = []
    if own := kept["own_hosts"]:
        ends = {end for flow in run["flows"] if flow["stack"] for end in (flow["from"], flow["to"])}
        others = sorted(ends - set(own))
        words = f"rexmit's own at {' and '.join(own)}"
        words += f", this kernel's at {' and '.join(others)}" if others else ""
        whose = [f"  TCP      {words}"]
    late = [(name, kept[f"late_{key}_s"]) for name, key in LATE]
    told = ", ".join(f"{name} {seconds(float(value))}" for name, value in late if value is not None)
    words = f"packets left late by {told}; " if told else "no packet passed; "
    words += f"{count(kept['over_1ms'], 'packet')} later than 1 ms, {kept['overload']:,} lost by the machine"
    if not kept["real_time"]:
        words += "; without real-time priority"
    if not kept["cores_awake"]:
        words += "; idle cores could halt"
    return whose + hanging("  bridge   ", words)


def datagrams(run: Json) -> list[str]:
    """Flows that no capture of TCP shows."""
    lines = []
    for flow in run["flows"]:
        way = flow["forward"]
        if flow["stack"] is not None or not way["data_packets"]:
            continue
        inside = way["inside_packets"]
        lost = way["data_packets"] - way["arrived_packets"] - (inside or 0)
        # Where nobody counted, those that were on their way as the run ended are among them.
        perhaps = inside is None and any(link["inside"] for link in run["links"])
        speed = rate(way["goodput_bps"]) if way["goodput_bps"] else "nothing"
        sent = f"{flow['flow']}: {count(way['data_packets'], 'datagram')}"
        words = f"{sent}, {speed} arrived, {percent(max(0, lost) / way['data_packets'])} did not"
        words += ", or were still on their way" if perhaps and lost > 0 else ""
        words += f", {inside:,} were still on their way" if inside else ""
        lines.append(f"  udp      {words}")
    return lines


def links(run: Json) -> list[str]:
    """What links lost, the worst first."""
    lossy = sorted((link for link in run["links"] if link["lost"]), key=lambda link: -link["lost"])
    if not lossy:
        return ["  links    lost nothing"]
    lines = []
    for i, link in enumerate(lossy[:LINKS]):
        share = percent(link["lost"] / max(1, link["offered"]))
        causes = ", ".join(
            f"{loss['packets']:,} {CAUSES[loss['cause']].format(loss['channel'])}" for loss in link["losses"]
        )
        offered = count(link["offered"], "packet")
        words = f"{link['link']} {link['from']} → {link['to']} lost {link['lost']:,} of {offered}"
        words += f" ({share}): {causes}"
        head = "  links    " if i == 0 else " " * 11
        lines += wrap(
            words, page_width(), initial_indent=head, subsequent_indent=" " * 13, break_on_hyphens=False
        )
    if len(lossy) > LINKS:
        lines.append(
            " " * 11 + f"and {count(len(lossy) - LINKS, 'more direction')} of links; --json has them all"
        )
    return lines


def outages(run: Json) -> list[str]:
    """The outages of links, as the scenario has them: a capture alone shows them only in part."""
    known: dict[tuple[str, str], Json] = {}
    for link in run["links"]:
        for outage in link["outages"]:
            known.setdefault((link["link"], outage["channel"]), outage)
    told = [f"{link} by {channel}: {_schedule(outage)}" for (link, channel), outage in known.items()]
    lines: list[str] = []
    for text in told[:LINKS]:
        head = " " * 11 if lines else "  outages  "
        lines += wrap(
            text, page_width(), initial_indent=head, subsequent_indent=" " * 13, break_on_hyphens=False
        )
    if len(told) > LINKS:
        lines.append(" " * 11 + f"and {count(len(told) - LINKS, 'more channel')} of outages; --json has them")
    return lines


def _schedule(outage: Json) -> str:
    listed = outage["intervals_s"]
    if outage["every_s"] is not None:
        words = f"{seconds(outage['for_s'])} every {seconds(outage['every_s'])}"
        since = "since the run began" if outage["anchor"] == "start" else "after its first packet"
        return f"{words}, the first {seconds(outage['phase_s'])} {since}"
    if listed is None:
        means = seconds(outage["down_mean_s"]), seconds(outage["up_mean_s"])
        return f"{means[0]} on average, {means[1]} between them on average"
    shown = ", ".join(f"{seconds(length)} at {seconds(at)}" for at, length in listed[:4])
    return shown + (f" and {count(len(listed) - 4, 'more outage')}" if len(listed) > 4 else "")


def stacks(listed: list[Json]) -> list[str]:
    """The built-in stacks, one a line."""
    width = max(len(s["name"]) for s in listed)
    lines: list[str] = []
    for wire, head in (
        (True, "stacks: real endpoints"),
        (False, "one-way agents: they count packets, in sim only"),
    ):
        lines += [*([""] if lines else []), *wrap(head, page_width())]
        for s in (s for s in listed if s["wire"] == wire):
            lines += hanging(f"  {s['name']}", s["about"], width + 4)
    return [*lines, "", *wrap("rexmit stacks NAME shows what one is made of, with its sources", page_width())]


def scenarios(listed: list[Json]) -> list[str]:
    """The scenarios that ship, one a line."""
    from rexmit.running.shipped import LIVE

    width = max(len(s["name"]) for s in listed)
    lines: list[str] = []
    for live, head in (
        (False, "scenarios"),
        (True, "scenarios for --bench live (docs/live.md)"),
    ):
        lines += [*([""] if lines else []), *wrap(head, page_width())]
        for s in (s for s in listed if s["name"].startswith(LIVE) == live):
            lines += hanging(f"  {s['name']}", s["about"], width + 4)
    return [
        *lines,
        "",
        *wrap("rexmit run NAME simulates one; rexmit scenarios NAME shows its text", page_width()),
    ]


def stack(page: Json) -> list[str]:
    """What one stack is made of."""
    lines = wrap(
        f"{page['name']}: {page['about']}", page_width(), subsequent_indent="  ", break_on_hyphens=False
    )
    if page["based_on"]:
        lines.append(f"  based on {page['based_on']}")
    if not page["wire"]:
        lines.append("  a one-way agent: it counts packets and sends no SYN, in sim only")
    lines += _sources(page["sources"])
    for section_ in page["sections"]:
        lines += ["", *wrap(f"{section_['name']}: {section_['about']}", page_width(), subsequent_indent="  ")]
        width = max((len(f"{e['key']} = {e['value']}") for e in section_["entries"]), default=0)
        width = min(width, 40)
        for e in section_["entries"]:
            said = f"{e['key']} = {e['value']}"
            mark = " " if e["said"] else "·"
            lines += hanging(f"  {mark} {said:<{width}}  ", e["about"], width + 6)
        if section_["assumed"]:
            lines.append("    assumed: something here has no source and is what seems likely")
        lines += _sources(section_["sources"])
    if any(not e["said"] for s in page["sections"] for e in s["entries"]):
        lines += ["", "· default: no file says it"]
    return lines


def _sources(sources: list[str]) -> list[str]:
    return [
        line
        for source in sources
        for line in wrap(
            source,
            page_width(),
            initial_indent="    source: ",
            subsequent_indent="      ",
            break_on_hyphens=False,
        )
    ]


def kinds(found: Json) -> list[str]:
    """The kinds of channels and queues, with their keys."""
    lines = ["channels: what a link does to packets beyond rate and delay ([[link.channel]])"]
    lines += ["", "  every channel has", *_keys(found["common"])]
    for head, listed in (
        ("", found["channels"]),
        ("queues: queue = { kind = … } of a link", found["queues"]),
    ):
        if head:
            lines += ["", head]
        for kind in listed:
            about = f"{kind['name']}: {kind['about']}"
            lines += [
                "",
                *wrap(
                    about, page_width(), initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
                ),
            ]
            if kind["forms"]:
                lines += wrap(kind["forms"], page_width(), initial_indent="    ", subsequent_indent="    ")
            lines += _keys(kind["keys"])
    return lines


def _keys(keys: list[Json]) -> list[str]:
    width = min(24, max((len(k["name"]) for k in keys), default=0))
    lines = []
    for k in keys:
        default = "required" if k["default"] == "required" else f"default {k['default']}"
        text = f"{k['about']} ({k['value']}; {default})"
        lines += hanging(f"    {k['name']:<{width}}  ", text, width + 6)
    return lines
