"""`rexmit mcp` and what strangers made: nothing outside the folders is read, and every call ends in time."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rexmit
from rexmit.assistant import tools
from rexmit.assistant.answers import answer
from rexmit.assistant.folders import Folders, RefusedError
from rexmit.assistant.limits import TimeUpError
from rexmit.assistant.tools import Tools
from rexmit.assistant.worker import RefusalError, Worker

INTERRUPTION = (Path(rexmit.__file__).parent / "scenarios" / "interruption.toml").read_text("utf-8")
SCHEDULE = re.search(r"schedule = \{.*\}", INTERRUPTION)
assert SCHEDULE is not None
#: Stands in every file outside.
CANARY = "canary-5f1e"


class Place:
    """`read` may be read; `out` beside it holds a trace, a stack and a capture."""

    def __init__(self, top: Path) -> None:
        self.top, self.read, self.out = top, top / "read", top / "out"
        self.read.mkdir()
        self.out.mkdir()
        (self.out / "trace.txt").write_text("0.5 0.25\n1.5 0.25\n", "utf-8")
        (self.out / "stack.toml").write_text(f'name = "{CANARY}"\nbased_on = "rfc-sack"\n', "utf-8")
        (self.out / "text.toml").write_text(f"{CANARY}\n", "utf-8")
        self.tools = Tools(Folders([str(self.read)]))

    def put(self, name: str, text: str) -> str:
        path = self.read / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return name

    def scenario(self, name: str, schedule: str | None = None, more: str = "") -> str:
        text = INTERRUPTION.replace('duration = "', 'duration = "1s" #', 1)
        if schedule is not None:
            text = re.sub(r"schedule = \{.*\}.*", lambda _: f"schedule = {{ {schedule} }}", text)
        return self.put(name, text + more)

    def refused(self, tool: str, **given: Any) -> str:
        with pytest.raises(ValueError, match="outside the folders that may be read") as error:
            getattr(self.tools, tool)(**given)
        said = str(error.value)
        assert CANARY not in said
        assert "\n" not in said
        return said


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its two minutes a call may read or simulate for less than a second."""
    for part in ("OPENING", "AGAIN", "WRITTEN"):
        monkeypatch.setattr(tools, part, 0.005)


@pytest.mark.parametrize(
    ("schedule", "mark"),
    [
        ('file = "OUT/trace.txt"', ""),
        # TOML 1.1, which Python's tomllib does not read.
        ('file = "OUT/trace.txt",', ""),
        ('\n  file = "OUT/trace.txt",\n', ""),
        ('file = "OUT/trace.txt"', "\ufeff"),
        ('"file" = "\\u002e./out/trace.txt"', ""),
        ('file = "/proc/self/root/OUT/trace.txt"', ""),
    ],
)
def test_a_trace_outside_is_not_read(place: Place, schedule: str, mark: str) -> None:
    name = place.scenario("s.toml", schedule.replace("OUT", str(place.out)))
    place.put(name, mark + (place.read / name).read_text("utf-8"))
    place.refused("simulate", scenario=name)
    place.refused("open_capture", path=name)
    place.refused("compare", first=name, second=name)


def test_an_override_names_no_file_outside_by_any_spelling(place: Place) -> None:
    name, base = place.scenario("s.toml"), "link.wire.channel.interruption.schedule"
    trace, stack = place.out / "trace.txt", place.out / "stack.toml"
    for key, value in [
        (f'{base}."file"', trace),
        (f"{base}.file", trace),
        (base, f"{{ file = '{trace}', }}"),
        ("flow.upload.stack", stack),
        ("flow.upload.stack", "../out/stack.toml"),
        ("flow.upload.receiver", stack),
        ("stack.rfc-sack.based_on", stack),
    ]:
        place.refused("simulate", scenario=name, set={key: str(value)})
        place.refused("simulate", scenario="interruption", set={key: str(value)})


