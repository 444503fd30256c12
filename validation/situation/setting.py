"""A scenario in parts that a kind fills in and the removal test takes out again.

Every setting has the same hosts: `client` and `server`, with a `router` between them. The link `way` from the
router to the server is the slow one. A channel is named after the cause that it makes.
"""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import rexmit as rx

Draw = random.Random
Table = dict[str, Any]
Host = Literal["client", "server"]
HOSTS: tuple[Host, Host] = ("client", "server")

FOLDER = Path(__file__).resolve().parents[2] / "stacks"
STACKS = ("linux-6-cubic", "linux-6-cubic", "linux-6-reno", "linux-2.6-reno", "rfc-sack")

#: A flow of another host that always has something to send.
ENDLESS: Table = {"stack": "linux-6-cubic", "workload": {"kind": "endless"}}


@dataclass
class Setting:
    """Links, channels, flows and stacks by their names; the flow `main` is the one that is explained."""

    rate_mbps: float = 10.0
    delay_ms: float = 20.0
    queue: Table = field(default_factory=lambda: {"kind": "droptail", "packets": 100})
    channels: dict[str, Table] = field(default_factory=dict)
    workload: Table = field(default_factory=dict)
    #: More keys of the flow `main`: start, stop, reader, back_reader.
    flow: Table = field(default_factory=dict)
    #: Flows of other hosts over the same link, by name.
    others: dict[str, Table] = field(default_factory=dict)
    #: What the stacks of the two hosts are based on, and the sections in which they differ.
    based_on: str = "linux-6-cubic"
    stacks: dict[Host, Table] = field(default_factory=lambda: {"client": {}, "server": {}})
    #: The host that sends most of the data.
    sender: Host = "client"
    duration_s: float = 60.0
    #: The causes that a late reader, the other flows and a late timer make.
    reader_makes: str = "receiver-not-reading"
    others_make: str = "shared-bottleneck"
    timer_makes: str = "timer"
    #: The connection is open when the transfer begins, so its handshake is not counted.
    is_open: bool = False

    @property
    def receiver(self) -> Host:
        return "server" if self.sender == "client" else "client"

    @property
    def segments(self) -> float:
        """The path's bandwidth-delay product."""
        return self.rate_mbps * 1e6 / 8 * self.round_trip_ms / 1e3 / 1500

    @property
    def round_trip_ms(self) -> float:
        return 2 * (self.delay_ms + 0.2)

    @property
    def start_s(self) -> float:
        """When the flow `main` begins."""
        return float(self.flow.get("start", "0s").removesuffix("s"))

    @property
    def begins_s(self) -> float:
        """From when on the time of the transfer counts."""
        return self.start_s + (self.round_trip_ms / 1e3 if self.is_open else 0.0)

    @property
    def direction(self) -> str:
        """Of the data on the link `way`."""
        return "forward" if self.sender == "client" else "back"

    def copy(self) -> Setting:
        return copy.deepcopy(self)

    def section(self, host: Host, name: str, **keys: Any) -> None:
        self.stacks[host].setdefault(name, {}).update(keys)

    def tables(self, name: str, seed: int, record: Mapping[str, Any] | None = None) -> Table:
        """The scenario as plain tables."""
        nodes = ["client", "router", "server"] + (["other"] if self.others else [])
        way: Table = {
            "name": "way",
            "between": ["router", "server"],
            "rate": f"{self.rate_mbps:g}Mbps",
            "delay": f"{self.delay_ms:g}ms",
            "queue": self.queue,
        }
        if self.channels:
            way["channel"] = [{"name": cause, **keys} for cause, keys in self.channels.items()]
        access = {"rate": "1Gbps", "delay": "200us", "queue": droptail(100_000)}
        links: list[Table] = [way, {"name": "access", "between": ["client", "router"], **access}]
        if self.others:
            links.append({"name": "other-access", "between": ["other", "router"], **access})
        main = {
            "name": "main",
            "from": "client",
            "to": "server",
            "stack": "of-client",
            "receiver": "of-server",
        }
        flows = [{**main, "workload": self.workload, **self.flow}]
        flows += [{"name": name, **keys} for name, keys in self.others.items()]
        stacks = [{"name": f"of-{h}", "based_on": self.based_on, **keys} for h, keys in self.stacks.items()]
        whole = {
            "name": name,
            "duration": f"{self.duration_s:g}s",
            "seed": seed,
            "node": [{"name": n} for n in nodes],
        }
        whole |= {"link": links, "flow": flows, "stack": stacks}
        return whole | ({"record": dict(record)} if record else {})

    def scenario(self, name: str, seed: int, record: Mapping[str, Any] | None = None) -> rx.Scenario:
        return rx.Scenario.of(self.tables(name, seed, record))


def path(
    draw: Draw, rates: Sequence[float] = (5, 10, 20, 50), delays: Sequence[float] = (5, 10, 20, 40)
) -> Setting:
    """A path with a queue of about one bandwidth-delay product, at least 30 packets."""
    delay = round(draw.choice(delays) * draw.uniform(0.9, 1.1), 2)
    setting = Setting(rate_mbps=draw.choice(rates), delay_ms=delay, based_on=draw.choice(STACKS))
    setting.queue = droptail(max(30, 1.2 * setting.segments))
    offload = draw.choice((True, False))
    for host in HOSTS:
        setting.section(host, "send", offload=offload)
    return setting


def droptail(packets: float) -> Table:
    return {"kind": "droptail", "packets": round(packets)}


def upload(setting: Setting, size: float) -> Setting:
    setting.workload = {"kind": "file", "size": f"{round(size)}B"}
    return setting


def download(setting: Setting, size: float) -> Setting:
    setting.sender = "server"
    setting.workload = {
        "kind": "request-response",
        "request": "200B",
        "response": f"{round(size)}B",
        "requests": 1,
    }
    return setting


def turns(setting: Setting, requests: int, request: int = 200, response: int = 1000, **keys: Any) -> Setting:
    """Requests and answers in turn."""
    setting.sender = "server" if response >= request else "client"
    setting.workload = {"kind": "request-response", "request": f"{request}B", "response": f"{response}B"}
    setting.workload |= {"requests": requests, **keys}
    return setting


def seconds(setting: Setting, long: float) -> float:
    """Bytes that take so long at the link's rate."""
    return setting.rate_mbps * 1e6 / 8 * long


def window(setting: Setting, host: Host, size: float) -> Setting:
    """A receive buffer of one size."""
    setting.section(host, "receive", window={"kind": "fixed", "buffer": f"{round(size)}B"})
    return setting


def channel(setting: Setting, cause: str, kind: str, **keys: Any) -> Setting:
    """A channel on the link `way`, in the direction of the data unless `direction` says another one."""
    setting.channels[cause] = {"kind": kind, "direction": setting.direction, **keys}
    return setting


def outage(setting: Setting, cause: str, begin: float, length: float, **keys: Any) -> Setting:
    """An interval without delivery, in both directions."""
    schedule = {"intervals": [[f"{begin:.3f}s", f"{length:.3f}s"]]}
    return channel(setting, cause, "outage", schedule=schedule, **{"direction": "both", **keys})


def inherited(stack: str, section: str, key: str) -> Any:
    """The value of a key in a built-in stack's file, or in that of the stack that it is based on."""
    found = tomllib.loads((FOLDER / f"{stack}.toml").read_text())
    value = found.get(section, {}).get(key)
    return inherited(found["based_on"], section, key) if value is None and "based_on" in found else value
