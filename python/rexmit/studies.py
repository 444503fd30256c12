"""The papers' studies are a package of their own, rexmit-studies, which is found by its entry point.

rexmit itself imports nothing of that package: what it asks for is `Studies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, cast

from rexmit import extras

if TYPE_CHECKING:
    import argparse
    import os

    import numpy as np
    from numpy.typing import NDArray

    from rexmit.figures import Figure

#: The group of entry points; the one entry names a module that has the functions of `Studies`.
GROUP = "rexmit.studies"


class Hurst(Protocol):
    """The Hurst parameter of one series by several estimators."""

    @property
    def estimates(self) -> Sequence[Any]:
        """One by each estimator, with `method`."""

    @property
    def warnings(self) -> Sequence[str]:
        """Why not to believe them, each a sentence."""

    def to_dict(self) -> dict[str, Any]:
        """As `rexmit traffic --json` prints it."""


class Studies(Protocol):
    """What the module of the entry point offers."""

    def names(self) -> list[str]:
        """The studies there are."""

    def listed(self, json: bool) -> list[str]:
        """The lines of `rexmit study list`."""

    def command(self, o: argparse.Namespace) -> str | None:
        """Does what `rexmit study run` with these options asks for; returns why it failed, if it did."""

    def answer(self, name: str, goes_on: Callable[[], bool]) -> dict[str, Any]:
        """The answer of a study with the fewest runs (docs/studies.md), as far as it may go on."""

    def study(
        self,
        name: str,
        *,
        set: Mapping[str, Any] | None = None,
        vary: Mapping[str, Iterable[Any]] | None = None,
        outages: str | os.PathLike[str] | None = None,
        quick: bool = False,
        replications: float = 1.0,
    ) -> Any:
        """`rexmit.study`."""

    def hurst(self, x: NDArray[np.float64]) -> Hurst:
        """The Hurst parameter of counts per bin. Raises ValueError where there is none."""

    def diagrams(self, x: NDArray[np.float64], width: float, what: str, hurst: Hurst, name: str) -> Figure:
        """The variance-time plot and the log-scale diagram of counts per bin of so many seconds."""


def _found() -> Studies | None:
    for entry in entry_points(group=GROUP):
        return cast(Studies, entry.load())
    return None


def need(what: str) -> Studies:
    """The package. Raises MissingError, which says how to install it, unless it and what it needs are there.

    what: the thing that needs it.
    """
    extras.need("studies", what)
    found = _found()
    if found is None:
        # Its folder can be imported, but nothing was installed.
        raise extras.MissingError(f"{what} needs rexmit-studies: {extras.command('studies')}")
    return found


def names() -> list[str]:
    """The studies there are; none where the package is not installed."""
    found = _found() if extras.has("studies") else None
    return found.names() if found else []


def study(
    name: str,
    *,
    set: Mapping[str, Any] | None = None,
    vary: Mapping[str, Iterable[Any]] | None = None,
    outages: str | os.PathLike[str] | None = None,
    quick: bool = False,
    replications: float = 1.0,
) -> Any:
    """Repeats a paper's experiment (docs/studies.md), on all cores. Needs the package rexmit-studies.

    name: as `rexmit study list` has it, or a Python file of your own.  set: values of axes, or of keys of its
    scenarios: {"delay": "20ms"}; a number is in the axis's unit.  vary: one axis and its values, side by
    side: {"delay": ["5ms", "20ms"]}.  outages: a file of your outages.  quick: the fewest runs that still
    exercise everything.  replications: times as many runs.  Ctrl-C keeps what is done.
    Returns `rexmit_studies.run.Outcome`, with `vary` `rexmit_studies.vary.Variation`.
    Raises ValueError, before anything runs, for what is no study, axis or value, and MissingError where the
    package is not installed.
    """
    return need("rexmit.study").study(
        name, set=set, vary=vary, outages=outages, quick=quick, replications=replications
    )
