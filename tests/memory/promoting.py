"""A memory proposed for another scope by an agent that may, and approved there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scopes.selectors import authenticate_key
from tests.conftest import TEAM, Cast, Player
from tests.memory.talk import commit, context, decision, only, ref

SHOP = "project:shop"
ALL = "global:all"
NOBODY = "01a00000-0000-7000-8000-000000000000"
WHY = {"kind": "url", "id": "https://example.org/why"}


def promoter(cast: Cast, **grants: object) -> Player:
    """The agent with the right to promote, everywhere in the team unless told otherwise."""
    given = {"name": "agent", "domain_id": TEAM, "rights": ["read", "write", "promote"], **grants}
    cast.operator.do("grant_access", given)
    return replace(cast.agent, identity=authenticate_key(cast.agent.key))


def known(player: Player, text: str = "Use Postgres", scope: str = "task:t", **fields: Any) -> str:
    """The id of a decision that the player learned for a scope."""
    return str(only(commit(player, scopes=context(scope), decisions=[decision(text, **fields)]))["id"])


def promote(player: Player, item_id: str, target: str = SHOP, **fields: Any) -> dict:
    """Ask for it in another scope, verified by an address; the answer."""
    body = {
        "memory_item_id": item_id,
        "target_scope": ref(target),
        "reason": "the team agreed",
        "verification_refs": [WHY],
        **fields,
    }
    return player.do("promote_to_scope", body)


def approve(cast: Cast, queued: dict, **fields: Any) -> dict:
    """Approve what waits; the result."""
    proposal = queued["proposal"]
    done = cast.reviewer.do("approve_proposal", id=proposal["id"], revision=proposal["revision"], **fields)
    result: dict = done["result"]
    return result


def promoted(cast: Cast, item_id: str, target: str = SHOP, **fields: Any) -> dict:
    """The result of a promotion that was approved."""
    return approve(cast, promote(promoter(cast), item_id, target, **fields))
