"""Kinds with requests and answers in turn, without losses."""

from __future__ import annotations

from situation.bulk import paced_at
from situation.kind import Kind
from situation.setting import ENDLESS, Draw, Setting, droptail, path, seconds, turns, window


def chatty_client(draw: Draw) -> Setting:
    setting = path(draw, rates=(10, 20, 50))
    return turns(setting, draw.randint(40, 100), draw.randint(100, 1000), draw.randint(100, 1300))


def chatty_nearby(draw: Draw) -> Setting:
    setting = path(draw, rates=(50, 100), delays=(0.5, 1, 2))
    return turns(setting, draw.randint(200, 400), draw.randint(50, 300), draw.randint(100, 1300))


def slow_server(draw: Draw) -> Setting:
    """The server works on most of a request before it reads the rest and answers."""
    setting = turns(path(draw), draw.randint(10, 30), 600, draw.randint(100, 1300))
    work = draw.uniform(4, 10) * setting.round_trip_ms
    setting.flow["reader"] = {"kind": "rate", "rate": f"{round(560 * 8e3 / work)}bps", "piece": "560B"}
    setting.reader_makes = "sender-idle"
    return setting


def server_wakes_late(draw: Draw) -> Setting:
    """The server looks for requests at regular times."""
    setting = turns(path(draw), draw.randint(10, 30), draw.randint(100, 1000), draw.randint(100, 1300))
    setting.flow["reader"] = {
        "kind": "pauses",
        "every": f"{draw.uniform(12, 20) * setting.round_trip_ms:.2f}ms",
    }
    setting.reader_makes = "sender-idle"
    return setting


def client_wakes_late(draw: Draw) -> Setting:
    """The client looks for answers at regular times."""
    setting = turns(path(draw), draw.randint(10, 30), draw.randint(100, 1000), draw.randint(100, 1300))
    setting.flow["back_reader"] = {
        "kind": "pauses",
        "every": f"{draw.uniform(12, 20) * setting.round_trip_ms:.2f}ms",
    }
    setting.reader_makes = "sender-idle"
    return setting


def thinking_client(draw: Draw) -> Setting:
    setting = path(draw)
    think = draw.uniform(4, 10) * setting.round_trip_ms
    return turns(setting, draw.randint(10, 30), response=draw.randint(100, 1300), think=f"{think:.2f}ms")


def thinking_at_random(draw: Draw) -> Setting:
    setting = thinking_client(draw)
    setting.workload["distribution"] = "exponential"
    return setting


def _deep_queue(draw: Draw, bulk_from: str, bulk_to: str) -> Setting:
    """Another host's file keeps a queue of ten round trips or so full; the turns begin when it is."""
    setting = path(draw, rates=(8, 10), delays=(10,))
    setting.queue = {"kind": "droptail", "bytes": f"{round(draw.uniform(6, 10) * setting.segments * 1500)}B"}
    turns(setting, draw.randint(20, 40), draw.randint(100, 1000), draw.randint(100, 1300))
    setting.others["file"] = {"from": bulk_from, "to": bulk_to, **ENDLESS}
    setting.others_make = "standing-queue"
    setting.flow["start"] = "4s"
    setting.duration_s = 25
    return setting


def behind_upload(draw: Draw) -> Setting:
    return _deep_queue(draw, "other", "server")


def behind_download(draw: Draw) -> Setting:
    return _deep_queue(draw, "server", "other")


def _holds_acks(setting: Setting, timeout: str) -> Setting:
    for host in ("client", "server"):
        setting.section(host, "receive", delayed_ack={"kind": "every", "segments": 2, "timeout": timeout})
    return setting


def request_and_a_bit(draw: Draw) -> Setting:
    """A request of a full segment and a small one, which waits (Nagle) until the first is acknowledged."""
    setting = turns(path(draw, delays=(5, 10, 20)), draw.randint(10, 20), draw.randint(1600, 2600), 400)
    return _holds_acks(setting, draw.choice(["100ms", "200ms", "400ms"]))


def answer_and_a_bit(draw: Draw) -> Setting:
    setting = turns(path(draw, delays=(5, 10, 20)), draw.randint(10, 20), 200, draw.randint(1600, 2600))
    return _holds_acks(setting, draw.choice(["100ms", "200ms", "400ms"]))


def answers_small_window(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    turns(setting, draw.randint(3, 6), 200, draw.randint(60, 150) * 1000)
    return window(setting, "client", draw.randint(5, 15) * 1000)


def answers_small_send_buffer(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    turns(setting, draw.randint(3, 6), 200, draw.randint(60, 150) * 1000)
    setting.section("server", "send", buffer=f"{draw.randint(6, 15) * 1000}B")
    return setting


def answers_over_slow_link(draw: Draw) -> Setting:
    setting = path(draw, rates=(1, 2), delays=(5, 10, 20))
    setting.queue = droptail(150)
    return turns(setting, draw.randint(5, 9), 200, round(seconds(setting, draw.uniform(0.3, 0.5))))


def answers_paced(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(5, 10))
    rate = draw.uniform(0.05, 0.2) * setting.rate_mbps
    turns(setting, draw.randint(3, 6), 200, round(rate * 1e6 / 8 * draw.uniform(0.4, 0.8)))
    return paced_at(setting, rate)


KINDS = (
    Kind("chatty-client", "request-response", chatty_client, near="slow-server"),
    Kind("chatty-client-nearby", "request-response", chatty_nearby, near="turns-answer-and-a-bit"),
    Kind("slow-server", "sender-idle", slow_server, near="chatty-client", by="server"),
    Kind("server-wakes-late", "sender-idle", server_wakes_late, near="turns-request-and-a-bit", by="server"),
    Kind("client-wakes-late", "sender-idle", client_wakes_late, near="turns-answer-and-a-bit", by="client"),
    Kind("thinking-client", "sender-idle", thinking_client, near="slow-server", by="client"),
    Kind("thinking-client-random", "sender-idle", thinking_at_random, near="turns-lossy", by="client"),
    Kind("turns-behind-upload", "standing-queue", behind_upload, near="chatty-client"),
    Kind("turns-behind-download", "standing-queue", behind_download, near="server-wakes-late"),
    Kind("turns-request-and-a-bit", "delayed-ack", request_and_a_bit, near="slow-server"),
    Kind("turns-answer-and-a-bit", "delayed-ack", answer_and_a_bit, near="thinking-client"),
    Kind("answers-small-window", "receive-window", answers_small_window, near="answers-small-send-buffer"),
    Kind("answers-small-send-buffer", "send-window", answers_small_send_buffer, near="answers-small-window"),
    Kind("answers-over-slow-link", "bottleneck", answers_over_slow_link, near="answers-paced"),
    Kind("answers-paced", "pacing", answers_paced, near="answers-over-slow-link"),
)
