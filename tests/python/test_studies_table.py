"""The table of a hundred items in docs/studies.md: its counts, its keys, and what it says of the pages."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from rexmit_studies import names, paper

DOCS = Path(__file__).parents[2] / "docs"
#: Items of each paper in the review's order.
ITEMS = {"interruption": 31, "rto": 19, "ns3": 14, "wireless": 16, "selfsimilar": 20}
#: At most so many may be not right.
MOST = 15
LINE = re.compile(r"\| (\d+) \| `(\w+)` (\d+) \| (.+?) \| (right|\*\*not right\*\*) \| (.+) \|")
KEY = re.compile(r"`((?:statement|claim|setup|equipment|episode|sections|formula)\.[\w.*]+)`")
#: A key and what the row says of it.
SAID = re.compile(
    r"`((?:statement|claim)\.\w+)`:? (≠|=|sometimes|holds|fails|not decided)"
    r"|`(claim\.\w+)` holds, `(claim\.\w+)` fails"
)


def items() -> list[tuple[int, str, int, bool, str]]:
    """Number, study, its number there, whether it is right, and where or why not."""
    text = (DOCS / "studies.md").read_text(encoding="utf-8")
    return [
        (int(n), study, int(own), right == "right", where)
        for n, study, own, _, right, where in LINE.findall(text)
    ]


def test_there_is_a_row_for_each_item_and_the_text_counts_them() -> None:
    found = items()
    assert [n for n, *_ in found] == list(range(1, 101))
    assert [(study, own) for _, study, own, *_ in found] == [
        (study, k) for study, n in ITEMS.items() for k in range(1, n + 1)
    ]
    right = sum(one for *_, one, _ in found)
    assert 100 - right <= MOST
    said = f"{right} are right\nhere, {100 - right} are not, with the reason."
    assert said in (DOCS / "studies.md").read_text(encoding="utf-8")
    changes = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"{right} are right, {100 - right} have their reason" in changes


def test_each_key_that_a_row_names_is_one_of_its_study() -> None:
    known = {name: [*paper.figures(name), *paper.statements(name), *paper.claims(name)] for name in names()}
    wrong = [
        (n, key)
        for n, study, *_, where in items()
        for key in KEY.findall(where)
        if not any(fnmatchcase(one, f"{study}.{key}") for one in known[study])
    ]
    assert wrong == []


@pytest.mark.parametrize("study", ITEMS)
def test_what_a_row_says_of_a_statement_or_a_claim_is_on_the_page(study: str) -> None:
    page = (DOCS / "studies" / f"{study}.md").read_text(encoding="utf-8")
    statements, claims = paper.statements(study), paper.claims(study)
    wrong = []
    for n, name, *_, where in items():
        if name != study:
            continue
        for key, mark, *both in SAID.findall(where):
            each = [(key, mark)] if key else list(zip(both, ("holds", "fails"), strict=True))
            for short, said in each:
                whole = f"{study}.{short}"
                if short.startswith("claim"):
                    line = f"| {claims[whole]} | **{said}**"
                    ok = line in page
                else:
                    (row,) = [one for one in page.splitlines() if f"| {statements[whole].text} |" in one]
                    ok = "(sometimes: " in row if said == "sometimes" else row.endswith(f"| {said} |")
                wrong += [] if ok else [(n, short, said)]
    assert wrong == []
