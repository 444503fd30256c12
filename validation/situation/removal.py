"""Removes one cause from a setting: what the transfer would be without it."""

from __future__ import annotations

from collections.abc import Callable

from situation.setting import HOSTS, Setting, inherited

#: So much faster is a link that is no bottleneck, and so much shorter a path whose round trips cost nothing.
FASTER, SHORTER = 20, 20

Remover = Callable[[Setting, int], "Setting | None"]


def without(setting: Setting, cause: str, delivered: int) -> Setting | None:
    """A copy without `cause`, or None if the setting has nothing that makes this cause.

    delivered: bytes that the transfer brought in its larger direction.
    """
    remover = REMOVERS.get(cause)
    changed = setting.copy()
    removed = remover(changed, delivered) if remover else None
    if cause in changed.channels:
        del changed.channels[cause]
        removed = changed
    return removed


def _request_response(s: Setting, delivered: int) -> Setting | None:
    """Shorter round trips, where messages are so small that nothing else depends on the round trip."""
    small = 10 * 1400
    if s.workload["kind"] != "request-response" or s.workload["requests"] == 1:
        return None
    if any(int(str(s.workload[k]).removesuffix("B")) > small for k in ("request", "response")):
        return None
    s.delay_ms /= SHORTER
    return s


def _sender_idle(s: Setting, delivered: int) -> Setting | None:
    kind = s.workload["kind"]
    if kind in ("constant-rate", "on-off"):
        s.workload = {"kind": "file", "size": f"{max(1, delivered)}B"}
        s.flow.pop("stop", None)
        return s
    thinks = s.workload.pop("think", None)
    s.workload.pop("distribution", None)
    return s if _reads_at_once(s, "sender-idle") or thinks else None


def _receiver_not_reading(s: Setting, delivered: int) -> Setting | None:
    return s if _reads_at_once(s, "receiver-not-reading") else None


def _reads_at_once(s: Setting, cause: str) -> bool:
    if s.reader_makes != cause:
        return False
    found = [s.flow.pop(key, None) for key in ("reader", "back_reader")]
    return any(found)


def _receive_window(s: Setting, delivered: int) -> Setting | None:
    """A larger buffer. Where a program reads late it would hide the reader, so nothing is said there."""
    if s.reader_makes == "receiver-not-reading" and ("reader" in s.flow or "back_reader" in s.flow):
        return None
    for host in HOSTS:
        s.section(host, "receive", window={"kind": "fixed", "buffer": "8MB"})
    return s


def _delayed_ack(s: Setting, delivered: int) -> Setting | None:
    """ACKs are due as they were, but no timer holds one back for longer than a millisecond."""
    for host in HOSTS:
        own = s.stacks[host].get("receive", {}).get("delayed_ack")
        policy = dict(own or inherited(s.based_on, "receive", "delayed_ack"))
        timers = {"every": ("timeout",), "quick": ("min", "max")}.get(policy["kind"], ())
        s.section(host, "receive", delayed_ack=policy | dict.fromkeys(timers, "1ms"))
    return s


def _send_window(s: Setting, delivered: int) -> Setting | None:
    for host in HOSTS:
        s.section(host, "send", buffer="unlimited")
    return s


def _slow_start(s: Setting, delivered: int) -> Setting | None:
    """cwnd begins where the path is full, and slow start is over there."""
    full = max(10, round(s.segments * 1.2))
    for host in HOSTS:
        s.section(host, "congestion", initial_window=f"{full} SMSS", restart_after_idle=False)
    return s


def _pacing(s: Setting, delivered: int) -> Setting | None:
    paced = [host for host in HOSTS if s.stacks[host].get("congestion", {}).get("rule") == "python"]
    for host in paced:
        for key in ("rule", "class", "params"):
            del s.stacks[host]["congestion"][key]
    return s if paced else None


def _timer(s: Setting, delivered: int) -> Setting | None:
    return s if s.timer_makes == "timer" and _usual(s, "rto") else None


def _stalled(s: Setting, delivered: int) -> Setting | None:
    return s if _usual(s, "detect") else None


def _usual(s: Setting, section: str) -> bool:
    found = [s.stacks[host].pop(section, None) for host in HOSTS]
    return any(found)


def _bottleneck(s: Setting, delivered: int) -> Setting | None:
    """A faster link. Where other flows fill a queue it would empty the queue, so nothing is said there."""
    if s.others_make == "standing-queue":
        return None
    s.rate_mbps *= FASTER
    return s


def _shared(s: Setting, delivered: int) -> Setting | None:
    return _alone(s, "shared-bottleneck")


def _alone(s: Setting, cause: str) -> Setting | None:
    if s.others_make != cause or not s.others:
        return None
    s.others = {}
    return s


def _standing_queue(s: Setting, delivered: int) -> Setting | None:
    return _alone(s, "standing-queue")


def _loss_queue(s: Setting, delivered: int) -> Setting | None:
    """A queue that takes all, and a queue manager that never drops."""
    s.queue = s.queue | {"packets": 20 * max(s.queue.get("packets", 1000), round(s.segments))}
    s.queue.pop("bytes", None)
    if s.queue["kind"] == "fq-codel":
        s.queue["target"] = "30s"
    return s


#: A channel is removed by its name, which is that of the cause that it makes.
REMOVERS: dict[str, Remover] = {
    "request-response": _request_response,
    "sender-idle": _sender_idle,
    "receiver-not-reading": _receiver_not_reading,
    "receive-window": _receive_window,
    "delayed-ack": _delayed_ack,
    "send-window": _send_window,
    "slow-start": _slow_start,
    "pacing": _pacing,
    "timer": _timer,
    "sender-stalled": _stalled,
    "bottleneck": _bottleneck,
    "shared-bottleneck": _shared,
    "standing-queue": _standing_queue,
    "loss-queue": _loss_queue,
}
