"""Entities in the scopes of the sessions that mention them, with their other names, and the mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kernel.rows import batches, insert
from kernel.text import fold
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.contracts.reasons import TakenAway
from legacy.source import Source
from legacy.steps.base import SOME, Run, each, free_ids, here, parents, put, told_beside
from legacy.steps.places import Origins, Places
from memory.keys import ENTITY_KINDS
from memory.models import Entity, EntityAlias, EntityMention, MemoryItem, Session, Turn
from memory.naming import MAX_NAME, fold_name

if TYPE_CHECKING:
    from scopes.models import MemoryScope

_ENTITY = frozenset({"id", "name", "kind", "canonical_id", "scope_id", "source_session_id"})
_MENTION = frozenset({"id", "entity_id", "turn_id", "message_id", "span_json", "created_at"})
_MENTIONED = _MENTION - {"span_json"}
SESSIONS = 200  # that a row of an entity brings with it at most
_Bearer = tuple[int, str, str]  # scope, kind and folded canonical name

# Where an entity is mentioned, and what it is called if it is another name of one.
_CANONICAL = "LEFT JOIN {entities} c ON c.id = e.canonical_id"
_SESSIONS = (
    "LEFT JOIN (SELECT m.entity_id, array_agg(DISTINCT t.session_id::text) AS names FROM {entity_mentions} m "
    "LEFT JOIN {messages} g ON g.id = m.message_id JOIN {turns} t ON t.id = coalesce(m.turn_id, g.turn_id) "
    "GROUP BY m.entity_id) o ON o.entity_id = r.id"
)


@dataclass(frozen=True, slots=True)
class Named:
    """What an entity is called: its kind, its canonical name, and the name of this row. `note` says what differs."""

    kind: str
    canonical: str
    name: str
    note: str = ""


def named(kind: str, name: str, canonical: str) -> Named:
    """An entity by its names; a kind that does not exist here becomes `other`. Raises Quarantined."""
    for text in (name, canonical):
        if len(text) > MAX_NAME:
            raise Quarantined(Reason.TEXT_TOO_LONG, f"name: {len(text)} characters, at most {MAX_NAME}")
        if not fold(text):
            raise Quarantined(Reason.MISSING_VALUE, "name is empty")
    known = kind if kind in ENTITY_KINDS else "other"
    return Named(known, canonical, name, f"kind was {kind}" if known != kind else "")


class Entities:
    """The step of entities."""

    name = "entities"
    tables: tuple[str, ...] = ("entities",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every entity, with the first sessions that mention it and the name and kind of the one that it is a name of. In
        further sessions it is made with its mentions there, so that no entity is more than one batch can hold."""
        mentioned = source.has("entity_mentions") and source.has("turns") and source.has("messages")
        other = source.has("entities", "canonical_id")
        join = f"{_CANONICAL.replace('e.', 'r.')} " if other else ""
        places = ("coalesce(c.name, r.canonical_id, '')", "coalesce(c.kind, '')") if other else ("''", "''")
        join += _SESSIONS if mentioned else ""
        sessions = f"(coalesce(o.names, '{{}}'))[1:{SESSIONS}]" if mentioned else "'{}'::text[]"
        return source.rows("entities", join=join, places=(*places, sessions))

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store an entity in its own scope, or in that of each session that mentions it; of one name once."""
        if run.again is not None:
            return each(rows, lambda row: _taken_again(row, run))
        batch = _Batch(rows, run)
        outcomes = each(rows, batch.take)
        batch.store()
        return outcomes


def _taken_again(row: SourceRow, run: Run) -> Outcome:
    """What an entity is called is how it is known here, and where its mentions are: only how that is written, and columns
    that nobody here knows, are taken again. Raises Quarantined for another name, kind or scope."""
    said = named(row.place[1] or row.text("kind") or "other", row.required("name"), row.place[0] or row.text("name"))
    there = Entity.objects.get(pk=run.became)
    scope = parents("memory_scopes", [row.columns.get("scope_id")]).maybe(row.columns.get("scope_id"))
    names = {fold_name(there.name), *there.aliases.values_list("alias_folded", flat=True)}
    if (
        (said.kind, fold_name(said.canonical)) != (there.kind, there.canonical_folded)
        or fold_name(said.name) not in names
        or scope not in (None, there.scope.id)
    ):
        raise Quarantined(Reason.MOVED_THERE, f"it is called {said.canonical[:80]} ({said.kind}) by now")
    if fold_name(said.name) == fold_name(there.name) and there.name != said.name:
        mates = Entity.objects.filter(kind=there.kind, canonical_folded=there.canonical_folded, name=there.name)
        ids = [row.target_id(), *(row.target_id(part=str(each)) for each in mates.values_list("scope__id", flat=True))]
        mates.filter(pk__in=ids).update(name=said.name, canonical=said.canonical)
    return moved(row, "entities", there.pk, "; ".join(filter(None, [said.note, told_beside(row, _ENTITY)])))


class _Bearers:
    """The entities of these folded names in these scopes, and those that a batch adds."""

    def __init__(self, names: Collection[str], scopes: Collection[int]) -> None:
        self._there = _bearers(names, scopes)
        self._made: list[Entity] = []
        self._aliases: list[EntityAlias] = []

    def found(self, said: Named, scope_key: int) -> Entity | None:
        """The entity in that scope, if it has one."""
        return self._there.get((scope_key, said.kind, fold_name(said.canonical)))

    def bearer(self, said: Named, scope: MemoryScope, session: Session, target: UUID) -> Entity:
        """The entity in that scope, which knows this name from now on; one that is missing is made under that id."""
        folded = fold_name(said.canonical)
        entity = self.found(said, scope.key)
        if entity is None:
            entity = Entity(
                id=target,
                domain_id=scope.domain_id,
                scope=scope,
                kind=said.kind,
                canonical=said.canonical,
                canonical_folded=folded,
                name=said.name,
                source_session=session,
                created_at=session.created_at,
            )
            self._there[scope.key, said.kind, folded] = entity
            self._made.append(entity)
        if fold_name(said.name) != folded:
            alias = EntityAlias(
                domain_id=scope.domain_id, entity=entity, alias=said.name, alias_folded=fold_name(said.name)
            )
            self._aliases.append(alias)
        return entity

    def store(self) -> None:
        """Insert what was made, each entity with the memory in force that tells of it."""
        told = _memories({entity.scope_id for entity in self._made})
        for entity in self._made:
            entity.item_id = told.get((entity.scope_id, entity.kind, entity.canonical_folded))
        insert(self._made)
        insert(self._aliases, known=True)


class _Batch:
    """What one batch of entities becomes."""

    def __init__(self, rows: Sequence[SourceRow], run: Run) -> None:
        self._places = Places(rows, [name for row in rows for name in row.place[2]])
        self._ids = free_ids(Entity, rows, run)
        folded = {fold_name(text) for row in rows for text in (row.columns.get("name") or "", row.place[0]) if text}
        self._bearers = _Bearers(folded, self._places.scope_keys)

    def take(self, row: SourceRow) -> Outcome:
        """The outcome of one entity."""
        name = row.required("name")
        said = named(row.place[1] or row.text("kind") or "other", name, row.place[0] or name)
        kept = [
            self._bearers.bearer(
                said, scope, session, self._ids[row.id] if n == 0 else row.target_id(part=str(scope.id))
            )
            for n, (scope, session) in enumerate(self._where(row))
        ]
        notes = [said.note, told_beside(row, _ENTITY)]
        notes += [f"one here for each of {len(kept)} sessions"] if len(kept) > 1 else []
        notes += [f"one here with others of its name: {kept[0].pk}"] if kept[0].pk != self._ids[row.id] else []
        notes += [f"another name of {said.canonical}"] if fold_name(said.name) != fold_name(said.canonical) else []
        return moved(row, "entities", kept[0].pk, "; ".join(note for note in notes if note))

    def _where(self, row: SourceRow) -> list[tuple[MemoryScope, Session]]:
        mentioning, fault = [], Quarantined(Reason.ORPHAN, "nothing mentions it")
        for name in sorted(row.place[2]):
            try:
                mentioning.append(self._places.session_named(name))
            except Quarantined as why:
                fault = why
        if row.has("scope_id") or row.has("source_session_id"):
            return [self._places.place(row, mentioning)]
        if not mentioning:
            raise fault
        return [(session.scope, session) for session in mentioning]

    def store(self) -> None:
        """Insert what was taken."""
        self._bearers.store()


def _bearers(names: Collection[str], scopes: Collection[int]) -> dict[_Bearer, Entity]:
    """The entities of these folded names in these scopes."""
    rows = Entity.objects.filter(canonical_folded__in=names)
    found = (row for some in batches(scopes, SOME) for row in rows.filter(scope_id__in=some))
    return {(row.scope_id, row.kind, row.canonical_folded): row for row in found}


def _memories(scopes: Collection[int]) -> dict[_Bearer, UUID]:
    """The memories in force that tell of entities, by what these are called."""
    rows = MemoryItem.objects.filter(type="entities", current_until=None).exclude(key=None)
    found: dict[_Bearer, UUID] = {}
    for some in batches(scopes, SOME):
        told = rows.filter(scope_id__in=some).values_list("scope_id", "key", "value", "id")
        for scope, key, value, target in told:
            _, kind, canonical = str(key).split(":", 2)
            for name in {canonical, str(value.get("canonical") or canonical)}:
                found[scope, kind, fold_name(name)] = target
    return found


class Mentions:
    """The step of mentions."""

    name = "entity_mentions"
    tables: tuple[str, ...] = ("entity_mentions",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every mention, with what its entity is called, the scope that it lies in, and its own name."""
        if not source.has("entities"):
            return source.rows("entity_mentions", places=("''", "''", "''", "''", "false"))
        other = source.has("entities", "canonical_id")
        join = "LEFT JOIN {entities} e ON e.id = r.entity_id " + (_CANONICAL if other else "")
        name = "coalesce(c.name, e.canonical_id, e.name, '')" if other else "coalesce(e.name, '')"
        kind = "coalesce(c.kind, e.kind, 'other')" if other else "coalesce(e.kind, 'other')"
        scope = "coalesce(e.scope_id::text, '')" if source.has("entities", "scope_id") else "''"
        return source.rows(
            "entity_mentions", join=join, places=(name, kind, scope, "coalesce(e.name, '')", "e.id IS NOT NULL")
        )

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store mentions, each pair of entity and turn once, and note the names with their turns."""
        batch = _Mentions(rows, run)
        outcomes = each(rows, batch.take)
        batch.store()
        return outcomes


class _Mentions:
    """What one batch of mentions becomes."""

    def __init__(self, rows: Sequence[SourceRow], run: Run) -> None:
        self._run = run
        columns = [row.columns for row in rows]
        self._origins = Origins(
            [each.get("turn_id") for each in columns], [each.get("message_id") for each in columns]
        )
        self._ids = free_ids(EntityMention, rows, run)
        scoped = [SourceRow("entities", row.id, {"scope_id": row.place[2]}) for row in rows if row.place[2]]
        self._places = Places(scoped)
        folded = {fold_name(row.place[0]) for row in rows if row.place[0]}
        turns = self._origins.turns
        self._turns = Turn.objects.select_related("session__scope").in_bulk(list(turns))
        scopes = {turn.session.scope_id for turn in self._turns.values()}
        self._bearers = _Bearers(folded, scopes | self._places.scope_keys)
        self._entities = parents("entities", [each.get("entity_id") for each in columns])
        self._kept = set(
            Entity.objects.filter(pk__in=list(self._entities.moved.values())).values_list("pk", flat=True)
        )
        pairs = EntityMention.objects.filter(turn__in=turns).values_list("entity_id", "turn_id", "id")
        self._known = {(entity, turn): target for entity, turn, target in pairs}
        self._made: list[EntityMention] = []
        self._names: dict[UUID, list[str]] = defaultdict(list)

    def take(self, row: SourceRow) -> Outcome:
        """The outcome of one mention."""
        if not row.place[4]:
            raise Quarantined(Reason.ORPHAN, f"no row {row.text('entity_id')[:80]!r} in entities")
        turn = here(self._turns, self._origins.turn_of(row), "its turn")
        entity = self._entity(row, turn)
        self._names[turn.pk].append(entity.canonical_folded)
        metadata = self._metadata(row)
        if (entity.pk, turn.pk) in self._known and self._run.again is None:
            again = self._known[entity.pk, turn.pk]
            beside = told_beside(row, _MENTIONED if "span" in metadata else _MENTION)
            return moved(row, "entity_mentions", again, f"the turn mentions it already; {beside}".removesuffix("; "))
        mention = EntityMention(
            id=self._ids[row.id],
            domain_id=entity.domain_id,
            entity=entity,
            turn=turn,
            metadata=metadata,
            created_at=row.moment("created_at") or turn.created_at,
        )
        self._known[entity.pk, turn.pk] = mention.pk
        self._made.append(mention)
        return moved(row, "entity_mentions", mention.pk, told_beside(row, _MENTION))

    def _metadata(self, row: SourceRow) -> dict[str, Any]:
        """Where in the turn the mention stands: the message, by its id here, and the place in it. Raises Quarantined."""
        said = {"span": row.json("span_json"), "message_id": self._origins.message_here(row.columns.get("message_id"))}
        return {name: value for name, value in said.items() if value}

    def _entity(self, row: SourceRow, turn: Turn) -> Entity:
        """The entity that the turn mentions, made where its session is the first here to mention it. Raises Quarantined."""
        first = self._entities.target(row.text("entity_id"))
        name, kind, scope_id, own, _ = row.place
        said = named(kind, own, name)
        if scope_id:
            scope = self._places.scope(SourceRow("entities", "", {"scope_id": scope_id}), None)
            if scope.domain_id != turn.domain_id:
                raise Quarantined(Reason.FOREIGN_DOMAIN, f"entity in {scope.domain_id}, turn in {turn.domain_id}")
            found = self._bearers.found(said, scope.key)
        else:
            found = self._bearers.found(said, turn.session.scope_id)
        if found is not None:
            return found
        if first not in self._kept or scope_id:
            raise TakenAway("its entity")
        scope = turn.session.scope
        target = SourceRow("entities", row.text("entity_id"), {}).target_id(part=str(scope.id))
        return self._bearers.bearer(said, scope, turn.session, target)

    def store(self) -> None:
        """Insert what was taken; each turn knows the names that it mentions."""
        self._bearers.store()
        put(self._made, self._run, ("metadata", "created_at"), ("entity_id", "turn_id"))
        changed = []
        for key, names in sorted(self._names.items()):
            turn = self._turns[key]
            wanted = list(dict.fromkeys([*turn.entity_names, *names]))
            if wanted != turn.entity_names:
                turn.entity_names = wanted
                changed.append(turn)
        Turn.objects.bulk_update(changed, ["entity_names"])
