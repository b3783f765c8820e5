"""Acts on a memory that an agent learned: taken back, corrected, narrowed, demoted, and undone."""

from __future__ import annotations

from typing import Any

from governance.gate.opening import writing
from governance.models import AuditEntry
from kernel.actions import Change
from memory.models import MemoryItem
from memory.services.reversing import reverse
from tests.conftest import Player, make_agent
from tests.memory.talk import commit, context, decision, only, ref

SHOP = "project:shop"
TASK = "task:t"
WHY = {"kind": "url", "id": "https://example.org/why"}


def known(player: Player, text: str = "Use Postgres", scope: str = SHOP, session: str = "s1", **fields: Any) -> str:
    """The id of a decision that the player learned in a session, for a scope."""
    return str(only(commit(player, session, scopes=context(scope), decisions=[decision(text, **fields)]))["id"])


def retract(player: Player, item_id: str, **fields: Any) -> dict:
    """Take it back; the answer."""
    return player.do("retract_item", {"memory_item_id": item_id, "reason": "it was wrong", **fields})


def correct(player: Player, item_id: str, **fields: Any) -> dict:
    """Correct it; the answer."""
    return player.do("correct_item", {"memory_item_id": item_id, "reason": "it is otherwise", **fields})


def narrow(player: Player, item_id: str, target: str = TASK, **fields: Any) -> dict:
    """Narrow it to another scope; the answer."""
    body = {"memory_item_id": item_id, "target_scope": ref(target), "reason": "only here", **fields}
    return player.do("narrow_item", body)


def demote(player: Player, item_id: str, **fields: Any) -> dict:
    """Demote it; the answer."""
    body = {"memory_item_id": item_id, "evidence_refs": [WHY], "reason_type": "obsolete", "reason": "times changed"}
    return player.do("demote", body, **fields)


def undo(player: Player, action: str) -> None:
    """Take the last such act back."""
    entry = AuditEntry.objects.filter(action=action, outcome="allowed").latest("id")
    with writing():
        reverse(None, [Change.from_json(kept) for kept in entry.changes], player.ctx())


def reader(name: str = "colleague") -> Player:
    """Another agent of the team."""
    return make_agent(name)


def rows(*without: str) -> dict:
    """Every item but those, as it is in its table."""
    return {row["id"]: row for row in MemoryItem.objects.exclude(pk__in=without).values()}
