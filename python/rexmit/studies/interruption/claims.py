"""The paper's claims, judged over what it leaves open: phase, air, and the server's window."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rexmit.stats import Test
from rexmit.studies.interruption import osx, phases, setups
from rexmit.studies.interruption.phases import Transfer
from rexmit.studies.study import Claim, Results

#: Alike: what an outage costs differs by less than half of one on average.
ALIKE_S = setups.OUTAGE_S / 2
#: Quickly: an outage costs less than this on average.
QUICKLY_S = 1.0
#: A rule is taken to hold if it does in more than this share of transfers; "some": more than SOME of them.
RULE, SOME = 0.9, 0.05
LONG_S = 10.0
READING = "draws of phase (all of the period) and air (4.2 to 5.2 Mbps), the server's window at most 451,840"


def claims(results: Results) -> Iterator[Claim]:
    yield _linux(results)
    yield _window(results)
    yield _osx(results)


def _linux(results: Results) -> Claim:
    found = phases.sweep(results)
    cost = {name: phases.column(found[name], lambda t: t.cost_s) for name in setups.LINUX}
    every = [t for name in setups.LINUX for t in found[name]]
    kinds = {name: phases.share(found[name], lambda t, s: s.kind == "without") for name in setups.LINUX}
    slow, n = phases.share(every, lambda t, s: s.kind == "intermittent")
    return Claim(
        "interruption.claim.linux_alike",
        "An outage costs "
        + ", ".join(f"{setups.TITLES[k]} {np.nanmean(v):.2f} s" for k, v in cost.items())
        + f"; {n - slow} of {n} sections are of the two kinds, without time lag in "
        + ", ".join(f"{hits / max(1, all):.0%}" for hits, all in kinds.values())
        + " of them",
        tests=[
            Test.alike("what an outage costs, Reno less CUBIC", cost["reno"], cost["cubic"], ALIKE_S, "s"),
            Test.alike("Westwood less Reno", cost["westwood"], cost["reno"], ALIKE_S, "s"),
            *(
                Test.mean(
                    f"{setups.TITLES[k]}: one second less what an outage costs", QUICKLY_S - v, unit="s"
                )
                for k, v in cost.items()
            ),
            Test.share("transfers in which none is intermittent", _regular(every), len(every), RULE),
        ],
        reading=f"{READING}; alike: within half an outage of each other; the kinds' shares differ",
    )


def _regular(transfers: list[Transfer]) -> int:
    return sum(all(s.kind in ("without", "with") for _, s in phases.met([t])) for t in transfers)


def _window(results: Results) -> Claim:
    every = [t for name in setups.SYSTEMS for t in phases.sweep(results)[name]]
    small = [t for transfers in phases.sweep(results, "phases, small window").values() for t in transfers]
    told = sum(all(t.foretold(s) for _, s in phases.met([t])) for t in every)
    lag = sum(all(s.kind != "without" for _, s in phases.met([t])) for t in small)
    hits, n = phases.share(every, lambda t, s: t.foretold(s))
    literal, _ = phases.share(every, lambda t, s: s.still_sending == (s.kind == "without"))
    return Claim(
        "interruption.claim.lag_needs_small_window",
        f"{hits} of {n} sections have the kind that the window tells (more under way than the air carries in "
        f"200 ms), and with 55,488 bytes {lag} of {len(small)} transfers have nothing but time lags; "
        f"whether the sender is still sending when the link returns tells {literal / n:.0%}",
        tests=[
            Test.share("transfers whose every section the window tells", told, len(every), RULE),
            Test.share("transfers with 55,488 bytes that have time lags only", lag, len(small), RULE),
        ],
        reading=f"{READING}; “keeps sending” is what the queue goes on delivering, not what leaves the "
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
        reading=f"{READING}; “some”: in more than one transfer of twenty",
    )
