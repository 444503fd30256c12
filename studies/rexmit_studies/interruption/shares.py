"""What the paper's few runs leave open: which reading gives its sections, and all phases."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from rexmit import stats
from rexmit_studies.interruption import drawings, phases, readings, setups
from rexmit_studies.interruption.drawings import KINDS
from rexmit_studies.interruption.phases import Transfer
from rexmit_studies.study import Drawing, Part, Results

SWEEPS = {
    "phases": "at most 451,840 bytes (Fig. 7)",
    "phases, free window": "as the kernel allows",
    "phases, small window": "at most 55,488 bytes (Fig. 7, Windows)",
}


def tables_readings(results: Results) -> dict[str, Any]:
    return {"sections under each reading": readings.table(results)}


def text_readings(results: Results) -> str:
    return f"""\
Fixed by the paper: the file, the 200 ms, the period, both directions, the stacks, the segments of 1448 bytes.
Free: the air's rate, how deep the queue before it is, what the server's buffer allows, and the phase (about
3.1 s for Reno; not told for the others). The table has a reading a line, each with the first outage at
{setups.FITTED_PHASE_S:g} s; – is a section without time lag.

- **Four sections need a slower air than the first one shows.** At a steady 5.2 Mbps 10 MiB are through after
  17.3 s, before the fourth outage at 18.1 s.
- **A fourth section with time lag needs a limit of the window** before the first outage: Fig. 7's 451,840
  bytes do it. With what the kernel allows Reno's window is still far too large after three halvings.
- **The queue must be deep.** With 100 packets it overflows before the first outage, and the window is small
  from the second on.
- **CUBIC's sections** begin with time lags only because HyStart ends slow start early, at some 30
  segments; without it (the column beside) its window is as large as Reno's. From (3) on the window is about
  what the air carries in 200 ms: the reading decides.
- **The server of 55,488 bytes** (last line), which keeps every sender's window so small, gives time lags
only, to
  all but OS X: in the paper it can have been so for Windows alone.
- **The air as an 802.11g hop** at its lowest rate (6 Mbps, of which 5.1 remain) gives the same kinds as a
  plain link of that speed; with one frame in ten repeated it is slower, 4.6 Mbps, and gives those of a link
  so slow."""


def tables(results: Results) -> dict[str, Any]:
    made: dict[str, list[str]] = {"server's window": [], "system": [], "sections": []}
    made |= {kind: [] for kind in KINDS} | {
        "did not end": [],
        "an outage costs s": [],
        "at least, all counted s": [],
    }
    for name, told in SWEEPS.items():
        for system, transfers in phases.sweep(results, name).items():
            every = phases.met(transfers)
            made["server's window"].append(told)
            made["system"].append(setups.title(system))
            made["sections"].append(str(len(every)))
            for kind in KINDS:
                made[kind].append(_share(transfers, kind))
            made["did not end"].append(f"{phases.unfinished(transfers)} of {len(transfers)}")
            cost = stats.mean(phases.column(transfers, lambda t: t.cost_s))
            made["an outage costs s"].append(_mean(cost))
            least = stats.mean(phases.column(transfers, lambda t: t.least_cost_s))
            made["at least, all counted s"].append(f"{least.value:.2f}" if least.n else "no outage")
    return {"kinds over all phases": made}


def _share(transfers: list[Transfer], kind: str) -> str:
    """The mean share of a transfer's sections: those of one transfer are not independent."""
    hits, n = phases.share(transfers, lambda t, s: s.kind == kind)
    if hits in (0, n):
        # All alike: no more than so many of the transfers may differ.
        found = stats.proportion(len(transfers) if hits else 0, len(transfers))
    else:
        found = stats.mean(phases.each(transfers, lambda t, s: s.kind == kind))
    if not found.n:
        return "no section"
    if not isfinite(found.low):
        return f"{found.value:.0%}"
    return f"{found.value:.0%} ({max(0.0, found.low):.0%} to {min(1.0, found.high):.0%})"


def _mean(found: stats.Estimate) -> str:
    """A mean with half its interval, as far as they are known."""
    if not found.n:
        return "none ended"
    half = (found.high - found.low) / 2
    return f"{found.value:.2f}" + (f" ± {half:.2f}" if isfinite(half) else ", of one")


