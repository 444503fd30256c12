"""Runs studies: every batch of every plan on all cores, and what follows from them as soon as it can."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from rexmit.screen.notebook import Shown
from rexmit_studies import paper
from rexmit_studies.grades import counted
from rexmit_studies.own import CURRENT, Own
from rexmit_studies.progress import Watch
from rexmit_studies.shared import Shared
from rexmit_studies.study import (
    Claim,
    Drawing,
    Missing,
    Part,
    Plan,
    Results,
    Row,
    Statement,
    Study,
    Together,
    Unfinished,
)
from rexmit_studies.together import contradicted, together
from rexmit_studies.verdict import Judged, judge
from rexmit_studies.warm import warm

if TYPE_CHECKING:
    from rexmit.running.many_runs import Progress


@dataclass
class Section:
    """What became of a part of a study: its text, rows, drawings and tables."""

    title: str
    text: str = ""
    rows: list[Row] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    #: Keys of rows and statements that do not depend on what the user set: they belong to the paper's value.
    papers: list[str] = field(default_factory=list)

    def named(self) -> list[str]:
        """Of its rows and statements."""
        return [row.key for row in self.rows] + [one.key for one in self.statements]


@dataclass(repr=False)
class Outcome(Shown):
    """A study that was run. seconds: what its batches and its reading took. left_out: what could not be said
    because a batch was stopped. failures: batches, runs and parts that could not go on; traces: where each
    exception behind a failure came from.
    """

    study: Study
    quick: bool
    factor: float
    own: Own = field(default_factory=Own)
    replications: int = 0
    seconds: float = 0.0
    introduction: str = ""
    sections: list[Section] = field(default_factory=list)
    claims: list[Judged] = field(default_factory=list)
    together: list[Together] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)

    def page(self) -> str:
        """The answer as `rexmit study run` prints it."""
        from rexmit_studies import terminal

        return "\n".join(terminal.page(self))

    def _line(self) -> str:
        verdicts = ", ".join(judged.verdict for judged in self.claims)
        counts = ", ".join(f"{n} {grade}" for grade, n in counted(self.rows).items())
        return f"study {self.study.name}: {len(self.rows)} figures: {counts}; claims: {verdicts}"

    @contextmanager
    def spared(self, what: str) -> Iterator[None]:
        """What goes wrong inside costs `what` and nothing else: the outcome says so."""
        try:
            yield
        except Unfinished as missing:
            self.left_out.append(f"{what}: {missing}")
        except (IndexError, KeyError, ValueError, StopIteration, RuntimeError) as error:
            if not self.own:
                return self.fail(what, error)
            # What the paper tells of its run need not be there in another. An error of a lookup says nothing.
            said = "" if isinstance(error, LookupError) else " ".join(str(error).split())
            self.left_out.append(f"{what}: {said or 'does not come about here'}")
        except Exception as error:
            self.fail(what, error)

    def lacks(self, missing: Missing) -> None:
        """A figure of the paper without a counterpart is left out by its name."""
        self.left_out.append(f"{missing.key}: {missing.why}")

    def fail(self, what: str, error: Exception) -> None:
        """A sentence for the answer; the trace for whoever asks for it (REXMIT_TRACE)."""
        self.failures.append(f"{what}: {type(error).__name__}: {' '.join(str(error).split())}")
        self.traces.append("".join(format_exception(error)))

    @property
    def rows(self) -> list[Row]:
        """The rows of all sections."""
        return [row for section in self.sections for row in section.rows]

    @property
    def statements(self) -> list[Statement]:
        """What the paper says of its figures, of all sections."""
        return [one for section in self.sections for one in section.statements]

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
    own: Own | None = None,
    into: Path | None = None,
) -> Iterator[Outcome]:
    """Runs studies one after another and yields what came out of each.

    own: settings and outages of one's own, in place of the study's.  quick: the fewest runs that still
    exercise everything. factor: times as many runs. then: what else is to be done with each outcome (writing
    it). into: a folder that keeps the runs while they are made: the same call goes on with them. The next
    study's runs begin while the last one's are looked at. When `watch` is stopped (Ctrl-C),
    what is done is kept; what needs a batch that was not finished is left out, and `left_out` says so.
    """
    own = own or Own()
    jobs = [(study, own) for study in studies]
    return run_each(jobs, quick=quick, factor=factor, watch=watch, then=then, into=into)


def run_each(
    jobs: Sequence[tuple[Study, Own]],
    *,
    quick: bool = False,
    factor: float = 1.0,
    watch: Watch | None = None,
    then: Callable[[Outcome], None] | None = None,
    into: Path | None = None,
) -> Iterator[Outcome]:
    """The same for studies each of which has its own numbers. A batch of runs that several have alike (the
    same scenarios, seeds and tables) is made once.
    """
    watch = watch or Watch()
    # Whatever is declared, called or read of a study, in whatever thread, finds its numbers there.
    contexts = [copy_context() for _ in jobs]
    for context, (_, own) in zip(contexts, jobs, strict=True):
        context.run(CURRENT.set, own)
    plans = [
        context.run(_planned, study, quick, factor)
        for context, (study, _) in zip(contexts, jobs, strict=True)
    ]
    for own in {id(own): own for _, own in jobs}.values():
        if own and not own.capture:
            met = [plan for plan, (_, its) in zip(plans, jobs, strict=True) if its is own]
            _refuse_unmet(own, met)
    shared = Shared(plans)
    labels = _labels(jobs)
    watch.expect({label: shared.made_by(k) for k, label in enumerate(labels)})
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(1) as reader, _calling(cores, watch) as pool:
        reader.submit(warm, lambda: watch.stopped, then is not None)
        calls = [
            _begin(plan, pool, watch, context) for plan, context in zip(plans[:1], contexts, strict=False)
        ]
        readings: list[Future[Outcome]] = []
        for k, ((study, own), plan) in enumerate(zip(jobs, plans, strict=True)):
            results, outcome = Results(), Outcome(study, quick, factor, own)
            results.quick, results.varied = quick, plan.varied
            shared.give(k, results)
            _runs(labels[k], plan, results, outcome, watch, into)
            shared.keep(k, results)
            # Calls of the next study fill the time in which the last ones of this are waited for.
            if k + 1 < len(plans):
                calls.append(_begin(plans[k + 1], pool, watch, contexts[k + 1]))
            _collect(labels[k], calls[k], results, outcome, watch)
            readings.append(reader.submit(contexts[k].copy().run, _read, study, results, outcome, then))
            while readings and readings[0].done():
                yield readings.pop(0).result()
        for reading in readings:
            watch.wait(reading)
            yield reading.result()


def _labels(jobs: Sequence[tuple[Study, Own]]) -> list[str]:
    """What the bar calls each: the study's name, and its own values where a study runs several times."""
    names = [study.name for study, _ in jobs]
    return [
        name if names.count(name) == 1 else f"{name}, {own.said_axes() or 'the paper'}"
        for name, (_, own) in zip(names, jobs, strict=True)
    ]


