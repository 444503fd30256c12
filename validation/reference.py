"""Scenario files for the reference runs of ns-2.35 and ns-3.20: one line of a table makes one scenario.

validation/reference.py                  writes the scenarios of tests/reference, each beside its trace
validation/reference.py --check          says which of them are missing, or not as this script makes them
validation/reference.py mine reno old drops=30,41 end=12         prints the scenario of one line

A line: name, variant, age, settings. Ages are `old` (ns-2 as of 1998), `new` (ns-2.35) and `3.20` (ns-3).
A list of variants or ages, or `*`, makes a scenario for each; `{variant}` and `{age}` in the name tell which.

ns-2, on FH - BS - MH with 1.5 Mb 10 ms and 0.8 Mb 100 ms: `drops`, `ackdrops` (ordinals from 0, lost before
FH - BS and before MH - BS), `q` (queues, as ns-2 counts them: 50), `outage` (down, up, ... of BS - MH, s),
`delack=1`, `maxpkts` (written at the start), `seed` (2), `end` (8 s), and any switch of the agents by its
class and name (`Agent/TCP:bugFix_=false`).

ns-3, on one link: `rate` (5Mbps), `delay` (5ms), `q` (10, the packet being sent not counted), `end` (10 s),
`errors` (a file whose last column is the ordinal, from 1, of an arrival that was lost) or `drops` (the same
ordinals, listed).
"""

from __future__ import annotations

import argparse
import gzip
import sys
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent.parent / "tests" / "reference"
NS2_VARIANTS = ("tahoe", "reno", "newreno", "sack", "vegas")
NS2_STACKS = {"old": "ns2", "new": "ns2.35"}
NS2_SETTINGS = ("drops", "ackdrops", "q", "outage", "delack", "maxpkts", "more", "seed", "end")
NS3_VARIANTS = ("tahoe", "reno", "newreno")
NS3_SETTINGS = ("rate", "delay", "q", "end", "errors", "drops")

# A switch of ns-2's agents: the key of a one-way stack that it sets, and the unit of its value.
FLAG, COUNT, PACKETS, SECONDS = "flag", "", " packets", "s"
SWITCHES = {
    "window_": ("window", PACKETS),
    "windowInit_": ("initial_window", PACKETS),
    "maxcwnd_": ("max_cwnd", PACKETS),
    "maxburst_": ("max_burst", PACKETS),
    "numdupacks_": ("dupthresh", COUNT),
    "syn_": ("syn", FLAG),
    "delay_growth_": ("delay_growth", FLAG),
    "tcpTick_": ("tick", SECONDS),
    "rtxcur_init_": ("rto_initial", SECONDS),
    "minrto_": ("rto_min", SECONDS),
    "maxrto_": ("rto_max", SECONDS),
    "rfc2988_": ("min_before_backoff", FLAG),
    "timerfix_": ("timer_after_rtt", FLAG),
    "timestamps_": ("timestamps", FLAG),
    "ts_resetRTO_": ("timestamps_end_backoff", FLAG),
    "singledup_": ("limited_transmit", FLAG),
    "aggressive_maxburst_": ("burst_on_old_acks", FLAG),
    "slow_start_restart_": ("restart_after_idle", FLAG),
    "restart_bugfix_": ("restart_keeps_ssthresh", FLAG),
    "bugFix_": ("bug_fix", FLAG),
    "bugfix_ss_": ("bug_fix_first_window", FLAG),
    "precisionReduce_": ("exact_halving", FLAG),
    "exitFastRetrans_": ("clean_exit", FLAG),
    "partial_window_deflation_": ("newreno_partial_deflation", FLAG),
    "newreno_changes_": ("newreno_hoe", FLAG),
    "newreno_changes1_": ("newreno_impatient", FLAG),
    "lessCareful_": ("newreno_less_careful", FLAG),
    "exit_recovery_fix_": ("newreno_exit_by_flight", FLAG),
    "LimTransmitFix_": ("sack_limited_transmit_pipe", FLAG),
    "partial_ack_": ("sack_partial_ack_sends", FLAG),
    "oldCode_": ("sack_pipe_from_cwnd", FLAG),
    "v_alpha_": ("vegas_alpha", COUNT),
    "v_beta_": ("vegas_beta", COUNT),
    "v_gamma_": ("vegas_gamma", COUNT),
    "interval_": ("delayed_ack_timeout", SECONDS),
    "RFC2581_immediate_ack_": ("delayed_ack_gaps_at_once", FLAG),
    "SYN_immediate_ack_": ("delayed_ack_syn_at_once", FLAG),
    "maxSackBlocks_": ("sack_blocks", COUNT),
    "generateDSacks_": ("dsack", FLAG),
}


