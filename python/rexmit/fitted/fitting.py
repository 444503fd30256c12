"""`rx.fit(capture)`: the path of a capture, with intervals, alternatives, and a scenario."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from rexmit import _core
from rexmit.fitted import capacity, hosts, losses, others, outages, reordering, steps, way_back
from rexmit.fitted.seen import Seen
from rexmit.screen.notebook import Shown

if TYPE_CHECKING:
    from rexmit.api import Capture, Progress
    from rexmit.fitted.check import Check
    from rexmit.scenario import Scenario

Path = str | os.PathLike[str]
#: The sender's stack where none is named.
STACK = "linux-6-cubic"


def fit(
    source: Path | Capture,
    *,
    receiver: Path | Sequence[Path] | None = None,
    flow: str | None = None,
    at: Literal["sender", "receiver", "middle"] | None = None,
    like: str = STACK,
    progress: Progress | None = None,
) -> Fit:
    """What the path of a capture is like.

    source: a capture file, or a capture or run that was read.  receiver: a capture of the same transfer at
    the
    receiver, for a file.  flow: "ip:port-ip:port"; default the connection with the most data.  at: where
    the file
    was taken, if it does not tell.  like: the stack of the hosts of the scenario.  progress: as for
    `rexmit.capture`.

    Raises CaptureError if nothing can be read, ValueError where there is no such connection or no data.
    """
    if isinstance(source, (str, os.PathLike)):
        from rexmit.api import capture

        read = capture(source, receiver=receiver, flow=flow, at=at, tables=("rtt",), progress=progress)
        return Fit(Seen.of(read, flow), os.path.basename(os.fspath(source)), like)
    return Fit(Seen.of(source, flow), source.name, like)


class Fit(Shown):
    """A fitted path. Made by `rexmit.fit`."""

    def __init__(self, seen: Seen, name: str, like: str = STACK) -> None:
        self.seen = seen
        #: Of the capture.
        self.name = name
        #: The stack of both hosts of the scenario.
        self.like = like
        trip = 2 * (seen.base or 0.0)
        found = outages.of(seen)
        held, lossy = found.holding(trip), found.losing(trip)
        base = seen.base or 0.0
        seen.keep(
            lambda sent, rtt: (
                not found.late(sent, rtt, base)
                and not any(sent <= end and sent + rtt >= start for start, end in lossy)
            )
        )
        #: From when on, s, the base RTT is another one, s.
        self.steps = steps.of(seen, found.outages, trip)
        seen.step(self.steps)
        self.interruptions = found.but(losses.bursts_among(seen, found, trip))
        gone = self.interruptions.losing(trip)
        self.capacity = capacity.of(seen, gone, held)
        self.losses = losses.of(seen, self.capacity, gone, held)
        self.hosts = hosts.of(seen)
        self.reordering = reordering.of(seen)
        self.back = way_back.of(seen)
        #: Other flows of the capture between the same hosts.
        self.others = others.of(seen)

    @cached_property
    def scenario_text(self) -> str:
        """The path as the text of a scenario file."""
        from rexmit.fitted.scenario_of import scenario_of
        from rexmit.scenario import toml

        return toml(scenario_of(self, self.like))

    @cached_property
    def scenario(self) -> Scenario:
        """The path as a scenario, for `rx.run`."""
        from rexmit.scenario import Scenario

        return Scenario.parse(self.scenario_text, f"the fitted path of {self.name}")

    @cached_property
    def values(self) -> dict[str, Any]:
        """The values by name, each a `Value`; None where there is nothing of the kind."""
        c, i, h, b, r = self.capacity, self.interruptions, self.hosts, self.back, self.reordering
        return {
            "rate": c.rate,
            "base_rtt": c.delay,
            "queue": c.queue,
            "policer_rate": c.policer_rate,
            "bucket": c.bucket,
            "loss": self.losses.loss,
            "mean_burst": self.losses.burst,
            "outage_length": i.length,
            "outage_period": i.period,
            "reordered": r.share,
            "reordered_by": r.by,
            "back_rate": b.rate,
            "ack_loss": b.ack_loss,
            "acks_per_packet": b.acks_per_packet,
            "acks_together": b.together,
            "receive_window": h.window,
            "own_window": h.own_window,
            "in_flight": h.buffer,
            "others": h.others,
        }

    @property
    def alternatives(self) -> list[dict[str, Any]]:
        """Kinds of loss process that explain the capture, with weights that add up to 1, the heaviest
        first.
        """
        return self.losses.alternatives

    def check(self, draws: int = 20, progress: Any = None) -> Check:
        """The scenario, run with `draws` seeds and compared with the capture."""
        from rexmit.fitted.check import check

        return check(self, draws, progress)

    def to_dict(self) -> dict[str, Any]:
        """As `rexmit fit --json` prints it, without the check."""
        from rexmit.fitted.elsewhere import mahimahi, netem

        spans = [
            {"start_s": i.start, "length_s": i.length, "low_s": i.low, "high_s": i.high, "held": held}
            for held, some in ((False, self.interruptions.outages), (True, self.interruptions.held))
            for i in some
        ]
        return {
            "rexmit": _core.__version__,
            "format": 1,
            "capture": self.name,
            "sender": self.seen.flow.sender,
            "receiver": self.seen.flow.receiver,
            "captured_at": self.seen.row["vantage"],
            "values": {name: value and value.to_dict() for name, value in self.values.items()},
            "loss_process": self.losses.kind,
            "lost_copies": self.losses.lost,
            "alternatives": self.alternatives,
            "interruptions": spans,
            "base_rtt_steps": [{"from_s": start, "rtt_s": rtt} for start, rtt in self.steps],
            "workload": self.hosts.workload | {"source": self.hosts.source},
            "like": self.like,
            "scenario": self.scenario_text,
            "netem": netem(self),
            "mahimahi": mahimahi(self),
        }

    def page(self) -> str:
        """The table, as `rexmit fit` prints it, without the check."""
        from rexmit.fitted.page import page

        return "\n".join(page(self))

    def _line(self) -> str:
        return f"rexmit fit of {self.seen.flow.sender} → {self.seen.flow.receiver}: losses {self.losses.kind}"
