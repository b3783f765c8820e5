"""Writing the graph: entities with merged aliases, their mentions, and edges, by the same scope rules as items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from kernel.actions import Change
from kernel.canonical import digest
from kernel.db import checked
from kernel.errors import ConflictError
from kernel.text import fold
from memory.candidates import Candidate, line
from memory.contracts.items import RelationIn, Status
from memory.models import Entity, EntityAlias, EntityMention, KgEdge, MemoryItem
from memory.naming import MAX_NAME, fold_name
from memory.services.items import Commit, write
from memory.statements import statement

if TYPE_CHECKING:
    from scopes.models import MemoryScope

_IN_FORCE = {"item__current_until": None, "item__status": Status.ACTIVE}


def write_entity(candidate: Candidate, scope: MemoryScope, commit: Commit) -> MemoryItem | None:
    """Store an entity's item and its row in the side index; a known name or alias merges into the entity it names."""
    canonical = str(candidate.value.get("canonical") or candidate.value.get("name") or "")
    known, struck = _known(candidate, canonical, scope)
    item = write(_merge(candidate, canonical, known, struck), scope, commit)
    if item is None:
        return None
    entity = known or _new_entity(candidate, canonical, scope, commit)
    _bear(entity, item)
    if commit.source is not None:
        EntityMention.objects.get_or_create(
            entity=entity, turn=commit.source, defaults={"domain_id": scope.domain_id, "created_at": commit.ctx.now}
        )
    return item


def name_again(item: MemoryItem) -> None:
    """Let the entity of an item that a decision puts in force be found by the names that the item gives, and no other.
    Raises ConflictError where another entity in force there bears one of those that are new to it."""
    if item.type != "entities":
        return
    of_key = Entity.objects.filter(scope_id=item.scope_id, item__type=item.type, item__key=item.key)
    entity = of_key.order_by("-item__recorded_at", "-id").first()
    if entity is None:
        return
    names = _names(item.value)
    borne = {entity.canonical_folded, *entity.aliases.values_list("alias_folded", flat=True)}
    _require_free(entity, [folded for folded in names if folded not in borne])
    alike = Entity.objects.filter(scope_id=item.scope_id, kind=entity.kind, canonical_folded=next(iter(names)))
    _bear(alike.first() or entity, item)


def _require_free(entity: Entity, folded: list[str]) -> None:
    """Raise ConflictError where another entity of its kind and scope, with its memory in force, bears one of the names."""
    bears = Q(canonical_folded__in=folded) | Q(
        pk__in=EntityAlias.objects.filter(*checked(alias_folded__in=folded)).values("entity")
    )
    others = Entity.objects.filter(*checked(scope_id=entity.scope_id), bears, **_IN_FORCE, kind=entity.kind)
    other = others.exclude(pk=entity.pk).order_by("id").first()
    if other is not None:
        raise _taken(other)


def _taken(other: Entity) -> ConflictError:
    return ConflictError(
        f"{other.canonical} (memory item {other.item_id}) bears one of these names there: correct or retract that one "
        "first, or give another name."
    )


def _bear(entity: Entity, item: MemoryItem) -> None:
    """Let an entity point to its item, and be found by the names that this gives and by no other."""
    names = _names(item.value)
    folded, canonical = next(iter(names.items()))
    said = str(item.value.get("name") or (entity.name if fold_name(entity.name) in names else canonical))
    told = {"item": item, "canonical": canonical[:MAX_NAME], "name": said[:MAX_NAME]}
    row = Entity.objects.filter(pk=entity.pk)
    if folded == entity.canonical_folded:
        row.update(**told)
    else:
        try:
            with transaction.atomic():
                row.update(**told, canonical_folded=folded)
        except IntegrityError as exc:
            raise ConflictError(f"{canonical} is the name of another entity there: give another name.") from exc
    del names[folded]
    have = set(EntityAlias.objects.filter(entity=entity).values_list("alias_folded", flat=True))
    if gone := have - names.keys():
        EntityAlias.objects.filter(entity=entity, alias_folded__in=gone).delete()
    EntityAlias.objects.bulk_create(
        [
            EntityAlias(domain_id=entity.domain_id, entity=entity, alias=alias, alias_folded=folded)
            for folded, alias in names.items()
            if folded not in have
        ],
        ignore_conflicts=True,
    )


