"""Erasing sessions: turns with all that was said in them, summaries, contexts, and what they brought into the graph."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from governance.hooks import Erased
from kernel.canonical import canonical_json
from kernel.rows import batches
from memory.models import (
    ContextRecord,
    Entity,
    EntityMention,
    KgEdge,
    Message,
    Ref,
    Session,
    Summary,
    ToolCall,
    Turn,
)
from memory.selectors.erasing import said_in
from memory.services.erasing.quotes import delete_contexts
from search import services as index
from search.contracts import Kind

_SAID: dict[Any, tuple[str, ...]] = {
    Message: ("id", "role", "name", "content"),
    ToolCall: ("id", "name", "args", "result"),
    Ref: ("id", "ref_type", "ref_uri"),
}
_READ = 500  # rows that are read at a time


def hold_sessions(ids: Collection[UUID]) -> set[int]:
    """Hold sessions until the present transaction ends, as a commit does before it locks scopes; the scopes that are to
    be locked too: theirs and those of what they brought into the graph."""
    found: set[int] = set()
    for batch in batches(sorted(ids)):
        found |= {row.scope_id for row in Session.objects.select_for_update().filter(pk__in=batch).order_by("pk")}
    for batch in batches(ids):
        for model in (KgEdge, Entity):
            rows = model._default_manager.filter(source_session__in=batch)
            found |= set(rows.values_list("scope_id", flat=True))
    return found


def erase_sessions(ids: Sequence[UUID]) -> list[Erased]:
    """Delete sessions. The memories in their own scopes were erased before; their scopes stay, empty."""
    found = (Session.objects.filter(pk__in=batch).order_by("pk") for batch in batches(sorted(ids)))
    return [_erase(session) for rows in found for session in rows]


def _erase(session: Session) -> Erased:
    pk, hashed = session.pk, _hash_of(session)
    said = said_in([session.pk]).get(session.pk, [])
    for batch in batches(said):
        index.remove(Kind.MESSAGE, batch)
    relations = _forget_graph(session)
    turns = list(Turn.objects.filter(session=session).order_by("seq").values_list("pk", flat=True))
    for batch in batches(turns):
        for model in _SAID:
            model.objects.filter(turn__in=batch).delete()
        Turn.objects.filter(pk__in=batch).delete()
    contexts = delete_contexts(list(ContextRecord.objects.filter(session=session).values_list("pk", flat=True)))
    summaries = Summary.objects.filter(session=session).delete()[0]
    session.delete()
    counts = {"turns": len(turns), "said": len(said), "summaries": summaries, "contexts": contexts}
    return Erased(pk, hashed, {**counts, "relations": relations})


def _hash_of(session: Session) -> str:
    """SHA-256 over the session and all that was said in it, read in stretches."""
    total = hashlib.sha256(canonical_json([str(session.pk), session.external_id, session.metadata]).encode())
    for model, names in _SAID.items():
        rows = model.objects.filter(turn__session=session).order_by("turn__seq", "position").values_list(*names)
        for pk, *told in rows.iterator(chunk_size=_READ):
            total.update(canonical_json([str(pk), *told]).encode())
    return total.hexdigest()


def _forget_graph(session: Session) -> int:
    """Delete the relations that it brought, and the entities that no other turn names; how many relations."""
    gone = KgEdge.objects.filter(source_session=session)
    count = gone.count()
    gone.delete()
    EntityMention.objects.filter(turn__session=session).delete()
    brought = Entity.objects.filter(source_session=session)
    brought.filter(~Exists(EntityMention.objects.filter(entity=OuterRef("pk"))), item=None).delete()
    brought.update(source_session=None)
    return count
