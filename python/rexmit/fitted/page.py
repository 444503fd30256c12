"""What `rexmit fit` prints: the values, alternatives, the scenario for other tools, and what the check
gave back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rexmit.fitted.elsewhere import mahimahi, netem
from rexmit.fitted.value import Value
from rexmit.screen.say import one_line
from rexmit.screen.text_table import indented
from rexmit.screen.units import percent, rate, seconds, size

if TYPE_CHECKING:
    from rexmit.fitted.check import Check, Line
    from rexmit.fitted.fitting import Fit

NAMES = {
    "rate": "rate",
    "base_rtt": "base RTT",
    "queue": "queue",
    "policer_rate": "policer",
    "bucket": "its bucket",
    "loss": "loss",
    "mean_burst": "burst of losses",
    "outage_length": "outage",
    "outage_period": "outages every",
    "reordered": "reordered",
    "reordered_by": "come late by",
    "back_rate": "rate of the way back",
    "ack_loss": "ACKs lost",
    "acks_per_packet": "ACKs per packet",
    "acks_together": "ACKs let go together",
    "receive_window": "receive window",
    "own_window": "sender's own window",
    "in_flight": "in flight",
    "others": "others' share",
}
KINDS = {
    "none": "no packet was lost by chance",
    "queue": "the queue, which the sender overran",
    "policer": "a policer",
    "random": "at random, one by one",
    "gilbert-elliott": "in bursts of so many packets (Gilbert-Elliott)",
    "gilbert-elliott-time": "in bursts that last for so long (Gilbert-Elliott)",
}


def page(fit: Fit, checked: Check | None = None) -> list[str]:
    """The whole page as lines."""
    flow = fit.seen.flow
    lines = [
        one_line(f"{fit.name}: the path of {flow.sender} → {flow.receiver}, {_where(fit)}"),
        "",
    ]
    rows = [["", "value", "90% interval", "from"]]
    for name, value in fit.values.items():
        if value is not None:
            rows.append([NAMES[name], *_cells(value), value.source])
    lines += indented(rows, left={0, 1, 2, 3})
    lines += ["", f"  losses    {KINDS[fit.losses.kind]}{_lost(fit)}"]
    others = [a for a in fit.alternatives if a["kind"] != fit.losses.kind and float(a["weight"]) >= 0.01]
    lines += [f"            or {KINDS[a['kind']]}: weight {float(a['weight']):.2f}" for a in others]
    if fit.interruptions.outages:
        lines.append(f"  outages   {_times(fit, held=False)}")
    if fit.interruptions.held:
        lines.append(f"  held      {_times(fit, held=True)}: what was sent meanwhile came at the end")
    if fit.steps:
        told = ", ".join(f"{seconds(rtt)} from {start:.2f} s" for start, rtt in fit.steps[:5])
        lines.append(f"  base RTT  {told}{' and more' if len(fit.steps) > 5 else ''}")
    workload = ", ".join(f"{key} {value}" for key, value in fit.hosts.workload.items() if key != "kind")
    lines.append(
        f"  sends     {fit.hosts.workload['kind']}{': ' if workload else ''}{workload} ({fit.hosts.source})"
    )
    tc, mm = netem(fit), mahimahi(fit)
    lines += [
        "",
        f"  netem     {tc['command']}",
        *(f"            leaves out {text}" for text in tc["leaves_out"]),
    ]
    if mm["command"]:
        lines.append(f"  mahimahi  {mm['command']}      (the trace: --json)")
    lines += [f"            leaves out {text}" for text in mm["leaves_out"]]
    return lines + (_checked(fit, checked) if checked else [])


def _where(fit: Fit) -> str:
    at = fit.seen.row["vantage"]
    return "seen at both ends" if at == "both" else f"seen at the {at}"


def _number(value: float, unit: str) -> str:
    if unit == "bps":
        return rate(value)
    if unit == "s":
        return seconds(value)
    if unit == "bytes":
        return size(value)
    if unit == "share":
        return percent(value) if value >= 0.01 or value == 0 else f"{100 * value:.3g}%"
    return f"{value:,.0f} {unit}" if value >= 10 else f"{value:,.1f} {unit}"


def _cells(value: Value) -> list[str]:
    if value.value is None and value.high is not None:
        return ["cannot tell", f"at most {_number(value.high, value.unit)}"]
    if value.value is None:
        return ["cannot tell", ""]
    told = _number(value.value, value.unit)
    if value.at_least:
        return [f"at least {told}", ""]
    if value.low is None and value.high is not None:
        return [f"at most {_number(value.high, value.unit)}", ""]
    low = "?" if value.low is None else _number(value.low, value.unit)
    high = "?" if value.high is None else _number(value.high, value.unit)
    return [told, "" if low == high else f"{low} to {high}"]


def _lost(fit: Fit) -> str:
    lost = [
        f"{n:,} to {'the loss process' if who == 'process' else 'the ' + who}"
        for who, n in fit.losses.lost.items()
        if n
    ]
    return f" (copies lost: {', '.join(lost)})" if lost else ""


def _times(fit: Fit, held: bool) -> str:
    some = fit.interruptions.held if held else fit.interruptions.outages
    told = [f"{seconds(i.length)} at {i.start:.2f} s" for i in some[:5]]
    return ", ".join(told) + (f" and {len(some) - 5} more" if len(some) > 5 else "")


def _checked(fit: Fit, checked: Check) -> list[str]:
    rows = [["", "capture", "scenario", "range", ""]]
    rows += [_line(line) for line in checked.lines]
    same = checked.causes.get(checked.cause, 0)
    rows.append(
        [
            "cause",
            checked.cause,
            f"{same} of {checked.draws} draws",
            "",
            "" if checked.same_cause else "not given back",
        ]
    )
    lines = ["", f"  the scenario, run {checked.draws} times with {fit.like}:", *indented(rows, left={0, 4})]
    if checked.not_given_back:
        lines.append(f"  not given back: {', '.join(checked.not_given_back)}")
    else:
        lines.append("  all of it is given back")
    return lines


def _line(line: Line) -> list[str]:
    def told(value: float) -> str:
        return seconds(value) if line.unit == "s" else f"{value:,.0f}"

    over = f"{told(line.low)} to {told(line.high)}"
    return [
        line.name,
        told(line.captured),
        told(line.median),
        over,
        "" if line.given_back else "not given back",
    ]
