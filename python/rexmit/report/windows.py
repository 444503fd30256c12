"""Parts of a flow for `rexmit view`: packets where few enough lie in a window, else bins."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

from rexmit.report import levels, rtts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit import _core
    from rexmit.report.source import Source

#: A window of more packets comes as bins, one of more samples not at all.
MOST_PACKETS, MOST_SAMPLES = 30_000, 200_000
#: Flows whose levels are kept.
KEPT = 8
#: Columns of a screen.
MOST_COLUMNS = 16_384


class Windows:
    """The windows of one source; any thread may ask."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lock = Lock()
        self._levels: OrderedDict[int, list[tuple[_core.Level, dict[str, Sequence[Any]]]]] = OrderedDict()

    def window(self, flow: int, from_ns: int, to_ns: int, columns: int) -> bytes:
        """What a page shows of a flow in a stretch of time, about `columns` bins or more if it is bins.

        Raises ValueError for a stretch that is none.
        """
        if to_ns < from_ns:
            raise ValueError(f"to_ns = {to_ns} is before from_ns = {from_ns}")
        columns = min(max(columns, 1), MOST_COLUMNS)
        store, whole = self.source.packets, self.source.packets.of(flow)
        with self._lock:
            rows = store.within(flow, from_ns, to_ns)
        if rows.stop - rows.start <= MOST_PACKETS:
            return store.container(rows, complete=rows == whole)
        wanted_ns = max(1, (to_ns - from_ns) // columns)
        with self._lock:
            known = self._of(flow)
            fitting = [one for one in known if one[0].bin_ns <= wanted_ns]
            if fitting:
                level, table = fitting[-1]
                return _part(level, table, from_ns, to_ns)
            beside = (self.source.rtts, self.source.rtts.within(flow, from_ns, to_ns))
            return levels.container(levels.over(store, rows, (from_ns, to_ns), columns, beside))

    def rtt(self, flow: int, from_ns: int, to_ns: int) -> bytes:
        """The round-trip samples of a stretch of time. Raises ValueError where they are too many."""
        with self._lock:
            rows = self.source.rtts.within(flow, from_ns, to_ns)
        if rows.stop - rows.start > MOST_SAMPLES:
            raise ValueError(f"{rows.stop - rows.start:,} samples there; {MOST_SAMPLES:,} at most: use bins")
        return rtts.container(self.source.rtts, rows)

    def _of(self, flow: int) -> list[tuple[_core.Level, dict[str, Sequence[Any]]]]:
        """The levels of a flow, the finest first; made when they are first asked for."""
        if flow not in self._levels:
            store = self.source.packets
            beside = (self.source.rtts, self.source.rtts.of(flow))
            finest = levels.finest(store, store.of(flow), rtts=beside)
            self._levels[flow] = [(level, levels.table(level)) for level in levels.all_levels(finest)]
            while len(self._levels) > KEPT:
                self._levels.popitem(last=False)
        self._levels.move_to_end(flow)
        return self._levels[flow]


def _part(level: _core.Level, table: dict[str, Sequence[Any]], from_ns: int, to_ns: int) -> bytes:
    """The bins of a level that lie in a stretch of time."""
    first, last = ((at - level.start_ns) // level.bin_ns for at in (from_ns, to_ns))
    a, z = bisect_left(table["bin"], first), bisect_right(table["bin"], last)
    return levels.packed({name: values[a:z] for name, values in table.items()}, level)
