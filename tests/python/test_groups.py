"""Which flow comes first, and flows added up."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rexmit as rx
from rexmit.screen.groups_page import page

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def mixed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mixed", ROOT / "validation" / "mixed.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mixed"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(300, 310))
def test_the_transfer_comes_before_control_idle_and_background_connections(
    mixed: ModuleType, seed: int
) -> None:
    for at in mixed.ENDS:
        shown, transfer = mixed.first(seed, at)
        assert shown["flow"] == transfer["flow"], f"seed {seed} at the {at}: {mixed.told(shown)}"


@pytest.fixture(scope="module")
def run(mixed: ModuleType) -> rx.Run:
    return rx.run(rx.Scenario.parse(mixed.scenario(300)), at="sender")


@pytest.mark.parametrize("by", ["pair", "host", "port"])
def test_groups_add_up_to_all_flows(run: rx.Run, by: str) -> None:
    flows, groups = run.flows.to_arrow(), run.by(by).to_arrow()
    # Each flow has two hosts.
    times = 2 if by == "host" else 1
    for name, column in (("bytes", "bytes"), ("resent_segments", "retransmitted_segments")):
        assert sum(groups.column(name).to_pylist()) == times * sum(flows.column(column).to_pylist())
    assert sum(groups.column("flows").to_pylist()) == times * flows.num_rows
    lost = groups.column("lost_s").to_pylist()
    assert lost == sorted(lost, reverse=True)


def test_flows_are_grouped_by_both_hosts_whichever_sends_and_by_the_port_that_was_called(run: rx.Run) -> None:
    pairs = run.by("pair").to_arrow().column("group").to_pylist()
    assert sorted(pairs) == ["10.0.0.1 ↔ 10.0.0.3", "10.0.0.3 ↔ 10.0.0.4"]
    assert run.by("port").to_arrow().column("group").to_pylist() == ["5001"]


def test_causes_tell_of_idle_time_and_of_segments_sent_again(run: rx.Run) -> None:
    rows = run.by("cause").to_arrow().to_pylist()
    idle = sum(r["lost_s"] for r in rows if r["kind"] == "idle")
    assert idle == pytest.approx(sum(run.idle.to_arrow().column("length_s").to_pylist()))
    again = sum(r["segments"] for r in rows if r["kind"] == "resent")
    assert again == sum(run.flows.to_arrow().column("retransmitted_segments").to_pylist())
    text = page(run, "cause")
    assert text[0].startswith("  idle")
    assert any(line.startswith("  sent again") for line in text)


def test_a_way_to_group_that_is_none_is_named(run: rx.Run) -> None:
    with pytest.raises(ValueError, match="by = 'colour' is none of pair, host, port, cause"):
        run.by("colour")  # type: ignore[arg-type]


def test_connections_that_nobody_answered_count_as_time_lost(tmp_path: Path) -> None:
    text = """
name = "silence"
duration = "5s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "10Mbps"
delay = "5ms"
[[link.channel]]
name = "dead"
kind = "random"
loss = 1.0
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-sack"
count = 3
workload = { kind = "file", size = "1MB" }
"""
    [row] = rx.run(text, at="sender").by("pair").to_arrow().to_pylist()
    assert row["unanswered"] == 3
    assert row["lost_s"] > 3
    assert row["bytes"] == 0
