"""`rx.traffic(capture)`: what all frames of a capture are, how many come in each bin, and how self-similar
that is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rexmit import _core, extras
from rexmit.screen.notebook import Shown
from rexmit.screen.say import one_line
from rexmit.tables import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rexmit.figures import Figure
    from rexmit.studies import Hurst

Progress = Callable[[int, int | None, int], bool]

#: Bins that are tried, s, where none is asked for: the first in which more than one packet falls on average.
USUAL = (0.001, 0.01, 0.1, 1.0)
#: Fewer bins than this have no Hurst parameter to speak of.
ENOUGH = 256
#: Groups of kinds, by what they are in the shares: the protocols of frames, and those inside IP.
NETWORK = {
    "IPv4": ("ipv4.tcp", "ipv4.udp", "ipv4.icmp", "ipv4.other"),
    "IPv6": ("ipv6.tcp", "ipv6.udp", "ipv6.icmp", "ipv6.other"),
    "ARP": ("arp",),
    "LLC": ("llc",),
    "other": ("other",),
    "unread": ("unread",),
}
TRANSPORT = {
    "TCP": ("ipv4.tcp", "ipv6.tcp"),
    "UDP": ("ipv4.udp", "ipv6.udp"),
    "ICMP": ("ipv4.icmp", "ipv6.icmp"),
    "other IP": ("ipv4.other", "ipv6.other"),
}
WHAT = ("packets", "bytes")
#: What `Traffic.figures` may draw.
FIGURES = tuple(f"{what}-{kind}" for what in WHAT for kind in ("by-time-scale", "scaling"))


def traffic(
    capture: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    bin: float | None = None,
    *,
    progress: Progress | None = None,
) -> Traffic:
    """Counts all frames of a capture, whatever they carry.

    capture: a file, or several of one rotation.  bin: how long a bin is, s; default the first of 1 ms, 10 ms,
    100 ms, 1 s in which more than one packet falls on average, if that leaves 256 bins.  progress(bytes done,
    bytes in all or None, packets): returning False ends the reading early and keeps what was read.
    Raises CaptureError if nothing could be read.
    """
    listed = [capture] if isinstance(capture, str | os.PathLike) else list(capture)
    paths = [os.fspath(path) for path in listed]
    if bin is not None:
        return Traffic(paths, _core.traffic(paths, bin=bin, progress=progress))
    if "-" in paths:
        raise ValueError("standard input is read once: say how long a bin is")
    # How dense the packets are is known when all have been counted, and coarse bins come for nothing.
    seen = _core.traffic(paths, bin=3600.0, progress=progress)
    if json.loads(seen.overview())["interrupted"]:
        # Another pass would be stopped at once.
        return Traffic(paths, seen)
    return Traffic(paths, _core.traffic(paths, bin=usual_bin(json.loads(seen.overview())), progress=progress))


def usual_bin(overview: dict[str, Any]) -> float:
    """The bin, s, that suits this many packets in so much time."""
    span = float(overview["span_s"] or 0.0)
    for width in USUAL[:-1]:
        few_left = span / width < ENOUGH * 10
        if overview["packets"] * width > span or few_left:
            return width
    return USUAL[-1]


class Traffic(Shown):
    """All frames of a capture, counted. Made by `rexmit.traffic`."""

    def __init__(self, paths: Sequence[str], counted: _core.Traffic) -> None:
        #: Somebody waits for the answer: it does without what takes long.
        self.hurried = False
        self.paths = list(paths)
        self._counted = counted

    @cached_property
    def summary(self) -> dict[str, Any]:
        """files, links, packets, bytes, start_unix_s, span_s, bin_s, bins, kinds, warnings, interrupted."""
        found: dict[str, Any] = json.loads(self._counted.overview())
        return found

    @property
    def bin_s(self) -> float:
        """How long a bin is, s."""
        return float(self.summary["bin_s"])

    @property
    def bins(self) -> Table:
        """A row for each bin: `start_s` since the first packet, `packets`, `bytes`."""
        return Table("bins", self._counted.bins)

    def series(self, what: str = "packets") -> NDArray[np.float64]:
        """Packets or bytes per bin. The last bin, which the end of the capture cuts short, is left out."""
        import numpy as np

        from rexmit.frame import Frame

        if what not in WHAT:
            raise ValueError(f"{what!r} is no series: {' or '.join(WHAT)}")
        found = Frame(self.bins)[what].astype(np.float64)
        return found[:-1] if len(found) > 1 else found

    def shares(self) -> dict[str, dict[str, float]]:
        """Of each protocol: packets, bytes, and their share of all packets and bytes of the capture."""
        kinds, total = self.summary["kinds"], self.summary
        found = {}
        for name, members in (NETWORK | TRANSPORT).items():
            sums = {what: sum(kinds[kind][what] for kind in members) for what in WHAT}
            parts = {f"{what}_share": sums[what] / max(1, total[what]) for what in WHAT}
            found[name] = {**sums, **parts}
        return found

    @cached_property
    def hurst(self) -> dict[str, Hurst | str]:
        """Of packets and of bytes per bin: the Hurst parameter by five estimators, or why there is none."""
        if self.hurried:
            return dict.fromkeys(WHAT, "not estimated, as it was stopped early")
        from rexmit import studies

        try:
            offered = studies.need("the Hurst parameter")
        except extras.MissingError:
            why = f"not estimated without rexmit-studies: {extras.command('studies')}"
            return dict.fromkeys(WHAT, why)
        found: dict[str, Hurst | str] = {}
        for what in WHAT:
            try:
                found[what] = offered.hurst(self.series(what))
            except ValueError as why:
                found[what] = str(why)
        return found

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """What came at several time scales, and for packets and bytes the two plots that H is read from."""
        from rexmit import studies
        from rexmit.figures import scaling

        for what in WHAT:
            x = self.series(what)
            yield f"{what}-by-time-scale", scaling.time_scales(x, self.bin_s, what, self.name)
            found = self.hurst[what]
            if not isinstance(found, str):
                offered = studies.need("the plots of the Hurst parameter")
                yield f"{what}-scaling", offered.diagrams(x, self.bin_s, what, found, self.name)

    @property
    def name(self) -> str:
        """The capture's name, and how many files there are besides."""
        more = len(self.paths) - 1
        return os.path.basename(self.paths[0]) + (f" and {more} more" if more else "")

    def to_dict(self) -> dict[str, Any]:
        """As `rexmit traffic --json` prints it."""
        hurst = {
            what: {"estimates": [], "agree": None, "warnings": [found]}
            if isinstance(found, str)
            else found.to_dict()
            for what, found in self.hurst.items()
        }
        return {
            "rexmit": _core.__version__,
            "format": 1,
            **self.summary,
            "shares": self.shares(),
            "hurst": hurst,
        }

    def page(self) -> str:
        """The answer on one screen, as `rexmit traffic` prints it."""
        return "\n".join(page(self))

    def _line(self) -> str:
        return f"rexmit traffic of {self.name}: {self.summary['packets']:,} packets"


