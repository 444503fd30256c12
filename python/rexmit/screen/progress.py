"""A progress bar on the terminal for what takes longer than two seconds; Ctrl-C keeps what was read."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, TypeVar

from rexmit.screen.say import one_line

Told = TypeVar("Told")

#: Shorter work shows nothing.
PATIENCE_S = 2.0


class Interruptible:
    """As a context it takes over Ctrl-C: the first one sets `stopped`, a second one ends the program."""

    def __init__(self) -> None:
        self.stopped = False
        self._bar: Bar | None = None
        self._began = time.monotonic()
        self._previous: Any = None

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        try:
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        except ValueError:  # not the main thread: whoever runs that minds Ctrl-C
            self._previous = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        self.hide()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.stopped:
            raise KeyboardInterrupt
        self.stopped = True

    def hide(self) -> None:
        """Takes the bar away, so that something can be printed; the next step shows it again."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _waited(self) -> bool:
        """Whether it is time to show a bar to somebody who looks."""
        return self._bar is None and time.monotonic() - self._began > PATIENCE_S and sys.stderr.isatty()


class Ending(Interruptible):
    """For what has no answer until all is done: Ctrl-C ends it wherever it is.

    The core takes the exception for the end of its own work, and keeps that: ask `check` after it.
    """

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True
        raise KeyboardInterrupt

    def check(self) -> None:
        """Raises KeyboardInterrupt if it came meanwhile."""
        if self.stopped:
            raise KeyboardInterrupt


class Hurried(Protocol):
    """An answer that may have to do without what takes long."""

    hurried: bool


def soon(answer: Hurried, tell: Callable[[], Told]) -> Told:
    """What `tell` gives; once Ctrl-C comes, what it gives without what takes long."""
    try:
        return tell()
    except KeyboardInterrupt:
        answer.hurried = True
        return tell()


class Progress(Interruptible):
    """Called by the core about ten times a second; answers whether to go on.

    The first Ctrl-C ends the reading and keeps what was read.
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = one_line(what)

    def __call__(self, done: int, total: int | None, packets: int) -> bool:
        told = f"{_megabytes(done)} of {_megabytes(total)}" if total else _megabytes(done)
        return self._step(done, total, f"{told}, {packets:,} packets", self._speed(packets))

    def _step(self, done: float, total: float | None, *told: str) -> bool:
        if self._waited():
            self._bar = Bar(self._looks_back_s)
        if self._bar is not None:
            self._bar.draw(self.what, done, total, told)
        return not self.stopped

    def _speed(self, packets: int) -> str:
        return f"{packets / max(time.monotonic() - self._began, 1e-9) / 1e6:.2f} M packets/s"

    #: Over how many s the remaining time is estimated.
    _looks_back_s = 30.0


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"


class Stepping(Progress):
    """The same for simulations: `done` and `total` in s of simulated time, or in runs."""

    def __init__(self, what: str, unit: str = "s") -> None:
        super().__init__(what)
        self._unit = unit

    def __call__(self, done: float, total: float | None, packets: int) -> bool:
        told = f"{done:,.0f}" + (f" of {total:,.0f}" if total is not None else "") + f" {self._unit}"
        return self._step(done, total, told, self._speed(packets))

    def _speed(self, packets: int) -> str:
        return (
            f"{packets / max(time.monotonic() - self._began, 1e-9) / 1e6:.2f} M events/s" if packets else ""
        )


class Counting(Stepping):
    """The same for what is many and alike, and takes hours: what is left is estimated from more of it."""

    _looks_back_s = 300.0


class Bar:
    """One line on the terminal that is drawn over itself: the work, a bar, figures, the time that remains."""

    #: Columns of the bar; how often the pace is noted, and the line drawn at most.
    WIDE, EACH_S, DRAWN_S = 30, 0.5, 0.1

    def __init__(self, looks_back_s: float = 30.0) -> None:
        """looks_back_s: over how many s the remaining time is estimated."""
        self._paces: deque[tuple[float, float]] = deque(maxlen=max(2, int(looks_back_s / self.EACH_S)))
        self._drawn = 0
        self._drawn_at = -self.DRAWN_S

    def draw(
        self, what: str, done: float, total: float | None, told: Sequence[str], left_s: float | None = None
    ) -> None:
        """Draws the line anew. left_s: what remains, if that is known better than from the pace."""
        left_s = self._left(done, total) if left_s is None else left_s
        if time.monotonic() - self._drawn_at < self.DRAWN_S:
            return
        self._drawn_at = time.monotonic()
        parts = [what, *(part for part in told if part)]
        if total:
            full = round(min(max(done / total, 0.0), 1.0) * self.WIDE)
            parts.insert(1, f"[{'#' * full}{' ' * (self.WIDE - full)}]")
        if left_s is not None:
            minutes, seconds = divmod(round(left_s), 60)
            parts.append(f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left")
        self._write("  ".join(parts))

    def stop(self) -> None:
        """Takes the line away."""
        self._write("")

    def _left(self, done: float, total: float | None) -> float | None:
        now = time.monotonic()
        if not self._paces or now - self._paces[-1][0] >= self.EACH_S:
            self._paces.append((now, done))
        began, before = self._paces[0]
        if total is None or done <= before or now - began < self.EACH_S:
            return None
        return max(0.0, total - done) * (now - began) / (done - before)

    def _write(self, line: str) -> None:
        # A line that is as wide as the terminal would begin another one.
        line = line[: shutil.get_terminal_size((80, 40)).columns - 1]
        # Whatever the terminal can do, blanks cover what was there before.
        shown = line.encode(sys.stderr.encoding or "utf-8", "replace").decode(sys.stderr.encoding or "utf-8")
        print(f"\r{shown:<{self._drawn}}\r{shown}", end="", file=sys.stderr, flush=True)
        self._drawn = len(shown)
