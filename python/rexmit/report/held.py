"""Which packets a file holds: all of them, or bins and those of the worst episodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rexmit.report import levels
from rexmit.report.episodes import MOST, costliest

if TYPE_CHECKING:
    from rexmit.report.source import Source

Row = dict[str, Any]

#: Up to so many packets stand in a file.
RAW = 200_000
#: Flows of fewer packets share a blob of about so many.
SMALL, SHARED = 2_000, 20_000
#: Of a larger capture, flows of up to so many packets are there whole, as long as there is room.
WHOLE = 10_000
#: Of one flow's episodes together; of an episode that does not fit its beginning, which says how it came
#: about, if that is at least so many.
MOST_OF_FLOW, BEGINNING = 100_000, 2_000
#: Packets before and after an episode.
MARGIN = 200
#: Bins of the finest levels of all flows of a file.
BINS = 131_072


def hold(source: Source, details: Sequence[Row], room: int = RAW) -> bool:
    """Puts packets into the details, and their blobs to the source's; whether all of theirs are there.

    details: of flows in the order in which there is room for them.  room: packets that the file may hold.
    """
    if len(source.packets) <= room:
        _whole(source, details)
        return True
    small, large = [], []
    for told in details:
        n = told["packets"]["count"]
        if n <= min(WHOLE, room // 2):
            small.append(told)
            room -= n
        else:
            large.append(told)
    _whole(source, small)
    packets = sum(told["packets"]["count"] for told in large)
    for told in large:
        share = BINS * told["packets"]["count"] // max(packets, 1)
        _levels(source, told, min(levels.FINEST, max(share, levels.COARSEST)))
        room -= _episodes(source, told, min(room, MOST_OF_FLOW))
    return False


class Whole:
    """Puts all packets of flows into the page: one blob for each large flow, small ones together."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._name = ""
        self._waiting: list[slice] = []
        self._together = 0

    def take(self, told: Row) -> Row:
        """The next flow, into whose detail it puts where its packets are; returns the detail."""
        rows = self._source.packets.of(told["flow"])
        size = rows.stop - rows.start
        told["packets"]["held"] = "all"
        if size >= SMALL:
            name = f"{told['key']}/packets"
            told["packets"]["blobs"] = [name]
            self._source.blobs[name] = partial(self._source.packets.container, rows)
        elif size:
            if not self._waiting:
                self._name = f"{self._source.number}/small/{told['flow']}/packets"
            told["packets"] |= {"blobs": [self._name], "rows": [self._together, self._together + size]}
            self._waiting.append(rows)
            self._together += size
            if self._together >= SHARED:
                self.end()
        return told

    def end(self) -> None:
        """No more flows come, or none into the same blob."""
        if self._waiting:
            self._source.blobs[self._name] = partial(self._source.packets.container, *self._waiting)
        self._waiting, self._together = [], 0


def _whole(source: Source, details: Sequence[Row]) -> None:
    whole = Whole(source)
    for told in details:
        whole.take(told)
    whole.end()


def _levels(source: Source, told: Row, most: int) -> None:
    flow = told["flow"]
    finest = levels.finest(source.packets, source.packets.of(flow), most, (source.rtts, source.rtts.of(flow)))
    for k, level in enumerate(levels.all_levels(finest)):
        name = f"{told['key']}/bins/{k}"
        told["bins"].append({"blob": name, "bin_ns": level.bin_ns})
        source.blobs[name] = partial(levels.container, level)


def _episodes(source: Source, told: Row, room: int) -> int:
    """The packets around the costliest episodes, as far as there is room; returns how many packets."""
    flow, used = told["flow"], 0
    episodes = costliest(source.tables.frame("episodes", flow), MOST)
    bursts = source.tables.frame("bursts", flow)
    numbers = {episode["number"] for episode in episodes}
    mine = bursts.where(number in numbers for number in bursts.raw("episode")).rows()
    for episode in episodes:
        rows = source.around(flow, mine, episode, MARGIN)
        if rows.stop - rows.start > room - used:
            if room - used < BEGINNING:
                continue
            rows = slice(rows.start, rows.start + room - used)
        used += rows.stop - rows.start
        name = f"{told['key']}/packets/{int(episode['number'])}"
        told["packets"]["held"] = "windows"
        told["packets"]["blobs"].append(name)
        source.blobs[name] = partial(source.packets.container, rows, complete=False)
    return used
