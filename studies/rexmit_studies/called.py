"""`rx.study(name, …)`: a paper's experiment in Python, at the paper's values, at yours, or at several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import os

    from rexmit_studies.run import Outcome
    from rexmit_studies.vary import Variation


@overload
def study(
    name: str,
    *,
    set: Mapping[str, Any] | None = None,
    vary: None = None,
    outages: str | os.PathLike[str] | None = None,
    quick: bool = False,
    replications: float = 1.0,
) -> Outcome: ...


@overload
def study(
    name: str,
    *,
    set: Mapping[str, Any] | None = None,
    vary: Mapping[str, Iterable[Any]],
    outages: str | os.PathLike[str] | None = None,
    quick: bool = False,
    replications: float = 1.0,
) -> Variation: ...


def study(
    name: str,
    *,
    set: Mapping[str, Any] | None = None,
    vary: Mapping[str, Iterable[Any]] | None = None,
    outages: str | os.PathLike[str] | None = None,
    quick: bool = False,
    replications: float = 1.0,
) -> Outcome | Variation:
    """Repeats a paper's experiment (docs/studies.md), on all cores.

    name: as `rexmit study list` has it, or a Python file of your own.  set: values of axes, or of keys of its
    scenarios: {"delay": "20ms"}; a number is in the axis's unit.  vary: one axis and its values, side by
    side: {"delay": ["5ms", "20ms"]}.  outages: a file of your outages.  quick: the fewest runs that still
    exercise everything.  replications: times as many runs.  Ctrl-C keeps what is done.
    Raises ValueError, before anything runs, for what is no study, axis or value.
    """
    from rexmit_studies.asked import chosen, of_ones_own, varied
    from rexmit_studies.progress import Watch
    from rexmit_studies.run import run
    from rexmit_studies.vary import vary as run_varied

    if not replications > 0:
        raise ValueError(f"replications = {replications!r}: a number above 0; 2 means twice as many runs")
    studies = chosen([name])
    sets = [f"{key}={value}" for key, value in (set or {}).items()]
    own = of_ones_own(studies, sets, None if outages is None else str(outages))
    several = None
    if vary is not None:
        words = [f"{key}={','.join(map(str, values))}" for key, values in vary.items()]
        if not words:
            raise ValueError('vary has no axis: vary={"delay": ["5ms", "20ms"]} for example')
        several = varied(studies, words, own)
    with Watch() as watch:
        if several is None:
            return next(run(studies, quick=quick, factor=replications, watch=watch, own=own))
        axis, values = several
        return run_varied(studies[0], axis, values, own, quick=quick, factor=replications, watch=watch)
