"""`rexmit sweep`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from rexmit import extras
from rexmit.cli.ending import refuse
from rexmit.cli.options import FORMATS
from rexmit.cli.shown import answer, show
from rexmit.cli.values import duration, memory, pair, positive, seed
from rexmit.screen.say import as_json, one_line

if TYPE_CHECKING:
    from rexmit.sweeps.plan import Plan
    from rexmit.sweeps.sizing import Trial

SWEEP = """\
Runs a scenario at every point of a grid, several times each, on all cores, and keeps every run's figures.
What is done is kept block by block: the same command goes on where it was stopped.
"""
SWEEP_EXAMPLES = """\
examples:
  rexmit sweep scenarios/wifi-bursts.toml --vary link.air.channel.bursts.mean_loss=0.1%,1%,5% --out loss
  rexmit sweep scenarios/wifi-bursts.toml --vary flow.download.stack=linux-6-cubic,linux-6-bbr \\
      --pair flow.download.stack --runs 30             both stacks on the same random streams
  rexmit sweep SCENARIO --vary link.air.delay=1ms..300ms/12log --until "goodput ±1%" --runs 10 --most 1000
  rexmit sweep SCENARIO --vary "link.air.delay=loguniform(1ms,300ms)" --samples 200 --out sweeps/delay
  rexmit sweep SCENARIO … --plan                       what it would run, and what that takes
  rexmit sweep SCENARIO … --out sweeps/big --cluster tcp://head:8786       on a Dask cluster
  rexmit sweep SCENARIO … --out sweeps/big --shard 3/16            one part of sixteen, for a batch queue

exit codes: 0 an answer, 1 stopped or not written, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    s = commands.add_parser(
        "sweep",
        help="run a scenario at every point of a grid, many times",
        description=SWEEP,
        epilog=SWEEP_EXAMPLES,
    )
    s.add_argument(
        "scenario", nargs="?", metavar="SCENARIO", help="a scenario file, or a name of rexmit scenarios"
    )
    what = s.add_argument_group("what is run")
    what.add_argument(
        "--vary",
        type=pair,
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="a,b,c; 1ms..100ms/10 (equal steps); 1ms..100ms/10log (equal ratios); uniform(1ms,100ms) or "
        "loguniform(1ms,100ms) with --samples; repeatable: the axes of a grid",
    )
    what.add_argument(
        "--samples", type=positive, metavar="N", help="values of what is sampled (Latin hypercube)"
    )
    what.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="KEY",
        help="every value of this key meets the same random streams; repeatable",
    )
    what.add_argument(
        "--set",
        type=pair,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override one key everywhere",
    )
    what.add_argument(
        "--runs", type=positive, default=10, metavar="N", help="replications of each point (default 10)"
    )
    what.add_argument("--seed", type=seed, metavar="N", help="of the plan (default 1)")
    what.add_argument(
        "--until",
        action="append",
        default=[],
        metavar="WIDTH",
        help='"goodput ±1%%": --runs more replications, again and again, until the 95%% interval of the '
        "mean is so narrow at every point; repeatable",
    )
    what.add_argument(
        "--most", type=positive, metavar="N", help="with --until: replications of each point at most"
    )
    kept = s.add_argument_group("what is kept")
    kept.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME",
        help="flows, episodes, bursts, …: rows of every run, which are then analysed; repeatable",
    )
    kept.add_argument(
        "--at", choices=("both", "sender", "receiver"), default="both", help="where packets are seen"
    )
    kept.add_argument("--idle", type=duration, metavar="TIME", help="what counts as idle")
    kept.add_argument(
        "--interval", type=duration, default=1.0, metavar="TIME", help="of table intervals (default 1s)"
    )
    kept.add_argument(
        "--out", metavar="DIR", help="keep the results here: a folder, or an address of fsspec's"
    )
    kept.add_argument("--figures", choices=FORMATS, help="draw the goodput into DIR/figures, with --out")
    kept.add_argument("--json", action="store_true", help="the summary as one JSON object (docs/sweep.md)")
    how = s.add_argument_group("how")
    how.add_argument(
        "--plan", action="store_true", help="say what would be run and what that takes, and stop"
    )
    how.add_argument("--threads", type=positive, metavar="N", help="default: one a core")
    how.add_argument(
        "--cluster",
        metavar="WHERE",
        help="Dask's workers make the runs: local:4 (worker processes here), tcp://HOST:8786, tls://…, or "
        "the scheduler's FILE.json (docs/cluster.md)",
    )
    how.add_argument(
        "--shard",
        type=_shard,
        metavar="3/16",
        help="make the third of sixteen parts, with --out (docs/sweep.md)",
    )
    how.add_argument(
        "--merge", nargs="+", metavar="DIR", help="put these parts together in --out DIR, instead of running"
    )
    how.add_argument(
        "--max-memory",
        type=memory,
        metavar="SIZE",
        help="refuse simulations that need more (default: three quarters of what is free)",
    )


