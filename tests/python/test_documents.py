"""Every command and snippet of README.md and docs/*.md runs on a plain install (validation/documents.py).

Commands of the live bench are run by `make documents`, which takes longer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import documents  # noqa: E402
import plain_environment  # noqa: E402

FACTS = documents.facts()
ELSEWHERE: set[str] = set()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plain_environment.make(tmp_path_factory.mktemp("plain") / "venv")


@pytest.mark.slow
@pytest.mark.parametrize("document", documents.documents())
def test_what_a_document_shows_runs(document: str, environment: Path, tmp_path: Path) -> None:
    said = documents.check(document, ["quick", "studies"], environment, tmp_path, FACTS, ELSEWHERE)
    assert not said.failed, "\n".join(said.failed)


def test_nothing_is_named_that_no_document_has() -> None:
    assert documents.stale(FACTS) == []


def test_all_five_studies_are_run_at_full_size() -> None:
    found = [
        piece
        for name in documents.documents()
        for piece in documents.pieces(name, (ROOT / name).read_text(encoding="utf-8"), FACTS)
        if piece.code == "rexmit study run all --out studies/"
    ]
    assert found
    entry = documents.entry_of(found[0], FACTS)
    assert entry is not None
    assert "apart" not in entry
    assert "instead" not in entry


def checked(text: str, environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the check says of a document of these words."""
    monkeypatch.setattr(documents, "ROOT", ROOT)
    page = tmp_path / "page.md"
    page.write_text(text)
    return documents.check(str(page), ["quick"], environment, tmp_path / "work", FACTS, set())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("```\nrexmit analyze nowhere.pcap      an answer\n```\n", "nowhere.pcap: no such file"),
        ("```\n$ rexmit analyse slow.pcapng\nits answer\n```\n", "exit code 2"),
        ("```python\nimport pandas\n```\n", "No module named 'pandas'"),
        ("```python\nx = 1\n```\nthen\n```python\nassert x == 2\n```\n", "page.md:6"),
    ],
)
def test_what_does_not_run_is_a_failure(
    text: str, told: str, environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = checked(text, environment, tmp_path, monkeypatch)
    assert len(said.failed) == 1
    assert told in said.failed[0]


@pytest.mark.parametrize(
    "text", ["```\niperf3 -s\n```\n", "```bash\nls\n```\n", "words\n\n    rexmit analyze x.pcap\n"]
)
def test_a_block_that_may_be_anything_is_a_failure(
    text: str, environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"page\.md:\d"):
        checked(text, environment, tmp_path, monkeypatch)


def test_an_entry_that_no_document_has_is_found() -> None:
    facts = FACTS | {"command": [*FACTS["command"], {"is": "rexmit nothing", "apart": "gone"}]}
    assert documents.stale(facts) == ["rexmit nothing"]
