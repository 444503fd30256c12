"""The compiled core, on real captures and on small ones made here."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rexmit import _core

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
SENDER = str(DATA / "interruption.snd.pcap.gz")
RECEIVER = str(DATA / "interruption.rcv.pcap.gz")
ALL: tuple[_core.TableName, ...] = (
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
)


def pcap(packets: list[tuple[float, bytes]], snap: int = 65535, link: int = 101) -> bytes:
    """A capture file of raw IP packets, each with its time."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link)
    for at, data in packets:
        seconds = int(at)
        out += struct.pack("<IIII", seconds, round((at - seconds) * 1e6), min(len(data), snap), len(data))
        out += data[:snap]
    return out


def tcp(src: int, dst: int, seq: int, ack: int, flags: int, payload: int = 0) -> bytes:
    """An IPv4 packet from 10.0.0.src to 10.0.0.dst, ports 40000 and 80."""
    ports = (40000, 80) if src < dst else (80, 40000)
    header = struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 64000, 0, 0)
    size = 20 + len(header) + payload
    ip = struct.pack(">BBHHHBBH4B4B", 0x45, 0, size, 0, 0, 64, 6, 0, 10, 0, 0, src, 10, 0, 0, dst)
    return ip + header + bytes(payload)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """SYN, SYN-ACK, ACK; 1000 bytes; their ACK; FIN both ways."""
    syn, ack, fin, push = 2, 16, 17, 24
    packets = [
        (0.0, tcp(1, 2, 0, 0, syn)),
        (0.02, tcp(2, 1, 0, 1, syn | ack)),
        (0.04, tcp(1, 2, 1, 1, ack)),
        (0.041, tcp(1, 2, 1, 1, push, 1000)),
        (0.06, tcp(2, 1, 1, 1001, ack)),
        (0.08, tcp(1, 2, 1001, 1, fin)),
        (0.1, tcp(2, 1, 1, 1002, fin)),
        (0.12, tcp(1, 2, 1002, 2, ack)),
    ]
    path = tmp_path / "small.pcap"
    path.write_bytes(pcap([(1.7e9 + at, data) for at, data in packets]))
    return path


@pytest.fixture(scope="module")
def analysis() -> _core.Analysis:
    return _core.analyze([SENDER], tables=ALL)


