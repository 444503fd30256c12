"""Figures as people write them: three significant digits, the unit beside them, never a lost zero."""

import re

_DURATION = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(ns|us|µs|ms|s|min|h)?\s*")
_SCALE = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds from `50ms`, `0.2`, `1.5s`, `2min`. Raises ValueError with the fix."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no length of time; write 0.2, 200ms, 1.5s or 2min")
    return float(match[1]) * _SCALE[match[2] or "s"]


_BYTES = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kKMGT]i?B|[kKMGT]|B)?\s*")
_BYTES_SCALE = {"": 1, "B": 1} | {
    unit: base**power
    for power, letter in enumerate("kMGT", 1)
    for unit, base in ((letter, 1000), (letter + "B", 1000), (letter + "iB", 1024))
}


def parse_bytes(text: str) -> int:
    """Bytes from `2GB`, `512MiB`, `1.5G`, `4096`. Raises ValueError with the fix."""
    match = _BYTES.fullmatch(text)
    unit = "" if match is None else (match[2] or "").replace("K", "k")
    value = 0 if match is None else int(float(match[1]) * _BYTES_SCALE[unit])
    if value < 1:
        raise ValueError(f"{text!r} is no amount of memory; write 500MB, 2GB or 1.5GiB")
    return value


def three(value: float) -> str:
    """Three significant digits without an exponent: 0.104, 1.41, 10.9, 212, 12,404."""
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.9995:
        return f"{value:.2f}"
    if size == 0:
        return "0"
    if size >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.00995 else f"{value:.2g}"


def count(value: int, one: str, many: str | None = None) -> str:
    """`1 burst`, `4 bursts`, `12,404 packets`."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def seconds(value: float) -> str:
    """A length of time: 21 ms, 0.31 ms, 1.41 s, 12 min 5 s."""
    size = abs(value)
    if size == 0:
        return "0 s"
    if size < 9.995e-4:
        if size >= 9.95e-6:
            return f"{value * 1e6:.0f} µs"
        return f"{value * 1e6:.1f} µs" if size >= 9.95e-7 else f"{value * 1e9:.0f} ns"
    if size < 0.9995:
        return f"{value * 1e3:.0f} ms" if size >= 0.00995 else f"{value * 1e3:.1f} ms"
    if size < 120:
        return f"{three(value)} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def plain_seconds(value: float) -> str:
    """A length of time in seconds with the digits of a cost: 0.10 s, 2.13 s, 104 s."""
    if abs(value) < 0.005:
        return "0.00 s"
    return f"{value:.2f} s" if abs(value) < 9.995 else f"{value:,.1f} s"


def size(value: float) -> str:
    """Bytes: 512 B, 55 kB, 10.0 MB (powers of 1000)."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(value) >= scale * 0.9995:
            return f"{three(value / scale)} {unit}"
    return f"{value:,.0f} B"


def rate(bits_per_second: float) -> str:
    """Bits per second: 10.9 Mbps, 1.20 Gbps, 56 kbps."""
    for unit, scale in (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3)):
        if abs(bits_per_second) >= scale * 0.9995:
            return f"{three(bits_per_second / scale)} {unit}"
    return f"{three(bits_per_second)} bps"


def percent(share: float) -> str:
    """A share of one: 12%, 1.3%, 0.04%."""
    value = share * 100
    if value >= 9.95:
        return f"{value:.0f}%"
    return f"{value:.1f}%" if value >= 0.095 or value == 0 else f"{value:.2g}%"
