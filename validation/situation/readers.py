"""Kinds in which a program reads late, so that the receive window closes."""

from __future__ import annotations

from situation.kind import Kind
from situation.setting import Draw, Host, Setting, download, path, seconds, turns, upload, window


def _buffer(setting: Setting) -> float:
    """A receive buffer that holds twice the path's bandwidth-delay product, in bytes."""
    return max(64_000, 2 * setting.segments * 1460)


def _buffered(setting: Setting, host: Host) -> Setting:
    return window(setting, host, _buffer(setting))


def upload_slow_reader(draw: Draw) -> Setting:
    setting = _buffered(path(draw, rates=(20, 50), delays=(5, 10, 20)), "server")
    rate = setting.rate_mbps * draw.uniform(0.05, 0.2)
    setting.flow["reader"] = {"kind": "rate", "rate": f"{rate:.3f}Mbps"}
    return upload(setting, rate * 1e6 / 8 * draw.uniform(4, 8))


def download_slow_reader(draw: Draw) -> Setting:
    setting = _buffered(path(draw, rates=(20, 50), delays=(5, 10, 20)), "client")
    rate = setting.rate_mbps * draw.uniform(0.05, 0.2)
    setting.flow["back_reader"] = {"kind": "rate", "rate": f"{rate:.3f}Mbps"}
    return download(setting, rate * 1e6 / 8 * draw.uniform(4, 8))


def reader_pauses(draw: Draw) -> Setting:
    """The program reads all that has arrived, every second or so."""
    setting = _buffered(path(draw, rates=(20, 50), delays=(2, 4)), "server")
    setting.flow["reader"] = {"kind": "pauses", "every": f"{draw.uniform(0.6, 1.2):.2f}s"}
    return upload(setting, _buffer(setting) * draw.uniform(5, 9))


def reader_stops(draw: Draw) -> Setting:
    setting = _buffered(path(draw, rates=(20, 50), delays=(5, 10, 20)), "server")
    stops = {"after": f"{draw.uniform(0.2, 0.4):.2f}s", "for": f"{draw.uniform(2, 5):.2f}s"}
    setting.flow["reader"] = {"kind": "stops", **stops}
    return upload(setting, seconds(setting, draw.uniform(0.9, 1.3)))


def reader_stops_for_good(draw: Draw) -> Setting:
    """The program stops reading and never goes on: probes go on to the end of the capture."""
    setting = _buffered(path(draw, rates=(20, 50), delays=(5, 10, 20)), "client")
    setting.flow["back_reader"] = {"kind": "stops", "after": f"{draw.uniform(0.2, 0.4):.2f}s"}
    setting.duration_s = draw.uniform(40, 50)
    # A file too large to arrive before the program stops, even over the faster link of the removal test.
    return download(setting, seconds(setting, 9))


def requests_read_slowly(draw: Draw) -> Setting:
    """Large requests, whose bytes the server works on as it reads."""
    setting = _buffered(path(draw, rates=(20, 50), delays=(5, 10)), "server")
    rate = setting.rate_mbps * draw.uniform(0.05, 0.15)
    setting.flow["reader"] = {"kind": "rate", "rate": f"{rate:.3f}Mbps"}
    return turns(setting, draw.randint(2, 4), round(_buffer(setting) * draw.uniform(4, 7)), 300)


KINDS = (
    Kind(
        "upload-slow-reader",
        "receiver-not-reading",
        upload_slow_reader,
        near="upload-small-window",
        is_bulk=True,
    ),
    Kind(
        "download-slow-reader",
        "receiver-not-reading",
        download_slow_reader,
        near="download-paced",
        is_bulk=True,
    ),
    Kind("reader-pauses", "receiver-not-reading", reader_pauses, near="on-and-off"),
    Kind("reader-stops", "receiver-not-reading", reader_stops, near="upload-outage"),
    Kind("reader-stops-for-good", "receiver-not-reading", reader_stops_for_good, near="upload-path-died"),
    Kind("requests-read-slowly", "receiver-not-reading", requests_read_slowly, near="slow-server"),
)
