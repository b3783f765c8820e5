"""Writing one item by itself: the same way in as that of a commit, without the rest of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from governance.policies import in_force
from kernel.actions import Applied
from kernel.canonical import digest
from kernel.context import Ctx
from kernel.errors import ConflictError, InvalidInputError
from memory.agreement import require_agreement
from memory.candidates import Candidate, written_alone
from memory.contracts.items import Lifecycle
from memory.contracts.writing import WriteMemoryItemInput, WriteMemoryItemResult, item_fields
from memory.models import Turn
from memory.policies import RetentionPolicy
from memory.selectors import item_by_id, turn_by_id, view_item
from memory.selectors.refs import PlacedRef, checked_refs, distinct, identities, pieces_of
from memory.services.graph import write_entity
from memory.services.items import Commit, Pending, Written, settle, write
from memory.statements import content_hash
from scopes.contracts import SESSION, ScopeRef
from scopes.selectors import check_ref
from scopes.services import ensure_scopes, lock_scopes


@dataclass(frozen=True, slots=True)
class Prepared:
    """An item that was checked outside the transaction, and the turn that it was learned from."""

    candidate: Candidate
    turn: Turn | None


def prepare(given: WriteMemoryItemInput, allowed_types: Sequence[str], ctx: Ctx) -> Prepared:
    """Check an item as a commit would check it. Raises InvalidInputError that names the place, or NotFoundError."""
    check_ref(given.scope, given.domain_id, allowed_types)
    if given.scope.type == SESSION:
        raise InvalidInputError("scope: a session learns from its own turns only; use commit_turn.")
    turn = turn_by_id(given.turn_id, ctx) if given.turn_id is not None else None
    if turn is not None and turn.domain_id != given.domain_id:
        raise InvalidInputError(f"turn_id: no turn {str(given.turn_id)!r} that you can see in this domain.")
    if given.message is not None and (turn is None or given.message >= turn.messages.count()):
        raise InvalidInputError("message: the turn has no message at this place.")
    candidate = candidate_of(given, ctx)
    placed = [PlacedRef(("item", "evidence_refs", str(n)), ref) for n, ref in enumerate(candidate.evidence)]
    evidence = distinct(candidate.evidence, checked_refs(placed, given.domain_id, ctx))
    return Prepared(replace(candidate, evidence=tuple(evidence)), turn)


def candidate_of(given: WriteMemoryItemInput, ctx: Ctx) -> Candidate:
    """The candidate that an item makes. What it says of its origin follows from the call, never from the item.

    Raises InvalidInputError where its words contradict its value, but of what was heard in a message: there the words are
    what was said, and the value is what was made of it.
    """
    levels = in_force(given.domain_id, ctx).section(RetentionPolicy).confidence
    candidate = written_alone(given, levels)
    if given.message is None and "statement" in candidate.value:
        said = given.item.get("statement")
        told = said.strip() if isinstance(said, str) else None
        require_agreement(candidate.type, candidate.value, candidate.statement, told)
    return candidate


def input_of(candidate: Candidate, domain_id: str, scope: str, turn: Turn) -> WriteMemoryItemInput:
    """The call by which a candidate of a commit would be written by itself."""
    scope_type, _, scope_id = scope.partition(":")
    fields = item_fields(candidate.type, candidate.value, candidate.key)
    beside = {"valid_from": candidate.valid_from, "valid_to": candidate.valid_to, "review_by": candidate.review_by}
    fields |= {name: at.isoformat() for name, at in beside.items() if at is not None}
    fields |= {"importance": candidate.importance} if candidate.importance else {}
    fields |= {"remember": True} if candidate.type == "entities" else {}
    if candidate.evidence:
        fields["evidence_refs"] = [{"kind": ref.kind, "id": ref.id} for ref in candidate.evidence]
    return WriteMemoryItemInput.model_validate(
        {
            "domain_id": domain_id,
            "scope": ScopeRef(type=scope_type, id=scope_id),
            "type": candidate.type,
            "item": fields,
            "statement": candidate.statement if "statement" in candidate.value else None,
            "inferred": candidate.lifecycle is Lifecycle.CANDIDATE,
            "turn_id": turn.id,
            "message": candidate.message,
        }
    )


def subject_of(given: WriteMemoryItemInput, ctx: Ctx) -> tuple[str, str, tuple[str, ...]]:
    """What a proposal for the call is about, and digests of what it rests on and of each piece of that. Two values of one
    key are two subjects: a reviewer decides between them."""
    candidate = candidate_of(given, ctx)
    hashed = content_hash(candidate.type, candidate.key, candidate.value)
    subject = digest([given.domain_id, given.scope.name, candidate.type, candidate.key, hashed])
    rests_on = sorted(identities(candidate.evidence, given.domain_id, ctx))
    return f"write_memory_item:{subject}", digest(rests_on), pieces_of(rests_on)


def apply(given: WriteMemoryItemInput, prepared: Prepared, ctx: Ctx) -> Applied[WriteMemoryItemResult]:
    """Store the item by the conflict policy of its type."""
    rows, opened = ensure_scopes(given.domain_id, [given.scope.name], ctx, "")
    scope = rows[given.scope.name]
    lock_scopes([scope.key])
    turn = prepared.turn
    commit = Commit(turn, list(turn.messages.all()) if turn else [], ctx, Written(), Pending())
    store = write_entity if prepared.candidate.type == "entities" else write
    item = store(prepared.candidate, scope, commit)
    written = commit.written
    if item is None:
        reason = written.lines[-1].reason_code.replace("_", " ")
        raise ConflictError(f"{scope.name} does not take {prepared.candidate.key}: {reason}.")
    settle(commit)
    result = WriteMemoryItemResult(
        item=view_item(item_by_id(item.pk)),
        conflicts=written.conflicts,
        retention=written.lines,
        deduplicated=written.items[-1].deduplicated,
    )
    return result, [*opened, *written.changes]
