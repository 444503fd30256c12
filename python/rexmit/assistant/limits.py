"""How long one call may take, and that one call runs at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TimeUpError(ValueError):
    """The time was over before there was anything to answer."""


class Limit:
    """The time of one call. `goes_on` is the `progress` of what the core does: False ends it, and it keeps
    what it has done by then.
    """

    def __init__(self, seconds: float, began: float) -> None:
        self.seconds = seconds
        self._ends = began + seconds
        #: Whether the answer lacks something because there was no time for it.
        self.cut = False

    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(0.0, self._ends - time.monotonic())

    def goes_on(self, *_: Any) -> bool:
        """Whether there is time left."""
        on = self.left() > 0
        self.cut |= not on
        return on

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """The block has this part of the time that is left; what it does not use is left for later."""
        ends = self._ends
        self._ends -= self.left() * (1 - part)
        try:
            yield
        finally:
            self._ends = ends


class Turn:
    """One call at a time: calls share captures, memory and cores. Waiting counts as time of the call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: The limit of the call whose turn it is.
        self.limit = Limit(0, 0)

    @contextmanager
    def taken(self, seconds: float) -> Iterator[Limit]:
        """While it is the caller's turn. Raises TimeUpError if other calls took all of the time."""
        began = time.monotonic()
        if not self._lock.acquire(timeout=seconds):
            raise TimeUpError(f"other calls took the {seconds:g} s that a call may take: ask again")
        try:
            self.limit = Limit(seconds, began)
            yield self.limit
        finally:
            self._lock.release()

    def goes_on(self, *_: Any) -> bool:
        """The `progress` of whatever is kept from one call to the next: it asks the call whose turn it is."""
        return self.limit.goes_on()
