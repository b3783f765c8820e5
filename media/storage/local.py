"""Bytes in a folder of this machine, or of one that all its workers mount."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from kernel.errors import NotFoundError, UnavailableError
from media.storage.contents import CHUNK, Stored, StoredFile, hash_of_place, measure, place

_READABLE = 0o640
_HEX = "0123456789abcdef"
_WRITING_SECONDS = 3600  # a file that has not yet come to its place is being written, unless it is older


@dataclass(frozen=True, slots=True)
class LocalStore:
    """A folder of files that are written once: beside their place, flushed to the disk, then moved there."""

    root: Path

    def uri(self, content_hash: str) -> str:
        """`local:aa/bb/<sha256>`: it tells nothing of the machine."""
        return f"local:{place(content_hash)}"

    def put(self, path: Path) -> Stored:
        """Keep the bytes of the file at `path`."""
        with _reachable(), NamedTemporaryFile(dir=self._incoming(), delete=False) as copy:
            try:
                content_hash, size = _copy(path, copy)
                target = self._path(content_hash)
                if not _is_whole(target, content_hash, size):
                    self._move(Path(copy.name), target)
            finally:
                Path(copy.name).unlink(missing_ok=True)
        return Stored(content_hash, self.uri(content_hash), size)

    def exists(self, content_hash: str) -> bool:
        """Whether the bytes are there."""
        return self._path(content_hash).is_file()

    def size(self, content_hash: str) -> int:
        """How many bytes they are."""
        with _reachable():
            return self._path(content_hash).stat().st_size

    def open(self, content_hash: str) -> IO[bytes]:
        """The bytes, to be read from the beginning."""
        with _reachable():
            return self._path(content_hash).open("rb")

    def stream(self, content_hash: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """The bytes in pieces."""
        if not self.exists(content_hash):
            raise NotFoundError("These bytes are not in the store.")
        return self._pieces(content_hash, start, length)

    @contextmanager
    def local_path(self, content_hash: str) -> Iterator[Path]:
        """The stored file itself, which must not be touched."""
        path = self._path(content_hash)
        if not path.is_file():
            raise NotFoundError("These bytes are not in the store.")
        yield path

    def delete(self, content_hash: str) -> bool:
        """Remove the bytes for good; whether they were there. Folders stay: another content may be on its way in."""
        path = self._path(content_hash)
        try:
            path.unlink()
            _flush(path.parent)
        except FileNotFoundError:
            return False
        except OSError as exc:
            raise UnavailableError("The store of media cannot be written.") from exc
        return True

    def iterate(self, beginning: str = "") -> Iterator[StoredFile]:
        """Every file under the folder whose name begins so."""
        for path in sorted(self.root.glob("*")):
            if path.name.startswith(beginning[:2]) or beginning.startswith(path.name):
                for found in self._files(path):
                    if found.name.startswith(beginning):
                        yield found

    def rest(self) -> Iterator[StoredFile]:
        """What lies beside the folders of contents, but for what is just being written."""
        for path in sorted(self.root.glob("*")):
            if path.name[0] not in _HEX:
                for found in self._files(path):
                    if not self._is_new(found):
                        yield found

    def _files(self, top: Path) -> Iterator[StoredFile]:
        inside = (Path(folder) / name for folder, _, names in os.walk(top) for name in sorted(names))
        for path in inside if top.is_dir() else (top,):
            with suppress(FileNotFoundError):  # removed while we look
                relative = path.relative_to(self.root).as_posix()
                yield StoredFile(hash_of_place(relative), relative, path.lstat().st_size)

    def _is_new(self, found: StoredFile) -> bool:
        with suppress(FileNotFoundError):
            return time.time() - (self.root / found.name).lstat().st_mtime < _WRITING_SECONDS
        return True

    def _pieces(self, content_hash: str, start: int, length: int | None) -> Iterator[bytes]:
        """Opened when the first piece is asked for, so that what nobody reads is never left open."""
        with self.open(content_hash) as file:
            file.seek(start)
            left = length
            while left is None or left > 0:
                piece = file.read(CHUNK if left is None else min(CHUNK, left))
                if not piece:
                    return
                left = None if left is None else left - len(piece)
                yield piece

    def _path(self, content_hash: str) -> Path:
        return self.root / place(content_hash)

    def _incoming(self) -> Path:
        folder = self.root / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _move(self, written: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        written.chmod(_READABLE)
        written.replace(target)
        _flush(target.parent)


def _copy(source: Path, copy: IO[bytes]) -> tuple[str, int]:
    """Write the source's bytes to the disk; their hash and number: those that were written, whatever happens to the
    source meanwhile."""
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += copy.write(chunk)
    copy.flush()
    os.fsync(copy.fileno())
    return digest.hexdigest(), size


def _is_whole(target: Path, content_hash: str, size: int) -> bool:
    """Whether the stored file holds what its name says, read to the end: what a disk changed is mended by the same
    bytes that come again."""
    try:
        return target.stat().st_size == size and measure(target).content_hash == content_hash
    except OSError:  # not there, or a disk that no longer gives the bytes back
        return False


def _flush(folder: Path) -> None:
    """Have the folder's entries on the disk, so that a name survives a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as exc:
        raise NotFoundError("These bytes are not in the store.") from exc
    except OSError as exc:
        raise UnavailableError("The store of media cannot be read or written.") from exc
