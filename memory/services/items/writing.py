"""Writing one item into its scope: a new version, the same value again, or why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from kernel.actions import Change
from kernel.compiled import Given, compiled, instances
from kernel.context import Ctx
from kernel.errors import ConflictError
from kernel.rows import insert
from memory.candidates import Candidate, line, set_apart
from memory.contracts.commit import WriteConflict, WrittenItem
from memory.contracts.items import TRUSTED, Lifecycle, Status, Tier
from memory.keys import conflict_class
from memory.models import EvidenceLink, MemoryItem, Message
from memory.profiles import with_facts_of
from memory.services.conflicts import rule_between
from memory.services.items.settling import state_of
from memory.services.items.under_way import Commit, Written, event_of
from memory.statements import content_hash
from scopes.contracts import ScopeView
from search import services as index
from search.contracts import Kind

if TYPE_CHECKING:
    from scopes.models import MemoryScope

_ATTEMPTS = 5


def write(candidate: Candidate, scope: MemoryScope, commit: Commit) -> MemoryItem | None:
    """Store a candidate in a scope by the conflict policy of its type; None where it is refused.

    Two writers of one key are settled by the database's constraint: the loser looks again.
    """
    for _ in range(_ATTEMPTS):
        try:
            with transaction.atomic():
                return _write_once(candidate, scope, commit)
        except IntegrityError:
            continue
    raise ConflictError(f"{candidate.key} is being written by others at this moment: send the commit again.")


def _write_once(candidate: Candidate, scope: MemoryScope, commit: Commit) -> MemoryItem | None:
    current = _current(candidate, scope)
    apart = set_apart(candidate, current.value) if current is not None else None
    if apart is not None:
        candidate, current = apart, _current(apart, scope)
    if current is not None and candidate.type == "profile" and _is_heard(candidate):
        candidate = _added_to(current, candidate)
    hashed = content_hash(candidate.type, candidate.key, candidate.value)
    known = current is not None and current.content_hash == hashed and not _is_other(candidate, current)
    replaced, refusal = _replaced(candidate, scope, current, known=known)
    if refusal:
        _line(commit.written, "refuse", candidate, scope, refusal)
        return None
    if current is not None and known:
        return _seen_again(candidate, current, replaced, scope, commit)
    at = after_all(replaced, commit.ctx)
    for old in replaced:
        _close(old, _status_after(old, candidate), at)
    item = _insert(candidate, scope, (hashed, at), replaced, commit)
    for old in replaced:
        _replace_by(old, item, at, scope, commit)
    _line(commit.written, "write", candidate, scope, candidate.origin.partition(":")[0])
    commit.written.items.append(view_written(item, scope, deduplicated=False))
    commit.written.changes.append(
        Change(
            "memory_items",
            str(item.id),
            None,
            {"type": item.type, "key": item.key, "sha256": hashed},
            scopes=(scope.name,),
        )
    )
    return item


def _current(candidate: Candidate, scope: MemoryScope) -> MemoryItem | None:
    return next(iter(_of_key(scope=scope.key, type=candidate.type, key=candidate.key)), None)


_COLUMNS = tuple(field.attname for field in MemoryItem._meta.concrete_fields)


@compiled(instances(MemoryItem, _COLUMNS))
def _of_key(scope: Given, type: Given, key: Given) -> QuerySet[MemoryItem, Any]:  # noqa: A002  the column's name
    return MemoryItem.objects.filter(scope_id=scope, type=type, key=key, current_until=None).values_list(*_COLUMNS)


def _is_heard(candidate: Candidate) -> bool:
    """Whether a candidate is what a text told, a part of what there is to say; anything else says all of it."""
    return candidate.origin == "model" or candidate.origin.startswith("text:")


def _added_to(current: MemoryItem, candidate: Candidate) -> Candidate:
    """What the text tells of someone as a new version of all that is known of them."""
    return replace(
        with_facts_of(candidate, current.value),
        valid_from=candidate.valid_from or current.valid_from,
        valid_to=candidate.valid_to or current.valid_to,
        review_by=candidate.review_by or current.review_by,
        importance=max(candidate.importance, current.importance),
    )


def _is_other(candidate: Candidate, current: MemoryItem) -> bool:
    """Whether the same value makes a new version: it is asked for, it ends elsewhere, or it began earlier."""
    if candidate.anew:
        return True
    if candidate.valid_to is not None and candidate.valid_to != current.valid_to:
        return True
    began, known = candidate.valid_from, current.valid_from
    return began is not None and known is not None and began < known


def _replaced(
    candidate: Candidate, scope: MemoryScope, current: MemoryItem | None, *, known: bool
) -> tuple[list[MemoryItem], str]:
    """The items that make way for the candidate, or why it cannot be written. `known`: the current one says the same."""
    replaced = [current] if current is not None and not known else []
    if candidate.supersedes is not None and (current is None or candidate.supersedes != current.id):
        named = MemoryItem.objects.filter(pk=candidate.supersedes, scope=scope).first()
        if named is None:
            return [], "supersedes_unknown"
        if named.current_until is not None:
            return [], "supersedes_not_current"
        replaced.append(named)
    if not candidate.decided and any(is_governed(old) for old in replaced):
        return [], "governed"
    weaker = candidate.lifecycle is Lifecycle.CANDIDATE
    if weaker and any(old.lifecycle_status in TRUSTED for old in replaced):
        return [], "weaker_than_current"
    return replaced, ""


def is_governed(item: MemoryItem) -> bool:
    """Whether an item is knowledge in force that only a decision may change: ordinary memory never overrides it."""
    return item.lifecycle_status in TRUSTED and (item.pinned or item.tier != Tier.NONE)


def _status_after(old: MemoryItem, candidate: Candidate) -> Status:
    """Older versions of a versioned type stay active beside the newest; anything else is superseded."""
    same_key = (old.type, old.key) == (candidate.type, candidate.key)
    return Status.ACTIVE if same_key and conflict_class(candidate.type) == "versioned" else Status.SUPERSEDED


def after_all(rows: Sequence[MemoryItem], ctx: Ctx) -> datetime:
    """The moment of the call, but never before one of the rows was recorded: a writer that waited began earlier."""
    return max([ctx.now, *(row.recorded_at for row in rows)])


def _close(old: MemoryItem, status: Status, at: datetime) -> None:
    closed = MemoryItem.objects.filter(pk=old.pk, current_until=None).update(current_until=at, status=status)
    if not closed:
        raise IntegrityError("the row was closed by another writer")


def _insert(
    candidate: Candidate,
    scope: MemoryScope,
    stamp: tuple[str, datetime],
    replaced: Sequence[MemoryItem],
    commit: Commit,
) -> MemoryItem:
    ctx, turn = commit.ctx, commit.source
    hashed, at = stamp
    message = commit.messages[candidate.message] if candidate.message is not None else None
    item = MemoryItem(
        domain_id=scope.domain_id,
        scope=scope,
        type=candidate.type,
        key=candidate.key,
        value=candidate.value,
        statement=candidate.statement,
        confidence=candidate.confidence,
        status=Status.ACTIVE,
        lifecycle_status=candidate.lifecycle,
        importance=candidate.importance,
        origin=candidate.origin,
        source_session_id=turn.session_id if turn else None,
        source_turn=turn,
        source_message=message,
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        recorded_at=at,
        review_by=candidate.review_by,
        author_id=ctx.actor.id,
        author_name=ctx.actor.name,
        version=max((old.version for old in replaced if old.key == candidate.key), default=0) + 1,
        content_hash=hashed,
        **candidate.columns,
    )
    insert([item])
    commit.pending.events.append(event_of(item, "created", "", ctx))
    commit.pending.evidence.extend(_evidence(item, candidate, message, commit))
    said_at = message.created_at if message else commit.messages[0].created_at if commit.messages else ctx.now
    commit.pending.items[item.id] = (item, item.valid_from or said_at)
    commit.pending.staged |= item.type == "decisions" or (item.type == "tasks" and item.value.get("status") == "done")
    return item


def _evidence(item: MemoryItem, candidate: Candidate, message: Message | None, commit: Commit) -> list[EvidenceLink]:
    origin = [("message", str(message.id))] if message else [("turn", str(commit.source.id))] if commit.source else []
    return _links(item, dict.fromkeys([*origin, *((ref.kind, ref.id) for ref in candidate.evidence)]), commit)


def _links(item: MemoryItem, wanted: Iterable[tuple[str, str]], commit: Commit) -> list[EvidenceLink]:
    own = {row.external_id: str(row.id) for row in commit.messages if row.external_id}
    stored = dict.fromkeys((kind, own.get(ref, ref) if kind == "message" else ref) for kind, ref in wanted)
    return [
        EvidenceLink(
            domain_id=item.domain_id,
            item=item,
            kind=kind,
            ref=ref,
            role="supporting",
            created_at=commit.ctx.now,
        )
        for kind, ref in stored
    ]


def _replace_by(old: MemoryItem, item: MemoryItem, at: datetime, scope: MemoryScope, commit: Commit) -> None:
    before = old.standing
    MemoryItem.objects.filter(pk=old.pk).update(successor=item)
    old.refresh_from_db()
    commit.pending.events.append(event_of(old, "superseded", before, commit.ctx, reason=f"replaced by {item.id}"))
    commit.pending.closed[old.id] = at
    kind: Literal["overwrite", "version"] = "overwrite" if old.status == Status.SUPERSEDED else "version"
    commit.written.conflicts.append(
        WriteConflict(
            type=kind,
            key=old.key,
            previous_memory_item_id=old.id,
            memory_item_id=item.id,
            rule=rule_between(old, item),
        )
    )
    commit.written.changes.append(
        Change(
            "memory_items",
            str(old.id),
            {"status": before},
            {"status": old.status, "successor": str(item.id)},
            scopes=(scope.name,),
        )
    )


def _seen_again(
    candidate: Candidate, current: MemoryItem, replaced: Sequence[MemoryItem], scope: MemoryScope, commit: Commit
) -> MemoryItem:
    """The same value again: no new item, but what is said beside the value is not lost."""
    reason = "same_value"
    if current.lifecycle_status == Lifecycle.CANDIDATE and candidate.lifecycle in TRUSTED:
        _promote(candidate, current, scope, commit)
        reason = "asserted_again"
    at = after_all([current, *replaced], commit.ctx)
    for old in replaced:
        _close(old, _status_after(old, candidate), at)
        _replace_by(old, current, at, scope, commit)
    if candidate.review_by is not None and candidate.review_by != current.review_by:
        before = current.review_by.isoformat() if current.review_by else None
        _update(current, "review_by", candidate.review_by, commit)
        after = {"review_by": candidate.review_by.isoformat()}
        commit.written.changes.append(
            Change("memory_items", str(current.id), {"review_by": before}, after, scopes=(scope.name,))
        )
    wanted = dict.fromkeys((ref.kind, ref.id) for ref in candidate.evidence)
    commit.pending.evidence.extend(_links(current, wanted, commit))
    _line(commit.written, "deduplicate", candidate, scope, reason)
    commit.written.items.append(view_written(current, scope, deduplicated=True))
    return current


def _promote(candidate: Candidate, current: MemoryItem, scope: MemoryScope, commit: Commit) -> None:
    """What was only inferred becomes trusted, since the user or a tool now asserts it."""
    before, trust = current.standing, current.confidence
    _update(current, "confidence", max(current.confidence, candidate.confidence), commit)
    _update(current, "lifecycle_status", candidate.lifecycle, commit)
    commit.pending.events.append(event_of(current, "promoted", before, commit.ctx, reason="asserted again"))
    index.set_state(Kind.MEMORY, [current.id], state_of(current))
    commit.pending.trusted.append(current)
    commit.written.changes.append(
        Change(
            "memory_items",
            str(current.id),
            {"status": before, "confidence": trust},
            {"lifecycle": current.lifecycle_status, "confidence": current.confidence},
            scopes=(scope.name,),
        )
    )


def _update(item: MemoryItem, column: str, value: Any, commit: Commit) -> None:
    """Change one column of a row, and of the same row where it waits to be indexed."""
    MemoryItem.objects.filter(pk=item.pk).update(**{column: value})
    item.refresh_from_db()
    if item.pk in commit.pending.items:
        commit.pending.items[item.pk] = (item, commit.pending.items[item.pk][1])


def _line(written: Written, action: str, candidate: Candidate, scope: MemoryScope, reason: str) -> None:
    written.lines.append(line(action, candidate.type, candidate.key, reason, scope.name, candidate.source))


def view_written(item: MemoryItem, scope: MemoryScope, *, deduplicated: bool) -> WrittenItem:
    """An item as the commit answers it."""
    return WrittenItem(
        id=item.id,
        type=item.type,
        key=item.key,
        status=Status(item.status),
        lifecycle_status=Lifecycle(item.lifecycle_status),
        confidence=item.confidence,
        scope=ScopeView(type=scope.scope_type, id=scope.external_id),
        deduplicated=deduplicated,
    )
