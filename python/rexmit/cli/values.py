"""Values of options: text to what it means, or one sentence about what is wrong with it."""

from __future__ import annotations

import argparse

from rexmit.screen.units import parse_bytes, parse_duration

#: The largest number that an option takes.
MOST = 10**9
#: Runs that one command makes, at most.
MOST_RUNS = 1_000_000


def duration(text: str) -> float:
    """`60s` in seconds."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive(text: str) -> int:
    """A whole number from 1 up."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 up")
    if value > MOST:
        raise argparse.ArgumentTypeError(f"{text} is too many: {MOST:,} at most")
    return value


def port(text: str) -> int:
    """A TCP port."""
    value = positive(text)
    if value > 65_535:
        raise argparse.ArgumentTypeError(f"{value} is no port; ports end at 65535")
    return value


def pair(text: str) -> tuple[str, str]:
    """`key=value`."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} sets nothing; write key=value, like link.air.rate=5Mbps")
    return key.strip(), value.strip()


def seed(text: str) -> int:
    """A random seed."""
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a whole number from 0 up")
    return int(text)


def memory(text: str) -> int:
    """`2GiB` in bytes."""
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def seeds(text: str) -> list[int]:
    """`1-100`, `3,7,9`, or both: the seeds of an argument."""
    chosen: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise argparse.ArgumentTypeError(f"{text!r} says no seeds; write 1-100, or 3,7,9")
        ends = int(first), int(last) if dash else int(first)
        if ends[1] < ends[0] or ends[1] >= 2**63:
            raise argparse.ArgumentTypeError(f"{part.strip()!r} is no range of seeds: the first comes first")
        if len(chosen) + ends[1] - ends[0] >= MOST_RUNS:
            raise argparse.ArgumentTypeError(f"{text!r} says too many seeds: {MOST_RUNS:,} at most")
        chosen += range(ends[0], ends[1] + 1)
    return chosen
