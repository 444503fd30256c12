"""Two runs side by side."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rexmit as rx
from rexmit.cli import main
from rexmit.compared import episode_match, matching

OUTAGE = """
name = "pair"
duration = "20s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "10Mbps"
delay = "10ms"
queue = { kind = "droptail", packets = 50 }
[[link.channel]]
name = "dark"
kind = "outage"
schedule = { every = "2s", for = "150ms", phase = "700ms", anchor = "first-syn" }
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "file", size = "8MB" }
"""


def matched(first: Sequence[float], second: Sequence[float]) -> list[tuple[float | None, float | None]]:
    found = matching.nearest(np.array(first, float), np.array(second, float))
    return [(None if a is None else first[a], None if b is None else second[b]) for a, b in found]


def test_rows_are_matched_by_the_nearest_beginning_each_once() -> None:
    found = matched([1.0, 3.0], [1.2, 1.4, 9.0])
    assert found == [(1.0, 1.2), (None, 1.4), (3.0, None), (None, 9.0)]


def test_outages_on_a_beat_match_over_half_of_it() -> None:
    # Behind a deep queue the first lost packet was sent up to a second or two before the outage.
    found = matched([5.0, 10.0, 15.0], [6.9, 11.9, 16.9])
    assert found == [(5.0, 6.9), (10.0, 11.9), (15.0, 16.9)]


def test_no_pair_crosses_another() -> None:
    # By nearness alone 0.387 and 0.139 would be a pair across that of 0.142.
    found = matched([0.142, 0.384, 0.387], [0.139, 0.141, 0.383])
    assert found == [(None, 0.139), (0.142, 0.141), (0.384, 0.383), (0.387, None)]
    for first, second in ((range(5), [k / 3 for k in range(15)]), ([0.1, 0.2], [0.05, 0.15])):
        pairs = [pair for pair in matched(first, second) if None not in pair]
        assert pairs == sorted(pairs)
        assert [b for _, b in pairs] == sorted(b or 0.0 for _, b in pairs)
        assert pairs


def by_every_pair(first: Sequence[float], second: Sequence[float]) -> list[tuple[int, int]]:
    """What `nearest` has to find, by looking at every pair."""
    gaps = [b - a for times in (first, second) for a, b in pairwise(times)]
    near = max(
        matching.NEAR_S, *(min((b - a for a, b in pairwise(t)), default=0.0) / 2 for t in (first, second))
    )
    assert all(gap >= 0 for gap in gaps)
    chosen: list[tuple[int, int]] = []
    close = (
        (abs(a - b), i, k) for i, a in enumerate(first) for k, b in enumerate(second) if abs(a - b) <= near
    )
    for _, i, k in sorted(close):
        if all((a < i and b < k) or (a > i and b > k) for a, b in chosen):
            chosen.append((i, k))
    return sorted(chosen)


@pytest.mark.parametrize("seed", range(200))
def test_what_is_found_by_neighbours_is_what_every_pair_shows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = rng.choice([0.2, 3.0, 50.0])
    first, second = (np.sort(rng.uniform(0, scale, rng.integers(0, 25))).tolist() for _ in "ab")
    if seed % 3 == 0:  # some begin at the same time
        second = sorted({*second, *first[::2]})
    found = matching.nearest(np.array(first), np.array(second))
    assert [pair for pair in found if None not in pair] == by_every_pair(first, second), f"seed {seed}"
    assert sorted(a for a, _ in found if a is not None) == list(range(len(first)))
    assert sorted(b for _, b in found if b is not None) == list(range(len(second)))


def test_memory_grows_with_the_rows_and_not_with_their_pairs() -> None:
    # All within a second: 9 million pairs are near enough.
    first, second = (np.linspace(0, 1, 3000) + shift for shift in (0, 1e-5))
    tracemalloc.start()
    try:
        assert len(matching.nearest(first, second)) == 3000
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_equal_beginnings_are_matched_one_by_one() -> None:
    assert matched([1.0, 1.0, 5.0], [1.0, 1.0, 1.0]) == [(1.0, 1.0), (1.0, 1.0), (None, 1.0), (5.0, None)]


def test_of_a_live_run_the_largest_flow_counts(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    for node in ("a", "b", "c", "d"):
        (tmp_path / "captures" / f"{node}.pcapng").touch()

    def flow(
        name: str, ends: str, forward: int, back: int, stack: str | None = "rfc-sack"
    ) -> episode_match.Row:
        ways = {"forward": {"data_bytes": forward}, "back": {"data_bytes": back}}
        return {"flow": name, "from": ends[0], "to": ends[1], "stack": stack} | ways

    told = {"flows": [flow("small", "ab", 20, 0), flow("web", "cd", 5, 400), flow("udp", "ad", 900, 0, None)]}
    found = episode_match._captures(tmp_path, told)
    assert [path.stem for path in found] == ["d", "c"]
    (tmp_path / "captures" / "d.pcapng").unlink()
    with pytest.raises(ValueError, match=r"d\.pcapng: the capture at d is not there any more"):
        episode_match._captures(tmp_path, told)
    with pytest.raises(ValueError, match="no TCP connection in it carries data"):
        episode_match._captures(tmp_path, {"flows": [flow("udp", "ad", 900, 0, None)]})


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, episode_match.SideBySide]:
    path = tmp_path_factory.mktemp("beside") / "pair.toml"
    path.write_text(OUTAGE, encoding="utf-8")
    other = rx.run(path, set={"flow.up.stack": "rfc-tahoe"})
    return path, rx.compare(rx.run(path), other)


def test_a_run_beside_itself_differs_in_nothing(pair: tuple[Path, episode_match.SideBySide]) -> None:
    found = rx.compare(pair[0], pair[0])
    assert found.episodes
    assert all(p.first == p.second for p in found.episodes)
    assert found.costs.longer_s == 0
    assert "≠" not in found.page()
    assert "only" not in found.page()


def test_known_outages_are_named_on_the_page_and_in_the_figure(
    pair: tuple[Path, episode_match.SideBySide], tmp_path: Path
) -> None:
    page = pair[1].page()
    head = next(line for line in page.splitlines() if "repaired by" in line)
    assert head.endswith("  outage")
    both = [
        p.first["outage"]
        for p in pair[1].episodes
        if p.first and p.second and p.first["outage"] == p.second["outage"] is not None
    ]
    assert both[:2] == ["dark 0", "dark 1"]
    drawn = pair[1].figure().save(tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert drawn.count(">dark 0<") == 2


def test_the_same_outages_of_two_stacks_are_matched(pair: tuple[Path, episode_match.SideBySide]) -> None:
    found = pair[1]
    both = [p for p in found.episodes if p.first is not None and p.second is not None]
    assert len(both) >= 2
    for p in both:
        assert p.first is not None
        assert p.second is not None
        assert abs(p.first["start"] - p.second["start"]) < 0.5
    assert "flow.up.stack=rfc-tahoe" in found.page()
    assert found.costs.longer_s != 0


def test_the_folder_of_a_run_is_that_run(tmp_path: Path, pair: tuple[Path, episode_match.SideBySide]) -> None:
    assert main(["run", str(pair[0]), "--seed", "5", "--out", str(tmp_path / "r"), "--figures", "none"]) == 0
    again = rx.compare(tmp_path / "r", rx.run(pair[0], seed=5))
    assert all(p.first == p.second for p in again.episodes)


def test_the_command_prints_writes_and_draws(
    tmp_path: Path, pair: tuple[Path, episode_match.SideBySide], capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(pair[0])
    code = main(["compare", path, path, "--second-set", "flow.up.stack=rfc-tahoe", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert {"first", "second", "longer_s", "differences", "episodes", "bursts"} <= set(told)
    assert main(["compare", path, path, "--second-seed", "9", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "side-by-side.png").stat().st_size > 10_000
    assert json.loads((tmp_path / "comparison.json").read_text())["episodes"]


def test_what_is_no_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 2
    assert "no folder of a run" in capsys.readouterr().err
    capture = Path(__file__).parents[1] / "data" / "interruption.snd.pcap.gz"
    assert main(["compare", str(capture), str(capture), "--second-seed", "4"]) == 2
    assert "a capture is what it is" in capsys.readouterr().err
