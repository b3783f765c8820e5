"""What memory tests say: scopes, turns of structured items, and what is found afterwards."""

from __future__ import annotations

from typing import Any

from memory.models import MemoryItem
from tests.conftest import TEAM, Player

VERIFIED = {"verification_refs": [{"kind": "url", "id": "https://example.org/why"}]}


def ref(name: str) -> dict[str, str]:
    """The ScopeRef of a written form, `type:id`."""
    scope_type, _, external_id = name.partition(":")
    return {"type": scope_type, "id": external_id}


def context(*read: str, write: tuple[str, ...] | None = None, default: str | None = "") -> dict[str, Any]:
    """A ScopeContext that reads these scopes; `default` left out is the first of them."""
    made: dict[str, Any] = {"read": [ref(name) for name in read]}
    if write is not None:
        made["write"] = [ref(name) for name in write]
    default = read[0] if default == "" else default
    return made | ({"default_write": ref(default)} if default else {})


def commit(player: Player, session: str = "s1", /, **given: Any) -> dict:
    """Commit a turn with these lists and, where there is something to `say`, one message of the user.

    `scopes` is the scope_context; `domain_id`, `extract` and `idempotency_key` are what the action calls them.
    """
    body: dict[str, Any] = {"domain_id": given.pop("domain_id", TEAM), "session_id": session}
    body |= {name: given.pop(name) for name in ("extract", "idempotency_key") if name in given}
    if (scopes := given.pop("scopes", None)) is not None:
        body["scope_context"] = scopes
    if say := given.pop("say", ""):
        given["messages"] = [{"role": "user", "content": say}]
    return player.do("commit_turn", body, turn_events=given)


def pref(value: Any = "concise", key: str = "pref:writing:tone", **fields: Any) -> dict:
    return {"key": key, "value": value, "confirmed": True, **fields}


def decision(text: str = "Use Postgres", key: str = "decision:shop:database", **fields: Any) -> dict:
    return {"key": key, "decision": text, **fields}


def task(title: str = "Write the parser", key: str = "task:shop:parser", **fields: Any) -> dict:
    return {"key": key, "title": title, **fields}


def entity(canonical: str = "smart_rag", kind: str = "repo", **fields: Any) -> dict:
    return {"key": f"entity:{kind}:{canonical}", "kind": kind, "canonical": canonical, **fields}


def gone(item_type: str, key: str | None, reason: str = "it was wrong", **fields: Any) -> dict:
    return {"type": item_type, "key": key, "reason": reason, **fields}


def search(player: Player, query: str, session: str = "s1", /, **fields: Any) -> list[dict]:
    """The results of a search, by default in the scope of a session."""
    rows: list[dict] = player.do(
        "search_memory", {"domain_id": TEAM, "session_id": session, "query": query, **fields}
    )["results"]
    return rows


def memories(player: Player, query: str, session: str = "s1", /, **fields: Any) -> list[str]:
    """The texts of the memories found."""
    return [row["text"] for row in search(player, query, session, kinds=["memory"], **fields)]


def compose(player: Player, message: str = "What do we know?", session: str = "s1", /, **fields: Any) -> dict:
    return player.do("compose_context", {"domain_id": TEAM, "session_id": session, "user_message": message, **fields})


def shown(package: dict) -> list[str]:
    """The texts of the evidence, in order."""
    return [item["snippet"] for item in package["evidence"]]


def lines(answer: dict) -> list[tuple[str, str]]:
    """The explanation of a commit as (action, reason)."""
    return [(line["action"], line["reason_code"]) for line in answer["explain"]["retention"]]


def item(item_id: str) -> MemoryItem:
    return MemoryItem.objects.get(pk=item_id)


def only(answer: dict) -> dict:
    """The one item that a commit wrote."""
    (written,) = answer["memory_written"]["items"]
    found: dict = written
    return found


def states(key: str | None) -> list[tuple[str, bool, int]]:
    """Every version of a key as (status, is it current, version), oldest first."""
    rows = MemoryItem.objects.filter(key=key).order_by("recorded_at", "id")
    return [(row.status, row.current_until is None, row.version) for row in rows]