def _names(value: Mapping[str, Any]) -> dict[str, str]:
    """The names that a value gives, by their folded form, the canonical one first."""
    said = [value.get("canonical"), value.get("name"), *value.get("aliases", [])]
    names: dict[str, str] = {}
    for name in (str(each) for each in said if each and fold(str(each))):
        names.setdefault(fold_name(name), name)
    return names


def _known(candidate: Candidate, canonical: str, scope: MemoryScope) -> tuple[Entity | None, set[str]]:
    """The entity that a candidate speaks of, if any, and the folded names that corrections took from it. A name that was
    taken from the entity under the candidate's key speaks of it still, where no other in force bears the name."""
    said = [canonical, *_aliases(candidate)]
    known = find_entity(scope, str(candidate.value.get("kind", "other")), said)
    item = known.item if known is not None else None
    if item is not None and item.narrowed_to_id is not None:
        known = item = None  # what was narrowed to another scope tells nothing here
    if item is not None and item.current_until is None:
        anew = {fold_name(name) for name in said} - _names(item.value).keys()
        return known, _struck(item) if anew and item.version > 1 else set()
    key = item.key if item is not None and item.key else candidate.key
    of_key = Entity.objects.filter(scope=scope, item__type="entities", item__key=key, item__version__gt=1, **_IN_FORCE)
    bearer = of_key.select_related("item").order_by("id").first()
    struck = _struck(bearer.item) if bearer is not None and bearer.item is not None else set()
    return (bearer, struck) if fold_name(canonical) in struck else (known, set())


def _struck(item: MemoryItem) -> set[str]:
    """The folded names that corrections took from an entity's item and that it does not bear again."""
    line = MemoryItem.objects.filter(scope_id=item.scope_id, type=item.type, key=item.key)
    corrections = line.filter(successor__origin="correction").values_list("value", "successor__value")
    taken = {folded for was, then in corrections for folded in _names(was).keys() - _names(then).keys()}
    return taken - _names(item.value).keys()


def find_entity(scope: MemoryScope, kind: str, names: list[str]) -> Entity | None:
    """The entity of that kind in the scope which bears one of the names, after folding."""
    folded = [fold_name(name) for name in names if fold(name)]
    rows = Entity.objects.filter(kind=kind).select_related("item").order_by("id")
    by_name = rows.filter(scope=scope, canonical_folded__in=folded).first()
    if by_name is not None:
        return by_name
    aliases = EntityAlias.objects.filter(alias_folded__in=folded, entity__scope=scope).values("entity")
    return rows.filter(*checked(scope_id=scope.pk), pk__in=aliases).first()


def _aliases(candidate: Candidate) -> list[str]:
    name = candidate.value.get("name")
    return [*candidate.value.get("aliases", []), *([str(name)] if name else [])]


def _merge(candidate: Candidate, canonical: str, known: Entity | None, struck: set[str]) -> Candidate:
    """The candidate with each name once, but those that were struck; under the key and canonical name of the entity,
    where it is known already."""
    item = known.item if known is not None else None
    before = item.value if item is not None and item.current_until is None else {}
    first = str(before.get("canonical") or (known.canonical if known is not None else canonical))
    names = [*before.get("aliases", []), *_aliases(candidate), canonical]
    aliases: dict[str, str] = {}
    for name in names:
        aliases.setdefault(fold_name(name), name)
    for folded in (*struck, fold_name(first)):
        aliases.pop(folded, None)
    value = {
        **candidate.value,
        "canonical": first,
        "aliases": sorted(alias for folded, alias in aliases.items() if folded),
        "attrs": {**before.get("attrs", {}), **candidate.value.get("attrs", {})},
    }
    value.pop("name", None)
    key = item.key if item is not None and item.key else candidate.key
    return replace(candidate, key=key, value=value, statement=statement("entities", value))


