"""Scores rexmit against truth: kernel counters, drop logs and tracepoints, with its peers' figures beside it.

    .venv/bin/python validation/causes.py [--captures ../shared/captures] [--json] [--no-peers]

Reads `kernel/` and `testbed/` below --captures; without that option below ../shared/captures, or tests/data
where that is not there. Prints one table a part and exits 0 if every bar is met; 1 if not, and the lines that
fail are listed at the end; 2 if a folder that was named lacks what a part needs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path

import ours
import peers
import truth
import wire

ROOT = Path(__file__).resolve().parent.parent
SHARED, OWN = ROOT.parent / "shared" / "captures", ROOT / "tests" / "data"
PARTS = ("kernel", "testbed", "clean", "simulated")
#: Which folder of captures a part reads; the simulated one reads none.
KIND_OF = {"kernel": "kernel", "testbed": "testbed", "clean": "testbed"}
#: The list of a test bed's episodes.
LISTINGS = ("README.csv", "episodes.csv")


@dataclass
class Check:
    """One figure: what is true, what rexmit says, and whether the bar is met (None: shown, not scored)."""

    capture: str
    side: str
    what: str
    true: object
    rexmit: object
    met: bool | None
    bar: str = ""
    peers: dict[str, object] = field(default_factory=dict)


def equal(true: int, got: int) -> bool:
    return true == got


def within_max_1_2_percent(true: int, got: int) -> bool:
    return abs(got - true) <= max(1, 0.02 * true)


def within_2_percent(true: int, got: int) -> bool:
    return abs(got - true) <= 0.02 * true


def within_10_percent(true: int, got: int) -> bool:
    return abs(got - true) <= 0.1 * true


BARS = {
    equal: "equal",
    within_max_1_2_percent: "max(1, 2%)",
    within_2_percent: "2%",
    within_10_percent: "10%",
}


class Score:
    """Collects checks."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def add(
        self,
        where: tuple[str, str],
        what: str,
        true: int,
        got: int | None,
        bar: Callable[[int, int], bool] | None,
        beside: dict[str, object] | None = None,
    ) -> None:
        met = None if bar is None else got is not None and bar(true, got)
        self.checks.append(Check(*where, what, true, got, met, BARS[bar] if bar else "", beside or {}))

    def say(
        self, where: tuple[str, str], what: str, true: object, got: object, met: bool | None, bar: str
    ) -> None:
        self.checks.append(Check(*where, what, true, got, met, bar))


def ask_peers(path: Path, host: str, wanted: bool) -> dict[str, dict[str, int]]:
    if not wanted:
        return {}
    return {name: getattr(peers, name)(path, host) for name in peers.installed()}


def beside(said: dict[str, dict[str, int]], **labels: str) -> dict[str, object]:
    """One figure of each peer, `labels` naming it in the peer's own words; a peer without one shows none."""
    return {peer: said[peer].get(label, 0) for peer, label in labels.items() if peer in said}


def score_kernel(folder: Path, name: str, score: Score, with_peers: bool = False) -> None:
    """Sums over the sending host's flows against the kernel's counters."""
    counter = truth.kernel_counters(folder / "truth.toml")[name]
    snd, rcv = folder / f"{name}.snd.pcap.gz", folder / f"{name}.rcv.pcap.gz"
    real = truth.transfer(snd, rcv)
    resent = counter["retransmitted"]
    causes = {
        "recovery": counter["fast_retransmissions"],
        "loss-state": counter["slow_start_retransmissions"],
        "timeout": counter["timeouts"],
    }
    repeat = resent - sum(causes.values())
    # The kernel counts its SYNs' timeouts with the others; here their cause is the handshake.
    causes["timeout"] -= real.syns_again

    at = (name, "sender")
    said = ask_peers(snd, real.host, with_peers)
    got = ours.answer(real.host, snd)
    shown = beside(said, tshark="any retransmission", tcptrace="rexmt data pkts", tstat="pkts_retx")
    score.add(at, "retransmitted", resent, got.resent(), equal, shown)
    shown = {
        "recovery": beside(said, tshark="fast", tstat="pkts_fs"),
        "timeout": beside(said, tstat="pkts_rto"),
        "loss-state": {},
    }
    for cause, true in causes.items():
        score.add(at, cause, true, got.by_cause(cause), within_max_1_2_percent, shown[cause])
    score.add(at, "probes, repeat", repeat, got.probes("repeat"), equal)
    score.add(at, "probes, new data (at most)", counter["loss_probes"] - repeat, got.probes("new_data"), None)
    score.add(at, "lost copies", real.lost(), got.lost(), None)

    at = (name, "receiver")
    said = ask_peers(rcv, real.host, with_peers)
    got = ours.answer(real.host, rcv)
    shown = beside(said, tshark="any retransmission", tcptrace="rexmt data pkts", tstat="pkts_retx")
    score.add(at, "repairs that arrived", real.resent(True), got.resent(), equal, shown)
    reordered = sum(f["limits"].get("reordered", 0) for f in got.flows)
    shown = beside(said, tshark="out of order", tcptrace="outoforder pkts", tstat="pkts_ooo")
    score.add(at, "called reordered", 0, reordered, equal, shown)
    gone = truth.lost_repairs(real)
    for cause, true in causes.items():
        score.add(at, cause, true - gone[cause], got.by_cause(cause), within_10_percent)

    score.add((name, "both"), "lost copies", real.lost(), ours.answer(real.host, snd, rcv).lost(), equal)


