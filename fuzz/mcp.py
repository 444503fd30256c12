#!/usr/bin/env python3
"""Calls of `rexmit mcp` with hostile arguments, over folders of hostile files, by the package's own client.

Each call has to end in time and in bounded memory, with an answer or one clean sentence. Nothing outside of
the folders may be opened, by Python (audit events) or by the core (inotify), and nothing changed but results.

  .venv/bin/python fuzz/mcp.py --seed 1 --seconds 60
  .venv/bin/python fuzz/mcp.py --seed 1 --runs 50000
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import random
import re
import sys
from pathlib import Path
from typing import Any

import fuzzing
from fuzzing import MB, FaultError, Limits, Run, Target
from mcp_calls import Asker
from mcp_place import CANARY, Place, captures, own, plain
from watching import Log, Watched

# This file has the name of the package that it needs.
sys.path.remove(str(Path(__file__).parent))

#: Calls over one folder.
CALLS = 60
#: One round of so many asks a server that works in a process of its own, as `rexmit mcp` does; it has to
#: start within the time of a call, s.
APART, STARTED_S = 50, 5.0
#: What a call may take here, s and bytes; the server's own limits are larger.
LONGEST_S, MEMORY = 1.0, 256 * MB


class Fuzzer:
    """The target: a server for each round, asked by a client."""

    def __init__(self) -> None:
        from rexmit.assistant import tools

        tools.LONGEST_S = LONGEST_S
        self.watched, self.log = Watched(), Log()
        logging.getLogger().addHandler(self.log)
        logging.getLogger("mcp").propagate = True

    def play(self, rng: random.Random, folder: Path, run: Run) -> None:
        """One round."""
        place = Place(rng, folder)
        asyncio.run(self._calls(place, Asker(place), run, apart=rng.randrange(APART) == 0))

    async def _calls(self, place: Place, asker: Asker, run: Run, apart: bool) -> None:
        from mcp.client import Client

        from rexmit.assistant.folders import Folders
        from rexmit.assistant.server import _tools, server
        from rexmit.assistant.worker import Worker

        folders = Folders([str(place.read)], str(place.results))
        worker = None
        if apart:
            worker = Worker(functools.partial(_tools, folders.named, MEMORY), STARTED_S, MEMORY)
        async with Client(server(folders, MEMORY, worker)) as client:
            try:
                with self.watched.over(place.read, place.results, place.out):
                    for _ in range(CALLS):
                        tool, given = asker.call()
                        if asker.rng.random() < 0.02:
                            await self._protocol(client, asker, run)
                        with run.execution(f"{tool} {json.dumps(given)}"):
                            await self._call(client, tool, given, run)
            except FaultError as fault:
                with run.execution("a round"):
                    raise fault
        if worker is not None:
            worker.end()

    async def _call(self, client: Any, tool: str, given: dict[str, Any], run: Run) -> None:
        from mcp.shared.exceptions import MCPError

        # A study reads files of rexmit's own.
        own_files = tool == "study" and given.get("name") in ("rto", "interruption")
        try:
            with self.watched.call(python=not own_files):
                found = await client.call_tool(tool, given)
        except MCPError as error:
            run.outcomes["refused by the protocol"] += 1
            self._clean(str(error))
            return
        except UnicodeEncodeError:
            # Halves of surrogate pairs are no JSON.
            run.outcomes["not sent"] += 1
            return
        text = found.content[0].text
        if CANARY in text and CANARY not in json.dumps(given):
            raise FaultError("outside", f"the answer tells of a file outside: {text[:500]}")
        if found.is_error:
            run.outcomes["refused" if "validation error" not in text else "refused by the schema"] += 1
            self._clean(text)
            return
        run.outcomes["cut short" if "cut_short" in found.structured_content else "answered"] += 1
        self._whole(text, found.structured_content)

    def _clean(self, text: str) -> None:
        """One sentence, and no traceback anywhere."""
        if self.log.told:
            told, self.log.told[:] = "\n".join(self.log.told), []
            raise FaultError("traceback", told)
        if re.fullmatch(r"Error executing tool \S+", text) or "Traceback" in text:
            raise FaultError("traceback", text)
        if "validation error" in text:
            return
        if re.search(r"[\x00-\x1f\x7f\u202e]", text):
            raise FaultError("answer", f"no clean sentence: {text[:500]!r}")

    def _whole(self, text: str, data: dict[str, Any]) -> None:
        """Bounded, and JSON as others read it."""
        from rexmit.assistant.answers import DATA, MOST

        if len(text) > MOST + 2_000:
            raise FaultError("answer", f"{len(text)} characters: {text[:200]}")
        if data["data"] != DATA or json.loads(text) != data:
            raise FaultError("answer", text[:500])
        try:
            json.dumps(data, allow_nan=False)
        except ValueError as error:
            raise FaultError("answer", f"{error}: {text[:500]}") from None
        if self.log.told:
            self._clean("")

    async def _protocol(self, client: Any, asker: Asker, run: Run) -> None:
        """Lists with cursors, and resources by address."""
        from mcp.shared.exceptions import MCPError

        rng, word = asker.rng, asker.text()
        known = ("rexmit://definitions", "rexmit://json", "rexmit://scenario-keys", "rexmit://stacks")
        made = (
            f"rexmit://{asker.place.outside()}",
            f"rexmit://json/{word[:100]}",
            "file:///etc/passwd",
            word,
        )
        uri = rng.choice((*known, *made, "rexmit://none", "rexmit://../../etc/passwd"))
        asked = {
            "tools": lambda: client.list_tools(cursor=word),
            "resources": lambda: client.list_resources(cursor=word),
            "templates": lambda: client.list_resource_templates(cursor=word),
            "read": lambda: client.read_resource(uri),
        }
        what = rng.choice(sorted(asked))
        with run.execution(f"{what} {word!r} {uri!r}"):
            try:
                with self.watched.call():
                    found = await asked[what]()
                run.outcomes["answered"] += 1
                if CANARY in str(found):
                    raise FaultError("outside", str(found)[:500])
            except (MCPError, UnicodeEncodeError, ValueError) as error:
                run.outcomes["refused by the protocol"] += 1
                if self.log.told:
                    self._clean(str(error))


def warm() -> None:
    """Imports and caches that the first call of each kind makes."""
    import matplotlib.pyplot
    import mcp.client  # noqa: F401

    import rexmit
    from rexmit.files import output  # noqa: F401

    captures()
    with fuzzing.scratch() as folder:
        made = rexmit.run(rexmit.Scenario.parse(plain()))
        for k, (_, figure) in enumerate(made.worst(1)[0].figures()):
            figure.save(folder / f"{k}.png")
    matplotlib.pyplot.close("all")
    own()


def main() -> int:
    """Fuzzes as the command line says."""
    with fuzzing.covered("rexmit.assistant"):
        warm()
        limits = Limits(seconds=LONGEST_S + 4, cpu_seconds=LONGEST_S + 2, memory=MEMORY + 256 * MB)
        return fuzzing.main(Target("mcp", Fuzzer().play, limits, "rexmit.assistant"), __doc__)


if __name__ == "__main__":
    sys.exit(main())
