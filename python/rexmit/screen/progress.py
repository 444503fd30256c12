"""A progress bar on the terminal for what takes longer than two seconds; Ctrl-C keeps what was read."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, ClassVar, Protocol, Self, TypeVar

from rexmit.screen.say import one_line

Told = TypeVar("Told")

#: Shorter work shows nothing.
PATIENCE_S = 2.0


class Interruptible:
    """As a context it takes over Ctrl-C: the first one sets `stopped`, a second one ends the program."""

    def __init__(self) -> None:
        self.stopped = False
        self._bar: Any = None
        self._task: Any = None
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
        if self._waited():
            self._show()
        if self._bar is not None:
            self._bar.update(
                self._task, completed=done, total=total, packets=packets, speed=self._speed(packets)
            )
        return not self.stopped

    def _speed(self, packets: int) -> str:
        return f"{packets / max(time.monotonic() - self._began, 1e-9) / 1e6:.2f} M packets/s"

    #: What the bar's columns take besides the work's name, as it begins.
    _fields: ClassVar[dict[str, Any]] = {"packets": 0, "speed": ""}
    #: Over how many s the remaining time is estimated.
    _looks_back_s = 30.0

    def _columns(self) -> list[Any]:
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

        return [
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[packets]:,} packets"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        ]

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        self._bar = Bar(
            *self._columns(),
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=self._looks_back_s,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.what, total=None, **self._fields)


class Stepping(Progress):
    """The same for simulations: `done` and `total` in s of simulated time, or in runs."""

    def __init__(self, what: str, unit: str = "s") -> None:
        super().__init__(what)
        self._unit = unit

    def __call__(self, done: float, total: float | None, packets: int) -> bool:
        if self._waited():
            self._show()
        if self._bar is not None:
            told = f"{done:,.0f}" + (f" of {total:,.0f}" if total is not None else "") + f" {self._unit}"
            self._bar.update(self._task, completed=done, total=total, told=told, speed=self._speed(packets))
        return not self.stopped

    def _speed(self, packets: int) -> str:
        return (
            f"{packets / max(time.monotonic() - self._began, 1e-9) / 1e6:.2f} M events/s" if packets else ""
        )

    _fields: ClassVar[dict[str, Any]] = {"told": "", "speed": ""}

    def _columns(self) -> list[Any]:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        return [
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[told]}"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        ]


class Counting(Stepping):
    """The same for what is many and alike, and takes hours: what is left is estimated from more of it."""

    _looks_back_s = 300.0
