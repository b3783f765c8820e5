"""Taking memory back, and telling which status the text gives to known tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from governance.contracts.base import REASON_CHARS, is_legible
from kernel.actions import Change
from memory.candidates import Candidate, Retraction, TaskUpdate, line
from memory.contracts.commit import WriteConflict
from memory.contracts.items import Lifecycle, Status
from memory.contracts.lifecycle import ALONG, RetractItemInput
from memory.contracts.writing import WriteDenialInput
from memory.models import MemoryItem
from memory.profiles import without_facts
from memory.services import notices
from memory.services.conflicts import TOGETHER
from memory.services.graph import find_entity
from memory.services.items import Commit, after_all, event_of, is_governed, view_written, write
from memory.statements import content_hash, statement
from memory.summarising import SUMMARISED
from scopes.services import lock_domain

if TYPE_CHECKING:
    from memory.models import Turn
    from scopes.models import MemoryScope


def retract(asked: Retraction, rows: list[MemoryItem], scope: MemoryScope, commit: Commit) -> None:
    """Retract every active version of a key in a scope, `rows` as `known_by` gives them; where there is none, the denial
    itself is kept, once."""
    commit.pending.staged |= asked.type in SUMMARISED  # what a summary tells must not outlive its retraction
    if any(is_governed(row) for row in rows):
        commit.written.lines.append(line("refuse", asked.type, asked.key, "governed", scope.name, asked.source))
        return
    if asked.facts:
        current = next((row for row in rows if row.current_until is None), None)
        left = without_facts(current.value, asked.facts) if current is not None else {}
        if current is not None and left.get("facts"):
            _forget_facts(asked, current, left, scope, commit)
            return
    for row in rows:
        _take_back(row, asked, scope, commit)
    reason = "retracted" if rows else "nothing_to_retract"
    if not rows and denied_before(asked, scope) is not None:
        commit.written.lines.append(
            line("deduplicate", asked.type, asked.key, "already_retracted", scope.name, asked.source)
        )
        return
    if not rows:
        keep_denial(asked, scope, commit)
    commit.written.lines.append(line("retract", asked.type, asked.key, reason, scope.name, asked.source))


def known_by(asked: Retraction, scope: MemoryScope) -> tuple[Retraction, list[MemoryItem]]:
    """A retraction with its key as it is known in a scope, and every active version of that there, the one in force
    first. What was narrowed to another scope is left alone: a denial tells nothing of it and changes nothing there."""
    asked = _as_known(asked, scope)
    rows = _in_sight(asked, scope).filter(status=Status.ACTIVE).order_by("id")
    return asked, sorted(rows, key=lambda row: row.current_until is not None)


def denied_before(asked: Retraction, scope: MemoryScope) -> MemoryItem | None:
    """What a scope knows of a key that was taken back or denied there already."""
    return _in_sight(asked, scope).filter(status=Status.RETRACTED).order_by("-id").first()


def _in_sight(asked: Retraction, scope: MemoryScope) -> QuerySet[MemoryItem]:
    return MemoryItem.objects.filter(scope=scope, type=asked.type, key=asked.key, narrowed_to=None)


def retraction_calls(asked: Retraction, rows: Sequence[MemoryItem]) -> list[RetractItemInput]:
    """The calls that take these versions back, each with as many as one call takes, for the same reason: cut where it is
    longer than a reviewer is shown, and in words of ours where nobody can read it."""
    reason = _legible(asked.reason, "taken back in a turn")
    ids = [row.pk for row in rows]
    batches = [ids[start : start + 1 + ALONG] for start in range(0, len(ids), 1 + ALONG)]
    return [RetractItemInput(memory_item_id=first, reason=reason, also=also) for first, *also in batches]


def denial_call(asked: Retraction, domain_id: str, scope: str, turn: Turn) -> WriteDenialInput:
    """The call that keeps a denial by itself, of what the scope knows nothing of; its reason as in `retraction_calls`."""
    scope_type, _, scope_id = scope.partition(":")
    return WriteDenialInput.model_validate(
        {
            "domain_id": domain_id,
            "scope": {"type": scope_type, "id": scope_id},
            "type": asked.type,
            "key": asked.key,
            "reason": _legible(asked.reason, f"{asked.key} does not hold"),
            "turn_id": turn.id,
        }
    )


def _legible(reason: str, otherwise: str) -> str:
    told = reason.strip()[:REASON_CHARS]
    return told if is_legible(told) else otherwise


def _as_known(asked: Retraction, scope: MemoryScope) -> Retraction:
    """An entity can be denied by any of its names: the key is then that of the entity that bears the name."""
    if asked.type != "entities":
        return asked
    _, kind, name = asked.key.split(":", 2)
    known = find_entity(scope, kind, [name])
    item = known.item if known is not None else None
    if item is None or not item.key or item.narrowed_to_id is not None:
        return asked
    return replace(asked, key=item.key)


def _take_back(row: MemoryItem, asked: Retraction, scope: MemoryScope, commit: Commit) -> None:
    if scope.scope_type in TOGETHER:
        lock_domain(scope.domain_id)  # no writer of what is read with the scope finds a conflict with it from now on
    before = row.standing
    at = row.current_until or after_all([row], commit.ctx)
    MemoryItem.objects.filter(pk=row.pk).update(status=Status.RETRACTED, current_until=at)
    row.refresh_from_db()
    commit.pending.closed[row.id] = at
    commit.pending.events.append(event_of(row, "retracted", before, commit.ctx, reason=asked.reason))
    commit.written.conflicts.append(
        WriteConflict(type="retract", key=row.key, previous_memory_item_id=row.id, memory_item_id=None)
    )
    commit.written.changes.append(
        Change(
            "memory_items",
            str(row.id),
            {"status": before},
            {"status": row.status, "reason": asked.reason},
            scopes=(scope.name,),
        )
    )
    notices.tell(row, "retracted", asked.reason, None, commit.ctx, commit.turn.session)


def _forget_facts(
    asked: Retraction, current: MemoryItem, left: dict[str, Any], scope: MemoryScope, commit: Commit
) -> None:
    """A new version of a profile without the facts that were denied."""
    candidate = Candidate(
        type=current.type,
        key=asked.key,
        value=left,
        statement=statement(current.type, left),
        confidence=current.confidence,
        lifecycle=Lifecycle(current.lifecycle_status),
        origin="structured",
        source=asked.source,
        valid_from=current.valid_from,
        valid_to=current.valid_to,
        review_by=current.review_by,
        importance=current.importance,
    )
    write(candidate, scope, commit)


def keep_denial(asked: Retraction, scope: MemoryScope, commit: Commit) -> MemoryItem:
    """Keep, as a row that is in force for nothing, that what the key names does not hold."""
    value = {"reason": asked.reason}
    item = MemoryItem.objects.create(
        domain_id=scope.domain_id,
        scope=scope,
        type=asked.type,
        key=asked.key,
        value=value,
        statement=asked.reason or f"{asked.key} does not hold",
        confidence=0.8,
        status=Status.RETRACTED,
        lifecycle_status=Lifecycle.PROMOTED,
        origin="structured",
        source_session_id=commit.source.session_id if commit.source else None,
        source_turn=commit.source,
        recorded_at=commit.ctx.now,
        current_until=commit.ctx.now,
        author_id=commit.ctx.actor.id,
        author_name=commit.ctx.actor.name,
        content_hash=content_hash(asked.type, asked.key, value),
    )
    commit.pending.events.append(event_of(item, "retracted", "", commit.ctx, reason=asked.reason))
    commit.written.items.append(view_written(item, scope, deduplicated=False))
    after = {"key": item.key, "status": item.status}
    commit.written.changes.append(Change("memory_items", str(item.id), None, after, scopes=(scope.name,)))
    return item


def task_told(update: TaskUpdate, scope: MemoryScope, commit: Commit) -> Candidate | None:
    """A known task of the scope with the status that the text told; None where that is nothing new, which is told."""
    current = MemoryItem.objects.filter(scope=scope, type="tasks", key=update.key, current_until=None).first()
    reason = "task_not_in_default_write" if current is None else ""
    if current is not None and current.value.get("status") == update.status:
        reason = "same_value"
    if current is None or reason:
        action = "deduplicate" if current is not None else "refuse"
        commit.written.lines.append(line(action, "tasks", update.key, reason, scope.name, update.source))
        return None
    return Candidate(
        type="tasks",
        key=update.key,
        value={name: told for name, told in current.value.items() if name != "statement"} | {"status": update.status},
        statement=f"{current.value.get('title') or update.key} — {update.status}",
        confidence=current.confidence,
        lifecycle=Lifecycle(current.lifecycle_status),
        origin="text:task_status",
        source=update.source,
        message=update.message,
        valid_from=current.valid_from,
        valid_to=current.valid_to,
        review_by=current.review_by,
        importance=current.importance,
    )
