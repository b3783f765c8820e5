"""The action that asks for a media job."""

from __future__ import annotations

from typing import Any

from governance.gate import charge_upload
from governance.policies import ScopesPolicy, in_force
from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from media.actions.permitting import require_import
from media.actions.uploads import as_file, kept
from media.contracts.documents import UPLOAD
from media.contracts.jobs import EnqueueMediaInput, EnqueueMediaResult, Operation
from media.contracts.kinds import JobStatus, MediaType
from media.models import MediaObject
from media.selectors.jobs import visible_jobs
from media.selectors.sight import domain_of
from media.selectors.uploads import own_upload
from media.services import jobs
from media.services.objects import touch
from media.services.operations import input_of, tree_of
from media.sniffing import media_type_of_name
from scopes.selectors import check_ref, require_domain

_SAYS: dict[str, MediaType] = {
    Operation.ADD_DOCUMENT: MediaType.DOCUMENT,
    Operation.ADD_IMAGE: MediaType.IMAGE,
    Operation.ADD_AUDIO: MediaType.AUDIO,
    Operation.ADD_VIDEO: MediaType.VIDEO,
}


def _enqueue_target(given: EnqueueMediaInput, ctx: Ctx) -> Target:
    domain_id = domain_of(given.domain_id, ctx)
    require_domain(domain_id, ctx)
    return Target(domain_id, tuple(ref.name for ref in given.scopes))


def _prepare_enqueue(given: EnqueueMediaInput, ctx: Ctx) -> jobs.Wanted:
    domain_id = domain_of(given.domain_id, ctx)
    allowed = in_force(domain_id, ctx).section(ScopesPolicy).allowed_types
    for ref in given.scopes:
        check_ref(ref, domain_id, allowed)
    scopes = tuple(ref.name for ref in given.scopes)
    parsed = input_of(given.operation, tree_of(domain_id, given.source, given.options, scopes))
    require_import(given.operation, parsed, domain_id, scopes, ctx)
    source, options, staged = _staged(given, domain_id, ctx)
    return jobs.Wanted(domain_id, given.operation.value, source, options, scopes, staged)


def _staged(given: EnqueueMediaInput, domain_id: str, ctx: Ctx) -> tuple[str, dict[str, Any], MediaObject | None]:
    """Source and options as the job keeps them, and the bytes that it needs: those sent along are put into the store,
    for a row is no place for them."""
    if given.source.startswith(UPLOAD):
        return given.source, given.options, own_upload(given.source, domain_id, ctx)
    data, text = given.options.get("data"), given.options.get("text")
    if isinstance(text, str):
        charge_upload(domain_id, len(text.encode("utf-8")), ctx)
    if not isinstance(data, str):
        return given.source, given.options, None
    with as_file(data) as path:
        source = kept(path, str(given.options.get("name", "")), domain_id, ctx).source
    rest = {name: value for name, value in given.options.items() if name != "data"}
    return source, rest, own_upload(source, domain_id, ctx)


def _enqueue(given: EnqueueMediaInput, wanted: jobs.Wanted, ctx: Ctx) -> Applied[EnqueueMediaResult]:
    if wanted.staged is not None:
        touch(wanted.staged.pk)
    row, changes = jobs.submit(wanted, (given.idempotency_key or "").strip(), ctx)
    result = EnqueueMediaResult(
        job_id=row.pk,
        status=JobStatus(row.status),
        media_type=_seems(wanted),
        warnings=[],
        deduplicated=not changes,
    )
    return result, changes


def _as_it_is(told: EnqueueMediaResult, ctx: Ctx) -> EnqueueMediaResult:
    """An earlier answer with where its job is now."""
    status = visible_jobs(ctx).filter(pk=told.job_id, owner_id=ctx.actor.id).values_list("status", flat=True).first()
    if status is None:
        gone = "job_removed:It ended and was removed since; its status is that of the first answer."
        return told.model_copy(update={"warnings": [*told.warnings, gone]})
    return told.model_copy(update={"status": JobStatus(status)})


def _seems(wanted: jobs.Wanted) -> MediaType | None:
    """What the import will be, as far as its operation or its name tells."""
    said = _SAYS.get(wanted.operation) or MediaType.__members__.get(str(wanted.options.get("media_type")).upper())
    named = MediaType(media_type_of_name(str(wanted.options.get("name") or wanted.source)))
    return said or (None if named is MediaType.OTHER else named)


ENQUEUE_MEDIA = register(
    Action(
        "enqueue_media",
        "Import a document or media file later: a worker does it, and the job says how it went.",
        EnqueueMediaInput,
        EnqueueMediaResult,
        Right.READ,
        _enqueue_target,
        _prepare_enqueue,
        _enqueue,
        renewed=_as_it_is,
        instead="Cancel the job while it waits; afterwards remove the document.",
    )
)
