"""What limits a transfer: the classes of validation/limits.py on fixed seeds, and the words for it."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexmit import figures
from rexmit.captured import limited

sys.path.insert(0, str(Path(__file__).parents[2] / "validation"))
import limits

# Ten for each vantage point: fresh seeds are validation's.
SEEDS = range(7000, 7010)


@cache
def said(at: str) -> list[limits.Said]:
    return list(limits.simulated(SEEDS, (at,)))


@pytest.mark.parametrize("at", limits.POINTS)
def test_the_largest_limit_is_the_one_it_was_made_to_have(at: str) -> None:
    wrong = [(s.made.seed, s.made.kind, s.most, s.share) for s in said(at) if not s.right]
    assert not wrong, f"validation/limits.py --seed {SEEDS.start} --transfers {len(SEEDS)} -v repeats them"


@pytest.mark.parametrize(("at", "most"), [("sender", 0.10), ("both", 0.10), ("receiver", 0.30)])
def test_little_of_the_time_is_open(at: str, most: float) -> None:
    assert sum(s.open for s in said(at)) / len(SEEDS) <= most


def test_times_add_up_to_the_nanosecond_and_bytes_to_what_was_delivered() -> None:
    for s in said("both"):
        limits.exact(s.flow)
        assert sum(part["bytes"] for part in s.flow["limited_by"]) == s.flow["acked_bytes"], s.made.seed
    for s in said("sender"):
        assert sum(part["bytes"] for part in s.flow["limited_by"]) == s.flow["bytes"], s.made.seed


def part(limit: str, detail: str, seconds: float, bps: float = 1e6) -> dict[str, Any]:
    delivered = int(bps * seconds / 8)
    return {"limit": limit, "detail": detail, "seconds": seconds, "bytes": delivered, "bps": bps}


FLOW: dict[str, Any] = {
    "sender": "10.0.0.1:5000",
    "receiver": "10.0.0.2:80",
    "vantage": "sender",
    "limited_by": [
        part("loss", "small-window", 6.0),
        part("application", "done", 60.0, 0.0),
        part("loss", "repairing", 1.0),
        part("start", "slow-start", 0.97),
        part("network", "bottleneck-full", 0.03),
    ],
    "path": {
        "could_bps": 47.3e6,
        "known_by": "full",
        "reached_bps": 3.3e6,
        "allowed": {"least_bps": 3.1e6, "most_bps": 3.1e6, "rule": "reno"},
    },
}


def test_the_line_of_the_page_names_the_largest_first_and_leaves_out_what_came_after_the_transfer() -> None:
    assert limited.line(FLOW) == (
        "by loss 88% (7.00 s: window kept small, repairing), by start 12% (0.97 s: first slow start)"
    )


def test_what_losses_cost_stands_against_what_the_path_could_carry() -> None:
    assert limited.path_line(FLOW) == (
        "could carry 47.3 Mbps (what came through while a queue stood), carried 3.30 Mbps; "
        "such losses and round trips allow Reno 3.10 Mbps"
    )
    quiet = FLOW | {"limited_by": [part("network", "bottleneck-full", 8.0)]}
    assert limited.path_line(quiet) == ""


def test_the_bar_is_as_long_as_the_transfer() -> None:
    [ax] = figures.limits(FLOW).fig.axes
    bars = {p.get_gid(): p.get_width() for p in ax.patches}
    assert bars == pytest.approx({"limit-loss": 7.0, "limit-start": 0.97, "limit-network": 0.03})
    assert ax.get_xlim()[1] == pytest.approx(8.0)


def test_a_label_stands_within_its_part_of_the_bar() -> None:
    """Each part is told of where it is wide enough, and over its neighbours nowhere."""
    parts = [part("network", "bottleneck-full", 3.5), part("application", "nothing-to-send", 1.8)]
    parts += [part("open", "late-ack", 1.8), part("sender", "buffer", 0.7), part("start", "handshake", 0.2)]
    fig = figures.limits(FLOW | {"limited_by": parts}).fig
    fig.draw_without_rendering()
    [ax] = fig.axes
    edges = np.cumsum([0.0, *(p["seconds"] for p in parts)])
    told = [t for t in ax.texts if t.get_text()]
    assert len(told) >= 4
    for text in told:
        box = text.get_window_extent().transformed(ax.transData.inverted())
        at = np.searchsorted(edges, (box.x0 + box.x1) / 2)
        assert edges[at - 1] <= box.x0 < box.x1 <= edges[at], text.get_text()
        assert -0.3 < box.y0 < box.y1 < 0.3, text.get_text()
