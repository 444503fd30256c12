"""Section III: the sequence graphs of Figs. 2 to 6 and 8, the windows of Fig. 7, and the sections in them."""

from __future__ import annotations

from collections.abc import Iterator

from rexmit_studies import own
from rexmit_studies.declared import Declared, quantity
from rexmit_studies.interruption import drawings, phases, readings, setups
from rexmit_studies.interruption.sections import Kind
from rexmit_studies.interruption.traces import FIG7_WINDOWS, sequence_graph, trace, traced
from rexmit_studies.rows import exact, fitted, given, setup, shown, stated
from rexmit_studies.study import Drawing, Results, Row

#: Why the file has 10 MiB.
LARGER = (
    "set in the scenario; the fourth section of the paper's Reno loses segments from byte 10,060,305 on, so "
    "that 10^7 bytes are too few"
)


def rows_setup(results: Results) -> Iterator[Row]:
    reno = trace(results, "reno")
    key, declared = "interruption.setup", setups.declared()
    size = int(reno.flow["bytes"])
    whole = size == declared.number("flow.upload.workload.size") == setups.FILE_BYTES
    told = f"{declared['flow.upload.workload.size']}, {size:,} bytes"
    what = "set in the scenario" if own.current() else LARGER
    yield given(stated(f"{key}.file", told, whole, what, "the scenario has another file"))
    yield fitted(
        exact(
            f"{key}.first_interruption_s_about",
            setups.down(setups.FITTED_PHASE_S, setups.period(), setups.PERIOD_S)[0][0],
            "fitted to the first byte lost in Reno (1), 1967433; elsewhere free",
            "s",
        )
    )
    schedule = declared[setups.SCHEDULE]
    regular = "every" in schedule
    lasts = declared.number(f"{setups.SCHEDULE}.for", "ms") if regular else None
    every = declared.number(f"{setups.SCHEDULE}.every") if regular else None
    yield given(exact(f"{key}.interruption_ms", lasts, "set in the scenario"))
    yield given(exact(f"{key}.period_s", every, "set in the scenario"))
    both = declared["link.wire.channel.interruption.direction"] == "both"
    yield setup(f"{key}.both_directions", both, "set in the scenario: data and ACKs")
    air = f"{setups.air_mbps():g}" if setups.air_mbps() else "4.2 to 5.3"
    yield stated(
        f"{key}.wireless",
        f"a link of {air} Mbps with a queue of {declared.number(setups.QUEUE):g} packets, before the bridge",
        False,
        "set in the scenario",
        "the air's frames, its contention and its own repeats are not simulated: the paper gives neither its "
        "rate nor its delay, only a trace that is steady between interruptions",
    )
    wire = (str(declared["link.wire.rate"]), str(declared["link.wire.framing"]))
    same = declared.number("link.wire.rate") == 1e9 and quantity(wire[1]) == ETHERNET_BYTES
    yield given(stated(f"{key}.wired", ", ".join(wire), same, "set in the scenario", "another link is set"))
    yield given(
        exact(
            f"{key}.mss",
            int(reno.flow["mss"]),
            "payload of a full segment, Linux and OS X: set in the stacks",
            "B",
        )
    )
    yield from _equipment(declared)


def _equipment(declared: Declared) -> Iterator[Row]:
    """Table I: systems are stacks, and no hardware is simulated."""
    key, by_age = "interruption.equipment", ", as Ubuntu 10.04 shipped it"
    what = "Table I: the stack that stands for it"
    linux = [setups.stack(name) for name in setups.LINUX]
    same = all(name.startswith("linux-2.6") for name in linux)
    names = ", ".join(linux) + (by_age if same else "")
    yield given(stated(f"{key}.pc_linux", names, same, what, "another stack is set"))
    yield given(stated(f"{key}.pc_windows", setups.STACKS["windows7"], True, what))
    yield given(stated(f"{key}.pc_mac", setups.STACKS["osx"], True, what))
    server = str(declared["flow.upload.receiver"])
    yield given(stated(f"{key}.server", server, server.startswith("linux"), what, "another server is set"))
    yield stated(
        f"{key}.hardware",
        "not simulated",
        False,
        "Table I: processors and memory",
        "simulated hosts answer at once: at 5 Mbps a processor of 2 GHz has 2 ms for each packet",
    )


