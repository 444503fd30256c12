"""What is set: by the paper's text, by its own numbers where they say more, and what stays free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rexmit.scenario import Scenario
from rexmit_studies import own, scenario
from rexmit_studies.declared import Declared, quantity
from rexmit_studies.own import Interval

NAME = "interruption"
FILE_BYTES = 10 * 1024 * 1024
PERIOD_S = 5.0
OUTAGE_S = 0.2
#: How long a run of the paper's experiment lasts, and until when its sections are looked for, s.
LASTS_S, LAST_S = 120.0, 90.0
#: A transfer through long outages or a slow air may need so many times as long as it would take without
#: back-off: the timer doubles, and much of the time for which the link is up is lost to it.
PATIENCE = 10.0
#: A full segment of Linux and OS X (timestamps), and the packet it is in.
MSS, PACKET_BYTES = 1448, 1500
#: And of Windows, which sends no timestamps.
WINDOWS_MSS = 1460

#: The paper's systems, by the names of its figures. Windows 7 as it came, and as the paper takes it to be.
STACKS = {
    "reno": "linux-2.6-reno",
    "cubic": "linux-2.6-cubic",
    "westwood": "linux-2.6-westwood",
    "windows7": "windows-7",
    "windows7-compound": "windows-7-compound",
    "osx": "osx-10.7",
}
#: And CUBIC a second time, without its HyStart.
SYSTEMS = {**STACKS, "cubic-plain": "linux-2.6-cubic"}
LINUX = ("reno", "cubic", "westwood")
WINDOWS = ("windows7", "windows7-compound")
TITLES = {
    "reno": "Reno",
    "cubic": "CUBIC",
    "cubic-plain": "CUBIC without HyStart",
    "westwood": "Westwood",
    "windows7": "Windows 7",
    "windows7-compound": "Windows 7, Compound on",
    "osx": "OS X 10.7",
}

STACK = "flow.upload.stack"
PHASE = "link.wire.channel.interruption.schedule.phase"
AIR = "link.air.rate"
QUEUE = "link.air.queue.packets"
AIR_CHANNELS = "link.air.channel"
WIRE_CHANNELS = "link.wire.channel"
SCHEDULE = "link.wire.channel.interruption.schedule"
SERVER_WINDOW = "stack.linux-2.6.receive.window"
#: The most that the server offers: Fig. 7, for Reno and for Windows, and what its kernel would allow.
FIG7_LINUX, FIG7_WINDOWS = 451_840, 55_488
#: What a server offers at most before it tunes anything.
UNTUNED_BYTES = 65_535

#: Read off the paper's own numbers: 88 packets in 200 ms are 5.28 Mbps; then Reno (1) and Reno (4) begin
#: where they do if the outages start at this phase, and if the air is slower behind the first one.
FITTED_PHASE_S = 3.096
FITTED_MBPS = (5.28, 4.656)
#: The slowest air that the study draws.
SLOWEST_MBPS = 4.2
#: What phase and second rate are fitted to: the first byte lost in Reno (1), and in Reno (4).
FIT_FIRST_LOST, FIT_FOURTH_LOST = 1_967_433, 10_060_305

#: Nothing but the packets of both ends is looked at in the runs that are many.
BARE = {"record.capture": False, "record.drops": False}


def outage() -> float:
    """How long an outage is, s; of outages that the user lists, on average: margins go with it."""
    mine = own.mine("outage")
    if mine is not None:
        return float(mine) / 1e3
    if not listed():
        return OUTAGE_S
    return float(np.mean([quantity(length) for _, length in _schedule()["intervals"]]))


def listed() -> bool:
    """Whether the user says when each outage is, so that no phase is drawn."""
    return _own_schedule() and "intervals" in _schedule()


def period() -> float:
    """From one outage to the next, s.

    Where the user's outages would fill more than half of the paper's period and the user says no other, the
    link is up between them for as long as in the paper.
    """
    mine = own.mine("period")
    if mine is not None:
        return float(mine)
    return PERIOD_S if outage() <= PERIOD_S / 2 else outage() + PERIOD_S - OUTAGE_S


def regular(_: Any = None) -> dict[str, Any]:
    """The keys of outages of one length, one in each period, as the user has them."""
    return {f"{SCHEDULE}.for": f"{1e3 * outage():g}ms", f"{SCHEDULE}.every": f"{period():g}s"}


def file_bytes() -> int:
    """The size of the file."""
    return round(float(own.value("size", FILE_BYTES / 2**20)) * 2**20)


def lasts(outages: bool = True) -> float:
    """How long a run lasts at most, s: long enough for nearly all transfers with the user's values to end.

    outages: whether the run has the outages of the user.
    """
    if not own.current().axes:
        return LASTS_S
    share = 1 - outage() / period() if outages else 1 - OUTAGE_S / PERIOD_S
    undisturbed = file_bytes() * 8 / (1e6 * (air_mbps() or SLOWEST_MBPS))
    # The share once more, since the timer that backed off has to fire while the link is up.
    return max(LASTS_S, float(np.ceil(PATIENCE * undisturbed / share**2)))


def last() -> float:
    """Until when sections are looked for, s."""
    return lasts() if lasts() > LASTS_S else LAST_S


def declared() -> Declared:
    """What the scenario sets, as it runs."""
    return Declared(own.applied(Scenario.load(scenario(NAME))))


def setup(name: str, more: Mapping[str, Any] | None = None) -> Scenario:
    """The paper's transfer by one of the systems (SYSTEMS), with something set."""
    keys: dict[str, Any] = {STACK: stack(name)}
    if lasts() > LASTS_S:
        keys["duration"] = f"{lasts():g}s"
    if name == "cubic-plain":
        keys["stack.linux-2.6-cubic.congestion.hystart"] = False
    return Scenario.load(scenario(NAME)).with_({**keys, **(more or {})})


