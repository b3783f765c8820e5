"""Holding against the older database what a row's own columns do not say: the evidence of memories, and which entity a
mention is of."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from kernel.canonical import canonical_json
from legacy.contracts import SourceRow
from legacy.contracts.rows import as_uuid
from legacy.models import MigratedRow
from legacy.selectors.compared import Held
from legacy.source import Source
from legacy.steps.items import references
from memory.models import Entity, EntityMention, EvidenceLink, MemoryItem

_LOST = "evidence not kept: "


def evidence_held(rows: Sequence[tuple[SourceRow, MigratedRow, MemoryItem]], source: Source) -> dict[str, Held]:
    """By source id, the references of each memory there, and those of them that are its evidence here. What its note says
    was not kept is left out; evidence that was added here since is too."""
    named = references([_without_lost(row, became.note) for row, became, _ in rows], source)
    links: dict[Any, set[tuple[str, str]]] = defaultdict(set)
    found = EvidenceLink.objects.filter(item__in=[item.pk for *_, item in rows])
    for item_id, kind, ref in found.values_list("item_id", "kind", "ref"):
        links[item_id].add((kind, ref))
    held = {}
    for row, _, item in rows:
        wanted = sorted({*named[row.id], *_origin(item)})
        kept = [list(ref) for ref in wanted if ref in links[item.pk]]
        held[row.id] = Held("evidence_refs", canonical_json([list(ref) for ref in wanted]), canonical_json(kept))
    return held


def _origin(item: MemoryItem) -> list[tuple[str, str]]:
    """What it was learned from is evidence of it: the message, else the turn."""
    if item.source_message_id is not None:
        return [("message", str(item.source_message_id))]
    return [("turn", str(item.source_turn_id))] if item.source_turn_id is not None else []


def _without_lost(row: SourceRow, note: str) -> SourceRow:
    """The row without the references that could not be kept when it was moved: they may lead somewhere by now."""
    if _LOST not in note:
        return row
    try:
        lost, _ = json.JSONDecoder().raw_decode(note.partition(_LOST)[2])
    except ValueError:  # the note was too long to be kept whole
        return SourceRow(row.table, row.id, {**row.columns, "evidence_refs": "[]"})
    given = json.loads(row.columns["evidence_refs"] or "[]")
    kept = [ref for ref in (given if isinstance(given, list) else [given]) if ref not in lost]
    return SourceRow(row.table, row.id, {**row.columns, "evidence_refs": json.dumps(kept)})


def same_entities(mentions: Mapping[Any, tuple[str | None, EntityMention]]) -> set[Any]:
    """Of mentions, each with where its entity went, those whose entity here has the kind and name of that one."""
    ids = {uuid for first, _ in mentions.values() if first and (uuid := as_uuid(first))}
    ids |= {mention.entity_id for _, mention in mentions.values()}
    names = {str(row.pk): (row.kind, row.canonical_folded) for row in Entity.objects.filter(pk__in=ids)}
    return {
        pk
        for pk, (first, mention) in mentions.items()
        if first in names and names[first] == names.get(str(mention.entity_id))
    }
