"""The page: the worst first, numbers aligned, the sentence that matters in words."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import overview
from rexmit.captured.episodes import EPISODES, worst_episodes
from rexmit.screen import units
from rexmit.screen.page import aggregate, by_pair, page, told
from story import Story

CAPTURE: dict[str, Any] = {
    "packets": 12_404,
    "span_s": 7.4,
    "link_types": ["Ethernet"],
    "snaplen": 96,
    "offloads": {"seen": False},
    "vantage": "sender",
    "warnings": [],
}


def episode(number: int, start: float, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "number": number,
        "start_s": start,
        "end_s": start + 0.184,
        "kind": kind,
        "lost_copies": 171,
        "lost_segments": 171,
        "silence_s": 0.021,
        "timeouts": 0,
        "max_backoff": 0,
        "cost_s": 0.10,
        "needless": 0,
        "flight_bytes": 55_488,
        "limit": "unknown",
    } | more


def share(cause: str, seconds: float, text: str, certainty: str = "likely", by: str | None = None) -> Any:
    """A cause of an answer about a connection that took 7.31 s."""
    return {
        "cause": cause,
        "by": by,
        "seconds": seconds,
        "share": seconds / 7.31,
        "certainty": certainty,
        "text": text,
        "grounds": [],
        "helps": ["a better path"],
        "does_not_help": ["larger windows"],
    }


FLOW: dict[str, Any] = {
    "flow": 0,
    "sender": "10.8.0.2:41822",
    "receiver": "10.8.0.9:21",
    "bytes": 10_000_000,
    "duration_s": 7.31,
    "throughput_bps": 10_944_000,
    "handshake": {"sack_permitted": True},
    "rtt": {"ack": {"n": 900, "min_ms": 38.2, "mean_ms": 41.0, "max_ms": 212.0}},
    "episode_count": 3,
    "cost_s": 2.1,
    "lost": {"copies": 512, "segments": 510},
    "burst_count": 4,
    "idle_count": 3,
    "idle_total_s": 1.02,
    "idle": [{"length_s": 0.9, "cause": "timeout"}, {"length_s": 0.12, "cause": "application"}],
    "retransmissions": {
        "total": 515,
        "by_cause": {"recovery": 498, "timeout": 3, "loss-state": 14, "probe": 0},
        "needless": 7,
    },
    "probes": {"new_data": 2, "repeat": 0},
    "limits": {},
    "episodes": [
        episode(0, 1.5, "ack"),
        episode(1, 3.0, "timer-rto", end_s=3.89, lost_copies=294, lost_segments=294, silence_s=0.487)
        | {"timeouts": 1, "cost_s": 0.75, "limit": "receive-window"},
        episode(2, 6.5, "timer-rto", end_s=7.91, lost_copies=47, lost_segments=45, silence_s=0.43)
        | {"timeouts": 2, "max_backoff": 1, "cost_s": 1.25},
    ],
    "answer": {
        "cause": "outage",
        "by": None,
        "certainty": "likely",
        "text": "3 times nothing that the client sent got through.",
        "seconds": 2.1,
        "share": 0.29,
        "owed_s": 7.31,
        "connection": 0,
        "client": "10.8.0.2:41822",
        "server": "10.8.0.9:21",
        "client_bytes": 10_000_000,
        "server_bytes": 0,
        "took_s": 7.31,
        "causes": [
            share("bottleneck", 4.8, "This connection's data kept the path busy.", certainty="known"),
            share("outage", 2.1, "3 times nothing that the client sent got through."),
            share("handshake", 0.04, "The connection was being opened.", certainty="known"),
        ],
        "findings": [{"kind": "no-sack", "certainty": "known", "text": "SACK was not agreed on."}],
        "limits": [],
    },
}

GOLDEN = """\
upload.snd.pcap.gz: 12,404 packets, 7.40 s, Ethernet, snap 96, offloads off, taken at the sender

