"""What is set: by the paper's text, by its own numbers where they say more, and what stays free."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from rexmit.scenario import Scenario
from rexmit.studies import scenario

NAME = "interruption"
FILE_BYTES = 10 * 1024 * 1024
PERIOD_S = 5.0
OUTAGE_S = 0.2
#: A full segment of Linux and OS X (timestamps), and the packet it is in.
MSS, PACKET_BYTES = 1448, 1500

#: The paper's systems, by the names of its figures. Windows 7 as it came, and as the paper takes it to be.
STACKS = {
    "reno": "linux-2.6-reno",
    "cubic": "linux-2.6-cubic",
    "westwood": "linux-2.6-westwood",
    "windows7": "windows-7",
    "windows7-compound": "windows-7-compound",
    "osx": "osx-10.7",
}
#: And CUBIC a second time, which leaves slow start as its HyStart would.
SYSTEMS = {**STACKS, "cubic-early": "linux-2.6-cubic"}
LINUX = ("reno", "cubic", "westwood")
WINDOWS = ("windows7", "windows7-compound")
TITLES = {
    "reno": "Reno",
    "cubic": "CUBIC",
    "cubic-early": "CUBIC, early out of slow start",
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
SERVER_WINDOW = "stack.linux-2.6.receive.window"
#: The most that the server offers: Fig. 7, for Reno and for Windows, and what its kernel would allow.
FIG7_LINUX, FIG7_WINDOWS = 451_840, 55_488
SERVER_MAX = f"{SERVER_WINDOW}.max"

#: Read off the paper's own numbers: 88 packets in 200 ms are 5.28 Mbps; then Reno (1) and Reno (4) begin
#: where they do if the outages start at this phase, and if the air is slower behind the first one.
FITTED_PHASE_S = 3.096
FITTED_MBPS = (5.28, 4.656)
#: What phase and second rate are fitted to: the first byte lost in Reno (1), and in Reno (4).
FIT_FIRST_LOST, FIT_FOURTH_LOST = 1_967_433, 10_060_305

#: Ubuntu's kernel ends CUBIC's slow start where the round trip begins to grow (HyStart), but not below 16
#: segments; here it grows from the second segment on. The stack has none: its ssthresh stands in for it.
HYSTART_SEGMENTS = 16

#: Nothing but the packets of both ends is looked at in the runs that are many.
BARE = {"record.capture": False, "record.drops": False}


def declared() -> dict[str, Any]:
    """The scenario file's own words: duration, flow `upload`, link `wire` and its outages."""
    whole = tomllib.loads(scenario(NAME).read_text(encoding="utf-8"))
    wire = next(link for link in whole["link"] if link["name"] == "wire")
    return {
        "duration": whole["duration"],
        "upload": whole["flow"][0],
        "wire": wire,
        "outages": wire["channel"][0],
    }


def setup(name: str, more: Mapping[str, Any] | None = None) -> Scenario:
    """The paper's transfer by one of the systems (SYSTEMS), with something set."""
    own = {STACK: SYSTEMS[name]}
    if name == "cubic-early":
        own["stack.linux-2.6-cubic.congestion.initial_ssthresh"] = f"{HYSTART_SEGMENTS * MSS} bytes"
    return Scenario.load(scenario(NAME)).with_({**own, **(more or {})})


def server(window_bytes: int) -> dict[str, Any]:
    """The server never offers more than this."""
    # Below what the buffer is before any tuning, that is capped too.
    untuned = {f"{SERVER_WINDOW}.untuned": f"{window_bytes} bytes"} if window_bytes < 65_535 else {}
    return {SERVER_MAX: f"{window_bytes} bytes", **untuned}


def phase(seconds: float) -> dict[str, Any]:
    return {PHASE: f"{seconds:.4f}s"}


def slowing_air(rates_mbps: Sequence[float] = FITTED_MBPS, at_s: float = FITTED_PHASE_S + OUTAGE_S) -> Any:
    """The air's rate falls once, behind the first outage: a channel of the data's way."""
    at, ends, until = 0.0, [], 60.0
    while at < until:
        rate = rates_mbps[0] if at < at_s else rates_mbps[1]
        at += PACKET_BYTES * 8 / (rate * 1e6)
        ends.append(round(1e3 * at))
    return {"name": "slowing", "kind": "rate-trace", "direction": "forward", "opportunities": ends}


def fitted() -> dict[str, Any]:
    """The reading of the figures: what the paper's numbers say of air, server and phase, put together."""
    return {**server(FIG7_LINUX), **phase(FITTED_PHASE_S), AIR_CHANNELS: [slowing_air()]}


def steady(mbps: float, at_s: float = FITTED_PHASE_S) -> dict[str, Any]:
    return {AIR: f"{mbps:g}Mbps", **phase(at_s)}


def outage_bytes(mbps: float) -> float:
    """Payload that the air carries during one outage."""
    return OUTAGE_S * mbps * 1e6 / 8 * MSS / PACKET_BYTES
