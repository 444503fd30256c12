"""Kinds that bring one large file."""

from __future__ import annotations

from pathlib import Path

from situation.kind import Kind
from situation.setting import (
    ENDLESS,
    Draw,
    Setting,
    Table,
    channel,
    download,
    droptail,
    outage,
    path,
    seconds,
    upload,
    window,
)

PLAIN = ("rfc-sack", "rfc-newreno")


def paced_at(setting: Setting, mbps: float) -> Setting:
    """The sender paces at a rate of its own."""
    rule: Table = {"rule": "python", "class": f"{Path(__file__).with_name('paced.py').resolve()}:Paced"}
    rule |= {"params": {"bytes_per_s": round(mbps * 1e6 / 8)}}
    setting.based_on = "linux-6-cubic"
    setting.section(setting.sender, "congestion", **rule)
    return setting


def upload_fills_link(draw: Draw) -> Setting:
    setting = path(draw)
    return upload(setting, seconds(setting, draw.uniform(3, 6)))


def download_fills_link(draw: Draw) -> Setting:
    setting = path(draw)
    return download(setting, seconds(setting, draw.uniform(3, 6)))


def upload_shared(draw: Draw) -> Setting:
    setting = path(draw, rates=(5, 10, 20), delays=(10, 20))
    setting.queue = {"kind": "fq-codel", "target": "40ms", "interval": "400ms"}
    for n in range(draw.randint(2, 4)):
        setting.others[f"file-{n}"] = {"from": "other", "to": "server", **ENDLESS}
    setting.duration_s = 30
    return upload(setting, seconds(setting, draw.uniform(1.5, 2.5)))


def download_beside_datagrams(draw: Draw) -> Setting:
    setting = path(draw, rates=(5, 10, 20), delays=(10, 20))
    stream = {"from": "server", "to": "other", "transport": "datagram", "packet": "1228B"}
    for n in range(draw.randint(2, 4)):
        rate = f"{draw.uniform(0.4, 0.6) * setting.rate_mbps:.3f}Mbps"
        setting.others[f"stream-{n}"] = {**stream, "workload": {"kind": "constant-rate", "rate": rate}}
    setting.queue = {"kind": "fq-codel", "target": "40ms", "interval": "400ms"}
    setting.duration_s = 30
    return download(setting, seconds(setting, draw.uniform(1.5, 2.5)))


