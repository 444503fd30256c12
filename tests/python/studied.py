"""Quick runs of studies with the paper's values, made once for all tests of a process."""

from __future__ import annotations

from functools import cache

from rexmit_studies import load
from rexmit_studies import run as running
from rexmit_studies.run import Outcome
from rexmit_studies.study import Results, Study


@cache
def quick(name: str) -> Outcome:
    """The study with the fewest runs. Tests only read it."""
    outcome, _ = quick_with_results(name)
    assert outcome.failures == outcome.left_out == []
    return outcome


@cache
def quick_with_results(name: str) -> tuple[Outcome, Results]:
    """The study with the fewest runs, and what its batches gave."""
    read, given = running.read, []

    def keeps(study: Study, results: Results, outcome: Outcome) -> None:
        given.append(results)
        read(study, results, outcome)

    running.read = keeps
    try:
        (found,) = running.run([load(name)], quick=True)
    finally:
        running.read = read
    return found, given[0]
