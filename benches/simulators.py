"""How fast the simulator is: data packets delivered per CPU second, beside ns-2 and ns-3 on the same path.

`simulate` (benches/src/bin) runs a scenario of benches/simulators with nothing recorded, and again with
everything recorded into a counter; where `make release` has learnt a profile, also as that builds it
("profiled"): every figure and bar is of the build that its line names. The peers' programs lie beside the
scenarios. All run in turns. What counts as delivered is the same for all: data that reached the application
in order, in full segments. A peer that is slower simulates a shorter time; what is compared is the rate.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from measure import DATA, ROOT, SIMULATE, TARGET, Program, build_by, build_with_profile, in_turns, mark, row

HERE = ROOT / "benches" / "simulators"
RATE = "data packets/CPU s"
# At least this many times a peer's rate.
RATIO_BARS = {"ns-2": 4.0, "ns-3": 200.0}
# Recording everything may take this many times the CPU time.
RECORDING_BAR = 5.0


@dataclass(frozen=True)
class Peer:
    """The same path in another simulator, for so many simulated seconds."""

    flows: int
    loss: float
    ns2_s: float
    ns3_s: float


@dataclass(frozen=True)
class Case:
    name: str
    scenario: str  # in benches/simulators
    rate_bar: float | None = None  # data packets per CPU second
    memory_bar: int | None = None  # MiB of resident memory at most
    # At most so many times the CPU time a packet of the case of that name, which comes first.
    cost_bar: tuple[str, float] | None = None
    recording: bool = False
    peer: Peer | None = None
    most_runs: int | None = None  # what is only about memory need not run often
    quick_share: float = 0.1  # of the scenario's duration, with --quick


CASES = [
    Case(
        "one SACK flow",
        "one-flow.toml",
        rate_bar=8e6,
        recording=True,
        peer=Peer(flows=1, loss=1e-5, ns2_s=200, ns3_s=10),
    ),
    Case("one SACK flow, bursts and outages", "bursts-and-outages.toml", rate_bar=3e6, recording=True),
    Case(
        "100 flows",
        "flows-100.toml",
        rate_bar=3e6,
        recording=True,
        peer=Peer(flows=100, loss=0, ns2_s=20, ns3_s=2),
    ),
    Case("10,000 flows", "flows-10000.toml", cost_bar=("100 flows", 2.0), quick_share=0.3),
    Case("100,000 flows", "flows-100000.toml", memory_bar=1024, most_runs=1, quick_share=0.5),
]


class Simulator(Program):
    """A program whose last line of output is JSON with the data packets that it delivered."""

    def __init__(self, name: str, command: list[str]) -> None:
        super().__init__(name, command, packets=0, keeps_output=True)

    def run(self) -> None:
        super().run()
        if self.failed:
            return
        try:
            self.packets = int(self.answer["data_packets"])
        except (IndexError, KeyError, ValueError) as e:
            self.failed = f"printed no count of data packets ({e!r})"
            return
        if self.packets == 0:
            self.failed = "delivered nothing"

    @property
    def answer(self) -> dict:
        return json.loads(self.printed.splitlines()[-1])

    @property
    def packet_ns(self) -> float:
        return 1e9 / self.best_rate


def compile_ns3() -> Path | None:
    """The peer's program for ns-3; None, and a sentence, where it cannot be compiled."""
    source, binary = HERE / "peer.cc", DATA / "peer-ns3"
    if binary.exists() and binary.stat().st_mtime > source.stat().st_mtime:
        return binary
    if not shutil.which("g++"):
        print("ns-3 skipped: g++ is not installed (apt-get install g++ libns3-dev)")
        return None
    modules = ["applications", "point-to-point", "traffic-control", "internet", "network", "core"]
    command = ["g++", "-O2", "-std=c++17", str(source), "-o", str(binary), *(f"-lns3-{m}" for m in modules)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return binary
    if "ns3/" in done.stderr and "No such file" in done.stderr:
        print("ns-3 skipped: it is not installed (apt-get install libns3-dev)")
    else:
        print(f"ns-3 skipped: its program was not compiled: {done.stderr.strip().splitlines()[:1]}")
    return None


def find_ns2() -> str | None:
    found = shutil.which("ns")
    if not found:
        print("ns-2 skipped: it is not installed (apt-get install ns2)")
    return found


#: Our builds by the names under which they are shown; the plain one is always there.
PLAIN, PROFILED = "rexmit", "rexmit, profiled"
Builds = dict[str, Path]


def builds() -> Builds:
    plain = build_by(SIMULATE, ROOT / TARGET, "simulate")
    if plain is None:
        return {}
    profiled = build_with_profile(SIMULATE, "simulate")
    return {PLAIN: plain} | ({PROFILED: profiled} if profiled else {})


def programs(case: Case, ours: Builds, ns2: str | None, ns3: Path | None, share: float) -> list[Simulator]:
    todo = []
    for name, simulate in ours.items():
        command = [str(simulate), str(HERE / case.scenario), "--share", str(share)]
        todo.append(Simulator(name, command))
        if case.recording:
            todo.append(Simulator(f"{name}, recording", [*command, "--record"]))
    peer = case.peer
    if peer and ns2:
        command = [ns2, str(HERE / "peer.tcl"), str(peer.flows), str(peer.ns2_s), str(peer.loss)]
        todo.append(Simulator("ns-2", command))
    if peer and ns3:
        command = [str(ns3), f"--flows={peer.flows}", f"--seconds={peer.ns3_s}", f"--loss={peer.loss}"]
        todo.append(Simulator("ns-3", command))
    return todo


def print_runs(case: Case, todo: list[Simulator]) -> None:
    print(f"\n{case.name}: {todo[0].packets:,} data packets")
    for p in todo:
        if not p.ran:
            print(f"  {p.name:28} {p.failed or 'did not run'}")
            continue
        line = f"  {p.name:28} {p.best_rate / 1e6:8.3f} M {RATE}  (median {p.median_rate / 1e6:.3f})"
        line += f"  {p.packet_ns:9.1f} ns/packet"
        if "events" in p.answer:
            events = p.answer["events"] / p.packets
            line += f"  {events:.2f} events/packet  {p.packet_ns / events:.1f} ns/event"
        print(line + f"  {p.peak_mib:8.1f} MiB")


def named(case: Case, ours: Simulator) -> str:
    """What a row of this build is called."""
    return case.name if ours.name == PLAIN else f"{case.name} (profiled)"


def rates(case: Case, ours: Simulator, todo: list[Simulator]) -> tuple[list[dict], list[str]]:
    rows, said = [], []
    name = named(case, ours)
    events = ours.answer["events"] / ours.packets
    rows.append(row(f"{name}, cost", ours.packet_ns, "ns/packet", None, None, None))
    rows.append(row(f"{name}, events", events, "events/packet", None, None, None))
    if case.rate_bar:
        rows.append(row(name, ours.best_rate, RATE, "bar", case.rate_bar, ours.best_rate / case.rate_bar))
        said.append(f"bar {case.rate_bar / 1e6:g} M: {mark(ours.best_rate >= case.rate_bar)}")
    for p in todo:
        if not p.ran or p.name not in RATIO_BARS:
            continue
        ratio, want = ours.best_rate / p.best_rate, RATIO_BARS[p.name]
        rows.append(row(name, ours.best_rate, RATE, p.name, p.best_rate, ratio))
        said.append(f"{ratio:.1f} times {p.name} (bar {want:g}: {mark(ratio >= want)})")
    return rows, said


def recording(case: Case, ours: Simulator, todo: list[Simulator]) -> tuple[list[dict], list[str]]:
    full = next((p for p in todo if p.name == f"{ours.name}, recording" and p.ran), None)
    if full is None:
        return [], []
    times = full.packet_ns / ours.packet_ns
    name, unit = f"{named(case, ours)}, recording", "ns/packet"
    met = mark(times <= RECORDING_BAR)
    return (
        [
            row(name, full.packet_ns, unit, "without recording", ours.packet_ns, times),
            row(name, times, "times", "bar", RECORDING_BAR, times / RECORDING_BAR),
        ],
        [f"recording everything costs {times:.1f} times (bar {RECORDING_BAR:g}: {met})"],
    )


def memory(case: Case, ours: Simulator, todo: list[Simulator]) -> tuple[list[dict], list[str]]:
    rows, said = [], []
    name = f"{named(case, ours)}, peak"
    if case.memory_bar:
        rows.append(row(name, ours.peak_mib, "MiB", "bar", case.memory_bar, ours.peak_mib / case.memory_bar))
        said.append(
            f"{ours.peak_mib:.0f} MiB (bar {case.memory_bar}: {mark(ours.peak_mib <= case.memory_bar)})"
        )
    for p in todo:
        if p.ran and p.name in RATIO_BARS:
            rows.append(row(name, ours.peak_mib, "MiB", p.name, p.peak_mib, ours.peak_mib / p.peak_mib))
    return rows, said


def growth(case: Case, ours: Simulator, costs: dict[tuple[str, str], float]) -> tuple[list[dict], list[str]]:
    """What a packet costs with more flows, against the case with fewer, by the same build."""
    if case.cost_bar is None or (case.cost_bar[0], ours.name) not in costs:
        return [], []
    than, bar = case.cost_bar
    fewer = costs[than, ours.name]
    times = ours.packet_ns / fewer
    name = f"{named(case, ours)}, cost"
    return (
        [
            row(name, ours.packet_ns, "ns/packet", than, fewer, times),
            row(name, times, f"times {than}", "bar", bar, times / bar),
        ],
        [f"a packet costs {times:.2f} times what it costs with {than} (bar {bar:g}: {mark(times <= bar)})"],
    )


def bench(only: str | None, quick: bool, runs: int) -> list[dict]:
    """Runs the cases, prints how they went, gives their rows for bench.json."""
    cases = [c for c in CASES if not only or only in c.name or only in f"simulators/{c.scenario}"]
    if not cases:
        return []
    ours = builds()
    if not ours:
        return []
    DATA.mkdir(parents=True, exist_ok=True)
    has_peers = any(c.peer for c in cases)
    ns2 = find_ns2() if has_peers else None
    ns3 = compile_ns3() if has_peers else None
    rows: list[dict] = []
    costs: dict[tuple[str, str], float] = {}
    for case in cases:
        todo = programs(case, ours, ns2, ns3, case.quick_share if quick else 1.0)
        in_turns(todo, min(runs, case.most_runs or runs))
        print_runs(case, todo)
        for our in todo:
            if not our.ran or our.name not in ours:
                continue
            costs[case.name, our.name] = our.packet_ns
            found = [rates(case, our, todo), recording(case, our, todo)]
            found += [growth(case, our, costs), memory(case, our, todo)]
            rows += [r for part, _ in found for r in part]
            said = [s for _, part in found for s in part]
            if said:
                print(f"  {our.name}: " + "; ".join(said))
    return rows
