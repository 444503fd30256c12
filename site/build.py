"""Builds the site from docs/ into target/site, where index.html opens from the file.

    .venv/bin/python site/build.py          (make site)

Tutorials are run (tutorials.py), reference pages written from the program (written.py), and Sphinx makes
pages of all; a warning is an error. Nothing from elsewhere is loaded.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tutorials
import written

ROOT = Path(__file__).resolve().parent.parent
DOCS, SITE = ROOT / "docs", ROOT / "target" / "site"
#: The page that analyses in the browser, if it was built (web.py), and what the front page says of it then.
TRY, TRY_IT = ROOT / "target" / "web" / "rexmit.html", '<a class="try" href="try.html">Try it</a>'
#: Files of docs/ that pages show or link to.
BESIDE = (".png", ".svg", ".json")


def main() -> int:
    """Builds it; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=SITE, help="where to (default target/site)")
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory(prefix="site-") as folder:
        source, extra = Path(folder) / "source", Path(folder) / "extra"
        try:
            _sources(source, extra, Path(folder) / "work")
        except tutorials.FailedError as error:
            print(f"site: {error}", file=sys.stderr)
            return 1
        return _sphinx(source, extra, out)


def _sources(source: Path, extra: Path, work: Path) -> None:
    """The pages as Sphinx reads them."""
    for path in sorted(DOCS.rglob("*")):
        name = path.relative_to(DOCS)
        target = source / name
        if path.is_dir() or path.suffix not in (".md", *BESIDE):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copy(path, target)
            continue
        if name.parts[0] in tutorials.FOLDERS:
            text = tutorials.play(f"docs/{name}", work, target.parent, extra / name.parent)
        else:
            text = path.read_text(encoding="utf-8")
        if str(name) == "index.md" and TRY.exists():
            text = text.replace("No installation at hand: [", f"{TRY_IT} without an installation: [")
        target.write_text(outside_named(text, "../" * (len(name.parts) - 1)), encoding="utf-8")
    if TRY.exists():
        extra.mkdir(parents=True, exist_ok=True)
        shutil.copy(TRY, extra / "try.html")
    for name, text in written.pages().items():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def outside_named(markdown: str, up: str) -> str:
    """Links to files of the checkout that are no pages become their names. up: from the page to docs/."""

    def named(found: re.Match[str]) -> str:
        path = found[2].strip()
        return found[1] if path in found[1] else f"{found[1]} (`{path}`)"

    return re.sub(rf"\[([^\]]+)\]\(\s*{re.escape(up)}\.\./([^)#]+)(?:#[^)]*)?\)", named, markdown)


def _sphinx(source: Path, extra: Path, out: Path) -> int:
    from sphinx.cmd.build import main as sphinx

    extra.mkdir(exist_ok=True)
    shutil.rmtree(out, ignore_errors=True)
    settings = ["-c", str(Path(__file__).resolve().parent), f"-Dhtml_extra_path={extra}"]
    return sphinx(["-q", "-W", "--keep-going", "-b", "html", *settings, str(source), str(out)])


if __name__ == "__main__":
    sys.exit(main())
