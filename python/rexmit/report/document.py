"""The HTML file: the explorer's page with what it shows in the places that it has for that."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from rexmit.report.plain import in_html
from rexmit.screen.say import markup

#: Where the page has its data, and where what it may load and run is said.
DATA, POLICY = "<!--rexmit-data-->", "<!--rexmit-policy-->"
#: The page, built from explorer/.
PAGE = Path(__file__).with_name("explorer.html")
#: By which a file is known as one that may be replaced.
MADE_BY = '<meta name="generator" content="rexmit report">'
_SCRIPT = re.compile(rb"<script(?P<of>[^>]*)>(?P<text>.*?)</script>", re.S)


@cache
def page() -> tuple[str, str, str]:
    """The page in three parts: up to its policy, up to its data, and the rest."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(POLICY)
    body, marker, end = rest.partition(DATA)
    if not marker or DATA in end:
        raise AssertionError(f"{PAGE}: {POLICY} and then {DATA} stand in it once")
    return head, body, end


@cache
def policy(*, server: bool = False) -> str:
    """The content security policy: nothing is loaded from anywhere, and only the page's own scripts run."""
    scripts = [f"'sha256-{_hash(m['text'])}'" for m in _SCRIPT.finditer(PAGE.read_bytes())]
    said = {
        "default-src": "'none'",
        "script-src": " ".join(scripts),
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if server:
        # A header can say what a meta element cannot.
        said |= {"connect-src": "'self'", "frame-ancestors": "'none'"}
    return "; ".join(f"{name} {value}" for name, value in said.items())


def _hash(script: bytes) -> str:
    # A browser hashes the text with its line ends as HTML has them.
    return base64.b64encode(hashlib.sha256(script.replace(b"\r\n", b"\n")).digest()).decode()


def frame() -> tuple[str, str]:
    """A file before its data, and behind them."""
    head, body, end = page()
    said = f'{MADE_BY}<meta http-equiv="Content-Security-Policy" content="{markup(policy())}">'
    return head + said + body, end


def deflated(data: bytes) -> bytes:
    """As a page's `DecompressionStream("deflate-raw")` takes it: without header and checksum."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def inflated(data: bytes) -> bytes:
    """What was deflated so."""
    return zlib.decompress(data, -zlib.MAX_WBITS)


def document(meta: dict[str, Any], blobs: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """The file in pieces. blobs: names, and what they hold in raw deflate."""
    before, behind = frame()
    yield before.encode()
    yield f'<script id="rexmit-meta" type="application/json">{in_html(meta)}</script>\n'.encode()
    for name, blob in blobs:
        element = f'<script type="text/plain" data-blob="{markup(name)}">'
        yield element.encode() + base64.b64encode(blob) + b"</script>\n"
    yield behind.encode()


def is_ours(path: Path) -> bool:
    """Whether `rexmit report` wrote this file."""
    with open(path, "rb") as file:
        return MADE_BY.encode() in file.read(4096)