def drawing(results: Results) -> Iterator[Drawing]:
    found = phases.sweep(results)
    n = len(found["reno"])
    yield Drawing(
        "kinds-over-phases",
        f"Every section of {n} transfers of each system, the outages beginning anywhere in their period and "
        f"the air between 4.2 and 5.2 Mbps: when (OS X takes longer than is drawn), how many segments were "
        f"lost, and the kind.",
        lambda: drawings.over_phases(found, "kinds-over-phases"),
    )
    yield Drawing(
        "what-decides",
        "The same sections: right of the line more was under way than the air carries in one outage. There "
        "the repair begins as soon as the link is back; left of it the timer begins it.",
        lambda: drawings.what_decides(found, "what-decides"),
    )


def text(results: Results) -> str:
    found = phases.sweep(results)
    every = [t for transfers in found.values() for t in transfers]
    window, n = phases.share(every, lambda t, s: t.foretold(s))
    still, _ = phases.share(every, lambda t, s: s.still_sending == (s.kind == "without"))
    beyond, _ = phases.share(every, lambda t, s: (s.beyond_bytes > 0) == (s.kind == "without"))
    capped, free = (
        stats.known_mean(phases.each(phases.sweep(results, name)["reno"], lambda t, s: s.kind == "without"))
        for name in ("phases", "phases, free window")
    )
    wrong = [s.flight_bytes / setups.outage_bytes(t.mbps) for t, s in phases.met(every) if not t.foretold(s)]
    off = max((abs(ratio - 1) for ratio in wrong), default=0.0)
    cost = {
        name: stats.known_mean(phases.column(transfers, lambda t: t.cost_s))
        for name, transfers in found.items()
    }
    return f"""\
{len(found["reno"])} draws of phase and air rate, the same for all systems, with each of the server's windows
(fewer draws with the two others). Nothing here is random but where in the period the transfer begins.

**What tells the kinds apart**, over {n:,} sections:

- the sender was still sending when the link came back, the paper's words: right in {still / n:.0%};
- more was under way than the air carries in 200 ms: right in {window / n:.1%};
- something from beyond the hole was on its way before the repair: right in {beyond / n:.1%}.

The second is what the paper means with its window; where it errs, the two are within {off:.0%} of each other.
The first is wrong behind a deep queue: a sender with a full window stops when the ACKs stop, and has no time
lag all the same.

**Quickly** is a quarter of a second: an outage of 200 ms costs Reno {cost["reno"]:.2f} s, CUBIC
{cost["cubic"]:.2f} s, Westwood {cost["westwood"]:.2f} s, Windows {cost["windows7"]:.2f} s, and OS X
{cost["osx"]:.2f} s.

**The server's window** matters little as long as it is large: capped at 451,840 bytes or not, {capped:.0%}
and {free:.0%} of Reno's sections have no time lag. At 55,488 bytes none has.

{_not_ended(results)}

**Compound on or off makes no difference**: Windows 7's sender never has more than its 64 KiB buffer under
way, whatever its window says. With that buffer alone every section has a time lag, as in the paper, and the
server's window need not be small for it."""


def _not_ended(results: Results) -> str:
    """Those that the runs were too short for: a mean over the others is too low."""
    seconds = setups.lasts()
    left = [
        f"{n} of {len(transfers)} of {setups.title(system)} with the window {told}"
        for name, told in SWEEPS.items()
        for system, transfers in phases.sweep(results, name).items()
        if (n := phases.unfinished(transfers))
    ]
    if not left:
        return f"**All transfers ended** within the {seconds:g} s that a run lasts."
    return f"""\
**Some transfers did not end** within the {seconds:g} s that a run lasts: {"; ".join(left)}. They have no
duration. What an outage costs there is the mean over the others, too low therefore; the last column counts
them as if they had ended with their run, which is the least that they can have cost. All sections count."""


PARTS = [
    Part("Which reading gives the paper's sections", tables=tables_readings, text=text_readings),
    Part("Over all phases", drawings=drawing, tables=tables, text=text),
]
