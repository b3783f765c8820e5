"""A proposal of every kind about memories of a full house, and a contradiction, to measure their pages."""

from __future__ import annotations

from typing import Any

from governance import gate
from governance.gate import system_ctx
from kernel.context import Ctx, Door
from scopes.selectors import authenticate_key

PLACE, EXPERT, TASK = ({"type": kind, "id": "atlas"} for kind in ("project", "expert", "task"))
WHY = {"kind": "url", "id": "https://example.org/why"}
ABOUT = ("retract_item", "correct_item", "narrow_item", "demote", "write_memory_item")
HELD = {"name": "kinds", "actions": list(ABOUT)}
CALLS: dict[str, dict[str, Any]] = {
    "promote_to_scope": {"target_scope": EXPERT, "verification_refs": [WHY]},
    "raise_tier": {
        "tier": "shu",
        "supporting_refs": [WHY],
        "verification_refs": [{"kind": "url", "id": "https://example.org/seen"}],
    },
    "retract_item": {},
    "correct_item": {"text": "The gateway listens on port 1", "evidence_refs": [WHY]},
    "narrow_item": {"target_scope": TASK},
    "demote": {"reason_type": "unsafe", "evidence_refs": [WHY]},
}


def propose(domain_id: str) -> tuple[dict[str, str], str]:
    """The id of a proposal of every kind, by action, and of an open conflict, in a domain whose `commit_turn` into
    projects waits by now; a policy takes the place of that one."""
    system = system_ctx("crowd", Door.CLI)
    agent = _agent("curator", domain_id)

    def hold(*rules: dict[str, Any]) -> None:
        document = {"review": {"queue": list(rules)}}
        gate.call("set_policy", {"domain_id": domain_id, "document": document, "reason": "measured"}, ctx=system)

    def commit(name: str, text: str, key: str, refs: list[dict[str, str]]) -> str:
        learned = {"key": f"decision:{name}:{key}", "decision": text, "evidence_refs": refs}
        given = {
            "domain_id": domain_id,
            "session_id": f"s-{name}",
            "scope_context": {"read": [PLACE], "default_write": PLACE},
            "turn_events": {"messages": [{"role": "user", "content": text}], "decisions": [learned]},
            "extract": False,
        }
        answer = gate.call("commit_turn", given, ctx=agent).body()
        return str(answer["memory_written"]["items"][0]["id"])

    hold()
    known = {}
    for name in CALLS:
        known[name] = commit(name, f"The port of the {name} gateway is 5432", "port", [WHY])
        commit(name, f"The {name} gateway says where it listens", "told", [{"kind": "memory", "id": known[name]}])
        commit(name, f"The port of the {name} gateway is 9999", "other", [WHY])
    conflicts = gate.call("list_conflicts", {"domain_id": domain_id, "limit": 1}, ctx=agent).body()["conflicts"]
    hold(HELD)
    found = {}
    for name, given in CALLS.items():
        about = {"memory_item_id": known[name], "reason": "it is so", **given}
        found[name] = gate.call(name, about, ctx=agent).body()["proposal"]["id"]
    item = {"key": "decision:demote:port", "decision": "The port of the demote gateway is 1", "evidence_refs": [WHY]}
    written = {"domain_id": domain_id, "scope": PLACE, "type": "decisions", "item": item}
    found["write_memory_item"] = gate.call("write_memory_item", written, ctx=agent).body()["proposal"]["id"]
    decided = {"id": conflicts[0]["id"], "outcome": "keep_b", "reason": "newer"}
    found["resolve_conflict"] = gate.call("resolve_conflict", decided, ctx=agent).body()["proposal"]["id"]
    return found, str(conflicts[0]["id"])


def _agent(name: str, domain_id: str) -> Ctx:
    given = {"name": name, "domain_id": domain_id, "rights": ["read", "write", "promote"]}
    made = gate.call("create_principal", given, ctx=system_ctx("crowd", Door.CLI)).body()
    identity = authenticate_key(made["api_key"])
    return Ctx(identity.actor, Door.PYTHON, identity.reach)
