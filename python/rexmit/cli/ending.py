"""How a command ends: its exit code and, if something went wrong, one sentence."""

from __future__ import annotations

import os
from collections.abc import Callable

from rexmit.files.not_written import NotWrittenError
from rexmit.screen.say import tell

#: Exit codes: an answer, a run that failed, input that is no use.
ANSWER, FAILED, BAD_INPUT = 0, 1, 2


class BadArguments(Exception):
    """Options that do not go together; the message says what to change."""


def refuse(fix: str | None) -> None:
    """Raises BadArguments with what is to be changed, if something is."""
    if fix:
        raise BadArguments(fix)


def say(sentence: str, code: int) -> int:
    """Says why there is no answer, or no whole one; returns the exit code."""
    tell(f"rexmit: {sentence}")
    return code


def ended(failure: str | None) -> int:
    """The exit code of an answer, or of what failed for this reason, which is said."""
    return say(failure, FAILED) if failure else ANSWER


def guarded(work: Callable[[], int]) -> int:
    """Whatever goes wrong is one sentence and an exit code."""
    from rexmit import _core, extras
    from rexmit.files.not_written import sentence

    try:
        return work()
    except ModuleNotFoundError as error:
        if missing := extras.told(error):
            return say(str(missing), BAD_INPUT)
        return _fault(error)
    except _core.ScenarioError as error:
        # Its lines name the file by themselves.
        for line in str(error).split("\n"):
            tell(line)
        return BAD_INPUT
    except UnicodeEncodeError as error:
        # Names of files may have any bytes, all else is text.
        return say(f"{error.object} has bytes that are not UTF-8, where text is wanted", BAD_INPUT)
    except (_core.LiveError, NotWrittenError) as error:
        return say(str(error), FAILED)
    except (_core.CaptureError, BadArguments, ValueError) as error:
        return say(str(error), BAD_INPUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return say(place + sentence(error), FAILED)
    except Exception as error:
        return _fault(error)


def _fault(error: Exception) -> int:
    """A fault of ours: whoever meets it gets a sentence, whoever fixes it asks for the trace."""
    if os.environ.get("REXMIT_TRACE"):
        raise error
    told = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return say(f"a fault of rexmit, {told}; REXMIT_TRACE=1 shows where", FAILED)