def page(found: Traffic) -> list[str]:
    """The whole page as lines."""
    from rexmit.screen.units import count, seconds, size

    s = found.summary
    links = ", ".join(link.partition("(")[2].rstrip(")") or link for link in s["links"])
    span = seconds(float(s["span_s"] or 0.0))
    lines = [f"{one_line(found.name)}: {count(s['packets'], 'packet')}, {size(s['bytes'])}, {span}, {links}"]
    lines += [f"  ! {one_line(said)}" for said in s["warnings"]]
    lines += ["", f"  {'':<10}{'packets':>12}{'':>9}{'bytes':>12}"]
    for name, members in _nested():
        packets, octets = (sum(s["kinds"][kind][what] for kind in members) for what in WHAT)
        if packets:
            shares = (_percent(packets / max(1, s["packets"])), _percent(octets / max(1, s["bytes"])))
            lines.append(f"  {name:<10}{packets:>12,}{shares[0]:>9}{size(octets):>12}{shares[1]:>9}")
    lines += ["", f"  Hurst parameter, {s['bins']:,} bins of {_bin(found.bin_s)}"]
    lines += _estimates(found.hurst)
    return lines


def _nested() -> Iterator[tuple[str, Sequence[str]]]:
    """The protocols of frames, and below each those that it carries."""
    for network, members in NETWORK.items():
        yield network, members
        for transport, kinds in TRANSPORT.items():
            within = [kind for kind in kinds if kind in members]
            if within:
                yield f"  {transport}", within


def _estimates(hurst: dict[str, Hurst | str]) -> list[str]:
    from textwrap import wrap

    there = {what: found for what, found in hurst.items() if not isinstance(found, str)}
    lines = []
    if there:
        lines.append("  " + " " * 26 + "".join(f"{what:<24}" for what in there).rstrip())
        rows = zip(*(found.estimates for found in there.values()), strict=True)
        lines += [
            "  " + f"{row[0].method:<26}" + "".join(f"{e!s:<24}" for e in map(_told, row)).rstrip()
            for row in rows
        ]
    for what, found in hurst.items():
        for said in [found] if isinstance(found, str) else found.warnings:
            lines += wrap(f"{what}: {said}", 108, initial_indent="  ! ", subsequent_indent="    ")
    return lines


def _told(estimate: Any) -> str:
    return f"{estimate:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _bin(seconds: float) -> str:
    return f"{seconds * 1e3:g} ms" if seconds < 1 else f"{seconds:g} s"
