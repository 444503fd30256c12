"""Runs studies: every batch of every plan on all cores, and what follows from them as soon as it can."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from rexmit.studies import paper
from rexmit.studies.progress import Watch
from rexmit.studies.study import Drawing, Part, Plan, Results, Row, Study, Unfinished
from rexmit.studies.verdict import Judged, judge


@dataclass
class Section:
    """What became of a part of a study: its text, rows, drawings and tables."""

    title: str
    text: str = ""
    rows: list[Row] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """A study that was run. seconds: what its batches and its reading took. left_out: what could not be said
    because a batch was stopped. failures: batches and runs that could not go on.
    """

    study: Study
    quick: bool
    factor: float
    replications: int = 0
    seconds: float = 0.0
    introduction: str = ""
    sections: list[Section] = field(default_factory=list)
    claims: list[Judged] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """The rows of all sections."""
        return [row for section in self.sections for row in section.rows]

    @property
    def drawings(self) -> list[Drawing]:
        """The drawings of all sections."""
        return [drawing for section in self.sections for drawing in section.drawings]


def run(
    studies: Sequence[Study],
    *,
    quick: bool = False,
    factor: float = 1.0,
    watch: Watch | None = None,
    then: Callable[[Outcome], None] | None = None,
) -> Iterator[Outcome]:
    """Runs studies one after another and yields what came out of each.

    quick: the fewest runs that still exercise everything. factor: times as many runs. then: what else is to
    be done with each outcome (writing it). The next study's runs begin while the last one's are looked at.
    When `watch` is stopped (Ctrl-C), what is done is kept; what needs a batch that was not finished is left
    out, and `left_out` says so.
    """
    watch = watch or Watch()
    plans = [_planned(study, quick, factor) for study in studies]
    watch.expect({study.name: plan.batches for study, plan in zip(studies, plans, strict=True)})
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(cores) as pool:
        reader.submit(_warm)
        calls = [_begin(plan, pool, watch) for plan in plans[:1]]
        readings: list[Future[Outcome]] = []
        for k, (study, plan) in enumerate(zip(studies, plans, strict=True)):
            results, outcome = Results(), Outcome(study, quick, factor)
            results.quick = quick
            _runs(study, plan, results, outcome, watch)
            # Calls of the next study fill the time in which the last ones of this are waited for.
            calls += [_begin(plans[k + 1], pool, watch)] if k + 1 < len(plans) else []
            _collect(study, calls[k], results, outcome, watch)
            readings.append(reader.submit(_read, study, results, outcome, then))
            while readings and readings[0].done():
                yield readings.pop(0).result()
        for reading in readings:
            watch.wait(reading)
            yield reading.result()


def _warm() -> None:
    """Loads what the reading needs while the first runs keep the cores busy."""
    for module in ("scipy.stats", "matplotlib.figure", "rexmit.studies.output"):
        import_module(module)


def _planned(study: Study, quick: bool, factor: float) -> Plan:
    plan = Plan(quick=quick, factor=factor)
    study.plan(plan)
    return plan


def _begin(plan: Plan, pool: ThreadPoolExecutor, watch: Watch) -> dict[str, Future[Any]]:
    return {
        name: pool.submit(_call, batch.call, watch)
        for name, batch in plan.batches.items()
        if batch.call is not None
    }


def _call(compute: Callable[[], Any], watch: Watch) -> tuple[Any, float]:
    if watch.stopped:
        raise Unfinished("stopped")
    began = time.monotonic()
    return compute(), time.monotonic() - began


def _runs(study: Study, plan: Plan, results: Results, outcome: Outcome, watch: Watch) -> None:
    """The batches of runs, each on all cores."""
    from rexmit.batch import runs

    for name, batch in plan.batches.items():
        if batch.call is not None or watch.stopped:
            continue
        began = time.monotonic()
        with watch.batch(study.name, name) as progress:
            tables: dict[str, Any] = {"tables": batch.tables} if batch.tables else {}
            try:
                done = runs(batch.scenario, batch.seeds, progress=progress, **tables, **batch.options)
            except (ValueError, TypeError, OSError) as error:
                _fail(outcome, name, error)
                continue
        outcome.seconds += time.monotonic() - began
        outcome.replications += len(done)
        if done.interrupted:
            continue
        if done.failure:
            outcome.failures.append(f"{name}: {done.failure}")
        results[name] = done


def _collect(
    study: Study, calls: dict[str, Future[Any]], results: Results, outcome: Outcome, watch: Watch
) -> None:
    """What the calls gave. One that fails costs what needs it, nothing else."""
    for name, future in calls.items():
        with watch.batch(study.name, name):
            watch.wait(future)
        try:
            results[name], took = future.result()
            outcome.seconds += took
        except Unfinished:
            continue
        except Exception as error:
            _fail(outcome, name, error)


def _read(
    study: Study, results: Results, outcome: Outcome, then: Callable[[Outcome], None] | None
) -> Outcome:
    """Rows, tables, texts and verdicts from results, and `then`. A fault costs this study only."""
    began = time.monotonic()
    try:
        read(study, results, outcome)
        outcome.seconds += time.monotonic() - began
        if then:
            then(outcome)
    except OSError:
        raise
    except Exception as error:
        _fail(outcome, "reading it", error)
    return outcome


def read(study: Study, results: Results, outcome: Outcome) -> None:
    """Fills an outcome from results; drawings are only declared."""
    left_out = outcome.left_out
    outcome.introduction = _text(study.introduction, results, "the introduction", left_out)
    for part in study.parts:
        outcome.sections.append(_section(part, results, left_out))
    for key in (row.key for row in outcome.rows):
        if not key.startswith(f"{study.name}."):
            raise ValueError(f"{key} is no figure of {study.name}")
    claims = _kept(_call_on(study.claims, results), "claims", left_out)
    known = paper.claims(study.name)
    for claim in claims:
        if claim.key not in known:
            raise ValueError(f"{claim.key} is no claim of the paper: {', '.join(known)}")
    outcome.claims = judge(claims)


def _fail(outcome: Outcome, what: str, error: Exception) -> None:
    """A sentence for the answer; the trace for whoever asks for it."""
    if os.environ.get("REXMIT_TRACE"):
        raise error
    told = f"{type(error).__name__}: {' '.join(str(error).split())}"
    outcome.failures.append(f"{what}: {told}")


def _section(part: Part, results: Results, left_out: list[str]) -> Section:
    section = Section(part.title)
    section.text = _text(part.text, results, f"the text of “{part.title}”", left_out)
    if part.rows:
        section.rows = _kept(_call_on(part.rows, results), f"rows of “{part.title}”", left_out)
    if part.drawings:
        section.drawings = _kept(_call_on(part.drawings, results), f"figures of “{part.title}”", left_out)
    if part.tables:
        try:
            section.tables = dict(part.tables(results))
        except Unfinished as missing:
            left_out.append(f"tables of “{part.title}”: {missing}")
    return section


def _call_on(make: Callable[[Results], Iterable[Any]], results: Results) -> Iterator[Any]:
    # A generator, so that a function that returns a list is guarded like one that yields.
    yield from make(results)


def _kept(made: Iterable[Any], what: str, left_out: list[str]) -> list[Any]:
    kept = []
    try:
        for one in made:
            kept.append(one)
    except Unfinished as missing:
        left_out.append(f"{what}: {missing}")
    return kept


def _text(text: Callable[[Results], str] | str, results: Results, what: str, left_out: list[str]) -> str:
    if isinstance(text, str):
        return text
    try:
        return text(results)
    except Unfinished as missing:
        left_out.append(f"{what}: {missing}")
        return ""
