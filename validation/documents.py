"""Runs every command and every Python snippet of README.md and docs/*.md, as a user would.

    .venv/bin/python validation/documents.py [--kind quick --kind studies --kind live] [DOCUMENT ...]

In a virtual environment with what `make build` installs and no more, with no variable but PATH and HOME, in a
folder of its own for each document, in the order in which they stand there. Each must end with exit code 0
and without a traceback. `documents.toml` has the files that the documents talk about, and names each command
that is not run, or not as it stands, with the reason. What cannot be run and is not named there fails, and
so does an entry there that no document has any more.
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import plain_environment

ROOT = Path(__file__).resolve().parent.parent
FACTS = Path(__file__).with_name("documents.toml")
#: quick: all but the others. studies: at full size. live: as root, in network namespaces.
KINDS = ("quick", "studies", "live")
#: How a line begins that is a command without a prompt.
PROGRAMS = ("rexmit", "make", "cargo", "python", "python3", ".venv/bin/python", "wireshark", "tshark")
#: Languages in which something is shown that is no program; what begins with a brace is the site's own.
SHOWN = ("toml", "json")
#: How a command ends whose packages are not installed: with the line that installs them.
LACKS = re.compile(r"needs [\w, -]+: \S.* install ")
#: A study on a machine that others use takes several times as long.
LIMIT_S = 1800


@dataclass(frozen=True)
class Piece:
    """A command or a snippet, and where it stands."""

    document: str
    line: int
    code: str
    python: bool = False

    def __str__(self) -> str:
        told = "snippet" if self.python else self.code
        return f"{self.document}:{self.line}: {told}"


@dataclass
class Said:
    """What became of the pieces. failed: sentences with what they printed."""

    ran: list[tuple[Piece, float]] = field(default_factory=list)
    apart: list[tuple[Piece, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    lacked: list[tuple[Piece, str]] = field(default_factory=list)


def documents() -> list[str]:
    """Those that are checked; docs/studies has no command of its own."""
    folders = ("docs", "docs/tutorials", "docs/questions")
    return ["README.md", *(f"{f}/{p.name}" for f in folders for p in sorted((ROOT / f).glob("*.md")))]


def pieces(document: str, text: str, facts: dict[str, Any]) -> Iterator[Piece]:
    """What stands in the fenced blocks, in order. Raises ValueError for a block that may be anything."""
    from markdown_it import MarkdownIt

    for token in MarkdownIt().parse(text):
        if token.type == "code_block":
            raise ValueError(
                f"{document}:{token.map[0] + 1}: an indented block says of no line what it is; fence it"
            )
        if token.type != "fence":
            continue
        begins = token.map[0] + 2
        if any(is_known(known, document, token.content) for known in facts["output"] + facts["part"]):
            continue
        if token.info == "python":
            yield Piece(document, begins, token.content, python=True)
        elif not token.info:
            yield from _commands(document, begins, token.content)
        elif token.info not in SHOWN and not token.info.startswith("{"):
            raise ValueError(
                f"{document}:{begins - 1}: a block in {token.info!r} is not run, nor known to be no program"
            )


def is_known(known: dict[str, str], document: str, content: str) -> bool:
    return known["document"] == document and content.startswith(known["begins"])


def _commands(document: str, begins: int, content: str) -> Iterator[Piece]:
    lines = list(enumerate(content.splitlines(), begins))
    prompted = [(n, line.removeprefix("$ ")) for n, line in lines if line.startswith("$ ")]
    if not prompted and not content.strip():
        return
    for n, line in prompted or lines:
        # What follows two blanks explains.
        command = re.split(r"\s{2,}", line.strip())[0]
        if not prompted and command.split(" ")[0] not in PROGRAMS:
            raise ValueError(f"{document}:{n}: {line!r} begins with no known program, and is no known output")
        if command:
            yield Piece(document, n, command)


def entry_of(piece: Piece, facts: dict[str, Any]) -> dict[str, Any] | None:
    """What documents.toml says of a command."""
    found = [
        e
        for e in facts["command"]
        if e["is"] == piece.code and e.get("document", piece.document) == piece.document
    ]
    return found[0] if found else None


def kind_of(piece: Piece, entry: dict[str, Any]) -> str:
    return entry.get("kind") or ("live" if "--bench live" in piece.code else "quick")


def check(
    document: str,
    kinds: Sequence[str],
    environment: Path,
    work: Path,
    facts: dict[str, Any],
    elsewhere: set[str],
    may_lack: bool = False,
) -> Said:
    """Runs what one document says, in a folder of its own. elsewhere: commands that others had before it.

    may_lack: a command may also say which packages it needs, with the command that installs them.
    """
    said = Said()
    here = prepared(document, environment, work / document.replace("/", "-"), facts)
    snippets = []
    unlive = "it is not among the kinds asked for" if "live" not in kinds else why_not_live(environment)
    for piece in pieces(document, (ROOT / document).read_text(encoding="utf-8"), facts):
        if piece.python:
            snippets.append(piece)
            continue
        entry = entry_of(piece, facts) or {}
        kind = kind_of(piece, entry)
        reason = entry.get("apart") or (unlive if kind == "live" else "") or lacking(entry)
        if not reason and kind not in kinds:
            reason = f"{kind} is not among the kinds asked for"
        if not reason and kind == "studies" and piece.code in elsewhere:
            reason = "was run for another document"
        if reason:
            said.apart.append((piece, reason))
            continue
        elsewhere.add(piece.code)
        command = ["bash", "-e", "-c", entry.get("instead", piece.code)]
        _run(piece, command, here, environment, said, may_lack)
    if snippets and "quick" in kinds:
        (here / "snippets.py").write_text(_joined(snippets), encoding="utf-8")
        together = Piece(document, snippets[0].line, f"{len(snippets)} snippets", python=True)
        _run(together, ["python", "snippets.py"], here, environment, said, may_lack)
    return said


def _joined(snippets: Sequence[Piece]) -> str:
    """One program of a document's snippets: a later one may use what an earlier one made."""
    given = [(piece.code, f"{piece.document}:{piece.line}") for piece in snippets]
    return f"""\
names = {{"__name__": "__main__"}}
for code, name in {given!r}:
    exec(compile(code, name, "exec"), names)
"""


