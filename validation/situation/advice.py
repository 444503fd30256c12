"""What an answer advises, as a change of the scenario: one table from sentences to functions.

A function applies what the sentence says, to the host that the sentence names. It does not know which cause
the sentence belongs to, so that advice for a wrong cause is tried as a reader would try it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from situation import removal
from situation.removal import FASTER
from situation.setting import HOSTS, Host, Setting

#: Changes a copy of the setting. host: the host that the sentence names, else the one that sends most data.
#: delivered: bytes that the transfer brought in its larger direction.
Change = Callable[[Setting, Host, int], None]

#: A buffer that holds nobody up, and how much smaller or larger something else becomes.
AMPLE, MUCH = "8MB", 10
#: Workloads that write at times of their own: none of them ends before its last message is written.
TIMED = ("constant-rate", "on-off")
#: Channels that lose single packets, or all packets for a while.
LOSSY = ("random", "gilbert-elliott", "bit-error", "list")


def advised(setting: Setting, sentence: str, delivered: int) -> Setting | None:
    """A copy with what the sentence advises. It equals the setting where there is nothing to change.

    None if the sentence has no row in `ADVICE`.
    """
    for pattern, change in ADVICE.items():
        if found := re.fullmatch(pattern, sentence):
            named = found.groupdict().get("host")
            changed = setting.copy()
            change(changed, _host(named) if named else setting.sender, delivered)
            return changed
    return None


def _host(name: str) -> Host:
    return "client" if name == "client" else "server"


def all_at_once(setting: Setting, delivered: int) -> Setting:
    """A copy whose program has all data at once, where it writes at times of its own."""
    changed = setting.copy()
    if changed.workload["kind"] in TIMED:
        changed.workload = {"kind": "file", "size": f"{max(1, delivered)}B"}
        changed.flow.pop("stop", None)
    return changed


def _nothing(s: Setting, host: Host, delivered: int) -> None:
    """The simulator has nothing of this kind: no boxes that rewrite packets, no programs that reset."""


def _without(s: Setting, *kinds: str) -> None:
    s.channels = {name: keys for name, keys in s.channels.items() if keys["kind"] not in kinds}


def _in_order(s: Setting, host: Host, delivered: int) -> None:
    _without(s, "reorder", "jitter")


def _loses_less(s: Setting, host: Host, delivered: int) -> None:
    _without(s, *LOSSY)


def _keeps_acks(s: Setting, host: Host, delivered: int) -> None:
    """No channel drops packets without payload. A channel that drops SYNs alone stays."""
    for name, keys in list(s.channels.items()):
        if keys["kind"] not in (*LOSSY, "outage"):
            continue
        if keys.get("only") == "acks":
            del s.channels[name]
        elif keys["kind"] != "list":
            s.channels[name] = keys | {"only": "data"}


def _uninterrupted(s: Setting, host: Host, delivered: int) -> None:
    _without(s, "outage")


def _holds_nothing(s: Setting, host: Host, delivered: int) -> None:
    s.channels = {name: keys for name, keys in s.channels.items() if not keys.get("hold")}


def _syns_pass(s: Setting, host: Host, delivered: int) -> None:
    """The first packets of each direction are the SYN and its answer, and their repetitions."""
    for name, keys in list(s.channels.items()):
        if keys["kind"] == "list" and keys.get("only", "all") == "all" and 0 in keys["packets"]:
            del s.channels[name]


def _icmp_passes(s: Setting, host: Host, delivered: int) -> None:
    """The sender learns which size passes, and the path keeps the limit."""
    for each in HOSTS:
        _smaller_segments(s, each, delivered)


def _smaller_segments(s: Setting, host: Host, delivered: int) -> None:
    """The MSS is without the 40 bytes of the headers."""
    most = [int(keys["most"].removesuffix("B")) for keys in s.channels.values() if keys["kind"] == "mtu"]
    s.section(host, "options", mss=f"{min(most, default=1240) - 40}B")


def _rate_allowed(s: Setting, host: Host, delivered: int) -> None:
    for keys in s.channels.values():
        if keys["kind"] == "policer":
            keys["rate"], keys["burst"] = _times(keys["rate"], FASTER), _times(keys["burst"], FASTER)


def _times(value: str, factor: float) -> str:
    found = re.fullmatch(r"([\d.]+)(\D+)", value)
    if not found:
        raise ValueError(f"{value!r} is no number with a unit")
    return f"{float(found[1]) * factor:g}{found[2]}"


def _faster_pace(s: Setting, host: Host, delivered: int) -> None:
    rule = s.stacks[host].get("congestion", {})
    if rule.get("rule") == "python":
        rule["params"] = {"bytes_per_s": rule["params"]["bytes_per_s"] * FASTER}


def _more_bandwidth(s: Setting, host: Host, delivered: int) -> None:
    s.rate_mbps *= FASTER


def _fewer_flows(s: Setting, host: Host, delivered: int) -> None:
    s.others = {}


def _longer_queue(s: Setting, host: Host, delivered: int) -> None:
    removal.REMOVERS["loss-queue"](s, delivered)


def _shorter_queue(s: Setting, host: Host, delivered: int) -> None:
    """A queue of a tenth of the size."""
    for key in ("packets", "bytes"):
        if key in s.queue:
            number = int(str(s.queue[key]).removesuffix("B")) // MUCH
            s.queue = s.queue | {key: max(1, number) if key == "packets" else f"{max(1500, number)}B"}


def _receive_buffer(s: Setting, host: Host, delivered: int) -> None:
    s.section(host, "receive", window={"kind": "fixed", "buffer": AMPLE})


def _send_buffer(s: Setting, host: Host, delivered: int) -> None:
    s.section(host, "send", buffer="unlimited")


def _windows(s: Setting, host: Host, delivered: int) -> None:
    for each in HOSTS:
        _receive_buffer(s, each, delivered)
        _send_buffer(s, each, delivered)


def _settings_of_tcp(s: Setting, host: Host, delivered: int) -> None:
    """What system administrators are told to try first: buffers, and the initial window."""
    _windows(s, host, delivered)
    for each in HOSTS:
        _initial_window(s, each, delivered)


def _other_settings(s: Setting, host: Host, delivered: int) -> None:
    _receive_buffer(s, host, delivered)
    _send_buffer(s, host, delivered)


def _initial_window(s: Setting, host: Host, delivered: int) -> None:
    s.section(host, "congestion", initial_window="100 SMSS")


def _stays_open(s: Setting, host: Host, delivered: int) -> None:
    """The connection is open when the transfer begins, and cwnd has grown to what the path holds."""
    removal.REMOVERS["slow-start"](s, delivered)
    s.is_open = True


def _no_nagle(s: Setting, host: Host, delivered: int) -> None:
    s.section(host, "send", nagle=False)


def _usual_timer(s: Setting, host: Host, delivered: int) -> None:
    s.stacks[host].pop("rto", None)


def _other_timers(s: Setting, host: Host, delivered: int) -> None:
    for each in HOSTS:
        s.section(each, "rto", min="200ms")


def _updated(s: Setting, host: Host, delivered: int) -> None:
    """Today's Linux, with the buffers and the pace that the host has."""
    for section in ("detect", "recovery", "rto", "undo"):
        s.stacks[host].pop(section, None)
    s.stacks[host]["based_on"] = "linux-6-cubic"