10.8.0.2:41822 (client) → 10.8.0.9:21 (server)
  10.0 MB in 7.31 s   10.9 Mbps   RTT 41.0 ms (38.2 to 212)
  likely   outage: 2.10 s (29%). 3 times nothing that the client sent got through.
           helps: a better path. Does not help: larger windows.
  known    bottleneck: 4.80 s (66%). This connection's data kept the path busy.
           helps: a better path. Does not help: larger windows.
  known    SACK was not agreed on.

  512 packets were lost, in 4 runs.
  #     at  lost  repaired by  silence  timeouts    took
  1  1.500   171  ack, SACK      21 ms         0  184 ms
  2  3.000   294  timer, RTO    487 ms         1  890 ms   receiver's window (55.5 kB) sent out
  3  6.500    47  timer, RTO    430 ms         2  1.41 s   2 timeouts in a row; 2 repairs lost too

  resent   515 segments: 498 fast recovery, 14 slow start after a timeout, 3 timeout; 7 of them
           needless
  probes   2 with new data
  next     rexmit analyze upload.snd.pcap.gz --ladder 3      for the packets of repair 3"""


def seen(*flows: dict[str, Any], **capture: Any) -> dict[str, Any]:
    return {"capture": CAPTURE | capture, "totals": {"flows": len(flows)}, "flows": list(flows)}


def test_a_fin_that_was_sent_again_makes_no_flow_of_no_bytes() -> None:
    fin = {"flow": 1, "sender": "10.8.0.9:21", "receiver": "10.8.0.2:41822", "bytes": 0, "episode_count": 1}
    fin |= {"cost_s": 9.9, "retransmissions": {"total": 2}, "handshake": {"syn_retransmissions": 0}}
    lines = page(seen(FLOW, fin), "a.pcap")
    assert not any("10.8.0.9:21 →" in line or "more flow" in line for line in lines)
    assert "  closing  10.8.0.9:21 sent its FIN again (2 times) and no data" in lines
    # A SYN that had to be sent again is a transfer that began late.
    opening = fin | {"handshake": {"syn_retransmissions": 1}, "bytes": 0}
    assert told(seen(FLOW, fin, opening), 6)[0] == [FLOW, opening]


def test_the_page_of_a_transfer_with_three_outages() -> None:
    assert "\n".join(page(seen(FLOW), "upload.snd.pcap.gz")) == GOLDEN


def test_the_story_reads_as_it_was_played(story: Story) -> None:
    text = " ".join(" ".join(page(overview(story), "x.pcap")).split())
    assert "352 packets were lost, in 2 runs." in text
    assert "353 segments: 242 slow start after a timeout, 109 fast recovery, 2 timeout" in text
    assert "2 timeouts in a row" in text


def test_long_lists_are_folded_to_the_costliest_in_order_of_time() -> None:
    many = [episode(i, float(i), "ack", cost_s=0.01 * (i % 30)) for i in range(60)]
    shown = worst_episodes(many)
    assert len(shown) == EPISODES
    assert [e["number"] for e in shown] == sorted(e["number"] for e in shown)
    assert {e["number"] % 30 for e in shown} == {26, 27, 28, 29}
    text = page(seen(FLOW | {"episodes": many, "episode_count": 574, "cost_s": 9.0, "answer": None}), "x")
    assert "  … and 566 shorter ones" in text
    assert len(text) < 30, "one screen"


def test_what_cannot_be_known_is_said_and_not_guessed() -> None:
    counts = ("lost_copies", "lost_segments")
    flow = FLOW | {"lost": {"copies": None, "segments": None}, "cost_s": None, "answer": None}
    text = "\n".join(
        page(
            seen(flow | {"episodes": [episode(0, 1.0, "ack", cost_s=None) | dict.fromkeys(counts)]}),
            "x",
        )
    )
    assert "How many packets were lost does not show from here." in text
    assert "   ?  ack, SACK" in text


def test_a_clean_transfer_is_told_in_one_sentence() -> None:
    clean = FLOW | {"episodes": [], "episode_count": 0, "burst_count": 0, "idle_count": 0, "idle": []}
    nothing = {"cause": "nothing", "text": "Nothing took time worth telling.", "seconds": 0, "causes": []}
    answer = FLOW["answer"] | nothing | {"certainty": "known", "findings": []}
    text = page(seen(clean | {"retransmissions": {"total": 0}, "probes": {}, "answer": answer}), "x.pcap")
    assert text[4:] == [
        "  known    Nothing took time worth telling.",
        "  next     rexmit analyze x.pcap --out DIR      for tables and figures",
    ]


def test_why_tells_what_each_cause_means_and_names_the_small_ones_too() -> None:
    brief, whole = page(seen(FLOW), "x"), page(seen(FLOW), "x", why=True)
    assert not any("handshake: " in line or "recognised by: " in line for line in brief)
    assert any("handshake: 0.04 s" in line for line in whole)
    assert sum("recognised by: " in line for line in whole) == 3


def test_a_connection_with_data_both_ways_is_named_once_with_both_sizes() -> None:
    both = FLOW["answer"] | {"server_bytes": 4_000_000}
    back = FLOW | {"flow": 1, "sender": "10.8.0.9:21", "receiver": "10.8.0.2:41822", "bytes": 4_000_000}
    back |= {"episodes": [], "retransmissions": {"total": 0}, "probes": {}, "answer": both}
    text = page(seen(FLOW | {"answer": both}, back), "x")
    assert "10.8.0.2:41822 (client) ↔ 10.8.0.9:21 (server)" in text
    assert any(line.startswith("  10.0 MB and 4.00 MB in 7.31 s") for line in text)
    assert sum("(client)" in line for line in text) == 1


def test_a_reset_comes_before_the_causes_of_the_time() -> None:
    cut = {"cause": "reset", "by": "server", "certainty": "known", "seconds": 0, "share": 0}
    text = page(seen(FLOW | {"answer": FLOW["answer"] | cut | {"text": "The server reset it."}}), "x")
    assert text[4] == "  known    reset (server). The server reset it."
    assert text[5].startswith("  known    bottleneck: 4.80 s")


def test_an_answer_that_is_cut_short_says_so_first() -> None:
    damage = "x.pcap: cut off in packet 10,412 (byte 1,048,560 wants 96 more): 10,411 packets analysed"
    text = page(seen(FLOW, damage=damage, interrupted=True, warnings=["a", "b", "c", "d"]), "x.pcap")
    assert text[1] == "  note: stopped early: this is the answer for what was seen until then"
    assert text[2].startswith("  note: x.pcap: cut off in packet 10,412 (byte 1,048,560 wants 96 more): ")
    assert text[5] == "  note: and 2 more notes; --json has them all"


def test_a_capture_without_data_says_so() -> None:
    assert page(seen(), "x.pcap")[-1] == "no TCP connection in it carries data"


def test_offloads_are_named() -> None:
    text = "\n".join(page(seen(FLOW, offloads={"seen": True, "largest_payload": 65_160}), "x"))
    assert "offloads on (packets of up to 65.2 kB)" in text


def test_an_episode_that_is_open_lasted_until_the_end_of_the_flow() -> None:
    short = [{"number": k, "start_s": float(k), "end_s": k + 0.5, "cost_s": None} for k in range(3)]
    still = {"number": 3, "start_s": 4.0, "end_s": None, "cost_s": None}
    assert [e["number"] for e in worst_episodes([*short, still], 1, end_s=90.0)] == [3]
    # One that began just before the end is none of the worst.
    assert 3 not in [e["number"] for e in worst_episodes([*short, still], 3, end_s=4.1)]


def test_flows_of_one_pair_of_hosts_stand_together_behind_the_worst_of_them() -> None:
    def between(sender: str, receiver: str) -> dict[str, Any]:
        return FLOW | {"sender": sender, "receiver": receiver}

    data, control = between("10.8.0.2:1", "10.8.0.9:21"), between("10.8.0.9:20", "10.8.0.2:2")
    other, six = between("10.8.0.3:5", "10.8.0.9:21"), between("[fe80::1]:7", "10.8.0.9:21")
    assert by_pair([data, other, six, control]) == [data, control, other, six]


def test_other_connections_get_a_line_each_with_what_their_time_went_to() -> None:
    def other(number: int, **more: Any) -> dict[str, Any]:
        return (
            FLOW
            | {"flow": 2 * number, "sender": f"10.8.0.3:{number}", "episodes": []}
            | {"answer": FLOW["answer"] | {"connection": number} | more}
        )

    idle = other(1, cause="sender-idle", by="server", seconds=3.0, share=0.41)
    text = page(seen(FLOW, idle, other(2, cause="nothing", seconds=0.0, share=0.0)), "x")
    line = next(line for line in text if line.startswith("  10.8.0.3:1 "))
    assert line.split()[-3:] == ["41%", "sender-idle", "(server)"]
    assert not any(line.startswith("  10.8.0.3:2 ") for line in text)
    assert "  … and 1 more connection" in text


def test_many_flows_are_summed_up_before_the_worst_is_shown() -> None:
    totals = {
        "connections": 1_000_000,
        "flows": 1_000_000,
        "flows_with_trouble": 31_000,
        "bytes": 9_000_000_000,
        "segments": 8_000_000,
        "retransmissions": {"total": 40_000, "by_cause": {"timeout": 30_000, "recovery": 10_000}},
        "syn_retransmissions": 512,
        "episodes": 33_000,
        "cost_s": 8_100.0,
        "cost_unknown_flows": 12,
    }
    done = {"n": 10, "p50": 0.12, "p90": 0.4, "p99": 3.2}
    summary = {"tails": 700, "completion_s": {"all": done, "clean": done, "timeout": {"n": 0}}}
    assert aggregate(totals, summary) == [
        "1,000,000 connections, 1,000,000 flows with data, 9.00 GB in 8,000,000 segments",
        "  resent   31,000 flows (3.1%) sent something again: 40,000 segments (0.5%)",
        "           30,000 timeout, 10,000 fast recovery",
        "  opening  512 SYNs or SYN-ACKs had to be sent again",
        "  tails    700 flows lost the end of what they sent and waited for a timer",
        "  took     p50 120 ms, p90 400 ms, p99 3.20 s   (10 flows)",
        "  took     p50 120 ms, p90 400 ms, p99 3.20 s   (10 flows without a retransmission)",
    ]


def test_what_the_answer_cannot_show_is_wrapped_to_the_screen() -> None:
    limit = "1068 packets are larger than a segment (up to 65 kB; offload): " + "and so on, " * 20
    flow = FLOW | {"answer": FLOW["answer"] | {"limits": [limit]}}
    lines = page(seen(flow), "x")
    first = next(i for i, line in enumerate(lines) if line.startswith("  limits   1068 packets"))
    assert lines[first + 1].startswith(" " * 11)
    assert "and so" in lines[first + 1]
    assert all(len(line) <= 100 for line in lines[first : first + 3])


def test_at_the_receiver_the_round_trip_is_that_of_timestamps_or_the_handshake() -> None:
    near = {"n": 9, "min_ms": 0.003, "mean_ms": 0.1, "max_ms": 40.0}
    whole = {"n": 9, "min_ms": 38.0, "mean_ms": 41.0, "max_ms": 90.0}
    opened = {"sack_permitted": True, "time_s": 0.0381, "syn_retransmissions": 0}
    flow = FLOW | {"vantage": "receiver", "handshake": opened, "rtt": {"ack": near, "timestamps": whole}}
    assert "RTT 41.0 ms (38.0 to 90.0)" in "\n".join(page(seen(flow), "x"))
    # Those that the receiving host's own delay made are no round trips.
    text = "\n".join(page(seen(flow | {"rtt": {"ack": near, "timestamps": near}}), "x"))
    assert "RTT 38 ms in the handshake" in text
    text = "\n".join(page(seen(flow | {"rtt": {"ack": near}, "handshake": {}}), "x"))
    assert "RTT unknown" in text


def test_two_timeouts_in_one_repair_are_not_one_segment_a_timeout() -> None:
    both = episode(0, 1.0, "intermittent", timeouts=2, lost_segments=33, limit="sender-window")
    both["trigger"] = "timer-rto"
    osx = episode(1, 6.0, "intermittent", timeouts=46, lost_copies=46, lost_segments=46)
    text = page(seen(FLOW | {"episodes": [both, osx]}), "x")
    assert any("timer, RTO" in line and "window (55.5 kB) sent out" in line for line in text)
    assert any("one a timeout" in line and "one segment a timeout" in line for line in text)


@pytest.mark.parametrize("probes", [1, 9, 1_200])
def test_probes_of_a_closed_window_are_said_with_how_many_had_no_answer(probes: int) -> None:
    def said(unanswered: int) -> str:
        counts = {"window": probes, "window_unanswered": unanswered}
        text = page(seen(FLOW | {"probes": counts}), "x")
        (line,) = [line for line in text if line.startswith("  probes ")]
        return line.split(maxsplit=1)[1]

    assert said(0) == f"{probes:,} of a closed window"
    assert said(probes) == f"{probes:,} of a closed window (none answered)"
    if probes > 1:
        assert said(1) == f"{probes:,} of a closed window (1 not answered)"


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        ("ack", "ack, SACK"),
        ("timer-rto", "timer, RTO"),
        ("timer-probe", "timer, probe"),
        ("unrepaired", "not repaired"),
    ],
)
@pytest.mark.parametrize("timeouts", [2, 3])
def test_an_intermittent_repair_is_said_with_what_set_it_off(trigger: str, said: str, timeouts: int) -> None:
    found = episode(0, 1.0, "intermittent", timeouts=timeouts, lost_segments=33, silence_s=0.0006)
    text = page(seen(FLOW | {"episodes": [found | {"trigger": trigger}]}), "x")
    (row,) = [line for line in text if " 600 µs " in line]
    assert said in row


def test_a_page_fits_the_screen_whatever_the_files_are_called() -> None:
    name = "/".join(["a-long-folder-of-captures"] * 5) + "/upload.snd.pcap.gz"
    long = FLOW | {"episodes": [episode(i, float(i), "timer-rto", limit="receive-window") for i in range(60)]}
    lines = page(seen(long, warnings=["word " * 60]), name)
    assert len(lines) <= 40
    assert [line for line in lines if len(line) > 100 and name not in line] == []
    assert lines[-1].startswith("  next     the same command with --ladder ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (2e-9, "2 ns"),
        (5.5e-6, "5.5 µs"),
        (78e-6, "78 µs"),
        (0.00031, "310 µs"),
        (0.0005, "500 µs"),
        (0.0018, "1.8 ms"),
        (0.021, "21 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (104.2, "104 s"),
        (725, "12 min 5 s"),
        (7260, "2 h 1 min"),
    ],
)
def test_lengths_of_time_have_the_unit_a_person_would_choose(value: float, text: str) -> None:
    assert units.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(999, "999 B"), (55_488, "55.5 kB"), (999_999, "1.00 MB"), (10_000_000, "10.0 MB")]
)
def test_sizes_are_powers_of_a_thousand(value: int, text: str) -> None:
    assert units.size(value) == text


@pytest.mark.parametrize(
    ("text", "value"), [("50ms", 0.05), ("0.2", 0.2), ("1.5 s", 1.5), ("2min", 120.0), ("30us", 3e-5)]
)
def test_lengths_of_time_are_read_with_their_unit(text: str, value: float) -> None:
    assert units.parse_duration(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "fast", "-1s", "5 days", "1e"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no length of time"):
        units.parse_duration(text)


def test_a_capture_of_acks_alone_says_what_is_missing() -> None:
    said = " ".join(page(seen() | {"totals": {"connections": 1}}, "acks.pcap")[-2:])
    assert "1 connection without" in said
    assert "the other direction only, the ACKs" in said
