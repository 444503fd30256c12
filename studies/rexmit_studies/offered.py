"""What rexmit asks of this package, by its entry point (`rexmit.studies.Studies`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import rexmit_studies

if TYPE_CHECKING:
    import argparse
    import os

    import numpy as np
    from numpy.typing import NDArray

    from rexmit.figures import Figure
    from rexmit.studies import Hurst, Studies
    from rexmit_studies import offered, selfsim
    from rexmit_studies.run import Outcome
    from rexmit_studies.vary import Variation

    #: That nothing is missing is checked with the types.
    ALL_OF_IT: Studies = offered

__all__ = ["answer", "command", "diagrams", "hurst", "listed", "names", "study"]


def names() -> list[str]:
    """The studies there are."""
    return rexmit_studies.names()


def listed(json: bool) -> list[str]:
    """The lines of `rexmit study list`."""
    from rexmit.screen.say import as_json
    from rexmit_studies import paper, terminal

    if not json:
        return terminal.listed(names())
    entries = [
        {"study": name, **asdict(paper.about(name))}
        | {"figures": len(paper.figures(name)), "claims": len(paper.claims(name))}
        for name in names()
    ]
    return [as_json(entries, 1)]


def command(o: argparse.Namespace) -> str | None:
    """Does what `rexmit study run` with these options asks for; returns why it failed, if it did."""
    from rexmit_studies.command import run

    return run(o)


def answer(name: str, goes_on: Callable[[], bool]) -> dict[str, Any]:
    """The answer of a study with the fewest runs (docs/studies.md), as far as it may go on."""
    from rexmit_studies.answer import one
    from rexmit_studies.progress import Watch
    from rexmit_studies.run import run

    return one(next(iter(run([rexmit_studies.load(name)], quick=True, watch=Watch(goes_on)))))


def study(
    name: str,
    *,
    set: Mapping[str, Any] | None = None,
    vary: Mapping[str, Iterable[Any]] | None = None,
    outages: str | os.PathLike[str] | None = None,
    quick: bool = False,
    replications: float = 1.0,
) -> Outcome | Variation:
    """`rexmit.study`."""
    from rexmit_studies.called import study

    return study(name, set=set, vary=vary, outages=outages, quick=quick, replications=replications)


def hurst(x: NDArray[np.float64]) -> selfsim.Hurst:
    """The Hurst parameter of counts per bin. Raises ValueError where there is none."""
    from rexmit_studies import selfsim

    return selfsim.hurst(x)


def diagrams(x: NDArray[np.float64], width: float, what: str, hurst: Hurst, name: str) -> Figure:
    """The variance-time plot and the log-scale diagram of counts per bin of so many seconds."""
    from rexmit_studies.selfsim import diagrams as drawn

    return drawn.diagrams(x, width, what, cast("selfsim.Hurst", hurst), name)
