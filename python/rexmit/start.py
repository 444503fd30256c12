"""The command `rexmit` from its first line on: Ctrl-C while modules are loaded ends in a sentence, too."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line, and ends the process with its exit code."""
    _leave(_run())


def _leave(code: int) -> NoReturn:
    """Ends without taking the interpreter apart, which a thread of Arrow's that still has a Python object
    answers by aborting the process ("terminate called without an active exception").
    """
    import atexit
    import sys
    from contextlib import suppress

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # What the streams refuse was told where it was printed.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _run() -> int:
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        # Ignored, as a shell's background jobs do.
        from rexmit.cli import main as run

        return run()
    signal.signal(signal.SIGINT, _stop)
    from rexmit.cli import main as run

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
        # The answer is given: nothing is left to be stopped.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        _stop()
    return code


def _stop(number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
    # At once: an exception would come out of the middle of somebody's import.
    try:
        os.write(2, b"rexmit: stopped before there was an answer\n")
    finally:
        os._exit(1)
