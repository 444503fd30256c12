"""What a scenario sets, read from it as resolved: the rows of a paper's set-up stand on this."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.scenario import Scenario

#: Of the units that a scenario is resolved to, in bit/s, bytes and seconds.
UNITS = {
    "bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9,
    "bytes": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "KiB": 2.0**10, "MiB": 2.0**20,
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "packets": 1.0,
}  # fmt: skip


class Declared:
    """A scenario as resolved. Keys are those of overrides: `link.bottleneck.rate`,
    `stack.newreno.oneway.window`.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._whole: dict[str, Any] = tomllib.loads(scenario.to_toml())

    def __getitem__(self, key: str) -> Any:
        found: Any = self._whole
        while key:
            if isinstance(found, list):
                # Names may have dots in them.
                found = next(one for one in found if f"{key}.".startswith(f"{one['name']}."))
                key = key[len(found["name"]) + 1 :]
            else:
                part, _, key = key.partition(".")
                found = found[part]
        return found

    def number(self, key: str, unit: str = "") -> float:
        """A figure in bit/s, bytes, seconds or packets, or in the unit that is asked for."""
        value = self[key]
        found = float(value) if isinstance(value, int | float) else quantity(str(value))
        # 50 Mbps is fifty, not a little less.
        return round(found / (UNITS[unit] if unit else 1.0), 9)


def quantity(text: str) -> float:
    """`"11Mbps"` -> 11e6: bits per second, bytes, seconds or packets."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    unit = text[len(digits) :].strip()
    return float(digits) * (UNITS[unit] if unit else 1.0)
