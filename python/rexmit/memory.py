"""How much memory work may take: `--max-memory`, and what is free where nobody says."""

from __future__ import annotations

import os
from contextlib import suppress

from rexmit.screen.units import parse_bytes

#: Of what is free; the rest is for whatever else runs here.
SHARE = 0.75


def limit(max_memory: int | str | None = None) -> int | None:
    """Bytes: what is said (`"2GB"`, 2_000_000_000), or three quarters of what is free; None: not known.

    Raises ValueError for what is no amount of memory.
    """
    if max_memory is None:
        found = free()
        return None if found is None else int(found * SHARE)
    if isinstance(max_memory, str):
        return parse_bytes(max_memory)
    if isinstance(max_memory, bool) or max_memory <= 0:
        raise ValueError(f"max_memory = {max_memory!r}: bytes, above 0, or text such as '2GB'")
    return int(max_memory)


def free() -> int | None:
    """Bytes of memory that are free, within what a container may take; None: the system does not tell."""
    known = [n for n in (_available(), _left_in_container()) if n is not None]
    return min(known, default=None)


def _available() -> int | None:
    with suppress(OSError, ValueError, IndexError), open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _left_in_container() -> int | None:
    """cgroup v2: what it may take without what it takes; None where it has no limit."""
    from pathlib import Path

    folder = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):
        most, now = ((folder / name).read_text("ascii") for name in ("memory.max", "memory.current"))
        return max(int(most) - int(now), 0)
    return None
