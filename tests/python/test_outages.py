"""Known outages of a simulated run, joined to the bursts and episodes that the analysis found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rexmit as rx

INTERRUPTION = str(Path(__file__).parent.parent.parent / "scenarios" / "interruption.toml")
TABLES: Any = ("bursts", "episodes", "drops", "hosts", "queues")
#: Losses of chance beside the outages, so that a burst may be of one, the other or both.
NOISE = {
    "link.wire.channel.interruption.schedule.every": "1s",
    "link.wire.channel.interruption.schedule.for": "60ms",
    "link.wire.channel.interruption.schedule.phase": "700ms",
    "link.wire.framing": "none",
    "link.air.channel": '[{ name = "noise", kind = "random", loss = 0.004 }]',
}


def seconds(column: str) -> pl.Expr:
    return pl.col(column).dt.timestamp("ns") / 1e9


@pytest.mark.parametrize(("set", "every", "length", "phase"), [(None, 5, 0.2, 3.1), (NOISE, 1, 0.06, 0.7)])
def test_a_burst_is_of_the_outage_that_took_its_copies(
    set: Any, every: float, length: float, phase: float
) -> None:
    run = rx.run(INTERRUPTION, seed=3, set=set, tables=TABLES)
    drops = run.drops.to_polars().filter((pl.col("payload_bytes") > 0) & pl.col("from_client"))
    hosts = run.hosts.to_polars().filter((pl.col("event") == "sent") & pl.col("from_client"))
    lost = drops.join(hosts.select("copy", sent="time"), on="copy")
    assert lost.height == drops.height
    anchor = run.queues.to_polars().filter(pl.col("link") == "wire").select(seconds("time").min()).item()
    since = seconds("time") - anchor - phase
    lost = lost.with_columns(number=(since / every).floor().cast(pl.Int64), into=since % every)
    # Drops lie inside outages: the calendar of this test is the simulator's.
    dark = lost.filter(pl.col("channel") == "interruption")
    assert dark.height > 0
    assert dark.filter(pl.col("into") > length + 1e-6).height == 0
    bursts = run.bursts.to_polars()
    labelled = 0
    for burst in bursts.iter_rows(named=True):
        took = lost.filter(pl.col("sent").is_between(burst["start"], burst["last"]))
        numbers = took.filter(pl.col("channel") == "interruption")["number"].unique(maintain_order=True)
        expected = ", ".join(f"interruption {k}" for k in numbers) or None
        assert burst["outage"] == expected, burst
        labelled += expected is not None
    assert labelled > 1
    assert (labelled < bursts.height) == (set is not None)
    # An episode has the outages of its bursts.
    for episode in run.episodes.to_polars().iter_rows(named=True):
        mine = bursts.filter(pl.col("episode") == episode["number"])["outage"].drop_nulls()
        said = {one for outage in mine for one in outage.split(", ")}
        assert set_of(episode["outage"]) == said


def set_of(outage: str | None) -> set[str]:
    return set(outage.split(", ")) if outage else set()


def test_many_runs_say_it_too_and_the_receivers_side_does_not() -> None:
    many = rx.runs(INTERRUPTION, seeds=(1, 3), tables=("bursts", "episodes"))
    for k, run in enumerate(rx.run(INTERRUPTION, seed) for seed in (1, 3)):
        for name in ("bursts", "episodes"):
            one = run.table(name).to_polars()  # type: ignore[arg-type]
            assert one["outage"].null_count() < one.height
            mine = many.table(name).to_polars().filter(pl.col("run") == k)  # type: ignore[arg-type]
            assert mine.select(one.columns).equals(one)
    far = rx.run(INTERRUPTION, 1, at="receiver").bursts.to_polars()
    assert far["outage"].null_count() == far.height


def test_what_the_analysis_finds_does_not_depend_on_the_truth() -> None:
    run = rx.run(INTERRUPTION, 1)
    columns = run.bursts.to_polars().columns
    assert columns[-1] == "outage"
    captured = rx.capture("tests/data/interruption.snd.pcap.gz").bursts.to_polars()
    assert captured.columns == columns[:-1]