@contextmanager
def _calling(threads: int, watch: Watch) -> Iterator[ThreadPoolExecutor]:
    """Threads for calls. Once stopped, nobody waits for a call that has begun."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool
    finally:
        pool.shutdown(wait=not watch.stopped, cancel_futures=True)


def _planned(study: Study, quick: bool, factor: float) -> Plan:
    plan = Plan(quick=quick, factor=factor)
    study.plan(plan)
    return plan


def _refuse_unmet(own: Own, plans: Sequence[Plan]) -> None:
    """Raises ValueError for a setting that no scenario of a study knows, or that all vary themselves."""
    for key, value in own.pairs:
        if key in own.met:
            continue
        by = next((name for plan in plans for name, varied in plan.varied.items() if varied == key), None)
        if by:
            raise ValueError(f"--set {key}={value}: the study varies it by itself, in its runs “{by}”")
        raise ValueError(f"--set {key}={value}: {_why_unmet(key, value, plans)}")


def _why_unmet(key: str, value: str, plans: Sequence[Plan]) -> str:
    """What the first scenario that was asked says."""
    from rexmit import _core
    from rexmit.scenario import Scenario

    for plan in plans:
        for batch in plan.batches.values():
            if batch.call is None:
                several = isinstance(batch.scenario, Sequence) and not isinstance(batch.scenario, str)
                first = Scenario.of(batch.scenario[0] if several else batch.scenario)
                try:
                    first.with_({key: value}).to_toml()
                except _core.ScenarioError as error:
                    return str(error).splitlines()[0].partition(": ")[2] or str(error)
    return "no scenario of the study has it"


def _begin(plan: Plan, pool: ThreadPoolExecutor, watch: Watch, context: Context) -> dict[str, Future[Any]]:
    return {
        name: pool.submit(context.copy().run, _call, batch.call, watch)
        for name, batch in plan.batches.items()
        if batch.call is not None
    }


def _call(compute: Callable[[], Any], watch: Watch) -> tuple[Any, float]:
    if watch.stopped:
        raise Unfinished("stopped")
    began = time.monotonic()
    return compute(), time.monotonic() - began


def _runs(
    label: str, plan: Plan, results: Results, outcome: Outcome, watch: Watch, into: Path | None
) -> None:
    """The batches of runs, each on all cores."""
    from rexmit.running.many_runs import runs

    for name, batch in plan.batches.items():
        if batch.call is not None or name in results or watch.stopped:
            continue
        began = time.monotonic()
        with watch.batch(label, name) as progress:
            more: dict[str, Any] = {"into": into, **batch.options}
            if batch.tables:
                more["tables"] = batch.tables
            reduced: list[Any] = []
            before, all_done = 0, True
            for seeds in batch.parts():
                done = None
                with outcome.spared(name):
                    done = runs(batch.scenario, seeds, progress=_from(before, batch.runs, progress), **more)
                if done is None or done.interrupted:
                    before += 0 if done is None else len(done)
                    all_done = False
                    break
                before += len(done)
                if done.failure:
                    outcome.failures.append(f"{name}: {done.failure}")
                if batch.reduce is None:
                    results[name] = done
                    continue
                with outcome.spared(name):
                    reduced.append(batch.reduce(done))
        outcome.seconds += time.monotonic() - began
        outcome.replications += before
        if batch.reduce is not None and all_done and len(reduced) == len(batch.parts()):
            results[name] = reduced


def _from(before: int, runs: int, progress: Progress) -> Progress:
    """The progress of some runs of a batch of which others are done."""
    return lambda done, _, packets: progress(before + done, runs, packets)


def _collect(
    label: str, calls: dict[str, Future[Any]], results: Results, outcome: Outcome, watch: Watch
) -> None:
    """What the calls gave. One that fails costs what needs it, nothing else."""
    for name, future in calls.items():
        with watch.batch(label, name):
            watch.wait(future)
        if watch.stopped and not future.done():
            continue
        with outcome.spared(name):
            try:
                results[name], took = future.result()
            except Unfinished:
                continue
            outcome.seconds += took


def _read(
    study: Study, results: Results, outcome: Outcome, then: Callable[[Outcome], None] | None
) -> Outcome:
    """Rows, tables, texts and verdicts from results, and `then`. A fault costs this study only."""
    began = time.monotonic()
    read(study, results, outcome)
    outcome.seconds += time.monotonic() - began
    if then:
        try:
            then(outcome)
        except OSError:
            # A disk that is full is full for the next study too.
            raise
        except Exception as error:
            outcome.fail("writing it", error)
    return outcome


def read(study: Study, results: Results, outcome: Outcome) -> None:
    """Fills an outcome from results; drawings are only declared. A part that fails costs that part."""
    # Texts say what the paper's values show.
    if not outcome.own.changes:
        with outcome.spared("the introduction"):
            outcome.introduction = _text(study.introduction, results)
    outcome.sections = [_section(part, results, outcome) for part in study.parts]
    with outcome.spared("what contradicts what"):
        statements = outcome.statements
        outcome.together = together(outcome.rows)
        for section in outcome.sections:
            # A statement that is judged on the user's values says nothing of a figure of theirs.
            section.rows = [
                row if outcome.own.depends(row.key) else contradicted(row, outcome.together, statements)
                for row in section.rows
            ]
    claims: list[Claim] = []
    with outcome.spared("claims"):
        known = paper.claims(study.name)
        for claim in study.claims(results):
            if claim.key not in known:
                raise ValueError(f"{claim.key} is no claim of the paper: {', '.join(known)}")
            if isinstance(claim, Missing):
                outcome.lacks(claim)
            else:
                claims.append(claim)
    outcome.claims = judge(claims)


def _section(part: Part, results: Results, outcome: Outcome) -> Section:
    section = Section(part.title)
    if not outcome.own.changes:
        with outcome.spared(f"the text of “{part.title}”"):
            section.text = _text(part.text, results)
    elif part.yours:
        with outcome.spared(f"what “{part.title}” says of your values"):
            section.text = part.yours(results)
    # One by one, so that what came before a fault is kept.
    if part.rows:
        with outcome.spared(f"rows of “{part.title}”"):
            for row in part.rows(results):
                if not row.key.startswith(f"{outcome.study.name}."):
                    raise ValueError(f"{row.key} is no figure of {outcome.study.name}")
                if isinstance(row, Missing):
                    outcome.lacks(row)
                else:
                    section.rows.append(row)
    if part.statements:
        known = paper.statements(outcome.study.name)
        with outcome.spared(f"statements of “{part.title}”"):
            for statement in part.statements(results):
                if statement.key not in known:
                    raise ValueError(f"{statement.key} is no statement of the paper: {', '.join(known)}")
                if isinstance(statement, Missing):
                    outcome.lacks(statement)
                else:
                    section.statements.append(statement)
    if part.drawings:
        with outcome.spared(f"figures of “{part.title}”"):
            for drawing in part.drawings(results):
                section.drawings.append(_captioned(_with_values(drawing), section, outcome.own))
    if part.tables:
        with outcome.spared(f"tables of “{part.title}”"):
            section.tables = dict(part.tables(results))
    section.papers = [key for key in section.named() if outcome.own.depends(key) is False]
    return section


def _with_values(drawing: Drawing) -> Drawing:
    """The same figure, which finds the user's values whenever and wherever it is drawn."""
    values = copy_context()
    return replace(drawing, draw=lambda: values.copy().run(drawing.draw))


def _captioned(drawing: Drawing, section: Section, own: Own) -> Drawing:
    """A caption says what the paper's values show: with others it says whose words it has."""
    named = section.named()
    if not own.changes or (named and all(own.depends(key) is False for key in named)):
        return drawing
    return replace(
        drawing, caption=f"With {own.said()}. With the paper's values the caption is: {drawing.caption}"
    )


def _text(text: Callable[[Results], str] | str, results: Results) -> str:
    return text if isinstance(text, str) else text(results)