def burst_at(rows: list[dict], start_s: float, last_s: float) -> dict | None:
    """The largest burst that starts in this span, else the last before it that was not repaired by then."""
    rows = sorted(rows, key=lambda r: r["start_s"])
    inside = [r for r in rows if start_s - 0.001 <= r["start_s"] <= last_s + 0.001]
    if inside:
        return max(inside, key=lambda r: r["lost_copies"] or 0)
    before = [r for r in rows if r["start_s"] < start_s and (r["first_repair_s"] or 1e9) > start_s]
    return before[-1] if before else None


def score_interruptions(
    where: tuple[str, str], hits: list, start: int, got: ours.Answer, score: Score
) -> None:
    for row, bursts in hits:
        label = f"interruption at {row['start_s']} s"
        first = max(bursts, key=lambda b: b.lost_by("interruption"))
        found = burst_at(got.lists("bursts"), (first.start - start) / 1e9, (first.last - start) / 1e9)
        true = truth.TRIGGERS[row["trigger"]]
        trigger = found["trigger"] if found else "not found"
        note = "trigger" if first.trigger == true else f"trigger (tracepoints: {first.trigger})"
        score.say(where, label, true, trigger, trigger == true, note)


def confusion(real: truth.Transfer, rows: list[dict]) -> tuple[Counter, int]:
    """(true, said) by retransmission, and how many of rexmit's rows are no retransmission."""
    said = {row["packet"]: row["cause"] for row in rows}
    pairs: Counter[tuple[str, str]] = Counter()
    for copy in real.copies:
        if copy.again and copy.cause:
            pairs[copy.cause, said.pop(copy.packet.number, "missed")] += 1
        elif copy.again:
            said.pop(copy.packet.number, None)
    return pairs, len(said)


def runs_of(folder: Path) -> list[str]:
    return sorted(p.name.removesuffix(".drops.csv.gz") for p in folder.glob("*.drops.csv.gz"))


def score_testbed(folder: Path, name: str, score: Score) -> None:
    """Losses by the drop log, repairs by the tracepoints."""
    listing = next(folder / name for name in LISTINGS if (folder / name).exists())
    rows = truth.episode_rows(listing)
    snd, rcv = folder / f"{name}.snd.pcap.gz", folder / f"{name}.rcv.pcap.gz"
    drops, trace = folder / f"{name}.drops.csv.gz", folder / f"{name}.trace.txt.gz"
    real = truth.transfer(snd, rcv if rcv.exists() else None)
    log = truth.add_drops(real, drops)
    truth.add_causes(real, trace)
    bursts = real.bursts()
    truth.add_triggers(real, bursts)
    hits = truth.interruptions(rows[name], bursts, drops)
    lost = sum(n for (way, _), n in log.items() if way == "data")

    if rcv.exists():
        at = (name, "both")
        got = ours.answer(real.host, snd, rcv)
        score.add(at, "lost copies", lost, got.lost(), equal)
        theirs = sorted(b["lost_copies"] or 0 for b in got.lists("bursts"))
        same = theirs == sorted(b.lost for b in bursts)
        score.say(at, "bursts", len(bursts), len(theirs), same, "the same lengths")
        lost_acks = sum(b["lost_acks"] or 0 for b in got.lists("bursts"))
        score.add(at, "ACKs lost in bursts", log["ack", "interruption"], lost_acks, None)
        score_interruptions(at, hits, real.start, got, score)

    at = (name, "sender")
    got = ours.answer(real.host, snd)
    score.add(at, "lost copies", lost, got.lost(), within_2_percent)
    score.add(at, "retransmitted", real.resent() + real.syns_again, got.resent(), equal)
    score_interruptions(at, hits, real.start, got, score)
    pairs, extra = confusion(real, ours.retransmissions(snd))
    right = sum(n for (a, b), n in pairs.items() if a == b)
    wrong = ", ".join(f"{n} {a} called {b}" for (a, b), n in sorted(pairs.items()) if a != b)
    wrong += f", {extra} rows of what was sent once" if extra else ""
    told = f"{right} right; {wrong}" if wrong else right
    score.say(at, "causes, one by one", pairs.total(), told, None, "")

    if rcv.exists():
        at = (name, "receiver")
        got = ours.answer(real.host, rcv)
        score.add(at, "repairs that arrived", real.resent(True), got.resent(), equal)
        score.add(at, "lost copies", lost, got.lost(), None)
        arrived = Counter(c.cause for c in real.copies if c.again and c.arrived)
        for cause in ("recovery", "loss-state", "timeout", "probe"):
            score.add(at, cause, arrived[cause], got.by_cause(cause), None)


