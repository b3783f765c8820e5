"""Reading tags and topics, as far as the sections under them may be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from kernel.context import Ctx
from kernel.db import byte_order
from kernel.errors import NotFoundError
from media.contracts.filing import TagView, TopicDocument, TopicRecommendation, TopicView
from media.models import SectionTag, SourceDocument, SourceSection, Tag, Topic, TopicSection, TopicTag
from media.selectors.sight import visible_documents
from scopes.selectors import domain_filter

MAX_DEPTH = 50


def _seen(ctx: Ctx) -> Exists:
    """That the document of a filed section may be seen."""
    return Exists(visible_documents(ctx).filter(pk=OuterRef("section__document_id")))


def visible_tags(ctx: Ctx) -> QuerySet[Tag]:
    """The base queryset: tags of sections that the caller may see, and of its own topics."""
    sections = SectionTag.objects.filter(_seen(ctx), tag=OuterRef("pk"))
    topics = TopicTag.objects.filter(topic__owner_id=ctx.actor.id, tag=OuterRef("pk"))
    return Tag.objects.filter(domain_filter(ctx), Exists(sections) | Exists(topics))


def is_seen(row: Tag, ctx: Ctx) -> bool:
    """Whether a tag is visible, or stands above a visible one and so in its path."""
    level = [row.pk]
    for _ in range(MAX_DEPTH):
        if not level or visible_tags(ctx).filter(pk__in=level).exists():
            break
        level = list(Tag.objects.filter(parent__in=level).values_list("pk", flat=True))
    return bool(level)


def get_tag(tag_id: UUID, ctx: Ctx) -> Tag:
    """A tag that is seen as above. Raises NotFoundError."""
    row = Tag.objects.filter(domain_filter(ctx), pk=tag_id).first()
    if row is None or not is_seen(row, ctx):
        raise NotFoundError(f"No tag {str(tag_id)!r} that you can see.")
    return row


def ancestors(tags: Iterable[Tag]) -> Mapping[UUID, Tag]:
    """The tags and all above them, by id: one statement for each level of the tree."""
    known = {row.pk: row for row in tags}
    for _ in range(MAX_DEPTH):
        missing = {row.parent_id for row in known.values() if row.parent_id} - known.keys()
        if not missing:
            break
        known |= {row.pk: row for row in Tag.objects.filter(pk__in=missing)}
    return known


def path_of(tag: Tag, known: Mapping[UUID, Tag]) -> list[Tag]:
    """The tags from the top of the tree down to this one."""
    found = [tag]
    while len(found) <= MAX_DEPTH:
        above = known.get(found[0].parent_id) if found[0].parent_id else None
        if above is None:
            break
        found.insert(0, above)
    return found


def view_tags(rows: Sequence[Tag], ctx: Ctx) -> list[TagView]:
    """Tags as answers show them, with how many visible sections each has."""
    known = ancestors(rows)
    filed = SectionTag.objects.filter(_seen(ctx), tag__in=[row.pk for row in rows])
    counts = dict(filed.order_by().values("tag").annotate(n=Count("section")).values_list("tag", "n"))
    return [
        TagView(
            id=row.pk,
            name=row.name,
            path=" > ".join(each.name for each in path_of(row, known)),
            parent_id=row.parent_id,
            section_count=counts.get(row.pk, 0),
        )
        for row in rows
    ]


def visible_topics(ctx: Ctx) -> QuerySet[Topic]:
    """The base queryset: the caller's own topics, and those that hold a section which it may see."""
    held = TopicSection.objects.filter(_seen(ctx), topic=OuterRef("pk"))
    return Topic.objects.filter(domain_filter(ctx), Q(owner_id=ctx.actor.id) | Exists(held))


def get_topic(topic_id: UUID, ctx: Ctx) -> Topic:
    """A visible topic. Raises NotFoundError."""
    row = visible_topics(ctx).filter(pk=topic_id).first()
    if row is None:
        raise NotFoundError(f"No topic {str(topic_id)!r} that you can see.")
    return row


def view_topics(rows: Sequence[Topic], ctx: Ctx) -> list[TopicView]:
    """Topics as answers show them."""
    tags: defaultdict[UUID, list[str]] = defaultdict(list)
    filed = TopicTag.objects.filter(topic__in=[row.pk for row in rows]).select_related("tag")
    for each in filed.order_by(byte_order("tag__folded")):
        tags[each.topic_id].append(each.tag.name)
    return [
        TopicView(
            id=row.pk,
            title=row.name,
            description=row.description,
            tags=tags.get(row.pk, []),
            own=row.owner_id == ctx.actor.id,
            owner=row.owner_name,
            created_at=row.created_at,
        )
        for row in rows
    ]


def documents_in_topic(topic: Topic, ctx: Ctx) -> QuerySet[SourceDocument]:
    """The visible documents with a section in the topic."""
    return visible_documents(ctx).filter(
        Exists(TopicSection.objects.filter(topic=topic, section__document=OuterRef("pk")))
    )


def view_topic_documents(topic: Topic, rows: Sequence[SourceDocument]) -> list[TopicDocument]:
    """Documents of a topic, with how many of their sections are in it."""
    held = TopicSection.objects.filter(topic=topic, section__document__in=[row.pk for row in rows]).order_by()
    counts = dict(held.values("section__document").annotate(n=Count("section")).values_list("section__document", "n"))
    return [TopicDocument(document_id=row.pk, title=row.title, section_count=counts.get(row.pk, 0)) for row in rows]


def sharing_tags(topic: Topic, ctx: Ctx, limit: int) -> list[TopicRecommendation]:
    """Other visible topics of the domain that share tags with one, those that share the greatest part first."""
    own = set(TopicTag.objects.filter(topic=topic).values_list("tag_id", flat=True))
    shared = TopicTag.objects.filter(topic=OuterRef("pk"), tag__in=own)
    rows = list(visible_topics(ctx).filter(Exists(shared), domain_id=topic.domain_id).exclude(pk=topic.pk))
    tags: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for topic_id, tag_id in TopicTag.objects.filter(topic__in=rows).values_list("topic_id", "tag_id"):
        tags[topic_id].add(tag_id)
    found = [
        TopicRecommendation(
            topic_id=row.pk, title=row.name, score=round(len(tags[row.pk] & own) / len(tags[row.pk] | own), 4)
        )
        for row in rows
    ]
    return sorted(found, key=lambda each: (-each.score, each.title, each.topic_id))[:limit]


def sections_named(document: SourceDocument, ids: Sequence[UUID]) -> list[SourceSection]:
    """Those sections of a document, or all of them where none is named. Raises NotFoundError for one of another."""
    rows = list(document.sections.filter(pk__in=ids) if ids else document.sections.all())
    missing = set(ids) - {row.pk for row in rows}
    if missing:
        raise NotFoundError(f"No section {str(min(missing))!r} in this document.")
    return rows
