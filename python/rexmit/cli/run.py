"""`rexmit run`. What a command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
import signal
from typing import TYPE_CHECKING, Any

from rexmit.cli import options
from rexmit.cli.ending import refuse
from rexmit.cli.shown import answer, show
from rexmit.cli.values import memory, pair, positive, seed, seeds
from rexmit.files.destination import opened
from rexmit.files.not_written import STOPPED, UNDRAWN
from rexmit.running.late import FAILURE, is_withheld
from rexmit.screen.say import tell
from rexmit.screen.streams import printing

if TYPE_CHECKING:
    from pathlib import Path

    from rexmit.files.destination import Destination
    from rexmit.running.one_run import AnyTable, Run
    from rexmit.scenario import Scenario

RUN = """\
Simulates a scenario (a TOML file, docs/scenario.md) and says what happened to each transfer, as rexmit
analyze does for a capture; here every loss is known. The same scenario and seed give the same run on every
machine.
"""
RUN_EXAMPLES = """\
examples:
  rexmit run interruption                                     one that ships (rexmit scenarios)
  rexmit run mine.toml                                        one of your own
  rexmit run interruption --set flow.upload.stack=linux-2.6-cubic --seed 7
  rexmit run interruption --runs 100                          the same over 100 seeds, with intervals
  rexmit run interruption --at sender                         what a capture at the sender shows of it
  rexmit run interruption --out runs/1                        tables, captures, figures, all that was asked
  rexmit run interruption --bench live                        on this machine's kernel (docs/live.md)

exit codes: 0 an answer, 1 a run that could not go on, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the commands to the parser."""
    r = commands.add_parser(
        "run",
        help="simulate a scenario, and say what happened to each transfer",
        description=RUN,
        epilog=RUN_EXAMPLES,
    )
    r.add_argument("scenario", metavar="SCENARIO", help="a scenario file, or a name of rexmit scenarios")
    played = r.add_argument_group("what is run")
    played.add_argument(
        "--set",
        type=pair,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override one key; repeatable",
    )
    played.add_argument(
        "--bench",
        choices=("sim", "live"),
        default="sim",
        help="sim: simulate; live: real kernels behind rexmit's bridge, in real time (Linux, root)",
    )
    played.add_argument(
        "--accept-late",
        action="store_true",
        help="give verdicts on a live run whose bridge kept no time (docs/live.md), and exit code 0",
    )
    played.add_argument("--seed", type=seed, metavar="N", help="the seed, in place of the scenario's")
    played.add_argument(
        "--runs",
        type=positive,
        metavar="N",
        help="so many runs, with the seeds from --seed on (default 1), and each figure with its interval",
    )
    played.add_argument(
        "--seeds", type=seeds, metavar="1-100", help="the same with these seeds: 1-100, or 3,7,9"
    )
    played.add_argument(
        "--max-memory",
        type=memory,
        metavar="SIZE",
        help="refuse a simulation that needs more (default: three quarters of what is free)",
    )
    seen = r.add_argument_group("what is shown")
    seen.add_argument(
        "--at",
        choices=("both", "sender", "receiver"),
        default="both",
        help="where the packets are seen (default: at both ends, so that every loss is known)",
    )
    options.idle(seen)
    seen.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/running.md)")
    seen.add_argument(
        "--top", type=positive, metavar="N", help="how many flows (default: 7 on the page, 3 with figures)"
    )
    seen.add_argument(
        "--ladder", type=positive, metavar="N", help="the packet exchange of episode N of the worst flow"
    )
    written = r.add_argument_group("what is written")
    written.add_argument(
        "--out",
        metavar="DIR",
        help="write scenario, tables, captures, figures and summary.json into this folder",
    )
    options.overwriting(written)
    options.reporting(written)
    options.figures_and_tables(written)


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together."""
    if wrong := options.check_written(o):
        return wrong
    if o.interval <= 0:
        return "--interval must be longer than 0"
    if o.json and o.ladder:
        return "--json and --ladder both want the output; ask for one of them"
    if o.accept_late and o.bench != "live":
        return "--accept-late is of live runs: add --bench live, or leave it out"
    if o.runs is not None or o.seeds is not None:
        from rexmit.cli import runs

        return runs.check(o)
    return None


def scenario(o: argparse.Namespace) -> Scenario:
    """The scenario with what `--set` says."""
    from rexmit.running.shipped import opened

    return opened(o.scenario)._with(tuple(o.set), "--set ")


def run(o: argparse.Namespace) -> int:
    """Runs the scenario, once or many times, and shows what happened."""
    refuse(check(o))
    return answer(*_run(o))


def _run(o: argparse.Namespace) -> tuple[list[str], str | None]:
    """Shows the answer, then writes files; returns the lines that remain to be said, and why the
    run failed, if it did.
    """
    if o.runs is not None or o.seeds is not None:
        from rexmit.cli import runs

        return runs.made(o)
    if o.json and not o.out:
        return _json(o)
    played = scenario(o)
    # Before the run, which may take long: the folder is ours, and nothing in it is in the way.
    captures = _captures(o, played) if o.out else []
    with opened(o.out, _planned(captures) if o.out else (), o.overwrite) as into:
        room = into.room("captures", captures) if into else None
        return _into(o, _play(o, played, room), into)


