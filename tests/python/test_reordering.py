"""The page on RACK without undo: what it says of three senders holds for single runs of its scenario."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import mean

import rexmit

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "reordering"
PAGE = ROOT / "docs" / "questions" / "rack-without-undo.md"
#: In the order of the page's columns.
STACKS = ("rfc9406-cubic", "./rack-without-undo.toml", "./neither.toml")
SEEDS = (1, 2, 3)


def goodput_mbps(stack: str, late: str) -> float:
    """Mean of a few transfers."""
    found = []
    for seed in SEEDS:
        keys = {"flow.upload.stack": stack, "link.wire.channel.late.by": late}
        run = rexmit.run(FOLDER / "reordering.toml", seed=seed, at="sender", set=keys)
        (flow,) = run.summary["flows"]
        assert flow["failed"] == 0
        found.append(flow["forward"]["goodput_bps"] / 1e6)
    return mean(found)


def test_the_page_has_the_figures_of_its_scenario() -> None:
    rows = re.findall(
        r"^\| (\d+ ms) \| ([\d.]+) Mbps \| ([\d.]+) Mbps \| ([\d.]+) Mbps \|$", PAGE.read_text(), re.M
    )
    told = {late.replace(" ", ""): [float(value) for value in values] for late, *values in rows}
    assert list(told) == ["3ms", "30ms", "500ms"]
    found = {late: [goodput_mbps(stack, late) for stack in STACKS] for late in ("3ms", "500ms")}
    for late, values in found.items():
        # Means of three, where the page has those of eight: what undo takes back hardly differs between runs.
        for of, (mine, page) in enumerate(zip(values, told[late], strict=True)):
            assert page / 1.8 < mine < page * 1.8, (late, STACKS[of], mine, page)
    with_undo, rack, neither = found["3ms"]
    assert with_undo > 180
    assert with_undo > 4 * rack > 4 * neither
    with_undo, rack, neither = found["500ms"]
    assert with_undo < 2 * neither
    assert 0.9 < rack / neither < 1.2
