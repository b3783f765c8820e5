"""What is kept with a proposal about memory, so that lists show it without asking again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from governance.contracts.presenting import ProposalFacts
from governance.hooks import FactFinder
from kernel.actions import Change
from kernel.canonical import digest
from kernel.context import Ctx
from memory.compose.restate import statement as telling
from memory.contracts import CommitTurnInput
from memory.contracts.writing import WriteMemoryItemInput
from memory.extensions.showing import short
from memory.models import MemoryItem
from memory.statements import complete, statement

CONFLICTS = "conflicts"
ITEMS = "memory_items"


def of_item(verb: str) -> FactFinder:
    """Facts of a proposal that names one item: `verb` says what is to become of it."""

    def find(given: Any, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
        item = MemoryItem.objects.select_related("scope").get(pk=given.memory_item_id)
        target = getattr(given, "target_scope", None)
        said = getattr(given, "text", None) or item.statement
        where = f"{item.scope.name} → {target.name}" if target is not None else item.scope.name
        return _facts(f"{verb} {where}", said, f"session:{item.source_session_id or item.author_id}", changes)

    return find


def of_write(given: WriteMemoryItemInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    """Facts of an item that waits by itself."""
    key = str(given.item.get("key", ""))
    said = given.statement or statement(given.type, complete(given.type, key, given.item))
    source = f"turn:{given.turn_id}" if given.turn_id else f"actor:{ctx.actor.id}"
    return _facts(f"Write {given.scope.name}", said, source, changes)


def of_turn(given: CommitTurnInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    """Facts of a whole turn that waits."""
    said = [message.content for message in given.turn_events.messages]
    told = [
        statement(item.of_type, complete(item.of_type, item.key, _plain(item)))
        for _, item in given.turn_events.items()
    ]
    words = (told or said or ["events only"])[0]
    source = f"session:{given.domain_id}:{given.session_id}"
    return _facts(f"Commit {given.session_id}", words, source, changes)


def _plain(item: Any) -> dict[str, Any]:
    plain: dict[str, Any] = item.model_dump(mode="json", exclude_none=True, exclude={"key", "scope_ref"})
    return plain


def _facts(subject: str, said: str, source: str, changes: Sequence[Change]) -> ProposalFacts:
    replaced = sum(1 for change in changes if change.table == ITEMS and change.before is not None)
    added = sum(1 for change in changes if change.table == ITEMS and change.before is None)
    return ProposalFacts(
        subject=f"{subject}: {short(said)}",
        summary=f"{added} new, {replaced} changed",
        similar_key=digest(telling(said)),
        source_key=source,
        has_conflict=any(change.table == CONFLICTS and change.before is None for change in changes),
    )


FACTS: dict[str, Callable[..., ProposalFacts]] = {
    "promote_to_scope": of_item("Promote"),
    "raise_tier": of_item("Raise"),
    "retract_item": of_item("Retract"),
    "correct_item": of_item("Correct"),
    "narrow_item": of_item("Narrow"),
    "demote": of_item("Demote"),
    "demote_from_scope": of_item("Demote"),
    "write_memory_item": of_write,
    "commit_turn": of_turn,
}