class Unsaid(ValueError):
    """A line that no scenario can say, or that is no line."""


@dataclass
class Case:
    """One line of a table, for one variant and age."""

    name: str
    variant: str
    age: str
    settings: dict[str, str]
    folder: Path

    def scenario(self) -> str:
        return ns3(self) if self.age == "3.20" else ns2(self)

    def take(self, key: str, default: str = "") -> str:
        return self.settings.get(key, default)

    def ordinals(self, key: str) -> list[int]:
        return [int(word) for word in self.take(key).split(",") if word]


def cases(line: str, folder: Path) -> list[Case]:
    """All that a line stands for."""
    if len(line.split()) < 3:
        raise Unsaid(f"{line!r} is not a name, a variant, an age and settings")
    name, variants, ages, *words = line.split()
    if ages == "3.20":
        settings = checked(words, NS3_SETTINGS)
        each = product(spread(variants, NS3_VARIANTS), [ages])
    else:
        settings = checked(words, NS2_SETTINGS)
        each = product(spread(variants, NS2_VARIANTS), spread(ages, tuple(NS2_STACKS)))
    return [Case(name.format(variant=v, age=a), v, a, settings, folder) for v, a in each]


def spread(words: str, known: tuple[str, ...]) -> list[str]:
    chosen = list(known) if words == "*" else words.split(",")
    for word in chosen:
        if word not in known:
            raise Unsaid(f"{word!r} is none of {', '.join(known)}")
    return chosen


