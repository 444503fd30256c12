"""Every figure draws what its tables say, and stays small however long the flow is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure as MplFigure
from matplotlib.text import Annotation

from rexmit import figures
from rexmit.captured import ladder
from rexmit.figures import Figure, thin
from rexmit.frame import Frame
from story import Story, arrow


@pytest.fixture(scope="module")
def parts(frames: dict[str, Frame]) -> dict[str, Any]:
    return {
        "flow": frames["flows"].rows()[0],
        "episodes": frames["episodes"].rows(),
        "bursts": frames["bursts"].rows(),
    }


def by_gid(figure: Figure, gid: str, axes: int = 0) -> list[Any]:
    return [a for a in figure.fig.axes[axes].get_children() if a.get_gid() == gid]


def shaded(figure: Figure, axes: int = 0) -> int:
    found = by_gid(figure, "episodes", axes)
    assert all(isinstance(c, PolyCollection) for c in found)
    return sum(len(c.get_paths()) for c in found)


def numbers(figure: Figure, axes: int = 0) -> list[str]:
    return sorted(t.get_text() for t in by_gid(figure, "episode-number", axes))


def texts(figure: Figure, gid: str) -> list[str]:
    return [t.get_text() for t in by_gid(figure, gid)]


def test_time_sequence_shows_losses_causes_and_numbered_episodes(
    story: Story, frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.time_sequence(frames["packets"], parts["episodes"], parts["bursts"], parts["flow"])
    assert shaded(figure) == 2
    assert numbers(figure) == ["(1)", "(2)"]
    [bars] = [c for c in by_gid(figure, "data") if isinstance(c, LineCollection)]
    assert len(bars.get_segments()) == 3000, "each segment once, retransmissions apart"
    assert by_gid(figure, "again-timeout")[0].get_xydata().shape == (2, 2)
    [lost] = by_gid(figure, "lost")
    times = [t for t, _ in story.lost]
    assert np.isin(np.round(lost.get_xdata(), 6), np.round(times, 6)).all()
    labels = [t.get_text() for t in figure.fig.axes[0].get_legend().get_texts()]
    assert labels == ["ACK", "SACK", "data", "lost", "again: recovery", "again: timeout", "again: loss-state"]


def test_a_part_of_it_shows_the_episodes_in_view_only(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.time_sequence(
        frames["packets"], parts["episodes"], parts["bursts"], parts["flow"], start=2.0, end=4.0
    )
    assert numbers(figure) == ["(2)"]


def test_at_the_receiver_holes_are_drawn_where_they_showed(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    flow = parts["flow"] | {"vantage": "receiver"}
    figure = figures.time_sequence(frames["packets"], parts["episodes"], parts["bursts"], flow)
    assert not by_gid(figure, "lost")
    [holes] = by_gid(figure, "hole")
    assert len(holes.get_segments()) == 2


def test_throughput_adds_up_to_the_bytes_of_the_flow(
    story: Story, frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.throughput(frames["intervals"], parts["episodes"], parts["flow"], interval=1.0)
    drawn = {s.get_label(): s.get_data() for s in figure.fig.axes[0].patches}
    new = drawn["of it new data"]
    # The last second is not filled: its bar is as wide as what is left of the flow.
    assert (new.values * np.diff(new.edges)).sum() * 1e6 / 8 == pytest.approx(story.segments * 1448)
    assert (drawn["sent"].values >= new.values - 1e-9).all()
    assert shaded(figure) == 2


def test_rtt_stands_against_time_and_against_sequence(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.rtt(frames["rtt"], parts["episodes"], parts["flow"])
    assert [ax.get_xlabel().split(" (")[0] for ax in figure.fig.axes] == [
        "time since the first packet of the capture",
        "sequence number",
    ]
    largest = max(line.get_ydata().max() for line in by_gid(figure, "rtt-ack"))
    assert largest == pytest.approx(frames["rtt"]["rtt_s"].max() * 1e3), "the extremes survive the thinning"
    assert not by_gid(figure, "rtt-timestamps"), "no samples, no legend"


def test_without_a_sample_the_figure_says_so(frames: dict[str, Frame], parts: dict[str, Any]) -> None:
    none = frames["rtt"].where(frames["rtt"]["time"] < 0)
    figure = figures.rtt(none, parts["episodes"], parts["flow"])
    assert [t.get_text() for t in figure.fig.axes[0].texts] == ["no round trip can be seen from here"]


def test_repairs_count_every_retransmission(
    story: Story, frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.repairs(
        frames["intervals"], frames["retransmissions"], parts["episodes"], parts["flow"], interval=1.0
    )
    upper, lower = figure.fig.axes
    assert sum(p.get_height() for p in lower.patches) == len(story.retransmissions)
    assert sum(p.get_height() for p in upper.patches) == frames["intervals"]["duplicate_acks"].sum()
    assert shaded(figure, 0) == shaded(figure, 1) == 2


def test_window_shows_what_is_allowed_and_what_is_under_way(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.window(frames["packets"], parts["episodes"], parts["flow"])
    [flight], [window] = by_gid(figure, "flight"), by_gid(figure, "window")
    assert flight.get_ydata().max() == pytest.approx(frames["packets"]["flight_bytes"].max() / 1e3)
    assert set(window.get_ydata()) == {451.84}


def test_a_window_far_above_the_flight_gets_a_panel_of_its_own(
    frames: dict[str, Frame], parts: dict[str, Any], story: Story
) -> None:
    import pyarrow as pa

    table = pa.table(story.tables()["packets"])
    wide = table.set_column(
        table.schema.get_field_index("window_bytes"), "window_bytes", pa.array([12_000_000] * len(table))
    )
    figure = figures.window(Frame(wide, frames["packets"].origin_ns), parts["episodes"], parts["flow"])
    assert len(figure.fig.axes) == 2


def test_idle_gaps_have_a_lane_for_each_cause_with_its_sum(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.idle_gaps(frames["idle"], parts["episodes"], parts["flow"])
    ax = figure.fig.axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["waiting for a timer", "waiting for ACKs"]
    said = [t.get_text() for t in ax.texts]
    assert "2 gaps, 936 ms" in said
    assert "1 gap, 141 ms" in said
    assert "624 ms" in said


def test_a_flow_that_was_never_idle_says_so(frames: dict[str, Frame], parts: dict[str, Any]) -> None:
    none = frames["idle"].where(frames["idle"]["start"] < 0)
    figure = figures.idle_gaps(none, [], parts["flow"])
    assert "never idle for longer than the threshold" in [t.get_text() for t in figure.fig.axes[0].texts]


def test_the_ladder_draws_arrows_bands_crosses_and_silences(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    exchange = ladder.build(
        frames["packets"], parts["episodes"][1], parts["bursts"], parts["flow"], frames["retransmissions"]
    )
    figure = figures.ladder(exchange)
    assert len(texts(figure, "label")) == len(exchange.steps)
    assert len(by_gid(figure, "band")) == sum(s.folded for s in exchange.steps)
    assert len(by_gid(figure, "lost")) == sum(s.lost for s in exchange.steps) == 2
    assert texts(figure, "silence") == ["no data sent for 312 ms", "no data sent for 624 ms"]
    assert figure.name == "ladder-2"


def test_no_two_labels_of_one_side_overlap(frames: dict[str, Frame], parts: dict[str, Any]) -> None:
    for episode in parts["episodes"]:
        figure = figures.ladder(
            ladder.build(
                frames["packets"], episode, parts["bursts"], parts["flow"], frames["retransmissions"]
            )
        )
        for side in ("left", "right"):
            heights = sorted(t.get_position()[1] for t in by_gid(figure, "label") if t.get_ha() == side)
            assert min(np.diff(heights)) > 0.9


def test_time_goes_down_on_both_sides_of_a_ladder(frames: dict[str, Frame], parts: dict[str, Any]) -> None:
    exchange = ladder.build(
        frames["packets"], parts["episodes"][0], parts["bursts"], parts["flow"], frames["retransmissions"]
    )
    figure = figures.ladder(exchange)
    ax = figure.fig.axes[0]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    arrows = [t for t in ax.texts if isinstance(t, Annotation) and t.arrow_patch is not None]
    heights = [(a.xyann[1], a.xy[1]) for a in arrows if a.xyann[0] != a.xy[0]]
    assert len(heights) == sum(not s.folded for s in exchange.steps)
    assert all(head > tail for tail, head in heights)


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_a_long_flow_gives_a_small_file(
    form: str, tmp_path: Path, parts: dict[str, Any], frames: dict[str, Frame]
) -> None:
    n = 400_000
    rng = np.random.default_rng(7)
    rows = {
        "time": np.sort(rng.uniform(0, 60, n)),
        "data": np.arange(n) % 3 > 0,
        "len": np.where(np.arange(n) % 3 > 0, 1448, 0),
        "seq": np.arange(n) * 1448,
        "ack": np.where(np.arange(n) % 3 > 0, -1, np.arange(n) * 1448 - 90_000),
    }
    import pyarrow as pa

    table = pa.table(
        {
            "time": pa.array((rows["time"] * 1e9).astype("int64")).cast(pa.timestamp("ns", tz="UTC")),
            **{name: pa.array(rows[name]) for name in ("data", "len", "seq", "ack")},
            "dsack": pa.array(np.zeros(n, dtype=bool)),
            "cause": pa.array([None] * n, pa.string()),
            "flight_bytes": pa.array(rng.integers(0, 90_000, n)),
            "window_bytes": pa.array(rng.integers(60_000, 65_535, n)),
        }
    )
    frame = Frame(table)
    for figure in (
        figures.time_sequence(frame, [], [], parts["flow"]),
        figures.window(frame, [], parts["flow"]),
    ):
        path = figure.save(tmp_path / f"{figure.name}.{form}")
        assert 1_000 < path.stat().st_size < 1_500_000


def test_the_same_figure_gives_the_same_bytes(
    tmp_path: Path, frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    for form in ("svg", "pdf"):
        pictures = [
            figures.throughput(frames["intervals"], parts["episodes"], parts["flow"])
            .save(tmp_path / f"{i}.{form}")
            .read_bytes()
            for i in range(2)
        ]
        assert pictures[0] == pictures[1]


def test_another_ending_is_refused_by_name(
    tmp_path: Path, frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    figure = figures.throughput(frames["intervals"], parts["episodes"], parts["flow"])
    with pytest.raises(ValueError, match=r"x\.gif: a figure ends in \.png, \.svg or \.pdf"):
        figure.save(tmp_path / "x.gif")


def test_the_callers_settings_stay_as_they_were(frames: dict[str, Frame], parts: dict[str, Any]) -> None:
    with mpl.rc_context({"font.size": 23}):
        figures.throughput(frames["intervals"], parts["episodes"], parts["flow"])
        assert mpl.rcParams["font.size"] == 23


def test_without_a_display_show_names_the_mend(
    monkeypatch: pytest.MonkeyPatch, frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    monkeypatch.setattr(mpl, "get_backend", lambda: "Agg")
    figure = figures.throughput(frames["intervals"], parts["episodes"], parts["flow"])
    with pytest.raises(RuntimeError, match=r"save the figure instead, \.save\('throughput\.png'\)"):
        figure.show()


def test_with_a_display_show_opens_a_window(
    monkeypatch: pytest.MonkeyPatch, frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.backend_bases import FigureManagerBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    opened: list[Any] = []

    class Manager(FigureManagerBase):
        @classmethod
        def pyplot_show(cls, *, block: bool | None = None) -> None:
            opened.extend(plt.get_fignums())

    class Canvas(FigureCanvasAgg):
        manager_class = Manager  # type: ignore[assignment]

    backend = ModuleType("display")
    backend.FigureCanvas = Canvas  # type: ignore[attr-defined]
    backend.FigureManager = Manager  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "display", backend)
    before = mpl.get_backend()
    try:
        plt.switch_backend("module://display")
        figures.throughput(frames["intervals"], parts["episodes"], parts["flow"]).show()
        assert len(opened) == 1
    finally:
        plt.close("all")
        plt.switch_backend(before)


def test_thinning_keeps_the_extremes_of_every_bin() -> None:
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 1, 200_000))
    y = rng.normal(size=200_000)
    y[123_456] = 40
    keep = thin.extremes(x, y, bins=500)
    assert len(keep) <= 2000
    assert 123_456 in keep
    assert y.argmin() in keep
    assert {0, len(x) - 1} <= set(keep.tolist())


def test_thinning_by_cells_leaves_one_point_where_many_fall_together() -> None:
    x = np.repeat([0.0, 1.0, 2.0], 1000)
    y = np.repeat([5.0, 6.0, 5.0], 1000)
    assert thin.cells(x, y).tolist() == [0, 1000, 2000]
    assert thin.cells(np.array([]), np.array([])).tolist() == []


def test_frames_count_nanoseconds_from_their_origin() -> None:
    table = arrow([{"time": 0.000000001, "cause": None}, {"time": 86_400.5, "cause": "timeout"}])
    frame = Frame(table, 1_700_000_000_000_000_000)
    assert frame["time"].tolist() == [1e-9, 86_400.5]
    # Clocks that jump by years are met in old captures.
    assert Frame(table, 0)["time"].tolist() == [1_700_000_000.000000001, 1_700_086_400.5]
    some = Frame(arrow([{"end": None}, {"end": 2.0}]), 1_700_000_000_000_000_000)
    assert np.isnan(some["end"][0])
    assert some["end"][1] == 2.0
    assert frame.equals("cause", "timeout").tolist() == [False, True]


def test_a_bar_of_throughput_is_as_wide_as_the_time_it_counts() -> None:
    from rexmit.figures.throughput import bars

    # Intervals of 1 s from 0, 1 and 4 s; the flow lasts from 0.5 to 4.25 s, and nothing passed from 2 to 4 s.
    edges, which = bars(np.array([0.0, 1.0, 4.0]), 1.0, 0.5, 4.25)
    assert edges.tolist() == [0.5, 1.0, 2.0, 4.0, 4.25]
    assert which.tolist() == [0, 1, -1, 2]


def test_outages_are_hatched_where_they_are_sure_and_pale_where_they_may_be(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    sure = {"begin_earliest_s": 0.4, "begin_latest_s": 0.5, "end_earliest_s": 0.7, "end_latest_s": None}
    vague = {"begin_earliest_s": 0.1, "begin_latest_s": 2.0, "end_earliest_s": 1.3, "end_latest_s": 2.2}
    outages = {"each": [sure, vague], "starts_s": [0.45, 1.5], "length_s": 0.2, "period_s": 2.5}
    figure = figures.time_sequence(
        frames["packets"], parts["episodes"], parts["bursts"], parts["flow"], outages=outages
    )
    spans = [(b.get_x(), b.get_x() + b.get_width()) for b in by_gid(figure, "outage")]
    assert np.allclose(spans, [(0.5, 0.7), (1.5, 1.7)])
    labels = figure.fig.axes[0].get_legend_handles_labels()[1]
    assert "outage, every 2.50 s" in labels
    plain = figures.time_sequence(frames["packets"], parts["episodes"], parts["bursts"], parts["flow"])
    assert by_gid(plain, "outage") == []


def test_neighbouring_episodes_have_two_shades(frames: dict[str, Frame], parts: dict[str, Any]) -> None:
    figure = figures.time_sequence(frames["packets"], parts["episodes"], parts["bursts"], parts["flow"])
    [shade] = by_gid(figure, "episodes")
    assert len({tuple(colour) for colour in shade.get_facecolor()}) == 2


def test_the_smallest_round_trip_at_the_receiver_is_no_answer_of_that_host(parts: dict[str, Any]) -> None:
    table = pa.table(
        {
            "time": pa.array([1.0, 1.1, 1.2, 1.3]),
            "seq": pa.array([0, 1448, 2896, 4344]),
            "kind": pa.array(["ack", "timestamps", "ack", "timestamps"]).dictionary_encode(),
            "rtt_s": pa.array([2e-6, 0.0403, 41e-3, 0.0612]),
        }
    )
    for vantage, smallest in (("receiver", "40.3"), ("sender", "0.002")):
        figure = figures.rtt(Frame(table, 0), [], parts["flow"] | {"vantage": vantage})
        legend = figure.fig.axes[0].get_legend() or figure.fig.legends[0]
        said = [t.get_text() for t in legend.get_texts()]
        assert f"smallest: {smallest} ms" in said
        assert ("this host's answers" in said) == (vantage == "receiver")


def test_an_axis_of_counts_is_one_where_nothing_was_counted(
    frames: dict[str, Frame], parts: dict[str, Any]
) -> None:
    intervals = frames["intervals"]
    quiet = intervals.where(np.arange(len(intervals)) < 1)
    none = frames["retransmissions"].where(np.zeros(len(frames["retransmissions"]), dtype=bool))
    for ax in figures.repairs(quiet, none, [], parts["flow"]).fig.axes:
        assert ax.get_ylim() == (0, 1)


def test_what_was_needless_has_a_ring(frames: dict[str, Frame], parts: dict[str, Any]) -> None:
    again = frames["retransmissions"]
    figure = figures.time_sequence(
        frames["packets"], parts["episodes"], parts["bursts"], parts["flow"], retransmissions=again
    )
    rings = by_gid(figure, "needless")
    assert sum(len(r.get_xdata()) for r in rings) == int(again["needless"].sum())


def share(cause: str, seconds: float, by: str | None = None) -> dict[str, Any]:
    return {"cause": cause, "by": by, "seconds": seconds}


def bar(flow: dict[str, Any], *causes: dict[str, Any]) -> MplFigure:
    return figures.causes(flow | {"answer": {"causes": list(causes)}}).fig


def test_a_cause_that_nobody_can_see_in_the_bar_is_not_in_its_legend(parts: dict[str, Any]) -> None:
    for seconds, shown in ((0.004, 1), (0.006, 2)):
        fig = bar(parts["flow"], share("outage", 1 - seconds), share("delayed-ack", seconds, "server"))
        [legend] = fig.legends
        assert len(legend.get_texts()) == shown
        [ax] = fig.axes
        assert ax.patches[0].get_width() + ax.patches[1].get_width() == pytest.approx(1)


def test_the_bar_has_each_cause_as_long_as_its_time_and_names_it(parts: dict[str, Any]) -> None:
    fig = bar(
        parts["flow"], share("slow-start", 0.97), share("outage", 7.0), share("sender-idle", 0.03, "server")
    )
    [ax] = fig.axes
    bars = {p.get_gid(): p.get_width() for p in ax.patches}
    expected = {"cause-outage": 7.0, "cause-slow-start": 0.97, "cause-sender-idle (server)": 0.03}
    assert bars == pytest.approx(expected)
    assert list(bars) == list(expected), "the longest first"
    assert ax.get_xlim()[1] == pytest.approx(8.0)
    [legend] = fig.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "an outage: 7.00 s, 88%",
        "slow start: 0.97 s, 12%",
    ]


def test_causes_of_one_colour_are_told_apart(parts: dict[str, Any]) -> None:
    [ax] = bar(parts["flow"], share("outage", 3.0), share("loss-random", 2.0), share("mtu", 1.0)).axes
    looks = {(p.get_facecolor(), p.get_hatch()) for p in ax.patches}
    assert len(looks) == 3


def test_a_label_stands_within_its_part_of_the_bar(parts: dict[str, Any]) -> None:
    """Each part is told of where it is wide enough, and over its neighbours nowhere."""
    shares = [share("bottleneck", 3.5), share("sender-idle", 1.8, "client"), share("cannot-tell", 1.6)]
    shares += [share("send-window", 0.7), share("delayed-ack", 0.2)]
    fig = bar(parts["flow"], *shares)
    fig.draw_without_rendering()
    [ax] = fig.axes
    edges = np.cumsum([0.0, *(each["seconds"] for each in shares)])
    told = [t for t in ax.texts if t.get_text()]
    assert len(told) >= 3
    for text in told:
        box = text.get_window_extent().transformed(ax.transData.inverted())
        at = np.searchsorted(edges, (box.x0 + box.x1) / 2)
        assert edges[at - 1] <= box.x0 < box.x1 <= edges[at], text.get_text()
        assert -0.3 < box.y0 < box.y1 < 0.3, text.get_text()


def test_without_an_answer_the_bar_is_empty_and_says_so(parts: dict[str, Any]) -> None:
    [ax] = figures.causes(parts["flow"] | {"answer": None}).fig.axes
    assert not ax.patches
    assert [text.get_text() for text in ax.texts] == ["no answer"]
