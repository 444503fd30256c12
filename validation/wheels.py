"""Builds what a release consists of, and uses it as somebody would who installed it.

A wheel and a source archive are built into target/dist, and beside them those of the papers' studies, which
are a distribution of their own. On Linux the wheel is for every distribution with glibc 2.28 or newer
(manylinux_2_28), which auditwheel confirms. Each is installed into an empty virtual environment, with what it
declares that it needs and nothing else; then every subcommand runs there, in an empty folder and an empty
environment, and must answer with its exit code and with something that only a whole installation knows, or
say which packages it needs and how to install them. Then the same with the extras that `make build` installs,
the studies among them, where every subcommand must answer.

python validation/wheels.py [--only {wheel,sdist}] [--built]     --built: check what lies in target/dist

Exit code: 0 all is well, 1 something is not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

from plain_environment import USED

ROOT = Path(__file__).resolve().parent.parent
DIST = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "dist"
TOOLS = Path(sys.executable).parent
GLIBC = "manylinux_2_28"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
LICENSE_IN_WHEEL = f"rexmit-{VERSION}.dist-info/licenses/LICENSE"
METADATA = f"rexmit-{VERSION}.dist-info/METADATA"
DATA = "python/rexmit.data"
#: Until the first answer, from the beginning of `pip install`, and what may be installed for it.
FIRST_S, MOST_BYTES = 10.0, 40e6
BIN, REXMIT = ("Scripts", "rexmit.exe") if os.name == "nt" else ("bin", "rexmit")
CAPTURE = "A1_reno_22M_deep_200ms"


class Failed(Exception):
    """What went wrong, in a sentence."""


@dataclass(frozen=True)
class Try:
    """One command line of an installed rexmit, and what its answer must hold."""

    arguments: str
    says: str  # a regular expression
    code: int = 0
    #: Extra without which it says what it needs, and how to install that.
    extra: str = ""


def tries(linux: bool) -> list[Try]:
    stacks = len(list((ROOT / "stacks").glob("*.toml")))
    studies = ["interruption", "rto", "ns3", "wireless", "selfsimilar"]
    scenario = "{package}/scenarios/interruption.toml"
    live = (
        Try("live check", r"the live bench can(not| not)? run here", code=-1)
        if linux
        else Try("live check", r"the live bench needs Linux", code=1)
    )
    return [
        Try("--version", re.escape(f"rexmit {VERSION}")),
        Try("help", "papers and sweeps"),
        Try("help all", "traffic"),
        Try("s.pcap.gz", r"429 packets were lost"),
        Try("analyze s.pcap.gz", r"429 packets were lost, in 152 runs"),
        Try("analyze s.pcap.gz --json", r'"episodes"'),
        Try("analyze --sender s.pcap.gz --receiver r.pcap.gz --ladder 1", r"copies lost"),
        Try("analyze s.pcap.gz --out found", r"found"),
        Try("analyze s.pcap.gz --annotate noted.pcapng", r"noted"),
        Try(f"run {scenario}", r"packets were lost"),
        Try("fit s.pcap.gz --draws 2", r"base RTT"),
        Try("sample", r"slow-receiver"),
        Try("sample slow", r"wrote slow\.pcapng"),
        Try("slow.pcapng", r"packets were lost"),
        Try("sample wifi", r"wrote wifi\.pcap"),
        Try("scenarios", r"wifi-bursts"),
        Try("run interruption", r"packets were lost"),
        Try(f"run {scenario} --out runs/1", r"runs/1"),
        Try(f"run {scenario} --out runs/2 --figures svg", r"runs/2", extra="figures"),
        Try(f"run {scenario} --runs 3 --set flow.upload.stack=linux-2.6-cubic", r"3", extra="sweep"),
        Try("analyze . --out fleet", r"worst captures", extra="tables"),
        Try("compare runs/1 runs/1", r"episode"),
        Try("stacks --json", rf'(?s)(?:"name".*?){{{stacks}}}'),
        Try("stacks linux-2.6-reno", r"RFC"),
        Try("channels", r"gilbert-elliott"),
        Try(
            f"sweep {scenario} --vary link.air.rate=2Mbps,5Mbps --runs 2 --out swept",
            r"4 runs done and kept in swept",
            extra="sweep",
        ),
        Try('sql swept "select 1"', r"1", extra="sweep"),
        Try("sql --help", r"DuckDB"),
        Try("study list", "(?s)" + ".*".join(studies), extra="studies"),
        Try("study run wireless --quick --out studied", r"holds|fails|not decided", extra="studies"),
        Try("traffic s.pcap.gz", r"Hurst parameter"),
        Try("record --help", r"--filter"),
        Try("completion bash", r"_shtab_rexmit"),
        Try("replay s.pcap.gz --stack linux-6-reno", r"linux-6-reno"),
        Try("drill t.pkt --stack linux-6-cubic", r"pass"),
        Try("report s.pcap.gz -o page.html", r"page\.html"),
        Try("view --help", r"--port"),
        Try("wireshark", r"register_postdissector"),
        Try("mcp .", r"rexmit mcp needs mcp: \S.* install ", code=2),
        live,
        Try("analyze nowhere.pcap", r"nowhere\.pcap", code=2),
    ]


def say(what: str) -> None:
    print(what, flush=True)


def run(*command: str | Path, where: Path = ROOT) -> None:
    # maturin looks for Zig by way of the first `python3` that it finds.
    path = os.pathsep.join([str(TOOLS), os.environ.get("PATH", os.defpath)])
    done = subprocess.run([str(c) for c in command], check=False, cwd=where, env=os.environ | {"PATH": path})
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}")


def only(pattern: str) -> Path:
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        raise Failed(f"{DIST} holds {len(found)} files {pattern}, where one was to be")
    return found[0]


def build(what: list[str]) -> None:
    """With the full profile."""
    shutil.rmtree(DIST, ignore_errors=True)
    if "wheel" in what:
        # Zig's linker knows the C library of any age; the machine's own knows its own.
        portable = ["--compatibility", GLIBC, "--zig"] if sys.platform == "linux" else []
        run(TOOLS / "maturin", "build", "--release", "--out", DIST, *portable)
    run(TOOLS / "maturin", "sdist", "--out", DIST)
    build_studies(DIST)


def build_studies(into: Path) -> None:
    """The wheel of the papers' studies, which is the same for all systems, and its source archive."""
    for target in ("wheel", "sdist"):
        run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", into, where=ROOT / "studies")


