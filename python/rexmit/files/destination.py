"""A folder that an answer is written into (`--out DIR`): one process at a time writes there, it replaces only
what rexmit wrote there before, it never writes through a link, and each file is whole or not there.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rexmit.files.not_written import NotWrittenError, sentence
from rexmit.files.reading import contents

if TYPE_CHECKING:
    from rexmit.files.lock import Lock

#: What rexmit wrote into the folder, one path a line, as seen from the folder.
LIST = ".rexmit-files"
#: Held while somebody writes there.
LOCK = ".rexmit-lock"
#: Files lie here until they are whole. On the same file system, so that they can be moved into place.
SCRATCH = ".rexmit-new"
#: Runs whose answer is not there yet: the same command goes on with them.
RUNS = ".rexmit-runs"
#: Names that a refusal lists.
NAMED = 4


class TakenError(ValueError):
    """The folder holds what is not rexmit's where an answer would be written; the message says what to do."""


class Destination:
    """The folder, held by this process while the context lasts.

    planned: names or patterns ("figures/flow-*/*.png") of what may be written, so that a refusal comes before
    the work.  overwrite: replace files that rexmit did not write; links are refused all the same.
    Raises TakenError, NotWrittenError while another process writes there, and OSError if there can be no such
    folder.
    """

    def __init__(
        self, folder: str | os.PathLike[str], planned: Iterable[str] = (), overwrite: bool = False
    ) -> None:
        self.path = Path(folder)
        self._planned = tuple(planned)
        self._overwrite = overwrite
        self._made: list[Path] = []
        self._lock: Lock | None = None
        #: What earlier answers wrote there, and what this one has written.
        self._before: set[str] = set()
        self._now: list[str] = []
        #: Why files were not written, and their names.
        self._lacking: dict[str, list[str]] = {}

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _open(self) -> None:
        missing = [place for place in (self.path, *self.path.parents) if not os.path.lexists(place)]
        for place in reversed(missing):
            place.mkdir(exist_ok=True)
            self._made.append(place)
        if not self.path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.path))
        self._refuse_links([LIST, LOCK, SCRATCH])
        listed = self.path / LIST
        if os.path.lexists(listed) and not listed.is_file():
            raise TakenError(
                f"{listed}: is no regular file, and the list of what is written goes there; remove it, or "
                "name another folder"
            )
        # Imported by those who write into a folder: filelock takes as long to import as the command line.
        from rexmit.files.lock import Lock

        self._lock = Lock(self.path / LOCK)
        self._before = _listed(self.path)
        self._check()
        shutil.rmtree(self.path / SCRATCH, ignore_errors=True)

    def _close(self) -> None:
        if self._lock is not None:
            shutil.rmtree(self.path / SCRATCH, ignore_errors=True)
            self._lock.release()
            self._lock = None
        for place in reversed(self._made):
            # What nothing was written into need not stay.
            with suppress(OSError):
                place.rmdir()
        self._made.clear()

    def _check(self) -> None:
        there = [name for pattern in self._planned for name in self._matching(pattern)]
        self._refuse_links([*self._planned, *there])
        foreign = {name for name in there if self._is_foreign(name)}
        if foreign:
            raise TakenError(self._refusal(sorted(foreign, key=lambda name: (name.count("/"), name))))

    def _refuse_links(self, names: Iterable[str]) -> None:
        """Whatever the folder is reached through, nothing in it leads out of it."""
        for name in names:
            link = next((place for place in _places(name) if (self.path / place).is_symlink()), None)
            if link is not None:
                raise TakenError(
                    f"{self.path / link}: a symbolic link, and nothing is written through links; remove it, "
                    "or name another folder"
                )

    def _refusal(self, foreign: Sequence[str]) -> str:
        told = ", ".join(foreign[:NAMED])
        if len(foreign) > NAMED:
            told += f" and {len(foreign) - NAMED} more"
        return (
            f"{self.path}: rexmit did not write {told} there and does not replace it: name another folder, "
            "move it away, or say --overwrite"
        )

    def _matching(self, pattern: str) -> list[str]:
        """What is there under a name or a pattern, a folder's files among it."""
        if not any(c in pattern for c in "*?["):
            return [pattern] if os.path.lexists(self.path / pattern) else []
        top = PurePosixPath(pattern).parts[0]
        names = (
            (Path(place) / file).relative_to(self.path).as_posix()
            for place, _, files in os.walk(self.path / top)
            for file in files
        )
        return [name for name in names if fnmatchcase(name, pattern)]

    def _is_foreign(self, name: str) -> bool:
        """Whether something lies there that may not be replaced. Folders and devices never may."""
        try:
            kind = (self.path / name).lstat().st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(kind):
            return True
        return name not in self._before and name not in self._now and not self._overwrite

    @contextmanager
    def file(self, *names: str) -> Iterator[list[Path]]:
        """Gives a path to write for each name; the files are put in their places when all is written.

        What fails with OSError spares other files: `done` tells of it.
        """
        drafts = [self.path / SCRATCH / name for name in names]
        try:
            for draft in drafts:
                draft.parent.mkdir(parents=True, exist_ok=True)
            yield drafts
            for name, draft in zip(names, drafts, strict=True):
                self._place(name, draft)
        except TakenError as error:
            self._lacking.setdefault(str(error), []).extend(names)
        except OSError as error:
            self._lacking.setdefault(sentence(error), []).extend(names)
        finally:
            for draft in drafts:
                with suppress(OSError):
                    draft.unlink()

    def _place(self, name: str, draft: Path) -> None:
        self._claim([name])
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(draft, target)
        if name not in self._now:
            self._now.append(name)

    def _claim(self, names: Sequence[str]) -> None:
        """Puts names on the list before there are such files: whoever is killed leaves nothing unlisted."""
        self._refuse_links(names)
        foreign = [name for name in names if self._is_foreign(name)]
        if foreign:
            raise TakenError("there is a file already, which rexmit did not write")
        new = set(names) - self._before - set(self._now)
        if new:
            self._write_list(self._before | set(self._now) | new)

    def _write_list(self, names: Iterable[str]) -> None:
        draft = self.path / SCRATCH / LIST
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(b"".join(os.fsencode(f"{name}\n") for name in sorted(names)))
        os.replace(draft, self.path / LIST)

    def room(self, folder: str, names: Sequence[str]) -> Path:
        """A folder in it for files of these names, which somebody else writes, or does not."""
        inside = [f"{folder}/{name}" for name in names]
        self._refuse_links(inside)
        self._claim(inside)
        return self.path / folder

    def came(self, path: Path) -> str:
        """Counts a file of `room` that was written, by its path; returns its name."""
        name = path.relative_to(self.path).as_posix()
        if name not in self._now:
            self._now.append(name)
        return name

    def runs(self) -> Path:
        """A folder in it for runs that are under way; it stays until `forget_runs`, whatever ends this."""
        self._refuse_links([RUNS])
        return self.path / RUNS

    def forget_runs(self) -> None:
        """The answer is there."""
        shutil.rmtree(self.path / RUNS, ignore_errors=True)

    def lacks(self, name: str) -> bool:
        """Whether this file could not be written."""
        return any(name in names for names in self._lacking.values())

    def finish(self, inputs: Iterable[str | os.PathLike[str]] | None = None) -> int:
        """Lists what was written; returns how many files of earlier answers were removed.

        inputs: files that this answer is about, which stay; None: whatever earlier answers wrote stays.
        """
        kept = self._before
        if inputs is not None:
            read = {Path(name).resolve() for name in inputs}
            kept = {name for name in self._before if (self.path / name).resolve() in read}
        gone = sum(self._remove(name) for name in sorted(self._before - kept - set(self._now)))
        try:
            self._write_list(kept | set(self._now))
        except OSError as error:
            self._lacking.setdefault(sentence(error), []).append(LIST)
        return gone

    def _remove(self, name: str) -> bool:
        path = self.path / name
        if any((self.path / place).is_symlink() for place in _places(name)[:-1]) or path.is_dir():
            return False
        try:
            path.unlink()
        except OSError:
            return False
        place = path.parent
        with suppress(OSError):
            while place != self.path:
                place.rmdir()
                place = place.parent
        return True

    def failure(self) -> str | None:
        """Which files could not be written, and why; None if all could."""
        if not self._lacking:
            return None
        told = (
            f"{', '.join(str(self.path / name) for name in names)}: {why}"
            for why, names in self._lacking.items()
        )
        return "not written: " + "; ".join(told)

    def done(self) -> None:
        """Raises NotWrittenError if anything is lacking."""
        if (failure := self.failure()) is not None:
            raise NotWrittenError(failure)


