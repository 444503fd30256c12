"""The closed sets: spelled once in the core, and whole wherever their values need a look of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rexmit.captured.episodes import REPAIRED_BY
from rexmit.figures.style import CAUSE_STYLE
from rexmit.screen.words import closed_sets

ROOT = Path(__file__).parents[2]
SCHEMA = (ROOT / "docs" / "json.schema.json").read_text()
DEFINITIONS = (ROOT / "docs" / "definitions.md").read_text()
#: Columns of tables.
IN_TABLES_ONLY = {"packet_class", "rtt_kind", "evidence", "needless_proof"}
JSON_PAGE = (ROOT / "docs" / "json.md").read_text()


def enums(node: Any) -> list[set[str]]:
    """Every `enum` of a JSON Schema, without null, and the keys of every object that has to have them all."""
    if isinstance(node, list):
        return [found for value in node for found in enums(value)]
    if not isinstance(node, dict):
        return []
    mine = [{v for v in node["enum"] if v is not None}] if "enum" in node else []
    if "required" in node:
        mine.append(set(node["required"]))
    return mine + [found for value in node.values() for found in enums(value)]


@pytest.mark.parametrize("name", sorted(set(closed_sets()) - IN_TABLES_ONLY))
def test_the_schema_has_each_set_whole(name: str) -> None:
    values = set(closed_sets()[name])
    assert values in enums(json.loads(SCHEMA)), name


@pytest.mark.parametrize("name", ["cause", "trigger", "episode_kind", "idle_cause", "finding"])
def test_the_documents_name_each_value(name: str) -> None:
    told = set(re.findall(r"`([a-z0-9-]+)`", DEFINITIONS + JSON_PAGE))
    assert set(closed_sets()[name]) <= told


def test_figures_draw_no_two_causes_alike() -> None:
    assert len(set(CAUSE_STYLE.values())) == len(closed_sets()["cause"])


def test_the_page_knows_each_kind_of_episode() -> None:
    # `ack` is said with what the ACKs carried.
    assert {*REPAIRED_BY, "ack"} == set(closed_sets()["episode_kind"])