def audit(wheel: Path) -> None:
    """That the wheel runs where its name says, and holds what the package's folder does."""
    if sys.platform == "linux":
        done = subprocess.run(
            [TOOLS / "auditwheel", "show", wheel], check=False, capture_output=True, text=True
        )
        told = " ".join(done.stdout.split())
        found = re.search(r'consistent with the following platform tag: "manylinux_2_(\d+)_', told)
        if not found or int(found[1]) > 28 or GLIBC not in wheel.name:
            raise Failed(f"{wheel.name} is not {GLIBC}: {told or done.stderr.strip()}")
        say(f"auditwheel: {wheel.name} needs glibc 2.{found[1]}")
    held = set(zipfile.ZipFile(wheel).namelist())
    if lacking := lacking_in_wheel(held):
        raise Failed(f"{wheel.name} lacks {', '.join(lacking)}")
    if wrong := wrong_metadata(zipfile.ZipFile(wheel).read(METADATA)):
        raise Failed(f"{wheel.name}: {wrong}")
    say(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(held)} files")


def audit_studies(wheel: Path) -> None:
    """That it holds what the package's folder does, and how rexmit finds it."""
    archive = zipfile.ZipFile(wheel)
    held = set(archive.namelist())
    if lacking := lacking_in_studies(held):
        raise Failed(f"{wheel.name} lacks {', '.join(lacking)}")
    if wrong := wrong_metadata(archive.read(f"rexmit_studies-{VERSION}.dist-info/METADATA")):
        raise Failed(f"{wheel.name}: {wrong}")
    say(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(held)} files")


