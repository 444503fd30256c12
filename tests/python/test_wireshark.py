"""`rexmit wireshark`: in tshark an annotated capture has the values of rexmit's tables, and no others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rexmit as rx
from conftest import DATA
from rexmit import cli
from rexmit.wireshark import placing

#: From the sender, the receiver and the middle; with and without SACK, timestamps and offloads.
CAPTURES = (
    "A1_reno_22M_deep_200ms.rcv",
    "E2_reno_22M_tail10_x3.snd",
    "F1_cubic_22M_GE.snd",
    "H1_reno_22M_shallow_200ms_nosack.snd",
    "nosack.rcv",
    "nosack.snd",
    "notimestamps.snd",
    "tsoblk.snd",
    "tsoloss.rcv",
    "cases/fixed_rto_below_rtt",
    "cases/push_with_a_missing_id",
)
FIELDS = ("cause", "evidence", "backoff", "copy", "needless", "proof", "episode")

tshark_is_there = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def tshark(*words: str, home: Path) -> list[str]:
    """The lines of tshark's answer, with the scripts and profiles of this home only."""
    env = {k: v for k, v in os.environ.items() if k not in ("XDG_CONFIG_HOME", "WIRESHARK_CONFIG_DIR")}
    env["HOME"] = str(home)
    done = subprocess.run(["tshark", "-n", *words], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert "Lua" not in done.stderr
    return done.stdout.splitlines()


def rows(table: Any) -> list[dict[str, Any]]:
    return pa.table(table).to_pylist()


class Annotated:
    """A capture with comments, in rexmit's tables and in tshark."""

    def __init__(self, name: str, folder: Path) -> None:
        self.home = folder
        self.capture = rx.capture(DATA / f"{name}.pcap.gz")
        self.path = folder / "noted.pcapng"
        assert cli.main(["analyze", str(DATA / f"{name}.pcap.gz"), "--annotate", str(self.path)]) == 0
        self.script = folder / "rexmit.lua"
        assert cli.main(["wireshark", "--out", str(self.script)]) == 0

    def found(self, display_filter: str, *fields: str) -> list[list[str]]:
        """What a display filter lets through: packet numbers, and fields."""
        asked = [word for name in ("frame.number", *fields) for word in ("-e", name)]
        words = [
            "-X",
            f"lua_script:{self.script}",
            "-r",
            str(self.path),
            "-Y",
            display_filter,
            "-T",
            "fields",
            *asked,
        ]
        return [line.split("\t") for line in tshark(*words, home=self.home)]

    def packets(self, display_filter: str) -> list[int]:
        return [int(line[0]) for line in self.found(display_filter)]

    def resent(self) -> list[dict[str, Any]]:
        """The table of retransmissions, in the order of packets; it has one flow after the other."""
        return sorted(rows(self.capture.retransmissions), key=lambda row: int(row["packet"]))

    def lost(self) -> set[int]:
        """Copies of which the capture's tables say that they were lost."""
        again = {r["packet"] for r in rows(self.capture.retransmissions) if r["lost"]}
        flows = {r["flow"]: r["vantage"] for r in rows(self.capture.flows)}
        bursts = [b for b in rows(self.capture.bursts) if flows[b["flow"]] == "sender"]
        first = {
            p["packet"]
            for p in rows(self.capture.packets)
            if p["data"]
            and p["len"] > 0
            and p["class"] != "retransmission"
            and any(held(b, p) for b in bursts)
        }
        return again | first

    def owned(self) -> dict[int, tuple[str, str | None, str]]:
        """By packet the owner of its moment, by the capture's tables."""
        begin: dict[int, list[dict[str, Any]]] = {}
        # Directions without data are in no table of flows, and have no comments of their own.
        flows = {row["flow"] for row in rows(self.capture.flows)}
        for row in self.capture.owners.to_pylist():
            begin.setdefault(row["flow"] // 2, []).append(row)
        found = {}
        for p in self.capture.packets.to_pylist():
            of = begin.get(p["flow"] // 2, []) if p["flow"] in flows else []
            place = bisect_right(of, p["time"], key=lambda row: row["start"]) - 1
            if place >= 0:
                found[p["packet"]] = of[place]["cause"], of[place]["by"], of[place]["certainty"]
        return dict(sorted(found.items()))

    def after(self, table: Any, time: str) -> set[int]:
        """The first data packet of a flow from each row's time on."""
        sent: dict[int, list[dict[str, Any]]] = {}
        for p in rows(self.capture.packets):
            if p["data"]:
                sent.setdefault(p["flow"], []).append(p)
        return {
            next(p["packet"] for p in sent[row["flow"]] if p["time"] >= row[time])
            for row in rows(table)
            if row[time]
        }


def held(burst: dict[str, Any], packet: dict[str, Any]) -> bool:
    return (
        packet["flow"] == burst["flow"]
        and burst["start"] <= packet["time"] <= burst["last"]
        and burst["seq_start"] <= packet["seq"] < burst["seq_end"]
    )


@pytest.fixture(scope="module", params=CAPTURES)
def annotated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Annotated]:
    return Annotated(request.param, tmp_path_factory.mktemp("noted"))


@tshark_is_there
def test_filters_give_the_rows_of_the_tables(annotated: Annotated) -> None:
    resent = annotated.resent()
    assert annotated.packets("rexmit.needless") == [r["packet"] for r in resent if r["needless"]]
    timeouts = [r["packet"] for r in resent if r["cause"] == "timeout"]
    assert annotated.packets('rexmit.cause == "timeout"') == timeouts
    assert set(annotated.packets("rexmit.lost")) == annotated.lost()
    assert set(annotated.packets("rexmit.idle")) == annotated.after(annotated.capture.idle, "end")
    owned = annotated.owned()
    for owner in sorted({cause for cause, _, _ in owned.values()}):
        mine = [packet for packet, (cause, _, _) in owned.items() if cause == owner]
        # Others of the same TCP stream that are in no table, such as resets behind a reset, have one, too.
        found = [packet for packet in annotated.packets(f'rexmit.owner == "{owner}"') if packet in owned]
        assert found == mine, owner
    begins = annotated.packets('rexmit.finding == "episode-begins"')
    assert set(begins) == annotated.after(annotated.capture.episodes, "start")


@tshark_is_there
def test_each_retransmission_has_the_values_of_its_row(annotated: Annotated) -> None:
    # A comment that the script cannot read would be a line more.
    found = annotated.found("rexmit.cause || rexmit.unread", *(f"rexmit.{name}" for name in FIELDS))
    resent = annotated.resent()
    assert [int(line[0]) for line in found] == [r["packet"] for r in resent]
    for line, row in zip(found, resent, strict=True):
        shown = dict(zip(FIELDS, line[1:], strict=True))
        assert shown["cause"] == row["cause"]
        assert shown["evidence"] == row["evidence"].replace("none", "")
        assert int(shown["backoff"] or 0) == row["backoff"]
        # The second copy is not said to be the second.
        assert int(shown["copy"] or 2) == max(row["copy"], 2)
        assert shown["needless"] == ("1" if row["needless"] else "")
        assert shown["proof"] == (row["needless_proof"] or "")
        # An episode may begin or end there, too.
        assert row["episode"] is None or str(row["episode"] + 1) in shown["episode"].split(",")


@tshark_is_there
def test_each_packet_has_the_owner_of_its_moment(annotated: Annotated) -> None:
    found = annotated.found("rexmit.owner", "rexmit.owner", "rexmit.by", "rexmit.certainty")
    shown = {int(packet): (owner, by or None, certainty) for packet, owner, by, certainty in found}
    owned = annotated.owned()
    assert {packet: said for packet, said in shown.items() if packet in owned} == owned
    assert len(owned) > 0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder where nothing of Wireshark's is yet."""
    for name in ("XDG_CONFIG_HOME", "WIRESHARK_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@tshark_is_there
def test_what_is_installed_is_found_with_its_profile(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noted = home / "noted.pcapng"
    capture = str(DATA / "cases" / "push_with_a_missing_id.pcap.gz")
    assert cli.main(["analyze", capture, "--annotate", str(noted)]) == 0
    assert cli.main(["wireshark", "--install"]) == 0
    said = capsys.readouterr().out
    assert all(f"/profiles/rexmit/{name}\n" in said for name in placing.PROFILE)
    asked = ["-C", "rexmit", "-r", str(noted), "--color", "-Y", "rexmit.cause"]
    lines = tshark(*asked, home=home)
    assert lines
    assert all("retransmission" in line and "timeout" in line for line in lines), "the profile's columns"
    rules = tshark(*asked, "-T", "fields", "-e", "frame.coloring_rule.name", home=home)
    assert set(rules) == {"rexmit: timeout"}
    # Beside it, the script that a command line names is no second one.
    script = home / ".local" / "lib" / "wireshark" / "plugins" / "rexmit.lua"
    assert len(tshark("-X", f"lua_script:{script}", *asked, home=home)) == len(lines)


@pytest.mark.skipif(shutil.which("capinfos") is None, reason="capinfos is not installed")
def test_the_properties_of_the_file_have_the_answer(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = DATA / "cases" / "push_with_a_missing_id.pcap.gz"
    noted = home / "noted file.pcapng"
    assert cli.main(["analyze", str(capture), "--annotate", str(noted)]) == 0
    assert f"wireshark -C rexmit '{noted}'" in capsys.readouterr().err
    comment = subprocess.run(
        ["capinfos", "-k", str(noted)], capture_output=True, text=True, check=True
    ).stdout
    flow = rx.capture(capture).overview(1)["flows"][0]
    assert flow["answer"]["cause"] in comment
    assert str(flow["sender"]) in comment
    assert capture.name in comment
    assert str(capture) not in comment, "whoever gets the file does not learn of folders"
    # What was written is known again, and replaced by a later answer.
    assert cli.main(["analyze", str(capture), "--annotate", str(noted)]) == 0


def test_installing_replaces_only_what_it_wrote(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(placing, "_said_by_wireshark", lambda: "")
    assert cli.main(["wireshark", "--install"]) == 0
    assert cli.main(["wireshark", "--install"]) == 0
    rules = next(home.rglob("profiles/rexmit/colorfilters"))
    script = next(home.rglob("plugins/rexmit.lua"))
    # As Wireshark writes it after a change in its dialog.
    rules.write_text("# This file was created by Wireshark. Edit with care.\n")
    script.unlink()
    assert cli.main(["wireshark", "--install"]) == 2
    assert f"{rules}: rexmit did not write this file" in capsys.readouterr().err
    assert not script.exists(), "nothing is written where one file cannot be"
    assert cli.main(["wireshark", "--install", "--overwrite"]) == 0
    assert rules.read_bytes() == placing.content("colorfilters")


def test_the_script_and_the_rules_are_printed_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["wireshark"]) == 0
    assert capsys.readouterr().out == placing.content(placing.SCRIPT).decode()
    assert cli.main(["wireshark", "--rules"]) == 0
    assert capsys.readouterr().out == placing.content(placing.RULES).decode()
    assert cli.main(["wireshark", "--install", "--rules"]) == 2
    assert "leave --rules out" in capsys.readouterr().err


def test_the_page_names_each_field() -> None:
    page = (DATA.parents[1] / "docs" / "wireshark.md").read_text(encoding="utf-8")
    script = placing.content(placing.SCRIPT).decode()
    fields = re.findall(r'ProtoField\.\w+\("([\w.]+)"', script)
    assert len(fields) == 15
    assert [name for name in fields if f"`{name}`" not in page] == []
