"""`threads`: on how many a capture is analysed only the clock sees; the answer is the same to the byte."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rexmit as rx
from rexmit import _core
from test_core import ALL, DATA, RECEIVER, ROOT, SENDER, pcap, tcp

SHARED = ROOT.parent / "shared" / "captures"
THREADS = (2, 3, 16)


def answer(tmp_path: Path, found: _core.Analysis) -> bytes:
    path = tmp_path / "answer.json"
    with path.open("wb") as file:
        found.write_json(file.fileno())
    return path.read_bytes()


def told(tmp_path: Path, paths: list[str], threads: int, **options: Any) -> list[bytes | pa.Table]:
    """The JSON, the page's, and every table."""
    found = _core.analyze(paths, tables=ALL, threads=threads, **options)
    tables = [pa.table(found.table(name)) for name in ALL]
    return [answer(tmp_path, found), found.overview(20).encode(), *tables]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hundred connections, interleaved; each repeats a segment, and every third opens anew after 12 s."""
    syn, ack, fin, push = 2, 16, 17, 24
    steps = [
        (1, 0, 0, syn, 0),
        (2, 0, 1, syn | ack, 0),
        (1, 1, 1, ack, 0),
        (1, 1, 1, push, 1000),
        (1, 1001, 1, push, 1000),
        (1, 1, 1, push, 1000),
        (2, 1, 2001, ack, 0),
        (1, 2001, 1, fin, 0),
        (2, 1, 2002, fin, 0),
        (1, 2002, 2, ack, 0),
    ]
    packets = []
    for again in range(2):
        for n, (side, seq, number, flags, payload) in enumerate(steps):
            for flow in range(0, 200, 3 if again else 1):
                frame = tcp(side, 3 - side, seq + 7 * again, number, flags, payload)
                # In the place of 10.0.0.1 a host of its own.
                at = 12 if side == 1 else 16
                frame = frame[:at] + bytes([10, 1, 0, flow]) + frame[at + 4 :]
                packets.append((1.7e9 + 12 * again + n * 0.3 + flow * 1e-3, frame))
    path = tmp_path_factory.mktemp("many") / "many.pcap"
    path.write_bytes(pcap(packets, snap=60))
    return path


@pytest.mark.parametrize("receiver", [None, [RECEIVER]], ids=["one end", "both ends"])
def test_a_transfer_is_told_alike_on_any_number_of_threads(
    receiver: list[str] | None, tmp_path: Path
) -> None:
    one = told(tmp_path, [SENDER], 1, receiver=receiver)
    for threads in THREADS:
        assert told(tmp_path, [SENDER], threads, receiver=receiver) == one, threads


def test_many_connections_are_told_alike(many: Path, tmp_path: Path) -> None:
    one = told(tmp_path, [str(many)], 1)
    listed = answer(tmp_path, _core.analyze([str(many)], flows=5, listed_only=True, threads=1))
    for threads in THREADS:
        assert told(tmp_path, [str(many)], threads) == one, threads
        some = _core.analyze([str(many)], flows=5, listed_only=True, threads=threads)
        assert answer(tmp_path, some) == listed, threads


def test_a_selection_and_a_part_are_told_alike(many: Path, tmp_path: Path) -> None:
    chosen: list[dict[str, Any]] = [
        {"flow": "10.1.0.9:40000-10.0.0.2:80"},
        {"host": "10.1.0.9"},
        {"start": 1.0, "end": 13.0},
    ]
    for options in chosen:
        one = told(tmp_path, [str(many)], 1, **options)
        assert told(tmp_path, [str(many)], 3, **options) == one, options


def test_a_rotation_and_damaged_files_are_told_alike(many: Path, tmp_path: Path) -> None:
    whole = many.read_bytes()
    half = 24 + len(whole[24:]) // 2
    (tmp_path / "cut.pcap").write_bytes(whole[: half + 5])
    (tmp_path / "damaged.pcap").write_bytes(whole[:half] + b"\xa5" * 300 + whole[half + 300 :])
    with gzip.open(tmp_path / "cut.pcap.gz", "wb") as packed:
        packed.write(whole)
    (tmp_path / "cut.pcap.gz").write_bytes((tmp_path / "cut.pcap.gz").read_bytes()[:-4000])
    for names in (["cut.pcap"], ["damaged.pcap"], ["cut.pcap.gz"]):
        paths = [str(tmp_path / name) for name in names]
        assert told(tmp_path, paths, 3) == told(tmp_path, paths, 1), names
    rotation = [SENDER, str(many)]
    assert told(tmp_path, rotation, 3) == told(tmp_path, rotation, 1)


def test_standard_input_is_told_alike(many: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}

    def said(*options: str) -> bytes:
        words = [sys.executable, "-m", "rexmit", "analyze", "-", "--json", *options]
        with many.open("rb") as whole:
            return subprocess.run(words, stdin=whole, check=True, capture_output=True, env=environment).stdout

    one = said("--threads", "1")
    assert b'"connections":267' in one
    assert said("--threads", "3") == one
    assert said() == one


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_ctrl_c_keeps_what_was_read(many: Path, threads: int) -> None:
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    timer.start()
    found = _core.analyze([str(many)] * 1500, threads=threads)
    timer.join()
    assert found.interrupted()
    seen = json.loads(found.overview(1))
    # Of what was read nothing is lost on its way to a thread.
    assert 0 < seen["capture"]["packets"] < 1500 * 2670
    assert seen["totals"]["flows"] > 0


def test_captures_of_others_are_told_alike(tmp_path: Path) -> None:
    """Whatever is in them: those of the public collection, where it is, else our own."""
    others = [p for p in sorted(SHARED.glob("public/**/*")) if p.is_file() and p.suffix != ".csv"]
    paths = others[::5] or sorted(DATA.glob("*.snd.pcap.gz"))
    for path in paths:
        answers = []
        for threads in (1, 3):
            try:
                found = _core.analyze([str(path)], threads=threads)
            except _core.CaptureError as error:
                answers.append(str(error).encode())
            else:
                answers.append(answer(tmp_path, found))
        assert answers[0] == answers[1], path


def test_no_thread_is_too_few() -> None:
    with pytest.raises(ValueError, match="threads = 0: must be at least 1"):
        rx.capture(SENDER, threads=0)