def _reads_faster(s: Setting, host: Host, delivered: int) -> None:
    s.flow.pop(_reader(host), None)


def _reader(host: Host) -> str:
    return "reader" if host == "server" else "back_reader"


def _writes_sooner(s: Setting, host: Host, delivered: int) -> None:
    """A program that answers at once reads at once, too."""
    if s.workload["kind"] == "request-response":
        s.flow.pop(_reader(host), None)
    if host == "client":
        s.workload = all_at_once(s, delivered).workload
        s.flow.pop("stop", None)
        for key in ("think", "distribution"):
            s.workload.pop(key, None)


def _at_the_same_time(s: Setting, host: Host, delivered: int) -> None:
    """Ten connections, each with a tenth of the requests."""
    if s.workload["kind"] == "request-response" and s.workload.get("requests", 1) > 1:
        s.flow["count"] = MUCH
        s.workload["requests"] = max(1, s.workload["requests"] // MUCH)


def _shorter_round_trip(s: Setting, host: Host, delivered: int) -> None:
    s.delay_ms /= removal.SHORTER


HOST = r"the (?P<host>client|server)"
#: The first row that a whole sentence matches. Where two ways are advised, the first one is taken.
ADVICE: dict[str, Change] = {
    "several requests at the same time, or fewer and larger ones with TCP_NODELAY": _at_the_same_time,
    "a shorter round trip": _shorter_round_trip,
    f"a program on {HOST} that writes sooner, or more at a time": _writes_sooner,
    f"a program on {HOST} that reads faster": _reads_faster,
    f"a larger receive buffer on {HOST}": _receive_buffer,
    f"a larger send buffer on {HOST}": _send_buffer,
    "a larger window": _windows,
    "larger windows or buffers": _windows,
    f"TCP_NODELAY on the socket of {HOST}, or one write in place of several": _no_nagle,
    f"an update of the TCP stack on {HOST}": _updated,
    f"a retransmission timer on {HOST} that follows RFC 6298": _usual_timer,
    "a connection that stays open and is used again": _stays_open,
    f"a larger initial window on {HOST}": _initial_window,
    f"a higher pacing rate on {HOST}": _faster_pace,
    "a look at what dropped the SYN: the path, a firewall, or the server's queue of new connections": (
        _syns_pass
    ),
    "more bandwidth": _more_bandwidth,
    "fewer flows at the same time": _fewer_flows,
    "a higher agreed rate": _rate_allowed,
    "a shorter queue, or active queue management, at the slowest link": _shorter_queue,
    "a longer queue at the slowest link": _longer_queue,
    "a path that loses less": _loses_less,
    "a path without interruptions": _uninterrupted,
    "a look at the path and at the other host at that time": _uninterrupted,
    "a look at what buffers packets on the path: a radio link, a host that sleeps": _holds_nothing,
    "a path that keeps packets in order": _in_order,
    "a way back that does not lose ACKs": _keeps_acks,
    'ICMP messages "fragmentation needed" that are let through': _icmp_passes,
    f"a smaller MSS on {HOST}": _smaller_segments,
    "other timers": _other_timers,
    "settings of TCP": _settings_of_tcp,
    "other settings of TCP": _settings_of_tcp,
    f"other settings on {HOST}": _other_settings,
    "the path without that firewall, proxy or load balancer": _nothing,
    f"a look at why {HOST} gave up": _nothing,
    "a capture at the sender, or at both ends, from before the first packet on": _nothing,
    "a capture of all traffic at the host next to that queue": _nothing,
}
