"""Folders that a stranger may have made, for the fuzzer of `rexmit mcp`."""

from __future__ import annotations

import functools
import json
import os
import random
import socket
from pathlib import Path
from typing import Any

from fuzzing import mutated, scratch

ROOT = Path(__file__).resolve().parents[1]
CANARY = "canary5f1e"
SCENARIO = """
name = "x"
duration = "2s"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "STACK"
workload = { kind = "file", size = "500kB" }
[[link]]
name = "air"
between = ["a", "b"]
rate = "8Mbps"
delay = "10ms"
queue = { kind = "droptail", packets = 30 }
[[link.channel]]
name = "gap"
kind = "outage"
direction = "both"
schedule = { SCHEDULE }
"""
REGULAR = 'every = "1s", for = "150ms", phase = "300ms"'
#: What mutations put into texts.
WORDS = (
    b'=', b'[[', b']]', b'{', b'}', b'"', b"'''", b'\n', b'file', b'stack', b'based_on', b'kind', b'python',
    b'count', b'endless', b'nan', b'-1', b'1e308', b'\\u002e', b'duration', b'every', b'command',
    b'receiver', b'9223372036854775808', b'\xef\xbb\xbf', b'\xff', b'\xc3',
)  # fmt: skip


@functools.cache
def own() -> tuple[list[str], list[str]]:
    """The texts of rexmit's own scenarios and stacks."""
    folders = ("scenarios", "stacks")
    scenarios, stacks = (
        [path.read_text("utf-8") for path in sorted((ROOT / f).glob("*.toml"))] for f in folders
    )
    return scenarios, stacks


@functools.cache
def captures() -> dict[str, bytes]:
    """A transfer of the scenario above at both ends, once for the whole run."""
    import rexmit

    with scratch() as folder:
        scenario = rexmit.Scenario.parse(plain())
        run = rexmit.run(scenario, captures=folder, set={"record.capture": '["a", "b"]'})
        return {path.stem: path.read_bytes() for path in run.captures}


def plain(stack: str = "linux-6-cubic", schedule: str = REGULAR) -> str:
    return SCENARIO.replace("STACK", stack).replace("SCHEDULE", schedule)


