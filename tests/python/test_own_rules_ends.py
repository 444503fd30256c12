"""Rules of one's own in Python that fail, that are none, that are not to be run, and in many processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from rexmit.assistant.folders import Folders
from rexmit.assistant.server import NO_CODE

SCENARIO = """
name = "own"
duration = "8s"
[chain]
nodes = ["a", "b"]
rate = "8Mbps"
delay = "15ms"
queue = { kind = "droptail", packets = 25 }
[[chain.channel]]
name = "noise"
kind = "random"
loss = "1%"
[[flow]]
name = "upload"
from = "a"
to = "b"
stack = "mine"
receiver = "rfc-sack"
workload = { kind = "endless" }
[[stack]]
name = "mine"
based_on = "rfc-sack"
[stack.congestion]
rule = "python"
class = "./mine.py:Mine"
"""
WINDOW = """
from rexmit.rules import *

class Mine(WindowRule):
    def avoid(self, w, a, acked):
        {avoid}
    def ssthresh(self, w, l):
        {ssthresh}
"""
HEAD = "from rexmit.rules import *\nclass Mine(WindowRule):\n"
STACK = """
name = "mine"
based_on = "rfc-sack"
[congestion]
rule = "python"
class = "rexmit.rules.aimd:Aimd"
"""
WHOLE = "a whole number of bytes, from 0 to 4294967295"
SOUND = {"avoid": "w.cwnd += w.smss * w.smss // w.cwnd", "ssthresh": "return l.flight // 2"}


def written(folder: Path, code: str = "", scenario: str = SCENARIO, **hooks: str) -> Path:
    (folder / "mine.py").write_text(code or WINDOW.format(**SOUND | hooks))
    (folder / "own.toml").write_text(scenario)
    return folder / "own.toml"


def test_a_file_beside_the_scenario_is_found_wherever_it_is_run_from(tmp_path: Path) -> None:
    path = written(tmp_path)
    done = rx.run(path)
    assert done.failure is None
    assert done.summary["flows"][0]["forward"]["resent_packets"] > 0
    assert done.summary["own_rules"] == [{"stack": "mine", "section": "congestion", "class": "mine.py:Mine"}]
    assert "stack mine: its [congestion] is the class mine.py:Mine in Python" in done.page()
    # As resolved it says the same from anywhere.
    again = rx.run(rx.Scenario.load(path).to_toml())
    assert again.state.to_arrow().equals(done.state.to_arrow())


def test_a_rule_that_is_changed_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = rx.run(path).summary["events"]
    os.utime(written(tmp_path, ssthresh="return 2 * w.smss").with_name("mine.py"), (1, 1))
    assert rx.run(path).summary["events"] != before


@pytest.mark.parametrize(
    ("hooks", "says"),
    [
        (
            {"avoid": "w.cwnd += 1 / 0"},
            "avoid of the rule mine.py:Mine failed: ZeroDivisionError: division by "
            "zero (mine.py, line 6, in avoid: w.cwnd += 1 / 0)",
        ),
        ({"avoid": "w.cwnd = float('nan')"}, f"ValueError: cwnd = nan: {WHOLE} ("),
        ({"avoid": "w.cwnd = w.cwnd * 1.01"}, f"{WHOLE}: int(…) makes it one ("),
        ({"avoid": "w.cwnd = -1"}, "ValueError: cwnd = -1: a whole number of bytes"),
        ({"avoid": "w.cwnd = 2**40"}, "ValueError: cwnd = 1099511627776: a whole number of bytes"),
        ({"avoid": "w.cwnd = 2**400"}, ": a whole number of bytes"),
        ({"avoid": "w.cwnd = '3'"}, "TypeError: cwnd = '3': a whole number of bytes"),
        ({"avoid": "w.smss = 1"}, "AttributeError"),
        ({"avoid": "a.acked = 1"}, "AttributeError"),
        ({"avoid": "raise SystemExit(3)"}, "failed: SystemExit: 3"),
        (
            {"ssthresh": "return None"},
            "ssthresh of the rule mine.py:Mine failed: TypeError: what it returns = None",
        ),
        ({"avoid": "return w.cwnd"}, ": this hook returns nothing"),
        (
            {"avoid": "pass\n    def measure(self, w, a, open):\n        return 0"},
            "what it returns = 0: this hook returns nothing",
        ),
        (
            {"avoid": "pass\n    def on_recovery_end(self, w, t):\n        return w"},
            ": this hook returns nothing",
        ),
        ({"ssthresh": "return l.flight / 2"}, ": int(…) makes it one"),
        ({"ssthresh": "w.cwnd = 5; return 5"}, "cwnd cannot be set here: this hook only looks at the window"),
    ],
)
def test_a_hook_that_fails_ends_the_run_and_keeps_what_was(
    tmp_path: Path, hooks: dict[str, str], says: str
) -> None:
    path = written(tmp_path, **hooks)
    done = rx.run(path, seed=7)
    assert done.failure is not None
    assert says in done.failure, done.failure
    assert "\n" not in done.failure
    assert done.summary["end"] == "broken"
    assert done.seed == 7
    assert 0 < done.summary["time_s"] < 8
    assert done.packets.to_arrow().num_rows > 0
    many = rx.runs(path, seeds=[7, 8], threads=1)
    assert many.failure is not None
    assert many.failure.startswith("2 of 2 runs failed; seed 7: stopped at ")


def test_a_failed_rule_is_exit_code_1_and_says_where(tmp_path: Path) -> None:
    path = written(tmp_path, avoid="self.nowhere")
    said = command("run", path, "--seed", "7")
    assert said.returncode == 1
    wanted = "avoid of the rule mine.py:Mine failed: AttributeError: 'Mine' object has no attribute 'nowhere'"
    assert wanted in said.stderr
    assert "of the run with seed 7: " in said.stderr
    assert "simulated: own, seed 7, 1.5" in said.stdout, "what was simulated is told"


def command(*words: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "rexmit", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, **more)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("x = 1", "is not there: mine.py has no Mine"),
        ("class Mime: pass", "is not there: mine.py has no Mine; did you mean Mime?"),
        (
            "class Mine: pass",
            "is no WindowRule or DrivingRule: a class of [congestion] derives from rexmit.rules.WindowRule "
            "or rexmit.rules.DrivingRule",
        ),
        (
            HEAD + " def avoid(s, w, a, acked): pass\n def ssthres(s): pass",
            "lacks the hook ssthresh(self, w, loss); its ssthres is none: did you mean ssthresh?",
        ),
        (
            WINDOW.format(**SOUND) + "    def timedout(self): pass",
            "has timedout, which is no hook: did you mean timed_out?",
        ),
        (
            WINDOW.format(**SOUND) + "    def __init__(self): raise OSError('no')",
            "cannot be made with its params: OSError: no (mine.py, line ",
        ),
        (WINDOW.format(**SOUND) + "    counts_segments = 2", "has counts_segments = 2: True or False"),
        (
            "import nowhere_at_all",
            "cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all' (mine.py, line 1",
        ),
        ("def f(:", "cannot be imported: SyntaxError: invalid syntax (mine.py, line 1)"),
    ],
)
def test_a_class_that_is_no_rule_is_refused_with_its_place(tmp_path: Path, code: str, says: str) -> None:
    path = written(tmp_path, code)
    with pytest.raises(rx.ScenarioError) as refused:
        rx.run(path)
    said = str(refused.value)
    line = SCENARIO[: SCENARIO.index("class = ")].count("\n") + 1
    assert f"own.toml:{line}: stack.mine.congestion.class = " in said
    assert says in said, said
    assert "\n" not in said
    with pytest.raises(rx.ScenarioError):
        rx.runs(path, seeds=range(4))


def test_a_file_that_is_not_there_is_named_with_one_like_it(tmp_path: Path) -> None:
    path = written(tmp_path, scenario=SCENARIO.replace("./mine.py", "./mime.py"))
    with pytest.raises(rx.ScenarioError) as refused:
        rx.run(path)
    assert f"is not there: there is no file {tmp_path}/mime.py; did you mean mine.py?" in str(refused.value)
    assert "NoRule" not in str(refused.value)


def test_params_that_a_class_does_not_take_are_named(tmp_path: Path) -> None:
    stack = {"stack.mine.congestion.class": "rexmit.rules.aimd:Aimd"}
    with pytest.raises(rx.ScenarioError, match=r"it takes beta, count; did you mean beta\?"):
        rx.run(written(tmp_path), set=stack | {"stack.mine.congestion.params.bta": "0.5"})
    with pytest.raises(rx.ScenarioError, match="ValueError: beta = 2: above 0 and below 1"):
        rx.run(written(tmp_path), set=stack | {"stack.mine.congestion.params.beta": "2"})
    with pytest.raises(
        rx.ScenarioError, match="Python finds no module nowhere_at_all; a file beside the stack"
    ):
        rx.run(written(tmp_path), set={"stack.mine.congestion.class": "nowhere_at_all:Mine"})
    low, high = (
        rx.run(written(tmp_path), set=stack | {"stack.mine.congestion.params.beta": beta})
        for beta in ("0.3", "0.9")
    )
    assert (
        low.summary["flows"][0]["forward"]["delivered_bytes"]
        < high.summary["flows"][0]["forward"]["delivered_bytes"]
    )


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        ("None", "TypeError: what it returns = None: rexmit.rules.Verdict(lost_below=…, begins=…)"),
        ("Verdict(lost_below=f.nxt + 1, begins=True)", "ValueError: lost_below = "),
        ("Verdict(lost_below=0, begins=True)", "ValueError: lost_below = 0: from una, "),
    ],
)
def test_a_verdict_that_cannot_be_ends_the_run(tmp_path: Path, returns: str, says: str) -> None:
    code = HEAD.replace("WindowRule", "Detector") + f"    def judge(self, f):\n        return {returns}\n"
    path = written(tmp_path, code, SCENARIO.replace("[stack.congestion]", "[stack.detect]"))
    failure = rx.run(path).failure
    assert failure is not None
    assert says in failure, failure


def test_a_detector_sees_the_scoreboard(tmp_path: Path) -> None:
    """RFC 6675's rule, written in Python, is the built-in one."""
    code = """
from rexmit.rules import *

class Mine(Detector):
    counts_news = True

    def judge(self, f):
        lost, runs, counted = f.una, 0, 0
        for left, right in f.sacked:
            runs += 1
            counted += right - left
            if runs >= f.dupthresh or counted > (f.dupthresh - 1) * f.smss:
                lost = max(lost, left)
                break
        return Verdict(lost_below=lost, begins=f.dupacks >= f.dupthresh or lost > f.una)
"""
    path = written(tmp_path, code, SCENARIO.replace("[stack.congestion]", "[stack.detect]"))
    for seed in (1, 2, 3):
        ours, theirs = rx.run(path, seed), rx.run(path, seed, set={"stack.mine.detect.rule": "rfc6675"})
        assert ours.failure is None
        assert ours.packets.to_arrow().equals(theirs.packets.to_arrow())
        assert ours.state.to_arrow().equals(theirs.state.to_arrow())


