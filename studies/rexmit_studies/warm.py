"""What comes after a study's runs takes seconds to load: it is loaded while the first runs keep the cores
busy, until Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from threading import get_ident
from types import ModuleType

JUDGING_AND_DRAWING = ("scipy.special", "scipy.stats", "numpy.ma", "matplotlib.figure")
WRITING = ("rexmit_studies.output", "rexmit.files.output", "markdown_it")


def warm(stopped: Callable[[], bool], writes: bool) -> None:
    """Loads what judging and drawing need, and before them what writing needs, if there is to be any: a study
    that is stopped writes what it has, and may have nothing to judge or to draw.
    """
    with suppress(KeyboardInterrupt), _refusing(stopped):
        if writes:
            for module in WRITING:
                import_module(module)
            _first_array()
        for module in JUDGING_AND_DRAWING:
            import_module(module)


def _first_array() -> None:
    """With its first array pyarrow loads pandas, if that is installed."""
    import pyarrow as pa

    pa.array([])


@contextmanager
def _refusing(stopped: Callable[[], bool]) -> Iterator[None]:
    """Once stopped, this thread's imports end at the next module, as Ctrl-C ends those of the main thread."""
    finder = _UntilStopped(stopped)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _UntilStopped(MetaPathFinder):
    """Finds nothing itself, and raises KeyboardInterrupt once stopped, in the thread that made it."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self._stopped = stopped
        self._thread = get_ident()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if get_ident() == self._thread and self._stopped():
            raise KeyboardInterrupt