def rows(results: Results) -> Iterator[Row]:
    yield from rows_setup(results)
    yield from _linux(results)
    yield from _windows7(results)
    yield from _osx(results)
    yield from _windows(results)


def _windows(results: Results) -> Iterator[Row]:
    uncapped = f"the most that the server offers, left to itself at a steady {setups.rate(5.2)}"
    reno, windows = (readings.free_window(results, name) for name in ("reno", "windows7"))
    yield exact(
        "interruption.advertised_window_bytes.linux",
        reno,
        uncapped,
        "B",
        why="twice what arrives in a round trip, and with a queue of 1000 packets that grows until the first "
        "interruption, to a multiple of the paper's 451,840; what stopped the paper's is not known: "
        "of the memory that a segment takes in the server the window knows steps of two (590,784 bytes, "
        "295,424), and none of them is it. The readings that need it cap the window at 451,840",
    )
    yield exact(
        "interruption.advertised_window_bytes.windows7",
        windows,
        uncapped,
        "B",
        why="without timestamps the server takes the time in which a whole window comes for a round trip, "
        "and a sender that stops at 64 KiB fills none: its estimate is too long, and the window doubles on; "
        "with buffers of 16 KiB it stands at 55,488 before it is tuned (see Fig. 7 below)",
    )


#: The sections that the paper names of each system, by kind; whether it names all of them.
NAMED: dict[str, tuple[dict[Kind, tuple[int, ...]], bool]] = {
    "reno": ({"without": (1, 2, 3), "with": (4,)}, True),
    "cubic": ({"with": (1, 2, 4), "without": (3,)}, True),
    "westwood": ({"without": (1,), "with": (2,)}, False),
    "osx": ({"intermittent": (2,), "with": (3,)}, False),
}
#: The kinds by the words of the paper's figures.
WORDS: dict[Kind, str] = {
    "without": "without_time_lag",
    "with": "with_time_lag",
    "intermittent": "intermittent",
}
#: What Ethernet adds to a packet: preamble 8, header 14, checksum 4, gap 12.
ETHERNET_BYTES = 38


def patterns(results: Results, system: str, why: str) -> Iterator[Row]:
    """What the paper names of a system's sections, all of it in one transfer, over free draws."""
    wanted, whole = NAMED[system]
    every = phases.sweep(results)[system]
    hits = phases.with_pattern(every, wanted, whole)
    told = ", ".join(f"({n})" for kind in wanted for n in wanted[kind])
    which = "the sections are these and no others" if whole else f"{told} are as the paper has them"
    for kind in wanted:
        key = f"interruption.sections.{system}.{WORDS[kind]}"
        where = (
            f"{phases.drawn()}, nothing fitted, the server's window set to 451,840 bytes, in which {which}"
        )
        yield shown(key, hits, len(every), where, why)


def _linux(results: Results) -> Iterator[Row]:
    every = phases.sweep(results)["cubic"]
    two = phases.with_pattern(every, {"with": (1, 2)}, whole=False)
    yield from patterns(results, "reno", "the window after three halvings is seldom so small at the fourth")
    yield from patterns(
        results,
        "cubic",
        f"HyStart ends slow start early, so that (1) and (2) have a time lag in {two} of {len(every)} runs; "
        "from (3) on the window is about what the air carries in 200 ms, and which of the two is larger "
        "changes from one phase to the next",
    )
    yield from patterns(results, "westwood", "its window is seldom small enough so early")