def wrong_metadata(text: bytes) -> str:
    """What a package index would not take, or not show, of a wheel's metadata; empty if it takes all."""
    from packaging.metadata import InvalidMetadata, Metadata

    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as group:
        return "; ".join(str(error) for error in group.exceptions)
    except InvalidMetadata as error:
        return str(error)
    if not (metadata.description or "").strip():
        return "there is no description"
    kind = metadata.description_content_type or ""
    return (
        "" if kind.startswith("text/markdown") else f"the description is {kind or 'of no kind'}, not Markdown"
    )


def package_files(folder: str = "python", package: str = "rexmit") -> set[str]:
    """What lies in the package's folder, from `python` on; of what is built there nothing."""
    above = ROOT / folder
    return {
        p.relative_to(above).as_posix()
        for p in (above / package).rglob("*")
        if p.is_file() and "__pycache__" not in p.parts and p.suffix not in (".so", ".pyd")
    }


def lacking_in_wheel(held: set[str]) -> list[str]:
    """What a wheel with these files lacks. The stacks are inside the extension."""
    data = f"rexmit-{VERSION}.data/data/"
    wanted = package_files() | {LICENSE_IN_WHEEL} | {data + p for p in shared_files()}
    return sorted(wanted - held)


def lacking_in_studies(held: set[str]) -> list[str]:
    """What a wheel of the studies with these files lacks."""
    about = f"rexmit_studies-{VERSION}.dist-info"
    wanted = package_files("studies", "rexmit_studies")
    wanted |= {f"{about}/entry_points.txt", f"{about}/licenses/LICENSE"}
    return sorted(wanted - held)


#: Crates of which the extension is not made: those of the page that analyses in the browser.
BESIDE = ("report", "web")


def lacking_in_sdist(held: set[str]) -> list[str]:
    """What a source archive with these files, named from its own folder on, lacks."""
    stacks = {p.relative_to(ROOT).as_posix() for p in (ROOT / "stacks").glob("*.toml")}
    crates = {
        p.relative_to(ROOT).as_posix()
        for p in (ROOT / "crates").glob("*/**/*")
        if p.is_file()
        and p.relative_to(ROOT).parts[1] not in BESIDE
        and p.relative_to(ROOT).parts[2] in ("Cargo.toml", "build.rs", "src")
    }
    own = {"LICENSE", "README.md", "Cargo.toml", "Cargo.lock", "pyproject.toml"}
    own |= {f"docs/{name}.md" for name in ("definitions", "json", "scenario")}
    package = {f"python/{p}" for p in package_files()} | {f"{DATA}/data/{p}" for p in shared_files()}
    return sorted((stacks | crates | own | package) - held)


def shared_files() -> set[str]:
    """What goes beside the package into an environment's own folders: the manual page."""
    data = ROOT / DATA / "data"
    return {p.relative_to(data).as_posix() for p in data.rglob("*") if p.is_file()}


def install(archive: Path, place: Path) -> Path:
    """Into an empty environment, from there alone; gives its rexmit."""
    run(sys.executable, "-m", "venv", place / "venv")
    python = place / "venv" / BIN / "python"
    say(f"installing {archive.name} and what it needs into an empty environment")
    pip(python, archive)
    return python.with_name(REXMIT)


def pip(python: Path, *what: str | Path) -> None:
    """Installs something into the environment of a Python."""
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)


def first_answer(wheel: Path, place: Path) -> list[str]:
    """How soon somebody has an answer with pip and a folder of wheels, and what is installed for it; what is
    wrong with that.
    """
    folder = place / "wheels"
    run(
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "-d", folder, wheel
    )
    run(sys.executable, "-m", "venv", place / "first")
    rexmit = place / "first" / BIN / REXMIT
    python = rexmit.with_stem("python")
    before, began, used = size_of(place / "first"), time.monotonic(), os.times()
    pip(python, "--no-index", "--find-links", folder, "rexmit")
    for words in (["sample", "slow"], ["slow.pcapng"]):
        run(rexmit, *words, where=place)
    took, size, now = time.monotonic() - began, size_of(place / "first") - before, os.times()
    cpu = sum(now[2:4]) - sum(used[2:4])
    said = f"first answer {took:.1f} s after pip install began (bar {FIRST_S:g} s), {cpu:.1f} s of CPU time"
    say(f"{said}; {size / 1e6:.1f} MB installed (bar {MOST_BYTES / 1e6:.0f} MB)")
    wrong = [] if took <= FIRST_S else [f"the first answer took {took:.1f} s, more than {FIRST_S:g}"]
    return wrong + ([] if size <= MOST_BYTES else [f"{size / 1e6:.1f} MB are installed"])