def lacking(entry: dict[str, Any]) -> str:
    """Why this machine cannot run it, if it cannot."""
    missing = [
        name
        for name in entry.get("needs", [])
        if not (Path(name).exists() if "/" in name else shutil.which(name))
    ]
    return f"this machine has no {' and no '.join(missing)}" if missing else ""


def why_not_live(environment: Path) -> str:
    """Why the live bench cannot run here, if it cannot."""
    done = subprocess.run(
        [environment / "bin" / "rexmit", "live", "check"], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else "the live bench cannot run here (rexmit live check)"


def prepared(document: str, environment: Path, here: Path, facts: dict[str, Any]) -> Path:
    """The folder in which a user of this document would sit."""
    here.mkdir(parents=True)
    for name in facts["links"]:
        (here / name).symlink_to(ROOT / name)
    (here / ".venv").symlink_to(environment)
    own = here / "own"
    own.mkdir()
    for name in ("kernel", "testbed"):
        (own / name).symlink_to(ROOT / "tests" / "data")
    for name, source in facts["files"].items():
        content = (ROOT / source).read_bytes()
        unpack = source.endswith(".gz") and not name.endswith(".gz")
        (here / name).write_bytes(gzip.decompress(content) if unpack else content)
    for known in facts["before"]:
        for command in known["commands"] if known["document"] == document else []:
            done = execute(["bash", "-e", "-c", command], here, environment)
            if done.returncode:
                raise RuntimeError(f"{document}: {command}: {done.stderr}")
    return here


def execute(command: Sequence[str], here: Path, environment: Path) -> subprocess.CompletedProcess[str]:
    path = f"{environment / 'bin'}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return subprocess.run(
        ["env", "-i", f"PATH={path}", f"HOME={here}", *command],
        cwd=here, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip


def _run(
    piece: Piece, command: Sequence[str], here: Path, environment: Path, said: Said, may_lack: bool = False
) -> None:
    began = time.monotonic()
    try:
        done = execute(command, here, environment)
    except subprocess.TimeoutExpired:
        said.failed.append(f"{piece}: no end after {LIMIT_S} s; what takes so long is to be set apart")
        return
    said.ran.append((piece, time.monotonic() - began))
    last = next(iter(done.stderr.splitlines()[-1:]), "")
    if may_lack and done.returncode and LACKS.search(last):
        said.lacked.append((piece, last))
        return
    if done.returncode or "Traceback (most recent call last)" in done.stdout + done.stderr:
        told = "\n".join(done.stderr.splitlines()[-12:] or done.stdout.splitlines()[-12:])
        said.failed.append(f"{piece}: exit code {done.returncode}\n{told}")


def stale(facts: dict[str, Any]) -> list[str]:
    """Entries of documents.toml that no document has."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in documents()}
    every = [piece for name, text in texts.items() for piece in pieces(name, text, facts)]
    left = [e["is"] for e in facts["command"] if not any(entry_of(piece, facts) is e for piece in every)]
    blocks = facts["output"] + facts["part"]
    return left + [
        b["begins"] for b in blocks if b["begins"].split("\n")[0] not in texts.get(b["document"], "")
    ]


def facts() -> dict[str, Any]:
    return tomllib.loads(FACTS.read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "documents", nargs="*", metavar="DOCUMENT", help="only these (README.md, docs/live.md, …)"
    )
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind (repeatable)")
    args = parser.parse_args()
    known, failed = facts(), 0
    elsewhere: set[str] = set()
    for what in stale(known):
        failed += 1
        print(f"{FACTS.name}: no document has {what!r}")
    with tempfile.TemporaryDirectory(prefix="documents-") as folder:
        environment = plain_environment.make(Path(folder) / "venv")
        for document in args.documents or documents():
            said = check(document, args.kind or KINDS, environment, Path(folder), known, elsewhere)
            failed += len(said.failed)
            for piece, seconds in said.ran:
                print(f"{seconds:7.1f} s  {piece}", flush=True)
            for piece, reason in said.apart:
                print(f"  not run  {piece} ({reason})", flush=True)
            for sentence in said.failed:
                print(f"   FAILED  {sentence}", flush=True)
    print(f"{failed} failed" if failed else "all ran")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
