"""Kinds of transfer whose cause is known, the oracle that states it, and its test by removal.

    .venv/bin/python validation/situations.py kinds
    .venv/bin/python validation/situations.py truth --kind slow-server --seed 1
    .venv/bin/python validation/situations.py make --kind slow-server --seed 1 --out situation
    .venv/bin/python validation/situations.py removal --draws 300 --seed 1
    .venv/bin/python validation/situations.py score --draws 280 --seed 1
    .venv/bin/python validation/situations.py helps --draws 207 --seed 1
    .venv/bin/python validation/situations.py releases --draws 200 --seed 1

`kinds` lists the kinds, `truth` prints what the oracle says of one transfer or of one of each kind, `make`
writes its scenario, its captures at both ends and on the way, and the truth. `removal` draws transfers of all
kinds in turn and ends with exit code 1 if fewer than 95% of them pass. `score` asks rexmit from the sender's
capture, the receiver's and both, and compares its answers with the oracle's. `helps` runs transfers
again with what their answers say that helps, and with what they say that does not. `releases` compares what
let each packet go. docs/situations.md has more.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import rexmit as rx
from situation import evidence, helps, oracle, trial
from situation.causes import CAUSES
from situation.kind import Kind
from situation.kinds import KINDS, kind_of
from situation.releases import BARS as RELEASE_BARS
from situation.releases import compared
from situation.score import PLACES, Scored, scored

BAR = 0.95
#: Where a capture is taken: at both ends, and at the router between them.
RECORD = {"capture": ["client", "router", "server"], "snap": "120B"}


def list_kinds() -> int:
    for kind in KINDS.values():
        near = KINDS[kind.near]
        print(f"{kind.name:33} {kind.answer:26} near miss: {near.name} ({near.answer})")
    bulk = sum(kind.is_bulk for kind in KINDS.values())
    print(f"{len(KINDS)} kinds, {bulk} of them bulk transfers")
    return 0


def print_truth(kinds: list[Kind], seed: int) -> int:
    """Ends with 1 if an answer is not the one that its kind is meant to have."""
    others = 0
    for kind in kinds:
        found = trial.truth(kind, seed)
        meant = "" if kind.is_cause_of(found) else f"   (meant: {kind.answer})"
        others += bool(meant)
        print(f"{kind.name:33} {found}{meant}")
    return int(others > 0)


def make(kind: Kind, seed: int, out: Path) -> int:
    """Writes scenario.toml, truth.json and captures/NODE.pcapng."""
    out.mkdir(parents=True, exist_ok=True)
    scenario = kind.drawn(seed).scenario(kind.name, seed, RECORD)
    run = rx.run(scenario, tables=evidence.TABLES, captures=out / "captures")
    truth = oracle.explain(evidence.read(run))
    (out / "scenario.toml").write_text(scenario.to_toml())
    told = {"kind": kind.name, "seed": seed, **truth.to_json()}
    (out / "truth.json").write_text(json.dumps(told, indent=1) + "\n")
    print(f"{out}: {truth}")
    return 0


def trials(draws: int, seed: int, kinds: list[Kind]) -> Iterator[trial.Trial]:
    """Transfers of all kinds in turn, each round of another seed."""
    drawn = [(kinds[n % len(kinds)].name, seed + n // len(kinds)) for n in range(draws)]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        yield from pool.map(trial.named, *zip(*drawn, strict=True))


def removal(draws: int, seed: int, kinds: list[Kind]) -> int:
    """The removal test, with figures for each cause and the transfers that failed."""
    passed, judged, as_meant = 0, 0, 0
    checks: dict[tuple[str, bool], list[trial.Check]] = defaultdict(list)
    for t in trials(draws, seed, kinds):
        as_meant += t.is_as_meant
        if not t.is_as_meant:
            print(f"{t.kind.name} --seed {t.seed}: {t.truth}   (meant: {t.kind.answer})")
        judged += bool(t.checks)
        passed += bool(t.checks) and t.passed
        for check in t.checks:
            checks[check.cause, check.is_named].append(check)
            if not check.passed:
                print(f"{t.kind.name} --seed {t.seed}: {check}")
    print_figures(checks)
    print(f"as meant: {as_meant} of {draws}")
    print(f"removal passed: {passed} of {judged} ({passed / max(1, judged):.1%}; the bar is {BAR:.0%})")
    return int(passed < BAR * judged)


def print_figures(checks: dict[tuple[str, bool], list[trial.Check]]) -> None:
    """A line for each cause. saved: seconds for each second that it owned."""
    print(f"\n{'cause':22} {'named':>6} {'passed':>6} {'saved':>6} {'not named':>10} {'passed':>6}")
    for cause in (c for c in CAUSES if (c, True) in checks or (c, False) in checks):
        named, others = checks[cause, True], checks[cause, False]
        seconds = sum(c.seconds for c in named)
        saved = f"{sum(c.saved_s for c in named) / seconds:.2f}" if seconds else ""
        right, worthless = (sum(c.passed for c in those) for those in (named, others))
        print(f"{cause:22} {len(named):6} {right:6} {saved:>6} {len(others):10} {worthless:6}")
    print()


def releases(draws: int, seed: int, kinds: list[Kind], show: bool) -> int:
    """How often analysis and simulator agree on what let a packet go. Ends with 1 if a bar is missed."""
    drawn = [(kinds[n % len(kinds)].name, seed + n // len(kinds)) for n in range(draws)]
    sums: dict[str, Counter[tuple[str, str]]] = {place: Counter() for place in RELEASE_BARS}
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for (name, of), found in zip(drawn, pool.map(compared, *zip(*drawn, strict=True)), strict=True):
            for place, pairs in found.items():
                sums[place].update(pairs)
                others = [f"{a} said {b}: {n:,}" for (a, b), n in pairs.most_common() if a != b]
                if show and others:
                    print(f"{name} --seed {of}, {place}: of {sum(pairs.values()):,} {', '.join(others)}")
    missed = False
    for place, pairs in sums.items():
        agree = sum(n for (a, b), n in pairs.items() if a == b) / max(1, sum(pairs.values()))
        missed |= agree < RELEASE_BARS[place]
        packets, bar = f"{sum(pairs.values()):,} packets", RELEASE_BARS[place]
        print(f"{place:9} {agree:.2%} of {packets} agree (the bar is {bar:.0%})")
    return int(missed)


def score(draws: int, seed: int, kinds: list[Kind], show: bool) -> int:
    """How often the answers of captures are the oracle's. Ends with 1 if a bar is missed."""
    drawn = [(kinds[n % len(kinds)].name, seed + n // len(kinds)) for n in range(draws)]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        answers = [one for found in pool.map(scored, *zip(*drawn, strict=True)) for one in found]
    if show:
        for one in answers:
            if not one.is_right:
                print(one)
    print_scores(answers)
    return int(any(not meets for _, meets in place_figures(answers)))


def advice(draws: int, seed: int, kinds: list[Kind], place: str, show: bool, every: bool) -> int:
    """How often the advice of answers is right. Ends with 1 if a bar is missed."""
    drawn = [(kinds[n % len(kinds)].name, seed + n // len(kinds), place, every) for n in range(draws)]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        found = list(pool.map(helps.named, *zip(*drawn, strict=True)))
    answers = [one for one in found if one.has_advice]
    if show:
        print(*(failure for one in answers for failure in one.failures()), sep="\n")
    print(f"{'':41} {'of those whose cause is right':>33}")
    heads = f"{'answers':>7} {'helps':>5} {'does not':>8}"
    print(f"{'cause':20} {heads} {heads:>33}")
    for cause in (c for c in CAUSES if any(one.cause == c for one in answers)):
        print(advice_row(cause, [one for one in answers if one.cause == cause]))
    print(advice_row("all", answers))
    if every:
        print_sentences(answers)
    without = Counter(one.cause for one in found if not one.has_advice)
    print(f"without advice: {', '.join(f'{n} {cause}' for cause, n in without.most_common()) or 'none'}")
    print(*(f"not mapped: {sentence}" for sentence in sorted(helps.not_mapped(answers))), sep="\n", end="")
    right = [one for one in answers if one.answer.is_right]
    shares = {of: (advice_right(answers, of), advice_right(right, of)) for of in helps.LISTS}
    for of, (every_one, true) in shares.items():
        bar = "" if every_one >= helps.BAR else ", missed"
        print(f"first of {of}: right in {every_one:.1%} of {len(answers)} answers (bar {helps.BAR:.0%}{bar})")
        print(f"{'':{len(of) + 9}} and in {true:.1%} of the {len(right)} whose cause is right")
    return int(any(every_one < helps.BAR for every_one, _ in shares.values()))


def advice_right(answers: list[helps.Advised], of: str) -> float:
    return sum(one.is_right(of) for one in answers) / max(1, len(answers))


def advice_row(name: str, answers: list[helps.Advised]) -> str:
    right = [one for one in answers if one.answer.is_right]
    a, b, c, d = (sum(one.is_right(of) for one in those) for those in (answers, right) for of in helps.LISTS)
    return f"{name:20} {len(answers):7} {a:5} {b:8} {len(right):18} {c:5} {d:8}"


def print_sentences(answers: list[helps.Advised]) -> None:
    """A line for each sentence of answers whose cause is right, whichever host it names."""
    sums: dict[tuple[str, str, str], Counter[bool]] = defaultdict(Counter)
    for one in answers:
        for said in one.advice if one.answer.is_right else ():
            words = re.sub(r" on the (client|server)\b| of the (client|server)\b", "", said.sentence.text)
            sums[one.cause, said.of, words][said.is_right] += 1
    for (cause, of, words), n in sorted(sums.items(), key=lambda item: CAUSES.index(item[0][0])):
        print(f"{n[True]:4} of {n.total():4} right   {cause}, {of}: {words}")


#: At each place: right answers at least; of all answers, those that are known or likely, and known, at least.
PLACE_BARS = {"sender": (0.95, 0.85, 0.50), "receiver": (0.90, 0.85, 0.25), "both": (0.95, 0.85, 0.50)}
#: Of the answers that are likely, those that are wrong at most; none that is known may be.
LIKELY_WRONG = 0.10


def place_figures(answers: list[Scored]) -> Iterator[tuple[str, bool]]:
    """A line for each place, and whether it meets the bars."""
    for place in PLACES:
        here = [a for a in answers if a.place == place]
        right = sum(a.is_right for a in here) / max(1, len(here))
        known, likely = ([a for a in here if a.certainty == c] for c in ("known", "likely"))
        wrong_known = sum(not a.is_right for a in known)
        wrong_likely = sum(not a.is_right for a in likely) / max(1, len(likely))
        named = [a for a in here if a.is_right and a.cause != "cannot-tell"]
        seconds = sum(a.has_seconds for a in named) / max(1, len(named))
        sure, most = (len(known) + len(likely)) / max(1, len(here)), len(known) / max(1, len(here))
        bars = PLACE_BARS[place]
        meets = right >= bars[0] and sure >= bars[1] and most >= bars[2]
        meets = meets and not wrong_known and wrong_likely <= LIKELY_WRONG and seconds >= 0.9
        share = len(likely) / max(1, len(here))
        yield (
            f"{place:9} {right:6.1%} right, seconds within 10% in {seconds:.0%} of these; "
            f"known {most:.0%}, of which {wrong_known} wrong; "
            f"likely {share:.0%}, of which {wrong_likely:.0%} wrong",
            meets,
        )


def print_scores(answers: list[Scored]) -> None:
    print(f"{'cause':22} {'recall':>7} {'precision':>9}")
    for cause in CAUSES:
        true = [a for a in answers if a.truth.cause == cause]
        said = [a for a in answers if a.cause == cause]
        if true or said:
            recall = f"{sum(a.is_right for a in true) / len(true):.0%}" if true else "–"
            precision = f"{sum(a.is_right for a in said) / len(said):.0%}" if said else "–"
            print(f"{cause:22} {recall:>7} {precision:>9}   of {len(true)} and {len(said)}")
    for line, meets in place_figures(answers):
        print(line + ("" if meets else "  (below its bar)"))


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = ask.add_subparsers(dest="command", required=True)
    commands.add_parser("kinds")
    for name in ("truth", "make", "removal", "score", "helps", "releases"):
        command = commands.add_parser(name)
        command.add_argument("--kind", required=name == "make", help="one of `kinds`; without, all of them")
        command.add_argument("--seed", type=int, default=1)
        if name in ("score", "helps", "releases"):
            command.add_argument("--show", action="store_true", help="what is wrong")
        if name in ("removal", "score", "helps", "releases"):
            command.add_argument("--draws", type=int, default=300)
        if name == "helps":
            command.add_argument(
                "--place", choices=PLACES, default="sender", help="where the capture is taken"
            )
            command.add_argument("--all", action="store_true", help="every sentence, not only the first ones")
        if name == "make":
            command.add_argument("--out", type=Path, required=True)
    o = ask.parse_args()
    if o.command == "kinds":
        return list_kinds()
    try:
        kinds = [kind_of(o.kind)] if o.kind else list(KINDS.values())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if o.command == "truth":
        return print_truth(kinds, o.seed)
    if o.command == "make":
        return make(kinds[0], o.seed, o.out)
    if o.command == "releases":
        return releases(o.draws, o.seed, kinds, o.show)
    if o.command == "score":
        return score(o.draws, o.seed, kinds, o.show)
    if o.command == "helps":
        return advice(o.draws, o.seed, kinds, o.place, o.show, o.all)
    return removal(o.draws, o.seed, kinds)


if __name__ == "__main__":
    sys.exit(main())
