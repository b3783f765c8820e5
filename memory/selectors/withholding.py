"""Reading a recorded context as it may be told today: texts that were narrowed away from the reader since are left empty."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from uuid import UUID

from kernel.context import Ctx
from memory.contracts.compose import Withheld
from memory.models import ContextRecord, MemoryItem, Message
from memory.selectors.items import not_narrowed_away
from memory.selectors.telling import keeps_apart, told_to

Package = dict[str, Any]


def package_told(row: ContextRecord, ctx: Ctx) -> tuple[Package, list[Withheld]]:
    """The package of a context, and what of it is withheld from the actor: memories that were narrowed to a scope which it
    does not read, messages that taught them, and the summary of a conversation that others hold. Three statements at
    most; the record stays as it is."""
    package = deepcopy(row.package)
    withheld = [*_memories(package, ctx), *_messages(package, ctx), *_summary(package, row, ctx)]
    return package, withheld


def _memories(package: Package, ctx: Ctx) -> Iterator[Withheld]:
    blocks, evidence, conflicts = package["system_blocks"], package["evidence"], package.get("conflicts", [])
    named = [block["source"].get("memory_item_id") for block in blocks]
    named += [item["ref"].get("memory_item_id") for item in evidence]
    named += [conflict[side] for conflict in conflicts for side in ("a_id", "b_id")]
    ids = {UUID(each) for each in named if each}
    rows = (
        MemoryItem.objects.filter(pk__in=ids).exclude(narrowed_to=None).exclude(not_narrowed_away(ctx)) if ids else ()
    )
    hidden = {str(row.pk) for row in rows}
    for block in blocks:
        if block["source"].get("memory_item_id") in hidden:
            block["text"] = ""
            yield Withheld(id=block["source"]["memory_item_id"], slot="system_blocks")
    for item in evidence:
        if item["ref"].get("memory_item_id") in hidden:
            item |= {"snippet": "", "title": "", "covers": []}
            _unexplained(package["debug"]["why_selected"], item["id"])
            yield Withheld(id=item["ref"]["memory_item_id"], slot="evidence")
    for conflict in conflicts:
        if {conflict["a_id"], conflict["b_id"]} & hidden:
            conflict |= {"explanation": "", "condition": "", "a_statement": "", "b_statement": ""}
            yield Withheld(id=conflict["id"], slot="conflicts")

    for shadow in package["debug"]["shadowed"]:
        if {shadow["winner_id"], shadow["loser_id"]} & hidden:
            shadow["key"] = ""


def _unexplained(reasons: list[Package], evidence: str) -> None:
    """Leave out why an evidence was chosen: the words that it shares with the question."""
    for each in reasons:
        if each["id"] == evidence:
            each["reason"] = ""


def _messages(package: Package, ctx: Ctx) -> Iterator[Withheld]:
    """Messages among the evidence and the recent turns, by turn and the id under which they are shown."""
    shown = [(item["ref"], item, "snippet", "evidence") for item in package["evidence"] if _is_message(item["ref"])]
    shown += [(turn, turn, "content", "recent_turns") for turn in package["recent_turns"]]
    turns = {UUID(ref["turn_id"]) for ref, *_ in shown}
    kept = Message.objects.filter(turn__in=turns).exclude(told_to(ctx)) if turns else ()
    apart = {(str(row.turn_id), row.external_id or str(row.pk)) for row in kept}
    for ref, part, field, slot in shown:
        if (ref["turn_id"], ref["message_id"]) in apart:
            part[field] = ""
            if slot == "evidence":
                _unexplained(package["debug"]["why_selected"], part["id"])
            yield Withheld.model_validate({"id": f"{ref['turn_id']}:{ref['message_id']}", "slot": slot})


def _is_message(ref: Package) -> bool:
    return bool(ref.get("turn_id")) and bool(ref.get("message_id")) and not ref.get("memory_item_id")


def _summary(package: Package, row: ContextRecord, ctx: Ctx) -> Iterator[Withheld]:
    if not package["working_summary"] or row.session is None or row.session.scope.owner == ctx.actor.id:
        return
    if keeps_apart(row.session_id, ctx):
        package["working_summary"] = ""
        yield Withheld(id="working_summary", slot="working_summary")
