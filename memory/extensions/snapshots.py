"""Recorded contexts composed again, so that a reviewer sees what they would have said before and after a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from governance.contracts.presenting import Snapshot
from governance.policies import Policies, ScopesPolicy, in_force
from kernel.actions import Change
from kernel.context import Actor, ActorKind, Ctx
from kernel.errors import DomainError
from memory.compose.policy import RetrievalPolicy
from memory.contracts.compose import ComposeContextInput, ComposeContextResult
from memory.extensions.showing import TABLE, short
from memory.models import ContextRecord, ContextShown, MemoryItem
from memory.selectors.composing import compose
from memory.selectors.contexts import visible_contexts
from scopes.selectors import identify_again, resolve

MAX_CONTEXTS = 20


def contexts_now(changes: Sequence[Change], ctx: Ctx) -> list[Snapshot]:
    """The newest visible contexts that showed a row which changes, composed again for who asked then.

    Documents are left out: nothing is fetched while a transaction is open.
    """
    records = ContextShown.objects.filter(object_id__in=_shown_before(changes)).values("record")
    rows = visible_contexts(ctx).filter(pk__in=records).select_related("session").order_by("-id")[:MAX_CONTEXTS]
    return [taken for row in rows for taken in [_again(row, ctx)] if taken is not None]


def _shown_before(changes: Sequence[Change]) -> list[UUID]:
    """The rows that were there before, and those that new ones are made from: the same however often it is tried."""
    known = [UUID(change.id) for change in changes if change.table == TABLE and change.before is not None]
    sources = [
        UUID(change.after["source_item_id"])
        for change in changes
        if change.table == "knowledge_events" and change.after and change.after.get("source_item_id")
    ]
    return [*known, *MemoryItem.objects.filter(pk__in=sources).values_list("pk", flat=True)]


def _again(row: ContextRecord, ctx: Ctx) -> Snapshot | None:
    identity = identify_again(Actor(_kind(row.actor_id), row.actor_id, row.actor_name))
    asker = replace(ctx, actor=identity.actor, reach=identity.reach, approval=None, memo={})
    policies = _without_documents(in_force(row.domain_id, ctx))
    asker.memo["policies", row.domain_id] = policies
    given = _asked(row)
    try:
        place = resolve(given, asker, policies.section(ScopesPolicy).allowed_types)
        package = compose(given, place, asker)
    except DomainError:
        return None  # who asked then may not ask this any more, so nothing changes for them
    title = f"{row.actor_name}: {short(given.user_message)}"
    return Snapshot(kind="context", id=str(row.id), title=title, lines=list(_lines(package)))


def _kind(actor_id: str) -> ActorKind:
    if actor_id.startswith("user:"):
        return ActorKind.PERSON
    return ActorKind.SYSTEM if actor_id.startswith("system:") else ActorKind.AGENT


def _without_documents(policies: Policies) -> Policies:
    own = policies.section(RetrievalPolicy).model_copy(update={"enable_resource_retrieval": False})
    return replace(policies, sections={**policies.sections, RetrievalPolicy.section: own})


def _asked(row: ContextRecord) -> ComposeContextInput:
    read: list[dict[str, Any]] = [dict(scope) for scope in row.package["debug"]["scopes_read"]]
    return ComposeContextInput.model_validate(
        {
            "domain_id": row.domain_id,
            "session_id": row.package["session_id"],
            "scope_context": {"read": read} if read else None,
            "user_message": row.package["user_message"]["content"],
        }
    )


def _lines(package: ComposeContextResult) -> Iterator[str]:
    yield from (f"[{block.type}] {block.text}" for block in package.system_blocks)
    yield from (f"[summary] {line}" for line in package.working_summary.splitlines() if line.strip())
    yield from (f"[{item.kind}] {item.snippet}" for item in package.evidence)