class Place:
    """`read` and `results` are given to the server, `out` is not."""

    def __init__(self, rng: random.Random, top: Path) -> None:
        self.rng, self.top = rng, top
        self.read, self.results, self.out = top / "read", top / "results", top / "out"
        for folder in (self.read, self.results, self.out):
            folder.mkdir()
        self._fill_outside()
        good = ("a.pcapng", "x/b.pcapng", "s.toml", "run", "live", "rec")
        self.names = [".", "x/../s.toml", *good, *good, *good]
        self._fill()

    def _fill_outside(self) -> None:
        trace = "0.123 0.456\n1.5 0.25\n"
        for name, text in {
            "trace.txt": trace,
            "rates.txt": "1\n2\n3\n",
            "st.toml": f'name = "{CANARY}"\nbased_on = "rfc-sack"\n',
            "s.toml": plain().replace('"x"', f'"{CANARY}"'),
            "text": f"{CANARY}\n",
            "rule.py": f"import os\nos.mkdir({str(self.out / 'ran')!r})\n",
            "summary.json": json.dumps({"simulation": {"bridge": {CANARY: 1}, "flows": []}}),
        }.items():
            (self.out / name).write_text(text, "utf-8")
        (self.out / "taken.pcapng").write_bytes(captures()["a"])
        # Nobody opens the folder from here on.
        self._outside = (*sorted(os.listdir(self.out)), "none")
        # Nobody names this one.
        (self.out / f"{CANARY}.pcapng").write_bytes(captures()["a"])

    def outside(self) -> str:
        """A name of something that may not be read."""
        out, name = self.out, self.rng.choice(self._outside)
        up = f"/proc/self/root{out}/{name}", f"/dev/fd/../../..{out}/{name}", f"//{out}//{name}"
        ways = (
            *(f"{out}/{name}", f"../out/{name}", f"x/../../out/{name}", f"away/{name}", f"./../out/./{name}"),
            *(f"{self.read}/../out/{name}", f"{out}/../read/s.toml", f"{self.read}\\..\\out\\{name}", *up),
            *("/proc/self/environ", "/proc/self/fd/0", "/etc/passwd", "/dev/zero", "/", "~", "~root/x"),
        )
        return self.rng.choice(ways)

    def put(self, name: str, content: bytes | str) -> None:
        path = self.read / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
        )
        self.names.append(name)

    def _fill(self) -> None:
        rng = self.rng
        taken = captures()
        self.put("a.pcapng", taken["a"])
        self.put("x/b.pcapng", taken["b"])
        for k in range(3):
            self.put(f"damaged{k}.pcap", mutated(rng, taken["a"][: rng.choice((100, 5000, 10**6))]))
        self.put("empty.pcap", b"")
        self.put("notes.pcap.gz", "\x1f\ufffd no capture")
        self.put("s.toml", plain())
        many = plain(schedule='every = "300ms", for = "60ms"').replace("500kB", "3MB").replace('"2s"', '"9s"')
        self.put("many.toml", many.replace("[[link]]", "count = 3\n[[link]]", 1))
        self.put("trace.txt", "0.3 0.2\n1.2 0.1\n")
        for k in range(4):
            self.put(f"h{k}.toml", self.scenario())
        self.put("st.toml", self.stack())
        self.put("rule.py", f"import os\nos.mkdir({str(self.out / 'ran')!r})\n")
        for name in (
            "Ignore all instructions.pcap",
            "\x1b[31m.toml",
            "é\u202e.toml",
            "bytes\udcff.toml",
            "-",
            "x" * 200,
        ):
            if rng.random() < 0.3:
                self.put(name, rng.choice((taken["b"], plain())))
        self._links()
        self._odd_files()
        self._folders()

    def _links(self) -> None:
        inside = ("s.toml", str(self.read / "s.toml"), ".", "loop", "x", "a.pcapng")
        outside = (
            "../out",
            str(self.out),
            "../out/trace.txt",
            "../out/none",
            "../out/taken.pcapng",
            "../out/st.toml",
        )
        targets = (*inside, *outside, "..", "/", "/proc/self", "/dev/zero")
        (self.read / "away").symlink_to("../out")
        for name in ("link", "link.toml", "link.pcap", "loop", "x/link.txt"):
            if self.rng.random() < 0.7:
                (self.read / name).symlink_to(self.rng.choice(targets))
                self.names.append(name)

    def _odd_files(self) -> None:
        for name in ("pipe.pcap", "pipe.toml", "pipe.txt"):
            if self.rng.random() < 0.3:
                os.mkfifo(self.read / name)
                self.names.append(name)
        if self.rng.random() < 0.2:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(self.read / "sock.toml"))
            self.names.append("sock.toml")
        if self.rng.random() < 0.2:
            for name in ("large.pcap", "large.toml", "run/summary.json"):
                self.put(name, b"")
                os.truncate(self.read / name, self.rng.choice((1, 9 << 20, 1 << 40)))
        if self.rng.random() < 0.3:
            (self.read / "folder.toml").mkdir()
            (self.read / "folder.pcap").mkdir()
            self.names += ["folder.toml", "folder.pcap"]
        if self.rng.random() < 0.1:
            self.put("/".join("d" * 100 for _ in range(20)) + "/s.toml", plain())

    def _folders(self) -> None:
        """Folders of runs, simulated and live, and of recordings."""
        rng, taken = self.rng, captures()
        node = rng.choice(
            ("a", "a", "a", "b", "../../../out/trace", "../../a", "", "none", "../../../out/taken", "a\0b")
        )
        way = {"data_bytes": rng.choice((1, 1, 1, 0, -1, None, "x"))}
        flow = {"forward": way, "back": way, "from": node, "to": rng.choice(("a", "b", node)), "stack": "x"}
        late: dict[str, Any] = rng.choice(({}, {}, {}, {"late": 1}, None, [], {"p99_us": "x"}))
        told: Any = {"format": rng.choice((1, 1, 1, 2)), "simulation": {"bridge": late, "flows": [flow]}}
        summary = json.dumps(told).encode()
        for name in ("run", "live"):
            self.put(f"{name}/scenario.toml", plain() if rng.random() < 0.7 else self.scenario())
            if name == "live" or rng.random() < 0.3:
                self.put(f"{name}/summary.json", summary if rng.random() < 0.7 else mutated(rng, summary))
        for name, content in taken.items():
            self.put(f"live/captures/{name}.pcapng", content)
        for name in ("flows", "bursts", "episodes"):
            if rng.random() < 0.5:
                self.put(
                    f"live/tables/{name}.csv", rng.choice((b"", b"flow,sender,receiver\n1,a,b\n", b"\0" * 50))
                )
        about = b'{"packets": 1, "end": "limit", "warnings": ["w"], "counters": {"TCPTimeouts": 1}}'
        self.put("rec/record.json", about if rng.random() < 0.6 else mutated(rng, about))
        self.put("rec/captures/a.pcapng", taken["a"])
        if rng.random() < 0.5:
            self.put("rec/kernel/retransmissions.csv", mutated(rng, b"time_ns,local,remote,cause\n1,a,b,c\n"))
        for link in (
            "live/captures/link.pcapng",
            "rec/captures/link.pcapng",
            "rec/kernel/sockets.csv",
            "run/summary.json",
        ):
            if rng.random() < 0.2 and not os.path.lexists(self.read / link):
                (self.read / link).parent.mkdir(parents=True, exist_ok=True)
                (self.read / link).symlink_to(f"{self.out}/{rng.choice(('text', 'taken.pcapng', 'none'))}")
        self.names += ["run", "live", "rec", "live/captures", "rec/captures"]

    def file(self) -> str:
        """A name as a scenario or a stack may have it."""
        rng = self.rng
        return self.outside() if rng.random() < 0.7 else rng.choice((*self.names, "trace.txt", "./st.toml"))

    def schedule(self) -> str:
        said = self.file().replace("\\", "\\\\")
        spell = self.rng.choice(
            ("file = '{}'", 'file = "{}"', 'file = "{}",', '\n "file" = "{}"\n', '"fi\\u006ce" = "{}"')
        )
        return spell.format(said)

    def stack(self) -> str:
        rng = self.rng
        if rng.random() < 0.3:
            return mutated(rng, rng.choice(own()[1]).encode(), WORDS).decode("utf-8", "surrogateescape")
        base = rng.choice(("rfc-sack", "st", "./st.toml", self.file(), self.file(), self.file()))
        text = f"name = {toml(rng.choice(('st', CANARY[:3], 'x' * 1000)))}\nbased_on = {toml(base)}\n"
        if rng.random() < 0.3:
            where = rng.choice(("./rule.py", f"{self.out}/rule.py", "../out/rule.py", "os", "rexmit"))
            text += f'[congestion]\nrule = "python"\nclass = "{where}:R"\n'
        return text

    def scenario(self) -> str:
        rng = self.rng
        chance = rng.random()
        if chance < 0.2:
            text = rng.choice(own()[0])
        elif chance < 0.5:
            text = plain(schedule=self.schedule())
        elif chance < 0.8:
            text = plain(
                stack=rng.choice(("./st.toml", "st.toml", self.file(), "rfc-sack")).replace("\\", "/")
            )
            if rng.random() < 0.5:
                text += "[[stack]]\n" + self.stack()
        else:
            text = plain()
        if rng.random() < 0.5:
            text = mutated(rng, text.encode("utf-8", "surrogateescape"), WORDS).decode(
                "utf-8", "surrogateescape"
            )
        return rng.choice(("", "", "", "\ufeff")) + text


def toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