def upload_small_window(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    share = draw.uniform(0.1, 0.3)
    upload(setting, seconds(setting, draw.uniform(4, 6) * share))
    return window(setting, "server", max(6000, share * setting.segments * 1460))


def download_small_window(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    share = draw.uniform(0.1, 0.3)
    download(setting, seconds(setting, draw.uniform(4, 6) * share))
    return window(setting, "client", max(6000, share * setting.segments * 1460))


def upload_small_send_buffer(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    share = draw.uniform(0.1, 0.3)
    setting.section("client", "send", buffer=f"{max(6000, round(share * setting.segments * 1460))}B")
    return upload(setting, seconds(setting, draw.uniform(4, 6) * share))


def download_paced(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50))
    rate = setting.rate_mbps * draw.uniform(0.05, 0.25)
    download(setting, rate * 1e6 / 8 * draw.uniform(3, 5))
    return paced_at(setting, rate)


def upload_outage(draw: Draw) -> Setting:
    setting = path(draw, delays=(5, 10, 20))
    upload(setting, seconds(setting, draw.uniform(1.5, 2)))
    return outage(setting, "outage", draw.uniform(0.3, 1.0), draw.uniform(4, 8))


def upload_path_died(draw: Draw) -> Setting:
    setting = path(draw, rates=(5, 10), delays=(5, 10, 20))
    # A file too large to arrive before the path dies, even over the faster link of the removal test.
    upload(setting, seconds(setting, 14))
    setting.duration_s = draw.uniform(45, 60)
    return outage(setting, "path-died", draw.uniform(0.3, 0.6), 600)


def upload_packets_held(draw: Draw) -> Setting:
    setting = path(draw, delays=(5, 10, 20))
    setting.queue = droptail(200 + 3 * setting.segments)
    upload(setting, seconds(setting, draw.uniform(1, 1.5)))
    return outage(setting, "packets-held", draw.uniform(0.3, 0.8), draw.uniform(3, 6), hold=True)


def download_policed(draw: Draw) -> Setting:
    setting = path(draw, rates=(50,), delays=(5, 10, 20))
    rate = draw.choice([2, 4, 8])
    download(setting, rate * 1e6 / 8 * draw.uniform(4, 8))
    burst = f"{draw.choice([15, 30, 60])}kB"
    return channel(setting, "policer", "policer", at="ingress", rate=f"{rate}Mbps", burst=burst)


def upload_random_loss(draw: Draw) -> Setting:
    setting = path(draw, rates=(20,), delays=(10, 20))
    setting.section("server", "receive", delayed_ack={"kind": "off"})
    setting.based_on = draw.choice(("rfc-sack", "linux-2.6-reno", "linux-6-reno"))
    upload(setting, draw.randint(2500, 4000) * 1000)
    return channel(setting, "loss-random", "random", loss=draw.uniform(0.01, 0.03), only="data")


def download_loss_bursts(draw: Draw) -> Setting:
    setting = path(draw, rates=(20,), delays=(10, 20))
    download(setting, draw.randint(2500, 4000) * 1000)
    burst = f"{draw.choice([2, 3])} packets"
    return channel(
        setting, "loss-random", "gilbert-elliott", mean_loss=draw.uniform(0.025, 0.04), mean_burst=burst
    )


def upload_shallow_queue(draw: Draw) -> Setting:
    """The first window overruns a queue of a few packets; it takes long until cwnd fills the path."""
    setting = path(draw, rates=(50,), delays=(30, 40))
    setting.based_on = draw.choice(PLAIN)
    setting.section("client", "congestion", initial_window="10 SMSS")
    setting.queue = droptail(draw.randint(2, 4))
    return upload(setting, draw.randint(1500, 2500) * 1000)


def acks_lost(draw: Draw, setting: Setting, bursts: int) -> Setting:
    """A small receive window, and bursts of lost ACKs that are one ACK longer than such a window has."""
    setting.based_on = draw.choice(PLAIN)
    segments = draw.randint(8, 12)
    window(setting, setting.receiver, segments * 1460)
    setting.section(setting.receiver, "receive", delayed_ack={"kind": "off"})
    begins = [draw.randint(60, 90) + 100 * n for n in range(bursts)]
    lost = [n for begin in begins for n in range(begin, begin + segments + 1)]
    other = "back" if setting.direction == "forward" else "forward"
    return channel(setting, "ack-loss", "list", packets=lost, only="acks", direction=other)


def upload_acks_lost(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    upload(setting, draw.randint(600, 800) * 1000)
    return acks_lost(draw, setting, draw.randint(2, 3))


def _reordered(draw: Draw, setting: Setting) -> Setting:
    setting.based_on = draw.choice(PLAIN)
    setting.section(setting.receiver, "receive", delayed_ack={"kind": "off"})
    by = f"{draw.uniform(6, 15) * 12 / setting.rate_mbps:.2f}ms"
    return channel(setting, "reordering", "reorder", probability=draw.uniform(0.02, 0.05), by=by)


def upload_reordered(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(10, 20))
    return _reordered(draw, upload(setting, draw.randint(3000, 5000) * 1000))


def download_reordered(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(10, 20))
    return _reordered(draw, download(setting, draw.randint(3000, 5000) * 1000))


def upload_hasty_timer(draw: Draw) -> Setting:
    """A fixed timer that is shorter than the round trip: all is sent again and again."""
    setting = path(draw, rates=(20, 50), delays=(60, 80))
    setting.based_on = "rfc-sack"
    fixed = f"{draw.uniform(0.4, 0.8) * setting.round_trip_ms:.1f}ms"
    setting.section("client", "rto", initial=fixed, min=fixed, max=fixed)
    return upload(setting, draw.randint(200, 400) * 1000)


def upload_stalled(draw: Draw) -> Setting:
    setting = path(draw, rates=(10, 20), delays=(5, 10, 20))
    setting.based_on = draw.choice(PLAIN)
    setting.section("client", "detect", dupthresh=1000)
    setting.section("client", "rto", min=f"{draw.uniform(3, 6):.2f}s")
    setting.timer_makes = "sender-stalled"
    setting.queue = droptail(1000)
    upload(setting, draw.randint(600, 1000) * 1000)
    window(setting, "server", 4_000_000)
    lost = draw.randint(50, 200)
    return channel(setting, "loss-random", "list", packets=[lost], only="data")


KINDS = tuple(
    Kind(name, cause, make, near=near, is_bulk=True)
    for name, cause, make, near in (
        ("upload-fills-link", "bottleneck", upload_fills_link, "download-policed"),
        ("download-fills-link", "bottleneck", download_fills_link, "download-beside-datagrams"),
        ("upload-shared", "shared-bottleneck", upload_shared, "upload-fills-link"),
        ("download-beside-datagrams", "shared-bottleneck", download_beside_datagrams, "download-fills-link"),
        ("upload-small-window", "receive-window", upload_small_window, "upload-small-send-buffer"),
        ("download-small-window", "receive-window", download_small_window, "download-slow-reader"),
        ("upload-small-send-buffer", "send-window", upload_small_send_buffer, "upload-small-window"),
        ("download-paced", "pacing", download_paced, "download-policed"),
        ("upload-outage", "outage", upload_outage, "reader-stops"),
        ("upload-path-died", "path-died", upload_path_died, "upload-outage"),
        ("upload-packets-held", "packets-held", upload_packets_held, "upload-outage"),
        ("download-policed", "policer", download_policed, "download-fills-link"),
        ("upload-random-loss", "loss-random", upload_random_loss, "upload-shallow-queue"),
        ("download-loss-bursts", "loss-random", download_loss_bursts, "download-policed"),
        ("upload-shallow-queue", "loss-queue", upload_shallow_queue, "upload-random-loss"),
        ("upload-acks-lost", "ack-loss", upload_acks_lost, "upload-random-loss"),
        ("upload-reordered", "reordering", upload_reordered, "upload-random-loss"),
        ("download-reordered", "reordering", download_reordered, "download-loss-bursts"),
        ("upload-hasty-timer", "timer", upload_hasty_timer, "upload-random-loss"),
        ("upload-stalled", "sender-stalled", upload_stalled, "upload-random-loss"),
    )
)
