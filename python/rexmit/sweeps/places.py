"""Where the files of a sweep lie: a folder of this machine, or any address that fsspec knows."""

from __future__ import annotations

import errno
import io
import os
import platform
import secrets
import stat
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from rexmit import extras
from rexmit.files.address import is_remote
from rexmit.files.not_written import NotWrittenError, sentence
from rexmit.files.reading import within
from rexmit.screen.say import one_line

#: This machine, in names of files.
_HOST = "".join(c for c in platform.node() if c.isalnum() or c == "-") or "here"
#: Of `open(2)`; Windows has no such flag, and no such pipes.
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


class Place(Protocol):
    """Files under names such as `runs/000012.parquet`, each whole or not there."""

    #: As the user named it.
    name: str

    @property
    def root(self) -> str:
        """How the address of each of its files begins."""

    def read(self, name: str) -> bytes | None:
        """A file; None if it is not there."""

    def write(self, name: str, content: bytes) -> None:
        """Puts a file there at once. Raises NotWrittenError."""

    def names(self, folder: str) -> list[str]:
        """The files right in a folder, in order; none if it is not there."""

    def open(self, name: str) -> Any:
        """A file to read from anywhere in it. Raises FileNotFoundError, or ValueError for what is no file."""

    def address(self, name: str) -> str:
        """A file that is there as other programs call it; one that `open` takes."""

    def held(self, what: str) -> Any:
        """A context within which no other process does the same. Raises NotWrittenError if one does."""


def place(address: str | os.PathLike[str]) -> Place:
    """The place of an address: a folder, or what has `://` in it."""
    name = os.fspath(address)
    return Remote(name) if is_remote(name) else Local(name)


