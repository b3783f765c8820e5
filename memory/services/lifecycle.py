"""Acts on one item: taking it back, correcting it, narrowing it, demoting it. History is kept; the index follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from governance.policies import in_force as policies_in_force
from kernel.actions import Change
from kernel.context import ActorKind, Ctx, Right
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError
from memory.candidates import Candidate
from memory.contracts.items import LEGAL_LIFECYCLES, Lifecycle, Status, Tier
from memory.contracts.refs import EvidenceRef
from memory.correcting import corrected
from memory.models import EvidenceLink, KnowledgeEvent, MemoryItem
from memory.policies import ConfidenceLevels, RetentionPolicy
from memory.services import notices
from memory.services.conflicts import follow_out
from memory.services.copies import DoesNotFitError, Made, Making, in_force, make
from memory.services.graph import name_again
from memory.services.hiding import hide_line
from memory.services.items import (
    Commit,
    Pending,
    Written,
    after_all,
    event_of,
    is_governed,
    settle,
    state_of,
    write,
)
from memory.services.summary import summarise_again
from scopes.services import lock_scopes
from search import services as index
from search.contracts import Kind

if TYPE_CHECKING:
    from scopes.models import MemoryScope


@dataclass(frozen=True, slots=True)
class Done:
    """The item after an act, all that changed, and how many agents are to be told."""

    item: MemoryItem
    changes: list[Change]
    told: int


class UnchangedError(InvalidInputError):
    """The correction says the same as the memory: nothing was changed."""


def require_may_decide(item: MemoryItem, ctx: Ctx) -> None:
    """Raise ForbiddenError where an item is knowledge in force and no person decided on this call."""
    if is_governed(item) and not decides(item.domain_id, item.scope.name, ctx):
        raise ForbiddenError(
            f"Memory item {item.id} is knowledge in force: a person who decides in {item.scope.name} may change it."
        )


def decides(domain_id: str, scope: str, ctx: Ctx) -> bool:
    """Whether the call is one of a person who decides there, or was approved by one."""
    person = ctx.actor.kind is ActorKind.PERSON and ctx.may(Right.DECIDE, domain_id, scope)
    return ctx.approval is not None or person


def hold(items: Iterable[MemoryItem], *scope_keys: int) -> None:
    """Let other writers of the scopes of all these items, and of these, wait: who acts on several holds all before the
    first."""
    lock_scopes({*scope_keys, *(item.scope_id for item in items)})


def retract_item(item: MemoryItem, reason: str, ctx: Ctx) -> Done:
    """Take one item back, whether it is in force or history; taking it back again changes nothing."""
    lock_scopes([item.scope_id])
    row = _held(item)
    if row.status == Status.RETRACTED:
        return Done(row, [], 0)
    require_may_decide(row, ctx)
    before, was_in_force = row.standing, row.current_until is None
    at = row.current_until or after_all([row], ctx)
    MemoryItem.objects.filter(pk=row.pk).update(status=Status.RETRACTED, current_until=at)
    row.status, row.current_until = Status.RETRACTED, at
    step = event_of(row, "retracted", before, ctx, reason=reason)
    # In no change: a proposal to retract holds though its memory is replaced meanwhile.
    step.metadata = {"in_force": was_in_force}
    step.save()
    index.close(Kind.MEMORY, [row.pk], at)
    summarise_again([row], ctx)
    after = {"status": row.status, "reason": reason}
    change = Change("memory_items", str(row.id), {"status": before}, after, scopes=(row.scope.name,))
    return Done(row, [change, *follow_out(row, ctx)], notices.tell(row, "retracted", reason, None, ctx))


def correct_item(
    item: MemoryItem,
    said: tuple[str | None, Mapping[str, Any] | None],
    reason: str,
    refs: tuple[EvidenceRef, ...],
    ctx: Ctx,
) -> tuple[Done, MemoryItem]:
    """Put what is right in the place of an item: `said` is the text, or the fields of the value that change.

    Gives what was done to the new item, and the old one.
    """
    lock_scopes([item.scope_id])
    old = in_force(item.pk)
    require_may_decide(old, ctx)
    levels = policies_in_force(old.domain_id, ctx).section(RetentionPolicy).confidence
    candidate = _corrected(old, *said, levels)
    commit = Commit(old.source_turn, [], ctx, Written(), Pending())
    new = write(replace(candidate, evidence=refs), old.scope, commit)
    if new is None:
        raise DoesNotFitError(f"It cannot be corrected: {commit.written.lines[-1].reason_code.replace('_', ' ')}.")
    if new.pk == old.pk:
        raise UnchangedError
    MemoryItem.objects.filter(pk=old.pk).update(status=Status.SUPERSEDED)
    name_again(new)
    old.refresh_from_db()
    commit.pending.events.append(event_of(new, "corrected", old.standing, ctx, reason=reason))
    settle(commit)
    summarise_again([new], ctx)
    return Done(new, commit.written.changes, notices.tell(old, "corrected", reason, new, ctx)), old


def narrow_item(item: MemoryItem, scope: MemoryScope, making: Making, ctx: Ctx) -> tuple[Made, int]:
    """Let a narrower scope hold the item, and hide the wide original and what it said before from everyone outside of
    it. Gives the number of agents that are to be told."""
    require_may_decide(item, ctx)
    made = make(item, scope, making, ctx)
    hidden = hide_item(item, made.item, scope, making.reason, ctx)
    made.changes.extend(hidden.changes)
    return made, hidden.told


def hide_item(item: MemoryItem, behind: MemoryItem, scope: MemoryScope, reason: str, ctx: Ctx) -> Done:
    """Hide an item and what it said before from everyone outside of a narrower scope, which holds another in its place."""
    require_may_decide(item, ctx)
    old = in_force(item.pk)
    before, at, wide = old.standing, after_all([old], ctx), old.scope.name
    MemoryItem.objects.filter(pk=old.pk).update(
        status=Status.SUPERSEDED, current_until=at, successor=behind, narrowed_to=scope
    )
    old.refresh_from_db()
    event_of(old, "narrowed_to", before, ctx, reason=reason).save()
    index.close(Kind.MEMORY, [old.pk], at)
    after = {"status": old.status, "successor": str(behind.id), "narrowed_to": scope.name}
    hidden = Change("memory_items", str(old.id), {"status": before}, after, scopes=(wide,))
    changes = [hidden, *hide_line(old, scope), *follow_out(old, ctx)]
    summarise_again([old], ctx)
    return Done(old, changes, notices.tell(old, "narrowed", reason, behind, ctx))


def demote_item(
    item: MemoryItem, to: Lifecycle, refs: list[EvidenceRef], why: tuple[str, str], ctx: Ctx
) -> tuple[Done, Lifecycle]:
    """Take an item out of use: `why` is the type of reason and the reason. Gives how far it was trusted before.

    It stays the version of its key, so that saying the same again does not bring it back.
    """
    lock_scopes([item.scope_id])
    row = in_force(item.pk)
    require_may_decide(row, ctx)
    was = Lifecycle(row.lifecycle_status)
    if was is to:
        raise ConflictError(f"Memory item {row.id} is {to} already.")
    if to not in LEGAL_LIFECYCLES[Tier(row.tier)]:
        raise InvalidInputError(f"Knowledge of tier {row.tier} cannot be {to}: demote it.")
    before, scopes = row.standing, (row.scope.name,)
    MemoryItem.objects.filter(pk=row.pk).update(lifecycle_status=to, pinned=False)
    row.refresh_from_db()
    EvidenceLink.objects.bulk_create(
        [
            EvidenceLink(
                domain_id=row.domain_id, item=row, kind=ref.kind, ref=ref.id, role="counterexample", created_at=ctx.now
            )
            for ref in refs
        ],
        ignore_conflicts=True,
    )
    event: KnowledgeEvent = event_of(row, str(to), before, ctx, reason=why[1])
    event.metadata = {"reason_type": why[0], "evidence": [{"kind": ref.kind, "id": ref.id} for ref in refs]}
    event.save()
    index.set_state(Kind.MEMORY, [row.pk], state_of(row))
    summarise_again([row], ctx)
    told = {"lifecycle": was, "pinned": item.pinned}
    change = Change("memory_items", str(row.id), told, {"lifecycle": to}, scopes=scopes)
    return Done(row, [change, *follow_out(row, ctx)], notices.tell(row, "demoted", why[1], None, ctx)), was


def _held(item: MemoryItem) -> MemoryItem:
    rows = MemoryItem.objects.select_for_update(of=("self",), no_key=True).select_related("scope", "source_session")
    return rows.get(pk=item.pk)


def _corrected(
    old: MemoryItem, text: str | None, fields: Mapping[str, Any] | None, levels: ConfidenceLevels
) -> Candidate:
    """What is right, with everything beside the words kept: expiry, review date, importance, tier."""
    if old.key is None:
        raise DoesNotFitError(f"Memory item {old.id} has no key: retract it and commit what is right.")
    value, words = corrected(old.type, old.key, old.value, text, fields)
    return Candidate(
        type=old.type,
        key=old.key,
        value=value,
        statement=words,
        confidence=old.confidence if old.lifecycle_status == Lifecycle.CANDIDATE else levels.user_asserted,
        lifecycle=Lifecycle(old.lifecycle_status),
        origin="correction",
        source=f"correction:{old.id}",
        supersedes=old.id,
        valid_from=old.valid_from,
        valid_to=old.valid_to,
        review_by=old.review_by,
        importance=old.importance,
        columns={
            **{name: getattr(old, name) for name in ("memory_kind", "tier", "field", "audience", "pinned")},
            "source_item_id": old.source_item_id,
            "promotion_event": old.promotion_event,
        },
        decided=True,
    )
