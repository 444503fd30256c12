"""`rexmit` alone: the commands of a first hour, in three groups. `rexmit help all` has every command."""

from __future__ import annotations

#: What somebody has, and the commands for it with what they do.
GROUPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "a capture",
        (
            ("rexmit FILE", "where the time of each transfer went, and why: rexmit analyze FILE"),
            ("rexmit report FILE", "the same as one HTML file"),
            ("rexmit fit FILE", "what its path is like, and a scenario of it to run"),
            (
                "rexmit record -- COMMAND",
                "capture a transfer of this machine, and what its kernel says",
            ),
            ("rexmit wireshark", "findings as fields in Wireshark"),
            ("rexmit sample", "captures to try it with"),
        ),
    ),
    (
        "a simulation",
        (
            ("rexmit scenarios", "the scenarios there are"),
            ("rexmit run NAME", "simulate one, or a file of your own, and say the same of it"),
            ("rexmit compare RUN RUN", "two runs side by side"),
            ("rexmit stacks", "the TCP stacks there are"),
            ("rexmit channels", "what links can do to packets"),
        ),
    ),
    (
        "papers and sweeps",
        (
            ("rexmit study list", "the papers whose experiments can be run again"),
            ("rexmit study run NAME", "run them, and judge the paper's claims"),
            ("rexmit sweep NAME", "a scenario at every point of a grid, many times"),
            ("rexmit sql FOLDER QUERY", "ask the results of a sweep"),
        ),
    ),
)


def lines(about: str) -> list[str]:
    """The whole page."""
    width = max(len(command) for _, group in GROUPS for command, _ in group)
    said = [about.strip()]
    for name, group in GROUPS:
        said += ["", name, *(f"  {command:<{width}}  {does}" for command, does in group)]
    return [
        *said,
        "",
        f"{'rexmit help COMMAND':<{width + 2}}  its options and examples",
        f"{'rexmit help all':<{width + 2}}  every command",
        f"{'rexmit help causes':<{width + 2}}  what a transfer can lose time to",
    ]
