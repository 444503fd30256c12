"""Fixtures: a played-out transfer as frames, and a core that answers from it and counts what it was asked."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rexmit

# What holds the compiled core by name must have it before a stand-in takes the name over.
import rexmit.captured.episodes
import rexmit.running.many_runs
import rexmit.screen.words
from browser import Watched, browser
from rexmit import _core as COMPILED
from rexmit.frame import Frame
from story import ORIGIN_NS, Story

# A shell's background job ignores Ctrl-C, and so would every test of it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = Path(__file__).parent.parent / "data"
#: How names of files begin whose tests go to one process where several run them (`pytest -n 2`): they look at
#: the same runs of studies, or have network namespaces, one after another.
TOGETHER = {
    "test_stud": "studies",
    "test_kernel": "live",
    "test_live": "live",
    "test_readers": "live",
    "test_record": "live",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file go to one process, and so do those of files that belong together."""
    for item in items:
        file = item.path.stem
        group = next((group for start, group in TOGETHER.items() if file.startswith(start)), file)
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser without a window; skips where there is none."""
    with browser() as opened:
        yield opened


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    """A page that complains of nothing, and asks for nothing outside of its file."""
    page = Watched(chromium)
    yield page
    page.close()
    assert page.said == []
    assert page.elsewhere() == []


@pytest.fixture(scope="session")
def story() -> Story:
    """Two outages: the first repaired on an ACK, the second by the timer."""
    return Story().play()


@pytest.fixture(scope="session")
def frames(story: Story) -> dict[str, Frame]:
    return {name: Frame(table, ORIGIN_NS) for name, table in story.tables().items()}


@dataclass
class FakeAnalysis:
    """Answers as the core does."""

    tables: dict[str, pa.Table]
    seen: dict[str, Any]
    kept: frozenset[str]
    stopped: bool = False

    def overview(self, top: int = 5) -> str:
        return json.dumps(self.seen | {"flows": self.seen["flows"][:top]})

    def flow(self, number: int) -> str | None:
        found = [flow for flow in self.seen["flows"] if flow["flow"] == number]
        return json.dumps(found[0]) if found else None

    def write_json(self, fd: int) -> None:
        os.write(fd, json.dumps(self.seen).encode() + b"\n")

    def table(self, name: str) -> pa.Table:
        if name in ("retransmissions", "intervals", "rtt", "packets") and name not in self.kept:
            raise ValueError(f'table {name} was not kept: analyze with tables=("{name}",)')
        return self.tables[name]

    def interrupted(self) -> bool:
        return self.stopped

    def failed(self) -> bool:
        return False


@dataclass
class FakeCore:
    """Stands in for `rexmit._core`. calls: the arguments of each pass."""

    story: Story
    calls: list[dict[str, Any]] = field(default_factory=list)
    during: Callable[[Callable[[int, int | None, int], bool]], bool] | None = None
    fails: Exception | None = None
    __version__: str = "0.0.0"

    class CaptureError(Exception):
        pass

    class ScenarioError(ValueError):
        pass

    class LiveError(RuntimeError):
        pass

    def analyze(self, paths: Sequence[str], **options: Any) -> FakeAnalysis:
        self.calls.append({"paths": list(paths), **options})
        if self.fails is not None:
            raise self.fails
        stopped = False
        if self.during is not None and options.get("progress") is not None:
            stopped = not self.during(options["progress"])
        seen = overview(self.story)
        seen["capture"]["interrupted"] = stopped
        return FakeAnalysis(self.story.tables(), seen, frozenset(options.get("tables") or ()), stopped)

    def closed_sets(self) -> str:
        return COMPILED.closed_sets()

    def one_per_timeout(self, kind: str, timeouts: int, lost_segments: int) -> bool:
        return COMPILED.one_per_timeout(kind, timeouts, lost_segments)

    def is_annotated(self, path: str) -> bool:
        return False

    def annotate(self, analysis: FakeAnalysis, paths: Sequence[str], out: str, answer: str = "") -> int:
        self.calls.append({"annotate": out})
        return len(self.story.packets)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch, story: Story) -> FakeCore:
    """rexmit on a core that plays the story."""
    fake = FakeCore(story)
    # What holds a name of the compiled core must have it before the stand-in takes the name over.
    import_module("rexmit.captured.lost")
    monkeypatch.setattr(import_module("rexmit.api"), "_core", fake)
    monkeypatch.setitem(sys.modules, "rexmit._core", fake)  # type: ignore[arg-type]
    monkeypatch.setattr(rexmit, "_core", fake)
    return fake


def overview(story: Story) -> dict[str, Any]:
    """What the core's overview says about the story."""
    flow = story.flow()
    episodes = [
        {
            "number": e["number"],
            "start_s": e["start"],
            "first_repair_s": e["first_repair"],
            "end_s": e["end"],
            "limit": "sender-window",
            "flight_bytes": 376_480,
            "needless": 0,
        }
        | {k: e[k] for k in ("kind", "lost_copies", "lost_segments", "timeouts", "max_backoff")}
        | {k: e[k] for k in ("cost_s", "silence_s")}
        for e in story.episodes()
    ]
    causes: dict[str, int] = {}
    for r in story.retransmissions:
        causes[r["cause"]] = causes.get(r["cause"], 0) + 1
    again = {"total": len(story.retransmissions), "by_cause": causes, "needless": 0}
    one = {
        "flow": 0,
        "sender": flow["sender"],
        "receiver": flow["receiver"],
        "vantage": "sender",
        "bytes": flow["bytes"],
        "duration_s": flow["end"],
        "throughput_bps": round(flow["bytes"] * 8 / flow["end"]),
        "retransmissions": again,
        "probes": {"new_data": 0, "repeat": 0},
        "handshake": {"sack_permitted": True},
        "lost": {"copies": len(story.lost), "segments": len({i for _, i in story.lost})},
        "burst_count": len(story.bursts()),
        "episode_count": len(episodes),
        "cost_s": flow["cost_s"],
        "idle_count": flow["idle_gaps"],
        "idle_total_s": flow["idle_total_s"],
        "rtt": {"ack": {"n": len(story.rtts), "min_ms": 41.1, "mean_ms": 260.0, "max_ms": 1240.0}},
        "limits": {},
        "bursts": [],
        "episodes": episodes,
        "idle": [{"length_s": g["end"] - g["start"], "cause": g["cause"]} for g in story.idle()],
        "answer": None,
    }
    capture = {
        "packets": len(story.packets),
        "span_s": flow["end"],
        "start": "2023-11-14T22:13:20Z",
        "link_types": ["Ethernet"],
        "snaplen": 96,
        "offloads": {"seen": False},
        "vantage": "sender",
        "warnings": [],
        "interrupted": False,
        "not_analysed_packets": 0,
    }
    totals = {"connections": 1, "flows": 1, "flows_with_data": 1}
    totals |= {"segments": flow["segments"], "bytes": flow["bytes"]}
    return {"capture": capture, "totals": totals | {"retransmissions": again}, "flows": [one]}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The live bench's short scenario, as a file."""
    from live_bench import SCENARIO

    file = tmp_path / "short.toml"
    file.write_text(SCENARIO)
    return file


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence with which the command line refuses what was typed."""
    from rexmit.cli import main

    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err
