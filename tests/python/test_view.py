"""`rexmit view`: every packet by windows, counts that add up, and nothing for anybody but its user."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexmit
from conftest import DATA
from containers import unpack
from rexmit.captured.flows import ON_DEMAND
from rexmit.cli import main
from rexmit.report import make
from rexmit.report.document import inflated
from rexmit.report.server import Server, of_view
from rexmit.report.source import LIMITS, Source
from rexmit.screen.words import CAUSES
from stopping import wait_until

CAPTURE = DATA / "interruption.snd.pcap.gz"
AGAIN = tuple(cause.replace("-", "_") for cause in CAUSES)


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(rexmit.capture(CAPTURE, tables=ON_DEMAND), 0, "interruption")


def packets_of(source: Source) -> dict[str, Any]:
    """All packets of flow 0, as a window has them."""
    head, rows = unpack(source.core.window(0, -(10**15), 10**15, 1))
    assert head["complete"]
    return rows


@pytest.fixture(scope="module")
def server(source: Source) -> Iterator[Server]:
    with Server(of_view([source], "rexmit view"), [source]) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """An answer's status, headers and body. path: what follows the secret; from a slash on, as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest(method, path if path.startswith("/") else server.base + path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{server.server_port}", **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def window(server: Server, span: tuple[float, float], columns: int = 500) -> tuple[dict[str, Any], Any]:
    asked = f"window?source=0&flow=0&from_ns={span[0]:.0f}&to_ns={span[1]:.0f}&columns={columns}"
    status, _, body = ask(server, asked)
    assert status == 200, body
    return unpack(body)


def counted(packets: rexmit.frame.Frame, of: Any) -> dict[str, int]:
    """What bins count, of rows of the table `packets`."""
    data = packets["data"] & of
    cause = np.array([word or "" for word in packets.text("cause")], dtype=object)
    told = {f"again_{name}": int((data & (cause == name.replace("_", "-"))).sum()) for name in AGAIN}
    sack = of & ~packets["data"] & (packets["sack1_end"] > 0)
    return told | {
        "packets": int(of.sum()),
        "bytes": int(packets["len"][data].sum()),
        "sack": int(sack.sum()),
        "dsack": int((packets["dsack"] & of & ~packets["data"]).sum()),
    }


def test_every_level_has_the_sums_of_the_packets_table(source: Source) -> None:
    flow = source.capture.worst(1)[0]
    table, again = flow.frame("packets"), flow.row["retransmitted_packets"]
    wanted = counted(table, np.ones(len(table), dtype=bool)) | {
        "lost": flow.row["lost_copies"],
        "needless": flow.row["needless"],
    }
    made = [unpack(level) for level in source.core.levels(0, 65_536)]
    assert len(made) == 4
    assert made[0][0]["bins"] > 60_000
    for head, bins in made:
        assert head["kind"] == "bins"
        assert len(set(bins["bin"])) == head["rows"] <= head["bins"]
        assert {name: int(bins[name].sum()) if name in bins else 0 for name in wanted} == wanted
        assert sum(int(bins.get(f"again_{name}", np.zeros(1)).sum()) for name in AGAIN) == again
        assert bins["seq_max"].max() == (table["seq"] + table["len"])[table["data"]].max()
        assert bins["ack_max"].max() == table["ack"].max()
        assert bins["flight_max"].max() == flow.row["flight_max_bytes"]
        rtt = flow.frame("rtt")["rtt_s"]
        assert bins["rtt_max_us"].max() == round(rtt.max() * 1e6)
        assert bins["rtt_min_us"][bins["rtt_min_us"] >= 0].min() == round(rtt.min() * 1e6)


def test_a_window_of_many_packets_is_bins_that_add_up(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "window", 100)
    core = Source(source.capture, 0, "interruption").core
    time = packets_of(source)["time_ns"]
    table = source.capture.worst(1)[0].frame("packets")
    begin, end = int(time[0]), int(time[-1])
    # All of it from a level; a part finer than any level from the packets themselves.
    for span, wide in [((begin, end), 500), ((begin, end), 4000), ((2_000_000_000, 2_100_000_000), 2000)]:
        head, bins = unpack(core.window(0, *span, wide))
        assert head["kind"] == "bins"
        assert head["bin_ns"] <= (span[1] - span[0]) / wide + 1
        at = head["start_ns"] + bins["bin"].astype(np.int64) * head["bin_ns"]
        covered = (time >= at[0]) & (time < at[-1] + head["bin_ns"])
        wanted = counted(table, covered)
        assert {name: int(bins[name].sum()) if name in bins else 0 for name in wanted} == wanted
        assert covered[(time >= span[0]) & (time <= span[1])].all()
    for span in [(end + 10**9, end + 2 * 10**9), (-(10**9), -1)]:
        assert unpack(core.window(0, *span, 500))[0]["rows"] == 0


