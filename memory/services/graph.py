"""Writing the graph: entities with merged aliases, their mentions, and edges, by the same scope rules as items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Q

from kernel.actions import Change
from kernel.canonical import digest
from kernel.text import fold
from memory.candidates import Candidate, line
from memory.contracts.items import EdgeIn
from memory.models import Entity, EntityAlias, EntityMention, KgEdge
from memory.services.items import Commit, write
from memory.statements import statement

if TYPE_CHECKING:
    from scopes.models import MemoryScope


def write_entity(candidate: Candidate, scope: MemoryScope, commit: Commit) -> None:
    """Store an entity's item and its row in the side index; a known name or alias merges into the entity it names."""
    canonical = str(candidate.value.get("canonical") or candidate.value.get("name") or "")
    known = find_entity(scope, str(candidate.value.get("kind", "other")), [canonical, *_aliases(candidate)])
    merged = _merge(candidate, known) if known is not None else candidate
    item = write(merged, scope, commit)
    if item is None:
        return
    entity = known or _new_entity(merged, canonical, scope, commit)
    Entity.objects.filter(pk=entity.pk).update(status="active", item=item)
    names = {fold(alias): alias for alias in [canonical, *_aliases(candidate)] if fold(alias)}
    have = set(EntityAlias.objects.filter(entity=entity).values_list("alias_folded", flat=True))
    EntityAlias.objects.bulk_create(
        [
            EntityAlias(domain_id=scope.domain_id, entity=entity, alias=alias, alias_folded=folded)
            for folded, alias in names.items()
            if folded not in have and folded != entity.canonical_folded
        ],
        ignore_conflicts=True,
    )
    EntityMention.objects.get_or_create(
        entity=entity, turn=commit.turn, defaults={"domain_id": scope.domain_id, "created_at": commit.ctx.now}
    )


def find_entity(scope: MemoryScope, kind: str, names: list[str]) -> Entity | None:
    """The entity of that kind in the scope which bears one of the names, after folding."""
    folded = [fold(name) for name in names if fold(name)]
    rows = Entity.objects.filter(scope=scope, kind=kind)
    bears = Q(canonical_folded__in=folded) | Q(
        pk__in=EntityAlias.objects.filter(entity__scope=scope, alias_folded__in=folded).values("entity")
    )
    return rows.filter(bears).select_related("item").order_by("id").first()


def retract_entities(keys: list[str], scope: MemoryScope) -> None:
    """Take the entities of retracted items out of relational retrieval."""
    Entity.objects.filter(scope=scope, item__type="entities", item__key__in=keys).update(status="retracted")


def _aliases(candidate: Candidate) -> list[str]:
    name = candidate.value.get("name")
    return [*candidate.value.get("aliases", []), *([str(name)] if name else [])]


def _merge(candidate: Candidate, known: Entity) -> Candidate:
    """The candidate under the key and canonical name of the entity that is already known."""
    item = known.item
    before = item.value if item is not None and item.current_until is None else {}
    aliases = {fold(alias): alias for alias in [*before.get("aliases", []), *_aliases(candidate)]}
    canonical = str(candidate.value.get("canonical") or "")
    aliases.setdefault(fold(canonical), canonical)
    aliases.pop(known.canonical_folded, None)
    value = {
        **candidate.value,
        "canonical": known.canonical,
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
        canonical_folded=fold(canonical)[:300],
        defaults={
            "domain_id": scope.domain_id,
            "canonical": canonical[:300],
            "name": str(candidate.value.get("name") or canonical)[:300],
            "source_session_id": commit.turn.session_id,
            "created_at": commit.ctx.now,
        },
    )
    if created:
        commit.written.changes.append(Change("entities", str(entity.id), None, {"canonical": entity.canonical}))
    return entity


def write_edge(asked: EdgeIn, scope: MemoryScope, source: str, commit: Commit) -> None:
    """Store a relation; the same relation that still holds is not stored again."""
    hashed = digest([fold(asked.subject), fold(asked.predicate), fold(asked.object)])
    row, reason = _find_or_add_edge(asked, hashed, scope, commit)
    if reason == "edge_added":
        after = {"subject": row.subject, "predicate": row.predicate, "object": row.object}
        commit.written.changes.append(Change("kg_edges", str(row.id), None, after))
    key = f"{asked.subject} {asked.predicate} {asked.object}"
    action = "edge" if reason == "edge_added" else "deduplicate"
    commit.written.lines.append(line(action, "edges", key, reason, scope.name, source))


def _find_or_add_edge(asked: EdgeIn, hashed: str, scope: MemoryScope, commit: Commit) -> tuple[KgEdge, str]:
    now = commit.ctx.now
    ended = KgEdge.objects.filter(scope=scope, content_hash=hashed, current_until=None, valid_to__lte=now)
    ended.update(current_until=now)
    try:
        with transaction.atomic():
            row = KgEdge.objects.create(
                domain_id=scope.domain_id,
                scope=scope,
                subject=asked.subject,
                predicate=asked.predicate,
                object=asked.object,
                subject_folded=fold(asked.subject)[:300],
                object_folded=fold(asked.object)[:300],
                content_hash=hashed,
                confidence=asked.confidence,
                valid_from=asked.valid_from or now,
                valid_to=asked.valid_to,
                recorded_at=now,
                source_session_id=commit.turn.session_id,
                source_turn=commit.turn,
            )
    except IntegrityError:
        return KgEdge.objects.get(scope=scope, content_hash=hashed, current_until=None), "same_edge"
    return row, "edge_added"