def check_file(path: str | os.PathLike[str], is_ours: Callable[[Path], bool], overwrite: bool) -> None:
    """Raises TakenError if a single file may not be written: what lies there is not rexmit's, or is a link.

    is_ours: whether rexmit wrote this file. Pipes and devices are written as they are, through links too.
    """
    place = Path(path)
    try:
        kind = place.lstat().st_mode
        if stat.S_ISLNK(kind):
            with suppress(FileNotFoundError):
                kind = place.stat().st_mode
    except FileNotFoundError:
        return
    if place.is_symlink() and (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
        raise TakenError(
            f"{place}: a symbolic link, and nothing is written through links; remove it, or name another file"
        )
    if stat.S_ISDIR(kind):
        raise TakenError(f"{place}: is a folder; name a file")
    if stat.S_ISREG(kind) and not overwrite and not is_ours(place):
        raise TakenError(
            f"{place}: rexmit did not write this file and does not replace it: name another, move it away, "
            "or say --overwrite"
        )


def opened(
    folder: str | None, planned: Iterable[str], overwrite: bool
) -> AbstractContextManager[Destination | None]:
    """The folder that `--out` names, if it names one."""
    return nullcontext() if folder is None else Destination(folder, planned, overwrite)


def _places(name: str) -> list[str]:
    """`a/b/c` as a, a/b, a/b/c, up to where a pattern begins."""
    places: list[str] = []
    for part in PurePosixPath(name).parts:
        if any(c in part for c in "*?["):
            break
        places.append(f"{places[-1]}/{part}" if places else part)
    return places


def _listed(folder: Path) -> set[str]:
    """The names on the list that lie in the folder, whatever somebody wrote there."""
    try:
        lines = os.fsdecode(contents(folder / LIST)).split("\n")
    except ValueError:
        return set()
    paths = (PurePosixPath(line) for line in lines if line)
    return {str(path) for path in paths if path.parts and not path.is_absolute() and ".." not in path.parts}
