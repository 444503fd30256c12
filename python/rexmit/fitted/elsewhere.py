"""The fitted path for other tools: a line for `tc netem`, a trace for mahimahi, and what each leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.fitted.fitting import Fit

#: mahimahi's opportunities carry so many bytes, and a trace repeats after its last millisecond.
OPPORTUNITY = 1504
MOST_OPPORTUNITIES = 100_000


def netem(fit: Fit) -> dict[str, Any]:
    """`command`: for the interface DEV towards the receiver; `leaves_out`: what netem has no word for."""
    left: list[str] = []
    words = ["tc qdisc add dev DEV root netem"]
    c, losses = fit.capacity, fit.losses
    if c.delay.value:
        # All of it in one direction: netem shapes what leaves.
        words.append(f"delay {1e3 * c.delay.value:.3f}ms")
        left.append("the round trip is delayed in one direction")
    if c.rate.value and not c.rate.at_least:
        words.append(f"rate {c.rate.value / 1e3:.0f}kbit")
        in_flight = c.rate.value * (c.delay.value or 0.0) / 8 / fit.seen.packet
        packets = (c.queue.value or 1000.0) + in_flight
        words.append(f"limit {max(1, round(packets))}")
        left.append("netem counts packets on their way in its limit, which the queue's length does not")
    if losses.kind == "random" and losses.loss and losses.loss.value:
        words.append(f"loss random {100 * losses.loss.value:.4f}%")
    if losses.kind == "gilbert-elliott" and losses.loss and losses.burst and losses.loss.value:
        back = 1.0 / max(losses.burst.value or 1.0, 1.0)
        into = back * losses.loss.value / max(1.0 - losses.loss.value, 1e-9)
        words.append(f"loss gemodel {100 * into:.4f}% {100 * back:.2f}%")
    if c.policer_rate is not None:
        left.append("the policer: tc police, beside it")
    if fit.interruptions.outages:
        left.append("outages: netem knows no times")
    if fit.interruptions.held:
        left.append("times in which packets are held")
    return {"command": " ".join(words), "leaves_out": left + _neither(fit)}


def _neither(fit: Fit) -> list[str]:
    """What neither of the two can say."""
    left = []
    if fit.steps:
        left.append("a base delay that changes")
    if fit.reordering.share.value:
        left.append("packets that come behind later ones")
    if fit.back.ack_loss.value:
        left.append("lost ACKs")
    if fit.others:
        left.append("the other flows")
    return left


def mahimahi(fit: Fit) -> dict[str, Any]:
    """`trace`: opportunities in ms, one a line, which repeat; None where the rate is not known.  `command`
    runs it.
    """
    rate, left = fit.capacity.rate, []
    if not rate.value or rate.at_least:
        return {"trace": None, "command": None, "leaves_out": ["the rate: it is a lower bound"]}
    span = 1.0
    if rate.value * span / 8 / OPPORTUNITY > MOST_OPPORTUNITIES:
        return {
            "trace": None,
            "command": None,
            "leaves_out": ["a rate of so many packets in each millisecond"],
        }
    while rate.value * span / 8 / OPPORTUNITY < 50:
        span *= 2
    n = round(rate.value * span / 8 / OPPORTUNITY)
    times = [max(1, round(1e3 * span * (i + 1) / n)) for i in range(n)]
    delay = 1e3 * (fit.capacity.delay.value or 0.0) / 2
    command = f"mm-delay {delay:.0f}"
    if fit.losses.kind == "random" and fit.losses.loss and fit.losses.loss.value:
        command += f" mm-loss uplink {fit.losses.loss.value:.6f}"
    elif fit.losses.kind == "gilbert-elliott":
        left.append("losses in bursts: mm-loss loses packets one by one")
    command += " mm-link up.trace up.trace"
    queue = fit.capacity.queue
    if queue.value:
        command += f' --uplink-queue=droptail --uplink-queue-args="packets={max(1, round(queue.value))}"'
    if fit.capacity.policer_rate is not None:
        left.append("the policer")
    if fit.interruptions.outages or fit.interruptions.held:
        left.append("outages, and times in which packets are held")
    left += [*_neither(fit), "parts of a millisecond of the delay"]
    return {"trace": "\n".join(map(str, times)) + "\n", "command": command, "leaves_out": left}
