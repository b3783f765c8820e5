"""Whose an upload is: a source that names stored bytes and the one who brought them, under the server's own signature."""

from __future__ import annotations

from uuid import UUID

from django.core.signing import Signer
from django.utils.crypto import constant_time_compare

from kernel import clock
from kernel.context import Ctx
from kernel.errors import NotFoundError
from media.contracts.documents import UPLOAD
from media.models import MediaObject
from media.selectors.objects import free_objects, own_object


def upload_source(row: MediaObject, ctx: Ctx) -> str:
    """The source by which this actor, and nobody else, may import these bytes; the same each time."""
    return f"{UPLOAD}{row.pk}.{_signature(row.pk, ctx)}"


def without_key(source: str) -> str:
    """A source as others than its owner may read it: an upload's without the signature, which is a key to the bytes."""
    return source.partition(".")[0] if source.startswith(UPLOAD) else source


def own_upload(source: str, domain_id: str, ctx: Ctx) -> MediaObject:
    """The bytes that such a source names; a bare id names those of the caller's own documents and jobs.

    Raises NotFoundError alike for what is no upload, another's, and removed meanwhile.
    """
    written, signed, signature = source.removeprefix(UPLOAD).partition(".")
    try:
        object_id = UUID(written)
    except ValueError:
        raise _missing() from None
    if not signed:
        return own_object(object_id, domain_id, ctx)
    if not signature.isascii() or not constant_time_compare(signature, _signature(object_id, ctx)):
        raise _missing()
    row = free_objects(clock.now()).filter(pk=object_id).first()
    if row is None:
        raise _missing()
    return row


def _missing() -> NotFoundError:
    return NotFoundError("No such upload of yours: send the file again.")


def _signature(object_id: UUID, ctx: Ctx) -> str:
    return Signer(salt="media.upload").signature(f"{object_id}:{ctx.actor.id}")
