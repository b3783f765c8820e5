"""Saying one relation or one denial by itself: the same way in as that of a commit, without the rest of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from kernel.actions import Applied, Change
from kernel.canonical import digest
from kernel.context import Ctx
from kernel.errors import ConflictError, InvalidInputError, StaleError
from memory.candidates import Retraction
from memory.contracts.writing import (
    RelationView,
    WriteDenialInput,
    WriteDenialResult,
    WriteRelationInput,
    WriteRelationResult,
)
from memory.keys import check_key
from memory.models import KgEdge, Turn
from memory.selectors import item_by_id, turn_by_id, view_item
from memory.services.conflicts.rewriting import end_edge, restore_edge
from memory.services.graph import hash_of, write_edge
from memory.services.items import Commit, Pending, Written, settle
from memory.services.retractions import denied_before, keep_denial, known_by
from scopes.contracts import SESSION, ScopeView
from scopes.selectors import check_ref
from scopes.services import ensure_scopes, lock_scopes

RELATIONS = "kg_edges"


def prepare(given: WriteRelationInput | WriteDenialInput, allowed_types: Sequence[str], ctx: Ctx) -> Turn | None:
    """The turn that it was learned from. Raises InvalidInputError that names the place, or NotFoundError."""
    check_ref(given.scope, given.domain_id, allowed_types)
    if given.scope.type == SESSION:
        raise InvalidInputError("scope: a session learns from its own turns only; use commit_turn.")
    if isinstance(given, WriteDenialInput):
        _key_of(given)
    turn = turn_by_id(given.turn_id, ctx) if given.turn_id is not None else None
    if turn is not None and turn.domain_id != given.domain_id:
        raise InvalidInputError(f"turn_id: no turn {str(given.turn_id)!r} that you can see in this domain.")
    return turn


def subject_of_relation(given: WriteRelationInput) -> str:
    """What a proposal for the relation is about: the same relation that ends otherwise is another subject."""
    ends = given.valid_to.isoformat() if given.valid_to else ""
    return f"write_relation:{digest([given.domain_id, given.scope.name, hash_of(given), ends])}"


def write_relation(given: WriteRelationInput, turn: Turn | None, ctx: Ctx) -> Applied[WriteRelationResult]:
    """Store the relation; one that the scope knows is given as it is."""
    rows, opened = ensure_scopes(given.domain_id, [given.scope.name], ctx, "")
    scope = rows[given.scope.name]
    lock_scopes([scope.key])
    commit = Commit(turn, [], ctx, Written(), Pending())
    row = write_edge(given, scope, "relation", commit)
    if row is None:
        raise ConflictError("The same relation is being written by others at this moment: send it again.")
    settle(commit)
    result = WriteRelationResult(relation=view_relation(row), deduplicated=not commit.pending.edges)
    return result, [*opened, *commit.written.changes]


def view_relation(row: KgEdge) -> RelationView:
    """A relation as answers show it."""
    return RelationView(
        id=row.id,
        subject=row.subject,
        predicate=row.predicate,
        object=row.object,
        confidence=row.confidence,
        scope=ScopeView(type=row.scope.scope_type, id=row.scope.external_id),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
    )


def reverse_relation(given: WriteRelationInput | None, changes: Sequence[Change], ctx: Ctx) -> list[Change]:
    """Undo a relation that was written: it ends, and what it took the place of holds again. Raises StaleError where it
    has ended or been told again since."""
    ours = [change for change in changes if change.table == RELATIONS]
    rows = KgEdge.objects.select_related("scope").in_bulk([UUID(change.id) for change in ours])
    lock_scopes({row.scope_id for row in rows.values()})
    done: list[Change] = []
    try:
        for change in ours:
            row = rows[UUID(change.id)]
            done += end_edge(row, ctx).changes if change.before is None else restore_edge(row, ctx)[1]
    except (ConflictError, KeyError) as exc:
        raise StaleError("That relation was changed again since: look at it and decide anew.") from exc
    return done


def subject_of_denial(given: WriteDenialInput) -> str:
    """What a proposal for the denial is about: the key that does not hold there."""
    return f"write_denial:{digest([given.domain_id, given.scope.name, given.type, _key_of(given)])}"


def _key_of(given: WriteDenialInput) -> str:
    try:
        return check_key(given.type, given.key)
    except ValueError as exc:
        raise InvalidInputError(f"key: {exc}") from exc


def write_denial(given: WriteDenialInput, turn: Turn | None, ctx: Ctx) -> Applied[WriteDenialResult]:
    """Keep the denial, once. Raises ConflictError where the scope knows the key: that is taken back by its id."""
    rows, opened = ensure_scopes(given.domain_id, [given.scope.name], ctx, "")
    scope = rows[given.scope.name]
    lock_scopes([scope.key])
    asked, known = known_by(Retraction(given.type, _key_of(given), given.reason, "denial"), scope)
    if known:
        raise ConflictError(f"{scope.name} knows {asked.key} as {known[0].pk}: take it back with retract_item.")
    before = denied_before(asked, scope)
    commit = Commit(turn, [], ctx, Written(), Pending())
    row = before or keep_denial(asked, scope, commit)
    settle(commit)
    result = WriteDenialResult(item=view_item(item_by_id(row.pk)), deduplicated=before is not None)
    return result, [*opened, *commit.written.changes]
