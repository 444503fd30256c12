"""`rx.capture`: tables that other libraries read, flows that draw themselves, packets only when needed."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

import rexmit as rx
from conftest import DATA, FakeCore
from rexmit.api import _nanoseconds

SENDER = DATA / "interruption.snd.pcap.gz"
BOTH = (DATA / "F1_cubic_22M_GE.snd.pcap.gz", DATA / "F1_cubic_22M_GE.rcv.pcap.gz")


def test_a_capture_keeps_no_row_per_packet_until_it_is_asked(core: FakeCore) -> None:
    cap = rx.capture("x.pcap")
    assert len(cap.episodes) == 2
    assert len(cap.flows) == 1
    assert [list(c["tables"]) for c in core.calls] == [[]]


def test_a_table_that_was_not_kept_costs_one_more_pass_and_only_one(core: FakeCore) -> None:
    cap = rx.capture("x.pcap")
    table = cap.retransmissions
    assert len(core.calls) == 1, "naming a table reads nothing"
    assert len(table) == 353
    assert len(cap.retransmissions) == 353
    assert [list(c["tables"]) for c in core.calls] == [[], ["retransmissions"]]


def test_a_flows_figures_read_the_packets_of_that_flow_only(core: FakeCore) -> None:
    cap = rx.capture("x.pcap", at="sender", idle=0.1)
    flow = cap.flows[0]
    flow.time_sequence()
    flow.window()
    flow.rtt()
    assert len(core.calls) == 2
    call = core.calls[1]
    assert call["flow"] == "10.8.0.2:41822-10.8.0.9:21"
    assert (call["at"], call["idle"]) == ("sender", 0.1)


def test_rows_that_were_kept_at_once_need_no_other_pass(core: FakeCore) -> None:
    cap = rx.capture("x.pcap", tables=("packets", "rtt", "intervals", "retransmissions"))
    names = [name for name, _ in cap.flows[0].figures()]
    expected = ["time-sequence", "throughput", "rtt", "repairs", "window", "idle", "causes"]
    expected += ["ladder-1", "ladder-2"]
    assert names == expected
    assert len(core.calls) == 1


def test_standard_input_is_read_once_and_says_so(core: FakeCore) -> None:
    cap = rx.capture("-")
    with pytest.raises(ValueError, match=r"read once only: ask for its rows at once, tables=\('packets',\)"):
        len(cap.packets)
    with pytest.raises(ValueError, match="standard input can be read once only"):
        cap.flows[0].time_sequence()


def test_flows_are_a_sequence(core: FakeCore) -> None:
    flows = rx.capture("x.pcap").flows
    assert flows[0].sender == flows[-1].sender == "10.8.0.2:41822"
    assert [f.id for f in flows] == [f.id for f in flows[:]] == [0]
    with pytest.raises(IndexError, match="flow 1 of 1"):
        flows[1]


def test_a_flow_knows_its_figures(core: FakeCore) -> None:
    flow = rx.capture("x.pcap").flows[0]
    assert flow["bytes"] == 3000 * 1448
    assert flow["start"] == 0.0, "times are seconds after the first packet"
    assert [e["kind"] for e in flow.episodes()] == ["ack", "timer-rto"]
    assert repr(flow).startswith("<flow 10.8.0.2:41822 → 10.8.0.9:21, 4.34 MB in 4.64 s")


def test_an_episode_that_is_not_there_is_named(core: FakeCore) -> None:
    with pytest.raises(ValueError, match=r"there is no episode 3: .* has 2 episodes"):
        rx.capture("x.pcap").flows[0].ladder(3)


def test_tables_are_read_by_polars_pandas_pyarrow_and_duckdb(core: FakeCore) -> None:
    duckdb = pytest.importorskip("duckdb")
    episodes = rx.capture("x.pcap").episodes
    assert episodes.to_arrow().num_rows == 2
    assert episodes.to_polars()["kind"].to_list() == ["ack", "timer-rto"]
    assert episodes.to_pandas()["lost_copies"].sum() == 352
    assert pa.table(episodes).column_names == episodes.columns
    with duckdb.connect() as db:
        db.register("lossy", episodes)
        assert db.sql("select sum(lost_copies) from lossy").fetchall() == [(352,)]


def test_a_printed_table_shows_its_head_and_names_the_rest(core: FakeCore) -> None:
    lines = repr(rx.capture("x.pcap", tables=("packets",)).packets).splitlines()
    assert lines[0].startswith("packets: 6,318 rows")
    assert len(lines[2:12]) == 10
    assert lines[12] == "… 6,308 more rows"
    assert all(len(line) <= 120 for line in lines[:12])


def test_a_table_in_a_notebook_is_escaped_html(core: FakeCore) -> None:
    text = rx.capture("x.pcap").flows._repr_html_()
    assert text.startswith("<table>")
    assert "10.8.0.2:41822" in text
    assert "flows: 1 rows" in text


def test_a_capture_prints_as_its_page(core: FakeCore) -> None:
    cap = rx.capture("x.pcap")
    assert str(cap) == cap.page()
    assert "packets were lost" in str(cap)
    assert repr(cap) == "<capture x.pcap: 1 flow with data>"


def test_no_file_is_an_error_at_once(core: FakeCore) -> None:
    with pytest.raises(ValueError, match="at least one file"):
        rx.capture()


def test_the_command_that_analyses_it_again_can_be_pasted(core: FakeCore) -> None:
    assert rx.capture("my file.pcap", port=80).command == "rexmit analyze 'my file.pcap' --port 80"
    both = rx.capture("a.pcap", receiver="b.pcap")
    assert both.command == "rexmit analyze --sender a.pcap --receiver b.pcap"
    assert both.receiver == ["b.pcap"]


def test_times_keep_their_nanoseconds() -> None:
    assert _nanoseconds("2023-11-14T22:13:20.123456789Z") == 1_700_000_000_123_456_789
    assert _nanoseconds("2023-11-14T22:13:20Z") == 1_700_000_000_000_000_000
    assert _nanoseconds(None) == 0


def test_importing_rexmit_loads_nothing_heavy() -> None:
    script = "import sys, rexmit; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not any(f"'{name}'" in loaded for name in ("numpy", "pyarrow", "matplotlib", "rich"))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'captures'"):
        rx.captures  # noqa: B018


class TestRealCaptures:
    def test_every_table_has_rows_or_none_and_the_columns_figures_need(self) -> None:
        cap = rx.capture(SENDER)
        flow = cap.worst(1)[0]
        assert flow["bytes"] == 10_000_000
        names = [name for name, _ in flow.figures(ladders=9)]
        assert names[:7] == ["time-sequence", "throughput", "rtt", "repairs", "window", "idle", "causes"]
        assert len(names) == 7 + flow["episodes"]

    def test_the_rows_of_one_flow_are_the_same_whether_read_alone_or_with_all(self) -> None:
        alone = rx.capture(SENDER).worst(1)[0].frame("packets")
        every = rx.capture(SENDER, tables=("packets",)).worst(1)[0].frame("packets")
        assert len(alone) == len(every) > 10_000
        assert (alone["time"] == every["time"]).all()
        assert (alone["seq"] == every["seq"]).all()

    def test_both_ends_give_figures_too(self) -> None:
        cap = rx.capture(BOTH[0], receiver=BOTH[1])
        flow = cap.worst(1)[0]
        assert flow["lost_copies"] == 54
        assert [name for name, _ in flow.figures(ladders=1)][-1].startswith("ladder-")

    def test_what_is_no_capture_raises_one_sentence(self) -> None:
        with pytest.raises(rx.CaptureError) as caught:
            rx.capture(__file__)
        assert "\n" not in str(caught.value)
        assert "test_api.py" in str(caught.value)
