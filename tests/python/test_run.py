"""Scenarios simulated and read like captures; the command line and Python say the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

import rexmit as rx
from rexmit import cli
from rexmit.captured import ladder

ROOT = Path(__file__).parent.parent.parent
INTERRUPTION = str(ROOT / "scenarios" / "interruption.toml")
LOSSY: dict[str, Any] = {
    "name": "lossy",
    "seed": 4,
    "node": [{"name": "a"}, {"name": "b"}],
    "link": [
        {
            "name": "air",
            "between": ["a", "b"],
            "rate": "10Mbps",
            "delay": "10ms",
            "queue": {"kind": "droptail", "packets": 40},
            "channel": [{"name": "noise", "kind": "random", "loss": 0.01}],
        }
    ],
    "flow": [
        {"name": "up", "from": "a", "to": "b", "stack": "linux-2.6-reno"}
        | {"workload": {"kind": "file", "size": "1MB"}}
    ],
    "record": {"state": True, "queues": True, "drops": True, "retransmissions": True, "capture": ["a", "b"]},
}


@pytest.fixture(scope="module")
def lossy() -> rx.Run:
    return rx.run(LOSSY)


def test_what_the_analysis_says_is_what_the_links_and_hosts_counted(lossy: rx.Run) -> None:
    flow = lossy.flows[0]
    [up] = lossy.summary["flows"]
    assert flow["bytes"] == up["forward"]["delivered_bytes"] == 1_000_000
    assert flow["retransmitted_packets"] == up["forward"]["resent_packets"] > 0
    assert flow["timeouts"] == up["forward"]["timeouts"]
    drops = lossy.drops.to_polars()
    assert flow["lost_copies"] == drops.filter(pl.col("payload_bytes") > 0).height
    lost = sum(link["lost"] for link in lossy.summary["links"])
    assert lost == drops.height
    assert set(drops["channel"].drop_nulls()) == {"noise"}
    assert lossy.failure is None


def test_the_truth_has_each_retransmission_that_the_analysis_found(lossy: rx.Run) -> None:
    found = lossy.retransmissions.to_polars()["time"].sort().to_list()
    assert found == lossy.truth.to_polars()["time"].sort().to_list()


def test_the_simulators_tables_name_the_flow_of_the_other_tables(lossy: rx.Run) -> None:
    id = lossy.flows[0].id
    assert set(lossy.state.to_polars().filter(pl.col("from_client"))["flow"]) == {id}
    assert set(lossy.truth.to_polars()["flow"]) == {id}
    assert set(lossy.truth.to_polars()["name"]) == {"up"}


def test_a_queue_is_never_fuller_than_it_may_be_and_its_waits_are_its_backlog(lossy: rx.Run) -> None:
    rows = lossy.queues.to_polars().filter(pl.col("direction") == "forward")
    assert 0 < rows["packets"].max() <= 40  # type: ignore[operator]
    # At 10 Mbps a full packet ahead takes 1.2 ms; the one being sent is not counted.
    assert float(rows["waited_s"].max()) <= 41 * 1500 * 8 / 10e6 + 1e-9  # type: ignore[arg-type]


def test_the_same_seed_is_the_same_run_and_another_is_not() -> None:
    first, again, other = (rx.run(LOSSY, seed).packets.to_polars() for seed in (5, 5, 6))
    assert first.equals(again)
    assert not first.equals(other)


def test_rows_that_were_not_kept_come_from_a_run_that_goes_the_same_way() -> None:
    asked = rx.run(LOSSY, tables=("packets", "truth"), set={"record.retransmissions": "false"})
    late = rx.run(LOSSY, set={"record.retransmissions": False})
    assert late.packets.to_polars().equals(asked.packets.to_polars())
    assert late.truth.to_polars().equals(asked.truth.to_polars())


def test_one_end_shows_less(lossy: rx.Run) -> None:
    sender, receiver = (rx.run(LOSSY, at=at).flows[0] for at in ("sender", "receiver"))  # type: ignore[arg-type]
    assert [f["vantage"] for f in (lossy.flows[0], sender, receiver)] == ["both", "sender", "receiver"]
    assert receiver["lost_copies"] is None
    assert sender["packets"] == lossy.flows[0]["packets"]


def test_a_scenario_from_a_file_from_text_from_a_dictionary_and_from_code_is_one() -> None:
    text = Path(INTERRUPTION).read_text()
    made = rx.Scenario(
        name="lossy",
        seed=4,
        nodes=["a", "b"],
        links=[{("channels" if k == "channel" else k): v for k, v in LOSSY["link"][0].items()}],
        flows=LOSSY["flow"],
        record=LOSSY["record"],
    )
    assert made.to_toml() == rx.Scenario.of(LOSSY).to_toml()
    assert rx.Scenario.of(text).to_toml() == rx.Scenario.load(INTERRUPTION).to_toml()
    # What is resolved says all of it again.
    whole = made.to_toml()
    assert rx.Scenario.parse(whole).to_toml() == whole
    assert tomllib.loads(whole)["name"] == "lossy"


def test_overrides_reach_by_name_and_later_ones_win() -> None:
    changed = rx.Scenario.load(INTERRUPTION).with_(
        {"link.air.rate": "1Mbps", "flow.upload.stack": "rfc-sack"}
    )
    changed = changed.with_({"link.air.rate": "2Mbps"}, duration="5s")
    read = tomllib.loads(changed.to_toml())
    assert (read["link"][0]["rate"], read["duration"], read["flow"][0]["stack"]) == (
        "2Mbps",
        "5s",
        "rfc-sack",
    )
    run = rx.run(changed)
    assert run.summary["end"] == "duration"
    assert run.summary["time_s"] == 5
    assert "--set link.air.rate=2Mbps" in run.command


@pytest.mark.parametrize(
    ("set", "says"),
    [
        ({"link.air.rat": "1Mbps"}, 'link.air.rat is no key of a link; did you mean "rate"?'),
        ({"link.air.rate": "1Mb"}, "link.air.rate=1Mb"),
        ({"flow.down.stack": "rfc-sack"}, "flow.down does not exist"),
    ],
)
def test_a_scenario_that_is_none_says_the_key_and_the_mend(set: dict[str, str], says: str) -> None:
    with pytest.raises(rx.ScenarioError, match=re.escape(says)):
        rx.run(INTERRUPTION, set=set)


def test_a_value_that_toml_has_none_of_is_refused() -> None:
    with pytest.raises(TypeError, match="is no value of a scenario"):
        rx.run(LOSSY, set={"seed": object()})


def test_many_runs_are_the_single_runs() -> None:
    many = rx.runs(LOSSY, seeds=range(5))
    table = many.summary.to_polars()
    assert table["seed"].to_list() == list(range(5))
    one = rx.run(LOSSY, seed=3)
    assert many[3].flows[0].row == one.flows[0].row
    assert table["resent_packets"][3] == one.summary["flows"][0]["forward"]["resent_packets"]
    losses = many.losses.to_polars().filter(pl.col("run") == 3)
    assert losses["packets"].sum() == len(one.drops)


EVERY_TABLE = (
    "flows",
    "bursts",
    "episodes",
    "retransmissions",
    "probes",
    "idle",
    "rounds",
    "waits",
    "intervals",
    "rtt",
    "packets",
    "state",
    "queues",
    "drops",
    "truth",
    "hosts",
    "applications",
    "blocked",
    "held",
)


def test_tables_of_many_runs_are_those_of_the_single_runs() -> None:
    variants = [rx.Scenario.of(LOSSY).with_({"flow.up.stack": s}) for s in ("linux-2.6-reno", "ns2-newreno")]
    options: dict[str, Any] = {"idle": 0.03, "interval": 0.2, "tables": EVERY_TABLE}
    many = rx.runs(variants, seeds=(5, 2, 9), **options)
    singles = [rx.run(v, seed, **options) for v in variants for seed in (5, 2, 9)]
    for name in EVERY_TABLE:
        table = many.table(name).to_polars()  # type: ignore[arg-type]
        assert table.columns[:3] == ["run", "variant", "seed"]
        assert len(many.table(name)) == table.height  # type: ignore[arg-type]
        for run, single in enumerate(singles):
            mine = table.filter(pl.col("run") == run)
            assert mine.select(table.columns[3:]).equals(single.table(name).to_polars()), (name, run)  # type: ignore[arg-type]
            if mine.height:
                assert set(mine.select("variant", "seed").rows()) == {(run // 3, (5, 2, 9)[run % 3])}
    assert many.flows.to_polars()["run"].to_list() == list(range(6))
    assert many.warnings == []


@pytest.mark.parametrize("at", ["sender", "receiver"])
def test_many_runs_are_seen_where_it_is_asked(at: Any) -> None:
    many = rx.runs(LOSSY, seeds=(1, 2), at=at, tables=("flows", "bursts"))
    assert many.flows.to_polars()["vantage"].to_list() == [at, at]
    assert many[1].flows[0].row == rx.run(LOSSY, 2, at=at).flows[0].row
    one = rx.run(LOSSY, 2, at=at).bursts.to_polars()
    assert many.bursts.to_polars().filter(pl.col("seed") == 2).select(one.columns).equals(one)


def test_counts_do_not_depend_on_what_is_kept() -> None:
    counted, kept = rx.runs(LOSSY, seeds=range(4)), rx.runs(LOSSY, seeds=range(4), tables=("idle", "drops"))
    assert counted.summary.to_polars().equals(kept.summary.to_polars())
    assert counted.losses.to_polars().equals(kept.losses.to_polars())
    # What was not kept comes from running them again.
    assert counted.idle.to_polars().equals(kept.idle.to_polars())
    with pytest.raises(ValueError, match="is no table"):
        rx.runs(LOSSY, tables=("flow",))  # type: ignore[arg-type]


def test_links_and_channels_tell_of_their_errors_and_how_they_cluster() -> None:
    fade = {"name": "fade", "kind": "gilbert-elliott", "good_to_bad": 0.02, "bad_to_good": 0.3}
    air = LOSSY["link"][0] | {"channel": [fade]}
    runs = rx.runs(LOSSY | {"link": [air]}, seeds=range(6))
    drops = runs.drops.to_polars()
    for row in runs.channels.to_polars().iter_rows(named=True):
        mine = drops.filter((pl.col("run") == row["run"]) & (pl.col("direction") == row["direction"]))
        assert row["dropped"] == mine.filter(pl.col("channel") == "fade").height
        assert row["dropped"] >= row["longest_burst"]
        assert row["bursts"] <= row["dropped"] <= row["asked"]
    forward = runs.channels.to_polars().filter(pl.col("direction") == "forward")
    # A bad state lasts for 1 / 0.3 packets in the mean, in which all are lost.
    assert forward["dropped"].sum() / forward["bursts"].sum() == pytest.approx(1 / 0.3, rel=0.2)
    links = runs.links.to_polars()
    assert links["frames_sent"].null_count() == links.height == 12
    # A link that retries tells of its tries.
    tried = rx.runs(LOSSY | {"link": [air | {"arq": {"tries": 3}}]}, seeds=range(6))
    links = tried.links.to_polars()
    channels = tried.channels.to_polars()
    assert links["frames_sent"].to_list() == channels["asked"].to_list()
    assert links["frames_lost"].to_list() == channels["dropped"].to_list()
    assert links["longest_frame_burst"].to_list() == channels["longest_burst"].to_list()
    at_rest = links.filter(pl.col("inside") == 0)
    assert at_rest.height > 0
    for row in at_rest.iter_rows(named=True):
        # Every frame that was lost was sent again, but for the third.
        again = row["frames_lost"] - row["arq_gave_up"]
        assert row["frames_sent"] == row["offered"] - row["queue_full"] + again


def test_what_was_done_when_it_was_stopped_has_its_rows() -> None:
    slow = rx.Scenario.of(LOSSY).with_({"flow.up.workload.size": "20MB"})
    done = rx.runs(slow, seeds=range(5_000), tables=("flows",), progress=lambda done, *_: done < 3)
    assert done.interrupted
    flows = done.flows.to_polars()
    assert len(done) >= 3
    # A FIN that was sent again is a flow of its own.
    runs = flows.unique("run", maintain_order=True)
    assert runs["run"].to_list() == list(range(len(done)))
    assert runs["seed"].to_list() == done.summary.to_polars()["seed"].to_list()


def test_variants_stand_in_order_and_meet_the_same_seeds() -> None:
    variants = [rx.Scenario.of(LOSSY).with_({"flow.up.stack": s}) for s in ("rfc-sack", "linux-2.6-cubic")]
    table = rx.runs(variants, seeds=(7, 8)).summary.to_polars()
    assert table["variant"].to_list() == [0, 0, 1, 1]
    assert table["seed"].to_list() == [7, 8, 7, 8]
    assert table["stack"].to_list() == ["rfc-sack"] * 2 + ["linux-2.6-cubic"] * 2
    assert table["set"][2] == "flow.up.stack=linux-2.6-cubic"


def test_ctrl_c_keeps_the_runs_that_are_done() -> None:
    slow = rx.Scenario.of(LOSSY).with_({"flow.up.workload.size": "20MB"})
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    done = rx.runs(slow, seeds=range(5_000))
    assert done.interrupted
    assert [row["seed"] for row in done.summary.head(3)] == list(range(min(3, len(done))))


def test_ctrl_c_keeps_what_a_run_has_shown() -> None:
    endless = rx.Scenario.of(LOSSY).with_({"flow.up.workload": '{ kind = "endless" }'}, duration="100000s")
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    run = rx.run(endless)
    assert time.monotonic() - began < 60
    assert run.interrupted
    assert run.summary["end"] == "stopped"
    assert run.flows[0]["bytes"] > 0
    assert "stopped early" in run.page()


def test_figures_of_a_run_show_its_senders_and_queues(lossy: rx.Run) -> None:
    figure = lossy.cwnd()
    [cwnd] = [line for line in figure.fig.axes[0].lines if line.get_gid() == "cwnd"]
    largest = lossy.state.to_polars().filter(pl.col("flow") == lossy.flows[0].id)["cwnd_bytes"].max()
    assert np.nanmax(cwnd.get_ydata()) * 1e3 == pytest.approx(largest)
    queue = lossy.queue("air")
    [occupancy] = [line for line in queue.fig.axes[0].lines if line.get_gid() == "occupancy"]
    rows = lossy.queues.to_polars().filter(pl.col("direction") == "forward")
    assert np.max(occupancy.get_ydata()) == rows["packets"].max()
    with pytest.raises(ValueError, match="is no link and direction"):
        lossy.queue("wire")


def test_a_run_is_not_called_a_capture(lossy: rx.Run) -> None:
    flow = lossy.flows[0]
    pictures = [flow.time_sequence(), flow.throughput(), flow.rtt(), flow.idle_gaps(), flow.window()]
    pictures += [flow.repairs(), lossy.cwnd(), lossy.queue("air")]
    said = [text for p in pictures for ax in p.fig.axes for text in (ax.get_xlabel(), ax.get_title())]
    assert "time since the run began (s)" in said
    assert not [text for text in said if "capture" in text]
    # Cut off while it repairs: the page and the ladder say it without a capture.
    noisy = {"link.air.channel.noise.loss": 0.3}
    runs = [rx.run(LOSSY, seed, set=noisy, duration="500ms") for seed in range(8)]
    for run in runs:
        assert "capture" not in run.page(hints=False)
    [open_] = [e for r in runs[:1] for e in r.flows[0].episodes() if e["end"] is None][-1:]
    told = runs[0].flows[0].exchange(int(open_["number"]) + 1)
    assert told.since == "the run began"
    assert "capture" not in "\n".join(ladder.text(told, 100))


def test_the_command_line_says_what_python_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", INTERRUPTION, "--seed", "2"]) == 0
    told = capsys.readouterr().out
    assert told == rx.run(INTERRUPTION, 2).page() + "\n"
    assert told.startswith("simulated: interruption, seed 2, ")
    assert "by channel interruption" in told


def test_json_follows_the_schema_and_counts_the_links(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", INTERRUPTION, "--json", "--set", "flow.upload.workload.size=1MB"]) == 0
    read = json.loads(capfd.readouterr().out)
    schema = json.loads((ROOT / "docs" / "json.schema.json").read_text())
    jsonschema.validate(read, schema)
    for link in read["simulation"]["links"]:
        assert link["offered"] + link["copies"] == link["delivered"] + link["lost"] + link["inside"]


def test_a_bad_scenario_is_exit_code_2_and_a_line_for_each_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(Path(INTERRUPTION).read_text().replace("5.2Mbps", "5.2Mb").replace('"droptail"', '"drop"'))
    assert cli.main(["run", str(bad)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all(line.startswith(f"{bad}:") for line in said)
    assert cli.main(["run", INTERRUPTION, "--set", "rate"]) == 2
    assert "write key=value" in capsys.readouterr().err
    assert cli.main(["run", INTERRUPTION, "--figures", "svg"]) == 2


def test_a_connection_that_nobody_answers_is_told() -> None:
    lost = rx.Scenario.of(LOSSY).with_({"link.air.channel.noise.loss": 1})
    run = rx.run(lost)
    [up] = run.summary["flows"]
    assert up["failed"] == 1
    assert any("gave up: nobody answered" in w for w in run.info["warnings"])


def test_the_folder_of_a_run_holds_what_it_says(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(rx.Scenario.of(LOSSY).to_toml())
    out = tmp_path / "out"
    assert cli.main(["run", str(scenario), "--out", str(out), "--figures", "svg", "--parquet"]) == 0
    tables = {p.stem for p in (out / "tables").iterdir()}
    assert {"flows", "packets", "state", "queues", "drops", "truth"} <= tables
    assert {p.name for p in (out / "captures").iterdir()} == {"a.pcapng", "b.pcapng"}
    assert {"cwnd-0.svg", "queue-air-forward.svg"} <= {p.name for p in (out / "figures").iterdir()}
    index = (out / "index.md").read_text()
    for path in (p for p in out.rglob("*") if p.is_file() and p.name != "index.md"):
        assert str(path.relative_to(out)) in index
    # The folder's own scenario is the run again.
    again = rx.run(out / "scenario.toml")
    kept = pl.read_parquet(out / "tables" / "packets.parquet")
    assert again.packets.to_polars().equals(kept)
    # And its captures are a transfer like any other.
    read = rx.capture(out / "captures" / "a.pcapng", receiver=out / "captures" / "b.pcapng")
    assert read.flows[0]["lost_copies"] == again.flows[0]["lost_copies"]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_the_captures_sound_and_the_same_retransmissions(tmp_path: Path) -> None:
    run = rx.run(LOSSY, captures=tmp_path)

    def count(path: Path, filter: str) -> int:
        asked = ["tshark", "-r", str(path), "-Y", filter]
        options = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        told = subprocess.run([*asked, *options], capture_output=True, check=True, text=True)
        return len(told.stdout.splitlines())

    for node in ("a", "b"):
        path = tmp_path / f"{node}.pcapng"
        assert count(path, "tcp.checksum.status == 0 || ip.checksum.status == 0 || _ws.malformed") == 0
        assert count(path, "tcp.checksum.status == 1") > 1000
    # What fills a gap within 3 ms of a later segment tshark calls out of order.
    again = "tcp.len > 0 && (tcp.analysis.retransmission || tcp.analysis.out_of_order)"
    resent = count(tmp_path / "a.pcapng", again)
    assert resent == run.flows[0]["retransmitted_packets"]


def test_stacks_and_channels_are_told_to_people_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["stacks"]) == 0
    assert "linux-2.6-reno" in capsys.readouterr().out
    assert cli.main(["stacks", "linux-2.6-reno", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["wire"]
    assert {"detect", "recovery", "congestion", "rto"} <= {s["name"] for s in page["sections"]}
    assert cli.main(["stacks", "linux-2.6-ren"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert cli.main(["channels", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "gilbert-elliott" in {kind["name"] for kind in found["channels"]}
    assert cli.main(["channels"]) == 0
    assert all(len(line) <= 100 for line in capsys.readouterr().out.splitlines())


def test_a_stack_that_is_assumed_in_part_says_so_wherever_it_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(rx.Scenario.of(LOSSY).with_({"flow.up.stack": "windows-11"}).to_toml())
    assert cli.main(["run", str(path)]) == 0
    assert "stack windows-11 is assumed in part" in capfd.readouterr().out
    assert cli.main(["run", str(path), "--json"]) == 0
    (told,) = json.loads(capfd.readouterr().out)["simulation"]["assumed"]
    assert told["stack"] == "windows-11"
    assert "options" not in told["sections"]
    assert {"detect", "rto"} <= set(told["sections"])
    assert cli.main(["compare", str(path), str(path), "--first-set", "flow.up.stack=rfc-sack"]) == 0
    assert "assumed  windows-11" in capfd.readouterr().out
    assert cli.main(["stacks", "windows-11"]) == 0
    assert "assumed: something here has no source" in capfd.readouterr().out
    # A stack all of whose sections have a source says nothing of the kind.
    assert cli.main(["run", str(path), "--set", "flow.up.stack=rfc-sack", "--json"]) == 0
    assert "assumed" not in json.loads(capfd.readouterr().out)["simulation"]


def test_only_a_flow_is_taken_for_one(tmp_path: Path) -> None:
    run = rx.run(INTERRUPTION, set={"duration": "1s"})
    for wrong in (0, 9, "upload"):
        with pytest.raises(ValueError, match=r"is no flow: take one from run\.flows"):
            run.cwnd(wrong)  # type: ignore[arg-type]


def test_the_tables_of_a_run_are_all_named() -> None:
    run = rx.run(INTERRUPTION, set={"duration": "1s"})
    with pytest.raises(ValueError, match=r'"nope" is no table: flows, .*packets, causes, owners, .*held$'):
        len(run.table("nope"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'"flws" is no table: flows, .*held$'):
        rx.run(INTERRUPTION, tables=("flws",))  # type: ignore[arg-type]


def test_a_scenario_made_in_code_is_told_its_mistakes_by_key_alone() -> None:
    """Nobody has seen the lines of its text."""
    made = rx.Scenario(
        name="t",
        nodes=["a", "b"],
        links=[{"name": "l", "between": ["a", "b"], "rat": "5Mbps"}],
        flows=[{"name": "f", "from": "a", "to": "b", "stack": "rfc-sack", "workload": {"kind": "endless"}}],
        duration="1s",
    )
    for scenario in (made, made.with_(seed=3)):
        with pytest.raises(rx.ScenarioError, match=r"^link\.l\.rat is no key of a link; did you mean"):
            rx.run(scenario)
    with pytest.raises(rx.ScenarioError, match=r"(?m)^duration = 3 has no unit"):
        rx.run({"name": "t", "duration": 3, "node": [{"name": "a"}], "flow": []})
    with pytest.raises(rx.ScenarioError, match=r"(?m)^scenario:2: duration = 3 has no unit"):
        rx.run("name = 't'\nduration = 3\n[[node]]\nname = 'a'\n")


def test_the_schema_of_shipped_scenarios_is_found_by_either_way_there() -> None:
    for folder in (ROOT / "scenarios", ROOT / "python" / "rexmit" / "scenarios"):
        files = sorted(folder.glob("*.toml"))
        assert len(files) > 10
        for path in files:
            mark, _, schema = path.read_text().splitlines()[0].partition(" ")
            assert mark == "#:schema", path
            # Editors do not look through links in the way that they were given.
            told = json.loads(Path(os.path.normpath(folder / schema)).read_text())
            assert told["title"] == "rexmit scenario", path


@pytest.mark.parametrize("rate", ["0Mbps", "0.0 kbps", "-1Mbps", "1mbps"])
def test_the_schema_refuses_rates_that_the_reader_refuses(rate: str) -> None:
    schema = json.loads((ROOT / "docs" / "scenario.schema.json").read_text())
    whole = tomllib.loads((ROOT / "scenarios" / "interruption.toml").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(whole)
    whole["link"][0]["rate"] = rate
    assert not validator.is_valid(whole)
    with pytest.raises(rx.ScenarioError):
        rx.run(whole)
