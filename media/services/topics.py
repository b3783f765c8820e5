"""Topics: made, changed and taken away by their owner, who gathers sections of documents in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from kernel.actions import Change
from kernel.context import Ctx
from kernel.errors import ConflictError, NotFoundError
from kernel.text import fold
from media.contracts.filing import CreateTopicInput, UpdateTopicInput
from media.models import SourceDocument, Topic, TopicSection, TopicTag
from media.services.tagging import ensure_tags


def create(
    given: CreateTopicInput, domain_id: str, documents: Sequence[SourceDocument], ctx: Ctx
) -> tuple[Topic, list[Change]]:
    """A new topic of the caller's. Raises ConflictError where the caller has one of that title."""
    try:
        with transaction.atomic():
            row = Topic.objects.create(
                domain_id=domain_id,
                owner_id=ctx.actor.id,
                owner_name=ctx.actor.name,
                name=given.title,
                folded=fold(given.title)[:255],
                description=given.description,
                created_at=ctx.now,
            )
    except IntegrityError as exc:
        raise _taken(given.title) from exc
    made = _retag(row, given.tags)
    changes = [Change("research_topics", str(row.pk), None, _shown(row)), *made]
    for document in documents:
        changes += gather(row, document)[1]
    return row, changes


def update(row: Topic, given: UpdateTopicInput) -> tuple[Topic, list[Change]]:
    """Change what is named; the rest stays. Raises ConflictError where another topic of the owner's has that title."""
    row = _locked(row)
    before = _shown(row)
    columns: dict[str, Any] = {}
    if given.title is not None:
        columns |= {"name": given.title, "folded": fold(given.title)[:255]}
    if given.description is not None:
        columns["description"] = given.description
    try:
        with transaction.atomic():
            Topic.objects.filter(pk=row.pk).update(**columns) if columns else None
    except IntegrityError as exc:
        raise _taken(given.title or "") from exc
    changes = _retag(row, given.tags) if given.tags is not None else []
    row.refresh_from_db()
    after = _shown(row)
    if before != after:
        changes.append(Change("research_topics", str(row.pk), before, after))
    return row, changes


def delete(row: Topic) -> list[Change]:
    """Take a topic away; the documents stay."""
    row = _locked(row)
    change = Change("research_topics", str(row.pk), _shown(row), None)
    row.delete()
    return [change]


def gather(row: Topic, document: SourceDocument) -> tuple[int, list[Change]]:
    """Put all sections of a document in a topic; how many are new there."""
    there = set(
        TopicSection.objects.filter(topic=row, section__document=document).values_list("section_id", flat=True)
    )
    new = [pk for pk in document.sections.values_list("pk", flat=True) if pk not in there]
    rows = [TopicSection(topic=row, section_id=pk) for pk in new]
    TopicSection.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)
    return len(new), [_filed(row, document, None, len(new))] if new else []


def release(row: Topic, document: SourceDocument) -> tuple[int, list[Change]]:
    """Take all sections of a document out of a topic; how many went."""
    rows = TopicSection.objects.filter(topic=row, section__document=document)
    count = rows.count()
    rows.delete()
    return count, [_filed(row, document, count, None)] if count else []


def _filed(row: Topic, document: SourceDocument, before: int | None, after: int | None) -> Change:
    about = {"topic": row.name, "document_id": str(document.pk)}
    old, new = (None if count is None else {**about, "sections": count} for count in (before, after))
    return Change("research_topic_sections", str(row.pk), old, new)


def _retag(row: Topic, names: Iterable[str]) -> list[Change]:
    tags, changes = ensure_tags(row.domain_id, names)
    TopicTag.objects.filter(topic=row).exclude(tag__in=tags).delete()
    TopicTag.objects.bulk_create([TopicTag(topic=row, tag=tag) for tag in tags], ignore_conflicts=True)
    return changes


def _tags(row: Topic) -> list[str]:
    return sorted(TopicTag.objects.filter(topic=row).values_list("tag__name", flat=True))


def _shown(row: Topic) -> dict[str, Any]:
    said = {"title": row.name, "description": row.description, "tags": _tags(row)}
    return {"domain_id": row.domain_id, "owner": row.owner_name, **said}


def _locked(row: Topic) -> Topic:
    found = Topic.objects.select_for_update().filter(pk=row.pk).first()
    if found is None:
        raise NotFoundError(f"No topic {str(row.pk)!r} that you can see.")
    return found


def _taken(title: str) -> ConflictError:
    return ConflictError(f"You have a topic {title!r} already: choose another title.")
