"""`rexmit` alone: the commands of a first hour, in three groups. `rexmit help all` has every command."""

from __future__ import annotations

from textwrap import wrap

from rexmit.screen.wide import hanging, page_width

#: What somebody has, and the commands for it with what they do.
GROUPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "a capture",
        (
            ("rexmit FILE", "where the time of each transfer went, and why (rexmit analyze FILE)"),
            ("rexmit report FILE", "the same as one HTML file"),
            ("rexmit fit FILE", "what the path of a capture is like, and a scenario of it to simulate"),
            (
                "rexmit record -- COMMAND",
                "capture a transfer of this machine, and what its kernel says",
            ),
            ("rexmit wireshark", "findings as fields in Wireshark"),
            ("rexmit sample", "sample captures to try it with"),
        ),
    ),
    (
        "a simulation",
        (
            ("rexmit scenarios", "the scenarios that ship"),
            ("rexmit run NAME", "simulate one of them, or a scenario of your own, and analyze it"),
            ("rexmit compare RUN RUN", "two runs side by side"),
            ("rexmit stacks", "the TCP stacks that can be simulated"),
            ("rexmit channels", "the channels and queues that a link can have"),
        ),
    ),
    (
        "papers and sweeps",
        (
            ("rexmit study list", "the papers whose experiments can be run again"),
            ("rexmit study run NAME", "run them, and judge the paper's claims"),
            ("rexmit sweep NAME", "a scenario at every point of a grid, many times"),
            ("rexmit sql FOLDER QUERY", "query the results of a sweep in SQL"),
        ),
    ),
)

HELP = (
    ("rexmit help COMMAND", "its options and examples"),
    ("rexmit help all", "every command"),
    ("rexmit help causes", "what a transfer can lose time to"),
)


def lines(about: str) -> list[str]:
    """The whole page."""
    width = max(len(command) for _, group in GROUPS for command, _ in group)
    said = wrap(about.strip(), page_width())
    for name, group in GROUPS:
        said += ["", name]
        said += [line for command, does in group for line in hanging(f"  {command}", does, width + 4)]
    said.append("")
    for command, does in HELP:
        said += hanging(command, does, width + 4)
    return said
