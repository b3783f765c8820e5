"""What a store of bytes is, and how contents are named and measured."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from kernel.errors import InvalidInputError

CHUNK = 262_144  # bytes that are read or sent at a time
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Measured:
    """A content's name and size: its SHA-256 in hex, and its bytes."""

    content_hash: str
    byte_size: int


@dataclass(frozen=True, slots=True)
class Stored:
    """Bytes that are kept: their name, their address in the store, and their number."""

    content_hash: str
    storage_uri: str
    byte_size: int


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as a store lists it. `content_hash` is empty where its name is none of ours."""

    content_hash: str
    name: str
    byte_size: int


class Store(Protocol):
    """A place for bytes. `content_hash` is a SHA-256 in lower-case hex, and anything else is refused.

    Every method raises UnavailableError where the place cannot be reached, and NotFoundError where what is asked for is
    not there.
    """

    def uri(self, content_hash: str) -> str:
        """The address of a content in this store, whether or not it is there."""
        ...

    def put(self, path: Path) -> Stored:
        """Keep the bytes of the file at `path`. What is there already is not written again. Whole or not at all."""
        ...

    def exists(self, content_hash: str) -> bool:
        """Whether the bytes are there."""
        ...

    def size(self, content_hash: str) -> int:
        """How many bytes they are."""
        ...

    def open(self, content_hash: str) -> IO[bytes]:
        """The bytes, to be read from the beginning; whoever opens them closes them."""
        ...

    def stream(self, content_hash: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """The bytes in pieces: `length` of them from the place `start` on, or all that follow."""
        ...

    def local_path(self, content_hash: str) -> AbstractContextManager[Path]:
        """The bytes as a file of this machine, for a parser that takes a path. It is gone, or must not be touched,
        once the block ends."""
        ...

    def delete(self, content_hash: str) -> bool:
        """Remove the bytes for good; whether they were there."""
        ...

    def iterate(self, beginning: str = "") -> Iterator[StoredFile]:
        """Every file of this store whose name begins so."""
        ...

    def rest(self) -> Iterator[StoredFile]:
        """What lies beside the folders of contents, but for what is just being written."""
        ...


def checked(content_hash: str) -> str:
    """The hash again. Raises InvalidInputError unless it is the hex of a SHA-256, so that no other name is a path."""
    if not _HASH.fullmatch(content_hash):
        raise InvalidInputError("Stored bytes are named by the 64 hex digits of their SHA-256.")
    return content_hash


def place(content_hash: str) -> str:
    """The path of a content within its store: `aa/bb/<sha256>`."""
    name = checked(content_hash)
    return f"{name[:2]}/{name[2:4]}/{name}"


def hash_of_place(path: str) -> str:
    """The content whose path within a store this is; empty where it is none of ours."""
    name = path.rpartition("/")[2]
    return name if _HASH.fullmatch(name) and place(name) == path else ""


def measure(path: Path) -> Measured:
    """The name and size of the file at `path`."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Measured(digest.hexdigest(), size)
