"""Builds the page that analyses captures in the browser: one file, target/web/rexmit.html.

    .venv/bin/python site/web.py          (make web)

Needs Rust's target wasm32-unknown-unknown and Node, and says with exit code 2 what it lacks. The answers come
from the crates; the page of a report is the one that `rexmit report` writes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "web" / "rexmit.html"
TARGET = "wasm32-unknown-unknown"
#: Samples that the page holds, with what each shows.
SAMPLES = ("tail", "wifi", "offload")
#: The page holds the core, so it cannot be smaller; larger than this it is slow to load.
MOST_BYTES = 3 << 20


class LackingError(Exception):
    """A program that is needed, and how it is had."""


def main() -> int:
    """Builds it; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="the file (default target/web/rexmit.html)")
    out = parser.parse_args().out
    try:
        work = target() / "web-parts"
        core = bind(compiled(), work / "core")
        page = assembled(bundled(core, work / "page"), core)
    except LackingError as error:
        print(f"web: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    if len(page) > MOST_BYTES:
        print(f"web: the page has {len(page):,} bytes, more than {MOST_BYTES:,}", file=sys.stderr)
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(page)
    print(f"web: {out}, {len(page):,} bytes")
    return 0


def sources() -> str:
    """A hash of what the page is made of, by which a page that is older is known."""
    named = ("Cargo.toml", "Cargo.lock", "site/web.py", "python/rexmit/report/explorer.html")
    named += ("site/bind/Cargo.toml", "site/bind/Cargo.lock", "site/bind/src/main.rs")
    found = [ROOT / name for name in named]
    for folder, kinds in (("crates", (".rs", ".toml")), ("explorer", (".ts", ".tsx", ".css", ".html"))):
        inside = (path for path in (ROOT / folder).rglob("*") if path.suffix in kinds)
        found += [path for path in inside if not {"node_modules", "target", "tests"} & set(path.parts)]
    told = hashlib.sha256()
    for path in sorted(found):
        told.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return told.hexdigest()


def target() -> Path:
    """Where Cargo puts what it builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def _run(*command: str | Path, where: Path = ROOT, **more: str) -> None:
    subprocess.run([str(word) for word in command], cwd=where, env={**os.environ, **more}, check=True)


def _had(*command: str | Path, what: str, where: Path = ROOT) -> None:
    """Fetches what is needed. Raises LackingError, with what it is, where that cannot be had."""
    try:
        _run(*command, where=where)
    except subprocess.CalledProcessError:
        raise LackingError(f"needs {what}, which could not be fetched") from None


def compiled() -> Path:
    """The core as a module of WebAssembly."""
    if shutil.which("cargo") is None:
        raise LackingError("needs a Rust toolchain: see https://rustup.rs")
    found = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True)
    if not (Path(found.stdout.strip()) / "lib" / "rustlib" / TARGET).is_dir():
        raise LackingError(f"needs Rust's library for browsers: rustup target add {TARGET}")
    _run("cargo", "build", "--quiet", "--profile", "web", "--target", TARGET, "--package", "rexmit-web")
    return target() / TARGET / "web" / "rexmit_web.wasm"


def bind(module: Path, to: Path) -> Path:
    """The module with its bindings for JavaScript; gives the folder.

    The library of wasm-bindgen does it, which is built much sooner than its program.
    """
    place, own = ROOT / "site" / "bind", target() / "bind"
    manifest = ("--manifest-path", place / "Cargo.toml", "--locked")
    _had("cargo", "fetch", "--quiet", *manifest, what="the crates of site/bind/Cargo.lock")
    _run("cargo", "build", "--quiet", *manifest, "--target-dir", own)
    _run(own / "debug" / "rexmit-bind", module, to)
    return to


def bundled(core: Path, to: Path) -> str:
    """The page with its script, as yet without what it unpacks."""
    explorer = ROOT / "explorer"
    if shutil.which("npm") is None:
        raise LackingError("needs Node 20 or newer: see https://nodejs.org")
    if not (explorer / "node_modules").is_dir():
        packages = "the packages of explorer/package-lock.json"
        _had("npm", "ci", "--no-audit", "--no-fund", where=explorer, what=packages)
    where = {"REXMIT_CORE": str((core / "rexmit_web.js").resolve()), "REXMIT_OUT": str(to.resolve())}
    _run("npm", "run", "--silent", "web", where=explorer, **where)
    return (to / "page.html").read_text(encoding="utf-8")


def assembled(page: str, core: Path) -> bytes:
    """The whole page: its policy, the samples' names, and behind its script what is large."""
    from rexmit.report import document
    from rexmit.samples import ALL
    from rexmit.screen.say import markup

    named = {sample.name: sample for sample in ALL}
    folder = ROOT / "python" / "rexmit" / "samples"
    told = [{"name": n, "about": named[n].about, "file": f"{n}.pcap.gz"} for n in SAMPLES]
    parts = [
        _element("core", (core / "rexmit_web_bg.wasm").read_bytes()),
        _element("report", json.dumps(document.frame()).encode()),
    ]
    parts += [_element(f"sample-{n}", (folder / f"{n}.pcap.gz").read_bytes(), packed=True) for n in SAMPLES]
    listed = f'<script id="samples" type="application/json">{json.dumps(told)}</script>'
    page = page.replace("<!--rexmit-samples-->", listed)
    page = page.replace("</body>", "".join(parts) + "</body>")
    policy = markup(_policy(page, document.policy()))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    made_of = f'<meta name="rexmit-sources" content="{sources()}">'
    return page.replace("<!--rexmit-policy-->", meta + made_of).encode()


def _element(name: str, content: bytes, packed: bool = False) -> str:
    """Bytes in an element that no browser runs: base64 of raw deflate, or of what is packed already."""
    if not packed:
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        content = packer.compress(content) + packer.flush()
    return f'<script id="{name}" type="text/plain">{base64.b64encode(content).decode()}</script>\n'


def _policy(page: str, report: str) -> str:
    """Nothing is loaded and no connection opened; what runs is the page's script, the report's, and the core.

    The page of a report is shown in a frame, which may do no more than this page.
    """
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    of_report = re.findall(r"'sha256-[^']+'", report)
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(["script-src 'wasm-unsafe-eval'", *(f"'sha256-{h}'" for h in hashes), *of_report]),
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "worker-src blob:",
            "frame-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