def stack(name: str) -> str:
    """The stack of a system; the user's stands in the place of Reno."""
    return str(own.value("stack", SYSTEMS[name])) if name == "reno" else SYSTEMS[name]


def packet_bytes(payload: int) -> int:
    """The packet that a full segment is in: one of Ethernet's, or the payload with plain headers."""
    return PACKET_BYTES if payload >= MSS else payload + 40


def title(name: str) -> str:
    """A system as tables and claims call it."""
    mine = own.mine("stack") if name == "reno" else None
    return TITLES[name] if mine is None else str(mine)


def server(window_bytes: int) -> dict[str, Any]:
    """The server never offers more than this, whatever its kernel's memory would allow."""
    return {
        SERVER_WINDOW: {
            "kind": "auto-tuned",
            "initial": "5792 bytes",
            "untuned": f"{min(window_bytes, UNTUNED_BYTES)} bytes",
            "max": f"{window_bytes} bytes",
        }
    }


def phase(seconds: float) -> dict[str, Any]:
    """Nothing where the user says when the outages are."""
    return {} if _own_schedule() and not _periodic() else {PHASE: f"{seconds:.4f}s"}


def _own_schedule() -> bool:
    return any(key.startswith(SCHEDULE) for key, _ in own.current().pairs)


def _schedule() -> dict[str, Any]:
    """The schedule of the outages as the user has it."""
    found: dict[str, Any] = declared()[SCHEDULE]
    return found


def _periodic() -> bool:
    return "every" in _schedule() and own.current().value(PHASE) is None


def down(phase_s: float, period_s: float, until_s: float) -> list[Interval]:
    """When the link is down: from, to. Raises ValueError where the user has it drawn at random."""
    if not _own_schedule():
        return periodic(phase_s, period_s, outage(), until_s)
    set = _schedule()
    if "up" in set:
        raise ValueError(
            f"{SCHEDULE}: sections are told by when the link was down, which up and down draw; give every "
            "and for, "
            "intervals, or --outages"
        )
    if "intervals" in set:
        each = [(quantity(begin), quantity(length)) for begin, length in set["intervals"]]
        return [(begin, begin + length) for begin, length in each if begin < until_s]
    at = phase_s if _periodic() else quantity(set["phase"])
    return periodic(at, quantity(set["every"]), quantity(set["for"]), until_s)


def periodic(phase_s: float, period_s: float, outage_s: float, until_s: float) -> list[Interval]:
    """Outages of one length, one in each period."""
    starts = np.arange(phase_s, until_s, period_s)
    return [(float(at), float(at) + outage_s) for at in starts]


def outage_s() -> float:
    """How long an outage is, on average."""
    return float(np.mean([end - begin for begin, end in down(FITTED_PHASE_S, period(), last())]))


def air_mbps() -> float | None:
    """The air's rate, where the user says one."""
    mine: float | None = own.mine("rate")
    said = own.current().value(AIR)
    return mine if said is None else quantity(said.strip().strip('"')) / 1e6


def rate(mbps: float) -> str:
    """The air's rate in words where the study takes this one: `5.2 Mbps`; the user's, if there is one."""
    return f"{air_mbps() or mbps:g} Mbps"


def slowing_air(rates_mbps: Sequence[float] = FITTED_MBPS) -> Any:
    """The air's rate falls once, behind the first outage: a channel of the data's way."""
    at_s = FITTED_PHASE_S + outage()
    at, ends, until = 0.0, [], 60.0
    while at < until:
        rate = rates_mbps[0] if at < at_s else rates_mbps[1]
        at += PACKET_BYTES * 8 / (rate * 1e6)
        ends.append(round(1e3 * at))
    return {"name": "slowing", "kind": "rate-trace", "direction": "forward", "opportunities": ends}


def fitted() -> dict[str, Any]:
    """The reading of the figures: what the paper's numbers say of air, server and phase, put together."""
    # An air of the user's own is as fast as it is.
    air = {} if air_mbps() else {AIR_CHANNELS: [slowing_air()]}
    return {**server(FIG7_LINUX), **phase(FITTED_PHASE_S), **air}


def steady(mbps: float, at_s: float = FITTED_PHASE_S) -> dict[str, Any]:
    return {AIR: f"{air_mbps() or mbps:g}Mbps", **phase(at_s)}


def hop(frame_errors: float = 0.0) -> dict[str, Any]:
    """The air as an 802.11g hop at its lowest rate, with seven tries a frame; none is lost for good.

    Preamble 20 us, DIFS 28, SIFS 10, ACK at 6 Mbps 44, a mean wait of 7.5 slots of 9 us: 170 us a try. The
    two directions share the air, which the link does not know: half of the air time of a TCP ACK, 144 us, is
    added.
    """
    errors = [{"name": "frame-errors", "kind": "random", "loss": frame_errors}] if frame_errors else []
    return {
        AIR: "6Mbps",
        "link.air.framing": "36B",
        "link.air.arq": {"tries": 7, "overhead": "314us", "backoff": "140us"},
        AIR_CHANNELS: errors,
        **phase(FITTED_PHASE_S),
    }


def outage_bytes(mbps: float) -> float:
    """Payload that the air carries during one outage."""
    return outage_s() * mbps * 1e6 / 8 * MSS / PACKET_BYTES
