"""Hostile calls, for the fuzzer of `rexmit mcp`."""

from __future__ import annotations

from typing import Any

from fuzzing import mutated, number
from mcp_place import WORDS, Place, toml

#: Each with names of files that it mostly answers.
TOOLS = {
    "list_files": (".", "x", "live"),
    "open_capture": ("a.pcapng", "s.toml", "run", "live", "rec", "h0.toml"),
    "list_flows": ("a.pcapng", "s.toml", "live", "rec", "many.toml"),
    "flow_answer": ("a.pcapng", "x/b.pcapng", "s.toml", "many.toml"),
    "list_episodes": ("a.pcapng", "x/b.pcapng", "s.toml", "many.toml"),
    "ladder": ("a.pcapng", "x/b.pcapng", "s.toml", "live"),
    "compare": ("a.pcapng", "x/b.pcapng", "s.toml", "live", "rec", "many.toml"),
    "simulate": ("s.toml", "many.toml", "h0.toml", "h1.toml", "interruption", "rto", "ns3"),
}
#: Keys that overrides may name, and that mostly exist.
KEYS = (
    "duration", "seed", "name", "record", "record.capture", "record.state", "node", "link", "flow", ".",
    "a.b.c", '"', "link.air.rate", "link.air.delay", "link.air.queue", "link.air.queue.packets",
    "link.air.queue.kind", "link.air.channel", "link.air.channel.gap.kind", "link.air.channel.gap.schedule",
    "link.air.channel.gap.schedule.file", "link.air.channel.gap.schedule.for",
    'link.air.channel.gap.schedule."file"', 'link."air".rate', "link.wire.rate", "", "flow.up.stack",
    "flow.up.receiver", "flow.up.count", "flow.up.start", "flow.up.workload", "flow.up.workload.size",
    "flow.up.workload.kind", "flow.upload.stack", "stack.linux-6-cubic.congestion.class",
    "stack.rfc-sack.based_on", "stack.rfc-sack.rto.min",
)  # fmt: skip
#: What overrides set.
VALUES = (
    "nan", "inf", "true", "[]", "{}", "[1, 2]", "{ kind = 'endless' }", "'''", '"', "droptail", "red",
    "rfc-sack", "ns2-reno", "linux-6-bbr", "endless", "command", "python", "./st.toml", "h0.toml",
    "./rule.py:R",
)  # fmt: skip
#: What stands where a name should.
TEXTS = (
    "", " ", "\x00", "a\x00b", "\u202e\u200b", "\x1b[2J", "\n\n", "</script>", "'; drop table flows; --",
    "\ufffe", "-", "--help", "C:\\x", "file:///etc/passwd", "http://127.0.0.1/", "nul",
    "[[node]]\nname = 'a'", "\ud83d", "1e400", "None", "%s%n{0}", "é" * 200, "../" * 2000, "/" * 5000,
    "a/" * 3000, "𝕏" * 50, "x" * 300, "x" * 5000, "x" * 200_000,
)  # fmt: skip


class Asker:
    """Makes up calls."""

    def __init__(self, place: Place) -> None:
        self.place, self.rng = place, place.rng

    def call(self) -> tuple[str, dict[str, Any]]:
        rng = self.rng
        if rng.random() < 0.002:
            return "study", {
                "name": rng.choice(("rto", "interruption", "rto\0", "../rto", "own", "", self.text()))
            }
        tool = rng.choice((*TOOLS, "open_capture", "simulate", "simulate"))
        if tool == "list_files":
            given = {"folder": self.path(tool)} if rng.random() < 0.8 else {}
        elif tool == "compare":
            given = {"first": self.path(tool), "second": self.path(tool)}
        elif tool == "simulate":
            given = self.simulate(tool)
        else:
            given = {"path": self.path(tool)} | self.which(tool)
        if rng.random() < 0.06:
            given[rng.choice((*given, "set", "seed", "path", "nonsense", "self", "", "__class__"))] = (
                self.anything()
            )
        if rng.random() < 0.02:
            tool = rng.choice(("", "nonsense", "../simulate", "__init__", tool.upper(), "x" * 10_000))
        return tool, given

    def which(self, tool: str) -> dict[str, Any]:
        rng, given = self.rng, {}
        if tool == "ladder":
            given["episode"] = rng.choice((1, 1, 2, number(rng)))
        if tool == "list_flows":
            given = {key: number(rng) for key in ("top", "skip") if rng.random() < 0.4}
        if tool in ("flow_answer", "list_episodes", "ladder") and rng.random() < 0.4:
            ends = "10.0.0.1:1024-10.0.0.2:5001"
            given["flow"] = rng.choice(("0", "1", ends, ends[::-1], str(number(rng)), self.text(), None))
        if rng.random() < 0.2:
            given["receiver"] = self.path(tool)
        return given

    def simulate(self, tool: str) -> dict[str, Any]:
        rng = self.rng
        given: dict[str, Any] = {"scenario": self.path(tool)}
        if rng.random() < 0.6:
            given["set"] = {self.key(): self.value() for _ in range(rng.choice((1, 1, 2, 3, 30)))}
            if rng.random() < 0.7:
                given["set"]["duration"] = "1s"
        if rng.random() < 0.3:
            given["seed"] = rng.choice((number(rng), number(rng), "7", self.anything()))
        if rng.random() < 0.05:
            given["out"] = rng.choice(
                ("r", "r/1", "a b", self.place.outside(), self.text(), "../x", "away/x", "", ".")
            )
        return given

    def key(self) -> str:
        rng = self.rng
        key = rng.choice(KEYS)
        if rng.random() < 0.1:
            key = mutated(rng, key.encode(), WORDS).decode("utf-8", "replace")
        return key if rng.random() < 0.97 else self.text()

    def value(self) -> Any:
        rng, file = self.rng, self.place.file
        made = (
            lambda: file(),
            lambda: toml(file()),
            lambda: f"{{ file = {toml(file())}, }}",
            lambda: f"{{ kind = 'rate-trace', direction = 'both', file = {toml(file())} }}",
            lambda: str(number(rng)),
            lambda: f"{number(rng)}{rng.choice(('s', 'ms', 'Mbps', 'kB', 'GiB', '%', ' SMSS', 'years'))}",
            lambda: rng.choice((*VALUES, f"{self.place.out}/rule.py:R")),
            self.text,
        )  # fmt: skip
        return rng.choice(made)() if rng.random() < 0.97 else self.anything()

    def path(self, tool: str) -> str:
        """A file that the tool takes, one that it does not, one outside, or no name at all."""
        rng, names = self.rng, self.place.names
        chance = rng.random()
        if chance < 0.5:
            return rng.choice(TOOLS.get(tool, ("s.toml",)))
        if chance < 0.8:
            name = rng.choice(names)
            return name if rng.random() < 0.9 else str(self.place.read / name)
        if chance < 0.93:
            return self.place.outside()
        if chance < 0.97:
            return self.text()
        return mutated(rng, rng.choice(names).encode("utf-8", "replace")).decode("utf-8", "replace")

    def text(self) -> str:
        return self.rng.choice(TEXTS)

    def anything(self, deep: int = 3) -> Any:
        rng = self.rng
        made = (
            lambda: None,
            lambda: rng.random() < 0.5,
            lambda: number(rng),
            lambda: str(number(rng)),
            self.text,
            lambda: [self.anything(deep - 1) for _ in range(rng.choice((0, 1, 3)))] if deep else [],
            lambda: (
                {self.key(): self.anything(deep - 1) for _ in range(rng.choice((0, 1, 3)))} if deep else {}
            ),
        )
        return rng.choice(made)()
