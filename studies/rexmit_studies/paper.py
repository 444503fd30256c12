"""The papers' figures as facts: every number that a paper prints, under a stable key, with its digits."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rexmit_studies.study import Value

FACTS = Path(__file__).with_name("figures.toml")

#: Lists of numbers that are columns of a table: the column's name goes into the key.
COLUMNS = {
    "ns3.table3": ("throughput_mbps", "queueing_delay_s", "mean_cwnd_bytes", "occupancy_packets"),
    "wireless.table1": ("throughput_packets_s", "goodput", "transfer_time_s"),
    "wireless.table2": ("throughput_packets_s", "goodput", "transfer_time_s", "delay_s"),
    "selfsimilar.table2": ("arrived", "dropped", "retransmitted", "acks", "efficiency", "hurst"),
}


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it. decimals: digits behind the point; a list has as many entries."""

    value: Value
    text: str
    decimals: tuple[int, ...]


@dataclass(frozen=True)
class About:
    """A paper in the list of studies: its title, who wrote it, and one line on what it did."""

    title: str
    source: str
    about: str


def about(study: str) -> About:
    """What the facts say of a paper that ships with rexmit. It costs no import of the study."""
    facts = _facts()[study]
    return About(facts["title"], facts["source"], facts["about"])


def figures(study: str) -> dict[str, Value]:
    """Every figure of a paper by its key, which begins with the study's name: `rto.table1.1.fer`."""
    return {key: printed.value for key, printed in _printed(study).items()}


def claims(study: str) -> dict[str, str]:
    """The paper's claims by their keys, `rto.claim.cure`, each in a sentence."""
    found = _facts().get(study, {}).get("claim", {})
    return {f"{study}.claim.{name}": str(claim["text"]) for name, claim in found.items()}


def quote(key: str) -> str:
    """The paper's own words for a claim, a short quotation; empty: none is given."""
    study, _, name = key.partition(".claim.")
    return str(_facts().get(study, {}).get("claim", {}).get(name, {}).get("quote", ""))


@dataclass(frozen=True)
class Said:
    """What a paper says of one of its figures. figure: which. text: a paraphrase."""

    figure: str
    text: str


def statements(study: str) -> dict[str, Said]:
    """What a paper says of its figures, in the text or in the caption, by keys:
    `ns3.statement.fig5_rising`.
    """
    found = _facts().get(study, {}).get("statement", {})
    return {
        f"{study}.statement.{name}": Said(str(one["figure"]), str(one["text"])) for name, one in found.items()
    }


def printed(key: str) -> Printed:
    """One figure with its printed digits. Raises ValueError, with the nearest key, for one there is not."""
    known = _printed(key.partition(".")[0])
    if key not in known:
        near = next(iter(get_close_matches(key, known, 1, 0.0)), None)
        raise ValueError(f"{key} is no figure of the papers" + (f"; did you mean {near}?" if near else ""))
    return known[key]


def add(path: Path, study: str) -> None:
    """Adds the figures of a study that is none of the package's. Raises ValueError if the file has none."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=_Literal)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    if study not in found:
        raise ValueError(f"{path} has no table [{study}]")
    _facts()[study] = found[study]
    _printed.cache_clear()


@cache
def _facts() -> dict[str, Any]:
    return tomllib.loads(FACTS.read_text(encoding="utf-8"), parse_float=_Literal)


class _Literal(Decimal):
    """A number with its text, which Decimal would write its own way (1e-6 as 0.000001)."""

    text: str

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, text)
        made.text = text
        return made


@cache
def _printed(study: str) -> dict[str, Printed]:
    return {key: _as_printed(value) for key, value in _leaves(study, _facts().get(study, {}))}


def _leaves(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        key = f"{prefix}.{name}"
        if _is_remark(name, value):
            continue
        if isinstance(value, Mapping):
            yield from _leaves(key, value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for row in value:
                # The first key of a row names it.
                first, *others = row
                yield from _leaves(f"{key}.{row[first]}", {other: row[other] for other in others})
        elif isinstance(value, list) and prefix in COLUMNS:
            for column, one in zip(COLUMNS[prefix], value, strict=True):
                yield f"{key}.{column}", one
        else:
            yield key, value


def _is_remark(name: str, value: Any) -> bool:
    """What the facts say about themselves, the claims, and the statements. A table called `note` holds the
    paper's own.
    """
    if isinstance(value, Mapping):
        return name in ("claim", "statement") or name.endswith("_note")
    return name in ("title", "source", "about") or "note" in name or name.endswith("_text")


def _as_printed(value: Any) -> Printed:
    if isinstance(value, list):
        parts = [_as_printed(one) for one in value]
        whole: Any = tuple(part.value for part in parts)
        return Printed(whole, ", ".join(p.text for p in parts), tuple(d for p in parts for d in p.decimals))
    if isinstance(value, bool):
        return Printed(value, "yes" if value else "no", (0,))
    if isinstance(value, _Literal):
        return Printed(float(value), value.text, (max(0, -int(value.as_tuple().exponent)),))
    return Printed(value, str(value), (0,))
