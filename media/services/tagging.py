"""Tags of sections: made when they are named first, compared without regard to case and width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kernel.actions import Change
from kernel.text import fold
from media.models import SectionTag, SourceSection, Tag


def ensure_tags(domain_id: str, names: Iterable[str]) -> tuple[list[Tag], list[Change]]:
    """The tags of these names, made where they are missing."""
    wanted = {fold(name): " ".join(name.split()) for name in names if fold(name)}
    found, changes = [], []
    for folded, name in sorted(wanted.items()):
        row, created = Tag.objects.get_or_create(
            domain_id=domain_id, folded=folded[:255], defaults={"name": name[:255]}
        )
        found.append(row)
        if created:
            changes.append(
                Change("tags", str(row.pk), None, {"domain_id": domain_id, "name": row.name}, incidental=True)
            )
    return found, changes


def tag_sections(sections: Sequence[SourceSection], tags: Sequence[Tag]) -> list[Change]:
    """File sections under tags; what is filed so already stays so."""
    ids = [row.pk for row in sections]
    there = set(SectionTag.objects.filter(section__in=ids, tag__in=tags).values_list("section_id", "tag_id"))
    new = [SectionTag(section_id=pk, tag=tag) for pk in ids for tag in tags if (pk, tag.pk) not in there]
    SectionTag.objects.bulk_create(new, batch_size=500, ignore_conflicts=True)
    counts = Counter(row.tag.name for row in new)
    return [
        Change("section_tags", str(sections[0].document_id), None, {"tag": name, "sections": count})
        for name, count in sorted(counts.items())
    ]