def test_zooming_in_ends_at_single_packets(server: Server, source: Source) -> None:
    table = source.capture.worst(1)[0].frame("packets")
    start = float(table["time"][5000]) * 1e9
    head, found = window(server, (start - 1e6, start + 1e6))
    assert head["kind"] == "packets"
    assert not head["complete"]
    assert 5000 + 1 in found["packet"] or table["packet"][5000] in found["packet"]
    within = np.abs(table["time"] * 1e9 - start) <= 1e6 + 1
    assert np.array_equal(found["packet"], table["packet"][within])


def test_a_flow_that_meta_does_not_tell_of_is_loaded(server: Server) -> None:
    status, headers, body = ask(server, "load?source=0&flow=1")
    assert status == 200
    assert headers["Content-Type"] == "application/json"
    told = json.loads(body)
    assert told["flow"] == 1
    assert told["row"]["sender"] == "10.77.0.2:40001"
    assert told["packets"]["held"] == "windows"


def test_page_meta_and_blobs_are_there(server: Server, source: Source) -> None:
    status, headers, body = ask(server, "")
    assert status == 200
    assert re.search(rb'id="rexmit-server"[^>]*>\{"base":"/[\w-]{32}/"\}</script>', body)
    assert "script-src 'sha256-" in headers["Content-Security-Policy"]
    assert "unsafe-inline" not in headers["Content-Security-Policy"].split("script-src")[1].split(";")[0]
    assert headers["X-Content-Type-Options"] == "nosniff"
    status, _, body = ask(server, "meta.json")
    told = json.loads(body)
    assert told["sources"][0]["totals"] == source.capture.overview(0)["totals"]
    name = told["sources"][0]["details"][0]["rtt"]
    status, _, body = ask(server, f"blob/{name}")
    assert unpack(body)[0]["rows"] == len(source.capture.worst(1)[0].frame("rtt"))


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_another_host_or_page_gets_nothing(server: Server, headers: dict[str, str]) -> None:
    for path in ("", "meta.json", "load?source=0&flow=0"):
        status, _, body = ask(server, path, **headers)
        assert status == 403
        assert b"10.77" not in body
        assert b"<script" not in body


def test_its_own_page_may_ask(server: Server) -> None:
    for host in ("127.0.0.1", "localhost"):
        here = f"{host}:{server.server_port}"
        assert (
            ask(server, "meta.json", Host=here, Origin=f"http://{here}", Sec_Fetch_Site="same-origin")[0]
            == 200
        )


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/meta.json",
        "/x/meta.json",
        "//meta.json",
        "../meta.json",
        "blob/../../../../etc/passwd",
        "blob/%2e%2e/%2e%2e/etc/passwd",
        "blob//etc/passwd",
        "blob/0/0/../0/rtt",
        "/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "explorer.html",
        "blob/",
        "window/",
    ],
)
def test_nothing_else_is_served(server: Server, path: str) -> None:
    status, _, body = ask(server, path)
    assert status == 404
    assert b"root:" not in body
    assert "error" in json.loads(body)


@pytest.mark.parametrize("place", ["first", "last", "longer", "shorter"])
def test_a_wrong_token_is_no_token(server: Server, place: str) -> None:
    secret = server.base.strip("/")
    other = "A" if secret[0] != "A" else "B"
    wrong = {
        "first": other + secret[1:],
        "last": secret[:-1] + ("A" if secret[-1] != "A" else "B"),
        "longer": secret + "A",
        "shorter": secret[:-1],
    }[place]
    assert ask(server, f"/{wrong}/meta.json")[0] == 404


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("window?source=0&flow=0&from_ns=9&to_ns=1&columns=10", 400, "to_ns = 1 is before from_ns = 9"),
        ("window?source=0&flow=0&from_ns=x&to_ns=1&columns=10", 400, "from_ns: a whole number is wanted"),
        ("window?source=0&flow=0&from_ns=nan&to_ns=1&columns=10", 400, "from_ns: a whole number is wanted"),
        ("window?source=0&flow=0&from_ns=1e99&to_ns=1&columns=10", 400, "from_ns: a whole number is wanted"),
        ("window?source=0&flow=0&from_ns=0&to_ns=1", 400, "columns: a whole number is wanted"),
        ("window?source=0&flow=7&from_ns=0&to_ns=1&columns=1", 404, "there is no flow 7"),
        ("load?source=3&flow=0", 404, "there is no source 3"),
        ("load?source=0&flow=-1", 404, "there is no flow -1"),
    ],
)
def test_a_bad_question_gets_a_sentence(server: Server, asked: str, status: int, says: str) -> None:
    got, _, body = ask(server, asked)
    assert (got, json.loads(body)["error"]) == (status, says)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n"], ids=len)