def test_a_stack_is_based_on_no_file_outside(place: Place) -> None:
    for base in ("stack.toml", "text.toml", "none.toml"):
        place.put("mine.toml", f'name = "mine"\nbased_on = "{place.out / base}"\n')
        name = place.scenario("s.toml")
        place.refused("simulate", scenario=name, set={"flow.upload.stack": "./mine.toml"})


def test_a_link_leads_to_no_file_outside(place: Place) -> None:
    (place.read / "trace").symlink_to("../out/trace.txt")
    (place.read / "away").symlink_to(place.out)
    place.refused("simulate", scenario=place.scenario("a.toml", 'file = "trace"'))
    place.refused("simulate", scenario=place.scenario("b.toml", 'file = "away/trace.txt"'))
    (place.read / "c.toml").symlink_to(place.out / "text.toml")
    place.refused("simulate", scenario="c.toml")
    # One that stays inside is followed.
    place.put("real.txt", "0.5 0.25\n")
    (place.read / "inside").symlink_to(place.read / "real.txt")
    place.tools.simulate(place.scenario("d.toml", 'file = "inside"'))


def test_whether_a_file_outside_exists_is_not_told(place: Place) -> None:
    said = [
        place.refused("simulate", scenario=place.scenario("s.toml", f'file = "{place.out / name}"'))
        for name in ("trace.txt", "none1.txt")
    ]
    assert said[0] == said[1].replace("none1.txt", "trace.txt")
    for link, target in (("there", "out/text.toml"), ("gone", "out/none.toml")):
        (place.read / f"{link}.toml").symlink_to(place.top / target)
        assert place.refused("open_capture", path=f"{link}.toml").startswith(f"{link}.toml is outside")
    # By a folder that is there, or not, and back again.
    for folder in ("out", "none"):
        place.refused("open_capture", path=f"{place.top}/{folder}/../read/s.toml")


def live_folder(place: Place, node: str) -> str:
    """The folder of a live run, whose summary names the capture at `node`."""
    flow = {"forward": {"data_bytes": 1}, "back": {"data_bytes": 0}, "from": node, "to": node, "stack": "x"}
    told = {"format": 2, "simulation": {"bridge": {}, "flows": [flow]}}
    place.put("run/summary.json", json.dumps(told))
    place.put("run/scenario.toml", INTERRUPTION)
    return "run"


def test_the_folder_of_a_run_names_no_capture_outside(place: Place) -> None:
    taken = rexmit.run(
        rexmit.Scenario.parse(INTERRUPTION),
        duration="2s",
        set={"record.capture": '["pc"]'},
        captures=place.out,
    ).captures[0]
    assert taken.is_file()
    folder = live_folder(place, "../../../out/pc")
    place.put("run/captures/.keep", "")
    for tool in ("open_capture", "list_flows", "flow_answer", "list_episodes"):
        place.refused(tool, path=folder)
    # By links.
    (place.read / "run/captures/pc.pcapng").symlink_to(taken)
    place.refused("open_capture", path=live_folder(place, "pc"))
    for name in ("summary.json", "scenario.toml"):
        (place.read / "run" / name).unlink()
        for target in (place.out / "text.toml", place.out / "none"):
            (place.read / "run" / name).symlink_to(target)
            place.refused("open_capture", path=folder)
            (place.read / "run" / name).unlink()
        live_folder(place, "pc")


def test_a_recording_names_no_capture_outside(place: Place) -> None:
    about = {"packets": 1, "end": "limit"}
    place.put("rec/record.json", json.dumps(about))
    (place.out / f"{CANARY}.pcapng").write_bytes(b"")
    (place.read / "rec/captures").symlink_to(place.out)
    place.refused("open_capture", path="rec")
    (place.read / "rec/captures").unlink()
    place.put("rec/captures/.keep", "")
    (place.read / "rec/captures/a.pcapng").symlink_to(place.out / f"{CANARY}.pcapng")
    with pytest.raises(ValueError, match="outside the folders that may be read"):
        place.tools.open_capture("rec")
    (place.read / "rec/record.json").unlink()
    (place.read / "rec/record.json").symlink_to(place.out / "text.toml")
    place.refused("open_capture", path="rec")


