"""Kinds in which a program writes messages at times of its own, and transfers of a few round trips."""

from __future__ import annotations

from situation.kind import Kind
from situation.setting import Draw, Setting, channel, download, path, upload, window


def _stream(draw: Draw, setting: Setting, mbps: float, message: int) -> Setting:
    setting.workload = {"kind": "constant-rate", "rate": f"{mbps:.3f}Mbps", "message": f"{message}B"}
    setting.flow["stop"] = f"{draw.uniform(3, 5):.2f}s"
    setting.section("client", "send", nagle=False)
    return setting


def steady_messages(draw: Draw) -> Setting:
    setting = path(draw)
    return _stream(draw, setting, setting.rate_mbps * draw.uniform(0.02, 0.06), draw.randint(500, 8000))


def on_and_off(draw: Draw) -> Setting:
    setting = path(draw, rates=(10, 20, 50), delays=(5, 10))
    keys = {"kind": "on-off", "distribution": "constant", "message": f"{draw.randint(1, 8)}kB"}
    keys |= {"rate": f"{setting.rate_mbps * draw.uniform(0.05, 0.15):.3f}Mbps"}
    keys |= {"on": f"{draw.uniform(0.1, 0.3):.2f}s", "off": f"{draw.uniform(0.6, 1.2):.2f}s"}
    setting.workload = keys
    setting.section("client", "send", nagle=False)
    setting.flow["stop"] = f"{draw.uniform(4, 7):.2f}s"
    return setting


def messages_fill_link(draw: Draw) -> Setting:
    setting = path(draw, rates=(2, 5, 10))
    return _stream(draw, setting, setting.rate_mbps * draw.uniform(1.5, 2.5), draw.randint(2000, 9000))


def messages_small_window(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    share = draw.uniform(0.08, 0.2)
    _stream(draw, setting, 2 * share * setting.rate_mbps, draw.randint(2000, 9000))
    return window(setting, "server", max(6000, share * setting.segments * 1460))


def messages_policed(draw: Draw) -> Setting:
    setting = path(draw, rates=(50,), delays=(5, 10, 20))
    rate = draw.choice([2, 4])
    _stream(draw, setting, 2 * rate, draw.randint(2000, 9000))
    return channel(setting, "policer", "policer", at="ingress", rate=f"{rate}Mbps", burst="40kB")


def _far(draw: Draw) -> Setting:
    """A long path, and a receiver whose window never holds the sender."""
    setting = path(draw, rates=(50, 100), delays=(80, 120, 150))
    for host in ("client", "server"):
        window(setting, host, 4_000_000)
        setting.section(host, "receive", delayed_ack={"kind": "every", "segments": 2, "timeout": "40ms"})
    return setting


def short_upload_far(draw: Draw) -> Setting:
    return upload(_far(draw), draw.randint(100, 250) * 1000)


def short_download_far(draw: Draw) -> Setting:
    return download(_far(draw), draw.randint(150, 350) * 1000)


def one_exchange(draw: Draw) -> Setting:
    return download(path(draw), draw.randint(100, 1300))


def tiny_upload(draw: Draw) -> Setting:
    return upload(path(draw, rates=(20, 50)), draw.randint(100, 4000))


def short_upload_syn_lost(draw: Draw) -> Setting:
    setting = upload(path(draw, delays=(5, 10, 20)), draw.randint(5, 40) * 1000)
    return channel(setting, "handshake", "list", packets=[0], direction="forward")


def tail_lost(draw: Draw) -> Setting:
    """The last segments of a short file are lost: no duplicate ACK reports it."""
    setting = path(draw, delays=(5, 10, 20))
    setting.based_on = draw.choice(["rfc-sack", "rfc-newreno"])
    segments = draw.randint(5, 10)
    upload(setting, segments * 1448)
    setting.section("server", "receive", delayed_ack={"kind": "every", "segments": 2, "timeout": "40ms"})
    lost = list(range(segments - draw.randint(1, 3), segments))
    return channel(setting, "loss-random", "list", packets=lost, only="data")


def tail_lost_late_timer(draw: Draw) -> Setting:
    setting = tail_lost(draw)
    setting.based_on = "rfc-sack"
    setting.section("client", "rto", min=f"{draw.uniform(3, 6):.2f}s")
    return setting


def short_upload_too_large(draw: Draw) -> Setting:
    setting = upload(path(draw), draw.randint(5, 200) * 1000)
    channel(setting, "mtu", "mtu", most=f"{draw.choice([1300, 1400, 1492])}B")
    setting.duration_s = draw.uniform(20, 40)
    return setting


KINDS = (
    Kind("steady-messages", "sender-idle", steady_messages, near="messages-fill-link", by="client"),
    Kind("on-and-off", "sender-idle", on_and_off, near="reader-pauses", by="client"),
    Kind("messages-fill-link", "bottleneck", messages_fill_link, near="messages-policed"),
    Kind("messages-small-window", "receive-window", messages_small_window, near="steady-messages"),
    Kind("messages-policed", "policer", messages_policed, near="messages-fill-link"),
    Kind("short-upload-far", "slow-start", short_upload_far, near="upload-small-window"),
    Kind("short-download-far", "slow-start", short_download_far, near="answers-small-window"),
    Kind("one-exchange", "nothing", one_exchange, near="turns-syn-ack-lost"),
    Kind("tiny-upload", "nothing", tiny_upload, near="short-upload-tail-lost"),
    Kind("short-upload-syn-lost", "handshake", short_upload_syn_lost, near="short-upload-tail-lost"),
    Kind("short-upload-tail-lost", "loss-random", tail_lost, near="short-upload-late-timer"),
    Kind("short-upload-late-timer", "timer", tail_lost_late_timer, near="short-upload-tail-lost"),
    Kind("short-upload-too-large", "mtu", short_upload_too_large, near="upload-path-died"),
)