def score_clean(folder: Path, name: str, score: Score, work: Path) -> None:
    """The beginning of a run, up to just before its first loss, is a clean transfer: nothing may be found."""
    snd, rcv = folder / f"{name}.snd.pcap.gz", folder / f"{name}.rcv.pcap.gz"
    real = truth.transfer(snd, rcv if rcv.exists() else None)
    truth.add_drops(real, folder / f"{name}.drops.csv.gz")
    first = min(b.copies[0].packet for b in real.bursts())
    arrivals = wire.packets(rcv) if rcv.exists() else []
    # At the receiver the loss shows when the first packet sent after it arrives.
    behind = (p.number for p in arrivals if p.src == first.src and wire.after(p.seq, first.seq))
    for side, path, upto in (("sender", snd, first.number), ("receiver", rcv, next(behind, 0))):
        if upto < 10:
            continue
        begun = work / f"{name}.{side}.pcap"
        wire.cut(path, begun, upto - 1)
        got = ours.answer(real.host, begun)
        where = (f"{name}, first {upto - 1} packets", side)
        score.add(where, "episodes", 0, len(got.lists("episodes")), equal)
        score.add(where, "retransmitted", 0, got.resent(), equal)
        # Copies lost behind the receiver's capture cannot be seen from it: "unknown" claims no loss there.
        unseen = side == "receiver" and got.lost() is None
        score.add(where, "lost copies", 0, got.lost(), None if unseen else equal)


def simulated() -> dict:
    """Random runs of the simulator, scored against its own truth by crates/results/examples/scored.rs."""
    command = ["cargo", "run", "--quiet", "-p", "rexmit-results", "--example", "scored"]
    said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(said.stdout)


def score_simulated(runs: dict, score: Score) -> None:
    """Shares of right answers against the bars of docs/validation.md."""

    def share(where: tuple[str, str], what: str, right: int, total: int, bar: float) -> None:
        score.say(where, what, total, right, right >= bar * total, f"{bar:.1%}")

    for m in runs["causes"]:
        bar = 0.995 if m["side"] == "sender" else 0.97
        share((m["family"], m["side"]), "causes, one by one", m["right"], m["total"], bar)
    for f in runs["losses"]:
        what = f"flows with {f['bursts']} bursts, {f['episodes']} episodes"
        share((f["family"], "both"), what, f["exact"], f["flows"], 1.0)
    c = runs["cost"]
    met = c["known"] > 0 and c["median_error"] <= 0.2
    what = f"cost, median error of {c['known']}"
    score.say(("outages", "sender"), what, 0.0, c["median_error"], met, "20%")
    senders = runs["senders"]
    answered, right = (sum(s[key] for s in senders) for key in ("answered", "right"))
    share(("senders", "sender"), f"figures of {sum(s['asked'] for s in senders)}", right, answered, 0.9)
    for s in senders:
        score.say(("senders", "sender"), f"{s['what']}, of {s['asked']}", s["answered"], s["right"], None, "")