def written(analysis: _core.Analysis, tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "answer.json"
    with path.open("wb") as file:
        analysis.write_json(file.fileno())
        assert not file.closed
        os.fstat(file.fileno())  # the descriptor was lent, not given away
    answer: dict[str, Any] = json.loads(path.read_text())
    return answer


def schema() -> jsonschema.Draft202012Validator:
    read = json.loads((ROOT / "docs" / "json.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(read)
    return jsonschema.Draft202012Validator(read)


def captures() -> list[Path]:
    return [p for p in sorted(DATA.iterdir()) if ".pcap" in p.name]


@pytest.mark.parametrize("path", captures(), ids=lambda p: p.name)
def test_the_answer_is_as_its_schema_says(path: Path, tmp_path: Path) -> None:
    analysis = _core.analyze([str(path)])
    schema().validate(written(analysis, tmp_path))
    schema().validate(json.loads(analysis.overview(3)))


def test_the_answer_about_two_captures_is_as_its_schema_says(tmp_path: Path) -> None:
    answer = written(_core.analyze([SENDER], receiver=[RECEIVER]), tmp_path)
    schema().validate(answer)
    pair = answer["capture"]["pair"]
    assert pair["matched_packets"] > 12_000
    assert pair["clock"] is not None
    assert pair["receiver_side"]["lost"] == 13  # the bridge's log of drops says so
    assert max(b["lost_acks"] for f in answer["flows"] for b in f["bursts"]) in range(1, 14)


def test_every_key_is_documented(tmp_path: Path) -> None:
    # What a recording adds has a page of its own.
    text = "".join((ROOT / "docs" / page).read_text() for page in ("json.md", "record.md"))

    def keys(schema: Any) -> Iterator[str]:
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
            for value in schema.values():
                yield from keys(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from keys(value)

    read = json.loads((ROOT / "docs" / "json.schema.json").read_text())
    spoken = {"value", "by_cause", "receiver"}
    assert [k for k in sorted(set(keys(read)) - spoken) if f"`{k}`" not in text] == []


def test_tables_and_json_say_the_same(analysis: _core.Analysis, tmp_path: Path) -> None:
    answer = written(analysis, tmp_path)
    flows = pa.table(analysis.table("flows")).to_pylist()
    assert [f["flow"] for f in flows] == [f["flow"] for f in answer["flows"]]
    origin = pd.Timestamp(answer["capture"]["start"])
    for row, f in zip(flows, answer["flows"], strict=True):
        assert (row["sender"], row["bytes"], row["cost_s"]) == (f["sender"], f["bytes"], f["cost_s"])
        assert row["retransmitted_segments"] == f["retransmissions"]["total"]
        assert (row["start"] - origin).total_seconds() == pytest.approx(f["start_s"], abs=1e-9)
    for name in ("bursts", "episodes", "idle"):
        table = pa.table(analysis.table(name)).to_pylist()  # type: ignore[arg-type]
        listed = [row for f in answer["flows"] for row in f[name]]
        assert len(table) == len(listed)
        for row, other in zip(table, listed, strict=True):
            assert (row["start"] - origin).total_seconds() == pytest.approx(other["start_s"], abs=1e-9)
    causes = Counter(r["cause"] for r in pa.table(analysis.table("retransmissions")).to_pylist())
    totals = answer["totals"]["retransmissions"]
    assert sum(causes.values()) == totals["packets"]
    assert set(causes) == {cause for cause, n in totals["by_cause"].items() if n}


@pytest.mark.parametrize("name", ALL)
def test_four_libraries_read_the_same_rows(analysis: _core.Analysis, name: _core.TableName) -> None:
    table = analysis.table(name)
    arrow = pa.table(table)
    assert arrow.num_rows == len(table)
    assert arrow.column_names == table.columns
    assert table.name == name
    polars = pl.DataFrame(table)
    assert polars.to_arrow().cast(arrow.schema).equals(arrow)
    pandas = pd.DataFrame.from_arrow(table)
    assert list(pandas.columns) == table.columns
    assert len(pandas) == len(table)
    assert pandas["flow"].tolist() == arrow["flow"].to_pylist()
    rows = table  # DuckDB finds it by its name
    (counted,) = duckdb.sql("select count(*), sum(flow) from rows").fetchall()
    del rows
    assert counted == (len(table), sum(arrow["flow"].to_pylist()) if len(table) else None)


def test_columns_carry_units_and_types(analysis: _core.Analysis) -> None:
    for name in ALL:
        for field in pa.table(analysis.table(name)).schema:
            where = f"{name}.{field.name}"
            if field.name == "flow":
                assert field.type == pa.uint32()
            elif field.name.endswith("_s"):
                assert field.type == pa.float64(), where
            elif field.name in ("start", "end", "last", "time", "first_repair", "first_data", "last_data"):
                assert field.type == pa.timestamp("ns", "UTC"), where
            elif field.name.endswith("_bytes"):
                assert field.type == pa.int64(), where


def test_a_table_that_was_not_kept_says_how_to_keep_it() -> None:
    analysis = _core.analyze([SENDER])
    with pytest.raises(ValueError, match=r'table packets was not kept: analyze with tables=\("packets",\)'):
        analysis.table("packets")
    with pytest.raises(ValueError, match='"nonsense" is no table: flows, bursts'):
        analysis.table("nonsense")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="retransmissions and packets were not kept"):
        _core.annotate(analysis, [SENDER], "never.pcapng")


def test_the_json_lists_the_worst_flows_and_counts_the_others(tmp_path: Path) -> None:
    many = str(tmp_path / "many.pcap")
    # Flow n sends n hundred bytes; none is in trouble.
    sent = [(1.7e9 + n * 1e-3, tcp(n, 250, 1, 1, 24, 100 * n)) for n in range(1, 201)]
    Path(many).write_bytes(pcap(sent))
    whole = _core.analyze([many], flows=5)
    only = _core.analyze([many], flows=5, listed_only=True)
    answer = written(only, tmp_path)
    schema().validate(answer)
    assert answer == written(whole, tmp_path)
    assert [f["bytes"] for f in answer["flows"]] == [19_600, 19_700, 19_800, 19_900, 20_000]
    assert (answer["flows_listed"], answer["flows_left_out"]) == (5, 195)
    assert answer["totals"]["flows"] == len(whole.table("flows")) == 200
    everything = written(_core.analyze([many], flows=None, listed_only=True), tmp_path)
    assert (everything["flows_listed"], everything["flows_left_out"]) == (200, 0)
    assert everything["totals"] == answer["totals"]
    assert [f["bytes"] for f in json.loads(only.overview(3))["flows"]] == [20_000, 19_900, 19_800]
    with pytest.raises(ValueError, match="table flows was not kept whole: analyze without listed_only"):
        only.table("flows")


def test_a_small_transfer_is_told_whole(small: Path, tmp_path: Path) -> None:
    answer = written(_core.analyze([str(small)]), tmp_path)
    assert answer["capture"]["packets"] == 8
    assert answer["capture"]["start"] == "2023-11-14T22:13:20Z"
    (flow,) = [f for f in answer["flows"] if f["bytes"]]
    assert (flow["sender"], flow["receiver"]) == ("10.0.0.1:40000", "10.0.0.2:80")
    assert (flow["bytes"], flow["closed"]) == (1000, "fin")
    assert flow["retransmissions"]["total"] == 0
    assert flow["throughput_bps"] == round(8000 / flow["duration_s"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"idle": -1.0}, "idle = -1: not a number of seconds"),
        ({"interval": 0.0}, "interval = 0: must be above 0"),
        ({"start": float("nan")}, "start = NaN"),
        ({"at": "moon"}, "one of sender, receiver, middle"),
        ({"flow": "10.0.0.1:80"}, "--flow"),
        ({"host": "example.org"}, "is no IP address"),
        ({"tables": ["bursts", "losses"]}, '"losses" is no table'),
    ],
)
def test_arguments_that_make_no_sense_are_refused(small: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _core.analyze([str(small)], **options)


def test_what_cannot_be_read_is_one_sentence(small: Path, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pcap")
    with pytest.raises(_core.CaptureError, match=r"missing\.pcap: no such file"):
        _core.analyze([missing])
    with pytest.raises(_core.CaptureError, match="none of its 8 TCP packets is selected"):
        _core.analyze([str(small)], port=99)
    with pytest.raises(_core.CaptureError, match="takes two passes"):
        _core.analyze(["-"], receiver=[str(small)])


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 packets of one connection."""
    path = tmp_path_factory.mktemp("big") / "big.pcap"
    path.write_bytes(pcap([(float(i) * 1e-4, tcp(1, 2, i * 100, 1, 16, 100)) for i in range(20_000)]))
    return path


def test_progress_is_told_and_may_end_the_reading(big: Path) -> None:
    told: list[tuple[int, int | None, int]] = []

    def stop(done: int, total: int | None, packets: int) -> bool:
        told.append((done, total, packets))
        return False

    paths = [str(big)] * 200
    analysis = _core.analyze(paths, progress=stop)
    assert analysis.interrupted()
    (first,) = told
    assert 0 < first[0] < (first[1] or 0)
    seen = json.loads(analysis.overview(1))
    assert 0 < seen["capture"]["packets"] < 200 * 20_000
    assert seen["capture"]["interrupted"] is True
    assert seen["flows"][0]["bytes"] > 0


def test_an_error_in_progress_comes_back(big: Path) -> None:
    def fail(done: int, total: int | None, packets: int) -> bool:
        raise RuntimeError("no terminal")

    with pytest.raises(RuntimeError, match="no terminal"):
        _core.analyze([str(big)] * 200, progress=fail)


def test_ctrl_c_keeps_what_was_read(big: Path) -> None:
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    timer.start()
    analysis = _core.analyze([str(big)] * 400)
    timer.join()
    assert analysis.interrupted()
    assert 0 < json.loads(analysis.overview(0))["capture"]["packets"] < 400 * 20_000


def test_ctrl_c_ends_the_wait_for_a_silent_pipe() -> None:
    whole = pcap([(float(i) * 1e-3, tcp(1, 2, i * 100, 1, 16, 100)) for i in range(50)])
    words = [sys.executable, "-m", "rexmit", "analyze", "-", "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdin
        assert child.stdout
        child.stdin.write(whole[:-70])
        child.stdin.flush()
        for _ in range(100):
            time.sleep(0.3)
            if asleep_in_read(child.pid):
                child.send_signal(signal.SIGINT)
                break
        said = child.stdout.read()
        assert child.wait(20) == 0
    seen = json.loads(said)["capture"]
    assert (seen["interrupted"], seen["packets"], seen["damage"]) == (True, 49, None)


def test_ctrl_c_ends_the_wait_for_a_pipe_that_nobody_writes_to(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "p")
    words = [sys.executable, "-m", "rexmit", "analyze", str(pipe)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen(words, stderr=subprocess.PIPE, env=environment) as child:
        for _ in range(100):
            time.sleep(0.3)
            if asleep_in_open(child.pid):
                child.send_signal(signal.SIGINT)
                break
        try:
            _, said = child.communicate(timeout=10)
        finally:
            child.kill()
    assert (child.returncode, said.decode()) == (
        2,
        f"rexmit: {pipe}: nothing came until it was stopped: nothing was read\n",
    )


def asleep_in_open(pid: int) -> bool:
    """Whether a process waits in open(2) or openat(2)."""
    call = Path(f"/proc/{pid}/syscall").read_text().split()
    return call[0] in {"x86_64": ("2", "257"), "aarch64": ("56",)}[os.uname().machine]


def asleep_in_read(pid: int) -> bool:
    """Whether a process waits in read(2) of its standard input (Linux tells root and its parent)."""
    call = Path(f"/proc/{pid}/syscall").read_text().split()
    return call[:2] == [{"x86_64": "0", "aarch64": "63"}[os.uname().machine], "0x0"]


def test_both_ends_that_are_given_as_one_rotation_are_told() -> None:
    """Whatever order they are in; what is taken at one place, or shows other transfers, is asked about."""
    others = str(DATA / "A1_reno_22M_deep_200ms.rcv.pcap.gz")
    for paths in ([SENDER, RECEIVER], [RECEIVER, SENDER]):
        warnings = json.loads(_core.analyze(paths).overview())["capture"]["warnings"]
        assert f"did you mean --receiver {RECEIVER}?" in " ".join(warnings), warnings
        assert "of one rotation?" not in " ".join(warnings)
    # What is told can be typed behind the other capture.
    said = [
        subprocess.run(
            [sys.executable, "-m", "rexmit", "analyze", *paths, "--json"], capture_output=True, check=True
        ).stdout
        for paths in ([SENDER, "--receiver", RECEIVER], ["--sender", SENDER, "--receiver", RECEIVER])
    ]
    assert said[0] == said[1]
    assert json.loads(said[0])["capture"]["vantage"] == "both"
    for paths in ([SENDER, SENDER], [SENDER, RECEIVER, RECEIVER], [SENDER, others]):
        warnings = json.loads(_core.analyze(paths).overview())["capture"]["warnings"]
        assert "--receiver" not in " ".join(warnings), warnings
    warnings = json.loads(_core.analyze([SENDER, SENDER]).overview())["capture"]["warnings"]
    assert "are they of one rotation?" in " ".join(warnings)


def test_captures_given_the_wrong_way_round_are_turned_round() -> None:
    right, wrong = (_core.analyze([a], receiver=[b]) for a, b in ((SENDER, RECEIVER), (RECEIVER, SENDER)))
    assert (right.swapped(), wrong.swapped()) == (False, True)
    assert pa.table(right.table("flows")).equals(pa.table(wrong.table("flows")))
    said = json.loads(wrong.overview(0))["capture"]
    assert said["vantage"] == "both"
    assert said["warnings"][0].startswith("the captures were given the wrong way round")


def test_one_capture_as_both_ends_is_answered_as_one() -> None:
    alone, twice = _core.analyze([SENDER]), _core.analyze([SENDER], receiver=[SENDER])
    assert pa.table(alone.table("flows")).equals(pa.table(twice.table("flows")))
    said = json.loads(twice.overview(0))["capture"]
    assert said["vantage"] == "sender"
    assert said["pair"]["matched_packets"] > 0
    assert said["warnings"][0].startswith("one clock offset fits every packet of both captures")


def test_a_descriptor_that_takes_nothing_is_an_error(analysis: _core.Analysis) -> None:
    with Path("/dev/full").open("wb") as full, pytest.raises(OSError, match="No space left"):
        analysis.write_json(full.fileno())


def test_findings_stand_as_comments_on_their_packets(analysis: _core.Analysis, tmp_path: Path) -> None:
    out = tmp_path / "told.pcapng"
    n = _core.annotate(analysis, [SENDER], str(out))
    repaired = {r["packet"] for r in pa.table(analysis.table("retransmissions")).to_pylist()}
    probes = {r["packet"] for r in pa.table(analysis.table("probes")).to_pylist() if r["new_data"]}
    lost = pa.table(analysis.table("bursts"))["lost_copies"].to_pylist()
    assert n > len(repaired | probes) + 0.9 * sum(lost)
    text = out.read_bytes()
    assert text.count(b"rexmit: episode 1 begins: ") == text.count(b"rexmit: episode 1 ends: ") == 1
    assert text.count(b"rexmit: idle for ") == len(pa.table(analysis.table("idle")))
    assert out.read_bytes().count(b"rexmit: retransmission (recovery, SACK)") > 1000
    again = _core.analyze([str(out)])
    before, after = (json.loads(a.overview(0))["totals"] for a in (analysis, again))
    assert before == after
    twice = tmp_path / "twice.pcapng"
    again = _core.analyze([str(out)], tables=["retransmissions", "packets"])
    assert _core.annotate(again, [str(out)], str(twice)) == n
    assert twice.read_bytes() == text


def test_a_table_can_be_read_often_and_outlives_its_analysis() -> None:
    table = _core.analyze([SENDER]).table("bursts")
    assert pa.table(table).equals(pa.table(table))
    stream = pa.RecordBatchReader.from_stream(table)
    del table
    assert stream.read_all().num_rows > 0
