"""The reference runs as a user repeats them: a scenario from one line, beside a trace of ns-2 or ns-3."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import ns2  # noqa: E402
import ns3  # noqa: E402
import reference  # noqa: E402

NS2 = ROOT / "tests" / "reference" / "ns-2.35"
NS3 = ROOT / "tests" / "reference" / "ns-3.20"


def test_the_scenarios_beside_the_traces_are_those_of_the_tables() -> None:
    made = [scenario for table in reference.tables() for scenario in reference.listed(table)]
    assert len(made) == 72 + 17 + 26
    for path, text in made:
        assert path.read_text() == text, path


@pytest.mark.parametrize(
    "name", ["drop1_tahoe_new", "drop2_sack_old", "queue6_vegas_old", "ackdrop_reno_old"]
)
def test_a_run_is_that_of_ns2(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [NS2 / f"{name}.toml", NS2 / f"{name}.csv.gz", NS2 / f"{name}_state.csv.gz"]
    assert ns2.main([str(f) for f in files]) == 0
    assert capsys.readouterr().out.startswith("no difference in ")


def test_every_hop_of_an_outage_is_that_of_ns2() -> None:
    trace = NS2 / "outage_fig2_up1_down0.1_all_variants.csv.gz"
    assert ns2.main([str(NS2 / "outage_fig2_up1_down0.1_reno.toml"), str(trace)]) == 0


def test_the_first_difference_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another packet is lost in the scenario than in the trace."""
    (case,) = reference.cases("other reno old end=12 drops=31", NS2)
    scenario = tmp_path / "other.toml"
    scenario.write_text(case.scenario())
    trace = NS2 / "drop1_reno_old.csv.gz"
    assert ns2.main([str(scenario), str(trace)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith(f"{trace}:")
    assert shown.count("\n") == 1
    assert "drop 30 at" in shown or "send 31 at" in shown, shown


def test_a_changed_value_and_a_missing_line_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = str(NS2 / "drop1_reno_old.toml")
    events, states = (NS2 / f"drop1_reno_old{kind}.csv.gz" for kind in ("", "_state"))
    lines = gzip.decompress(events.read_bytes()).decode().splitlines()
    cut = tmp_path / "cut.csv"
    cut.write_text("\n".join(lines[:-1]))
    changed = tmp_path / "changed.csv"
    text = gzip.decompress(states.read_bytes()).decode()
    changed.write_text(text.replace("cwnd_,5.000", "cwnd_,5.001", 1))
    assert ns2.main([scenario, str(cut), str(changed)]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert "cut.csv: no further" in shown[0]
    assert "cwnd_ 5.001 at" in shown[1]
    assert "the run has cwnd_ 5.000 at" in shown[1]


def test_segments_cwnd_and_queue_are_those_of_ns3(capsys: pytest.CaptureFixture[str]) -> None:
    options = [word for kind in ns3.TRACES for word in (f"--{kind}", str(NS3 / f"full_Tahoe_{kind}.csv.gz"))]
    assert ns3.main([str(NS3 / "full_Tahoe.toml"), *options]) == 0
    assert "3 traces" in capsys.readouterr().out


def test_another_variant_is_told_from_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    trace = NS3 / "full_Reno_cwnd.csv.gz"
    assert ns3.main([str(NS3 / "full_Tahoe.toml"), "--cwnd", str(trace)]) == 1
    assert capsys.readouterr().out.startswith(f"{trace}:")


@pytest.mark.parametrize(
    "line",
    ["x reno", "x reno old drop=3", "x cubic old", "x reno old outage=1", "x reno old Agent/TCP:foo_=1"],
)
def test_what_is_no_case_is_refused(line: str) -> None:
    with pytest.raises(reference.Unsaid):
        print([case.scenario() for case in reference.cases(line, NS2)])


def test_bad_input_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text("name = 1\n")
    assert ns2.main([str(scenario), str(NS2 / "drop1_reno_old.csv.gz")]) == 2
    assert ns2.main([str(NS2 / "drop1_reno_old.toml"), str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err


STATE = "time_s,variable,value\n"


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("a.csv", b"time_s,event,packet\n", "nothing is traced in it; lines of time, event"),
        ("a.csv", b"0,send,0\nsoon,send,1\n", "a.csv:2: time = 'soon' is no number"),
        ("a.csv", b"0,send,0\n1,send,1.5\n", "a.csv:2: packet = '1.5' is no number"),
        ("a.csv", b"0,send,0\n1,sent,1\n", "a.csv:2: 'sent' is no event: send, arrive, ack"),
        ("a.csv", b"0,send\n", "a.csv:1: 2 columns, '0,send'; a line of this trace has time, event, packet"),
        ("a.csv", bytes(range(250, 256)) * 9, "a.csv: no text: byte 0 of it is 0xfa"),
        (
            "a.csv.gz",
            gzip.compress(b"0,send,0\n" * 999, mtime=0)[:40],
            "a.csv.gz: the compressed file is cut off",
        ),
        ("a.csv.gz", b"0,send,0\n", "a.csv.gz: not what gzip writes"),
    ],
)
def test_what_is_no_trace_is_refused(
    name: str, written: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 is for runs that differ."""
    trace = tmp_path / name
    trace.write_bytes(written)
    assert ns2.main([str(NS2 / "drop1_reno_old.toml"), str(trace)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1, told


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (STATE, "state.csv: nothing is traced in it"),
        (STATE + "0.0,ssthresh_,50\n", "state.csv: cwnd_ is not traced in it"),
    ],
)
def test_a_state_trace_without_the_window_is_refused(
    written: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state.csv"
    state.write_text(written)
    files = [NS2 / "drop1_reno_old.toml", NS2 / "drop1_reno_old.csv.gz", state]
    assert ns2.main([str(f) for f in files]) == 2
    assert said in capsys.readouterr().err


def test_variables_that_were_not_compared_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with gzip.open(NS2 / "drop1_reno_old_state.csv.gz", "rt") as file:
        lines = [line for line in file if "dupacks_" not in line]
    state = tmp_path / "state.csv"
    state.write_text("".join(lines))
    files = [NS2 / "drop1_reno_old.toml", NS2 / "drop1_reno_old.csv.gz", state]
    assert ns2.main([str(f) for f in files]) == 0
    assert "not traced, so not compared: dupacks_" in capsys.readouterr().out


def test_a_trace_of_another_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    cwnd = NS3 / "full_Tahoe_cwnd.csv.gz"
    assert ns3.main([str(NS3 / "full_Tahoe.toml"), "--segments", str(cwnd)]) == 2
    assert f"{cwnd}:1: 3 columns, '1.000000000,0,536'; a line of this trace has" in capsys.readouterr().err
