"""The simulator against the kernel: the test bed's groups A, B and C again, from their own parameters.

    .venv/bin/python validation/kernel.py [--captures ../shared/captures] [--run NAME ...] [--json FILE]
    .venv/bin/python validation/kernel.py --live       the kernel's runs made now, on the live bench (root)

Each run's rate, delay, queue, outages and file give a scenario; nothing is fitted. The simulator's stack is
Linux 6 with the run's congestion control, the kernel is the one that was captured. Both are analysed alike,
at both ends. Prints what they agree on and what not, in Markdown; differences are no failure. Exit code 2:
something cannot be read or run. --live says besides how far the kernel agrees with its own captured runs.
--set KEY=VALUE changes the simulated scenario, to see what a difference comes from; the first line says so.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import kernel_table
import rexmit as rx
import truth
from kernel_table import Event, Side
from rexmit.frame import Frame

ROOT = Path(__file__).resolve().parent.parent
GROUPS = ("A", "B", "C")
STACKS = {"reno": "linux-6-reno", "cubic": "linux-6-cubic", "bbr": "linux-6-bbr"}
#: Captures that ship under a name of their own.
SHIPPED = {"interruption": "B1_reno_5.5M_wifi1000p_200ms_p5"}
#: The bridge counts an Ethernet header with each packet: its queues are multiples of 1514 bytes, and that is
#: what the times between the copies that it dropped one after another come to.
FRAMING = "14B"
#: The bridge counts the rest of the frame that is being sent as part of its queue (backlog and packet
#: are above the limit for what it dropped and below it for what it kept); rexmit's queues do not.
FRAME_BYTES = 1514
#: A drop's time is the bridge's, the first SYN's that of the capture.
CLOCK_S = 0.001


@dataclass
class Case:
    """One run of the test bed: what was set, and where its captures are."""

    name: str
    folder: Path
    file: str
    cc: str
    rate_mbps: float
    delay_ms: float
    queue_bytes: int
    first_s: float
    every_s: float
    length_s: float

    @property
    def capture(self) -> Path:
        return self.folder / f"{self.file}.snd.pcap.gz"

    @property
    def receiver(self) -> Path:
        return self.folder / f"{self.file}.rcv.pcap.gz"

    @property
    def longest_wait_s(self) -> float:
        """From a copy's sending to the drop point, behind a full queue."""
        return self.queue_bytes * 8 / (self.rate_mbps * 1e6) + self.delay_ms / 1e3

    def outage_at(self, since_syn_s: float) -> int:
        return int((since_syn_s - self.first_s + CLOCK_S) // self.every_s)

    def scenario(self, size: int) -> dict[str, Any]:
        """The same run for rexmit: the drop point lies behind the queue and before the delay, both ways."""
        outage = {"every": f"{self.every_s}s", "for": f"{self.length_s}s", "phase": f"{self.first_s}s"}
        link: dict[str, Any] = {
            "name": "path",
            "between": ["sender", "receiver"],
            "rate": f"{self.rate_mbps}Mbps",
            "delay": f"{self.delay_ms}ms",
            "framing": FRAMING,
            "queue": {"kind": "droptail", "bytes": f"{self.queue_bytes - FRAME_BYTES}B"},
        }
        link["channel"] = [
            {"name": "interruption", "kind": "outage", "at": "wire", "direction": "both"}
            | {"schedule": outage | {"anchor": "first-syn"}}
        ]
        flow = {"name": "upload", "from": "sender", "to": "receiver"}
        flow |= {"stack": STACKS[self.cc], "receiver": "linux-6-cubic"}
        return {
            "name": self.name,
            "duration": "120s",
            "node": [{"name": "sender"}, {"name": "receiver"}],
            "link": [link],
            "flow": [flow | {"workload": {"kind": "file", "size": f"{size}B"}}],
            "record": {"drops": True},
        }


@dataclass
class Comparison:
    """One run, on both sides. `captured`: the kernel's captured run, where `kernel` is one made now."""

    case: Case
    sim: Side
    kernel: Side
    captured: Side | None = None


@dataclass
class Drop:
    """A packet that the link lost: s after the first SYN, offset in the stream, which outage took it."""

    time_s: float
    seq: int
    data: bool
    outage: int | None


@dataclass
class Cases:
    found: list[Case] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def cases(captures: Path) -> Cases:
    """The runs of the groups; those that cannot be compared are named with the reason."""
    folder = captures / "testbed"
    if not folder.is_dir():
        folder = ROOT / "tests" / "data"
    listing = next(p for p in (folder / "README.csv", folder / "episodes.csv") if p.exists())
    here = Cases()
    for file, rows in sorted(truth.episode_rows(listing).items()):
        name, row = SHIPPED.get(file, file), rows[0]
        if not name.startswith(GROUPS):
            continue
        if row["cc"] not in STACKS:
            here.skipped.append(f"{name}: no stack has {row['cc']}")
            continue
        option, _, outage = row["impairment"].partition(" ")
        if option != "--int" or row["sysctls"]:
            here.skipped.append(f"{name}: {row['impairment']} {row['sysctls']} is no plain outage")
            continue
        first, every, length = map(float, outage.split(","))
        path = float(row["rate_Mbps"]), float(row["one_way_delay_ms"]), int(row["queue_bytes"])
        here.found.append(Case(name, folder, file, row["cc"], *path, first, every, length))
    if folder.name == "data":
        here.skipped.append(f"all other runs of groups A, B, C: {captures / 'testbed'} is not there")
    return here


def compare(case: Case, changed: dict[str, str], live: bool = False) -> Comparison:
    """The kernel's run from its captures (live: made now), and the simulator's from its parameters."""
    captured = rx.capture(case.capture, receiver=case.receiver)
    scenario = case.scenario(largest(captured)["bytes"])
    sim = rx.run(scenario, set=changed)
    simulated = side(case, sim, drops_of(case, sim))
    then = side(case, captured, drops_logged(case))
    if not live:
        return Comparison(case, simulated, then)
    bench = rx.run(scenario, bench="live")
    if bench.failure:
        raise RuntimeError(f"{case.name}: {bench.failure}")
    return Comparison(case, simulated, side(case, bench, drops_of(case, bench)), then)


def largest(seen: rx.Capture) -> dict[str, Any]:
    return max((flow.row for flow in seen.flows), key=lambda row: row["bytes"])


def drops_logged(case: Case) -> list[Drop]:
    """The bridge's own log."""
    log = case.folder / f"{case.file}.drops.csv.gz"
    return [
        Drop(t := float(row["t_rel_syn"]), int(row["rel_seq"]), row["dir"] == "0", at(case, row["cause"], t))
        for row in truth.drop_rows(log)
    ]


def drops_of(case: Case, run: rx.Run) -> list[Drop]:
    """The table of a run, simulated or live."""
    syn = run.origin_ns / 1e9 + largest(run)["start"]
    found = []
    for row in rows_of(run.drops):
        t = row["time"] - syn
        cause = row["channel"] if row["cause"] == "channel" else row["cause"]
        found.append(Drop(t, row["seq"], row["payload_bytes"] > 0, at(case, cause, t)))
    return found


def at(case: Case, cause: str, since_syn_s: float) -> int | None:
    return case.outage_at(since_syn_s) if cause == "interruption" else None


def rows_of(table: rx.Table) -> list[dict[str, Any]]:
    """Rows with times in s since 1970."""
    return Frame(table).rows()


def side(case: Case, seen: rx.Capture, drops: list[Drop]) -> Side:
    """The figures of the flow that brought the file."""
    flow = largest(seen)
    syn = seen.origin_ns / 1e9 + flow["start"]
    bursts, episodes = (
        [row for row in rows_of(table) if row["flow"] == flow["flow"]]
        for table in (seen.bursts, seen.episodes)
    )
    outages = dict(struck(case, drops, bursts, syn))
    events = [
        during(case, k, burst, [d for d in drops if d.outage == k], episodes, syn)
        for k, burst in sorted(outages.items())
    ]
    taken = {event.episode for event in events}
    left = [row for row in episodes if row["number"] not in taken]
    events += [congestion(i, row, bursts) for i, row in enumerate(left, 1)]
    data = [drop for drop in drops if drop.data]
    return Side(
        throughput_mbps=flow["throughput_bps"] / 1e6,
        duration_s=flow["duration_s"],
        rtt_mean_ms=flow["rtt_ack_mean_s"] * 1e3,
        idle_s=flow["idle_total_s"],
        episodes=flow["episodes"],
        timeouts=flow["timeouts"],
        probes=flow["probes_new_data"] + flow["probes_repeat"],
        lost_queue=sum(d.outage is None for d in data),
        lost_outages=sum(d.outage is not None for d in data),
        lost_copies=flow["lost_copies"],
        initial_window=flow["initial_window_segments"],
        window_max_bytes=flow["window_max_bytes"],
        events=events,
    )


def struck(
    case: Case, drops: Iterable[Drop], bursts: list[dict[str, Any]], syn: float
) -> Iterable[tuple[int, dict[str, Any]]]:
    """Each outage that took data, with the burst that holds most of it."""
    by_outage: dict[int, list[Drop]] = {}
    for drop in drops:
        if drop.data and drop.outage is not None:
            by_outage.setdefault(drop.outage, []).append(drop)

    def holds(burst: dict[str, Any], drop: Drop) -> bool:
        sent, last = burst["start"] - syn - CLOCK_S, burst["last"] - syn + case.longest_wait_s
        return sent <= drop.time_s <= last and burst["seq_start"] <= drop.seq < burst["seq_end"]

    for k, lost in by_outage.items():
        yield k, max(bursts, key=lambda burst: sum(holds(burst, drop) for drop in lost))


def during(
    case: Case, k: int, burst: dict[str, Any], lost: list[Drop], episodes: list[dict[str, Any]], syn: float
) -> Event:
    """What one outage did."""
    episode = next((row for row in episodes if row["number"] == burst["episode"]), None)
    if episode is None:
        raise ValueError(f"what outage {k + 1} took belongs to no episode")
    back = case.first_s + k * case.every_s + case.length_s
    repair = burst["first_repair"]
    return Event(
        what=f"outage {k + 1}",
        trigger=burst["trigger"],
        lost_copies=sum(drop.data for drop in lost),
        lost_acks=sum(not drop.data for drop in lost),
        silence_s=burst["silence_s"],
        repair_after_return_s=None if repair is None else repair - syn - back,
        duration_s=episode["duration_s"],
        timeouts=episode["timeouts"],
        probes=episode["probes"],
        episode=episode["number"],
    )


def congestion(i: int, episode: dict[str, Any], bursts: list[dict[str, Any]]) -> Event:
    """An episode that no outage has a part in."""
    first = next((b for b in bursts if b["episode"] == episode["number"]), None)
    return Event(
        what=f"queue {i}",
        trigger=first["trigger"] if first else episode["kind"],
        lost_copies=episode["lost_copies"],
        lost_acks=None,
        silence_s=episode["silence_s"],
        repair_after_return_s=None,
        duration_s=episode["duration_s"],
        timeouts=episode["timeouts"],
        probes=episode["probes"],
        episode=episode["number"],
    )


def as_json(
    compared: list[Comparison], skipped: list[str], changed: dict[str, str], live: bool
) -> dict[str, Any]:
    return {
        "kernel": "live" if live else "captured",
        "set": changed,
        "tolerance": kernel_table.TOLERANCE,
        "runs": [
            {"name": c.case.name, "sim": asdict(c.sim), "kernel": asdict(c.kernel)}
            | ({"captured": asdict(c.captured)} if c.captured else {})
            for c in compared
        ],
        "agreement": [asdict(a) for a in kernel_table.agreement((c.sim, c.kernel) for c in compared)],
        "skipped": skipped,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--captures", type=Path, default=ROOT.parent / "shared" / "captures", metavar="DIR")
    parser.add_argument("--run", action="append", metavar="NAME", help="only runs whose name begins so")
    parser.add_argument(
        "--live", action="store_true", help="the kernel's runs are made now, on the live bench"
    )
    parser.add_argument("--json", metavar="FILE", help="all figures, too; - for standard output alone")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="of the simulated scenario"
    )
    args = parser.parse_args(arguments)
    changed = dict(pair.partition("=")[::2] for pair in args.set)
    here = cases(args.captures)
    wanted = [c for c in here.found if not args.run or c.name.startswith(tuple(args.run))]
    try:
        compared = [compare(case, changed, args.live) for case in wanted]
    except (OSError, ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 2
    if not compared:
        print(f"no run of groups {', '.join(GROUPS)} begins so: {', '.join(args.run)}", file=sys.stderr)
        return 2
    told = as_json(compared, here.skipped, changed, args.live)
    if args.json == "-":
        print(json.dumps(told, indent=1))
        return 0
    if args.json:
        Path(args.json).write_text(json.dumps(told, indent=1) + "\n")
    if changed:
        print(f"The simulator with {', '.join(args.set)}\n")
    print("\n".join(kernel_table.tables([(c.case.name, c.sim, c.kernel) for c in compared])))
    if args.live:
        print("\nThe kernel's captured runs against those made now:\n")
        again = ((c.captured, c.kernel) for c in compared if c.captured)
        print("\n".join(kernel_table.counted(again)))
    for reason in here.skipped:
        print(f"\nSkipped: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
