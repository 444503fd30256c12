"""What is said of live runs whose bridge kept no time; no bench is needed for it."""

from __future__ import annotations

from typing import Any

import pytest

from rexmit.cli import main
from rexmit.compared import differences
from rexmit.compared.differences import Difference, Profile
from rexmit.running.late import banner, is_withheld, missed

LATE: dict[str, Any] = {
    "missed": [
        {"figure": "late_p99_s", "value": 0.52, "bar": 0.0001},
        {"figure": "overload", "value": 3, "bar": 0},
    ],
    "accepted": False,
}


def test_a_bar_that_was_missed_is_named_with_its_figure() -> None:
    assert missed(LATE) == [
        "the latest hundredth of the packets left 520 ms late or later (bar 100 µs)",
        "the machine lost 3 packets on its own",
    ]
    assert is_withheld(LATE)
    told = banner(LATE)
    assert told is not None
    assert told.startswith("NOT IN TIME: the latest hundredth")
    assert "no verdict" in told


def test_who_accepts_a_late_run_is_told_all_the_same() -> None:
    accepted = LATE | {"accepted": True}
    assert not is_withheld(accepted)
    assert "as --accept-late asks" in (banner(accepted) or "")


@pytest.mark.parametrize("bridge", [None, {}, {"missed": [], "accepted": False}])
def test_a_run_in_time_and_a_simulated_one_have_no_banner(bridge: dict[str, Any] | None) -> None:
    assert banner(bridge) is None
    assert not is_withheld(bridge)


def test_nothing_is_put_down_to_what_differs_from_a_late_run() -> None:
    common: dict[str, Any] = dict.fromkeys(Profile.__dataclass_fields__, 0) | {"causes_s": {}}
    a, b = (
        Profile(
            **(common | {"name": name, "bytes": 10_000, "duration_s": took, "throughput_bps": 8e4 / took})
        )
        for name, took in (("a", 1.0), ("b", 3.0))
    )
    judged, withheld = (
        differences.of_profiles(a, b, ["known  bottleneck: b"]),
        differences.of_profiles(a, b, ["known  bottleneck: b"], ["late"]),
    )
    costs = [d.cost_s for d in judged.differences]
    assert any(cost is not None for cost in costs)
    assert all(isinstance(d, Difference) and d.cost_s is None for d in withheld.differences)
    assert not withheld.answer
    page = differences.page(withheld)
    assert page[:2] == ["late", ""]
    assert withheld.as_json()["withheld"] == ["late"]


def test_accept_late_is_of_live_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "x.toml", "--accept-late"]) == 2
    assert "--accept-late is of live runs" in capsys.readouterr().err


class Some:
    """Two live runs that were counted, the second of them late; what `cli.runs.summary` reads of `Runs`."""

    name, bench, planned, failure = "upload", "live", 2, None

    def __init__(self, late: dict[int, list[str]]) -> None:
        keys = ("goodput_bps", "duration_s", "data_packets", "resent_packets", "timeouts")
        self._rows = [
            {"run": run, "seed": run + 1, "flow": "up", "stack": "linux", "connections": 1, "ended": 1}
            | {"end": "done"}
            | dict.fromkeys(keys, value)
            for run, value in enumerate((1e6, 9e6))
        ]
        way = {"link": "l", "direction": "forward", "offered": 10, "lost": 1}
        self._ways = [{"run": run} | way for run in range(2)]
        self.late = late

    def _flow_rows(self) -> list[dict[str, Any]]:
        return self._rows

    def _link_rows(self) -> list[dict[str, Any]]:
        return self._ways

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize(("accept", "mean"), [(False, 1e6), (True, 5e6)])
def test_of_many_runs_a_late_one_is_told_and_left_out_of_the_figures(accept: bool, mean: float) -> None:
    from rexmit.cli import runs as many

    runs: Any = Some({1: missed(LATE)})
    found = many.summary(runs, accept_late=accept)
    assert found["flows"][0]["goodput_bps"]["mean"] == mean
    assert [late["seed"] for late in found["late"]] == [2]
    told = [line for line in many.page(found) if "NOT IN TIME" in line]
    assert len(told) == 1
    assert "seed 2: the latest hundredth" in told[0]
    assert ("left out" in told[0]) is not accept


def test_of_many_runs_none_of_which_was_in_time_there_is_no_figure() -> None:
    from rexmit.cli import runs as many

    runs: Any = Some({0: missed(LATE), 1: missed(LATE)})
    lines = many.page(many.summary(runs))
    assert lines[-1] == "no run was in time, so there is no figure to tell"
    assert sum("NOT IN TIME" in line for line in lines) == 2
