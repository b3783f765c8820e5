"""Adding a memory that others make way for: what was in force comes back as a new version, and a merge is a new one.

Nothing is erased and no past is rewritten. Taking a call back and taking a decision on a conflict back both go here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from kernel.actions import Change
from kernel.context import Ctx
from kernel.errors import DomainError
from memory.contracts.items import Status
from memory.models import EvidenceLink, MemoryItem
from memory.services import notices
from memory.services.graph import name_again
from memory.services.hiding import require_unhidden
from memory.services.items import Commit, Pending, Written, after_all, event_of, settle

# What a new row takes over from the row whose place it takes.
KEPT = (
    "domain_id", "scope_id", "type", "key", "value", "statement", "confidence", "lifecycle_status", "memory_kind", "tier",
    "field", "audience", "importance", "pinned", "origin", "source_session_id", "source_turn_id", "source_message_id",
    "source_item_id", "promotion_event", "valid_from", "valid_to", "review_by", "author_id", "author_name", "content_hash",
)  # fmt: skip


def bring_back(
    old: MemoryItem, replaced: Sequence[MemoryItem], refusal: DomainError, ctx: Ctx, reason: str = ""
) -> tuple[MemoryItem, list[Change]]:
    """What a memory said, in force again as a new version with the same evidence, in place of `replaced`, which have
    left. Raises `refusal` where its key has another value by now, ConflictError where it was narrowed away since."""
    require_unhidden(old)
    fields = {name: getattr(old, name) for name in KEPT}
    said = old.source_message.created_at if old.source_message else old.recorded_at
    evidence = old.evidence.order_by("id").values_list("kind", "ref", "role")
    row, changes = append(fields, [old, *replaced], ("restored", reason), evidence, refusal, ctx, said)
    gone = Q(pk=old.pk) | Q(pk__in=[each.pk for each in replaced if each.key == old.key])
    MemoryItem.objects.filter(gone, scope_id=old.scope_id).update(successor=row)
    notices.withdraw(old)
    return row, changes


def append(  # noqa: PLR0913  one row with all that comes with it
    fields: dict[str, Any],
    made_of: Sequence[MemoryItem],
    told: tuple[str, str],
    evidence: Iterable[tuple[str, str, str]],
    refusal: DomainError,
    ctx: Ctx,
    said: datetime | None = None,
) -> tuple[MemoryItem, list[Change]]:
    """Store a memory in force with its history (`told`: kind of event and reason), evidence (kind, ref, role), index
    text and conflicts, and the names by which an entity is found. `made_of` are rows that it follows in time, the first
    the one that it says the same as or comes after. Raises `refusal` where its place is taken, ConflictError where a
    name of an entity is."""
    first = made_of[0]
    newest = MemoryItem.objects.filter(scope_id=first.scope_id, type=first.type, key=first.key).order_by("-version")
    version = max([newest.values_list("version", flat=True).first() or 0, *(each.version for each in made_of)]) + 1
    try:
        with transaction.atomic():
            row = MemoryItem.objects.create(
                **fields, status=Status.ACTIVE, recorded_at=after_all(made_of, ctx), version=version
            )
    except IntegrityError as exc:
        raise refusal from exc
    name_again(row)
    commit = Commit(row.source_turn, [], ctx, Written(), Pending())
    commit.pending.items[row.id] = (row, row.valid_from or said or row.recorded_at)
    event = event_of(row, told[0], "", ctx, reason=told[1])
    if told[0] == "restored":
        event.metadata = {"item_id": str(first.id)}
    commit.pending.events.append(event)
    commit.pending.evidence += [
        EvidenceLink(domain_id=row.domain_id, item=row, kind=kind, ref=ref, role=role, created_at=ctx.now)
        for kind, ref, role in dict.fromkeys(evidence)
    ]
    settle(commit)
    made = "restores" if told[0] == "restored" else "from"
    after = {"type": row.type, "key": row.key, "sha256": row.content_hash, made: str(first.id)}
    added = Change("memory_items", str(row.id), None, after, scopes=(row.scope.name,))
    return row, [added, *commit.written.changes]
