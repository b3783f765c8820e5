"""Making a row from another: by promotion to a scope, by narrowing, by raising to a tier. The source is never edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kernel.actions import Change
from kernel.context import ActorKind, Ctx
from kernel.errors import ConflictError
from kernel.ids import new_id
from memory.candidates import Candidate
from memory.contracts.items import OUT_OF_USE, TRUSTED, Lifecycle, Status
from memory.contracts.refs import EvidenceRef
from memory.models import EvidenceLink, KnowledgeEvent, MemoryItem
from memory.services.graph import write_entity
from memory.services.items import Commit, Pending, Written, event_of, settle, write
from memory.statements import reworded
from scopes.services import lock_scopes

if TYPE_CHECKING:
    from scopes.models import MemoryScope

CARRIED = ("memory_kind", "tier", "field", "audience", "pinned")
INHERITED = ("supporting", "teaching")


class DoesNotFitError(ConflictError):
    """This memory cannot be written there, on account of its key or of what is there already; nothing was written."""


@dataclass(frozen=True, slots=True)
class Making:
    """How a row is made: `kind` is promoted, narrowed or raised; `refs` are what it rests on besides its source, by
    role; `columns` differ from those of the source. `decided`: it may take the place of knowledge in force."""

    kind: str
    reason: str
    text: str | None = None
    refs: Mapping[str, Sequence[EvidenceRef]] = field(default_factory=dict)
    claimed_reviewer: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """The row, whether the scope knew the same by itself before, and all that changed."""

    item: MemoryItem
    deduplicated: bool
    event: KnowledgeEvent
    replaced: list[UUID]
    changes: list[Change]


def make(source: MemoryItem, scope: MemoryScope, making: Making, ctx: Ctx) -> Made:
    """Write a row in the scope from the source, by the conflict policy of its type there.

    Raises ConflictError where the source is no longer in force or in use, DoesNotFitError where the scope does not take
    it.
    """
    lock_scopes([source.scope_id, scope.key])
    source = in_force(source.pk)
    require_in_use(source)
    event_id = new_id()
    messages = [source.source_message] if source.source_message else []
    commit = Commit(source.source_turn, messages, ctx, Written(), Pending())
    candidate = _candidate(source, scope, making, event_id)
    store = write_entity if source.type == "entities" else write
    item = store(candidate, scope, commit)
    if item is None:
        raise DoesNotFitError(_refusal(commit.written.lines[-1].reason_code, scope))
    evidence = _evidence(source, item, making, ctx)
    commit.pending.evidence.extend(evidence)
    event = _event(source, item, scope, making, event_id, ctx)
    event.metadata |= _by_role(evidence)
    commit.pending.events += [event, _copied(source, item, scope, event_id, ctx)]
    settle(commit)
    written = commit.written
    return Made(
        item=item,
        deduplicated=item.promotion_event != event_id,
        event=event,
        replaced=[each.previous_memory_item_id for each in written.conflicts],
        changes=[*written.changes, Change("knowledge_events", str(event_id), None, dict(event.metadata))],
    )


def in_force(item_id: UUID) -> MemoryItem:
    """The row of an item, held until the transaction ends. Raises ConflictError where it is no longer in force."""
    rows = MemoryItem.objects.select_for_update(of=("self",), no_key=True)
    item = rows.select_related("scope", "source_turn__session", "source_session", "source_message").get(pk=item_id)
    require_in_force(item)
    return item


def require_in_force(item: MemoryItem) -> None:
    """Raise ConflictError where an item was superseded or taken back."""
    if item.current_until is not None or item.status != Status.ACTIVE:
        follows = f": look at {item.successor_id} instead" if item.successor_id else ""
        state = "a later version took its place" if item.status == Status.ACTIVE else item.status
        raise ConflictError(f"Memory item {item.id} is no longer in force ({state}){follows}.")


def require_in_use(item: MemoryItem) -> None:
    """Raise ConflictError where an item was demoted or retired: no other row is made of it."""
    if item.lifecycle_status in OUT_OF_USE:
        raise ConflictError(f"Memory item {item.id} is {item.lifecycle_status}: nobody is shown it.")


def reviewer_of(ctx: Ctx) -> str:
    """The signed-in person who decides on the call; empty where an agent acts by itself."""
    actor = ctx.approval.decided_by if ctx.approval else ctx.actor
    return actor.name if actor.kind is ActorKind.PERSON else ""


def _candidate(source: MemoryItem, scope: MemoryScope, making: Making, event_id: UUID) -> Candidate:
    if source.key is None:
        raise DoesNotFitError(f"Memory item {source.id} has no key, so no other scope can hold a version of it.")
    text = making.text.strip() if making.text is not None else None
    value = source.value if text is None else reworded(source.type, source.key, source.value, text)
    trusted = Lifecycle(source.lifecycle_status)
    columns = {**{name: getattr(source, name) for name in CARRIED}, **making.columns}
    return Candidate(
        type=source.type,
        key=source.key,
        value=value,
        statement=source.statement if text is None else text,
        confidence=_least_trust(source, making),
        lifecycle=columns.pop("lifecycle_status", trusted if trusted in TRUSTED else Lifecycle.PROMOTED),
        origin=f"{making.kind}:{source.origin}"[:60],
        source=f"{making.kind}:{source.id}",
        message=0 if source.source_message else None,
        valid_from=source.valid_from,
        valid_to=source.valid_to,
        review_by=source.review_by,
        importance=source.importance,
        columns={**columns, "source_item": source, "promotion_event": event_id},
        anew=making.kind == "raised" or _is_distrusted(source, scope),
        decided=making.decided,
    )


def _least_trust(source: MemoryItem, making: Making) -> float:
    """A row is trusted no more than the least trusted memory that it is made from, however it is worded."""
    ids = [ref.id for ref in making.refs.get("supporting", ()) if ref.kind == "memory"]
    others = MemoryItem.objects.filter(pk__in=ids).values_list("confidence", flat=True) if ids else []
    return min([source.confidence, *others])


def _is_distrusted(source: MemoryItem, scope: MemoryScope) -> bool:
    """Whether the scope holds this key demoted or retired: saying it again would not bring it back, this does."""
    rows = MemoryItem.objects.filter(scope=scope, type=source.type, key=source.key, current_until=None)
    return rows.filter(lifecycle_status__in=OUT_OF_USE).exists()


def _evidence(source: MemoryItem, item: MemoryItem, making: Making, ctx: Ctx) -> list[EvidenceLink]:
    """The source, what it rests on, and what was given: each once a role."""
    known = EvidenceLink.objects.filter(item=source, role__in=INHERITED).order_by("id")
    wanted = [("memory", str(source.id), "supporting"), *known.values_list("kind", "ref", "role")]
    wanted += [(ref.kind, ref.id, role) for role, refs in making.refs.items() for ref in refs]
    return [
        EvidenceLink(domain_id=item.domain_id, item=item, kind=kind, ref=ref, role=role, created_at=ctx.now)
        for kind, ref, role in dict.fromkeys(wanted)
        if (kind, ref) != ("memory", str(item.id))
    ]


def _by_role(evidence: Sequence[EvidenceLink]) -> dict[str, list[dict[str, str]]]:
    roles: dict[str, list[dict[str, str]]] = {}
    for link in evidence:
        roles.setdefault(link.role, []).append({"kind": link.kind, "id": link.ref})
    return roles


def _event(
    source: MemoryItem, item: MemoryItem, scope: MemoryScope, making: Making, event_id: UUID, ctx: Ctx
) -> KnowledgeEvent:
    event = event_of(item, making.kind, "", ctx, reason=making.reason)
    event.id = event_id
    event.metadata = {
        "source_item_id": str(source.id),
        "source_scope": source.scope.name,
        "target_scope": scope.name,
        "item_id": str(item.id),
        "proposed_by": ctx.actor.name,
        "reviewer": reviewer_of(ctx),
        "claimed_reviewer": making.claimed_reviewer,
        "proposal_id": str(ctx.approval.proposal_id) if ctx.approval else "",
        "reworded": making.text is not None,
    }
    return event


def _copied(source: MemoryItem, item: MemoryItem, scope: MemoryScope, event_id: UUID, ctx: Ctx) -> KnowledgeEvent:
    """That a row was made of the source, in the source's own history."""
    event = event_of(source, "copied", source.standing, ctx)
    event.metadata = {"item_id": str(item.id), "scope": scope.name, "event_id": str(event_id)}
    return event


def _refusal(reason: str, scope: MemoryScope) -> str:
    if reason == "governed":
        return f"{scope.name} holds knowledge in force under this key: demote that first, or leave it."
    if reason == "weaker_than_current":
        return f"{scope.name} holds a trusted memory under this key, and a candidate does not take its place."
    return f"{scope.name} does not take this memory: {reason.replace('_', ' ')}."
