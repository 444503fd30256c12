"""The command line: what it answers, with which exit code, and what it says when something is wrong."""

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

from conftest import DATA, FakeCore
from rexmit import cli

SENDER = DATA / "interruption.snd.pcap.gz"


def run(*words: str) -> int:
    return cli.main(words)


def test_an_answer_is_code_0(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", "x.pcap") == 0
    out, err = capsys.readouterr()
    assert out.startswith("x.pcap: 6,318 packets, 4.6")
    assert "352 packets were lost, in 2 runs." in out
    assert err == ""


def test_what_cannot_be_read_is_code_2_and_one_sentence(
    core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    core.fails = core.CaptureError("notes.txt: no capture: it begins with text (byte 0)")
    assert run("analyze", "notes.txt") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "rexmit: notes.txt: no capture: it begins with text (byte 0)\n"


def test_a_folder_that_cannot_be_written_is_code_1(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("a file")
    assert run("analyze", "x.pcap", "--out", str(tmp_path / "taken")) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"rexmit: {tmp_path / 'taken'}")
    assert err.count("\n") == 1


def test_a_fault_of_our_own_is_code_1_and_no_trace(
    core: FakeCore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    core.fails = KeyError("spam")
    assert run("analyze", "x.pcap") == 1
    err = capsys.readouterr().err
    assert err.startswith("rexmit: a fault of rexmit, KeyError: 'spam'")
    assert err.count("\n") == 1
    monkeypatch.setenv("REXMIT_TRACE", "1")
    with pytest.raises(KeyError):
        run("analyze", "x.pcap")


def test_an_option_like_no_other_is_answered_with_its_commands_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["compare", "a", "b", "--zzqqxx"]
    monkeypatch.setattr(sys, "argv", ["rexmit", *words])
    assert run(*words) == 2
    assert capsys.readouterr().err == "rexmit: --zzqqxx is no option; see rexmit compare --help\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("analyze x.pcap --ladr 2", "rexmit: --ladr is no option; did you mean --ladder?"),
        ("analyze x.pcap --figure=svg", "rexmit: --figure=svg is no option; did you mean --figures?"),
        (
            "analyze x.pcap --at reciever",
            "--at: reciever is none of sender, receiver, middle; did you mean receiver?",
        ),
        (
            "analyse x.pcap",
            "COMMAND: analyse is none of analyze, run, scenarios, sample, live, stacks, channels, record, "
            "sweep, sql, study, compare, traffic, replay, fit, report, view, wireshark, drill, mcp, "
            "completion; "
            "did you mean analyze?",
        ),
        ("analyze x.pcap --idle fast", "'fast' is no length of time; write 0.2, 200ms, 1.5s or 2min"),
        ("analyze x.pcap --ladder 0", "'0' is no number from 1 up"),
        ("analyze x.pcap --port 70000", "70000 is no port; ports end at 65535"),
        ("analyze", "no capture named; try rexmit analyze FILE, or - for standard input"),
        ("analyze --sender a.pcap", "need both --sender and --receiver; --receiver is missing"),
        ("analyze c.pcap --sender a --receiver b", "c.pcap: name a capture, or --sender and --receiver"),
        ("analyze x.pcap --figures svg", "--figures needs --out DIR"),
        ("analyze x.pcap --csv", "--csv needs --out DIR"),
        ("analyze x.pcap --from 5 --to 2s", "--to 2 is not after --from 5"),
        ("analyze - --annotate o.pcapng", "--annotate reads the capture twice"),
        ("analyze x.pcap --json --ladder 1", "--json and --ladder both want the output"),
        ("analyze x.pcap --ladder 9", "there is no episode 9: 10.8.0.2:41822 → 10.8.0.9:21 has 2 episodes"),
    ],
)
def test_a_wrong_option_is_code_2_and_names_the_mend(
    words: str, sentence: str, core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_options_reach_the_core_in_seconds(core: FakeCore) -> None:
    words = "analyze a.pcap b.pcap --at middle --host 10.0.0.1 --port 80 --from 500ms --to 2min --idle 80ms"
    assert run(*words.split(), "--interval", "100ms") == 0
    call = core.calls[0]
    assert call["paths"] == ["a.pcap", "b.pcap"]
    assert (call["at"], call["host"], call["port"]) == ("middle", "10.0.0.1", 80)
    assert (call["start"], call["end"], call["idle"], call["interval"]) == (0.5, 120.0, 0.08, 0.1)


def test_both_ends_reach_the_core_as_sender_and_receiver(core: FakeCore) -> None:
    assert run("analyze", "--sender", "a.pcap", "--receiver", "b.pcap") == 0
    assert core.calls[0]["paths"] == ["a.pcap"]
    assert core.calls[0]["receiver"] == ["b.pcap"]


@pytest.mark.parametrize(
    ("said", "flows"), [("", 10_000), (" --flows 3", 3), (" --flows all", None)], ids=["default", "3", "all"]
)
def test_json_alone_keeps_only_what_it_lists(core: FakeCore, said: str, flows: int | None) -> None:
    assert run(*f"analyze x.pcap --json{said}".split()) == 0
    assert (core.calls[-1]["flows"], core.calls[-1]["listed_only"]) == (flows, True)


def test_json_beside_tables_keeps_everything(core: FakeCore, tmp_path: Path) -> None:
    assert run("analyze", "x.pcap", "--json", "--out", str(tmp_path), "--figures", "none") == 0
    assert not any(call.get("listed_only") for call in core.calls)


def test_json_is_what_the_core_writes(core: FakeCore, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", "x.pcap", "--json") == 0
    assert json.loads(capfd.readouterr().out)["capture"]["packets"] == 6318


def test_a_page_reads_a_capture_once_and_keeps_no_packets(core: FakeCore) -> None:
    assert run("analyze", "x.pcap") == 0
    assert [list(c["tables"]) for c in core.calls] == [[]]


def test_a_ladder_reads_the_packets_of_its_flow_only(
    core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("analyze", "x.pcap", "--ladder", "2") == 0
    assert "packets" in core.calls[1]["tables"]
    assert core.calls[1]["flow"] == "10.8.0.2:41822-10.8.0.9:21"
    assert "again: timeout" in capsys.readouterr().out


def test_a_ladder_of_standard_input_reads_it_once(core: FakeCore) -> None:
    assert run("analyze", "-", "--ladder", "2") == 0
    assert len(core.calls) == 1


def test_annotate_keeps_the_packets_it_comments(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", "x.pcap", "--annotate", "o.pcapng") == 0
    assert list(core.calls[0]["tables"]) == ["retransmissions", "packets"]
    assert core.calls[1] == {"annotate": "o.pcapng"}
    assert "findings as comments on 6,318 of them" in capsys.readouterr().err


def test_the_first_ctrl_c_keeps_what_was_read(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(progress: Any) -> bool:
        assert progress(10, 100, 5) is True
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        return bool(progress(20, 100, 10))

    core.during = interrupted
    assert run("analyze", "x.pcap") == 0
    assert "note: stopped early: this is the answer for what was seen until then" in capsys.readouterr().out


def test_a_second_ctrl_c_ends_the_program(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    def impatient(progress: Any) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        return bool(progress(20, 100, 10))

    core.during = impatient
    assert run("analyze", "x.pcap") == 1
    assert "stopped before there was an answer" in capsys.readouterr().err


def test_no_progress_is_shown_where_nobody_looks(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    def slow(progress: Any) -> bool:
        progress._began -= 60
        return bool(progress(50, 100, 1_000_000))

    core.during = slow
    assert run("analyze", "x.pcap") == 0
    assert capsys.readouterr().err == ""


def test_progress_with_rate_and_remaining_time_on_a_terminal(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def slow(progress: Any) -> bool:
        progress(10, 100, 1_000)
        assert progress._bar is None, "two seconds have not passed"
        progress._began -= 10
        return bool(progress(50, 100, 20_000_000))

    core.during = slow
    assert run("analyze", "x.pcap") == 0
    err = capsys.readouterr().err
    assert "20,000,000 packets" in err
    assert "M packets/s" in err


def test_a_bar_is_one_line_that_fits_the_terminal_and_goes_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rexmit.screen import progress

    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    monkeypatch.setenv("COLUMNS", "100")
    bar = progress.Bar()
    bar.draw("x.pcap", 10, 100, ["10 of 100 s", ""])
    now = 101.0
    bar.draw("x.pcap", 20, 100, ["20 of 100 s", ""])
    monkeypatch.setenv("COLUMNS", "40")
    now = 102.0
    bar.draw("x.pcap", 30, 100, ["30 of 100 s", ""])
    bar.draw("x.pcap", 31, 100, ["31 of 100 s", ""])
    bar.stop()
    drawn = capsys.readouterr().err.split("\r")[1:]
    assert drawn[1] == f"x.pcap  [{'#' * 3}{' ' * 27}]  10 of 100 s"
    assert drawn[3] == f"x.pcap  [{'#' * 6}{' ' * 24}]  20 of 100 s  0:00:08 left"
    assert drawn[5] == f"x.pcap  [{'#' * 9}{' ' * 21}] "[:39]
    assert [part.strip() for part in drawn[6:]] == ["", ""], "so soon after it is not drawn again"


def test_a_closed_pipe_is_no_error() -> None:
    script = f"{sys.executable} -m rexmit analyze {SENDER} | head -1"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.startswith(str(SENDER))


def test_help_imports_nothing_heavy_and_answers_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rexmit", "help", "all"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert "analyze" in done.stdout
    loaded = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "rexmit" in loaded
    heavy = {"filelock", "matplotlib", "nanoarrow", "numpy", "pyarrow", "rich", "pandas", "polars"}
    assert not loaded & heavy
    # Processor time: the clock of a busy machine says nothing.
    took = []
    for _ in range(3):
        began = os.times()
        subprocess.run([sys.executable, "-m", "rexmit", "analyze", "--help"], capture_output=True, check=True)
        ended = os.times()
        took.append(sum(ended[2:4]) - sum(began[2:4]))
    assert min(took) < 0.3


def test_a_terminal_without_unicode_still_gets_the_answer(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert run("analyze", "x.pcap", "--ladder", "2") == 0
    text = raw.getvalue().decode("ascii")
    assert "... 242 segments, 3066865:3417281" in text
    assert "?" not in text


def test_out_writes_tables_figures_and_says_what_each_file_is(
    core: FakeCore, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    out = tmp_path / "out"
    assert run("analyze", "x.pcap", "--out", str(out), "--figures", "svg") == 0
    said = capfd.readouterr().out
    assert f"{out}/index.md says what each file is" in said
    index = (out / "index.md").read_text()
    files = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()} - {"index.md"}
    assert all(f"`{name}`" in index for name in files)
    assert {"tables/packets.parquet", "tables/episodes.csv", "figures/flow-0/ladder-2.svg"} <= files
    assert "tables/packets.csv" not in files
    assert pq.read_table(out / "tables/packets.parquet").num_rows == 6318
    assert pyarrow.csv.read_csv(out / "tables/episodes.csv").num_rows == 2
    assert json.loads((out / "summary.json").read_text())["flows"][0]["episode_count"] == 2
    assert len(core.calls) == 1, "one pass is enough for everything"


def test_csv_alone_has_the_packets_too(core: FakeCore, tmp_path: Path) -> None:
    assert run("analyze", "x.pcap", "--out", str(tmp_path), "--csv", "--figures", "none") == 0
    names = {p.name for p in (tmp_path / "tables").iterdir()}
    assert "packets.csv" in names
    assert not any(name.endswith(".parquet") for name in names)
    assert not (tmp_path / "figures").exists()


class TestRealCaptures:
    def test_the_page_of_a_real_capture(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert run("analyze", str(SENDER)) == 0
        out = capfd.readouterr().out
        assert "taken at the client" in out
        assert "10.0 MB in 15.9 s" in out
        assert len(out.splitlines()) <= 40, "one screen"

    def test_json_of_a_real_capture(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert run("analyze", str(SENDER), "--json") == 0
        answer = json.loads(capfd.readouterr().out)
        flow = max(answer["flows"], key=lambda f: f["bytes"])
        assert flow["bytes"] == 10_000_000
        assert {"capture", "flows"} <= set(answer)

    @pytest.mark.parametrize("options", [[], ["--json"]], ids=["page", "json"])
    def test_an_answer_loads_no_table_library_that_it_does_not_need(self, options: list[str]) -> None:
        # They take 50 MiB and a tenth of a second.
        script = (
            "import sys; from rexmit.cli import main; main(sys.argv[1:]);"
            "print(sorted({m.split('.')[0] for m in sys.modules}), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, "analyze", str(SENDER), *options],
            check=True,
            capture_output=True,
            text=True,
        )
        for heavy in ("filelock", "nanoarrow", "numpy", "pyarrow", "pandas", "matplotlib", "rich"):
            assert f"'{heavy}'" not in done.stderr

    def test_a_text_file_is_code_2(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("no packets here, only words about them\n" * 4)
        assert run("analyze", str(path)) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "notes.txt" in err
        assert err.count("\n") == 1

    def test_a_name_moves_no_cursor(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        evil = "\x1b[31m\x9bA\r.pcap"
        path = tmp_path / evil
        assert run("analyze", str(path)) == 2
        path.write_bytes(SENDER.read_bytes())
        assert run("analyze", str(path), "--annotate", str(tmp_path / (evil + "ng"))) == 0
        assert run("analyze", str(path), "--nonsense\x1b[1m") == 2
        said = "".join(capsys.readouterr())
        assert "␛[31m" in said
        assert not set(said) & set("\x1b\x9b\r")

    @pytest.mark.parametrize("what", ["missing.pcap", "docs"])
    def test_no_file_and_a_folder_without_a_capture_are_code_2(
        self, what: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run("analyze", what) == 2
        assert capsys.readouterr().err.count("\n") == 1

    def test_a_cut_capture_is_answered_and_said_to_be_cut(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        import gzip

        cut = tmp_path / "cut.pcap"
        cut.write_bytes(gzip.decompress(SENDER.read_bytes())[:700_000])
        assert run("analyze", str(cut)) == 0
        assert "note: " in capsys.readouterr().out

    def test_against_itself_nothing_differs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("analyze", str(SENDER), "--against", str(SENDER)) == 0
        assert "The two take the same time for 10.0 MB" in capsys.readouterr().out


def test_a_capture_is_not_written_over_by_its_own_comments(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "a.pcap"
    taken.write_bytes(b"as it was")
    (tmp_path / "same.pcap").symlink_to(taken)
    assert run("analyze", str(taken), "--annotate", str(tmp_path / "same.pcap")) == 2
    assert "this capture is read; name another file to write" in capsys.readouterr().err
    assert taken.read_bytes() == b"as it was"
    assert run("analyze", str(taken), "--annotate", str(tmp_path / "none" / "o.pcapng")) == 2
    assert f"there is no folder {tmp_path / 'none'}" in capsys.readouterr().err


def test_a_time_below_0_is_told_as_such(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["analyze", "x.pcap", "--from", "-1s"]
    monkeypatch.setattr(sys, "argv", ["rexmit", *words])
    assert run(*words) == 2
    assert (
        capsys.readouterr().err
        == "rexmit analyze: --from needs a value; -1s is below 0, which it cannot be\n"
    )


@pytest.mark.parametrize("words", [["--help"], ["analyze", "--help"]])
def test_help_is_a_word_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert cli.main(["help", *words[:-1]]) == 0
    assert capsys.readouterr().out == said
    assert said.startswith("usage: rexmit" if words[:-1] else cli.ABOUT)