def _windows7(results: Results) -> Iterator[Row]:
    key = "interruption.sections.windows7"
    every = [t for name in setups.WINDOWS for t in phases.sweep(results)[name]]
    first = phases.with_pattern(every, {"with": (1,)}, whole=False)
    yield shown(
        f"{key}.with_time_lag",
        first,
        len(every),
        f"{phases.drawn()} in which (1) has a time lag, as the paper names it",
        "(1) has no time lag",
    )
    hits, n = phases.share(every, lambda t, s: s.kind == "with")
    yield stated(
        f"{key}.only",
        f"with_time_lag in {hits} of {n} sections",
        hits == n,
        "every section of every phase, Compound on and off",
        f"{n - hits} sections are of another kind",
    )
    whole = [all(s.kind == "with" for _, s in phases.met([t])) for t in every]
    yield stated(
        f"{key}.further_runs_all_with_time_lag",
        f"{sum(whole)} of {len(whole)}",
        all(whole),
        "transfers all of whose sections have a time lag; the paper ran three more",
        "some transfers have a section of another kind",
    )


def _osx(results: Results) -> Iterator[Row]:
    every = phases.sweep(results)["osx"]
    some = [t for t in every if any(s.kind == "intermittent" for s in t.sections)]
    second = sum(any(s.kind == "intermittent" and s.number == 2 for s in t.sections) for t in every)
    late = sum(s.kind == "with" for _, s in phases.met(every))
    third = [s.flight_bytes for _, s in phases.met(every) if s.number == 3] or [0]
    slowest, fastest = (setups.outage_bytes(mbps) for mbps in phases.air())
    yield from patterns(
        results,
        "osx",
        f"{len(some)} of {len(every)} transfers have an intermittent section, in {second} it is the second; "
        "a timer begins (3) only if less is under way than the air carries in 200 ms, "
        f"{slowest:,.0f} to {fastest:,.0f} bytes, and here {min(third):,} to {max(third):,} are; and where a "
        f"timer does begin the repair the defect shows ({late} sections with a plain lag over all phases): "
        "for a plain lag the round trip after the interruption must be longer than SRTT, and behind an empty "
        "queue it never is; what made it so for the paper's (3) is not known",
    )


def drawing(results: Results) -> Iterator[Drawing]:
    reno = trace(results, "reno")
    yield Drawing(
        "fig2-reno",
        "Fig. 2: Reno at the sender. Three sections without time lag, the fourth with one.",
        reno.graph,
    )
    yield Drawing(
        "fig3-reno-server",
        "Fig. 3: the same transfer captured at the server: where the holes are. Why something was sent again "
        "can only be guessed there.",
        lambda: sequence_graph(results["at server"].worst(1)[0], reno.phase_s, reno.period_s),
    )
    yield _cubic(results)
    told = {
        "fig4-cubic-plain": (
            "cubic-plain",
            "Fig. 4 without HyStart: CUBIC's window at the first interruption is as large as Reno's, and no "
            "section has a time lag.",
        ),
        "fig5-westwood": ("westwood", "Fig. 5: Westwood. After the first section its window is small."),
        "fig6-windows": ("windows7", "Fig. 6: Windows 7. Every section has a time lag."),
        "fig8-osx": (
            "osx",
            "Fig. 8: OS X 10.7. The last section is intermittent; it ends after the next interruption.",
        ),
    }
    for name, (system, caption) in told.items():
        yield Drawing(name, caption, trace(results, system).graph)
    yield Drawing(
        "fig7-windows",
        "Fig. 7: what the server offers Reno and Windows. Neither comes about by itself: Reno's window is "
        "capped "
        "where the paper's ends; for Windows the server has a card with buffers of 16 KiB and does not tune, "
        "which was chosen since it gives 55,488 bytes. Left alone it offers Windows more than Reno.",
        lambda: drawings.windows(
            {setups.title("reno"): reno, "Windows 7": trace(results, FIG7_WINDOWS)},
            {setups.title("reno"): setups.FIG7_LINUX, "Windows 7": setups.FIG7_WINDOWS},
            "fig7-windows",
        ),
    )
    yield Drawing(
        "fig7-reno-flight",
        "Fig. 7, Reno: the window that is offered and what is under way.",
        reno.flow.window,
    )


