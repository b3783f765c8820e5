"""A store to measure: one agent that commits to one session and searches it, through the gate as any caller."""

from __future__ import annotations

from typing import Any

from governance import gate
from kernel.context import Ctx, Door
from scopes.selectors import authenticate_key

PLACE = {"domain_id": "bench", "session_id": "bench"}


class Store:
    """Counts its messages; every call is a whole action with its audit entry."""

    def __init__(self) -> None:
        given = {"name": "bench", "domain_id": "bench"}
        made = gate.call("create_principal", given, ctx=gate.system_ctx("bench", Door.CLI)).body()
        self.identity = authenticate_key(made["api_key"])
        self.messages = 0

    def commit(self, texts: list[str]) -> None:
        """One turn with these messages."""
        messages = [{"role": "user", "content": text} for text in texts]
        self._call("commit_turn", {**PLACE, "turn_events": {"messages": messages}})
        self.messages += len(texts)

    def search(self, query: str) -> None:
        """One search for the first page."""
        self._call("search_memory", {**PLACE, "query": query})

    def _call(self, action: str, tree: dict[str, Any]) -> dict[str, Any]:
        ctx = Ctx(self.identity.actor, Door.PYTHON, self.identity.reach)
        return gate.call(action, tree, ctx=ctx).body()
