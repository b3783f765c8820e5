"""What is kept with a proposal about memory, so that lists show it without asking again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from governance.contracts.presenting import ProposalFacts
from governance.hooks import FactFinder
from kernel.actions import Change
from kernel.context import Ctx
from memory.contracts import CommitTurnInput
from memory.contracts.writing import WriteMemoryItemInput
from memory.extensions.alike import alike
from memory.extensions.showing import short
from memory.models import MemoryItem
from memory.statements import complete, statement

CONFLICTS = "conflicts"
ITEMS = "memory_items"
GONE = frozenset({"retract_item", "demote", "demote_from_scope"})  # after these the item no longer holds there


@dataclass(frozen=True, slots=True)
class Words:
    """What a proposal is about, what stands and what would stand."""

    about: str
    before: str
    after: str


def of_item(action: str, verb: str) -> FactFinder:
    """Facts of a proposal that names one item: `verb` says what is to become of it."""

    def find(given: Any, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
        item = MemoryItem.objects.select_related("scope").get(pk=given.memory_item_id)
        target = getattr(given, "target_scope", None)
        said = getattr(given, "text", None) or item.statement
        where = f"{item.scope.name} → {target.name}" if target is not None else item.scope.name
        like = alike(action, given.model_dump(mode="json"), item.statement)
        gone = action in GONE
        words = Words(said, item.statement if gone or said != item.statement else "", "" if gone else said)
        return _facts(f"{verb} {where}", words, f"session:{item.source_session_id or item.author_id}", like, changes)

    return find


def of_write(given: WriteMemoryItemInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    """Facts of an item that waits by itself."""
    key = str(given.item.get("key", ""))
    said = given.statement or statement(given.type, complete(given.type, key, given.item))
    source = f"turn:{given.turn_id}" if given.turn_id else f"actor:{ctx.actor.id}"
    like = alike("write_memory_item", given.model_dump(mode="json"))
    return _facts(f"Write {given.scope.name}", _words(said, key, changes), source, like, changes)


def of_turn(given: CommitTurnInput, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
    """Facts of a whole turn that waits."""
    said = [message.content for message in given.turn_events.messages]
    told = [
        statement(item.of_type, complete(item.of_type, item.key, _plain(item)))
        for _, item in given.turn_events.items()
    ]
    words = (told or said or ["events only"])[0]
    key = next((item.key for _, item in given.turn_events.items()), "")
    source = f"session:{given.domain_id}:{given.session_id}"
    like = alike("commit_turn", given.model_dump(mode="json"))
    return _facts(f"Commit {given.session_id}", _words(words, key, changes), source, like, changes)


def _plain(item: Any) -> dict[str, Any]:
    plain: dict[str, Any] = item.model_dump(mode="json", exclude_none=True, exclude={"key", "scope_ref"})
    return plain


def _words(said: str, key: str, changes: Sequence[Change]) -> Words:
    """What a written item says, beside the one of its key that it replaces."""
    replaced = [UUID(change.id) for change in changes if change.table == ITEMS and change.before is not None]
    rows = MemoryItem.objects.filter(pk__in=replaced, key=key) if replaced and key else MemoryItem.objects.none()
    return Words(said, rows.values_list("statement", flat=True).first() or "", said)


def _facts(subject: str, words: Words, source: str, like: str, changes: Sequence[Change]) -> ProposalFacts:
    replaced = sum(1 for change in changes if change.table == ITEMS and change.before is not None)
    added = sum(1 for change in changes if change.table == ITEMS and change.before is None)
    return ProposalFacts(
        subject=f"{subject}: {short(words.about)}",
        summary=f"{added} new, {replaced} changed",
        before=words.before,
        after=words.after,
        similar_key=like,
        source_key=source,
        has_conflict=any(change.table == CONFLICTS and change.before is None for change in changes),
    )


VERBS = {
    "promote_to_scope": "Promote",
    "raise_tier": "Raise",
    "retract_item": "Retract",
    "correct_item": "Correct",
    "narrow_item": "Narrow",
    "demote": "Demote",
    "demote_from_scope": "Demote",
}
FACTS: dict[str, Callable[..., ProposalFacts]] = {
    **{action: of_item(action, verb) for action, verb in VERBS.items()},
    "write_memory_item": of_write,
    "commit_turn": of_turn,
}