def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    path = written(tmp_path)
    options: dict[str, Any] = {"seeds": range(1, 8), "tables": ("flows", "episodes"), "bin": 0.5}
    variants = [rx.Scenario.load(path), rx.Scenario.load(path).with_({"chain.rate": "4Mbps"})]
    asked: list[tuple[int, int | None]] = []
    one = rx.runs(variants, threads=1, **options)
    several = rx.runs(variants, threads=2, progress=lambda n, of, _: asked.append((n, of)) or True, **options)
    assert len(several) == 14
    assert asked[-1] == (14, 14)
    assert several.summary.to_arrow().equals(one.summary.to_arrow())
    assert several.losses.to_arrow().equals(one.losses.to_arrow())
    for name in ("flows", "episodes"):
        ours, theirs = (runs.table(name).to_arrow().to_pylist() for runs in (several, one))  # type: ignore[arg-type]
        assert ours == theirs
    assert several.series.to_arrow().to_pylist() == one.series.to_arrow().to_pylist()
    # Not kept, so run again.
    assert several.table("idle").to_arrow().to_pylist() == one.table("idle").to_arrow().to_pylist()


def test_what_processes_had_done_is_kept_once_they_are_stopped(tmp_path: Path) -> None:
    path = written(tmp_path)
    done = rx.runs(path, seeds=range(64), threads=2, tables=("flows",), progress=lambda n, of, _: n < 8)
    assert done.interrupted
    assert 8 <= len(done) < 64
    assert done.flows.to_arrow().num_rows == len(done)


