"""`rexmit fit`: paths that are known are given back from what a capture at the sender shows of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from rexmit import cli
from rexmit.fitted.value import binomial_below, proportion

RATE, DELAY = 10e6, 0.02


def scenario(queue: int = 40, size: str = "6MB", **link: Any) -> dict[str, Any]:
    """10 Mbps and 40 ms there and back."""
    path = {"name": "path", "between": ["a", "b"], "rate": "10Mbps", "delay": "20ms"}
    path |= {"queue": {"kind": "droptail", "packets": queue}} | link
    flow = {"name": "flow", "from": "a", "to": "b", "stack": "linux-6-cubic", "receiver": "linux-6-cubic"}
    flow |= {"workload": {"kind": "file", "size": size}}
    whole = {"name": "known", "duration": "60s", "seed": 3, "node": [{"name": "a"}, {"name": "b"}]}
    return whole | {"link": [path], "flow": [flow]}


def channel(kind: str, **keys: Any) -> list[dict[str, Any]]:
    return [{"name": "channel", "kind": kind, "direction": "forward"} | keys]


def fitted(whole: dict[str, Any]) -> rx.Fit:
    return rx.fit(rx.run(whole, at="sender", tables=("rtt",)))


def test_rate_delay_and_queue_of_a_full_path_and_no_loss_process() -> None:
    found = fitted(scenario())
    values = found.values
    assert values["rate"].value == pytest.approx(RATE, rel=0.01)
    assert not values["rate"].at_least
    assert values["base_rtt"].value == pytest.approx(2 * DELAY, rel=0.02)
    assert values["queue"].value == pytest.approx(40, abs=2)
    assert found.losses.kind == "queue"
    assert found.losses.lost["queue"] >= 5
    assert found.losses.lost["process"] <= 2


def test_random_losses_lie_in_their_interval_and_are_no_queue() -> None:
    found = fitted(scenario(queue=200, channel=channel("random", loss=0.01)))
    loss = found.values["loss"]
    assert found.losses.kind == "random"
    assert loss.low < 0.01 < loss.high
    assert found.alternatives[0]["kind"] == "random"


def test_losses_in_bursts_have_their_length() -> None:
    bursts = channel("gilbert-elliott", mean_loss=0.01, mean_burst="4 packets")
    found = fitted(scenario(queue=200, size="10MB", channel=bursts))
    assert found.losses.kind == "gilbert-elliott"
    assert found.values["mean_burst"].value == pytest.approx(4, rel=0.4)


@pytest.mark.parametrize(
    ("burst", "likelier"), [("4 packets", "gilbert-elliott"), ("5ms", "gilbert-elliott-time")]
)
def test_bursts_of_packets_and_of_a_time_are_alternatives_with_weights(burst: str, likelier: str) -> None:
    bursts = channel("gilbert-elliott", mean_loss=0.01, mean_burst=burst)
    alternatives = fitted(scenario(queue=200, size="10MB", channel=bursts) | {"seed": 2}).alternatives
    assert alternatives[0]["kind"] == likelier
    assert sum(a["weight"] for a in alternatives) == pytest.approx(1)


def test_random_losses_beside_a_full_queue_are_told_from_its_own() -> None:
    whole = scenario(queue=20, size="10MB", channel=channel("random", loss=0.004))
    found = fitted(whole | {"seed": 5})
    over, loss = found.capacity.over, found.values["loss"]
    assert over is not None
    assert over.beside is not None
    assert found.losses.lost["queue"] >= 5
    assert found.losses.kind == "random"
    assert loss.low <= 0.004 <= loss.high


def test_where_data_arrives_timestamps_show_the_queue() -> None:
    run = rx.run(scenario(size="6MB"), at="receiver", tables=("rtt",))
    found = rx.fit(run)
    assert found.losses.kind == "queue"
    assert found.values["queue"].value == pytest.approx(40, rel=0.2)


def test_packets_that_are_held_show_where_they_arrive() -> None:
    gone = channel("outage", schedule={"intervals": [["1500ms", "150ms"], ["4s", "150ms"]]}, hold=True)
    whole = scenario(queue=400, channel=[gone[0] | {"direction": "both"}])
    held = rx.fit(rx.run(whole, at="receiver", tables=("rtt",))).interruptions.held
    assert [round(h.start, 1) for h in held] == [1.5, 4.0]
    assert all(h.low - 0.005 <= 0.15 <= h.high + 0.005 for h in held)


def test_a_policer_has_its_rate_and_its_bucket() -> None:
    found = fitted(
        scenario(size="3MB", channel=channel("policer", rate="2Mbps", burst="100kB", at="ingress"))
    )
    assert found.losses.kind == "policer"
    assert found.values["policer_rate"].value == pytest.approx(2e6, rel=0.01)
    assert found.values["bucket"].value == pytest.approx(100e3, rel=0.05)


def test_a_queue_is_the_account_that_its_drops_fit_and_makes_packets_wait_for_as_long() -> None:
    over = fitted(scenario(queue=20, size="9MB")).capacity.over
    assert over is not None
    assert not over.policer
    assert over.rate == pytest.approx(RATE, rel=0.005)
    # The queue's packets, and the one that is being sent.
    assert over.limit == pytest.approx(21 * 1500, rel=0.05)
    assert over.explained > 0.8


def test_random_losses_fit_no_account() -> None:
    assert fitted(scenario(queue=200, channel=channel("random", loss=0.01))).capacity.over is None


@pytest.mark.parametrize("held", [False, True])
def test_outages_begin_and_end_when_they_do_and_held_packets_are_none(held: bool) -> None:
    gone = channel("outage", schedule={"intervals": [["1500ms", "150ms"], ["4s", "150ms"]]}, hold=held)
    found = fitted(scenario(queue=400, channel=[gone[0] | {"direction": "both"}]))
    spans = found.interruptions.held if held else found.interruptions.outages
    others = found.interruptions.outages if held else found.interruptions.held
    assert [round(s.start, 1) for s in spans] == [1.5, 4.0]
    assert all(s.low - 0.005 <= 0.15 <= s.high + 0.005 for s in spans)
    assert not others


def test_where_nothing_filled_the_path_the_rate_is_a_lower_bound() -> None:
    whole = scenario()
    whole["flow"][0]["workload"] = {
        "kind": "request-response",
        "request": "500B",
        "response": "800B",
        "requests": 60,
    }
    found = fitted(whole)
    assert found.values["rate"].at_least
    assert found.values["rate"].value < RATE
    assert found.values["queue"].value is None
    assert found.hosts.workload["kind"] == "request-response"


def shared(hidden: bool) -> dict[str, Any]:
    """Two transfers over one link of 10 Mbps; the second one from another host, if it is hidden."""
    whole = scenario(size="5MB")
    whole["node"] += [{"name": "c"}, {"name": "m"}]
    path = whole["link"][0] | {"between": ["m", "b"]}
    wires = [{"name": f"wire-{n}", "between": [n, "m"], "rate": "1Gbps", "delay": "10us"} for n in "ac"]
    whole["link"] = [*wires, path]
    other = whole["flow"][0] | {"name": "other", "from": "c" if hidden else "a", "start": "1s"}
    whole["flow"].append(other | {"workload": {"kind": "file", "size": "4500kB"}})
    return whole


def test_a_neighbour_that_the_capture_does_not_have_is_no_smaller_rate_and_no_loss_process() -> None:
    found = fitted(shared(hidden=True))
    rate, queue = found.values["rate"], found.values["queue"]
    assert found.capacity.shared
    assert rate.at_least or rate.low <= RATE <= rate.high
    assert rate.value <= 1.01 * RATE
    assert queue.value is None or queue.at_least
    assert found.losses.kind == "queue"


def test_a_neighbour_in_the_capture_is_a_flow_of_the_scenario() -> None:
    found = fitted(shared(hidden=False))
    assert found.values["rate"].value == pytest.approx(RATE, rel=0.02)
    assert 'name = "other-1"' in found.scenario_text
    assert "duration" not in found.check(2).not_given_back


@pytest.mark.parametrize("at", ["sender", "receiver"])
def test_packets_that_came_late_show_at_both_ends(at: Any) -> None:
    late = channel("reorder", probability=0.01, by="5ms")
    found = rx.fit(rx.run(scenario(queue=200, channel=late), at=at, tables=("rtt",)))
    share, by = found.values["reordered"], found.values["reordered_by"]
    assert share.low <= 0.01 <= share.high
    # A packet takes 1.2 ms: the one behind it comes so much later.
    assert by.value == pytest.approx(0.0038, abs=0.0005)
    assert "probability" in found.scenario_text


def test_acks_that_were_lost_show_with_both_captures_only(tmp_path: Path) -> None:
    lost = {"name": "acks", "kind": "random", "direction": "back", "loss": 0.05}
    whole = scenario(channel=[lost]) | {"record": {"capture": ["a", "b"]}}
    rx.run(whole, captures=tmp_path / "run")
    ends = [tmp_path / "run" / f"{end}.pcapng" for end in ("a", "b")]
    loss = rx.fit(ends[0], receiver=ends[1]).values["ack_loss"]
    assert loss.low <= 0.05 <= loss.high
    assert rx.fit(ends[0]).values["ack_loss"].value is None


def test_turns_take_as_long_again_where_the_client_asks_at_once() -> None:
    whole = scenario()
    turns = {"kind": "request-response", "request": "1600B", "response": "3500B", "requests": 40}
    whole["flow"][0]["workload"] = turns
    found = fitted(whole)
    assert "think" not in found.hosts.workload
    whole["flow"][0]["workload"] = turns | {"think": "30ms"}
    thinking = fitted(whole)
    assert float(thinking.hosts.workload["think"].removesuffix("ms")) == pytest.approx(30, abs=2)
    assert not {"duration", "the cause"} & set(found.check(2).not_given_back)


def test_a_small_window_and_the_rate_of_the_link_give_the_duration_back() -> None:
    whole = scenario(size="400kB", rate="4Mbps", delay="12ms")
    receive = {"window": {"kind": "fixed", "buffer": "7000B"}}
    whole["stack"] = [{"name": "small", "based_on": "linux-6-cubic", "receive": receive}]
    whole["flow"][0]["receiver"] = "small"
    found = fitted(whole)
    assert found.values["rate"].at_least
    assert found.capacity.link == pytest.approx(4e6, rel=0.03)
    assert "duration" not in found.check(2).not_given_back


def test_messages_have_the_size_that_is_written_at_once() -> None:
    whole = scenario() | {"duration": "8s"}
    whole["flow"][0]["workload"] = {"kind": "constant-rate", "rate": "400kbps", "message": "8000B"}
    written = fitted(whole).hosts.workload
    assert int(written["message"].removesuffix("B")) == pytest.approx(8000, rel=0.05)
    assert float(written["rate"].removesuffix("bps")) == pytest.approx(400e3, rel=0.02)


def test_the_scenario_gives_the_capture_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rx.run(scenario() | {"record": {"capture": ["a"]}}, at="sender", captures=tmp_path / "run")
    capture, file = str(tmp_path / "run" / "a.pcapng"), tmp_path / "path.toml"
    assert cli.main(["fit", capture, "--draws", "3", "--json", "--scenario", str(file)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["check"]["not_given_back"] == []
    assert told["check"]["draws"] == 3
    again = rx.fit(rx.run(file, at="sender", tables=("rtt",)))
    assert again.values["queue"].value == pytest.approx(told["values"]["queue"]["value"], rel=0.05)
    assert told["netem"]["command"].startswith("tc qdisc add dev DEV root netem delay 40")
    assert "rate 10000kbit" in told["netem"]["command"]
    assert len(told["mahimahi"]["trace"].split()) == round(RATE / 8 / 1504)
    assert cli.main(["fit", capture, "--scenario", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert cli.main(["fit", capture, "--draws", "2"]) == 0
    page = capsys.readouterr().out
    assert "10.0 Mbps" in page or "10 Mbps" in page
    assert "all of it is given back" in page


def test_a_capture_without_data_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rx.run(scenario(size="1B") | {"record": {"capture": ["a"]}}, captures=tmp_path / "run")
    capture = str(tmp_path / "run" / "a.pcapng")
    assert cli.main(["fit", capture, "--flow", "10.9.9.9:1-10.0.0.2:2"]) == 2
    assert "none of its 6 TCP packets is selected" in capsys.readouterr().err
    run = rx.run(scenario(size="1B"))
    with pytest.raises(ValueError, match=r"the connection 10\.9\.9\.9:1-10\.0\.0\.2:2 is not in it"):
        rx.fit(run, flow="10.9.9.9:1-10.0.0.2:2")


def test_intervals_of_counts() -> None:
    assert binomial_below(2, 10, 0.5) == pytest.approx(56 / 1024)
    low, high = proportion(0, 100)
    assert low == 0
    # Mid-P: half of the probability of no hit is left.
    assert 0.5 * (1 - high) ** 100 == pytest.approx(0.05, rel=0.01)
    low, high = proportion(50, 100)
    assert low == pytest.approx(0.418, abs=0.003)
    assert high == pytest.approx(0.582, abs=0.003)
    few, many = proportion(300, 3_000), proportion(301, 3_010)
    assert many == pytest.approx(few, rel=0.003)
