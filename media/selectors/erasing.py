"""What of documents a call to erase reaches: those in sight, the jobs that quote them, and what still works on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Case, Q, QuerySet, TextField, UUIDField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.db.models.lookups import In

from governance.contracts.presenting import RelatedText
from governance.hooks import Dependent
from governance.selectors.erasing import changed_along
from kernel.context import ANY, Ctx, Right
from kernel.db import Sha256
from kernel.rows import batches
from media.contracts.kinds import FINAL
from media.models import DocumentShare, MediaJob, MediaObject, MediaObjectReference, SourceDocument, SourceSection
from media.selectors.sight import private_scope, visible_documents

DOCUMENT = "document"
_WITH_JOBS = 100  # documents whose jobs one statement looks for
_BEGINNING = 2000  # characters that a reviewer sees
_TEXT_HASH = Sha256(Cast(KeyTextTransform("text", "options"), TextField()))  # as a document of that text has it


def erasable_documents(ids: Collection[UUID], domain_id: str, ctx: Ctx) -> Mapping[UUID, tuple[str, ...]]:
    """Documents of a domain that the actor sees, or operates the whole domain of, with every scope in which they lie."""
    rows = SourceDocument.objects.all() if ctx.may(Right.OPERATE, domain_id, ANY) else visible_documents(ctx)
    found: dict[UUID, tuple[str, ...]] = {}
    for batch in batches(ids):
        found |= _with_scopes(dict(rows.filter(pk__in=batch, domain_id=domain_id).values_list("pk", "owner_id")))
    return found


def thing(document: SourceDocument) -> Mapping[str, Mapping[UUID, tuple[str, ...]]]:
    """One document as legal holds are asked for it."""
    return {DOCUMENT: _with_scopes({document.pk: document.owner_id})}


def _with_scopes(found: Mapping[UUID, str]) -> dict[UUID, tuple[str, ...]]:
    places: defaultdict[UUID, list[str]] = defaultdict(list)
    for share in DocumentShare.objects.filter(document__in=found).select_related("scope").order_by("scope_id"):
        places[share.document_id].append(share.scope.name)
    return {pk: tuple(places[pk]) or (private_scope(owner_id),) for pk, owner_id in found.items()}


def jobs_about(document: SourceDocument) -> QuerySet[MediaJob]:
    """The owner's jobs that made a document, or were to make it: from the same source, under the same address, or of a
    document that is known by its bytes, from the same bytes or the same text."""
    return MediaJob.objects.filter(_about([document]))


def _about(documents: Collection[SourceDocument]) -> Q:
    """That a job is about any of these documents of one owner in one domain."""
    some = next(iter(documents))
    uris = [row.source_uri for row in documents if row.source_uri]
    hashes = [row.content_hash for row in documents if not row.source_uri]
    same = Q(result__document_id__in=[str(row.pk) for row in documents])
    if uris:
        same |= Q(source__in=uris) | Q(options__source_uri__in=uris) | Q(options__url__in=uris)
    if hashes:
        of_bytes = MediaObject.objects.filter(content_hash__in=hashes).values("pk")
        from_them = Q(staging_object__in=of_bytes) | (Q(options__has_key="text") & Q(In(_TEXT_HASH, hashes)))
        same |= from_them & _left_out("source_uri") & _left_out("url")
    return Q(domain_id=some.domain_id, owner_id=some.owner_id) & same


def _left_out(option: str) -> Q:
    return ~Q(options__has_key=option) | Q(**{f"options__{option}": None})


def _jobs_of(ids: Collection[UUID], jobs: QuerySet[MediaJob]) -> Iterator[tuple[UUID, UUID]]:
    """Those of the jobs that are about any of these documents, each with the first of them that it is about: few
    statements, however many documents."""
    for batch in batches(ids, _WITH_JOBS):
        owned: defaultdict[tuple[str, str], list[SourceDocument]] = defaultdict(list)
        rows = list(SourceDocument.objects.filter(pk__in=batch).order_by("pk"))
        for row in rows:
            owned[row.domain_id, row.owner_id].append(row)
        if rows:
            of = Case(*(When(_about([row]), then=Value(row.pk)) for row in rows), output_field=UUIDField())
            about = jobs.filter(reduce(or_, map(_about, owned.values())))
            yield from about.annotate(of=of).values_list("pk", "of")


def names_of_documents(ids: Collection[UUID]) -> frozenset[str]:
    """The ids by which records quote documents: their own, those of their sections, of their holds on stored bytes and of
    the jobs about them."""
    jobs = {str(pk) for pk, _ in _jobs_of(ids, MediaJob.objects.all())}
    pruned = changed_along(frozenset(map(str, ids)), "media_jobs")
    holds = {
        str(pk)
        for batch in batches(ids)
        for pk in MediaObjectReference.objects.filter(document__in=batch).values_list("pk", flat=True)
    }
    return frozenset({*section_refs(ids), *holds, *jobs, *pruned})


def show_documents(ids: Sequence[UUID], ctx: Ctx) -> list[RelatedText]:
    """Documents with their beginning, as far as the reviewer sees them."""
    return [
        RelatedText(
            kind=DOCUMENT,
            id=str(row.pk),
            text=str(row.metadata.get("content", ""))[:_BEGINNING],
            role="subject",
            source=row.title,
        )
        for row in visible_documents(ctx).filter(pk__in=ids).order_by("pk")
    ]


def jobs_under_way(kind: str, ids: Collection[UUID], domain_id: str) -> list[Dependent]:
    """Jobs not yet ended that would import an erased document again."""
    if kind != DOCUMENT:
        return []
    why = "a job is about to import it again: cancel the job first"
    waiting = MediaJob.objects.exclude(status__in=FINAL)
    return [Dependent(of, "media_job", str(pk), why) for pk, of in _jobs_of(ids, waiting)]


def section_refs(ids: Collection[UUID]) -> dict[str, UUID]:
    """The references under which documents and their sections can be evidence, each with its document."""
    found = {str(pk): pk for pk in ids}
    for batch in batches(ids):
        sections = SourceSection.objects.filter(document__in=batch).values_list("pk", "document_id")
        found |= {str(pk): document_id for pk, document_id in sections}
    return found
