"""What each number and each rule of the analysis is worth: change one at a time, and see what moves.

    python validation/ablate.py [numbers] [rules] [--crate NAME] [--seeds FROM TO] [--csv FILE] [--only TEXT]

A copy of the workspace in target/ablation gets a switch at every hand-written number of a crate (constants,
factors, times, thresholds) and at every rule that validation/ablation/rules.toml names. A program there then
moves each number by -20% and by +25%, and has each rule return its neutral value, over every capture at hand
and 1,200 simulated transfers. A number *decides* if a cause of a retransmission or an answer moves. It takes
about six seconds a change.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "target/ablation"
PARTS = ROOT / "validation/ablation"
DOWN, UP = 0.8, 1.25

# A place in a source file at which no switch is put: file, line and text; line 0: the constant of that name.
Place = tuple[str, int, str]


@dataclass
class Site:
    """One number or rule: where it stands, what it says, and what its changes moved."""

    crate: str
    number: int
    kind: str
    file: str
    line: int
    text: str
    moved: dict[str, int] = field(default_factory=dict)

    @property
    def decides(self) -> bool:
        return any(self.moved.get(k, 0) for k in ("causes", "answers", "simulated", "panics"))


class Sources:
    """The sources of one crate, in which switches are put."""

    # A whole number that is compared, scaled by, or bounds: `>= 3`, `* 4`, `.max(2)`. 0 and 1 are none.
    WHOLE = re.compile(
        r"(?P<before>(?:>=|<=|[^-=]>|<|\*|/) |\.(?:min|max)\()(?P<n>[2-9]|[1-9]\d+)(?P<after>[^\w.]|$)"
    )
    FLOAT = re.compile(r"(?<![\w.])(?P<n>\d[\d_]*\.\d+)(?![\w.])")
    SPAN = re.compile(r"Span::from_(?:nanos|micros|millis|secs)\([\d_]+\)")
    CONST = re.compile(
        r"^(?P<indent> *)(?P<vis>(?:pub(?:\([a-z ]+\))? )?)const (?P<name>[A-Z][A-Z_0-9]*): "
        r"(?P<type>Span|f64|f32|u8|u16|u32|u64|i64|usize) = (?P<value>[^;]*);(?P<rest>.*)$"
    )

    # How short connections are packed and tables grow: nothing there judges.
    STORAGE = ("short_connections", "chunks", "table", "prefetch", "ascending")

    def __init__(self, crate: str, without: frozenset[Place]) -> None:
        self.crate = crate
        self.root = COPY / "crates" / crate / "src"
        self.sites: list[Site] = []
        self.texts = {
            path: path.read_text()
            for path in sorted(self.root.rglob("*.rs"))
            if "test" not in path.name
            and not {"tests", *self.STORAGE} & {path.stem, *path.parts}
            and path.name != "likelihoods.rs"
        }
        self.without = without
        self.consts = self._constants() - {text for _, line, text in without if not line}

    def _add(self, kind: str, path: Path, line: int, text: str) -> int:
        name = str(path.relative_to(self.root))
        self.sites.append(Site(self.crate, len(self.sites), kind, name, line, text.strip()))
        return len(self.sites) - 1

    def _constants(self) -> set[str]:
        """Constants that can become functions: not used in a type, a pattern or another constant."""
        found: set[str] = set()
        everything = "\n".join(_code(t) for t in self.texts.values())
        for text in self.texts.values():
            for line in _code(text).split("\n"):
                m = self.CONST.match(line)
                if m and not m["indent"] and re.search(r"\d", m["value"]) and "<<" not in m["value"]:
                    found.add(m["name"])
        # A constant of which another one is made is one only if that one is, too.
        others = re.compile(r"(?:const|static) (?P<name>[A-Z_0-9]+): [^=;]+=(?P<value>[^;]*);")
        made_of = [
            (m["name"], set(re.findall(r"[A-Z][A-Z_0-9]+", m["value"]))) for m in others.finditer(everything)
        ]
        while fixed := {n for name, parts in made_of if name not in found for n in parts & found}:
            found -= fixed
        for name in list(found):
            if re.search(rf"; {name}\]|\b{name}\b *(?:=>|\|)|\.\.=?{name}\b *=>", everything):
                found.discard(name)
        return found

    def numbers(self) -> None:
        """Puts a switch at each number, but for places that did not compile."""
        for path, text in self.texts.items():
            code, tests = _split_tests(text)
            out, skipping = [], ""
            for i, line in enumerate(code.split("\n"), 1):
                bare = line.strip()
                if skipping:
                    skipping = "" if bare.endswith(skipping) else skipping
                    out.append(line)
                    continue
                if bare.startswith(("//", "#[", "#!")):
                    out.append(line)
                    continue
                const = self.CONST.match(line)
                if const and const["name"] in self.consts and not const["indent"]:
                    out.append(self._constant(const, path, i))
                    continue
                if re.match(r"(pub(\([a-z ]+\))? )?(use|const|static) ", bare):
                    skipping = "" if bare.rstrip().endswith(";") else ";"
                    out.append(self._named(line) if not bare.startswith(("use", "pub use", "pub(")) else line)
                    continue
                out.append(self._literals(self._named(line), path, i))
            path.write_text("\n".join(out) + tests)

    def _constant(self, m: re.Match[str], path: Path, line: int) -> str:
        site = self._add("constant", path, line, f"{m['name']} = {m['value']}")
        value = self._named(m["value"])
        if m["type"] == "Span":
            value = f"({value}).scale(crate::ablation::factor({site}))"
        elif m["type"] in ("f64", "f32"):
            value = f"crate::ablation::real({site}, {value})"
        else:
            value = f"crate::ablation::whole({site}, {value})"
        return (
            f"#[allow(non_snake_case, clippy::all)] {m['vis']}fn {m['name']}() -> {m['type']} {{ {value} }}"
        )

    def _named(self, line: str) -> str:
        """The line with a call in place of each constant that became a function."""
        code, sep, comment = line.partition("//")

        def call(m: re.Match[str]) -> str:
            # `Flags::ACK` belongs to a type; `repair::ACK` to a module.
            of = m["path"].rstrip(":").rpartition("::")[2]
            of_a_type = of[:1].isupper() or of in ("f64", "f32", "u8", "u16", "u32", "u64", "i64", "usize")
            return m[0] if m["name"] not in self.consts or of_a_type else f"{m[0]}()"

        pattern = (
            r"(?<!\w)(?<!(?<!\.)\.)(?P<path>(?:\w+::)*)(?P<name>[A-Z][A-Z_0-9]*)\b(?![(:!]| *[({]?\w*::)"
        )
        return re.sub(pattern, call, code) + sep + comment

    def _literals(self, line: str, path: Path, i: int) -> str:
        code, sep, comment = line.partition("//")
        if '"' in code or ("[" in code and "; " in code) or re.match(r"\s*[\w.| ]+ =>", code):
            return line
        name = str(path.relative_to(self.root))

        def may(text: str) -> bool:
            return (name, i, text) not in self.without

        def span(m: re.Match[str]) -> str:
            if not may(m[0]):
                return m[0]
            return f"{m[0]}.scale(crate::ablation::factor({self._add('time', path, i, m[0])}))"

        def real(m: re.Match[str]) -> str:
            if m["n"] in ("0.0", "1.0") or not may(m[0]):
                return m[0]
            return f"crate::ablation::real({self._add('factor', path, i, m['n'])}, {m['n']})"

        def whole(m: re.Match[str]) -> str:
            if not may(m[0]):
                return m[0]
            site = self._add("whole", path, i, m["before"] + m["n"])
            return f"{m['before']}crate::ablation::whole({site}, {m['n']}){m['after']}"

        if self.SPAN.search(code):
            code = self.SPAN.sub(span, code)
        elif self.FLOAT.search(code):
            code = self.FLOAT.sub(real, code)
        else:
            code = self.WHOLE.sub(whole, code)
        return code + sep + comment

    def rules(self) -> None:
        for rule in tomllib.loads((PARTS / "rules.toml").read_text()).get("rule", []):
            if rule["crate"] != self.crate:
                continue
            path = self.root / rule["file"]
            text = path.read_text() if path.exists() else ""
            at = text.find(rule["function"])
            if at < 0:
                raise SystemExit(f"{PARTS / 'rules.toml'}: {rule['file']} has no {rule['function']!r}")
            body = text.index("{\n", at) + 2
            site = self._add("rule", path, text[:at].count("\n") + 1, rule["function"])
            off = f"        if crate::ablation::off({site}) {{ return {rule['neutral']}; }}\n"
            path.write_text(text[:body] + off + text[body:])

    def at(self, place: dict[str, Any], around: int) -> set[Place]:
        """Numbers and constants in and around the lines that an error of the compiler names."""
        name = place["file_name"].split(f"crates/{self.crate}/src/")[1]
        written = (self.root / name).read_text().split("\n")
        before = self.texts.get(self.root / name, "").split("\n")
        out: set[Place] = set()
        for i in range(
            max(1, place["line_start"] - around), min(len(written), place["line_end"] + around) + 1
        ):
            was = before[i - 1] if i <= len(before) else ""
            for pattern in (self.SPAN, self.FLOAT, self.WHOLE):
                out |= {(name, i, m[0]) for m in pattern.finditer(was)}
            for m in re.finditer(r"\b([A-Z][A-Z_0-9]*)\(\)", written[i - 1]):
                out.add((name, 0, m[1]))
        return out

    def finish(self) -> None:
        lib = self.root / "lib.rs"
        lib.write_text(lib.read_text() + "\n" + (PARTS / "switch.rs").read_text())


def _code(text: str) -> str:
    return _split_tests(text)[0]


def _split_tests(text: str) -> tuple[str, str]:
    at = text.find("\n#[cfg(test)]\nmod tests {")
    return (text[:at], text[at:]) if at >= 0 else (text, "")


def prepare(crates: list[str], what: set[str], without: dict[str, set[Place]]) -> list[Sources]:
    shutil.rmtree(COPY / "crates", ignore_errors=True)
    COPY.mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "crates", COPY / "crates", ignore=shutil.ignore_patterns("target"))
    for name in ("Cargo.toml", "Cargo.lock", "benches", "fuzz", "stacks", "tests", "scenarios", "python"):
        source, target = ROOT / name, COPY / name
        if not target.exists():
            target.symlink_to(source)
    shared = COPY.parent / "shared"
    if (ROOT.parent / "shared").exists() and not shared.exists():
        shared.symlink_to(ROOT.parent / "shared")
    changed = []
    for crate in crates:
        sources = Sources(crate, frozenset(without.get(crate, ())))
        if "numbers" in what:
            sources.numbers()
        if "rules" in what:
            sources.rules()
        sources.finish()
        changed.append(sources)
    calls = "\n".join(f'        "{c}" => {c}::ablation::change(site, factor),' for c in crates)
    body = f"    match name {{\n{calls}\n        _ => {{}}\n    }}\n"
    put = f"\nfn change(name: &str, site: u32, factor: f64) {{\n{body}}}\n"
    (COPY / "crates/results/examples/ablate.rs").write_text((PARTS / "driver.rs").read_text() + put)
    return changed


def build(_: list[Sources]) -> subprocess.CompletedProcess[str]:
    command = ["cargo", "build", "--profile", "local", "-p", "rexmit-results", "--example", "ablate"]
    command += ["--message-format", "json", "--target-dir", str(COPY / "target")]
    return subprocess.run(command, cwd=COPY, text=True, capture_output=True, check=False)


def refused(output: str, sources: list[Sources], around: int) -> dict[str, set[Place]]:
    """Places at which the compiler does not take a switch: they are left as they were."""
    out: dict[str, set[Place]] = {}
    for text in output.splitlines():
        message = json.loads(text).get("message") if text.startswith("{") else None
        if not isinstance(message, dict) or message.get("level") != "error":
            continue
        for place in message["spans"]:
            for crate in sources:
                prefix = f"crates/{crate.crate}/src/"
                if prefix in place["file_name"]:
                    out.setdefault(crate.crate, set()).update(crate.at(place, around))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", metavar="numbers|rules")
    parser.add_argument("--crate", action="append", default=[])
    parser.add_argument("--seeds", nargs=2, type=int)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--only", default="", help="only sites whose file or text contains this")
    asked = parser.parse_args()
    what = set(asked.what) or {"numbers", "rules"}
    crates = asked.crate or ["analysis", "explain"]

    without: dict[str, set[Place]] = {}
    around = 0
    while (done := build(sources := prepare(crates, what, without))).returncode:
        more = refused(done.stdout, sources, around)
        new = any(places - without.get(crate, set()) for crate, places in more.items())
        # An error may show where a number is used and not where it stands.
        around = 0 if new else 2 * around + 5
        if around > 100:
            messages = [
                json.loads(m).get("message", {}) for m in done.stdout.splitlines() if m.startswith("{")
            ]
            print(*(m["rendered"] for m in messages if m.get("level") == "error"), sep="\n", file=sys.stderr)
            return 1
        for crate, places in more.items():
            without.setdefault(crate, set()).update(places)
    sites = {(s.crate, s.number): s for source in sources for s in source.sites}
    chosen = [s for s in sites.values() if asked.only in f"{s.file}:{s.line} {s.text}"]
    plan = COPY / "plan.txt"
    factors = {True: (0.0,), False: (DOWN, UP)}
    plan.write_text("".join(f"{s.crate} {s.number} {f}\n" for s in chosen for f in factors[s.kind == "rule"]))
    left = sum(map(len, without.values()))
    (COPY / "left.txt").write_text("".join(f"{c} {p}\n" for c, ps in without.items() for p in sorted(ps)))
    print(
        f"{len(chosen)} numbers and rules; {left} places that the compiler does not let us change", flush=True
    )
    command = [str(COPY / "target/local/examples/ablate"), str(plan)]
    if asked.seeds:
        command += ["--seeds", *map(str, asked.seeds)]
    with subprocess.Popen(
        command, cwd=COPY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            crate, number, factor, moved = line.split(" ", 3)
            site = sites[crate, int(number)]
            for kind, n in json.loads(moved).items():
                worst = max(site.moved.get(kind, 0), n, key=abs)
                site.moved[kind] = worst
            if json.loads(moved).keys() & {"panics"} or any(json.loads(moved).values()):
                print(
                    f"{site.kind:9} {site.file}:{site.line} {site.text[:60]} ×{factor}: {moved.strip()}",
                    flush=True,
                )
    if asked.csv:
        with asked.csv.open("w", newline="") as file:
            out = csv.writer(file)
            kinds = ["causes", "answers", "rows", "simulated", "sender", "receiver", "panics"]
            out.writerow(["crate", "kind", "file", "line", "text", *kinds])
            for s in chosen:
                out.writerow([s.crate, s.kind, s.file, s.line, s.text, *(s.moved.get(k, 0) for k in kinds)])
    numbers = [s for s in chosen if s.kind != "rule"]
    print(f"{sum(s.decides for s in numbers)} of {len(numbers)} numbers decide a cause or an answer")
    print(f"{sum(s.decides for s in chosen if s.kind == 'rule')} of {len(chosen) - len(numbers)} rules do")
    return 0


if __name__ == "__main__":
    sys.exit(main())
