"""`--anonymize`: addresses, names and paths give way to others before anything is written.

One address or name becomes the same other one everywhere, numbered as they come. Ports, times and sizes stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import PurePath
from typing import Any

from rexmit.screen.say import one_line, visible
from rexmit.screen.words import closed_sets

#: Where other addresses come from: benchmarks (RFC 2544), then what is reserved; documents (RFC 3849).
FOUR, MANY_FOUR, SIX = IPv4Address("198.18.0.0"), IPv4Address("240.0.0.0"), IPv6Address("2001:db8::")
FOUR_HAS = 2**17
#: Runs of characters that may be addresses: the library says which are.
IPV4 = r"(?<!\d)(?<!\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)"
IPV6 = r"(?<![\w:.])[0-9A-Fa-f:]*:[0-9A-Fa-f]*:[0-9A-Fa-f.:]*"
ADDRESS = re.compile(f"{IPV6}|{IPV4}")
MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])")
PATH = re.compile(r"""(?<![\w.])(?:~|\.{1,2})?(?:/[^\s/"'<>|:;,]+){2,}/?|(?<!\w)[A-Za-z]:\\[^\s"'<>|:;,]+""")
#: Keys whose values are names, whatever word they are.
NAMES = ("name", "label", "title", "flow_name", "outage", "channel", "link", "from", "to", "stack")
#: Keys of a scenario whose values are names, and what stands in their place.
OF_SCENARIO = {"node": "node", "link": "link", "flow": "flow", "channel": "channel"}


class Anonymous:
    """What stands for what. Text is to pass once."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._addresses: dict[Any, str] = {}
        self._counted: dict[str, int] = {}

    def name(self, kind: str, *names: str | None) -> None:
        """Names of one thing, which become the kind with a number."""
        known = [name for name in names if name]
        if not known:
            return
        found = next((self._names[name] for name in known if name in self._names), None)
        other = found or self._numbered(kind)
        for name in known:
            for spelled in (name, one_line(name), visible(name)):
                self._names.setdefault(spelled, other)
        self.__dict__.pop("_pattern", None)

    def path(self, kind: str, path: str) -> None:
        """A file by its path, and by its name."""
        pure = PurePath(path)
        self.name(kind, path, str(pure), pure.name)

    def scenario(self, tree: Mapping[str, Any]) -> None:
        """The names in a scenario, and the files that it names."""
        if isinstance(tree.get("name"), str):
            self.name("scenario", tree["name"])
        for key, kind in OF_SCENARIO.items():
            for one in _listed(tree, key):
                if isinstance(one.get("name"), str):
                    self.name(kind, one["name"])
        for text in _texts(tree):
            if text.endswith((".toml", ".txt")) or "/" in text.removesuffix("/s"):
                self.path("file", text)

    def apply(self, value: Any, key: str = "") -> Any:
        """The value with every text of it rewritten. key: under which it stands."""
        if isinstance(value, dict):
            return {name: self.apply(one, name) for name, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.apply(one, key) for one in value]
        if isinstance(value, str):
            return self.text(value, key)
        return value

    def text(self, text: str, key: str = "") -> str:
        """A text without addresses, known names and paths."""
        if key in NAMES and text in self._names:
            return self._names[text]
        if key not in NAMES and text in WORDS:
            return text
        if self._names:
            text = self._pattern.sub(lambda m: self._names[m[0]], text)
        text = MAC.sub(lambda m: self._mac(m[0]), text)
        text = ADDRESS.sub(lambda m: self._address(m[0]), text)
        return PATH.sub(lambda m: self._path(m[0]), text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """The known names, the longest first, where no other word goes on. What may be a word of ours, or is
        as short as one, is a name only where it is quoted.
        """

        def spelled(name: str) -> str:
            plain = len(name) < SHORT or name.lower() in VOCABULARY
            return rf'(?<="){re.escape(name)}(?=")' if plain else re.escape(name)

        names = sorted(self._names, key=len, reverse=True)
        either = "|".join(map(spelled, names)) or "(?!)"
        return re.compile(rf"(?<![A-Za-z0-9_])(?:{either})(?![A-Za-z0-9_])")

    def _numbered(self, kind: str) -> str:
        self._counted[kind] = self._counted.get(kind, 0) + 1
        return f"{kind}-{self._counted[kind]}"

    def _path(self, path: str) -> str:
        if path not in self._paths:
            self._paths[path] = self._numbered("path")
        return self._paths[path]

    def _mac(self, address: str) -> str:
        key = address.lower().replace("-", ":")
        if key not in self._addresses:
            n = self._counted["mac"] = self._counted.get("mac", 0) + 1
            # Locally administered.
            self._addresses[key] = ":".join(f"{byte:02x}" for byte in (2 << 40 | n).to_bytes(6, "big"))
        return self._addresses[key]

    def _address(self, found: str) -> str:
        # A full stop or a colon behind it belongs to the sentence.
        bare = found.rstrip(".") if found.endswith(".") else found
        rest = found[len(bare) :]
        try:
            address = ip_address(bare)
        except ValueError:
            if not bare.endswith(":") or bare.endswith("::"):
                return found
            bare, rest = bare[:-1], ":" + rest
            try:
                address = ip_address(bare)
            except ValueError:
                return found
        if address not in self._addresses:
            four = isinstance(address, IPv4Address)
            n = self._counted["four" if four else "six"] = self._counted.get("four" if four else "six", 0) + 1
            other = SIX + n if not four else FOUR + n if n < FOUR_HAS else MANY_FOUR + n
            self._addresses[address] = str(other)
        return self._addresses[address] + rest


def _closed() -> frozenset[str]:
    told = closed_sets()
    return frozenset(told) | {word for values in told.values() for word in values}


def _vocabulary() -> frozenset[str]:
    told = [text for values in closed_sets().values() for both in values.items() for text in both]
    return frozenset(word for text in told for word in re.findall(r"[a-z]+", text.lower())) | OURS


#: Names shorter than this may be any word.
SHORT = 3
#: Words of sentences that no closed set has.
OURS = frozenset(
    (
        "ack",
        "acks",
        "bit",
        "bits",
        "byte",
        "bytes",
        "capture",
        "client",
        "cost",
        "cut",
        "data",
        "file",
        "flow",
        "host",
        "http",
        "link",
        "loss",
        "network",
        "node",
        "packet",
        "packets",
        "path",
        "pcap",
        "queue",
        "rate",
        "receiver",
        "rto",
        "rtt",
        "run",
        "scenario",
        "segment",
        "segments",
        "sender",
        "server",
        "slow",
        "start",
        "state",
        "tcp",
        "test",
        "time",
        "transfer",
        "trace",
        "upload",
        "download",
        "window",
        "wire",
        "air",
    )
)
#: Values that say what happened: nobody's name, unless they stand under a key of names.
WORDS = _closed()
VOCABULARY = _vocabulary()


def _listed(tree: Any, key: str) -> Iterable[Mapping[str, Any]]:
    """Every table under a key, at any depth."""
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            if name == key and isinstance(value, list):
                yield from (one for one in value if isinstance(one, Mapping))
            yield from _listed(value, key)
    elif isinstance(tree, list):
        for one in tree:
            yield from _listed(one, key)


def _texts(tree: Any) -> Iterable[str]:
    if isinstance(tree, Mapping):
        tree = list(tree.values())
    if isinstance(tree, list):
        for one in tree:
            yield from _texts(one)
    elif isinstance(tree, str):
        yield tree