def size_of(folder: Path) -> int:
    """Bytes of the files below, without what Python compiles."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sum(path.stat().st_size for path in files)


def smoke(rexmit: Path, work: Path, base: bool = False) -> list[str]:
    """Runs every subcommand; gives what was wrong. base: without extras."""
    # No HOME, no PATH, no PYTHONPATH (`env -i`). Windows cannot do without one.
    environment = {k: v for k, v in os.environ.items() if os.name == "nt" and k.upper() == "SYSTEMROOT"}
    for there, here in (("snd", "s"), ("rcv", "r")):
        shutil.copy(ROOT / "tests" / "data" / f"{CAPTURE}.{there}.pcap.gz", work / f"{here}.pcap.gz")
    shutil.copy(ROOT / "crates" / "drill" / "tests" / "scripts" / "tlp.pkt", work / "t.pkt")
    where = "import rexmit, sys; sys.stdout.write(rexmit.__path__[0])"
    asked = subprocess.run(
        [rexmit.with_stem("python"), "-c", where],
        check=True,
        capture_output=True,
        text=True,
        cwd=work,
        env=environment,
    )
    package = asked.stdout
    wrong = []
    if ROOT in Path(package).parents:
        wrong.append(f"rexmit is imported from the checkout: {package}")
    for one in tries(sys.platform == "linux"):
        if base and one.extra:
            one = Try(one.arguments, r"needs [\w, -]+: \S.* install ", code=2)
        line = one.arguments.format(package=package)
        done = subprocess.run(
            [rexmit, *shlex.split(line)],
            check=False,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        # Whether this machine can run the live bench is its own affair.
        code_ok = done.returncode == one.code or (one.code == -1 and done.returncode in (0, 1))
        said_ok = re.search(one.says, done.stdout)
        say(f"  {'ok' if code_ok and said_ok else 'WRONG':5}  rexmit {one.arguments}")
        if not code_ok:
            wrong.append(f"rexmit {line} ended with {done.returncode}: {done.stdout[-300:].strip()}")
        elif not said_ok:
            wrong.append(f"rexmit {line} did not say {one.says!r}: {done.stdout[:300].strip()}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=["wheel", "sdist"], help="one of the two")
    parser.add_argument("--built", action="store_true", help="build nothing: check what lies in target/dist")
    options = parser.parse_args()
    what = [options.only] if options.only else ["wheel", "sdist"]
    try:
        if not options.built:
            build(what)
        wrong = []
        audit_studies(only("rexmit_studies-*.whl"))
        for kind in what:
            archive = only("rexmit-*.whl" if kind == "wheel" else "rexmit-*.tar.gz")
            if kind == "wheel":
                audit(archive)
            with tempfile.TemporaryDirectory(prefix="rexmit-") as place:
                work = Path(place) / "work"
                work.mkdir()
                rexmit = install(archive, Path(place))
                wrong += [f"{archive.name}, base: {w}" for w in smoke(rexmit, work, base=True)]
                if kind == "wheel":
                    wrong += [f"{archive.name}: {w}" for w in first_answer(archive, Path(place))]
                full = Path(place) / "full"
                full.mkdir()
                extras = ",".join(USED)
                say(f"adding the extras {extras}")
                pip(rexmit.with_stem("python"), only("rexmit_studies-*.whl"), f"rexmit[{extras}]")
                wrong += [f"{archive.name}[{extras}]: {w}" for w in smoke(rexmit, full)]
    except Failed as failed:
        print(f"wheels: {failed}", file=sys.stderr)
        return 1
    except FileNotFoundError as missing:
        print(f"wheels: {missing.filename} is missing; make wheel installs it", file=sys.stderr)
        return 2
    for w in wrong:
        print(f"wheels: {w}", file=sys.stderr)
    say("wheels: all well" if not wrong else f"wheels: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
