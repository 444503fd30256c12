"""The example notebooks run, and their cells show what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rexmit
from conftest import DATA

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_is_kept_without_what_it_showed(name: str) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook: Any = nbformat.read(EXAMPLES / name, as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert any(out.output_type == "execute_result" for out in cell.outputs), cell.source
    if "report()" in notebook.cells[-1].source:
        shown = notebook.cells[-1].outputs[0].data["text/html"]
        assert "<iframe sandbox=" in shown
        assert "rexmit-meta" in shown


def test_a_report_in_a_cell_is_the_file_that_is_saved(tmp_path: Path) -> None:
    import html

    page = rexmit.capture(DATA / "nosack.snd.pcap.gz").report()
    page.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_bytes() == page.html
    cell = page._repr_html_()
    assert html.unescape(cell.partition('srcdoc="')[2].partition('"')[0]).encode() == page.html
    assert "\n" not in repr(page)
    (tmp_path / "mine.html").write_text("my own", "utf-8")
    with pytest.raises(ValueError, match=r"mine\.html"):
        page.save(tmp_path / "mine.html")


def test_all_rows_of_a_report_are_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = rexmit.capture(DATA / "nosack.snd.pcap.gz")
    passes: list[Any] = []
    run = rexmit.Capture._run

    def counted(self: rexmit.Capture, tables: Any, **changed: Any) -> Any:
        passes.append(tables)
        return run(self, tables, **changed)

    monkeypatch.setattr(rexmit.Capture, "_run", counted)
    capture.report()
    assert len(passes) == 1