def test_no_rule_in_python_is_run(place: Place) -> None:
    ran = place.top / "ran"
    code = f"open({str(ran)!r}, 'w')\nfrom rexmit.rules import WindowRule\nclass R(WindowRule): pass\n"
    for folder in (place.read, place.out):
        (folder / "rule.py").write_text(code, "utf-8")
    for where in ("./rule.py", str(place.out / "rule.py"), "os"):
        stack = f'name = "s"\nbased_on = "rfc-sack"\n[congestion]\nrule = "python"\nclass = "{where}:R"\n'
        place.put("s.toml", stack)
        name = place.scenario("x.toml")
        for tool, given in (
            ("simulate", {"scenario": name, "set": {"flow.upload.stack": "./s.toml"}}),
            ("simulate", {"scenario": "interruption", "set": {"flow.upload.stack": "./s.toml"}}),
        ):
            with pytest.raises(ValueError, match="runs no rules in Python"):
                getattr(place.tools, tool)(**given)
        place.put(
            "x.toml", (place.read / name).read_text("utf-8").replace('stack = "', 'stack = "./s.toml" #', 1)
        )
        with pytest.raises(ValueError, match="runs no rules in Python"):
            place.tools.open_capture(name)
    assert not ran.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_not_waited_for(place: Place) -> None:
    for name in ("a.pcap", "a.toml", "run/summary.json", "run2/record.json"):
        (place.read / name).parent.mkdir(exist_ok=True)
        os.mkfifo(place.read / name)
    place.put("run/scenario.toml", INTERRUPTION)
    for name in ("a.pcap", "a.toml", "run", "run2"):
        with pytest.raises((ValueError, rexmit.CaptureError)):
            place.tools.open_capture(name)


@pytest.mark.parametrize(
    "out", ["../x", "a/../../x", "/etc/x", "away/x", "dangling", "", ".", "a\0b", "\ud800"]
)
def test_nothing_is_written_outside(place: Place, out: str) -> None:
    results = place.top / "results"
    results.mkdir()
    (results / "away").symlink_to(place.out)
    (results / "dangling").symlink_to(place.out / "new")
    before = sorted(place.top.rglob("*"))
    with pytest.raises(RefusedError):
        Tools(Folders([str(place.read)], str(results))).simulate("interruption", {"duration": "1s"}, out=out)
    assert sorted(place.top.rglob("*")) == before


def endless(place: Place, name: str, duration: str = "1000000s") -> str:
    text = INTERRUPTION.replace('duration = "', f'duration = "{duration}" #', 1)
    return place.put(name, re.sub(r"workload = \{.*\}", 'workload = { kind = "endless" }', text))


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("tool", ["open_capture", "list_flows", "flow_answer", "list_episodes", "ladder"])
def test_a_scenario_without_end_is_answered_with_what_was_simulated(place: Place, tool: str) -> None:
    more = {"episode": 1} if tool == "ladder" else {}
    found = getattr(place.tools, tool)(endless(place, "s.toml"), **more)
    assert found["cut_short"] == "a call may take 120 s: the answer covers what was done by then"
    # What was cut short is kept, and says so again.
    assert "cut_short" in place.tools.list_flows("s.toml")
    assert "cut_short" not in place.tools.open_capture(place.scenario("short.toml"))


@pytest.mark.usefixtures("hasty")
def test_two_scenarios_without_end_are_compared(place: Place) -> None:
    first, second = endless(place, "a.toml"), endless(place, "b.toml")
    found = place.tools.compare(first, second)
    assert "cut_short" in found
    assert found["page"]


