"""A store to measure: one agent that commits to one session and searches it, through the gate as any caller."""

from __future__ import annotations

from typing import Any

from governance import gate
from kernel.context import Ctx, Door
from scopes.selectors import authenticate_key

PLACE = {"domain_id": "bench", "session_id": "bench"}
SCOPES = [
    {"type": "global", "id": "default"},
    {"type": "project", "id": "p"},
    {"type": "expert", "id": "e"},
    {"type": "task", "id": "t"},
]
CONTEXT = {"scope_context": {"read": SCOPES, "write": SCOPES, "default_write": SCOPES[3]}}


class Store:
    """Counts its messages and items; every call is a whole action with its audit entry."""

    def __init__(self, domain: str = "bench", name: str = "bench") -> None:
        given = {"name": name, "domain_id": domain}
        self.place = {**PLACE, "domain_id": domain}
        made = gate.call("create_principal", given, ctx=gate.system_ctx("bench", Door.CLI)).body()
        self.identity = authenticate_key(made["api_key"])
        self.messages = 0
        self.items = 0

    def commit(self, texts: list[str]) -> None:
        """One turn with these messages."""
        messages = [{"role": "user", "content": text} for text in texts]
        self._call("commit_turn", {**PLACE, "turn_events": {"messages": messages}})
        self.messages += len(texts)

    def learn(self, texts: list[str], decisions: list[tuple[int, str]]) -> None:
        """One turn with these messages and decisions, spread over the scopes by their number."""
        events = {
            "messages": [{"role": "user", "content": text} for text in texts],
            "decisions": [
                {"key": f"decision:bench:{number}", "decision": text, "scope_ref": SCOPES[number % len(SCOPES)]}
                for number, text in decisions
            ],
        }
        self._call("commit_turn", {**PLACE, **CONTEXT, "turn_events": events})
        self.items += len(decisions)

    def learn_in(self, scope: dict[str, str], text: str, key: str, decision: str) -> None:
        """One turn with a message and a decision of one scope, in a session of that scope."""
        events = {"messages": [{"role": "user", "content": text}], "decisions": [{"key": key, "decision": decision}]}
        place = {**self.place, "session_id": scope["id"], "scope_context": {"read": [scope], "default_write": scope}}
        self._call("commit_turn", {**place, "turn_events": events})

    def compose(self, message: str) -> None:
        """One context over all scopes."""
        self._call("compose_context", {**PLACE, **CONTEXT, "user_message": message})

    def search(self, query: str) -> None:
        """One search for the first page."""
        self._call("search_memory", {**PLACE, "query": query})

    def _call(self, action: str, tree: dict[str, Any]) -> dict[str, Any]:
        ctx = Ctx(self.identity.actor, Door.PYTHON, self.identity.reach)
        return gate.call(action, tree, ctx=ctx).body()