def test_a_client_that_resets_its_connection_leaves_no_traceback(
    server: Server, sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    if b"%s" in sent:
        sent %= (server.base.encode(), f"127.0.0.1:{server.server_port}".encode())
    before = threading.active_count()
    for _ in range(50):
        client = socket.create_connection(("127.0.0.1", server.server_port))
        client.sendall(sent)
        # Closing sends RST instead of FIN.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    assert ask(server, "meta.json")[0] == 200
    wait_until(lambda: threading.active_count() <= before)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_it_only_answers_questions(server: Server, method: str) -> None:
    assert ask(server, "meta.json", method)[0] == 501


def test_it_listens_on_this_machine_only(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.base.strip("/")) >= 32


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_and_leaves_nothing(sign: signal.Signals, tmp_path: Path) -> None:
    # Started without its handler, Python keeps Ctrl-C ignored, as a shell's background jobs do.
    command = [sys.executable, "-m", "rexmit", "view", str(CAPTURE)]
    with subprocess.Popen(
        command,
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as child:
        assert child.stdout is not None
        address = child.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
        child.send_signal(sign)
        assert child.wait(20) == 0
    assert list(tmp_path.iterdir()) == []


#: `rexmit` with columns in files even of a small capture.
IN_FILES = """
import sys
from rexmit.cli import main
from rexmit.report.source import LIMITS
LIMITS["in_memory"] = 1000
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_kill_9_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-u", "-c", IN_FILES, "view", str(CAPTURE)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("http://127.0.0.1:")
        child.kill()
        assert child.wait(20) == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_packets_in_files_are_those_in_memory(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "in_memory", 1000)
    other = Source(source.capture, 0, "interruption").core
    span = (0, 4_000_000_000)
    assert len(other) == len(source.core) > 1000
    assert other.window(0, *span, 500) == source.core.window(0, *span, 500)
    assert other.rtt(0, *span) == source.core.rtt(0, *span)
    assert other.levels(0, 1000) == source.core.levels(0, 1000)


@pytest.fixture
def crowded(source: Source, monkeypatch: pytest.MonkeyPatch) -> Callable[..., make.Made]:
    """The page of the capture as if a file held so many packets only."""

    def made(room: int, **limits: int) -> make.Made:
        for name, most in {"raw": room, **limits}.items():
            monkeypatch.setitem(LIMITS, name, most)
        return make.of_capture([Source(source.capture, 0, "interruption")], "rexmit report x")

    return made


def test_a_large_capture_has_bins_and_its_worst_episodes(crowded: Callable[..., make.Made]) -> None:
    made = crowded(6000)
    large, small = made.meta["sources"][0]["details"]
    blobs = {name: inflated(blob) for name, blob in made.blobs.items()}
    assert small["packets"]["held"] == "all"
    assert large["packets"]["held"] == "windows"
    assert large["packets"]["blobs"]
    wanted = large["packets"]["count"]
    for level in large["bins"]:
        head, bins = unpack(blobs[level["blob"]])
        assert head["bin_ns"] == level["bin_ns"]
        assert bins["packets"].sum() == wanted
    held_there = 0
    for blob in large["packets"]["blobs"]:
        head, rows = unpack(blobs[blob])
        assert not head["complete"]
        number = int(blob.rpartition("/")[2])
        (episode,) = [e for e in large["episodes"] if e["number"] == number]
        assert rows["time_ns"][0] < episode["start_ns"]
        assert (rows["episode"] == number + 1).any()
        held_there += head["rows"]
    assert held_there + small["packets"]["count"] <= 6000


def test_of_an_episode_that_does_not_fit_its_beginning_is_there(crowded: Callable[..., make.Made]) -> None:
    def kept(room: int, **limits: int) -> list[int]:
        made = crowded(room, **limits)
        large, small = made.meta["sources"][0]["details"]
        assert small["packets"]["held"] == "all"
        return [unpack(inflated(made.blobs[blob]))[0]["rows"] for blob in large["packets"]["blobs"]]

    small = crowded(6000).meta["sources"][0]["details"][1]["packets"]["count"]
    (whole, *_) = kept(6000)
    assert whole > 500
    assert kept(whole + small, beginning=300)[0] == whole
    assert kept(whole + small - 1, beginning=300) == [whole - 1]
    assert kept(299 + small, beginning=300) == []


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_no_room_is_a_sentence(tmp_path: Path) -> None:
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [sys.executable, "-c", IN_FILES, "view", str(CAPTURE)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    for folder, prepared in ((tmp_path, limited), (tmp_path / "not-there", None)):
        done = subprocess.run(
            command,
            env=environment | {"TMPDIR": str(folder)},
            preexec_fn=prepared,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 1
        said = f"rexmit: {folder}: packets are kept there for a while: .*; name another place with TMPDIR\n"
        assert re.fullmatch(said, done.stderr), done.stderr


def test_a_port_that_is_taken_is_a_sentence(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    previous = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["view", str(CAPTURE), "--port", str(server.server_port)]) == 1
    finally:
        signal.signal(signal.SIGTERM, previous)
    assert f"--port {server.server_port}: address already in use" in capsys.readouterr().err


def twin(packets: dict[str, Any], start_ns: int, bin_ns: int) -> dict[int, dict[str, int]]:
    """The bins of packets, packet by packet, as explorer/FORMAT.md has them."""
    nothing = [0] * len(packets["packet"])
    blocks = {f"sack{k}_{end}": nothing for k in range(1, 5) for end in ("start", "end")}
    rows = blocks | {name: values.astype(np.int64).tolist() for name, values in packets.items()}
    made: dict[int, dict[str, int]] = {}
    for i, at in enumerate(rows["time_ns"]):
        told = made.setdefault((at - start_ns) // bin_ns, {})

        def most(name: str, value: int, told: dict[str, int] = told) -> None:
            told[name] = max(told.get(name, -1), value)

        def span(name: str, a: int, z: int, told: dict[str, int] = told) -> None:
            told[f"{name}_min"] = min(told.get(f"{name}_min", a), a)
            told[f"{name}_max"] = max(told.get(f"{name}_max", z), z)

        def add(name: str, n: int = 1, told: dict[str, int] = told) -> None:
            told[name] = told.get(name, 0) + n

        add("packets")
        most("flight_max", rows["flight"][i])
        seq, end = rows["seq"][i], rows["seq"][i] + rows["len"][i]
        if rows["data"][i]:
            add("bytes", end - seq)
            if end > seq:
                span("seq", seq, end)
            if rows["lost"][i]:
                add("lost")
                span("lost", seq, end)
            if rows["needless"][i]:
                add("needless")
            if rows["cause"][i]:
                add(f"again_{AGAIN[rows['cause'][i] - 1]}")
                span("again", seq, end)
            continue
        if rows["ack"][i] >= 0:
            most("ack_max", rows["ack"][i])
            if rows["window"][i] >= 0:
                most("edge_max", rows["ack"][i] + rows["window"][i])
        blocks = [(rows[f"sack{k}_start"][i], rows[f"sack{k}_end"][i]) for k in range(1, 5)]
        blocks = [block for block in blocks if block[1] > block[0]]
        if blocks:
            add("sack")
        if rows["dsack"][i]:
            add("dsack")
            blocks = blocks[1:]
        for block in blocks:
            span("sack", *block)
    return made


@pytest.mark.parametrize("most", [1, 7, 1000, 65_536])
def test_bins_are_those_of_a_twin_that_goes_packet_by_packet(source: Source, most: int) -> None:
    head, bins = unpack(source.core.levels(0, most)[0])
    wanted = twin(packets_of(source), head["start_ns"], head["bin_ns"])
    # Round trips lie beside the packets.
    bins = {name: values for name, values in bins.items() if not name.startswith("rtt_")}
    assert bins["bin"].tolist() == sorted(wanted)
    names = {name for told in wanted.values() for name in told}
    assert set(bins) == names | {"bin"}
    for name in names:
        nothing = -1 if name.endswith(("_min", "_max")) else 0
        assert bins[name].tolist() == [wanted[place].get(name, nothing) for place in bins["bin"].tolist()], (
            name
        )


@pytest.mark.skipif(os.name != "posix", reason="a browser that is a script")
def test_open_keeps_the_secret_out_of_command_lines(tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}.new && mv {seen}.new {seen}\n')
    browser.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"BROWSER": f"{browser} %s", "TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-u", "-m", "rexmit", "view", str(CAPTURE), "--open"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        address = child.stdout.readline().strip()
        wait_until(seen.exists)
        told = seen.read_text().strip()
        assert told.startswith("file:///")
        assert address.split("/")[3] not in told
        file = Path(told.removeprefix("file://"))
        assert f"url={address}" in file.read_text()
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        child.kill()
    # The file goes also if nobody is left to remove it.
    wait_until(lambda: not list((tmp_path / "tmp").iterdir()))
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_file_may_lead_to_the_page_and_to_nothing_else(server: Server) -> None:
    led = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert ask(server, "", **led)[0] == 200
    assert ask(server, "meta.json", **led)[0] == 403
    assert ask(server, "", **led | {"Sec_Fetch_Dest": "iframe"})[0] == 403
    assert ask(server, "", **led | {"Origin": "null"})[0] == 403
