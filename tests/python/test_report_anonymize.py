"""`--anonymize`: no address, name or path of what a page shows is among its bytes."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from threading import Thread

import pytest

import rexmit
from conftest import DATA
from rexmit.captured.flows import ON_DEMAND
from rexmit.cli import main
from rexmit.report.anonymize import Anonymous
from rexmit.report.make import hidden
from rexmit.report.server import Server, of_view
from rexmit.report.source import Source
from test_report import Page

CAPTURE = DATA / "A1_reno_22M_deep_200ms.snd.pcap.gz"
RECEIVER = DATA / "A1_reno_22M_deep_200ms.rcv.pcap.gz"
SCENARIO = """
name = "acme-frankfurt"
duration = "5s"

[[node]]
name = "alice-laptop"
[[node]]
name = "sender"

[[link]]
name = "vpn-berlin"
between = ["alice-laptop", "sender"]
rate = "5Mbps"
delay = "10ms"
[[link.channel]]
name = "zephyr-outage"
kind = "outage"
schedule = { every = "2s", for = "300ms", phase = "1s" }

[[flow]]
name = "payroll-upload"
from = "alice-laptop"
to = "sender"
stack = "linux-6-cubic"
workload = { kind = "file", size = "2MB" }

[record]
state = true
"""


def everything(page: Page) -> str:
    """All that the file says, unpacked; containers as the text that is in their headers."""
    return page.text + "".join(blob.decode("latin-1") for blob in page.blobs.values())


def test_a_capture_keeps_its_figures_and_loses_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "home-of-alice" / "customer acme"
    folder.mkdir(parents=True)
    taken = folder / "secret-transfer.pcap.gz"
    taken.write_bytes(CAPTURE.read_bytes())
    assert main(["report", str(taken), "--anonymize"]) == 0
    page = Page(tmp_path / "report.html")
    text = everything(page)
    for secret in ("10.77.", "secret-transfer", "alice", "acme", str(tmp_path), "pytest"):
        assert secret not in text, secret
    assert page.meta["anonymized"]
    assert page.meta["title"] == "capture-1"
    assert page.meta["command"] == "rexmit report 'capture-1' --anonymize"
    told = page.details()[0]
    assert (told["row"]["sender"], told["row"]["receiver"]) == ("198.18.0.1:47596", "198.18.0.2:40001")
    assert told["row"]["bytes"] == 10_000_000
    # The sentences are those of the page, word for word.
    answer = rexmit.capture(CAPTURE).overview(1)["flows"][0]["answer"]
    assert told["answer"]["text"] == answer["text"]
    assert [share["text"] for share in told["answer"]["causes"]] == [s["text"] for s in answer["causes"]]


def test_both_ends_have_the_same_other_addresses(tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert (
        main(["report", "--sender", str(CAPTURE), "--receiver", str(RECEIVER), "--anonymize", "-o", str(out)])
        == 0
    )
    page = Page(out)
    assert not re.search(r"10\.77\.|A1_reno|\.pcap", everything(page))
    senders = {source["flows"]["columns"]["sender"][0] for source in page.meta["sources"]}
    assert senders == {"198.18.0.1:47596"}
    assert page.meta["command"] == "rexmit report --sender capture-1 --receiver capture-2 --anonymize"


def test_a_run_loses_the_names_of_its_scenario(tmp_path: Path) -> None:
    file, out = tmp_path / "acme.toml", tmp_path / "r.html"
    file.write_text(SCENARIO)
    assert main(["report", str(file), "--anonymize", "-o", str(out)]) == 0
    page = Page(out)
    text = everything(page)
    for secret in ("acme", "frankfurt", "alice", "berlin", "zephyr", "payroll", "10.0.0."):
        assert secret not in text, secret
    source, *_ = page.meta["sources"]
    scenario = source["run"]["scenario"]
    # What had a name that any sender has is renamed where it is a name, and only there.
    assert 'between = ["node-1", "node-2"]' in scenario
    assert source["run"]["simulation"]["flows"][0]["flow"] == "flow-1"
    assert source["place"] in ("sender", "both")
    plain = tmp_path / "plain.html"
    assert main(["report", str(file), "-o", str(plain)]) == 0
    assert "payroll-upload" in everything(Page(plain))


def test_what_is_loaded_later_is_hidden_too() -> None:
    capture = rexmit.capture(CAPTURE, tables=ON_DEMAND)
    source, hide = Source(capture, 0, capture.name), hidden([capture]).apply
    with Server(of_view([source], "rexmit view x", hide), [source], 0, hide) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        for path in ("meta.json", "load?source=0&flow=0", "load?source=0&flow=1", "load?source=9&flow=1"):
            try:
                with urllib.request.urlopen(server.address + path) as answer:
                    said = answer.read().decode()
            except urllib.error.HTTPError as error:
                said = error.read().decode()
            assert "10.77." not in said
            assert "A1_reno" not in said
            assert json.loads(said)
        server.shutdown()


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("10.0.0.1:80 → 10.0.0.2:443", "198.18.0.1:80 → 198.18.0.2:443"),
        ("it ended at 10.0.0.1.", "it ended at 198.18.0.1."),
        ("file:10.0.0.1,10.0.0.1", "file:198.18.0.1,198.18.0.1"),
        ("[fe80::1]:80 and ::ffff:10.0.0.1", "[2001:db8::1]:80 and 2001:db8::2"),
        ("2a00:1450:4001:81b::200e: reset", "2001:db8::1: reset"),
        ("00:1b:21:3c:4d:5e sent", "02:00:00:00:00:01 sent"),
        ("see /home/alice/x.pcap, cut off", "see path-1, cut off"),
        ("C:\\Users\\alice\\x.pcap", "path-1"),
        ("1967433:1968881(1448), at 12:30:45", "1967433:1968881(1448), at 12:30:45"),
        ("1448 of 3.5 s, 0.75 s/1.5 s, rexmit 0.1.0", "1448 of 3.5 s, 0.75 s/1.5 s, rexmit 0.1.0"),
        ("sent/received and/or lost", "sent/received and/or lost"),
        ("upload by acme-pc; acme-pc.lan", "upload by host-1; host-1.lan"),
        ("acme-pcs and macme-pc", "acme-pcs and macme-pc"),
        ("the network took a row of data", "the network took a row of data"),
        ('from = "a"', 'from = "host-2"'),
        ('to = "network"', 'to = "host-3"'),
    ],
)
def test_one_text(text: str, becomes: str) -> None:
    found = Anonymous()
    found.name("host", "acme-pc")
    found.name("host", "a")
    found.name("host", "network")
    assert found.apply(text) == becomes


def test_words_of_ours_stay_where_they_are_no_names() -> None:
    found = Anonymous()
    found.name("host", "sender")
    told = found.apply({"vantage": "sender", "name": "sender", "outages": [{"from": "sender"}]})
    assert told == {"vantage": "sender", "name": "host-1", "outages": [{"from": "host-1"}]}
