"""The one shape of a study: what it runs, the paper's figures beside rexmit's, its drawings, its claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from rexmit.report.grades import Grade
from rexmit.stats import COVERAGE
from rexmit_studies import own
from rexmit_studies.grades import REPRODUCED

if TYPE_CHECKING:
    from pathlib import Path

    from rexmit.figures import Figure
    from rexmit.running.many_runs import Runs
    from rexmit.running.one_run import AnyTable
    from rexmit.scenario import Source
    from rexmit.stats import Estimate, Test
    from rexmit_studies.axes import Axis

Value = float | int | str | tuple[float, ...] | tuple[str, ...]
Verdict = Literal["holds", "fails", "not decided"]
#: Runs that are reduced together, about: enough for many cores, and their tables fit anywhere.
REDUCED_RUNS = 16


@dataclass(frozen=True)
class Study:
    """A paper's experiment.

    name: as the user types it.  title, source: the paper's, for the page.  about: one line for the list.
    plan: declares what is run. parts: the sections of the page, in the paper's order. claims: the paper's
    claims, judged on what was run.
    """

    name: str
    title: str
    source: str
    about: str
    plan: Callable[[Plan], None]
    parts: Sequence[Part]
    claims: Callable[[Results], Iterable[Claim | Missing]]
    #: Sentences (Markdown) that open the page: what was asked, what is set how, what came out.
    introduction: Callable[[Results], str] | str = ""
    #: The file of the paper's figures, beside the module; needed outside the package only.
    facts: str = ""
    #: The file it was loaded from, if it is none of the package's.
    origin: str = ""
    #: What it compares: a setting of one's own at these keys would make all alike.
    compares: Sequence[str] = ()
    #: The key of the schedule that one's own outages replace, if it has any.
    outages: str = ""
    #: Its parameters: what a user may set, and what depends on each.
    axes: Sequence[Axis] = ()
    #: What goes with a user's values of axes: raises ValueError where they contradict each other.
    checked: Callable[[Mapping[str, Any]], None] | None = None
    #: What it says of a capture of one's own (at the sender or the receiver, or at both), in place of the
    #: paper's.
    of_capture: Callable[[Sequence[Path]], Study] | None = None


@dataclass(frozen=True)
class Part:
    """A section of a study's page: a table of the paper, a few of its figures, or both.

    text: what is seen and how to read it (Markdown).  rows: the paper's figures beside rexmit's.  drawings:
    figures of its own, the paper's among them.  tables: data of its own, name -> columns -> values or an
    Arrow table, shown where short (at most 40 rows) and always written by `--out`.  statements: what the
    paper says of its figures, held against ours.
    """

    title: str
    rows: Callable[[Results], Iterable[Row | Missing]] | None = None
    drawings: Callable[[Results], Iterable[Drawing]] | None = None
    tables: Callable[[Results], Mapping[str, Any]] | None = None
    text: Callable[[Results], str] | str = ""
    statements: Callable[[Results], Iterable[Statement | Missing]] | None = None
    #: A sentence on what came out with the user's values of axes, where no figure of the paper has it.
    yours: Callable[[Results], str] | None = None


@dataclass(frozen=True)
class Missing:
    """A figure or a statement of the paper that has no counterpart with the user's values. why: a phrase."""

    key: str
    why: str