def _shard(text: str) -> tuple[int, int]:
    from rexmit.sweeps.plan import shard

    try:
        return shard(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together."""
    extras.need("sweep", "rexmit sweep", "numpy", "pyarrow", "scipy")
    if o.merge:
        if o.scenario or o.vary:
            return "--merge puts together what was run; leave the scenario and --vary out"
        return None if o.out else "--merge needs --out DIR to put the parts into"
    if not o.scenario:
        return "which scenario? rexmit sweep SCENARIO --vary KEY=VALUES"
    keys = [key for key, _ in o.vary]
    twice = next((key for k, key in enumerate(keys) if key in keys[:k]), None)
    if twice is not None:
        return f"--vary {twice} is there twice; name all its values in one"
    if o.figures and not o.out:
        return "--figures needs --out DIR to write into"
    if o.cluster and o.threads:
        from rexmit.sweeps.engine import THREADS_OR_CLUSTER

        return THREADS_OR_CLUSTER
    if o.shard and not o.out:
        return "--shard needs --out DIR: parts are put together there"
    if o.shard and o.until:
        return "--until looks at all runs, and --shard makes a part of them: say --runs"
    if o.interval <= 0:
        return "--interval must be longer than 0"
    return None


def run(o: argparse.Namespace) -> int:
    """Makes the runs, or puts parts together, and shows what they come to."""
    refuse(check(o))
    return answer(*_swept(o))


def _swept(o: argparse.Namespace) -> tuple[list[str], str | None]:
    """Shows the plan; returns the lines of the answer, and why it is not whole, if it is not."""
    if o.merge:
        return _merged(o), None
    from rexmit.sweeps import page, sizing
    from rexmit.sweeps.engine import engine_of
    from rexmit.sweeps.making import make
    from rexmit.sweeps.sweeping import run, somewhere

    plan = make(
        _scenario(o),
        dict(o.vary),
        runs=o.runs,
        seed=o.seed,
        samples=o.samples,
        pair=o.pair,
        tables=o.table,
        until=o.until,
        most=o.most,
        at=o.at,
        idle=o.idle,
        interval=o.interval,
    )

    def told(plan: Plan, found: Trial, left: int) -> None:
        if not o.json:
            progress.hide()
            show([*page.plan_page(plan), page.cost_line(plan, found, engine.threads, left)])

    from rexmit.screen.progress import Counting

    with (
        Counting(os.path.basename(o.scenario), "runs") as progress,
        engine_of(plan.own_classes(), o.cluster, o.threads, o.max_memory) as engine,
    ):
        if o.plan:
            found = sizing.trial(plan, o.max_memory)
            cut = sizing.sized(plan, found)
            told(cut, found, plan.points * plan.runs)
            return [as_json(page.cost(cut, found))] if o.json else [], None
        done = run(
            plan,
            o.out or somewhere(),
            engine,
            part=o.shard,
            max_memory=o.max_memory,
            progress=progress,
            tell=told,
        )
    drawn = done.figures(o.figures) if o.figures and not done.interrupted else []
    failure = "stopped before all runs were done" if done.interrupted else None
    if o.json:
        return [as_json(page.answer(done.plan, done.store, done.outcome))], failure
    lines = page.page(done.plan, done.store, done.outcome, o.out)
    return lines + [f"drew {one_line(os.path.join(o.out, name))}" for name in drawn], failure


def _merged(o: argparse.Namespace) -> list[str]:
    from rexmit.sweeps import page
    from rexmit.sweeps.merge import merge

    done = merge(o.merge, o.out)
    if o.json:
        return [as_json(page.answer(done.plan, done.store, None))]
    return page.page(done.plan, done.store, None, o.out)


def _scenario(o: argparse.Namespace) -> Any:
    from rexmit.running.shipped import opened

    return opened(o.scenario)._with(tuple(o.set), "--set ")
