"""What of documents a call to erase reaches: those in sight, the jobs that quote them, and what still works on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import Q, QuerySet

from governance.contracts.presenting import RelatedText
from governance.hooks import Dependent
from governance.selectors.erasing import changed_along
from kernel.context import ANY, Ctx, Right
from media.contracts.kinds import FINAL
from media.models import DocumentShare, MediaJob, MediaObject, SourceDocument, SourceSection
from media.selectors.sight import private_scope, visible_documents

DOCUMENT = "document"
_BEGINNING = 2000  # characters that a reviewer sees


def erasable_documents(ids: Collection[UUID], domain_id: str, ctx: Ctx) -> Mapping[UUID, tuple[str, ...]]:
    """Documents of a domain that the actor sees, or operates the whole domain of, with every scope in which they lie."""
    rows = SourceDocument.objects.all() if ctx.may(Right.OPERATE, domain_id, ANY) else visible_documents(ctx)
    return _with_scopes(dict(rows.filter(pk__in=ids, domain_id=domain_id).values_list("pk", "owner_id")))


def thing(document: SourceDocument) -> Mapping[str, Mapping[UUID, tuple[str, ...]]]:
    """One document as legal holds are asked for it."""
    return {DOCUMENT: _with_scopes({document.pk: document.owner_id})}


def _with_scopes(found: Mapping[UUID, str]) -> Mapping[UUID, tuple[str, ...]]:
    places: defaultdict[UUID, list[str]] = defaultdict(list)
    for share in DocumentShare.objects.filter(document__in=found).select_related("scope").order_by("scope_id"):
        places[share.document_id].append(share.scope.name)
    return {pk: tuple(places[pk]) or (private_scope(owner_id),) for pk, owner_id in found.items()}


def jobs_about(document: SourceDocument) -> QuerySet[MediaJob]:
    """The owner's jobs that made a document, or were to make it: from the same source, under the same address, or of a
    document that is known by its bytes, from the same bytes."""
    same = Q(result__document_id=str(document.pk))
    if uri := document.source_uri:
        same |= Q(source=uri) | Q(options__source_uri=uri) | Q(options__url=uri)
    else:
        bytes_of_it = MediaObject.objects.filter(content_hash=document.content_hash)
        unnamed = _left_out("source_uri") & _left_out("url")
        same |= Q(staging_object__in=bytes_of_it.values("pk")) & unnamed
    return MediaJob.objects.filter(same, domain_id=document.domain_id, owner_id=document.owner_id)


def _left_out(option: str) -> Q:
    return ~Q(options__has_key=option) | Q(**{f"options__{option}": None})


def names_of_documents(ids: Collection[UUID]) -> frozenset[str]:
    """The ids by which records quote documents: their own, those of their sections and of the jobs about them."""
    rows = SourceDocument.objects.filter(pk__in=ids)
    jobs = {str(pk) for row in rows for pk in jobs_about(row).values_list("pk", flat=True)}
    pruned = changed_along(frozenset(map(str, ids)), "media_jobs")
    return frozenset({*section_refs(ids), *jobs, *pruned})


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
    return [
        Dependent(row.pk, "media_job", str(pk), why)
        for row in SourceDocument.objects.filter(pk__in=ids)
        for pk in jobs_about(row).exclude(status__in=FINAL).values_list("pk", flat=True)
    ]


def section_refs(ids: Collection[UUID]) -> dict[str, UUID]:
    """The references under which documents and their sections can be evidence, each with its document."""
    sections = SourceSection.objects.filter(document__in=ids).values_list("pk", "document_id")
    return {**{str(pk): pk for pk in ids}, **{str(pk): document_id for pk, document_id in sections}}
