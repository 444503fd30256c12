"""`rexmit run`, `rexmit stacks`, `rexmit channels`. What a command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
import signal
from typing import TYPE_CHECKING, Any

from rexmit.say import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from rexmit.scenario import Scenario
    from rexmit.simulation import AnyTable, Run

RUN = """\
Simulates a scenario (a TOML file, docs/scenario.md) and says what happened to each transfer, as rexmit
analyze does for a capture; here every loss is known. The same scenario and seed give the same run on every
machine.
"""
RUN_EXAMPLES = """\
examples:
  rexmit run scenarios/interruption.toml
  rexmit run scenarios/interruption.toml --set flow.upload.stack=linux-2.6-cubic --seed 7
  rexmit run scenarios/interruption.toml --runs 100           the same over 100 seeds, with intervals
  rexmit run scenarios/interruption.toml --at sender          what a capture at the sender shows of it
  rexmit run scenarios/interruption.toml --out runs/1         tables, captures, figures, all that was asked
  rexmit run scenarios/interruption.toml --bench live         on this machine's kernel (docs/live.md)

exit codes: 0 an answer, 1 a run that could not go on, 2 bad input
"""


def pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} sets nothing; write key=value, like link.air.rate=5Mbps")
    return key.strip(), value.strip()


def seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a whole number from 0 up")
    return int(text)


def _seeds(text: str) -> list[int]:
    from rexmit.cli_runs import seeds

    return seeds(text)


def add(commands: Any, positive: Any, duration: Any) -> None:
    """Adds the commands to the parser."""
    r = commands.add_parser(
        "run",
        help="simulate a scenario, and say what happened to each transfer",
        description=RUN,
        epilog=RUN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    r.add_argument("scenario", metavar="SCENARIO", help="a scenario file")
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
    played.add_argument("--seed", type=seed, metavar="N", help="in the place of the scenario's")
    played.add_argument(
        "--runs",
        type=positive,
        metavar="N",
        help="so many runs, with the seeds from --seed on (default 1), and each figure with its interval",
    )
    played.add_argument(
        "--seeds", type=_seeds, metavar="1-100", help="the same with these seeds: 1-100, or 3,7,9"
    )
    seen = r.add_argument_group("what is shown")
    seen.add_argument(
        "--at",
        choices=("both", "sender", "receiver"),
        default="both",
        help="where the packets are seen (default: at both ends, so that every loss is known)",
    )
    seen.add_argument(
        "--idle",
        type=duration,
        metavar="TIME",
        help="what counts as idle (default: two round trips, at least 50ms)",
    )
    seen.add_argument(
        "--interval", type=duration, default=1.0, metavar="TIME", help="length of the intervals (default 1s)"
    )
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
    written.add_argument(
        "--figures", choices=("png", "svg", "pdf", "none"), help="format of the figures (default png)"
    )
    written.add_argument("--csv", action="store_true", help="tables as CSV only (default: Parquet and CSV)")
    written.add_argument("--parquet", action="store_true", help="tables as Parquet only")
    bench = commands.add_parser(
        "live",
        help="the live bench: what this machine can do, and what killed runs left",
        description="check: what this machine can do for runs with --bench live, what is missing, and the "
        "mend. clean: removes network namespaces that runs which were killed have left.",
    )
    bench.add_argument("what", choices=("check", "clean"), help="which")
    bench.add_argument("--json", action="store_true", help="as JSON")
    s = commands.add_parser("stacks", help="the stacks there are, and what one is made of")
    s.add_argument("name", nargs="?", metavar="NAME", help="a stack, or a stack file")
    s.add_argument("--json", action="store_true", help="as JSON")
    c = commands.add_parser("channels", help="the channels and queues that links can have")
    c.add_argument("--json", action="store_true", help="as JSON")


def check(o: argparse.Namespace) -> str | None:
    """The mend for options that do not go together."""
    if o.figures and o.figures != "none" and not o.out:
        return "--figures needs --out DIR to write into"
    if (o.csv or o.parquet) and not o.out:
        return f"{'--csv' if o.csv else '--parquet'} needs --out DIR to write into"
    if o.interval <= 0:
        return "--interval must be longer than 0"
    if o.json and o.ladder:
        return "--json and --ladder both want the output; ask for one of them"
    if o.runs is not None or o.seeds is not None:
        from rexmit import cli_runs

        return cli_runs.check(o)
    return None


def scenario(o: argparse.Namespace) -> Scenario:
    """The scenario with what `--set` says."""
    from rexmit.scenario import Scenario

    return Scenario.load(o.scenario)._with(tuple(o.set), "--set ")


def run(o: argparse.Namespace, say: Callable[[list[str]], None]) -> tuple[list[str], str | None]:
    """`rexmit run`: says the answer, then writes files; returns the lines that remain to be said, and why the
    run failed, if it did.
    """
    if o.runs is not None or o.seeds is not None:
        from rexmit import cli_runs

        return cli_runs.run(o)
    if o.json and not o.out:
        return _json(o)
    from rexmit import bench

    done = _play(o)
    failures = [done.failure] if done.failure else []
    # A live run can not be had again: whatever comes, its answer is said first.
    with bench.told_to_end(signal.SIGINT) as came:
        try:
            _show(o, done, say)
        except ValueError as error:
            if o.bench != "live":
                raise
            say(done.page(o.top or 7, hints=False).splitlines())
            failures.append(str(error))
    if not o.out:
        return [], "; ".join(failures) or None
    note, lacking = _write(o, done) if not came else (None, _STOPPED.format(o.out))
    if lacking:
        failures.append(lacking)
    if note and o.json:
        tell(note)
    return [note] if note and not o.json else [], "; ".join(failures) or None


#: Which files are there is not told: each of them is whole.
_STOPPED = "stopped while files were being written into {}: not all are there"


def _show(o: argparse.Namespace, done: Run, say: Callable[[list[str]], None]) -> None:
    if o.json:
        done.analysis.write_json(1)
    elif o.ladder:
        say(_ladder(o, done))
    else:
        say(done.page(o.top or 7, hints=not o.out).splitlines())


def _options(o: argparse.Namespace) -> dict[str, Any]:
    return {"at": o.at, "idle": o.idle, "interval": o.interval}


def _json(o: argparse.Namespace) -> tuple[list[str], str | None]:
    from rexmit import _core, bench
    from rexmit.progress import Stepping

    with Stepping(os.path.basename(o.scenario)) as progress:
        play = bench.play if o.bench == "live" else _core.simulate
        found = play(scenario(o)._variant(o.seed), listed_only=True, progress=progress, **_options(o))
    found.write_json(1)
    return [], found.failure()


def _play(o: argparse.Namespace) -> Run:
    from rexmit.progress import Stepping
    from rexmit.simulation import LiveRun, Run

    tables: tuple[AnyTable, ...] = ()
    if o.out:
        tables = ("retransmissions", "intervals", "rtt", "packets")
    elif o.ladder:
        tables = ("retransmissions", "packets")
    captures = os.path.join(o.out, "captures") if o.out else None
    with Stepping(os.path.basename(o.scenario)) as progress:
        kind = LiveRun if o.bench == "live" else Run
        done = kind(scenario(o), o.seed, _options(o), tables, captures, progress)
    # What is computed later, for figures, asks nobody.
    done._stepping = None
    return done


def _ladder(o: argparse.Namespace, done: Run) -> list[str]:
    from rexmit import ladder

    worst = done.worst(1)
    if not worst:
        raise ValueError(f"{o.scenario}: no TCP connection in it carries data")
    return ladder.text(worst[0].exchange(o.ladder), 120)


def _write(o: argparse.Namespace, done: Run) -> tuple[str | None, str | None]:
    """What was written, or what was not, in words."""
    from rexmit import bench
    from rexmit.writing import NotWrittenError

    forms = [form for form in ("parquet", "csv") if getattr(o, form) or not (o.csv or o.parquet)]
    figures = None if o.figures == "none" else (o.figures or "png")
    try:
        with bench.interrupted_by(signal.SIGTERM, signal.SIGHUP):
            from rexmit.output import write

            written = write(done, o.out, forms=forms, packets_as_csv=o.csv, figures=figures, top=o.top or 3)
            return written, None
    except NotWrittenError as error:
        return None, str(error)
    except KeyboardInterrupt:
        return None, _STOPPED.format(o.out)


def live(o: argparse.Namespace) -> tuple[list[str], bool]:
    """`rexmit live check` and `rexmit live clean`: the lines, and whether all is well."""
    import json

    from rexmit import bench

    if o.what == "check":
        found = bench.check()
        well = all(f["mend"] is None or not f["needed"] for f in found)
        return ([json.dumps(found, indent=1)] if o.json else bench.check_page(found)), well
    removed = bench.clean()
    return ([json.dumps(removed, indent=1)] if o.json else bench.clean_page(removed)), not removed["left"]


def stacks(o: argparse.Namespace) -> list[str]:
    """`rexmit stacks`."""
    import json

    from rexmit import _core, simulated

    text = _core.stack(o.name) if o.name else _core.stacks()
    if o.json:
        return [text]
    found = json.loads(text)
    return simulated.stack(found) if o.name else simulated.stacks(found)


def channels(o: argparse.Namespace) -> list[str]:
    """`rexmit channels`."""
    import json

    from rexmit import _core, simulated

    text = _core.channels()
    return [text] if o.json else simulated.kinds(json.loads(text))
