"""The simulator beside the kernel, on the test bed's runs that ship with the tests (validation/kernel.py)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import kernel  # noqa: E402
import kernel_table  # noqa: E402
from live_bench import needs_bench  # noqa: E402


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("kernel")
    assert kernel.main(["--captures", str(folder), "--json", str(folder / "out.json")]) == 0
    return json.loads((folder / "out.json").read_text())


def test_shipped_runs_are_compared_and_the_rest_is_named(told: dict) -> None:
    assert [run["name"][:7] for run in told["runs"]] == ["A1_reno", "B1_reno"]
    assert any("all other runs" in reason for reason in told["skipped"])


def test_the_kernel_side_is_what_the_bridge_counted(told: dict) -> None:
    counted = {run["name"][:7]: run["kernel"] for run in told["runs"]}
    # tests/data/truth.toml
    assert [counted["A1_reno"][f"lost_{why}"] for why in ("queue", "outages")] == [295, 134]
    assert [counted["B1_reno"][f"lost_{why}"] for why in ("queue", "outages")] == [1011, 271]
    acks = [e["lost_acks"] for e in counted["B1_reno"]["events"] if e["what"].startswith("outage")]
    assert sum(acks) == 13
    assert counted["A1_reno"]["events"][0]["trigger"] == "timer-rto"


def test_what_the_path_decides_agrees(told: dict) -> None:
    """Where the sender keeps the link full: an outage takes what the link carries in its time."""
    on_link = 5.5e6 * 0.2 / 8 / 1514
    for run in told["runs"]:
        assert run["sim"]["throughput_mbps"] == pytest.approx(run["kernel"]["throughput_mbps"], rel=0.1)
    b1 = told["runs"][1]
    for side in ("sim", "kernel"):
        outages = [e for e in b1[side]["events"] if e["what"].startswith("outage")]
        assert [e["what"] for e in outages] == ["outage 1", "outage 2", "outage 3"]
        assert all(abs(e["lost_copies"] - on_link) <= 1 for e in outages)


def test_columns_are_counted(told: dict) -> None:
    found = {(a["of"], a["column"]): (a["agree"], a["compared"]) for a in told["agreement"]}
    assert {column for of, column in found if of == "transfers"} == set(kernel_table.TRANSFER)
    assert {column for of, column in found if of == "outages"} == {*kernel_table.EVENT, "on both sides"}
    assert found["outages", "on both sides"] == (4, 4)
    assert all(agree <= compared for agree, compared in found.values())


def test_what_does_not_agree_is_bold_and_what_was_changed_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A queue a tenth as long: what the simulator does is no longer what the kernel did.
    changed = ["--set", "link.path.queue.bytes=38758B"]
    assert kernel.main(["--captures", str(tmp_path), "--run", "A1_reno", *changed]) == 0
    page = capsys.readouterr().out
    assert page.startswith("The simulator with link.path.queue.bytes=38758B\n")
    (row,) = [line for line in page.splitlines() if line.startswith("| A1_reno") and "Mbps" not in line][:1]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[3].startswith("**")
    assert cells[3].endswith("**")


@pytest.mark.parametrize(
    ("rule", "sim", "real", "same"),
    [
        ("share", 1.09, 1.0, True),
        ("share", 1.11, 1.0, False),
        ("seconds", 0.0015, 0.0006, True),
        ("seconds", 0.30, 0.26, False),
        ("seconds", -0.6, -0.5, False),
        ("copies", 2, 1, True),
        ("copies", 13, 10, False),
        ("equal", "ack", "timer-rto", False),
        ("seconds", None, 0.1, False),
        ("seconds", None, None, True),
    ],
)
def test_tolerance(rule: str, sim: float | str | None, real: float | str | None, same: bool) -> None:
    assert kernel_table.agrees(rule, sim, real) is same


def test_a_name_that_fits_no_run_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kernel.main(["--captures", str(tmp_path), "--run", "Z"]) == 2
    assert "begins so: Z" in capsys.readouterr().err


@needs_bench
def test_live_the_kernel_is_compared_with_its_captured_run_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    command = ["--captures", str(tmp_path), "--run", "A1_reno", "--live", "--json", str(out)]
    lost = []
    # A machine that is busy elsewhere delays a kernel too, and its slow start then goes another way: one run
    # in three has to be undisturbed.
    for _ in range(3):
        assert kernel.main(command) == 0
        assert "captured runs against those made now" in capsys.readouterr().out
        (run,) = json.loads(out.read_text())["runs"]
        # The same path, queue and outage: slow start overruns the queue by the same copies.
        lost.append((run["kernel"]["lost_queue"], run["captured"]["lost_queue"]))
        if lost[-1][0] == pytest.approx(lost[-1][1], rel=0.1):
            return
    pytest.fail(f"copies lost to the queue, now and captured: {lost}")
