"""The process in which calls are worked on. When a call does not end by itself, the server ends the process
and starts another: neither endless work nor a lack of memory ends the server.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from rexmit import _core
from rexmit.assistant.limits import TimeUpError, Turn
from rexmit.running.processes import without_main

#: What a tool refuses, with a sentence.
REFUSALS = (ValueError, OSError, _core.CaptureError, _core.ScenarioError)
NO_MEMORY = "there was too little memory for it"
#: The process may take a third more than the analysis of a capture or a simulation, and these bytes: answers
#: are made of what was found.
MORE_MEMORY = 512_000_000


class RefusalError(ValueError):
    """What the tool in the process refused, in its own words."""


class Worker:
    """Tools in a process of their own. make: gives them, in that process; seconds: what a call may take;
    memory: bytes that reading or simulating may take.
    """

    def __init__(self, make: Callable[[], Any], seconds: float, memory: int | None = None) -> None:
        self._make, self._seconds, self._memory = make, seconds, memory
        self._turn = Turn()
        self._context = get_context("spawn")
        self._process: BaseProcess | None = None
        self._line: Connection | None = None
        self._start()

    def call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        """The tool's answer. Raises RefusalError, TimeUpError, and RuntimeError for a fault of rexmit's."""
        with self._turn.taken(self._seconds) as limit:
            line = self._start()
            try:
                line.send((tool, given, limit.left()))
                if not line.poll(limit.left()):
                    raise TimeUpError(
                        f"a call may take {self._seconds:g} s, and no answer was made within them"
                    )
                refused, fault, answer = line.recv()
            except TimeUpError:
                self.end()
                raise
            except (EOFError, OSError):
                self.end()
                raise RefusalError(f"the process that worked on it ended, maybe as {NO_MEMORY}") from None
        if fault is not None:
            raise RuntimeError(fault)
        if refused is not None:
            raise RefusalError(refused)
        return dict(answer)

    def end(self) -> None:
        """Ends the process, whatever it is about."""
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._line = None

    def _start(self) -> Connection:
        if self._line is None:
            here, there = self._context.Pipe()
            given = (there, self._make, self._memory)
            self._process = self._context.Process(target=_work, args=given, daemon=True)
            with without_main():
                self._process.start()
            there.close()
            self._line = here
        return self._line


def _work(line: Connection, make: Callable[[], Any], memory: int | None) -> None:
    """Answers calls until the server ends."""
    # Ctrl-C is for the server, and so is standard output: there the protocol is spoken.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_server, daemon=True).start()
    if memory is not None:
        _bound(memory + memory // 3 + MORE_MEMORY)
    tools = make()
    while True:
        try:
            tool, given, tools.longest_s = line.recv()
        except EOFError:
            return
        refused = fault = answer = None
        try:
            answer = getattr(tools, tool)(**given)
        except REFUSALS as error:
            refused = str(error)
        except MemoryError:
            refused = NO_MEMORY
        except Exception:
            fault = traceback.format_exc()
        line.send((refused, fault, answer))


def _bound(memory: int) -> None:
    """No more than these bytes; where the system has no such bound, nothing happens."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _end_with_server() -> None:
    """A server that is killed closes nothing in order."""
    server = parent_process()
    if server is not None:
        connection.wait([server.sentinel])
    os._exit(1)
