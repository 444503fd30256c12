"""Standard input, output and error as a command finds them: closed, full, or with nobody at the other end."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rexmit.files.not_written import NotWrittenError, sentence

#: What the system says of a descriptor that cannot be written.
CLOSED = sentence(OSError(errno.EBADF, ""))


def open_closed() -> None:
    """Puts something in the place of streams that are closed: the next file would take their numbers, and
    what is printed would go into it. Writing to a closed standard output fails as it should.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one.
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


@contextmanager
def printing() -> Iterator[None]:
    """What is written meanwhile goes to standard output, and has gone there at the end.

    Raises NotWrittenError if it cannot, and BrokenPipeError where the reader has had enough.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        abandon()
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        abandon()
        why = sentence(error)
        if why == CLOSED:
            why = "it is closed"
        raise NotWrittenError(f"standard output: {why}") from None


def abandon() -> None:
    """Nothing goes to standard output any more: what Python flushes as it ends does not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
