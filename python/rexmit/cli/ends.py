"""`--sender` and `--receiver`: two captures of one transfer, in the place of one."""

from __future__ import annotations

import argparse


def check(o: argparse.Namespace, named: list[str]) -> str | None:
    """What is wrong with them; None where nothing is.

    named: captures without such an option. Beside `--receiver` alone they are taken as the sender's.
    """
    several = isinstance(o.receiver, list)
    if o.receiver and o.sender is None and named and (several or len(named) == 1):
        o.sender = list(named) if several else named[0]
        named.clear()
    if (o.sender is None) != (o.receiver is None):
        missing = "--receiver" if o.receiver is None else "--sender"
        return f"two captures of one transfer need both --sender and --receiver; {missing} is missing"
    if o.sender and named:
        return f"{named[0]}: name a capture, or --sender and --receiver, not all three"
    return None
