"""A study's answer as JSON (docs/studies.md, docs/study.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit_studies import cells, paper
from rexmit_studies.grades import counted

if TYPE_CHECKING:
    from rexmit.stats import Test
    from rexmit_studies.run import Outcome
    from rexmit_studies.study import Row, Statement, Together
    from rexmit_studies.verdict import Judged

FORMAT = 1


def answer(outcomes: Sequence[Outcome], several: bool) -> dict[str, Any]:
    """One study's answer, or `studies`, a list of such."""
    found = [one(outcome) for outcome in outcomes]
    return {"rexmit": _core.__version__, "format": FORMAT, "studies": found} if several else found[0]


def one(outcome: Outcome) -> dict[str, Any]:
    """The answer of one study."""
    return {
        "rexmit": _core.__version__,
        "format": FORMAT,
        "study": outcome.study.name,
        "title": outcome.study.title,
        "quick": outcome.quick,
        "factor": outcome.factor,
        "own": list(outcome.own.origin),
        "replications": outcome.replications,
        "seconds": round(outcome.seconds, 3),
        "grades": counted(outcome.rows),
        "rows": [row(one) | _depends(outcome, one.key) for one in outcome.rows],
        "together": [_together(group) for group in outcome.together],
        "statements": [statement(one) | _depends(outcome, one.key) for one in outcome.statements],
        "claims": [claim(judged) | _depends(outcome, judged.claim.key) for judged in outcome.claims],
        "left_out": outcome.left_out,
        "failures": outcome.failures,
    }


def _depends(outcome: Outcome, key: str) -> dict[str, bool | None]:
    return {"depends": outcome.own.depends(key)}


def row(row: Row) -> dict[str, Any]:
    """A figure."""
    return {
        "key": row.key,
        "definition": row.definition,
        "unit": row.unit or None,
        "paper": cells.plain(row.paper),
        "printed": paper.printed(row.key).text,
        "rexmit": cells.plain(row.rexmit),
        "ratio": cells.plain(cells.ratio_of(row)),
        "interval": cells.plain(row.interval),
        "mean_interval": cells.estimate(row.mean),
        "n": row.n,
        "grade": row.grade,
        "share": cells.plain(row.share),
        "reproduced": bool(row.reproduced),
        "why": row.why or None,
    }


def _together(group: Together) -> dict[str, Any]:
    return {
        "name": group.name,
        "rows": list(group.keys),
        "n": group.n,
        "share": group.share,
        "p_corrected": cells.plain(group.p),
        "reproduced": group.reproduced,
    }


def statement(one: Statement) -> dict[str, Any]:
    """What the paper says of a figure."""
    said = paper.statements(one.key.partition(".")[0])[one.key]
    return {
        "key": one.key,
        "figure": said.figure,
        "statement": said.text,
        "found": one.found,
        "agrees": one.agrees,
        "scripted": one.scripted,
        "rows": list(one.rows),
        "drawing": one.drawing or None,
    }


def claim(judged: Judged) -> dict[str, Any]:
    """A claim with its tests."""
    claim = judged.claim
    return {
        "key": claim.key,
        "claim": paper.claims(claim.key.partition(".")[0])[claim.key],
        "quote": paper.quote(claim.key),
        **_verdict(judged),
        "beside": None if judged.beside is None else _verdict(judged.beside),
    }


def _verdict(judged: Judged) -> dict[str, Any]:
    """What one reading of a claim comes to."""
    claim, deciding = judged.claim, judged.deciding
    return {
        "verdict": judged.verdict,
        "effect": None if deciding is None else cells.plain(deciding.effect),
        "unit": None if deciding is None else deciding.unit or None,
        "interval": None if deciding is None else cells.plain(deciding.interval),
        "n": None if deciding is None else deciding.n,
        "evidence": claim.evidence,
        "effect_text": claim.effect or (cells.effect(deciding) if deciding else None),
        "reading": claim.reading or None,
        "tests": [_test(test, p) for test, p in zip(claim.tests, judged.p, strict=True)],
    }


def _test(test: Test, corrected: float) -> dict[str, Any]:
    return {
        "what": test.what,
        "effect": cells.plain(test.effect),
        "unit": test.unit or None,
        "interval": cells.plain(test.interval),
        "margin": test.margin,
        "n": test.n,
        "p": cells.plain(test.p),
        "p_corrected": cells.plain(corrected),
    }
