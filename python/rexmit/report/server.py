"""`rexmit view`: the page and its data for this machine's own browser, and for nobody else.

It listens on the loopback address; who asks has to know a secret that is part of the address, and asks under
the name of this machine (a page elsewhere whose name leads here does not) and from no other page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from rexmit import _core
from rexmit.report.document import inflated, page, policy
from rexmit.report.make import Hide, Made, meta, shown, title
from rexmit.report.plain import in_html, in_json

if TYPE_CHECKING:
    from rexmit.report.source import Row, Source

LOOPBACK = "127.0.0.1"
HTML, JSON, BYTES = "text/html; charset=utf-8", "application/json", "application/octet-stream"
#: A screen has no more columns.
MOST_COLUMNS = 2**16
#: Nobody waits longer for a request to arrive, s.
PATIENCE_S = 60
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Refused(Exception):
    """A request that gets no answer but a status and a sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Server(ThreadingHTTPServer):
    """Serves one page. told: META without what is loaded later.  port: 0 for any that is free.  hide: what
    `--anonymize` does to what is loaded.  blobs: of what has no packets.
    """

    daemon_threads = True

    def __init__(
        self,
        told: Row,
        sources: Sequence[Source],
        port: int = 0,
        hide: Hide = shown,
        blobs: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__((LOOPBACK, port), Handler)
        self.base = f"/{token_urlsafe(24)}/"
        self.hosts = {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}
        self._sources = {source.number: source for source in sources}
        head, body, end = page()
        where = f'<script id="rexmit-server" type="application/json">{in_html({"base": self.base})}</script>'
        self._hide = hide
        self._blobs = dict(blobs or {})
        self._fixed = {
            "": (HTML, (head + body + where + end).encode()),
            "meta.json": (JSON, in_json(told)),
        }

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a client that breaks off its connection, wherever that is noticed."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def warm(self) -> None:
        """Makes what the page asks for first."""
        for source in self._sources.values():
            for flow in source.capture.analysis.worst(1):
                source.core.warm(flow)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{LOOPBACK}:{self.server_port}{self.base}"

    def answer(self, target: str) -> tuple[str, bytes]:
        """The kind and the bytes of what lies at a path. Raises Refused."""
        parts = urlsplit(target)
        path = unquote(parts.path)
        if not compare_digest(path[: len(self.base)].encode(), self.base.encode()):
            raise Refused(404, "the address is not that which rexmit view printed")
        name = path[len(self.base) :]
        if name in self._fixed:
            return self._fixed[name]
        if name.startswith("blob/"):
            return BYTES, self._blob(name.removeprefix("blob/"))
        asked = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        known: dict[str, Callable[[dict[str, str]], tuple[str, bytes]]] = {
            "window": self._window,
            "rtt": self._rtt,
            "load": self._load,
        }
        if name not in known:
            raise Refused(404, "there is no such thing here")
        return known[name](asked)

    def _blob(self, name: str) -> bytes:
        if name in self._blobs:
            return inflated(self._blobs[name])
        for source in self._sources.values():
            if (found := source.core.blob(name)) is not None:
                return found
        raise Refused(404, "there is no such blob")

    def _window(self, asked: dict[str, str]) -> tuple[str, bytes]:
        core, flow = self._flow(asked)
        span = _number(asked, "from_ns"), _number(asked, "to_ns")
        columns = min(max(_number(asked, "columns"), 1), MOST_COLUMNS)
        return BYTES, core.window(flow, *span, columns)

    def _rtt(self, asked: dict[str, str]) -> tuple[str, bytes]:
        core, flow = self._flow(asked)
        return BYTES, core.rtt(flow, _number(asked, "from_ns"), _number(asked, "to_ns"))

    def _load(self, asked: dict[str, str]) -> tuple[str, bytes]:
        core, flow = self._flow(asked)
        told = core.load(flow)
        if told is None:
            raise Refused(404, f"flow {flow} carries no data")
        return JSON, told.encode() if self._hide is shown else in_json(self._hide(json.loads(told)))

    def _flow(self, asked: dict[str, str]) -> tuple[_core.ReportSource, int]:
        number, flow = _number(asked, "source"), _number(asked, "flow")
        if number not in self._sources:
            raise Refused(404, f"there is no source {number}")
        core = self._sources[number].core
        if not 0 <= flow < 2**32 or not core.holds(flow):
            raise Refused(404, f"there is no flow {flow}")
        return core, flow


def of_view(sources: Sequence[Source], command: str, hide: Hide = shown) -> Row:
    """META of one capture or run whose packets are asked for."""
    made = Made(meta("capture" if sources[0].run is None else "run", title(sources), command, hide))
    put(made, sources, [], hide)
    return made.meta


def put(made: Made, sources: Sequence[Source], firsts: Sequence[int], hide: Hide) -> None:
    """Puts sources whose packets are asked for into a page, as `make.add` puts those of a file."""
    told = _core.report_view([source.core for source in sources], list(firsts))
    made.meta["sources"] += [hide(json.loads(text)) for text in told]


def _number(asked: dict[str, str], name: str) -> int:
    try:
        value = float(asked[name])
        if not abs(value) < 2**63:
            raise ValueError
        # Not by way of a float, which holds no ns of a long time.
        return int(asked[name]) if asked[name].lstrip("-").isdecimal() else int(value)
    except (KeyError, ValueError):
        raise Refused(400, f"{name}: a whole number is wanted") from None


class Handler(BaseHTTPRequestHandler):
    """One request after another of a connection."""

    server: Server
    server_version = "rexmit"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE_S

    def do_GET(self) -> None:
        """Answers with what is asked for."""
        try:
            self._check()
            kind, body = self.server.answer(self.path)
            self._send(200, kind, body)
        except Refused as refused:
            self._send(refused.status, JSON, in_json({"error": str(refused)}))
        except ValueError as error:
            self._send(400, JSON, in_json({"error": str(error)}))
        except ConnectionError:
            self.close_connection = True

    do_HEAD = do_GET

    def _check(self) -> None:
        """Who asks is this machine's browser, and no page of somebody else in it."""
        if len(self.headers.get_all("Host") or []) != 1 or self.headers["Host"] not in self.server.hosts:
            raise Refused(403, "this is not the host that was asked for")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.server.hosts}:
            raise Refused(403, "another page asks")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not self._led_here():
            raise Refused(403, "another page asks")

    def _led_here(self) -> bool:
        """Whether a file of this machine led the browser to the page (`rexmit view --open`). Whoever leads
        there knows the secret, and sees nothing of the page: it is shown in no frame, and keeps no tie to its
        opener.
        """
        told = [self.headers.get(f"Sec-Fetch-{what}") for what in ("Mode", "Dest")]
        return told == ["navigate", "document"] and self.path == self.server.base

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", policy(server=True))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status != 200:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: whoever watches the terminal waits for nothing."""