def test_one_run_of_many_that_fails_says_its_seed(tmp_path: Path) -> None:
    code = WINDOW.format(avoid="w.cwnd += 1 // (a.now_ns % 7)", ssthresh=SOUND["ssthresh"])
    done = rx.runs(written(tmp_path, code), seeds=range(1, 5), threads=2)
    assert len(done) == 4
    assert done.failure is not None
    assert "ZeroDivisionError" in done.failure
    assert "; seed 1: stopped at " in done.failure


def test_a_script_that_runs_many_needs_no_guard(tmp_path: Path) -> None:
    written(tmp_path)
    script = tmp_path / "many.py"
    script.write_text(
        "import rexmit as rx\nprint('once')\nprint(len(rx.runs('own.toml', seeds=range(6), threads=2)))\n"
    )
    said = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (said.stdout, said.stderr) == ("once\n6\n", "")


def test_the_command_line_runs_many_and_finds_modules_here(tmp_path: Path) -> None:
    written(tmp_path, scenario=SCENARIO.replace("./mine.py:Mine", "mine:Mine"))
    said = command("run", "own.toml", "--runs", "6", "--json", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["runs"] == 6


def test_ctrl_c_ends_a_run_between_events_and_keeps_it(tmp_path: Path) -> None:
    path = written(tmp_path, scenario=SCENARIO.replace('"8s"', '"100000s"'))
    with subprocess.Popen(
        [sys.executable, "-m", "rexmit", "run", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        time.sleep(4)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert "stopped early: this is the answer" in out, err
    assert "Traceback" not in err
    assert "failed" not in err


def test_an_assistant_runs_no_rule(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from rexmit.assistant.server import _told
    from rexmit.assistant.tools import Tools

    path = written(tmp_path, "raise SystemExit('run')")
    tools = Tools(Folders([str(tmp_path)], str(tmp_path)))
    from mcp.server.mcpserver.exceptions import ToolError

    for ask in (tools.simulate, tools.open_capture):
        with pytest.raises(ToolError) as refused:
            _told(ask)(str(path))
        assert NO_CODE in str(refused.value)


def test_a_folder_that_is_opened_runs_no_rule(tmp_path: Path) -> None:
    path = written(tmp_path)
    out = tmp_path / "run"
    assert command("run", path, "--out", out, "--report", "--figures", "none").returncode == 0
    assert (out / "report.html").stat().st_size > 0
    (tmp_path / "mine.py").write_text("raise SystemExit('run')")
    for words in (("report", out, "-o", tmp_path / "r.html"), ("compare", out, out)):
        said = command(*words)
        assert said.returncode == 2
        assert f"is not run for a folder that is opened: to run it, name {out}/scenario.toml" in said.stderr


def test_what_asks_no_rule_refuses_one(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(STACK)
    (tmp_path / "s.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    said = command("drill", tmp_path / "s.pkt", "--stack", tmp_path / "mine.toml")
    assert said.returncode == 2
    assert "mine.toml:6: congestion.class" in said.stderr
    assert "is a rule in Python, and rexmit drill asks none" in said.stderr


def test_a_script_asks_a_rule(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(STACK)
    events = [{"at": 0.0, "write": 60}, {"at": 0.1, "ack": 2}, {"at": 0.2, "ack": 6}]
    ours, theirs = (rx.script(stack, events) for stack in (str(own), "rfc-sack"))
    assert ours.rows == theirs.rows


def test_a_sweep_varies_the_params_of_a_rule_in_processes(tmp_path: Path) -> None:
    path = written(tmp_path, scenario=SCENARIO.replace("./mine.py:Mine", "rexmit.rules.aimd:Aimd"))
    vary = {"stack.mine.congestion.params.beta": ["0.3", "0.5", "0.9"]}
    done = rx.sweep(path, vary, runs=2, threads=2)
    rows = sorted(done.table("runs").to_arrow().to_pylist(), key=lambda row: row["run"])
    assert len(rows) == 6
    assert not any(row["failure"] for row in rows)
    one = [rx.run(path, row["seed"], set={key: row[key] for key in vary}) for row in rows]
    assert [row["events"] for row in rows] == [run.summary["events"] for run in one]


def test_a_sweep_finds_a_file_beside_its_scenario(tmp_path: Path) -> None:
    path = written(tmp_path)
    done = rx.sweep(path, {"chain.rate": ["4Mbps", "8Mbps"]}, runs=1, threads=2)
    assert [row["failure"] for row in done.table("runs").to_arrow().to_pylist()] == [None, None]
