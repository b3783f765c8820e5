"""Tags and their tree: a tag comes after the one it stands below, and circles are opened."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from kernel.text import fold
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Parents, Run, each, parents, put, told_beside
from legacy.steps.reading import Read, read
from media.models import Tag
from media.selectors.filing import MAX_DEPTH, ancestors, path_of
from scopes.contracts import LEGACY_DOMAIN
from scopes.services import ensure_domain

TABLE = "tags"
_KNOWN = frozenset({"id", "name", "parent_id", "created_at"})
# How deep a tag stands; NULL in a circle, below one, and deeper than a tree may be.
_DEPTH = """
LEFT JOIN (
  WITH RECURSIVE tree AS (
    SELECT c.id, 1 AS depth FROM {tags} c
    WHERE c.parent_id IS NULL OR NOT EXISTS (SELECT 1 FROM {tags} p WHERE p.id = c.parent_id)
    UNION ALL
    SELECT c.id, tree.depth + 1 FROM {tags} c JOIN tree ON c.parent_id = tree.id WHERE tree.depth < MOST
  )
  SELECT id, depth FROM tree
) d ON d.id = r.id
""".replace("MOST", str(MAX_DEPTH))


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a tag's row says; `depth` is 1 at the top, None where the tree does not reach it."""

    name: str
    folded: str
    parent: str | None
    depth: int | None
    note: str


def mapped(row: SourceRow) -> Mapped:
    """A tag from its row. Raises Quarantined."""
    given = row.required("name", 255)
    name = " ".join(given.split())
    notes = [told_beside(row, _KNOWN), f"it was written {given!r}" if name != given else ""]
    folded = fold(name)[:255]
    if not folded:
        raise Quarantined(Reason.MISSING_VALUE, "name has nothing to be known by")
    depth = row.place[0] if row.place else 1
    return Mapped(name, folded, row.optional("parent_id"), depth, "; ".join(filter(None, notes)))


def opened_circles(rows: Sequence[SourceRow]) -> list[SourceRow]:
    """Tags that the tree does not reach, each after the one it stands below. A circle is opened at its first tag."""
    left = {row.id: row for row in rows}
    below: defaultdict[str | None, list[SourceRow]] = defaultdict(list)
    for row in rows:
        below[row.columns.get("parent_id")].append(row)
    free = [row for row in rows if row.columns.get("parent_id") not in left]
    found: list[SourceRow] = []
    while left:
        waiting = deque(free or [_first_in_circle(left)])
        free = []
        while waiting:
            row = waiting.popleft()
            if left.pop(row.id, None) is not None:
                found.append(row)
                waiting += below[row.id]
    return found


def _first_in_circle(left: dict[str, SourceRow]) -> SourceRow:
    """A tag that stands below itself: upwards from any tag of those left, there is one."""
    seen: dict[str, int] = {}
    at = next(iter(left))
    while at not in seen:
        seen[at] = len(seen)
        at = left[at].columns["parent_id"] or ""
    circle = {one for one, place in seen.items() if place >= seen[at]}
    return next(row for row in left.values() if row.id in circle)


class Tags:
    """The step of tags."""

    name = "tags"
    tables: tuple[str, ...] = (TABLE,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every tag after the one it stands below."""
        apart = []
        places = ("d.depth",) if source.has(TABLE, "parent_id") else ()
        for row in source.rows(TABLE, join=_DEPTH if places else "", places=places):
            if places and row.place[0] is None:
                apart.append(row)
            else:
                yield row
        yield from opened_circles(apart)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store tags in the domain `legacy`. One that is the same word as another when compared is that other."""
        ensure_domain(LEGACY_DOMAIN)
        said = read(rows, mapped)
        grove = _Grove(said, parents(TABLE, (one.parent for one in said)), run)
        outcomes = each(rows, grove.take)
        put(grove.made, run, ("name", "folded", "parent_id"))
        return outcomes


class _Grove:
    """The tags of a batch as they are taken, beside those that are here."""

    def __init__(self, said: Read[Mapped], known: Parents, run: Run) -> None:
        self._said, self._known, self._run = said, known, run
        same = Tag.objects.filter(domain_id=LEGACY_DOMAIN, folded__in=[one.folded for one in said])
        self._there: dict[str, Tag] = {row.folded: row for row in same}
        self._taken: dict[str, UUID] = {}
        self._depths = _depths([found for one in said if one.depth is None and (found := known.maybe(one.parent))])
        self.made: list[Tag] = []

    def take(self, row: SourceRow) -> Outcome:
        """The tag of a row. Raises Quarantined."""
        one = self._said.of(row)
        parent, notes = self._parent(one)
        tag = self._there.get(one.folded)
        if self._run.again is not None:
            return self._take_again(row, one, parent, notes)
        if tag is None:
            tag = Tag(id=row.target_id(), domain_id=LEGACY_DOMAIN, name=one.name, folded=one.folded, parent_id=parent)
            self._there[one.folded] = tag
            self.made.append(tag)
            self._depths[tag.pk] = one.depth or (self._depths.get(parent, 0) + 1 if parent else 1)
        else:
            notes = [f"the same word as the tag {tag.name!r}: {one.name!r}"]
        self._taken[row.id] = tag.pk
        return moved(row, TABLE, tag.pk, "; ".join(each for each in [*notes, one.note] if each))

    def _take_again(self, row: SourceRow, one: Mapped, parent: UUID | None, notes: list[str]) -> Outcome:
        """A tag by its new name and place. Raises Quarantined where the name is another's, or the place is below itself."""
        tag = Tag.objects.get(pk=self._run.became)
        named = self._there.get(one.folded, tag)
        above = Tag.objects.filter(pk__in=[parent] if parent else [])
        if named.pk != tag.pk:
            raise Quarantined(Reason.DUPLICATE, f"the same word as the tag {named.name!r}")
        if parent is not None and tag.pk in {parent, *ancestors(above)}:
            raise Quarantined(Reason.MOVED_THERE, "it would stand below itself here")
        tag.name, tag.folded, tag.parent_id = one.name, one.folded, parent
        self.made.append(tag)
        return moved(row, TABLE, tag.pk, "; ".join(each for each in [*notes, one.note] if each))

    def _parent(self, one: Mapped) -> tuple[UUID | None, list[str]]:
        """The tag above, and what is said where there is another in the source."""
        if one.parent is None:
            return None, []
        parent = self._taken.get(one.parent) or self._known.maybe(one.parent)
        if one.depth is not None:
            return parent, [] if parent else [
                f"the tag {one.parent} above it did not come along: it stands at the top"
            ]
        if parent is None:
            return None, [f"below {one.parent} it stood in a circle or too deep: it stands at the top"]
        if self._depths.get(parent, 0) >= MAX_DEPTH:
            return None, [f"below {one.parent} it stood too deep: it stands at the top"]
        return parent, ["it stood in a circle, below one or very deep: what is above it was opened"]


def _depths(ids: Sequence[UUID]) -> dict[UUID, int]:
    """How deep tags that are here stand."""
    rows = {row.pk: row for row in Tag.objects.filter(pk__in=ids)}
    known = ancestors(rows.values())
    return {pk: len(path_of(row, known)) for pk, row in rows.items()}