def _into(o: argparse.Namespace, done: Run, into: Destination | None) -> tuple[list[str], str | None]:
    """A single run, shown and written."""
    from rexmit.running import bench

    failures = [done.failure] if done.failure else []
    if is_withheld(done.summary.get("bridge")):
        failures.append(FAILURE)
    # A live run cannot be had again: whatever comes, its answer is said first.
    # A simulated one is hurried.
    with bench.told_to_end(*([signal.SIGINT] if o.bench == "live" else [])) as came:
        try:
            _show(o, done)
        except ValueError as error:
            if o.bench != "live":
                raise
            show(done.page(o.top or 7, hints=False).splitlines())
            failures.append(str(error))
    if not into:
        return [], "; ".join(failures) or None
    note, lacking = _write(o, done, into) if not came else (None, STOPPED.format(o.out))
    if lacking:
        failures.append(lacking)
    if note and o.json:
        tell(note)
    return [note] if note and not o.json else [], "; ".join(failures) or None


def _show(o: argparse.Namespace, done: Run) -> None:
    if o.json:
        with printing():
            done.analysis.write_json(1)
    elif o.ladder:
        show(_ladder(o, done))
    else:
        from rexmit.screen.progress import soon

        show(soon(done, lambda: done.page(o.top or 7, hints=not o.out)).splitlines())


def _options(o: argparse.Namespace) -> dict[str, Any]:
    options = {"at": o.at, "idle": o.idle, "interval": o.interval}
    return options | {"accept_late": o.accept_late} if o.bench == "live" else options


def _json(o: argparse.Namespace) -> tuple[list[str], str | None]:
    import json

    from rexmit import _core
    from rexmit.memory import limit
    from rexmit.running import bench
    from rexmit.screen.progress import Stepping

    with Stepping(os.path.basename(o.scenario)) as progress:
        variant = scenario(o)._variant(o.seed)
        if o.bench == "live":
            found = bench.play(variant, listed_only=True, progress=progress, **_options(o))
        else:
            most = limit(o.max_memory)
            found = _core.simulate(
                variant, listed_only=True, max_memory=most, progress=progress, **_options(o)
            )
    with printing():
        found.write_json(1)
    told = json.loads(found.overview(0))["simulation"].get("bridge")
    failures = [why for why in (found.failure(), FAILURE if is_withheld(told) else None) if why]
    return [], "; ".join(failures) or None


def _captures(o: argparse.Namespace, played: Scenario) -> list[str]:
    """Names of the captures that the run will write."""
    every, named = played.recorded()
    return [f"{node}.pcapng" for node in (every if o.bench == "live" else named)]


def _planned(captures: list[str]) -> list[str]:
    from rexmit.files.output import planned

    return planned(captures)


def _play(o: argparse.Namespace, played: Scenario, captures: Path | None) -> Run:
    from rexmit.running.one_run import LiveRun, Run
    from rexmit.screen.progress import Stepping

    tables: tuple[AnyTable, ...] = ()
    if o.out:
        tables = ("retransmissions", "intervals", "rtt", "packets")
    elif o.ladder:
        tables = ("retransmissions", "packets")
    with Stepping(os.path.basename(o.scenario)) as progress:
        kind = LiveRun if o.bench == "live" else Run
        done = kind(played, o.seed, _options(o), tables, captures, progress, o.max_memory)
    # What is computed later, for figures, asks nobody.
    done._stepping = None
    # A live one cannot be had again, and Ctrl-C is how many of them end.
    done.hurried = progress.stopped and o.bench == "sim"
    return done


def _ladder(o: argparse.Namespace, done: Run) -> list[str]:
    from rexmit.captured import ladder

    worst = done.worst(1)
    if not worst:
        raise ValueError(f"{o.scenario}: no TCP connection in it carries data")
    return ladder.text(worst[0].exchange(o.ladder), 120)


def _write(o: argparse.Namespace, done: Run, into: Destination) -> tuple[str | None, str | None]:
    """What was written, or what was not, in words."""
    from rexmit.files.not_written import NotWrittenError
    from rexmit.running import bench

    try:
        with bench.interrupted_by(*bench.ENDING):
            from rexmit.files.output import chosen, write

            forms, figures, without = chosen(o)
            written = write(
                done,
                into,
                forms=forms,
                packets_as_csv=o.csv,
                figures=None if done.hurried else figures,
                top=o.top or 3,
                report=o.report and not done.hurried,
            )
            undrawn = f"; {UNDRAWN}" if done.hurried and figures else ""
            return written + without + undrawn, None
    except NotWrittenError as error:
        return None, str(error)
    except KeyboardInterrupt:
        return None, STOPPED.format(o.out)
