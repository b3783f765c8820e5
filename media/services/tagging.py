"""Tags of sections: made when they are named first, compared without regard to case and width; and their tree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Q

from kernel.actions import Change
from kernel.context import Ctx
from kernel.db import held_in_place
from kernel.errors import ConflictError, NotFoundError
from kernel.text import fold
from media.models import SectionTag, SourceDocument, SourceSection, Tag, Topic, TopicTag
from media.selectors.filing import MAX_DEPTH, ancestors, is_seen, path_of


def ensure_tags(
    domain_id: str, names: Iterable[str], filed: SourceDocument | None = None
) -> tuple[list[Tag], list[Change]]:
    """The tags of these names, made where they are missing; they stay while the present transaction lasts, and so do those
    that the sections of a document are filed under. All are held at once, so that no two wait for each other."""
    wanted = {fold(name)[:255]: " ".join(name.split())[:255] for name in names if fold(name)}
    found, changes = _found_or_made(domain_id, wanted)
    ours = {row.pk for row in found}
    kept = Q(pk__in=SectionTag.objects.filter(section__document=filed).values("tag")) if filed else Q(pk__in=[])
    held = held_in_place(Tag.objects.filter(Q(pk__in=ours) | kept)) if ours or filed else []
    if not ours.issubset(held):  # one was taken away in between; what is made now is ours until the end
        found, more = _found_or_made(domain_id, wanted)
        changes += more
    return found, changes


def _found_or_made(domain_id: str, wanted: Mapping[str, str]) -> tuple[list[Tag], list[Change]]:
    found, changes = [], []
    for folded, name in sorted(wanted.items()):
        row, created = Tag.objects.get_or_create(domain_id=domain_id, folded=folded, defaults={"name": name})
        found.append(row)
        if created:
            after = {"domain_id": domain_id, "name": row.name}
            changes.append(Change("tags", str(row.pk), None, after, incidental=True))
    return found, changes


def tag_sections(sections: Sequence[SourceSection], tags: Sequence[Tag]) -> list[Change]:
    """File sections of one document under tags; what is filed so already stays so."""
    ids = [row.pk for row in sections]
    filed = SectionTag.objects.filter(section__in=ids, tag__in=tags).values_list("section_id", "tag_id")
    there = set(filed)
    new = [SectionTag(section_id=pk, tag=tag) for pk in ids for tag in tags if (pk, tag.pk) not in there]
    SectionTag.objects.bulk_create(new, batch_size=500, ignore_conflicts=True)
    counts = Counter(row.tag.name for row in new)
    return [
        Change("section_tags", str(sections[0].document_id), None, {"tag": name, "sections": count})
        for name, count in sorted(counts.items())
    ]


def untag_sections(sections: Sequence[SourceSection], kept: Sequence[Tag]) -> list[Change]:
    """Take away all tags of sections of one document but those to be kept."""
    rows = SectionTag.objects.filter(section__in=[row.pk for row in sections]).exclude(tag__in=kept)
    counts = Counter(rows.values_list("tag__name", flat=True))
    rows.delete()
    return [
        Change("section_tags", str(sections[0].document_id), {"tag": name, "sections": count}, None)
        for name, count in sorted(counts.items())
    ]


def _height(top: Tag, rows: Iterable[Tag]) -> int:
    """How many levels a tag and what stands below it have."""
    below = defaultdict(list)
    for row in rows:
        below[row.parent_id].append(row.pk)
    level, height = [top.pk], 0
    while level:
        level, height = [child for pk in level for child in below[pk]], height + 1
    return height


def move_tag(tag: Tag, parent_name: str | None, ctx: Ctx, *, create: bool) -> list[Change]:
    """Put a tag below another one, or at the top. Raises ConflictError where it would stand below itself, NotFoundError
    where the actor sees none of that name and it is not to be made."""
    rows = _locked_tree(tag)
    row = rows[tag.pk]
    parents, changes = _parents(rows.values(), parent_name, create, ctx) if parent_name else ([], [])
    parent = parents[0] if parents else None
    if parent is not None:
        above = path_of(parent, ancestors([parent]))
        if row.pk in {each.pk for each in above}:
            raise ConflictError(f"{parent.name!r} stands below {row.name!r}: a tag cannot stand below itself.")
        if len(above) + _height(row, rows.values()) > MAX_DEPTH:
            raise ConflictError(f"The tree of tags is {MAX_DEPTH} levels deep at most.")
    before = _shown(row)
    after = {"name": row.name, "parent": str(parent.pk) if parent else None}
    if before == after:
        return []
    Tag.objects.filter(pk=row.pk).update(parent=parent)
    return [*changes, Change("tags", str(row.pk), before, after)]


def _parents(rows: Iterable[Tag], name: str, create: bool, ctx: Ctx) -> tuple[list[Tag], list[Change]]:
    """The tag of this name, made where that is wanted. One that the actor does not see is as good as none."""
    rows = list(rows)
    there = [row for row in rows if row.folded == fold(name)[:255] and is_seen(row, ctx)]
    if there:
        return there, []
    if not create:
        raise NotFoundError(f"No tag {name!r} that you can see: correct its name, or set create_parent to make it.")
    return ensure_tags(rows[0].domain_id, [name])


def delete_tag(tag: Tag, ctx: Ctx, *, everywhere: bool) -> tuple[int, list[Change]]:
    """Take a tag off what is the actor's own, or off everything; once nothing is filed under it, it is gone and the tags
    below it stand at the top. How many sections it was taken off."""
    rows = _locked_tree(tag)
    filed, topics = SectionTag.objects.filter(tag=tag.pk), TopicTag.objects.filter(tag=tag.pk)
    if not everywhere:
        own = SourceSection.objects.filter(domain_id=tag.domain_id, document__owner_id=ctx.actor.id)
        filed = filed.filter(section__in=own.values("pk"))
        topics = topics.filter(topic__in=Topic.objects.filter(owner_id=ctx.actor.id).values("pk"))
    counts = Counter(filed.values_list("section__document_id", flat=True))
    changes = [
        Change("section_tags", str(document), {"tag": tag.name, "sections": count}, None)
        for document, count in sorted(counts.items())
    ]
    changes += [
        Change("research_topic_tags", str(topic), {"tag": tag.name}, None)
        for topic in sorted(topics.values_list("topic_id", flat=True))
    ]
    filed.delete()
    topics.delete()
    return counts.total(), changes + ([] if _is_used(tag) else _forget(tag, rows.values()))


def _is_used(tag: Tag) -> bool:
    return SectionTag.objects.filter(tag=tag.pk).exists() or TopicTag.objects.filter(tag=tag.pk).exists()


def _forget(tag: Tag, rows: Iterable[Tag]) -> list[Change]:
    """Remove a tag that nothing is filed under; what stood below it stands at the top."""
    below = [row for row in rows if row.parent_id == tag.pk]
    Tag.objects.filter(pk__in=[row.pk for row in below]).update(parent=None)
    Tag.objects.filter(pk=tag.pk).delete()
    moved = [Change("tags", str(row.pk), _shown(row), {"name": row.name, "parent": None}) for row in below]
    return [*moved, Change("tags", str(tag.pk), _shown(tag), None)]


def _locked_tree(tag: Tag) -> dict[UUID, Tag]:
    """All tags of the domain, held against every other change of the tree. Raises NotFoundError where the tag is gone."""
    rows = {row.pk: row for row in Tag.objects.select_for_update().filter(domain_id=tag.domain_id).order_by("pk")}
    if tag.pk not in rows:
        raise NotFoundError(f"No tag {str(tag.pk)!r} that you can see.")
    return rows


def _shown(row: Tag) -> dict[str, str | None]:
    return {"name": row.name, "parent": str(row.parent_id) if row.parent_id else None}