@dataclass(frozen=True)
class Row:
    """One figure of the paper beside rexmit's.

    key: as `rexmit_studies.paper.figures(NAME)` has it. definition: what exactly was computed, a phrase.
    interval: where 95% of single runs lie if the runs are random, since a paper's figure is one run.  mean:
    the mean with its own 95% interval. n: runs behind it. grade: how the two stand to each other. share: of
    the runs those at least as far from the mean as the paper's figure, on its side. why: if not reproduced,
    the reason that the evidence supports: one sentence. together: what it is judged together with; its runs
    are `values`, in the order of the seeds.
    """

    key: str
    definition: str
    paper: Value
    rexmit: Value | None
    grade: Grade
    why: str = ""
    unit: str = ""
    interval: tuple[float, float] | None = None
    mean: Estimate | None = None
    n: int = 1
    share: float | None = None
    together: str = ""
    values: tuple[float, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        mine = own.current()
        if self.grade == "no" and mine.depends(self.key):
            object.__setattr__(self, "why", f"not the paper's values, but yours ({mine.said_axes()})")
        if self.grade == "no" and mine and ((mine.pairs and not mine.capture) or not self.why):
            # Whether it depends on them is not known; a reason that is given is of the paper's settings.
            object.__setattr__(self, "why", "not the paper's settings, but yours")
        if self.grade == "no" and not self.why:
            raise ValueError(f"{self.key} is not reproduced, and no reason is given")

    @property
    def reproduced(self) -> bool:
        """Whether it came out of a simulation or a capture that nobody had told it to."""
        return self.grade in REPRODUCED

    def refused(self, why: str) -> Row:
        """The same figure where something else contradicts it."""
        return replace(self, grade="no", why=why)


@dataclass(frozen=True)
class Statement:
    """What the paper's text or caption says of one of its figures, judged on the data of ours.

    key: as `rexmit_studies.paper.statements(NAME)` has it. found: what ours shows, with its figures. agrees:
    None: it cannot be told from what was run. rows: keys of rows that cannot stand if it does not agree.
    drawing: our figure, by its name. scripted: the run was told to show it, so that it counts in no sum.
    """

    key: str
    found: str
    agrees: bool | None
    rows: Sequence[str] = ()
    drawing: str = ""
    scripted: bool = False

    def __post_init__(self) -> None:
        # numpy's truth is another than Python's.
        object.__setattr__(self, "agrees", None if self.agrees is None else bool(self.agrees))


@dataclass(frozen=True)
class Together:
    """Rows that one run has to give all at once. share: of the runs those at least as far from the others as
    the paper is, over all rows that stand alone; None: too few runs to say. p: that the paper's is one of the
    runs, corrected with Holm's method for all groups of the study. least: the smallest p that so many runs
    can give, corrected for all groups.
    """

    name: str
    keys: tuple[str, ...]
    n: int
    share: float | None
    p: float | None = None
    least: float | None = None

    @property
    def reproduced(self) -> bool | None:
        """Whether they stand together too, at 95%; None: the runs are too few to refuse any."""
        if self.p is None or self.least is None:
            return None
        if self.p <= 1 - COVERAGE:
            return False
        return True if self.least <= 1 - COVERAGE else None


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and what its tests say.

    key: as in the paper's figures, with `claim.` in it. tests: what was tested, each with its effect, signed
    so that a positive one speaks for the claim (rexmit.stats). The verdict follows from them after Holm's
    correction over all tests of the study; a claim about one exact trace has none and gives `settled`.
    evidence: one sentence with its figures. reading: which reading of ambiguous parameters it was judged on.
    beside: the same claim by another reading, where the paper can be read in two ways: both verdicts stand
    side by side.
    """

    key: str
    evidence: str
    tests: Sequence[Test] = ()
    settled: Verdict | None = None
    effect: str = ""
    reading: str = ""
    beside: Claim | None = None

    def __post_init__(self) -> None:
        if not self.tests and self.settled is None:
            raise ValueError(f"{self.key} has neither a test nor a settled verdict")


@dataclass(frozen=True)
class Drawing:
    """A figure of the page, drawn when it is wanted. `name` is its file's stem; `caption` says what is seen,
    and which figure of the paper it answers.
    """

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass
class Plan:
    """What a study runs. `quick` asks for the fewest runs that still exercise everything."""

    quick: bool = False
    #: Times as many runs as the study's own number (`--replications`).
    factor: float = 1.0
    batches: dict[str, Batch] = field(default_factory=dict)
    #: Batches that vary by themselves what the user sets: name -> the key.
    varied: dict[str, str] = field(default_factory=dict)

    def seeds(self, usual: int, quick: int = 4) -> range:
        """Seeds 1 to n: n is `usual` times the factor, or `quick`."""
        return range(1, 1 + (quick if self.quick else max(2, round(usual * self.factor))))

    def runs(
        self,
        name: str,
        scenario: Source | Sequence[Source],
        seeds: Iterable[int] | None = None,
        tables: Sequence[AnyTable] = (),
        reduce: Callable[[Runs], Any] | None = None,
        keeps: Sequence[str] = (),
        **options: Any,
    ) -> None:
        """`rexmit.runs(scenario, seeds, tables=…)`, whose answer is `results[name]`.

        keeps: axes that these runs vary themselves, by a scenario of their own.

        reduce: what is wanted of tables that are too large to keep. It is asked of a few seeds at a time, in
        order, and `results[name]` is the list of what it gave: their tables are let go.
        """
        if own.current():
            from rexmit.scenario import Scenario

            several = isinstance(scenario, Sequence) and not isinstance(scenario, str)
            listed: Sequence[Any] = scenario if several else [scenario]  # type: ignore[assignment]
            scenarios = [Scenario.of(one) for one in listed]
            if key := own.varied(scenarios):
                self.varied[name] = key
                return
            scenario = [own.applied(one, keeps) for one in scenarios]
        self._add(
            name, Batch(scenario, None if seeds is None else list(seeds), tuple(tables), options, reduce)
        )

    def call(self, name: str, compute: Callable[[], Any], worth: float = 1.0) -> None:
        """Anything else, in its own thread: its value is `results[name]`. worth: about how long, s."""
        self._add(name, Batch(call=compute, worth=worth))

    def _add(self, name: str, batch: Batch) -> None:
        if name in self.batches:
            raise ValueError(f"two batches are called {name}")
        self.batches[name] = batch


@dataclass(frozen=True)
class Batch:
    """One entry of a plan: runs of scenarios with seeds, or a call."""

    scenario: Any = None
    seeds: list[int] | None = None
    tables: tuple[AnyTable, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    reduce: Callable[[Runs], Any] | None = None
    call: Callable[[], Any] | None = None
    worth: float = 0.0

    @property
    def variants(self) -> int:
        """How many scenarios it runs."""
        several = isinstance(self.scenario, Sequence) and not isinstance(self.scenario, str)
        return len(self.scenario) if several else 1

    @property
    def runs(self) -> int:
        """How many runs it has."""
        if self.call is not None:
            return 0
        return self.variants * (1 if self.seeds is None else len(self.seeds))

    def parts(self) -> list[list[int] | None]:
        """The seeds that are run at a time: all, or as many as are reduced together."""
        if self.reduce is None or not self.seeds:
            return [self.seeds]
        most = max(1, REDUCED_RUNS // self.variants)
        return [self.seeds[at : at + most] for at in range(0, len(self.seeds), most)]


class Unfinished(KeyError):
    """A batch was asked for that was stopped, or that failed, before it was done; or that has to vary what
    the user set.
    """

    def __str__(self) -> str:
        name, *varied = self.args
        if varied:
            return f"the runs “{name}” vary {varied[0]} themselves"
        return f"the runs “{name}” were not finished"


class Results(dict[str, Any]):
    """What a plan's batches gave, by name: `Runs`, or what a call returned. Also says `quick`.

    Asking for one that was not finished raises Unfinished: what needs it is left out of the study.
    """

    quick: bool = False
    #: Batches left out because they vary what the user set: name -> the key.
    varied: Mapping[str, str] = MappingProxyType({})

    def __missing__(self, name: str) -> Any:
        raise Unfinished(name, *filter(None, [self.varied.get(name)]))
