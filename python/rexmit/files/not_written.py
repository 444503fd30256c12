"""What is said of files that could not be written."""

from __future__ import annotations

import os


class NotWrittenError(Exception):
    """Files that could not be written; the message names each and says why. The others are there."""


#: Which files are there is not told: each of them is whole.
STOPPED = "stopped while files were being written into {}: not all are there"
#: Whoever pressed Ctrl-C waits, and figures take longest.
UNDRAWN = "no figures: it was stopped early"


def sentence(error: OSError) -> str:
    """What the system says of an error, without the number that the core's errors have in their words."""
    told = os.strerror(error.errno) if error.errno else error.strerror or str(error)
    told = told.partition(" (os error")[0]
    return told[:1].lower() + told[1:]
