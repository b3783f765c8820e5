"""What is filed under what: tags of sections, sections of topics, tags of topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Model

from kernel.rows import insert
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.contracts.reasons import TakenAway
from legacy.source import Source
from legacy.steps.base import Parents, Run, each, parents, told_beside
from media.models import SectionTag, SourceSection, Tag, Topic, TopicSection, TopicTag


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link: its column in the source, the table that this names, its field here and the model of that."""

    column: str
    table: str
    field: str
    model: type[Model]


def pair_id(one: UUID, other: UUID) -> str:
    """How a link is named as a target: the 32 hexadecimal digits of each end, in the order of its primary key here."""
    return one.hex + other.hex


class Filing:
    """The step of one table of links. When a link was made is not kept here."""

    def __init__(self, name: str, model: type[Model], *ends: End) -> None:
        self.name, self.model, self.ends = name, model, ends
        self.tables: tuple[str, ...] = (name,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every link, by what it joins."""
        key = [end.column for end in self.ends]
        return source.rows(self.name, key=key if all(source.has(self.name, column) for column in key) else ())

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store links of which both ends are here."""
        there = [self._there(end, rows) for end in self.ends]
        made: dict[str, Model] = {}

        def take(row: SourceRow) -> Outcome:
            one, other = (_target(row, end, *known) for end, known in zip(self.ends, there, strict=True))
            name = pair_id(one, other)
            again = name in made
            if run.again is not None and name != run.again.target_id:
                raise Quarantined(Reason.MOVED_THERE, "it joins other rows than when it was moved in")
            made[name] = self.model(**{f"{end.field}_id": pk for end, pk in zip(self.ends, (one, other), strict=True)})
            notes = [_time(row), told_beside(row, frozenset({"created_at", *(end.column for end in self.ends)}))]
            notes += ["another link is the same here"] if again else []
            return moved(row, self.name, name, "; ".join(filter(None, notes)))

        outcomes = each(rows, take)
        insert(list(made.values()), known=True)
        return outcomes

    def _there(self, end: End, rows: Sequence[SourceRow]) -> tuple[Parents, set[UUID]]:
        """Where the rows at one end went, and which of these are still there."""
        known = parents(end.table, (row.columns.get(end.column) for row in rows))
        found = end.model._default_manager.filter(pk__in=known.moved.values())
        return known, set(found.values_list("pk", flat=True))


def _target(row: SourceRow, end: End, known: Parents, there: set[UUID]) -> UUID:
    found = known.target(row.required(end.column))
    if found not in there:
        raise TakenAway(f"the row of {end.table}")
    return found


def _time(row: SourceRow) -> str:
    """What is said of a time that is none: it is not kept anyway, so the link comes along."""
    try:
        row.moment("created_at")
    except Quarantined as why:
        return f"no time is kept of a link: {why.note}"
    return ""


_SECTION = End("section_id", "source_sections", "section", SourceSection)
_TAG = End("tag_id", "tags", "tag", Tag)
_TOPIC = End("research_topic_id", "research_topics", "topic", Topic)

SECTION_TAGS = Filing("section_tags", SectionTag, _SECTION, _TAG)
TOPIC_SECTIONS = Filing("research_topic_sections", TopicSection, _TOPIC, _SECTION)
TOPIC_TAGS = Filing("research_topic_tags", TopicTag, _TOPIC, _TAG)
