"""What a relation is: a change of a capture, and what it may do to the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from metamorphic_relations.capture import Capture
from metamorphic_relations.packet import End, Ends, Packet, end_of


@dataclass
class Given:
    """A capture, what rexmit says of it, and the random numbers of this relation and capture."""

    capture: Capture
    #: `flows` of the JSON.
    flows: list[dict[str, Any]]
    random: Random

    def directions(self, vantage: str) -> set[tuple[End, End]]:
        """The flows, by sender and receiver, that rexmit takes for captured at this place."""
        return {
            (end_of(flow["sender"]), end_of(flow["receiver"]))
            for flow in self.flows
            if flow["vantage"] == vantage
        }


@dataclass
class Changed:
    """The files that came of a capture: one, or the parts of a rotation."""

    parts: list[Capture]
    #: Connections that have other ends now.
    renamed: dict[Ends, Ends] = field(default_factory=dict)
    #: Connections of which nothing can be compared.
    left_out: set[Ends] = field(default_factory=set)
    #: When a capture was cut off, ns since 1970.
    cut: int | None = None


@dataclass(frozen=True)
class Relation:
    name: str
    apply: Callable[[Given], Changed]
    #: What may become less certain, in words; empty if nothing may.
    may_weaken: str = ""
    #: Every connection counts, also those whose packets stay as they were.
    counts_all: bool = False
    #: An answer with one of these causes is not compared.
    not_of: frozenset[str] = frozenset()


def one_by_one(given: Given, change: Callable[[Packet], Packet]) -> Changed:
    """Each TCP packet changed for itself."""
    packets = [p if p.tcp < 0 else change(p) for p in given.capture.packets]
    return Changed([given.capture.having(packets)])


def joined(packets: list[Packet], more: list[Packet]) -> list[Packet]:
    """Further packets at their times among those of a capture, which stay in their order."""
    keyed, latest = [], 0
    for p in packets:
        latest = max(latest, p.time)
        keyed.append((latest, p))
    keyed += [(p.time, p) for p in more]
    keyed.sort(key=lambda pair: pair[0])
    return [p for _, p in keyed]
