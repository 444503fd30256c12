"""validation/FIGURES.md: each row says how to measure its figure again, by files and options that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "validation" / "FIGURES.md"
HEAD = ["what", "command", "input", "figure", "date, commit"]
#: A file of the project that a command names, and Cargo's way to name one.
FILES = re.compile(r"\b(?:validation|benches|fuzz|scenarios)/[\w./-]+\.\w+")
TARGETS = re.compile(r"--(example|test) (\w+)")
#: Pages on which a path below one of these folders is a file of the project.
PAGES = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")),
]


def rows(text: str) -> list[dict[str, str]]:
    """The rows of the table, by the names of its head."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    head, _rule, *found = [[cell.strip() for cell in line] for line in lines]
    assert head == HEAD
    return [dict(zip(head, row, strict=True)) for row in found]


def files_of(command: str) -> list[Path]:
    """The files of the project that a command names."""
    targets = [
        ROOT / "crates" / "results" / f"{kind}s" / f"{name}.rs" for kind, name in TARGETS.findall(command)
    ]
    return [*(ROOT / path for path in FILES.findall(command)), *targets]


def wrong_with(command: str) -> list[str]:
    """Why a command cannot be run: no file, a file that is missing, an option that no script has."""
    files = files_of(command)
    found = [f"{command}: {path.relative_to(ROOT)} does not exist" for path in files if not path.exists()]
    if not files:
        return [f"{command}: names no file of the project"]
    script = next((path for path in files if path.suffix == ".py" and path.exists()), None)
    if script:
        text = "".join(path.read_text() for path in script.parent.glob("*.py"))
        options = re.findall(r"\s(--[a-z-]+)", command)
        found += [
            f"{command}: no script beside {script.name} knows {o}" for o in options if f'"{o}"' not in text
        ]
    return found


ROWS = rows(TABLE.read_text())


@pytest.mark.parametrize("row", ROWS, ids=[row["what"] for row in ROWS])
def test_each_figure_has_a_command_that_can_be_run_a_value_and_a_date(row: dict[str, str]) -> None:
    command = re.fullmatch(r"`([^`]+)`", row["command"])
    assert command, row["command"]
    assert wrong_with(command[1]) == []
    assert re.search(r"\d", row["figure"]) or "figures of" in row["figure"], row
    assert re.fullmatch(
        r"\d{1,2} [A-Z][a-z]{2}(, ([0-9a-f]{7,8}|simulated again \d{1,2} [A-Z][a-z]{2}))?",
        row["date, commit"],
    )


def test_no_two_rows_are_of_the_same_thing() -> None:
    named = [row["what"] for row in ROWS]
    assert len(named) == len(set(named))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (".venv/bin/python validation/nothing.py", "validation/nothing.py does not exist"),
        (".venv/bin/python validation/ends.py --stimulated 300", "knows --stimulated"),
        (
            "cargo run -p rexmit-results --example nothing",
            "crates/results/examples/nothing.rs does not exist",
        ),
        ("iperf3 -s", "names no file of the project"),
    ],
)
def test_a_command_that_cannot_be_run_is_found(command: str, said: str) -> None:
    assert len(wrong_with(command)) == 1
    assert said in wrong_with(command)[0]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_below_validation_exists(page: str) -> None:
    named = re.findall(r"\b(?:validation|benches)/[\w./-]*\w", (ROOT / page).read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("folder", ["validation", "benches"])
def test_every_script_is_named_where_somebody_finds_it_or_is_part_of_one_that_is(folder: str) -> None:
    scripts = {path: path.read_text() for path in sorted((ROOT / folder).rglob("*.py"))}
    tests = [path.read_text() for path in (ROOT / "tests" / "python").glob("*.py") if path != Path(__file__)]
    pages = [(ROOT / name).read_text() for name in [*PAGES, "validation/FIGURES.md", "Makefile"]]

    def is_named(path: Path) -> bool:
        imported = re.compile(rf"^\s*(?:from|import)\b.*\b{re.escape(path.stem)}\b", re.MULTILINE)
        besides = [*tests, *(text for other, text in scripts.items() if other != path)]
        return any(path.name in text for text in [*pages, *besides]) or any(map(imported.search, besides))

    parts = {path for path in scripts if path.name == "__init__.py"}
    assert [str(path.relative_to(ROOT)) for path in scripts if path not in parts and not is_named(path)] == []
