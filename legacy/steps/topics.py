"""Topics of SmartRAG, which had no owner: they become the owner's of the run, and others see one through a section in it
that they may see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from kernel.text import fold
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, put, told_beside
from legacy.steps.reading import read
from media.models import Topic
from scopes.contracts import LEGACY_DOMAIN
from scopes.services import ensure_domain

TABLE = "research_topics"
_KNOWN = frozenset({"id", "name", "description", "created_at", "updated_at"})


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a topic's row says; `folded` is its name as it is compared."""

    name: str
    folded: str
    description: str
    created_at: datetime | None
    note: str


def mapped(row: SourceRow) -> Mapped:
    """A topic from its row. Raises Quarantined."""
    name = row.required("name", 255)
    folded = fold(name)[:255]
    if not folded:
        raise Quarantined(Reason.MISSING_VALUE, "name has nothing to be known by")
    return Mapped(name, folded, row.text("description"), row.moment("created_at"), told_beside(row, _KNOWN))


class Topics:
    """The step of topics."""

    name = "research_topics"
    tables: tuple[str, ...] = (TABLE,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every topic, by its id."""
        return source.rows(TABLE)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store topics. One whose name is another's when compared gets its older id beside its name."""
        ensure_domain(LEGACY_DOMAIN)
        said = read(rows, mapped)
        mine = Topic.objects.filter(domain_id=LEGACY_DOMAIN, owner_id=run.owner.id)
        if run.again is not None:
            mine = mine.exclude(pk=run.again.target_id)
        names = {
            name for row in rows if row.id in said.good for name in (said.of(row).folded, _beside(said.of(row), row))
        }
        taken = set(mine.filter(folded__in={fold(name) for name in names}).values_list("folded", flat=True))
        made: list[Topic] = []

        def take(row: SourceRow) -> Outcome:
            one = said.of(row)
            name = one.name if one.folded not in taken else _beside(one, row)
            folded = fold(name)[:255]
            if folded in taken:
                raise Quarantined(Reason.DUPLICATE, f"topics {one.name[:80]!r} and {name[:80]!r} are here already")
            taken.add(folded)
            made.append(
                Topic(
                    id=run.became if run.again else row.target_id(),
                    domain_id=LEGACY_DOMAIN,
                    owner_id=run.owner.id,
                    owner_name=run.owner.name,
                    name=name,
                    folded=folded,
                    description=one.description,
                    created_at=one.created_at or run.ctx.now,
                )
            )
            notes = [f"another topic has its name: it is {name}"] if name != one.name else []
            return moved(row, TABLE, made[-1].pk, "; ".join(part for part in [*notes, one.note] if part))

        outcomes = each(rows, take)
        put(made, run, ("name", "folded", "description", "created_at"))
        return outcomes


def _beside(one: Mapped, row: SourceRow) -> str:
    """Its name with its older id, for where the name alone is taken."""
    mark = f" ({row.key[:40]})"
    return one.name[: 255 - len(mark)] + mark
