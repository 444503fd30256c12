"""The page folds a ladder, and so does `rexmit analyze --ladder`: the same, step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

import rexmit
from browser import Watched
from conftest import DATA
from rexmit.cli import main

CAPTURES = [
    "interruption.snd.pcap.gz",
    "interruption.rcv.pcap.gz",
    "F1_cubic_22M_GE.snd.pcap.gz",
    "F1_cubic_22M_GE.rcv.pcap.gz",
    "H1_reno_22M_shallow_200ms_nosack.snd.pcap.gz",
]


@pytest.mark.parametrize("name", CAPTURES)
def test_both_fold_alike(watched: Watched, tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.html"
    assert main(["report", str(DATA / name), "-o", str(path)]) == 0
    flow = rexmit.capture(DATA / name).worst(1)[0]
    episodes = flow.episodes()
    assert episodes
    for episode in episodes[:4]:
        number = int(episode["number"])
        page = watched.open(path, f"#episode/{flow.id + 1}/{number + 1}", ".ladder-steps tbody tr")
        shown = [
            (
                cells.nth(0).inner_text(),
                cells.nth(1).locator("button").first.inner_text()[2:],
                cells.nth(1).locator(".remark").inner_text(),
            )
            for cells in (row.locator("td") for row in page.locator(".ladder-steps tbody tr").all())
        ]
        told = [
            (f"{step.first_s:.4f}", step.label().removeprefix("… "), step.remark())
            for step in flow.exchange(number + 1).steps
        ]
        assert shown == told, f"episode {number + 1}"
