"""A file that is written as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rexmit.files.not_written import NotWrittenError, sentence


def write(target: Path, pieces: Iterable[bytes]) -> None:
    """Writes the file, which is whole or not there. Pipes and devices are written as they are."""
    special = target.exists() and not target.is_file()
    draft = target if special else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(draft, "wb" if special else "xb") as out:
            out.writelines(pieces)
        if not special:
            os.replace(draft, target)
    except OSError as error:
        raise NotWrittenError(f"{target}: {sentence(error)}") from None
    finally:
        if not special:
            draft.unlink(missing_ok=True)
