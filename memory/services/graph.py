"""Writing the graph: entities with merged aliases, their mentions, and edges, by the same scope rules as items."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from kernel.actions import Change
from kernel.canonical import digest
from kernel.db import checked
from kernel.text import fold
from memory.candidates import Candidate, line
from memory.contracts.items import RelationIn
from memory.models import Entity, EntityAlias, EntityMention, KgEdge, MemoryItem
from memory.naming import fold_name
from memory.services.items import Commit, write
from memory.statements import statement

if TYPE_CHECKING:
    from scopes.models import MemoryScope


def write_entity(candidate: Candidate, scope: MemoryScope, commit: Commit) -> MemoryItem | None:
    """Store an entity's item and its row in the side index; a known name or alias merges into the entity it names."""
    canonical = str(candidate.value.get("canonical") or candidate.value.get("name") or "")
    known = find_entity(scope, str(candidate.value.get("kind", "other")), [canonical, *_aliases(candidate)])
    anew = known is not None and known.item is not None and known.item.narrowed_to_id is not None
    if anew:
        known = None  # what was narrowed to another scope tells nothing here
    merged = _merge(candidate, canonical, known)
    item = write(merged, scope, commit)
    if item is None:
        return None
    entity = known or _new_entity(candidate, canonical, scope, commit)
    if anew:
        _forget_names(entity, candidate, canonical)
    Entity.objects.filter(pk=entity.pk).update(item=item)
    names = {fold_name(alias): alias for alias in [canonical, *_aliases(candidate)] if fold(alias)}
    have = set(EntityAlias.objects.filter(entity=entity).values_list("alias_folded", flat=True))
    EntityAlias.objects.bulk_create(
        [
            EntityAlias(domain_id=scope.domain_id, entity=entity, alias=alias, alias_folded=folded)
            for folded, alias in names.items()
            if folded not in have and folded != entity.canonical_folded
        ],
        ignore_conflicts=True,
    )
    if commit.source is not None:
        EntityMention.objects.get_or_create(
            entity=entity, turn=commit.source, defaults={"domain_id": scope.domain_id, "created_at": commit.ctx.now}
        )
    return item


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


def _merge(candidate: Candidate, canonical: str, known: Entity | None) -> Candidate:
    """The candidate with each name once; under the key and canonical name of the entity, where it is known already."""
    item = known.item if known is not None else None
    before = item.value if item is not None and item.current_until is None else {}
    aliases = {fold_name(alias): alias for alias in [*before.get("aliases", []), *_aliases(candidate)]}
    aliases.setdefault(fold_name(canonical), canonical)
    aliases.pop(known.canonical_folded if known is not None else fold_name(canonical), None)
    value = {
        **candidate.value,
        "canonical": known.canonical if known is not None else canonical,
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


def _forget_names(entity: Entity, candidate: Candidate, canonical: str) -> None:
    """Let an entity that begins anew under its canonical name keep none of the names that it had."""
    EntityAlias.objects.filter(entity=entity).delete()
    name = str(candidate.value.get("name") or canonical)[:300]
    Entity.objects.filter(pk=entity.pk).update(canonical=canonical[:300], name=name)


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
