"""What a rule in Python costs: ACKs per CPU second of one run, beside the same stack all in Rust.

    .venv/bin/python benches/own_rules.py [--seconds 60]

The path is that of benches/simulators/one-flow.toml, and the window may grow at every ACK. Exit code 1 if a
stack with Python in it takes more than twenty times the CPU time of an ACK.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import rexmit as rx

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "benches" / "simulators" / "one-flow.toml"
#: At most so many times the CPU time.
BAR = 20.0
RULES = {
    "congestion": "rexmit.rules.aimd:Aimd",
    "detect": "rexmit.rules.dup_acks:DupAcks",
    "recovery": "rexmit.rules.newreno:NewReno",
}
#: Name, and which sections are Python's.
STACKS: dict[str, tuple[str, ...]] = {
    "Rust": (),
    "aimd in Python": ("congestion",),
    "aimd, dup-acks and newreno in Python": ("congestion", "detect", "recovery"),
}


def scenario(seconds: int, sections: tuple[str, ...]) -> str:
    """The flow on a stack that grows at every ACK."""
    text = (
        SCENARIO.read_text()
        .replace('"500s"', f'"{seconds}s"')
        .replace('stack = "rfc-sack"', 'stack = "mine"', 1)
    )
    text += '\n[[stack]]\nname = "mine"\nbased_on = "rfc-newreno"\n'
    said = {section: f'rule = "python"\nclass = "{RULES[section]}"\n' for section in sections}
    said["congestion"] = said.get("congestion", "") + "grows_only_when_limited = false\n"
    return text + "".join(f"[stack.{section}]\n{lines}" for section, lines in said.items())


def rate(text: str) -> float:
    """ACKs that the sender heard, a CPU second of one run."""
    begin = time.process_time()
    runs = rx.runs(text, threads=1)
    took = time.process_time() - begin
    if runs.failure:
        raise SystemExit(runs.failure)
    (link,) = (row for row in runs.links.to_arrow().to_pylist() if row["direction"] == "back")
    return float(link["delivered"]) / took


def main() -> int:
    """Prints each stack's rate; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="of the run's own time (default 60)")
    seconds = parser.parse_args().seconds
    rates = {name: rate(scenario(seconds, sections)) for name, sections in STACKS.items()}
    for name, found in rates.items():
        print(f"{found:12,.0f} ACKs a CPU second   {rates['Rust'] / found:5.1f} times the CPU time   {name}")
    return int(rates["Rust"] / min(rates.values()) > BAR)


if __name__ == "__main__":
    sys.exit(main())
