"""What a rule in Python costs: ACKs per CPU second of one run, beside the same stack all in Rust.

    .venv/bin/python benches/own_rules.py [--seconds 60]

The path is that of benches/simulators/one-flow.toml, and the window may grow at every ACK. Exit code 1 if a
stack with Python in it takes more than twenty times the CPU time of an ACK.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import rexmit as rx
from rexmit import _core

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "benches" / "simulators" / "one-flow.toml"
#: At most so many times the CPU time.
BAR = 20.0
AIMD = {"congestion": "rexmit.rules.aimd:Aimd"}
NEWRENO = {"detect": "rexmit.rules.dup_acks:DupAcks", "recovery": "rexmit.rules.newreno:NewReno"}
RACK = {"detect": "rexmit.rules.rack:Rack"}
BBR = {"congestion": "rexmit.rules.bbr:Bbr"}
#: The stack in Rust, and which of its sections are Python's.
STACKS: dict[str, tuple[str, dict[str, str]]] = {
    "rfc-newreno": ("rfc-newreno", {}),
    "  aimd in Python": ("rfc-newreno", AIMD),
    "  aimd, dup-acks and newreno in Python": ("rfc-newreno", AIMD | NEWRENO),
    "linux-6-reno": ("linux-6-reno", {}),
    "  rack in Python": ("linux-6-reno", RACK),
    "linux-6-bbr": ("linux-6-bbr", {}),
    "  bbr in Python": ("linux-6-bbr", BBR),
    "  bbr and rack in Python": ("linux-6-bbr", BBR | RACK),
}


def scenario(seconds: int, base: str, rules: dict[str, str]) -> str:
    """The flow on a stack that grows at every ACK."""
    text = (
        SCENARIO.read_text()
        .replace('"500s"', f'"{seconds}s"')
        .replace('stack = "rfc-sack"', 'stack = "mine"', 1)
    )
    text += f'\n[[stack]]\nname = "mine"\nbased_on = "{base}"\n'
    said = {section: f'rule = "python"\nclass = "{named}"\n' for section, named in rules.items()}
    said["congestion"] = said.get("congestion", "") + "grows_only_when_limited = false\n"
    return text + "".join(f"[stack.{section}]\n{lines}" for section, lines in said.items())


def rate(text: str) -> float:
    """ACKs that the sender heard, a CPU second of one run."""
    variant = rx.Scenario.parse(text)._variant(None)
    begin = time.process_time()
    # In this process: rx.runs would hand runs that ask Python to another, whose time is not seen here.
    batch = _core.simulate_many([variant], [(0, None)])
    took = time.process_time() - begin
    (told,) = (json.loads(one or "{}") for one in batch.runs)
    if told["failure"]:
        raise SystemExit(told["failure"])
    (link,) = (link for link in told["links"] if link["direction"] == "back")
    return float(link["delivered"]) / took


def main() -> int:
    """Prints each stack's rate; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="of the run's own time (default 60)")
    seconds = parser.parse_args().seconds
    rates: dict[str, float] = {}
    worst = 0.0
    for name, (base, rules) in STACKS.items():
        rates[name] = rate(scenario(seconds, base, rules))
        times = rates[base] / rates[name]
        worst = max(worst, times)
        print(
            f"{rates[name]:12,.0f} ACKs a CPU second   {times:5.1f} times the CPU time   {name}", flush=True
        )
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main())
