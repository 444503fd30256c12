"""The removal test: runs a transfer again without a cause, and compares how long it takes.

A cause that owns at least a tenth of the time has to be worth at least half of its seconds. A cause that owns
less than a twentieth has to be worth less than a tenth of the transfer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import rexmit as rx
from situation import evidence, oracle
from situation.causes import CAUSES
from situation.kind import Kind
from situation.kinds import kind_of
from situation.removal import without
from situation.setting import Setting

#: Shares of the owed time from which on a cause is judged as named, and up to which as not named.
NAMED, UNNAMED = 0.10, 0.05
WORTH, WORTHLESS = 0.5, 0.10
#: Owners of the time in which the slowest link is busy. A window that fills a link to 60% leaves it busy for
#: 60% of the time, and a faster link alone saves nothing: both are judged where nothing else holds it.
LINK = frozenset({"bottleneck", "shared-bottleneck"})


@dataclass(frozen=True)
class Check:
    """How much shorter a transfer of `length_s` is without one cause (`saved_s`), and whether that passes."""

    cause: str
    seconds: float
    saved_s: float
    length_s: float
    is_named: bool

    @property
    def passed(self) -> bool:
        if self.is_named:
            return self.saved_s >= WORTH * self.seconds
        return self.saved_s < WORTHLESS * self.length_s

    def __str__(self) -> str:
        had = f"{self.cause} has {self.seconds:.2f} of {self.length_s:.2f} s"
        return f"{had}, and the transfer is {self.saved_s:.2f} s shorter without it"


@dataclass
class Trial:
    kind: Kind
    seed: int
    truth: oracle.Truth
    #: There are none where nothing made the transfer slow.
    checks: list[Check] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def is_as_meant(self) -> bool:
        return self.kind.is_cause_of(self.truth)


def truth(kind: Kind, seed: int) -> oracle.Truth:
    """Runs one transfer, and gives the oracle's answer for it."""
    run = rx.run(kind.drawn(seed).scenario(kind.name, seed), tables=evidence.TABLES)
    return oracle.explain(evidence.read(run))


def named(name: str, seed: int) -> Trial:
    """The trial of a kind by its name."""
    return trial(kind_of(name), seed)


def trial(kind: Kind, seed: int) -> Trial:
    """Runs a transfer, and again without each cause that can be removed from it."""
    setting = kind.drawn(seed)
    told = Trial(kind, seed, truth(kind, seed))
    if told.truth.cause == "nothing":
        return told
    [(_, delivered)] = lengths([setting], kind, seed)
    seconds = {cause: told.truth.seconds.get(cause, 0.0) for cause in CAUSES}
    named = {cause for cause, s in seconds.items() if s >= NAMED * told.truth.owed_s}
    judged = [c for c, s in seconds.items() if c in named or s < UNNAMED * told.truth.owed_s]
    pairs = {cause: _removed(setting, cause, cause in named, delivered) for cause in judged}
    removed = {cause: pair for cause, pair in pairs.items() if pair}
    found = iter(lengths([s for pair in removed.values() for s in pair], kind, seed))
    for cause in removed:
        (long, _), (short, _) = next(found), next(found)
        told.checks.append(Check(cause, seconds[cause], long - short, long, cause in named))
    return told


def _removed(setting: Setting, cause: str, is_named: bool, delivered: int) -> tuple[Setting, Setting] | None:
    """The setting with the cause and without it, or None if it has nothing that makes this cause."""
    before, after = setting, without(setting, cause, delivered)
    if after and cause in LINK and is_named:
        before, after = (_without_all_but_the_link(s, delivered) for s in (before, after))
    return None if after is None or after == before else (before, after)


def _without_all_but_the_link(setting: Setting, delivered: int) -> Setting:
    for cause in CAUSES:
        if cause not in LINK:
            setting = without(setting, cause, delivered) or setting
    return setting


def lengths(settings: list[Setting], kind: Kind, seed: int) -> list[tuple[float, int]]:
    """From the start of `main` to its last byte or the end of the run, and the bytes that it brought."""
    scenarios = [s.scenario(kind.name, seed) for s in settings]
    rows = rx.runs(scenarios, seeds=[seed]).summary.to_arrow().to_pylist()
    found = sorted((r for r in rows if r["flow"] == "main"), key=lambda r: int(r["variant"]))
    ends = [r["last_delivered_s"] if r["ended"] and not r["failed"] else r["run_s"] for r in found]
    bytes_ = [int(r["delivered_bytes"]) for r in found]
    return [(end - s.begins_s, n) for s, end, n in zip(settings, ends, bytes_, strict=True)]
