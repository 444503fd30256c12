"""What the paper says of its Figs. 2 to 11, held against ours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rexmit.screen.units import count
from rexmit_studies import own
from rexmit_studies.interruption import exchange, phases, readings, setups
from rexmit_studies.interruption.graphs import NAMED
from rexmit_studies.interruption.ladders import LONG_S, NONE, needs, three
from rexmit_studies.interruption.sections import IN_WORDS
from rexmit_studies.interruption.traces import ALL_46, trace
from rexmit_studies.paper import statements as said
from rexmit_studies.rows import all_tried, each_tried, seen
from rexmit_studies.study import Missing, Results, Statement

KEY = f"{setups.NAME}.statement."


def drawn() -> str:
    """The transfers of which a pattern is sought."""
    return f"over free {phases.drawn()}, the server's window set to 451,840 bytes"


def of_graphs(results: Results) -> Iterator[Statement | Missing]:
    """Figs. 2 to 8."""
    keys = [key for key in said(setups.NAME) if not key.startswith((KEY + "fig9", KEY + "fig1", KEY + "sev"))]
    yield from all_tried(keys, lambda: _graphs(results), NONE)


def of_ladders(results: Results) -> Iterator[Statement | Missing]:
    """Figs. 9 to 11."""
    keys = {
        "fig9_order": _fig9,
        "fig10_order": _fig10,
        "fig10_type": _fig10_type,
        "fig11_cycle": _fig11,
        "fig11_end": _fig11_end,
        "several_seconds": _seconds,
    }
    return each_tried(KEY, keys, results, NONE)


def _graphs(results: Results) -> Iterator[Statement]:
    every = phases.sweep(results)
    for name, system, drawing in (
        ("fig2_four", "reno", "fig2-reno"),
        ("fig4_cubic", "cubic", "fig4-cubic"),
        ("fig5_westwood", "westwood", "fig5-westwood"),
    ):
        wanted, whole = NAMED[system]
        hits = phases.with_pattern(every[system], wanted, whole)
        yield seen(KEY + name, hits, len(every[system]), drawn(), drawing=drawing)
    linux = [t for name in setups.LINUX for t in every[name]]
    right, n = phases.share(linux, lambda t, s: (s.beyond_bytes > 0) == (s.kind == "without"))
    yield Statement(
        KEY + "fig2_middle",
        f"in {right} of {n} sections of Linux something was sent behind the hole before the repair where "
        "there is no "
        "time lag, and nothing where there is one",
        right / n > 0.95 if n else None,
        drawing="fig2-reno",
    )
    yield _no_lag(linux)
    at_server = results["at server"].worst(1)[0]
    here = trace(results, "reno").sections
    holes = [int(b["seq_start"]) for b in at_server.bursts() if b["lost_segments"]]
    within = [[s.number for s in here if s.first_lost <= at < s.sent] for at in holes]
    there = {number for numbers in within for number in numbers}
    outside = sum(not numbers for numbers in within)
    yield Statement(
        KEY + "fig3_holes",
        f"holes are seen at the server in {len(there)} of the {count(len(here), 'section')} of the sender"
        + (f", and {outside} elsewhere" if outside else ""),
        len(there) == len(here) and not outside,
        drawing="fig3-reno-server",
    )
    windows = [t for name in setups.WINDOWS for t in every[name]]
    lag, n = phases.share(windows, lambda t, s: s.kind == "with")
    yield Statement(
        KEY + "fig6_windows",
        f"{lag} of {n} sections have a time lag, over free {phases.drawn()}",
        lag == n,
        drawing="fig6-windows",
    )
    yield from _windows(results)
    yield _smaller(results)
    osx = every["osx"]
    flat = sum(
        any(s.number == 2 and s.kind == "intermittent" and s.length_s > LONG_S for s in t.sections)
        for t in osx
    )
    yield seen(KEY + "fig8_flat", flat, len(osx), drawn(), drawing="fig8-osx")
    third = phases.with_pattern(osx, {"with": (3,)}, whole=False)
    yield seen(
        KEY + "fig8_more",
        third,
        len(osx),
        drawn(),
        rows=["interruption.sections.osx.with_time_lag"],
        drawing="fig8-osx",
    )


#: A silence of so much of an outage is one that a reader of the paper's graph would see.
SEEN = 0.1


def _no_lag(linux: list[phases.Transfer]) -> Statement:
    """How long the sender was silent before the first repair, by the kind of section."""
    silent = {
        kind: np.array([s.repair_s - s.last_sent_s for _, s in phases.met(linux) if s.kind == kind])
        for kind in ("without", "with")
    }
    at_once = int((silent["without"] < SEEN * setups.outage()).sum())
    found = {kind: f"{1e3 * np.median(x):.0f} ms" for kind, x in silent.items() if len(x)}
    less = f"{1e3 * SEEN * setups.outage():.0f} ms"
    told = [
        f"for {found['without']} in the median of the sections that the paper calls without time lag, and "
        f"for less than {less} in {at_once} of these {len(silent['without'])}"
        if "without" in found
        else "(no section is without time lag)",
        f"for {found['with']} in the median of those with one" if "with" in found else "(none has one)",
    ]
    return Statement(
        KEY + "fig2_no_lag",
        "before the first repair nothing is sent " + "; ".join(told),
        2 * at_once > len(silent["without"]) if len(silent["without"]) else None,
        drawing="fig9-reno-1",
    )


def _smaller(results: Results) -> Statement:
    reno, windows = (readings.free_window(results, name) for name in ("reno", "windows7"))
    return Statement(
        KEY + "fig7_smaller",
        f"left to itself the server offers Windows up to {windows:,} bytes, {setups.title('reno')} up to "
        f"{reno:,}",
        windows < reno / 2,
        drawing="fig7-windows",
    )


def _windows(results: Results) -> Iterator[Statement]:
    key = "interruption.advertised_window_bytes"
    for name, system, printed, row in (
        ("fig7_reno", "reno", setups.FIG7_LINUX, f"{key}.linux"),
        ("fig7_windows", "windows7", setups.FIG7_WINDOWS, f"{key}.windows7"),
    ):
        most = readings.free_window(results, system)
        yield Statement(
            KEY + name,
            f"left to itself the server offers up to {most:,} bytes; where the drawing has {printed:,}, "
            "that is set",
            most == printed,
            rows=[row],
            drawing="fig7-windows",
        )


def _fig9(results: Results) -> Statement:
    of = three(results)
    paced = exchange.paced_by_acks(of.reno, of.reno_1)
    return Statement(
        KEY + "fig9_order",
        f"{paced:.0%} of the retransmissions leave as an ACK comes, with {of.reno_1.timeouts} timeouts",
        paced == 1.0 and of.reno_1.timeouts == 0,
        rows=["interruption.episode.reno_1.trigger"],
        drawing="fig9-reno-1",
    )


def _fig10(results: Results) -> Statement:
    of = three(results)
    needs(of.reno_4, "with")
    opening = exchange.opening(of.reno, of.reno_4)
    return Statement(
        KEY + "fig10_order",
        ", ".join(opening),
        opening == ["timeout", "dsack", "new × 2", "duplicate", "resent"],
        rows=["interruption.episode.reno_4.trigger"],
        drawing="fig10-reno-4",
    )


def _fig10_type(results: Results) -> Statement:
    section = three(results).reno_4
    needs(section, "with")
    lag = "a time lag" if section.kind == "with" else f"is {IN_WORDS[section.kind]}"
    misprint = "; so it has by the paper's own section III and by its summary of IV.B: a misprint"
    return Statement(
        KEY + "fig10_type",
        f"it has {count(section.timeouts, 'timeout')}, and {lag}" + ("" if own.current() else misprint),
        section.kind == "without",
        drawing="fig10-reno-4",
    )


def _seconds(results: Results) -> Statement:
    slow = [s.length_s for _, s in phases.met(phases.sweep(results)["osx"]) if s.kind == "intermittent"]
    if not slow:
        raise ValueError("no section is intermittent")
    hits = sum(length <= LONG_S for length in slow)
    low, high = np.quantile(slow, (0.05, 0.95))
    return seen(
        KEY + "several_seconds",
        hits,
        len(slow),
        f"its intermittent sections last {low:.1f} to {high:.1f} s (5 to 95%); section III of the paper has "
        "more than ten, which several are not",
        of="sections",
    )


def _fig11(results: Results) -> Statement:
    whole = trace(results, ALL_46)
    same, n = exchange.cycles(whole, whole.sections[0])
    return Statement(
        KEY + "fig11_cycle",
        f"with 46 segments under way this lies between {same} of {n} pairs of timeouts"
        if n
        else f"with 46 segments under way {exchange.one_timeout(whole, whole.sections[0])}",
        n > 0 and same == n,
        rows=["interruption.episode.osx_2.cycle"],
        drawing="fig11-osx",
        scripted=True,
    )


def _fig11_end(results: Results) -> Statement:
    of = three(results)
    needs(of.osx_2, "intermittent")
    found = exchange.whole(of.osx, of.osx_2)
    fired = [i for i, e in enumerate(found) if e.what == "timeout"]
    after = found[fired[-1] + 1 :] if fired else []
    resent = sum(e.what == "resent" for e in after)
    with_sack = int(np.sum([e.what == "partial" for e in after]))
    return Statement(
        KEY + "fig11_end",
        f"behind the last timeout {with_sack} new ACKs carry SACK, and {resent} segments are sent again on "
        "ACKs",
        with_sack > 0 and resent > 0,
        drawing="fig11-osx",
    )
