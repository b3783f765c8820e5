"""Bytes in a bucket of any service that speaks S3; its packages are imported when it is first used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile, SpooledTemporaryFile
from typing import IO, Any

from kernel.errors import NotFoundError, UnavailableError
from media.storage.contents import CHUNK, Stored, StoredFile, hash_of_place, measure, place

_MISSING = frozenset({"404", "NoSuchKey", "NotFound"})
_AFTER_HEX = "g"
_IN_MEMORY = 4_194_304  # bytes of an opened content that are kept in memory and not in a file
INSTALL = (
    "The bucket needs the packages of requirements-s3.txt: install them, or leave SMARTBRAIN_MEDIA_S3_BUCKET empty."
)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where a bucket is and how it is reached. Empty endpoint: Amazon's own; empty keys: what the machine provides."""

    name: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    timeout_seconds: float = 60.0


class S3Store:
    """A bucket as a store. Each thread has a connection of its own; an upload becomes visible whole or not at all."""

    def __init__(self, bucket: Bucket) -> None:
        self._given = bucket
        self._prefix = f"{bucket.prefix.strip('/')}/" if bucket.prefix.strip("/") else ""
        self._storage = _connect(bucket)

    @classmethod
    def of(cls, bucket: Bucket) -> S3Store:
        """The store of that bucket, made once in a process: to connect takes longer than most reads."""
        return _made(bucket)

    def uri(self, content_hash: str) -> str:
        """`s3://bucket/prefix/aa/bb/<sha256>`."""
        return f"s3://{self._given.name}/{self._key(content_hash)}"

    def put(self, path: Path) -> Stored:
        """Keep the bytes of the file at `path`."""
        found = measure(path)
        key = self._key(found.content_hash)
        if self._size(key) != found.byte_size:
            with _reachable():
                self._bucket().upload_file(str(path), key)
        return Stored(found.content_hash, self.uri(found.content_hash), found.byte_size)

    def exists(self, content_hash: str) -> bool:
        """Whether the bytes are there."""
        return self._size(self._key(content_hash)) is not None

    def size(self, content_hash: str) -> int:
        """How many bytes they are."""
        found = self._size(self._key(content_hash))
        if found is None:
            raise NotFoundError("These bytes are not in the store.")
        return found

    def open(self, content_hash: str) -> IO[bytes]:
        """The bytes, to be read from the beginning: a copy on this machine."""
        copy = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  the caller closes it
        try:
            for piece in self.stream(content_hash):
                copy.write(piece)
        except BaseException:
            copy.close()
            raise
        copy.seek(0)
        return copy

    def stream(self, content_hash: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """The bytes in pieces."""
        self.size(content_hash)
        return iter(()) if length == 0 else self._pieces(content_hash, start, length)

    def _pieces(self, content_hash: str, start: int, length: int | None) -> Iterator[bytes]:
        """Asked for with the first piece, so that what nobody reads holds no connection."""
        given = {} if not start and length is None else {"Range": f"bytes={start}-{_last(start, length)}"}
        with _reachable():
            body = self._bucket().Object(self._key(content_hash)).get(**given)["Body"]
            try:
                yield from body.iter_chunks(CHUNK)
            finally:
                body.close()

    @contextmanager
    def local_path(self, content_hash: str) -> Iterator[Path]:
        """A copy on this machine, removed at the end."""
        with NamedTemporaryFile(prefix="smartbrain-") as copy:
            for piece in self.stream(content_hash):
                copy.write(piece)
            copy.flush()
            yield Path(copy.name)

    def delete(self, content_hash: str) -> bool:
        """Remove the bytes for good; whether they were there."""
        key = self._key(content_hash)
        there = self._size(key) is not None
        with _reachable():
            self._bucket().Object(key).delete()
        return there

    def iterate(self, beginning: str = "") -> Iterator[StoredFile]:
        """Everything under the prefix whose name begins so."""
        return self._listed(Prefix=f"{self._prefix}{beginning}")

    def rest(self) -> Iterator[StoredFile]:
        """What comes after the folders of contents under the prefix."""
        return self._listed(Prefix=self._prefix, Marker=f"{self._prefix}{_AFTER_HEX}")

    def _listed(self, **where: str) -> Iterator[StoredFile]:
        with _reachable():
            for found in self._bucket().objects.filter(**where):
                name = found.key.removeprefix(self._prefix)
                yield StoredFile(hash_of_place(name), name, found.size)

    def _key(self, content_hash: str) -> str:
        return f"{self._prefix}{place(content_hash)}"

    def _bucket(self) -> Any:
        return self._storage.connection.Bucket(self._given.name)

    def _size(self, key: str) -> int | None:
        try:
            with _reachable():
                size: int = self._bucket().Object(key).content_length
        except NotFoundError:
            return None
        return size


@lru_cache(maxsize=8)
def _made(bucket: Bucket) -> S3Store:
    return S3Store(bucket)


def _connect(bucket: Bucket) -> Any:
    try:
        from botocore.config import Config  # noqa: PLC0415  slow, and not among the packages of the default product
        from storages.backends.s3 import S3Storage  # noqa: PLC0415  the same
    except ImportError as exc:
        raise UnavailableError(INSTALL) from exc
    return S3Storage(
        bucket_name=bucket.name,
        endpoint_url=bucket.endpoint or None,
        region_name=bucket.region or None,
        access_key=bucket.access_key or None,
        secret_key=bucket.secret_key or None,
        default_acl=None,
        client_config=Config(
            s3={"addressing_style": "path" if bucket.endpoint else "auto"},
            connect_timeout=bucket.timeout_seconds / 6,
            read_timeout=bucket.timeout_seconds,
            retries={"max_attempts": 3, "mode": "standard"},
            request_checksum_calculation="when_required",  # services other than Amazon's know no other
            response_checksum_validation="when_required",
        ),
    )


def _last(start: int, length: int | None) -> str:
    return "" if length is None else str(start + length - 1)


@contextmanager
def _reachable() -> Iterator[None]:
    from boto3.exceptions import Boto3Error  # noqa: PLC0415  as above
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except ClientError as exc:
        code = str(exc.response.get("Error", {}).get("Code", ""))
        if code in _MISSING:
            raise NotFoundError("These bytes are not in the store.") from exc
        raise UnavailableError(f"The bucket of media refused ({code}).") from exc
    except (BotoCoreError, Boto3Error) as exc:
        raise UnavailableError(f"The bucket of media cannot be reached ({type(exc).__name__}).") from exc
