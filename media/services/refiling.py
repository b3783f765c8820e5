"""What sections are filed under when a document is imported again: it goes over to what stands in their place, or is lost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from kernel.actions import Change
from kernel.db import byte_order, held_in_place
from kernel.rows import batches
from media.models import SectionTag, SourceDocument, SourceSection, Tag, Topic, TopicSection


@dataclass(frozen=True, slots=True)
class Filings:
    """The tags and topics of sections that are about to go, by the ids of sections."""

    tags: Mapping[UUID, Sequence[Tag]]
    topics: Mapping[UUID, Sequence[Topic]]


@dataclass(frozen=True, slots=True)
class Unfiled:
    """A section that went with nothing in its place, and what it was filed under."""

    title: str
    tags: Sequence[Tag]
    topics: Sequence[Topic]


def heirs(old: Sequence[SourceSection], new: Sequence[SourceSection]) -> dict[UUID, SourceSection]:
    """Which new section stands in the place of each that goes, both given in their order. That is the one with the same
    text under another heading; else the one of the same heading and place among those of it that follow the same
    unchanged section; else the only one left of the same heading on either side."""
    kept = {row.pk for row in old} & {row.pk for row in new}
    found: dict[UUID, SourceSection] = {}

    def left(rows: Sequence[SourceSection]) -> list[SourceSection]:
        taken = {row.pk for row in found.values()}
        return [row for row in rows if row.pk not in kept and row.pk not in found and row.pk not in taken]

    found |= _alone([(row.content, row) for row in left(old)], [(row.content, row) for row in left(new)])
    before, after = _places(old, kept), _places(new, kept)
    open_old, open_new = {row.pk for row in left(old)}, {row.pk for row in left(new)}
    for place, rows in before.items():
        pair = (
            [row for row in each if row.pk in still] for each, still in ((rows, open_old), (after[place], open_new))
        )
        found |= {gone.pk: heir for gone, heir in zip(*pair, strict=False)}
    return found | _alone([(row.title, row) for row in left(old)], [(row.title, row) for row in left(new)])


_Keyed = Sequence[tuple[str, SourceSection]]


def _alone(old: _Keyed, new: _Keyed) -> dict[UUID, SourceSection]:
    """Pairs of what is the only one of its key on either side."""
    often = [Counter(key for key, _ in rows) for rows in (old, new)]
    single = {key: row for key, row in new if often[0][key] == often[1][key] == 1}
    return {row.pk: single[key] for key, row in old if key in single}


def _places(
    rows: Sequence[SourceSection], kept: Collection[UUID]
) -> defaultdict[tuple[str, UUID | None], list[SourceSection]]:
    """The sections that are not kept, by their heading and the kept one that they follow."""
    found: defaultdict[tuple[str, UUID | None], list[SourceSection]] = defaultdict(list)
    last: UUID | None = None
    for row in rows:
        if row.pk in kept:
            last = row.pk
        else:
            found[row.title, last].append(row)
    return found


def hold_topics(document: SourceDocument) -> None:
    """Let nobody remove a topic that sections of a document are gathered under, until the present transaction ends."""
    gathered = TopicSection.objects.filter(section__document=document)
    held_in_place(Topic.objects.filter(pk__in=gathered.values("topic")))


def filings_of(gone: Sequence[UUID]) -> Filings:
    """What these sections are filed under; nobody can remove such a tag or topic any more."""
    tags: defaultdict[UUID, list[Tag]] = defaultdict(list)
    topics: defaultdict[UUID, list[Topic]] = defaultdict(list)
    for batch in batches(gone):
        tagged = SectionTag.objects.filter(section__in=batch).select_related("tag")
        for each in tagged.order_by(byte_order("tag__folded")):
            tags[each.section_id].append(each.tag)
        gathered = TopicSection.objects.filter(section__in=batch).select_related("topic")
        for one in gathered.order_by("topic_id"):
            topics[one.section_id].append(one.topic)
    return Filings(tags, topics)


def refile(
    document: SourceDocument, gone: Sequence[SourceSection], to: Mapping[UUID, SourceSection], filings: Filings
) -> tuple[list[Unfiled], list[Change]]:
    """File what stands in the place of sections that went as they were; those with nothing in their place, and the
    changes that their going makes."""
    moved = [(row.pk, to[row.pk]) for row in gone if row.pk in to]
    tagged = [SectionTag(section=heir, tag=tag) for pk, heir in moved for tag in filings.tags.get(pk, ())]
    gathered = [TopicSection(topic=topic, section=heir) for pk, heir in moved for topic in filings.topics.get(pk, ())]
    SectionTag.objects.bulk_create(tagged, batch_size=500, ignore_conflicts=True)
    TopicSection.objects.bulk_create(gathered, batch_size=500, ignore_conflicts=True)
    lost = [
        Unfiled(row.title, filings.tags.get(row.pk, ()), filings.topics.get(row.pk, ()))
        for row in gone
        if row.pk not in to and (row.pk in filings.tags or row.pk in filings.topics)
    ]
    tags = Counter(tag.name for each in lost for tag in each.tags)
    topics = Counter(str(topic.pk) for each in lost for topic in each.topics)
    pk = str(document.pk)
    return lost, [
        *(Change("section_tags", pk, {"tag": name, "sections": count}, None) for name, count in sorted(tags.items())),
        *(
            Change("research_topic_sections", topic, {"document_id": pk, "sections": count}, None)
            for topic, count in sorted(topics.items())
        ),
    ]