def _as_fig4(results: Results) -> phases.Transfer | None:
    """CUBIC's first draw that has the paper's sections, which Fig. 4 shows."""
    wanted, whole = NAMED["cubic"]
    drawn = phases.sweep(results)["cubic"]
    return next((t for t in drawn if phases.with_pattern([t], wanted, whole)), None)


def _cubic(results: Results) -> Drawing:
    """The first draw that has the paper's sections, if any has."""
    draw = _as_fig4(results)
    if draw is None:
        told = (
            "Fig. 4: CUBIC. None of the draws has the paper's sections; this is the transfer of the figures."
        )
        return Drawing("fig4-cubic", told, trace(results, "cubic").graph)
    at, mbps = draw.phase_s, draw.mbps
    told = (
        "Fig. 4: CUBIC in the first draw that has the paper's sections: the first interruption at "
        f"{at:.2f} s, {mbps:.2f} Mbps. (1), (2) and (4) have a time lag, (3) has none."
    )
    drawn = {**setups.server(setups.FIG7_LINUX), **setups.steady(mbps, at)}
    return Drawing("fig4-cubic", told, lambda: traced("cubic", drawn, at).graph())


def tables(results: Results) -> dict[str, dict[str, list[str]]]:
    made: dict[str, list[str]] = {
        "system": [], "section": [], "kind": [], "lost": [], "ACKs lost": [], "timeouts": [],
        "in flight B": [], "first repair after the link's return s": [], "repaired after s": [],
    }  # fmt: skip
    shown = {setups.title(name): trace(results, name).sections for name in setups.SYSTEMS}
    if draw := _as_fig4(results):
        # Fig. 4 shows another transfer than the other figures.
        shown["CUBIC, the transfer of Fig. 4"] = draw.sections
        shown["CUBIC, air and phase of the other figures"] = shown.pop(setups.title("cubic"))
    for name, found in shown.items():
        for s in found:
            row = (name, f"({s.number})", s.kind, str(s.lost), str(s.lost_acks),
                   str(s.timeouts), f"{s.flight_bytes:,}", f"{s.lag_s:.3f}", f"{s.length_s:.2f}")  # fmt: skip
            for column, value in zip(made.values(), row, strict=True):
                column.append(value)
    return {"the sections of the figures": made}


def text(results: Results) -> str:
    reno = trace(results, "reno").sections
    first, last = reno[0], reno[-1]
    off = last.first_lost - setups.FIT_FOURTH_LOST
    carried = setups.outage_bytes(setups.FITTED_MBPS[1])
    under_way = [f"{s.flight_bytes:,}" for s in reno]
    return f"""\
The paper does not say how fast its air was, but its numbers do. 88 packets lost in 200 ms are 5.28 Mbps. At
that rate the first lost byte, 1,967,433, meets an outage that begins at 3.1 s, which is where Fig. 2 has it.
The fourth section begins at byte 10,060,305, three periods later: no more than 4.32 Mbps on average, so that
the air must have slowed. And Fig. 7 says how far the server's window went.

**The transfer of the figures** puts these together: 5.28 Mbps until the first interruption and
{setups.FITTED_MBPS[1]:g} behind it, the first at {setups.FITTED_PHASE_S:g} s, the server's window no larger
than 451,840 bytes. Three numbers are fitted: both rates and the phase; what they are fitted to are the 88
packets and the two bytes at which sections begin (here they begin {off:+d} bytes away, less than a segment).
Kinds, counts, windows and the exchange of packets are not. They come out like this: Reno has four sections,
(1), (2) and (3) without time lag and (4) with one, as in the paper. {first.lost} segments are lost in (1),
{last.lost} in (4), where the paper has 88 and 58.

**Why the fourth is different.** Each section halves Reno's window: {", ".join(under_way)}
bytes were under way at the four repairs. The air carries {carried:,.0f} bytes in 200 ms. The fourth window is
less than that, and is lost as a whole."""