def _new_entity(candidate: Candidate, canonical: str, scope: MemoryScope, commit: Commit) -> Entity:
    entity, created = Entity.objects.get_or_create(
        scope=scope,
        kind=str(candidate.value.get("kind", "other")),
        canonical_folded=fold_name(canonical),
        defaults={
            "domain_id": scope.domain_id,
            "canonical": canonical[:300],
            "name": str(candidate.value.get("name") or canonical)[:300],
            "source_session_id": commit.source.session_id if commit.source else None,
            "created_at": commit.ctx.now,
        },
    )
    if created:
        after = {"canonical": entity.canonical}
        commit.written.changes.append(Change("entities", str(entity.id), None, after, scopes=(scope.name,)))
    return entity


def hash_of(asked: RelationIn) -> str:
    """Equal for the same relation, however it is spelt."""
    return digest([fold_name(asked.subject), fold(asked.predicate), fold_name(asked.object)])


def known_edge(asked: RelationIn, scope: MemoryScope, now: datetime) -> tuple[KgEdge | None, bool]:
    """The relation as the scope holds it, None where it does not, and whether nothing new is said of it."""
    held = KgEdge.objects.filter(scope=scope, content_hash=hash_of(asked), current_until=None).first()
    return held, held is not None and not _holds_otherwise(asked, held, now)


def write_edge(asked: RelationIn, scope: MemoryScope, source: str, commit: Commit) -> KgEdge | None:
    """Store a relation; the same relation for the same time is not stored again, and one that ends otherwise is new.
    None where another writer was first with the same."""
    held, known = known_edge(asked, scope, commit.ctx.now)
    row, action, reason = held, "deduplicate", "same_edge"
    if not known:
        try:
            with transaction.atomic():
                row = _add_edge(asked, held, scope, commit)
        except IntegrityError:
            row = None
        else:
            action, reason = "edge", "edge_added"
            _note(row, held, scope, commit)
            commit.pending.edges.append((row, asked.valid_from is not None))
    commit.written.lines.append(line(action, "edges", asked.words, reason, scope.name, source))
    return row


def _note(row: KgEdge, ended: KgEdge | None, scope: MemoryScope, commit: Commit) -> None:
    after = {"subject": row.subject, "predicate": row.predicate, "object": row.object}
    commit.written.changes.append(Change("kg_edges", str(row.id), None, after, scopes=(scope.name,)))
    if ended is not None:
        over = {"current_until": commit.ctx.now.isoformat()}
        commit.written.changes.append(
            Change("kg_edges", str(ended.id), {"current_until": None}, over, scopes=(scope.name,))
        )


def _holds_otherwise(asked: RelationIn, held: KgEdge, now: datetime) -> bool:
    if asked.valid_to is None:
        return held.valid_to is not None and held.valid_to <= now
    return asked.valid_to != held.valid_to


def _add_edge(asked: RelationIn, held: KgEdge | None, scope: MemoryScope, commit: Commit) -> KgEdge:
    """The edge as a new row; the row that held until now stays as history."""
    now, turn = commit.ctx.now, commit.source
    over = asked.valid_to is not None and asked.valid_to <= now
    started = held.valid_from if held is not None and asked.valid_to is not None else None
    if held is not None:
        KgEdge.objects.filter(pk=held.pk, current_until=None).update(current_until=now)
    return KgEdge.objects.create(
        domain_id=scope.domain_id,
        scope=scope,
        subject=asked.subject,
        predicate=asked.predicate,
        object=asked.object,
        subject_folded=fold_name(asked.subject),
        object_folded=fold_name(asked.object),
        content_hash=hash_of(asked),
        confidence=asked.confidence,
        valid_from=asked.valid_from or started or (None if over else now),
        valid_to=asked.valid_to,
        recorded_at=now,
        source_session_id=turn.session_id if turn else None,
        source_turn=turn,
    )