def checked(words: list[str], known: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not (key in known or (":" in key and known is NS2_SETTINGS)):
            raise Unsaid(f"{word!r} sets none of {', '.join(known)}")
        settings[key] = value
    return settings


# ---- ns-2 ----

NS2 = """\
name = "{name}"
about = "Reference run of ns-2.35: {variant}, {age}"
duration = "{end}s"
seed = {seed}

[[node]]
name = "FH"
[[node]]
name = "BS"
[[node]]
name = "MH"

# ns-2's limit counts the packet being sent.
[[link]]
name = "wired"
between = ["FH", "BS"]
rate = "1.5Mbps"
delay = "10ms"
queue = {{ kind = "droptail", packets = {waiting} }}
{wired}
[[link]]
name = "wireless"
between = ["BS", "MH"]
rate = "0.8Mbps"
delay = "100ms"
queue = {{ kind = "droptail", packets = {waiting} }}
{wireless}
[[flow]]
name = "ftp"
from = "FH"
to = "MH"
stack = "agent"
workload = {workload}

[[stack]]
name = "agent"
based_on = "{stack}"
[stack.oneway]
{switches}
[record]
state = true
queues = true
drops = true
packets = true
"""


def ns2(case: Case) -> str:
    seed = int(case.take("seed", "2"))
    return NS2.format(
        name=case.name,
        variant=case.variant,
        age=case.age,
        end=case.take("end", "8"),
        seed=seed,
        waiting=int(case.take("q", "50")) - 1,
        wired=lost("data-losses", case.ordinals("drops"), "ingress", "forward"),
        wireless=outages(case) + lost("ack-losses", case.ordinals("ackdrops"), "ingress", "back"),
        workload=workload(case),
        stack=f"{NS2_STACKS[case.age]}-{case.variant}",
        switches=switches(case, boot_time(seed, case.variant)),
    )


def lost(name: str, ordinals: list[int], at: str, direction: str) -> str:
    if not ordinals:
        return ""
    return f"""\
[[link.channel]]
name = "{name}"
kind = "list"
packets = {ordinals}
at = "{at}"
direction = "{direction}"
"""


def outages(case: Case) -> str:
    """Down, up, down, up: each with everything on the link, both ways, lost."""
    times = [Decimal(word) for word in case.take("outage").split(",") if word]
    if len(times) % 2:
        raise Unsaid("outage: times down and up, in pairs")
    if not times:
        return ""
    pairs = zip(times[::2], times[1::2], strict=True)
    intervals = ", ".join(f'["{down}s", "{(up - down) * 1000:f}ms"]' for down, up in pairs)
    return f"""\
[[link.channel]]
name = "down"
kind = "outage"
schedule = {{ intervals = [{intervals}] }}
flush = "flight"
"""


def workload(case: Case) -> str:
    if "more" in case.settings:
        raise Unsaid("more: no workload writes given packets at given times")
    if "maxpkts" not in case.settings:
        return '{ kind = "endless" }'
    size = int(case.take("maxpkts")) * 984  # packets of 1024 bytes but for 40 of headers
    return f'{{ kind = "file", size = "{size}B" }}'


def switches(case: Case, phase: float) -> str:
    """The keys of the one-way stack in which the case differs from its age."""
    lines = [f"tick_phase = {phase!r}"]
    if case.take("delack") == "1":
        lines.append("delayed_ack = 2")
    for setting, value in case.settings.items():
        if ":" in setting:
            lines.append(switch(setting.rsplit(":", 1)[1], value))
    return "\n".join(lines) + "\n"


def switch(variable: str, value: str) -> str:
    if variable not in SWITCHES:
        raise Unsaid(f"{variable}: no stack has it, or what it draws is not ns-2's")
    key, unit = SWITCHES[variable]
    if unit == FLAG:
        return f"{key} = {str(value in ('true', '1')).lower()}"
    return f"{key} = {value}" if unit == COUNT else f'{key} = "{value}{unit}"'


def boot_time(seed: int, variant: str) -> float:
    """The phase of the agent's tick clock, as a fraction of a tick.

    The second number of ns-2's generator, MRG32k3a (L'Ecuyer 1999), whose six words `ns-random SEED` all sets
    to the seed; the third for Vegas, which draws it twice.
    """
    m1, m2 = 4294967087, 4294944443
    first, second = [seed] * 3, [seed] * 3
    drawn = 0.0
    for _ in range(3 if variant == "vegas" else 2):
        p = (1403580 * first[1] - 810728 * first[0]) % m1
        q = (527612 * second[2] - 1370589 * second[0]) % m2
        first, second = [*first[1:], p], [*second[1:], q]
        drawn = ((p - q) if p > q else (p - q + m1)) / (m1 + 1)
    return drawn


# ---- ns-3 ----

NS3 = """\
name = "{name}"
about = "Reference run of ns-3.20: {variant}"
duration = "{end}s"

[[node]]
name = "sender"
input = "in-turn"
[[node]]
name = "sink"
input = "in-turn"

[[link]]
name = "link"
between = ["sender", "sink"]
rate = "{rate}"
delay = "{delay}"
framing = "ppp"
queue = {{ kind = "droptail", packets = {waiting} }}
{errors}
[[flow]]
name = "bulk"
from = "sender"
to = "sink"
start = "1s"
stack = "ns3.20-{variant}"
workload = {{ kind = "constant-rate", rate = "100Mbps", message = "1460B" }}

[record]
capture = ["sender"]
state = true
queues = true
drops = true
packets = true
"""


def ns3(case: Case) -> str:
    ordinals = case.ordinals("drops") + listed_errors(case)
    return NS3.format(
        name=case.name,
        variant=case.variant,
        end=case.take("end", "10"),
        rate=case.take("rate", "5Mbps"),
        delay=case.take("delay", "5ms"),
        waiting=int(case.take("q", "10")),
        errors=lost("errors", [n - 1 for n in ordinals], "egress", "forward"),
    )


def listed_errors(case: Case) -> list[int]:
    if "errors" not in case.settings:
        return []
    path = case.folder / case.take("errors")
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [int(line.rsplit(",", 1)[1]) for line in text.splitlines() if line.strip()]


# ---- all of them ----


def tables() -> list[Path]:
    return sorted(REFERENCE.glob("*/cases.txt"))


def listed(table: Path) -> list[tuple[Path, str]]:
    """Path and text of every scenario that a table's lines can be."""
    made = []
    for line in table.read_text().splitlines():
        for case in cases(line, table.parent):
            try:
                made.append((table.parent / f"{case.name}.toml", case.scenario()))
            except Unsaid as why:
                print(f"{case.name} is left out: {why}", file=sys.stderr)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("line", nargs="*", help="name, variant, age and settings of one case")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    args = parser.parse_args()
    if args.line:
        try:
            print("\n".join(case.scenario() for case in cases(" ".join(args.line), Path())), end="")
        except (Unsaid, ValueError) as error:
            print(f"no case: {error}", file=sys.stderr)
            return 2
        return 0
    stale = [(p, text) for t in tables() for p, text in listed(t) if not p.exists() or p.read_text() != text]
    for path, text in stale:
        print(path.relative_to(REFERENCE))
        if not args.check:
            path.write_text(text)
    return int(args.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
