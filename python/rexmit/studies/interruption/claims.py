"""The paper's claims, judged over what it leaves open: phase, air, and the server's window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from rexmit.stats import Test
from rexmit.studies.interruption import osx, phases, setups
from rexmit.studies.interruption.phases import Transfer
from rexmit.studies.interruption.sections import Section
from rexmit.studies.rows import tried
from rexmit.studies.study import Claim, Missing, Results

#: Quickly: an outage costs less than this beyond its own length, on average, s.
QUICKLY_S = 0.8
#: A rule is taken to hold if it does for more than this share of sections; "some": more than SOME transfers.
RULE, SOME = 0.9, 0.05
LONG_S = 10.0

NONE = "no transfer with your values has what it speaks of"


def claims(results: Results) -> Iterator[Claim | Missing]:
    found = {"linux_alike": _linux, "lag_needs_small_window": _window, "osx_intermittent": _osx}
    for key, make in found.items():
        yield tried(f"interruption.claim.{key}", partial(make, results), NONE)


def alike_s() -> float:
    """Alike: what an outage costs differs by less than half of one on average, s."""
    return setups.outage() / 2


def quickly_s() -> float:
    """The most that an outage of this length may cost and still count as repaired at once, in seconds."""
    return setups.outage() + QUICKLY_S


def reading() -> str:
    """Names the simulated transfers on which the claims are tested, and their parameters."""
    low, high = phases.air()
    air = f"{low:g} to {high:g}" if low < high else f"{low:g}"
    return f"draws of phase (all of the period) and air ({air} Mbps), the server's window at most 451,840"


def _linux(results: Results) -> Claim:
    found = phases.sweep(results)
    cost = {name: phases.column(found[name], lambda t: t.cost_s) for name in setups.LINUX}
    every = [t for name in setups.LINUX for t in found[name]]
    kinds = {name: phases.share(found[name], lambda t, s: s.kind == "without") for name in setups.LINUX}
    slow, n = phases.share(every, lambda t, s: s.kind == "intermittent")
    most = quickly_s()
    told = "one second" if most == 1 else f"{most:g} s"
    return Claim(
        "interruption.claim.linux_alike",
        "An outage costs "
        + ", ".join(f"{setups.TITLES[k]} {_mean_s(v)}" for k, v in cost.items())
        + f"; {n - slow} of {n} sections are of the two kinds, without time lag in "
        + ", ".join(f"{hits / max(1, all):.0%}" for hits, all in kinds.values())
        + " of them",
        tests=[
            Test.alike("what an outage costs, Reno less CUBIC", cost["reno"], cost["cubic"], alike_s(), "s"),
            Test.alike("Westwood less Reno", cost["westwood"], cost["reno"], alike_s(), "s"),
            *(
                Test.mean(f"{setups.TITLES[k]}: {told} less what an outage costs", most - v, unit="s")
                for k, v in cost.items()
            ),
            Test.mean(
                "share of a draw's sections that are not intermittent",
                _by_draw({k: found[k] for k in setups.LINUX}, lambda t, s: s.kind != "intermittent"),
                RULE,
            ),
        ],
        reading=f"{reading()}; alike: within half an outage of each other; the kinds' shares differ",
    )


def _mean_s(costs: phases.Floats) -> str:
    """The mean of those that are known."""
    known = costs[np.isfinite(costs)]
    return f"{known.mean():.2f} s" if len(known) else "an unknown time (no transfer ended)"


def _by_draw(
    found: Mapping[str, Sequence[Transfer]], holds: Callable[[Transfer, Section], bool]
) -> phases.Floats:
    """For each draw the share over the sections of all systems: what the draws are is what is independent."""
    return np.array([np.nanmean(phases.each(draw, holds)) for draw in zip(*found.values(), strict=True)])


def _window(results: Results) -> Claim:
    found, tight = phases.sweep(results), phases.sweep(results, "phases, small window")
    every = [t for transfers in found.values() for t in transfers]
    small = [t for transfers in tight.values() for t in transfers]
    lag, of_lag = phases.share(small, lambda t, s: s.kind != "without")
    hits, n = phases.share(every, lambda t, s: t.foretold(s))
    literal, _ = phases.share(every, lambda t, s: s.still_sending == (s.kind == "without"))
    return Claim(
        "interruption.claim.lag_needs_small_window",
        f"{hits} of {n} sections have the kind that the window tells (more under way than the air carries in "
        f"{1e3 * setups.outage():g} ms), and with 55,488 bytes {lag} of {of_lag} have a time lag; "
        f"whether the sender is still sending when the link returns tells {literal / n:.0%}",
        tests=[
            Test.mean(
                "share of a draw's sections that the window tells",
                _by_draw(found, lambda t, s: t.foretold(s)),
                RULE,
            ),
            Test.mean(
                "share of a draw's sections with a time lag, 55,488 bytes",
                _by_draw(tight, lambda t, s: s.kind != "without"),
                RULE,
            ),
        ],
        reading=f"{reading()}; “keeps sending” is what the queue goes on delivering, not what leaves the "
        f"sender; "
        f"OS X's intermittent sections count as with time lag",
    )


def _osx(results: Results) -> Claim:
    found = phases.sweep(results)["osx"]
    every = [phases.met([t]) for t in found]
    long = sum(any(s.kind == "intermittent" and s.length_s > LONG_S for _, s in of) for of in every)
    by_sack = sum(any(s.kind == "without" for _, s in of) for of in every)
    inside, outside = osx.switch(results)
    slow, n = phases.share(found, lambda t, s: s.kind == "intermittent")
    return Claim(
        "interruption.claim.osx_intermittent",
        f"{slow} of {n} sections are intermittent; {long} of {len(found)} transfers have one of more than "
        f"10 s, and {by_sack} have one that SACK repairs at once; the kind ends where the round trip after "
        f"the outage passes one SRTT (seen at {inside:.2f}, not at {outside:.2f})",
        tests=[
            Test.share("transfers with an intermittent section over 10 s", long, len(found), SOME),
            Test.share("transfers with a section that SACK repairs", by_sack, len(found), SOME),
        ],
        reading=f"{reading()}; “some”: in more than one transfer of twenty",
    )
