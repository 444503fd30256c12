"""One progress bar over all that studies run, with the time that remains; Ctrl-C keeps what is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rexmit.screen.progress import Bar, Interruptible

if TYPE_CHECKING:
    from rexmit_studies.study import Batch

#: A run's worth in s before any was timed.
GUESS_S = 0.03


class Watch(Interruptible):
    """Knows how far the plans of all studies are, and whether to go on. After Ctrl-C what is done is kept."""

    def __init__(self, goes_on: Callable[[], bool] | None = None) -> None:
        """goes_on: asked now and then; False ends the work as Ctrl-C does."""
        super().__init__()
        self._goes_on = goes_on
        self._runs: dict[tuple[str, str], int] = {}
        self._calls: dict[tuple[str, str], float] = {}
        self._ended: set[tuple[str, str]] = set()
        self._timed_s = 0.0
        self._timed_runs = 0
        self._now: tuple[str, str] = ("", "")
        self._done = 0
        self._since = self._began

    def expect(self, plans: Mapping[str, Mapping[str, Batch]]) -> None:
        """All that is going to run."""
        for study, batches in plans.items():
            for name, batch in batches.items():
                if batch.call is None:
                    self._runs[study, name] = batch.runs
                else:
                    self._calls[study, name] = batch.worth

    @contextmanager
    def batch(self, study: str, name: str) -> Iterator[Callable[[int, int | None, int], bool]]:
        """While one batch runs: gives what `rexmit.runs` wants as its progress."""
        self._now, self._done = (study, name), 0
        self._since = time.monotonic()
        self._tick()
        yield self._progress
        if self._now in self._runs:
            self._timed_s += time.monotonic() - self._since
            self._timed_runs += self._runs[self._now]
        self._ended.add(self._now)
        self._done = 0

    def wait(self, future: Future[Any]) -> None:
        """Waits for a future until Ctrl-C."""
        while not wait([future], timeout=0.1).done and not self.stopped:
            self._tick()

    def _progress(self, done: int, total: int | None, events: int) -> bool:
        self._done = done
        self._tick()
        return not self.stopped

    def remaining_s(self) -> float:
        """What is left to do at the pace until now."""
        spent, done = self._timed_s, self._timed_runs
        if self._done:
            spent, done = spent + time.monotonic() - self._since, done + self._done
        per_run = spent / done if done else GUESS_S
        runs = sum(n for key, n in self._runs.items() if key not in self._ended) - self._done
        calls = sum(worth for key, worth in self._calls.items() if key not in self._ended)
        return max(0.0, runs * per_run + calls)

    def _tick(self) -> None:
        if self._goes_on is not None and not self._goes_on():
            self.stopped = True
        elapsed = time.monotonic() - self._began
        if self._waited():
            self._bar = Bar()
        if self._bar is not None:
            left = self.remaining_s()
            study, name = self._now
            told = f"{self._done:,} of {self._runs[self._now]:,} runs" if self._now in self._runs else ""
            if self.stopped:
                told = "stopping"
            self._bar.draw(f"{study}: {name}", elapsed, max(elapsed + left, 1e-9), [told], left)