@pytest.mark.usefixtures("hasty")
def test_results_of_a_scenario_without_end_are_written(place: Place) -> None:
    results = place.top / "results"
    results.mkdir()
    written = Tools(Folders([str(place.read)], str(results)))
    found = written.simulate(endless(place, "s.toml"), out="x")
    assert "cut_short" in found
    assert {"summary.json", "tables"} <= {path.name for path in (results / "x").iterdir()}
    assert "cut_short" in written.simulate("s.toml")


@pytest.mark.usefixtures("hasty")
def test_a_study_that_is_cut_short_says_what_is_unfinished(place: Place) -> None:
    found = place.tools.study("selfsimilar")
    assert "cut_short" in found
    assert any("not finished" in said for said in found["unfinished"])


def test_a_listing_is_cut_short(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(50):
        place.put(f"{k}/s.toml", "")
    assert len(place.tools.list_files()["files"]) == 50
    now = time.monotonic()
    ticks = iter(range(10**6))
    # Each look at the clock is a hundredth of the time.
    monkeypatch.setattr("rexmit.assistant.limits.time.monotonic", lambda: now + next(ticks) * 1.2)
    found = place.tools.list_files()
    assert "cut_short" in found
    assert 0 < len(found["files"]) < 50


class Odd:
    """Tools that do what no tool should; in a process of their own."""

    longest_s = 0.0

    def waits(self) -> dict[str, Any]:
        print("this is no answer")
        time.sleep(600)
        return {}

    def dies(self) -> dict[str, Any]:
        os._exit(9)

    def grows(self) -> dict[str, Any]:
        return {"all": bytearray(2_000_000_000)}

    def refuses(self) -> dict[str, Any]:
        raise ValueError("no such thing")

    def breaks(self) -> dict[str, Any]:
        raise KeyError("odd")

    def answers(self, word: str) -> dict[str, Any]:
        return {"word": word, "in_time": 0 < self.longest_s <= 20}


def test_a_call_that_does_not_end_is_ended_and_the_next_one_is_answered() -> None:
    worker = Worker(Odd, 20.0, memory=300_000_000)
    try:
        assert worker.call("answers", {"word": "one"}) == {"word": "one", "in_time": True}
        with pytest.raises(RefusalError, match="no such thing"):
            worker.call("refuses", {})
        with pytest.raises(RuntimeError, match="KeyError: 'odd'"):
            worker.call("breaks", {})
        if sys.platform == "linux":
            with pytest.raises(RefusalError, match="there was too little memory for it"):
                worker.call("grows", {})
        with pytest.raises(RefusalError, match="the process that worked on it ended"):
            worker.call("dies", {})
        assert worker.call("answers", {"word": "two"})["word"] == "two"
        worker._seconds = 0.5
        with pytest.raises(TimeUpError, match=r"a call may take 0\.5 s, and no answer was made within them"):
            worker.call("waits", {})
        worker._seconds = 20.0
        assert worker.call("answers", {"word": "three"})["word"] == "three"
    finally:
        worker.end()


def test_a_capture_that_was_cut_short_is_read_whole_for_a_call_with_more_time(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = endless(place, "s.toml", "600s")
    # Of 120 s: far less than the simulation takes on any machine.
    monkeypatch.setattr(tools, "OPENING", 0.0001)
    assert "cut_short" in place.tools.list_flows(name)
    monkeypatch.setattr(tools, "OPENING", 0.7)
    assert "cut_short" not in place.tools.list_flows(name)


def test_a_long_answer_is_cut_as_fast_as_a_short_one() -> None:
    rows = [{"n": n, "text": "x" * 50} for n in range(200_000)]
    found = answer({"many": rows, "inner": {"list": [[n] * 1000 for n in range(300)]}})
    assert len(json.dumps(found, indent=2)) < 26_000
    assert found["left_out"]["many"] == f"{200_000 - len(found['many'])} more"