def show_matrices(runs: dict) -> None:
    """Rows: the truth. Columns: what rexmit says; `none` is no retransmission."""
    for m in runs["causes"]:
        cells = {(c["truth"], c["said"]): c["n"] for c in m["cells"]}
        names = list(dict.fromkeys(name for pair in cells for name in pair))
        print(f"{m['family']}, {m['side']}: {m['right']} of {m['total']} right")
        print("  truth".ljust(14) + "".join(name.rjust(12) for name in names))
        for true in names:
            row = [cells.get((true, name), 0) for name in names]
            if any(row):
                print(f"  {true}".ljust(14) + "".join(str(n).rjust(12) for n in row))
        print()


def show(checks: list[Check]) -> None:
    names = [p for p in peers.installed() if any(p in c.peers for c in checks)]
    head = ["capture", "side", "what", "truth", "rexmit", "", *names]
    lines = [head]
    before = None
    for c in checks:
        result = {True: "ok", False: "FAIL", None: ""}[c.met]
        mark = f"{result} ({c.bar})" if c.bar else result
        where = (c.capture, c.side) if (c.capture, c.side) != before else ("", "")
        before = (c.capture, c.side)
        got = "unknown" if c.rexmit is None else str(c.rexmit)
        lines.append([*where, c.what, str(c.true), got, mark, *(str(c.peers.get(n, "")) for n in names)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip())
    print()


def lacking_kernel(folder: Path) -> list[Path]:
    """What score_kernel needs and does not find."""
    listing = folder / "truth.toml"
    if not listing.is_file():
        return [listing]
    names = truth.kernel_counters(listing)
    ends = [folder / f"{name}.{side}.pcap.gz" for name in names for side in ("snd", "rcv")]
    return [end for end in ends if not end.is_file()] if names else [folder / "*.snd.pcap.gz"]


def lacking_testbed(folder: Path) -> list[Path]:
    """What score_testbed and score_clean need and do not find; captures of the receiver may be missing."""
    names = runs_of(folder)
    if not names:
        return [folder / "*.drops.csv.gz"]
    needed = [folder / f"{name}.{what}.gz" for name in names for what in ("snd.pcap", "trace.txt")]
    listings = [folder / name for name in LISTINGS]
    missing = [] if any(path.is_file() for path in listings) else listings[:1]
    return missing + [path for path in needed if not path.is_file()]


def folders(captures: Path | None, parts: Collection[str]) -> dict[str, Path]:
    """Where each kind of capture is read. Raises ValueError if the folder that was named lacks any."""
    checks = {"kernel": lacking_kernel, "testbed": lacking_testbed}
    wanted = {KIND_OF[part] for part in parts if part in KIND_OF}
    found, missing = {}, []
    for kind in sorted(wanted):
        folder = (captures or SHARED) / kind
        lacking = checks[kind](folder)
        if lacking and captures is None:
            print(f"note: {lacking[0]} is not there; tests/data is scored", file=sys.stderr)
            folder, lacking = OWN, []
        found[kind] = folder
        missing += lacking
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise ValueError(f"{captures} lacks {', '.join(map(str, missing[:5]))}{more}; --part scores less")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--captures", type=Path, help=f"holds kernel/ and testbed/ (default {SHARED}, or {OWN})"
    )
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part (repeatable)")
    parser.add_argument("--no-peers", action="store_true", help="leave tshark, tcptrace and tstat out")
    parser.add_argument("--json", action="store_true", help="one object: checks, failed")
    args = parser.parse_args()
    parts = args.part or PARTS
    try:
        where = folders(args.captures, parts)
    except ValueError as error:
        print(f"causes.py: {error}", file=sys.stderr)
        return 2
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            begun = len(score.checks)
            if part == "simulated":
                runs = simulated()
                score_simulated(runs, score)
                if not args.json:
                    show_matrices(runs)
                    show(score.checks[begun:])
                continue
            data = where[KIND_OF[part]]
            names = truth.kernel_counters(data / "truth.toml") if part == "kernel" else runs_of(data)
            for name in names:
                if part == "kernel":
                    score_kernel(data, name, score, not args.no_peers)
                elif part == "testbed":
                    score_testbed(data, name, score)
                else:
                    score_clean(data, name, score, Path(folder))
            if not args.json:
                show(score.checks[begun:])
    failed = [c for c in score.checks if c.met is False]
    if args.json:
        print(json.dumps({"checks": [asdict(c) for c in score.checks], "failed": len(failed)}, indent=1))
        return 1 if failed else 0
    scored = sum(c.met is not None for c in score.checks)
    print(f"{scored - len(failed)} of {scored} bars met")
    for c in failed:
        print(f"  failed: {c.capture}, {c.side}: {c.what}: truth {c.true}, rexmit {c.rexmit} (bar: {c.bar})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
