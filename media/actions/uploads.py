"""The action that brings a file."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from governance.gate import charge_upload
from kernel.actions import Action, Applied, Target, register
from kernel.conf import conf
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError, InvalidInputError, TooLargeError
from media.contracts.kinds import MediaType
from media.contracts.uploads import UploadMediaInput, UploadMediaResult
from media.selectors.jobs import may_import
from media.selectors.sight import domain_of
from media.selectors.uploads import upload_source
from media.services.objects import keep
from media.sniffing import sniff
from scopes.selectors import require_domain


def _target(given: UploadMediaInput, ctx: Ctx) -> Target:
    domain_id = domain_of(given.domain_id, ctx)
    require_domain(domain_id, ctx)
    return Target(domain_id, scopes=())


def _bring(given: UploadMediaInput, ctx: Ctx) -> UploadMediaResult:
    if not may_import(ctx, domain_of(given.domain_id, ctx), ()):
        raise ForbiddenError("Bringing a file needs the right to write.")
    if given.path is not None:
        return kept(given.path, given.name, domain_of(given.domain_id, ctx), ctx)
    with as_file(given.data) as path:
        return kept(path, given.name, domain_of(given.domain_id, ctx), ctx)


def kept(path: Path, name: str, domain_id: str, ctx: Ctx) -> UploadMediaResult:
    """Keep the file and give the source by which the caller may import it."""
    size = path.stat().st_size
    if not size:
        raise InvalidInputError("The file holds no bytes: there is nothing to import.")
    if size > conf().media_max_bytes:
        raise TooLargeError(f"The file has {size} bytes; {conf().media_max_bytes} at most.")
    charge_upload(domain_id, size, ctx)
    found = sniff(name, path)
    row = keep(path, found.mime, ctx)
    return UploadMediaResult(
        source=upload_source(row, ctx),
        name=name,
        content_hash=row.content_hash,
        byte_size=row.byte_size,
        media_type=MediaType(found.media_type),
        warnings=list(found.warnings),
    )


@contextmanager
def as_file(data: str) -> Iterator[Path]:
    """The bytes that base64 says, as a file for as long as the block lasts. Raises InvalidInputError."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise InvalidInputError("data is not base64: send the bytes of the file in base64.") from exc
    with TemporaryDirectory(prefix="smartbrain-") as folder:
        path = Path(folder) / "upload"
        path.write_bytes(raw)
        yield path


def _answer(given: UploadMediaInput, brought: UploadMediaResult, ctx: Ctx) -> Applied[UploadMediaResult]:
    return brought, []


UPLOAD_MEDIA = register(
    Action(
        "upload_media",
        "Bring the bytes of a file: the answer's source can then be imported, at once or by a job.",
        UploadMediaInput,
        UploadMediaResult,
        Right.READ,
        _target,
        _bring,
        _answer,
        queueable=False,
        instead="Do nothing: what is not imported is removed.",
    )
)
