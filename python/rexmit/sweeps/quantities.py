"""Quantities of a scenario (`10ms`, `5Mbps`, `2%`, `3 SMSS`) as exact numbers, and back as such text."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from fractions import Fraction

NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
UNIT = r"[A-Za-zµ%]*"
#: Longest text that is read as a quantity, and the largest exponent. No value of a scenario is beyond these,
#: and exact arithmetic takes time and memory by the number of digits.
LONGEST, LARGEST_EXPONENT = 100, 300
_TEXT = re.compile(rf"\s*({NUMBER})\s*({UNIT})\s*")


@dataclass(frozen=True)
class Kind:
    """What is measured, how a column of its numbers ends, and the finest step that a scenario knows."""

    name: str
    suffix: str
    step: Fraction | None = None
    finest: str = ""


_TIME = Kind("time", "_s", Fraction(1, 10**9), "ns")
_RATE = Kind("rate", "_bps", Fraction(1), "bps")
_SIZE = Kind("size", "_bytes", Fraction(1), "B")
_PLAIN = Kind("number", "_number")
_KINDS: dict[str, tuple[Kind, Fraction]] = {
    "": (_PLAIN, Fraction(1)),
    "%": (_PLAIN, Fraction(1, 100)),
    "SMSS": (Kind("number of SMSS", "_smss"), Fraction(1)),
    "packets": (Kind("number of packets", "_packets"), Fraction(1)),
    "ns": (_TIME, Fraction(1, 10**9)),
    "us": (_TIME, Fraction(1, 10**6)),
    "µs": (_TIME, Fraction(1, 10**6)),
    "ms": (_TIME, Fraction(1, 1000)),
    "s": (_TIME, Fraction(1)),
    "min": (_TIME, Fraction(60)),
    "h": (_TIME, Fraction(3600)),
    "bytes": (_SIZE, Fraction(1)),
    "B": (_SIZE, Fraction(1)),
    **{f"{p}bps": (_RATE, Fraction(1000**k)) for k, p in enumerate(("", "k", "M", "G", "T"))},
    **{f"{p}B": (_SIZE, Fraction(1000**k)) for k, p in enumerate("kMGT", 1)},
    **{f"{p}iB": (_SIZE, Fraction(1024**k)) for k, p in enumerate("KMGT", 1)},
}


@dataclass(frozen=True)
class Quantity:
    """A number in its kind's own unit (s, bps, bytes, 1), and the unit that it was written with."""

    value: Fraction
    unit: str

    @property
    def kind(self) -> Kind:
        return _KINDS[self.unit][0]


def read(text: str) -> Quantity | None:
    """What a text says as a quantity; None if it is none."""
    match = _TEXT.fullmatch(text) if len(text) <= LONGEST else None
    if match is None or match[2] not in _KINDS:
        return None
    exponent = match[1].lower().partition("e")[2]
    if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
        return None
    found = Quantity(Fraction(match[1]) * _KINDS[match[2]][1], match[2])
    return found if abs(found.value) <= sys.float_info.max else None


def number(text: str) -> float:
    """A quantity in its kind's unit."""
    found = read(text)
    assert found is not None
    return float(found.value)


def write(value: Fraction, unit: str, digits: int) -> str:
    """A value in that unit with so many significant digits, in whole steps of what a scenario knows."""
    kind, scale = _KINDS[unit]
    value = _rounded(value / scale, digits) * scale
    if kind.step is not None:
        value = round(value / kind.step) * kind.step
    told = _decimal(value / scale)
    if told is None:
        # A third of a minute is no decimal fraction, and neither is a byte of a GiB a short one.
        unit = kind.finest
        told = _decimal(value / _KINDS[unit][1]) or "0"
    gap = " " if unit in ("SMSS", "packets", "bytes") else ""
    return f"{told}{gap}{unit}"


def whole(text: str) -> str:
    """A number without a unit as the nearest whole one."""
    found = read(text)
    assert found is not None
    return str(round(found.value))


def _rounded(value: Fraction, digits: int) -> Fraction:
    if value == 0:
        return value
    step = Fraction(10) ** (math.floor(math.log10(abs(value))) + 1 - digits)
    return round(value / step) * step


def _decimal(value: Fraction) -> str | None:
    """As a decimal fraction with twelve places at most; None if it is none."""
    scaled = value * 10**12
    if scaled.denominator != 1:
        return None
    sign = "-" if scaled < 0 else ""
    before, after = divmod(abs(scaled.numerator), 10**12)
    return f"{sign}{before}.{after:012d}".rstrip("0").rstrip(".")
