"""The paper's claims, judged over what it leaves open: phase, air, and the server's window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from rexmit.stats import Test, known_mean
from rexmit_studies import own
from rexmit_studies.interruption import lengths, osx, phases, server, setups
from rexmit_studies.interruption.phases import Transfer
from rexmit_studies.interruption.sections import Section
from rexmit_studies.rows import each_tried
from rexmit_studies.study import Claim, Missing, Results

#: Quickly: an outage costs less than this beyond its own length, on average, s.
QUICKLY_S = 0.8
#: A rule is taken to hold if it does for more than this share of sections; "some": more than SOME transfers.
RULE, SOME = 0.9, 0.05
LONG_S = 10.0

NONE = "no transfer with your values has what it speaks of"


def claims(results: Results) -> Iterator[Claim | Missing]:
    found = {
        "linux_alike": _linux,
        "lag_needs_small_window": _window,
        "windows_recovers": _windows_quick,
        "windows_limited": _windows_limited,
        "osx_intermittent": _osx,
        "other_lengths": lengths.claim,
    }
    return each_tried("interruption.claim.", found, results, NONE)


def alike_s() -> float:
    """Alike: what an outage costs differs by less than half of one on average, s."""
    return setups.outage() / 2


def quickly_s() -> float:
    """The most that an outage of this length may cost and still count as repaired at once, in seconds."""
    return setups.outage() + QUICKLY_S


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
        + ", ".join(f"{setups.title(k)} {_mean_s(v)}" for k, v in cost.items())
        + f"; {n - slow} of {n} sections are of the two kinds, without time lag in "
        + ", ".join(f"{hits / max(1, all):.0%}" for hits, all in kinds.values())
        + " of them",
        tests=[
            Test.alike("what an outage costs, Reno less CUBIC", cost["reno"], cost["cubic"], alike_s(), "s"),
            Test.alike("Westwood less Reno", cost["westwood"], cost["reno"], alike_s(), "s"),
            *(
                Test.mean(f"{setups.title(k)}: {told} less what an outage costs", most - v, unit="s")
                for k, v in cost.items()
            ),
            Test.mean(
                f"share of a draw's sections that are not intermittent, less {RULE:g}",
                _by_draw({k: found[k] for k in setups.LINUX}, lambda t, s: s.kind != "intermittent"),
                RULE,
            ),
        ],
        reading=f"{phases.told_of_draws()}; alike: within half an outage of each other; the kinds' "
        "shares differ",
    )


def _mean_s(costs: phases.Floats) -> str:
    """The mean of those that are known."""
    known = costs[np.isfinite(costs)]
    return f"{known.mean():.2f} s" if len(known) else "an unknown time (no transfer ended)"


def _by_draw(
    found: Mapping[str, Sequence[Transfer]], holds: Callable[[Transfer, Section], bool]
) -> phases.Floats:
    """For each draw the share over the sections of all systems; NaN for a draw without any section. Draws are
    what is independent.
    """
    return np.array([known_mean(phases.each(draw, holds)) for draw in zip(*found.values(), strict=True)])


def _window(results: Results) -> Claim:
    found, tight = phases.sweep(results), phases.sweep(results, "phases, small window")
    every = [t for transfers in found.values() for t in transfers]
    small = [t for transfers in tight.values() for t in transfers]
    lag, of_lag = phases.share(small, lambda t, s: s.kind != "without")
    hits, n = phases.share(every, lambda t, s: t.foretold(s))
    literal, _ = phases.share(every, lambda t, s: s.still_sending == (s.kind == "without"))
    key = "interruption.claim.lag_needs_small_window"
    with_small = Test.mean(
        f"share of a draw's sections with a time lag, 55,488 bytes, less {RULE:g}",
        _by_draw(tight, lambda t, s: s.kind != "without"),
        RULE,
    )
    said = f"with 55,488 bytes {lag} of {of_lag} have a time lag"
    rest = "OS X's intermittent sections count as with time lag"
    return Claim(
        key,
        f"{literal} of {n} sections have the kind that the sender tells (whether it was still sending when "
        f"the link returned), and {said}"
        + (
            ""
            if own.current()
            else ": behind a deep queue a sender stops when the ACKs stop, and the queue goes on"
        ),
        tests=[
            Test.mean(
                f"share of a draw's sections that the sender's sending tells, less {RULE:g}",
                _by_draw(found, lambda t, s: s.still_sending == (s.kind == "without")),
                RULE,
            ),
            with_small,
        ],
        reading=f"{phases.told_of_draws()}; the paper's words: the sender “keeps sending” data; {rest}",
        beside=Claim(
            key,
            f"{hits} of {n} sections have the kind that the window tells (more under way than the air "
            f"carries in {1e3 * setups.outage():g} ms), and {said}",
            tests=[
                Test.mean(
                    f"share of a draw's sections that the window tells, less {RULE:g}",
                    _by_draw(found, lambda t, s: t.foretold(s)),
                    RULE,
                ),
                with_small,
            ],
            reading="“keeps sending” is what the queue goes on delivering, not what leaves the sender; "
            f"{rest}",
        ),
    )


def _windows_quick(results: Results) -> Claim:
    transfers = phases.sweep(results)["windows7"]
    cost, most = phases.column(transfers, lambda t: t.cost_s), quickly_s()
    lag, n = phases.share(transfers, lambda t, s: s.kind == "with")
    return Claim(
        "interruption.claim.windows_recovers",
        f"An outage costs Windows 7 {_mean_s(cost)}; {lag} of {n} sections have a time lag",
        tests=[
            Test.mean(f"{most:g} s less what an outage costs", most - cost, unit="s"),
            Test.mean(
                f"share of a draw's sections with a time lag, less {RULE:g}",
                phases.each(transfers, lambda t, s: s.kind == "with"),
                RULE,
            ),
        ],
        reading=phases.told_of_draws(),
    )


def _windows_limited(results: Results) -> Claim:
    offered = server.offered(results)
    plain = {buffer: of for (buffer, stamps), of in offered.items() if not stamps}
    # A window that grew little would leave room in a larger buffer.
    filled = all(buffer - 1460 <= flight <= buffer for buffer, (flight, _) in plain.items())
    told = ", ".join(f"{flight:,} of {buffer:,}" for buffer, (flight, _) in plain.items())
    return Claim(
        "interruption.claim.windows_limited",
        f"Whatever the sender's buffer is, the most under way is all of it: {told} bytes. So it is Windows "
        "7's send buffer of 64 KiB that holds it back, neither its congestion window, with Compound on or "
        "off, nor what the server advertises"
        if filled
        else f"Under way are at most {told} bytes of the sender's buffer: it is not always the buffer that "
        "holds Windows 7 back",
        settled="fails" if filled else "holds",
        reading=f"a steady air of {setups.rate(5.2)}, {len(plain)} sizes of the send buffer",
    )


def _osx(results: Results) -> Claim:
    found = phases.sweep(results)["osx"]
    every = [phases.met([t]) for t in found]
    long = sum(any(s.kind == "intermittent" and s.length_s > LONG_S for _, s in of) for of in every)
    by_sack = sum(any(s.kind == "without" for _, s in of) for of in every)
    slow, n = phases.share(found, lambda t, s: s.kind == "intermittent")
    return Claim(
        "interruption.claim.osx_intermittent",
        f"{slow} of {n} sections are intermittent; {long} of {len(found)} transfers have one of more than "
        f"10 s, and {by_sack} have one that SACK repairs at once; {osx.switch_said(results)}",
        tests=[
            Test.share(
                f"share of transfers with an intermittent section over 10 s, less {SOME:g}",
                long,
                len(found),
                SOME,
            ),
            Test.share(
                f"share of transfers with a section that SACK repairs, less {SOME:g}",
                by_sack,
                len(found),
                SOME,
            ),
        ],
        reading=f"{phases.told_of_draws()}; “some”: in more than one transfer of twenty",
    )
