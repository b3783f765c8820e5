"""One example of every action: who may do it, with what, and who may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.conftest import TEAM, Cast, a_turn


@dataclass(frozen=True)
class Example:
    """`who` may do it with the input that `given` makes; `refused` names someone whom the gate refuses the same."""

    who: str
    given: Callable[[Cast], dict]
    refused: str | None


def queued_commit(cast: Cast) -> dict:
    rule = {"name": "globals", "actions": ["commit_turn"], "scope_types": ["global"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared by all")
    everyone = {"type": "global", "id": "all"}
    return a_turn(session_id="s2", scope_context={"read": [everyone], "default_write": everyone})


def _proposal(cast: Cast) -> dict:
    return {"id": cast.agent.do("commit_turn", queued_commit(cast))["proposal"]["id"]}


def _session(cast: Cast) -> dict:
    cast.agent.do("commit_turn", a_turn("默认数据库是 Postgres"))
    return {"domain_id": TEAM, "session_id": "s1"}


def _session_by_id(cast: Cast) -> dict:
    _session(cast)
    return {"id": cast.agent.do("list_sessions", domain_id=TEAM)["sessions"][0]["id"]}


def _in_team(made: dict) -> dict:
    """A list of what is in the team, where something was made to be listed."""
    assert made
    return {"domain_id": TEAM}


EXAMPLES: dict[str, Example] = {
    "approve_proposal": Example("reviewer", _proposal, "agent"),
    "assign_reviewer": Example("operator", lambda cast: {"user": "reviewer", "domain_id": TEAM}, "agent"),
    "commit_turn": Example("agent", lambda cast: a_turn("héllo 世界"), "stranger"),
    "create_principal": Example("operator", lambda cast: {"name": "new", "domain_id": TEAM}, "agent"),
    "get_policy": Example("operator", lambda cast: {"domain_id": TEAM}, "agent"),
    "get_proposal": Example("agent", _proposal, "stranger"),
    "get_session": Example("agent", _session_by_id, "stranger"),
    "get_turn": Example(
        "agent", lambda cast: {"turn_id": cast.agent.do("commit_turn", a_turn())["turn_id"]}, "stranger"
    ),
    "grant_access": Example(
        "operator", lambda cast: {"name": "reader", "domain_id": TEAM, "rights": ["read", "write"]}, "agent"
    ),
    "issue_key": Example("operator", lambda cast: {"name": "reader"}, "agent"),
    "list_audit": Example("operator", lambda cast: {"domain_id": TEAM, "action": "none_such"}, "agent"),
    "list_domains": Example("agent", lambda cast: {"limit": 5}, None),
    "list_principals": Example("operator", lambda cast: {"limit": 2, "domain_id": TEAM}, "agent"),
    "list_proposals": Example("agent", lambda cast: _in_team(_proposal(cast)), "stranger"),
    "list_scopes": Example("agent", lambda cast: _in_team(_session(cast)), "stranger"),
    "list_sessions": Example("agent", lambda cast: _in_team(_session(cast)), "stranger"),
    "list_turns": Example("agent", _session, "stranger"),
    "reject_proposal": Example("reviewer", lambda cast: {**_proposal(cast), "reason": "not yet"}, "agent"),
    "revoke_key": Example("operator", lambda cast: {"key_prefix": cast.reader.key.split("_")[1]}, "agent"),
    "search_memory": Example("agent", lambda cast: {**_session(cast), "query": "数据库"}, "stranger"),
    "set_policy": Example("operator", lambda cast: {"domain_id": TEAM, "document": {}, "reason": "reset"}, "agent"),
    "whoami": Example("agent", lambda cast: {}, None),
    "withdraw_proposal": Example("agent", _proposal, "stranger"),
}
