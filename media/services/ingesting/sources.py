"""Where the bytes of an import come from: the call itself, an upload of the caller's, or an http(s) address."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from governance.gate import charge_upload
from kernel.conf import conf
from kernel.context import Ctx, Door
from kernel.errors import InvalidInputError, TooLargeError
from media.contracts.documents import UPLOAD, DocumentOptions
from media.contracts.kinds import SourceType
from media.fetching import fetch, limits
from media.selectors.uploads import own_upload
from media.storage import store

_UNWANTED = re.compile(r"[\x00-\x1f\x7f/\\]+")


@dataclass(frozen=True, slots=True)
class Brought:
    """A file to import, for as long as the block lasts. `uri` is the address by which it is known when it comes again,
    empty where it is known by its bytes."""

    path: Path
    name: str
    uri: str
    source_type: SourceType


@contextmanager
def brought(source: str, options: DocumentOptions, domain_id: str, ctx: Ctx) -> Iterator[Brought]:
    """The bytes that a call names as a file of this machine.

    Raises InvalidInputError for what is no source, NotFoundError for an upload that is not the caller's, ForbiddenError
    for a host that the operator did not open, TooLargeError, QuotaExceededError where the caller brought too much today,
    UnavailableError where trying later may help.
    """
    name = file_name(options.name)
    if source.startswith(UPLOAD):
        with store().local_path(own_upload(source, domain_id, ctx).content_hash) as path:
            yield Brought(path, name, "", SourceType.FILE)
    elif source:
        with fetch(source, limits()) as found:
            charge_upload(domain_id, found.path.stat().st_size, ctx)
            yield Brought(found.path, name or file_name(found.name), source, SourceType.URL)
    else:
        raw, kind = _inline(options)
        if len(raw) > conf().media_max_bytes:
            raise TooLargeError(f"The file has {len(raw)} bytes; {conf().media_max_bytes} at most.")
        if ctx.door is not Door.JOB:  # what a job holds was counted when it was asked for
            charge_upload(domain_id, len(raw), ctx)
        with TemporaryDirectory(prefix="smartbrain-") as folder:
            path = Path(folder) / "content"
            path.write_bytes(raw)
            yield Brought(path, name or ("text.md" if kind is SourceType.MANUAL else ""), "", kind)


def file_name(given: str) -> str:
    """The last part of a name, without what no file's name holds."""
    return _UNWANTED.sub(" ", given.replace("\\", "/").rpartition("/")[2]).strip()[:255]


def _inline(options: DocumentOptions) -> tuple[bytes, SourceType]:
    if options.data is None:
        return (options.text or "").encode("utf-8"), SourceType.MANUAL
    try:
        return base64.b64decode(options.data, validate=True), SourceType.FILE
    except (binascii.Error, ValueError) as exc:
        raise InvalidInputError("options.data is not base64: send the bytes of the file in base64.") from exc
