"""Tags of sections: made when they are named first, compared without regard to case and width; and their tree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from kernel.actions import Change
from kernel.errors import ConflictError, NotFoundError
from kernel.text import fold
from media.models import SectionTag, SourceSection, Tag
from media.selectors.filing import MAX_DEPTH, ancestors, path_of


def ensure_tags(domain_id: str, names: Iterable[str]) -> tuple[list[Tag], list[Change]]:
    """The tags of these names, made where they are missing."""
    wanted = {fold(name)[:255]: " ".join(name.split())[:255] for name in names if fold(name)}
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


def move_tag(tag: Tag, parent_name: str | None) -> list[Change]:
    """Put a tag below another one, or at the top. Raises ConflictError where it would stand below itself."""
    rows = {row.pk: row for row in Tag.objects.select_for_update().filter(domain_id=tag.domain_id).order_by("pk")}
    if tag.pk not in rows:
        raise NotFoundError(f"No tag {str(tag.pk)!r} that you can see.")
    row = rows[tag.pk]
    parents, changes = ensure_tags(tag.domain_id, [parent_name]) if parent_name else ([], [])
    parent = parents[0] if parents else None
    if parent is not None:
        above = path_of(parent, ancestors([parent]))
        if row.pk in {each.pk for each in above}:
            raise ConflictError(f"{parent.name!r} stands below {row.name!r}: a tag cannot stand below itself.")
        if len(above) + _height(row, rows.values()) > MAX_DEPTH:
            raise ConflictError(f"The tree of tags is {MAX_DEPTH} levels deep at most.")
    before = {"name": row.name, "parent": str(row.parent_id) if row.parent_id else None}
    after = {"name": row.name, "parent": str(parent.pk) if parent else None}
    if before == after:
        return []
    Tag.objects.filter(pk=row.pk).update(parent=parent)
    return [*changes, Change("tags", str(row.pk), before, after)]
