"""Scenarios that name files of another kind, or that would never end: one sentence, exit code 2."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rexmit as rx
from rexmit.screen import units

SCENARIO = """\
name = "x"
duration = "1s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "1Mbps"
{link}
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "{stack}"
workload = {{ kind = "endless" }}
"""
OUTAGE = '[[link.channel]]\nname = "c"\nkind = "outage"\nschedule = {{ file = "{0}" }}'
RATES = '[[link.channel]]\nname = "c"\nkind = "rate-trace"\nfile = "{0}"'
MOST_BYTES = 2 << 30


def rexmit(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In little memory: what reads without bound fails instead of taking the machine's."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))

    return subprocess.run(
        [sys.executable, "-m", "rexmit", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=limited,
    )


def refused(*arguments: str) -> str:
    done = rexmit(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_a_device_is_refused_wherever_it_is_named(device: str, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    stack = tmp_path / "zero.toml"
    stack.symlink_to(device)
    why = "it is a device, not a regular file"
    assert refused("run", device) == f"{device}: cannot be read: {why}"
    assert why in refused("stacks", device)
    for link in (OUTAGE, RATES):
        file.write_text(SCENARIO.format(link=link.format(device), stack="rfc-sack"))
        assert refused("run", str(file)).endswith(why)
    file.write_text(SCENARIO.format(link="", stack="zero.toml"))
    assert refused("run", str(file)).endswith(why)


def test_a_file_too_large_is_told_its_size(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    large.write_bytes(b"# nothing\n" * 6_000_000)
    assert refused("run", str(large)).endswith("it is 57.2 MiB large, and a scenario has at most 8 MiB")
    assert refused("stacks", str(large)).endswith("it is 57.2 MiB large, and a stack file has at most 8 MiB")


def test_a_private_file_is_not_quoted(tmp_path: Path) -> None:
    private = tmp_path / "shadow"
    private.write_text("root:$6$hunter2:19000:0:99999:7:::\n")
    file = tmp_path / "x.toml"
    said = [refused("run", str(private)), refused("stacks", str(private))]
    for link in (OUTAGE, RATES):
        file.write_text(SCENARIO.format(link=link.format(private), stack="rfc-sack"))
        said.append(refused("run", str(file)))
    assert not any("hunter2" in line or "$6$" in line for line in said), said


def test_a_stack_that_is_no_toml_is_told_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('name = "x\n')
    assert refused("stacks", str(file)) == f'{file}:1: this is no TOML: invalid basic string, expected `"`'


def test_an_endless_flow_over_a_way_that_takes_no_time_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    text = SCENARIO.format(link="", stack="linux-2.6-cubic").replace('rate = "1Mbps"\n', "")
    file.write_text(text)
    said = refused("run", str(file))
    assert said.startswith(f"{file}:11: flow.f is endless, and its way over link l has neither rate"), said
    assert "flow.f is endless" in refused("run", str(file), "--runs", "3")


def test_what_needs_too_much_memory_is_refused_until_it_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(SCENARIO.format(link="", stack="rfc-sack") + "count = 2000\n")
    said = refused("run", str(file), "--max-memory", "20MB")
    assert said.startswith(f"{file}:18: flow.f.count = 2000 needs about"), said
    assert "more than the 20.0 MB that are allowed" in said, said
    assert "in 2 runs at once" in refused("run", str(file), "--runs", "2", "--max-memory", "50MB")
    assert rexmit("run", str(file), "--max-memory", "1GB").returncode == 0
    assert "no amount of memory" in rexmit("run", str(file), "--max-memory", "lots").stderr


def test_a_run_that_takes_more_memory_than_was_estimated_ends_and_keeps_what_it_saw(tmp_path: Path) -> None:
    link = 'delay = "10ms"\nqueue = { kind = "droptail", packets = 20 }'
    file = tmp_path / "x.toml"
    text = SCENARIO.format(link=link, stack="rfc-sack").replace('"1Mbps"', '"10Mbps"')
    file.write_text(text.replace('duration = "1s"', 'duration = "100s"'))
    # The estimate counts what is in flight; a process takes some MB for its buffers when it begins.
    found = rexmit("run", str(file), "--max-memory", "300kB")
    assert found.returncode == 1
    assert "it took more than the 300 kB of memory that are allowed (--max-memory)" in found.stderr
    assert "stopped early: this is the answer for what was seen until then" in found.stdout
    assert "MB in" in found.stdout
    assert rexmit("run", str(file), "--max-memory", "1GB").returncode == 0


def test_ctrl_c_is_not_followed_by_a_whole_second_pass() -> None:
    """What the second of two passes may still take is half a second, however long the first ran."""
    text = SCENARIO.format(link='delay = "1ms"', stack="rfc-sack").replace('"1Mbps"', '"10Gbps"')
    first_s = 4.0
    began = time.process_time()
    run = rx.run(text.replace('"1s"', '"100000s"'), progress=lambda *_: time.process_time() - began < first_s)
    took = time.process_time() - began
    assert run.summary["end"] == "stopped"
    assert run.summary["time_s"] > 0
    # A whole second pass would take more than the first.
    assert took < 1.6 * first_s, took


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2GB", 2_000_000_000),
        ("1.5GiB", 1_610_612_736),
        ("512M", 512_000_000),
        ("4096", 4096),
        ("1 KiB", 1024),
    ],
)
def test_amounts_of_memory_are_read(text: str, found: int) -> None:
    assert units.parse_bytes(text) == found


@pytest.mark.parametrize("text", ["", "lots", "-1GB", "0", "0.1B", "1GHz", "1e9", "nan", "1PB"])
def test_what_is_no_amount_of_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no amount of memory"):
        units.parse_bytes(text)
