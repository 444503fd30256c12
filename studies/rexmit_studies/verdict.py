"""Verdicts: each claim holds, fails, or is not decided, corrected for everything a study tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rexmit.stats import holm

if TYPE_CHECKING:
    from rexmit.stats import Test
    from rexmit_studies.study import Claim, Verdict


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict. p: of each of its tests, corrected. deciding: what the verdict hangs on.
    beside: the same claim by another reading.
    """

    claim: Claim
    verdict: Verdict
    p: tuple[float, ...]
    deciding: Test | None
    beside: Judged | None = None

    @property
    def told(self) -> str:
        """`fails; by another reading: holds`."""
        return f"{self.verdict}; by another reading: {self.beside.verdict}" if self.beside else self.verdict


def judge(claims: Iterable[Claim]) -> list[Judged]:
    """Judges the claims of one study together: Holm's correction is over all their tests.

    A claim holds if every test of it speaks for it, and fails if one speaks against it (rexmit.stats.Test);
    otherwise it is not decided. A claim without tests has its verdict `settled`.
    """
    claims = list(claims)
    corrected = iter(holm([test.p for claim in claims for one in _readings(claim) for test in one.tests]))
    found = []
    for claim in claims:
        first, *others = (_judged(one, tuple(next(corrected) for _ in one.tests)) for one in _readings(claim))
        found.append(replace(first, beside=others[0] if others else None))
    return found


def _readings(claim: Claim) -> list[Claim]:
    return [claim, claim.beside] if claim.beside else [claim]


def _judged(claim: Claim, ps: Sequence[float]) -> Judged:
    if claim.settled is not None and not claim.tests:
        return Judged(claim, claim.settled, (), None)
    signs = [test.speaks(p) for test, p in zip(claim.tests, ps, strict=True)]
    by_strength = sorted(range(len(ps)), key=lambda k: ps[k])
    against = [k for k in by_strength if signs[k] < 0]
    # The strongest against it; or else the weakest for it, since all must speak for it.
    deciding = claim.tests[against[0] if against else by_strength[-1]]
    verdict: Verdict = "fails" if against else "holds" if all(s > 0 for s in signs) else "not decided"
    return Judged(claim, verdict, tuple(ps), deciding)
