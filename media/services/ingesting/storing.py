"""Storing a document that was read: its row, its sections with their tags and index entries, its bytes, its shares."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from kernel.actions import Applied, Change
from kernel.context import Ctx
from media.contracts.documents import AddDocumentInput, AddDocumentResult, ImportStatus
from media.contracts.kinds import DocumentState
from media.contracts.metadata import DocumentMetadata
from media.models import SourceDocument
from media.selectors.erasing import thing
from media.selectors.indexed import lost_sections
from media.services.holding import require_unheld
from media.services.ingesting.preparing import Ready
from media.services.objects import attach
from media.services.refiling import Unfiled, hold_topics
from media.services.sections import Counted, Replaced, index_sections, own_scope_key, replace_sections
from media.services.sharing import share
from media.services.tagging import ensure_tags, tag_sections
from search import services as index
from search.contracts import Kind

_SHOWN_LOST = 20  # sections that the answer tells one by one
_INDEXED = ("title", "publication_date")
_SHOWN = (
    "title",
    "author",
    "description",
    "language",
    "media_type",
    "source_type",
    "source_uri",
    "content_hash",
    "state",
)


def apply(given: AddDocumentInput, ready: Ready, ctx: Ctx) -> Applied[AddDocumentResult]:
    """Store it under the caller's name: what the caller imported from the same source before gives way. Raises
    ConflictError where a legal hold is on that and it would not stay as it is."""
    document, change, renewed = _upsert(given, ready, ctx)
    lying = thing(document)
    changes = [change]
    changes += attach(document, ready.stored)
    hold_topics(document)
    tags, made = ensure_tags(document.domain_id, given.options.tags, document)
    replaced = replace_sections(document, ready.sections)
    changes += replaced.changes
    _index(document, replaced, change, ready.counted, ctx)
    for name in sorted({ref.name for ref in given.scopes}):  # one order for all, so that no two wait for each other
        changes += share(document, name, ready.counted, ctx)
    changes += [*made, *tag_sections(replaced.sections, tags)]
    if renewed or (change.before is not None and (replaced.placed or replaced.lost)):
        require_unheld(lying, document.domain_id)  # last, as whoever has the domain locks no scope any more
    result = AddDocumentResult(
        document_id=document.pk,
        media_type=ready.metadata.media_type,
        status=ready.status,
        section_count=len(replaced.sections),
        metadata=DocumentMetadata.parse(document.metadata),
        warnings=[*ready.warnings, *_lost(replaced.unfiled, {tag.pk for tag in tags}, ctx)],
    )
    return result, changes


def _lost(unfiled: Sequence[Unfiled], given: Collection[UUID], ctx: Ctx) -> Iterator[str]:
    """What sections that went were filed under, but the tags that this import gives to all. Others' topics are counted."""
    told = 0
    for each in unfiled:
        own = [topic.name for topic in each.topics if topic.owner_id == ctx.actor.id]
        others = len(each.topics) - len(own)
        names = [f"tag {tag.name!r}" for tag in each.tags if tag.pk not in given]
        names += [f"topic {name!r}" for name in own] + ([f"{others} topics of others"] if others else [])
        told += bool(names)
        if names and told <= _SHOWN_LOST:
            yield f"unfiled:The section {each.title!r} is gone, and with it what it was filed under: {', '.join(names)}."
    if told > _SHOWN_LOST:
        yield f"unfiled:{told - _SHOWN_LOST} more sections are gone that were filed under something."


def _index(document: SourceDocument, replaced: Replaced, change: Change, counted: Counted, ctx: Ctx) -> None:
    """Bring the index in line where the document is read already: sections that are new or stand elsewhere now and any
    that have lost an entry, or all of them where what stands in their entries changed."""
    keys = [own_scope_key(document, ctx), *document.shares.values_list("scope_id", flat=True)]
    before, after = change.before or {}, change.after or {}
    renewed = bool(before) and any(before[name] != after[name] for name in _INDEXED)
    if renewed:
        index.remove(Kind.SECTION, [row.pk for row in replaced.sections])
    wrong = set(lost_sections().filter(document=document).values_list("pk", flat=True))
    wrong |= {row.pk for row in replaced.placed}
    index_sections(document, [row for row in replaced.sections if row.pk in wrong], keys, counted)


def _upsert(given: AddDocumentInput, ready: Ready, ctx: Ctx) -> tuple[SourceDocument, Change, bool]:
    """The document with what is known of it now, and whether that replaced something else."""
    columns: dict[str, Any] = {
        "owner_name": ctx.actor.name,
        "title": ready.title,
        "author": ready.author,
        "description": ready.description,
        "publication_date": given.options.publication_date,
        "language": ready.language,
        "media_type": ready.metadata.media_type.value,
        "source_type": ready.source_type.value,
        "source_uri": ready.uri,
        "content_hash": ready.stored.content_hash,
        "state": (DocumentState.COMPLETED if ready.status is ImportStatus.SUCCESS else DocumentState.FAILED).value,
        "metadata": ready.metadata.model_dump(mode="json"),
        "updated_at": ctx.now,
    }
    before = _known(ready, ctx)
    if before is None:
        try:
            with transaction.atomic():
                row = SourceDocument.objects.create(
                    domain_id=ready.domain_id, owner_id=ctx.actor.id, created_at=ctx.now, **columns
                )
            return row, Change("source_documents", str(row.pk), None, shown(row)), False
        except IntegrityError:  # another import of the same source was first
            before = _known(ready, ctx)
            if before is None:
                raise
    old, known = shown(before), before.metadata
    SourceDocument.objects.filter(pk=before.pk).update(**columns)
    before.refresh_from_db()
    change = Change("source_documents", str(before.pk), old, shown(before))
    return before, change, (change.before, known) != (change.after, before.metadata)


def _known(ready: Ready, ctx: Ctx) -> SourceDocument | None:
    """The caller's document of the same source, held against other imports of it."""
    key = {"source_uri": ready.uri} if ready.uri else {"source_uri": "", "content_hash": ready.stored.content_hash}
    rows = SourceDocument.objects.select_for_update().filter(domain_id=ready.domain_id, owner_id=ctx.actor.id, **key)
    return rows.first()


def shown(row: SourceDocument) -> dict[str, Any]:
    """What the audit log keeps of a document."""
    published = row.publication_date.isoformat() if row.publication_date else None
    return {
        "domain_id": row.domain_id,
        "owner": row.owner_name,
        "publication_date": published,
        **{name: getattr(row, name) for name in _SHOWN},
    }