class Local:
    """A folder; made when the first file is written. Raises ValueError for what is none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name)
        if self._path.exists() and not self._path.is_dir():
            raise ValueError(f"{name}: is no folder; name one, or what is not there yet")

    def read(self, name: str) -> bytes | None:
        try:
            with self.open(name) as file:
                return bytes(file.read())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, content: bytes) -> None:
        target = within(self._path, name)
        # Other parts may be written beside this one, from other machines too.
        draft = target.with_name(f".{target.name}.{_HOST}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(content)
                os.replace(draft, target)
            finally:
                with suppress(OSError):
                    draft.unlink()
        except OSError as error:
            raise NotWrittenError(f"{target}: not written: {sentence(error)}") from None

    def names(self, folder: str) -> list[str]:
        try:
            with os.scandir(self._path / folder) as entries:
                return sorted(entry.name for entry in entries if not entry.name.startswith("."))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def open(self, name: str) -> Any:
        path = within(self._path, name)
        try:
            # A pipe without a writer would block even the opening.
            file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NONBLOCK))  # noqa: SIM115
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {sentence(error)}") from None
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise ValueError(f"{path}: is no regular file")
        return file

    @property
    def root(self) -> str:
        return os.path.abspath(self._path)

    def address(self, name: str) -> str:
        self.open(name).close()
        return os.path.join(self.root, name)

    @contextmanager
    def held(self, what: str) -> Iterator[None]:
        from rexmit.files.lock import Lock

        try:
            self._path.mkdir(parents=True, exist_ok=True)
            lock = Lock(self._path / f".rexmit-lock{what}")
        except OSError as error:
            raise NotWrittenError(f"{self.name}: {sentence(error)}") from None
        try:
            self._sweep_up()
            yield
        finally:
            lock.release()

    def _sweep_up(self) -> None:
        """Removes what processes of this machine that were killed had begun to write."""
        for draft in self._path.glob(f"*/.*.{_HOST}.*.*"):
            pid = draft.name.split(".")[-2]
            if pid.isdecimal() and not _lives(int(pid)) and not draft.parent.is_symlink():
                with suppress(OSError):
                    draft.unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


class Unnamed:
    """Room for files that go with this process, whatever ends it: in memory, and from MOST bytes on in a file
    of the disk that has no name.
    """

    #: Bytes that are held in memory.
    MOST = 64_000_000
    name = "the rows of these runs"

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=self.MOST)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._there: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._one = threading.Lock()

    def read(self, name: str) -> bytes | None:
        if name not in self._there:
            return None
        begin, length = self._there[name]
        with self._one:
            self._file.seek(begin)
            return self._file.read(length)

    def write(self, name: str, content: bytes) -> None:
        try:
            with self._one:
                self._file.seek(self._end)
                self._file.write(content)
                self._file.flush()
        except OSError as error:
            raise NotWrittenError(
                f"{self.name} could not be kept in {tempfile.gettempdir()}: {sentence(error)}"
            ) from None
        self._there[name] = self._end, len(content)
        self._end += len(content)

    def names(self, folder: str) -> list[str]:
        return sorted(name.rpartition("/")[2] for name in self._there if name.rpartition("/")[0] == folder)

    def open(self, name: str) -> Any:
        content = self.read(name)
        if content is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return io.BytesIO(content)

    @property
    def root(self) -> str:
        raise ValueError(f"{self.name} have no address")

    def address(self, name: str) -> str:
        return self.root

    @contextmanager
    def held(self, what: str) -> Iterator[None]:
        # Nobody else knows of it.
        yield


class Remote:
    """An address of fsspec's: `s3://bucket/sweep`. Raises ValueError if it knows no such."""

    def __init__(self, name: str) -> None:
        self.name = name
        extras.need("sweep", f"{name}: an address", "fsspec")
        from fsspec.core import url_to_fs

        try:
            with reached(name, "fsspec has no way there"):
                self.files, self.path = url_to_fs(name)
        except FileNotFoundError:
            raise ValueError(f"{name}: fsspec has no way there: there is no such file") from None

    def _at(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{name}" if self.path else name

    def read(self, name: str) -> bytes | None:
        try:
            with reached(self.name, "cannot be read"):
                return bytes(self.files.cat_file(self._at(name)))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, content: bytes) -> None:
        target = self._at(name)
        try:
            with (
                reached(f"{self.name}/{name}", "not written"),
                suppress(FileExistsError, NotImplementedError),
            ):
                self.files.makedirs(target.rpartition("/")[0], exist_ok=True)
            # An object appears whole; where there are files, one is moved into its place.
            with reached(f"{self.name}/{name}", "not written"):
                if "file" in _protocols(self.files):
                    draft = f"{target}.{os.getpid()}.{secrets.token_hex(4)}"
                    self.files.pipe_file(draft, content)
                    self.files.mv(draft, target)
                else:
                    self.files.pipe_file(target, content)
        except ValueError as error:
            raise NotWrittenError(str(error)) from None
        except OSError as error:
            raise NotWrittenError(f"{self.name}/{name}: not written: {sentence(error)}") from None

    def names(self, folder: str) -> list[str]:
        self.files.invalidate_cache()
        try:
            with reached(self.name, "cannot be read"):
                found = self.files.ls(self._at(folder), detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name.rpartition("/")[2] for name in found)

    def open(self, name: str) -> Any:
        with reached(self.name, "cannot be read"):
            return self.files.open(self._at(name), "rb")

    @property
    def root(self) -> str:
        return str(self.files.unstrip_protocol(self.path))

    def address(self, name: str) -> str:
        return str(self.files.unstrip_protocol(self._at(name)))

    @contextmanager
    def held(self, what: str) -> Iterator[None]:
        # There are no locks there. Two who do the same write the same files.
        yield


@contextmanager
def reached(name: str, what: str) -> Iterator[None]:
    """Whatever else than a missing file goes wrong within is a ValueError that says so: each kind of storage
    has exceptions of its own.
    """
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, FileExistsError):
        raise
    except Exception as error:
        said = one_line(" ".join((str(error) or repr(error)).split()))
        raise ValueError(f"{name}: {what}: {said}") from None


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)
