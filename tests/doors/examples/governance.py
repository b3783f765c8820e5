"""An example of every action of governance, and of those about what was moved in."""

from __future__ import annotations

from uuid import UUID

from governance.hooks import erasers
from tests.conftest import TEAM, Cast, a_turn
from tests.doors.examples.example import Example, in_team
from tests.doors.examples.media import a_document
from tests.doors.examples.memory import a_package, a_session, about, an_item


def queued_commit(cast: Cast) -> dict:
    rule = {"name": "globals", "actions": ["commit_turn"], "scope_types": ["global"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared by all")
    everyone = {"type": "global", "id": "all"}
    return a_turn(session_id="s2", scope_context={"read": [everyone], "default_write": everyone})


def _proposal(cast: Cast) -> dict:
    return {"id": cast.agent.do("commit_turn", queued_commit(cast))["proposal"]["id"]}


def _claimed(cast: Cast) -> dict:
    given = _proposal(cast)
    cast.reviewer.do("claim_proposal", given)
    return given


def _edited(cast: Cast) -> dict:
    given = _proposal(cast)
    tree = cast.agent.do("get_proposal", given)["input"]
    tree["turn_events"]["messages"][0]["content"] = "The default database is SQLite."
    return {**given, "input": tree, "revision": 1}


def _chosen(cast: Cast) -> dict:
    choice = {**_proposal(cast), "revision": 1}
    return {"verdict": "reject", "proposals": [choice, {**choice, "revision": 2}], "reason": "not ours"}


def _rejected(cast: Cast) -> dict:
    given = _proposal(cast)
    cast.reviewer.do("reject_proposal", {**given, "reason": "by mistake"})
    return {"proposal_id": given["id"], "reason": "it was not mine"}


def _policy_entry(cast: Cast) -> dict:
    cast.operator.do("set_policy", domain_id=TEAM, document={"retention": {"context_days": 3}}, reason="tidy")
    entries = cast.operator.do("list_audit", domain_id=TEAM, action="set_policy")["entries"]
    return {"audit_entry_id": entries[0]["id"], "reason": "too tidy"}


def _filter(cast: Cast) -> dict:
    saved = cast.reviewer.do("save_filter", name="mine", filters={"queue": "mine"})
    return {"id": saved["filter"]["id"]}


def _blind_case(cast: Cast) -> dict:
    given = _proposal(cast)
    sample = {"review": {"blind_sample": 1}}
    cast.operator.do("set_policy", domain_id=TEAM, document=sample, reason="look twice")
    cast.reviewer.do("reject_proposal", {**given, "reason": "not ours"})
    return given


def _to_erase(cast: Cast) -> dict:
    named = [{"kind": "memory", **an_item(cast)}, {"kind": "document", "id": a_document(cast)["document_id"]}]
    return {"domain_id": TEAM, "objects": named, "along": True, "reason": "依法删除", "idempotency_key": "删除-1"}


def _to_scrub(cast: Cast) -> dict:
    """What the queue is given after one memory was erased."""
    pk = an_item(cast)["id"]
    names = erasers()["memory"].names([UUID(pk)])
    given = {"domain_id": TEAM, "objects": [{"kind": "memory", "id": pk}], "reason": "law", "idempotency_key": "k"}
    return {"domain_id": TEAM, "receipt_id": cast.operator.do("erase", given)["receipt_id"], "ids": sorted(names)}


def _held(cast: Cast) -> dict:
    """A hold on one memory."""
    given = {"domain_id": TEAM, "object": {"kind": "memory", **an_item(cast)}, "reason": "a lawsuit"}
    return {"id": cast.operator.do("place_hold", given)["hold"]["id"], "reason": "it is over"}


def _audit_entry(cast: Cast) -> dict:
    cast.agent.do("commit_turn", a_turn())
    entries = cast.operator.do("list_audit", domain_id=TEAM, action="commit_turn", limit=1)["entries"]
    return {"id": entries[0]["id"]}


GOVERNANCE: dict[str, Example] = {
    "delete_filter": Example("reviewer", _filter, "agent"),
    "draft_rule": Example("reviewer", lambda cast: {**_proposal(cast), "reason": "always fine"}, "agent"),
    "expire_proposals": Example("operator", lambda cast: {}, "agent"),
    "list_blind_reviews": Example("operator", lambda cast: in_team(_blind_case(cast)), "stranger"),
    "list_filters": Example("reviewer", lambda cast: {"counts": bool(_filter(cast))}, None),
    "review_blindly": Example(
        "operator", lambda cast: {**_blind_case(cast), "verdict": "approve", "reason": "seems ours"}, "agent"
    ),
    "review_stats": Example("reviewer", lambda cast: in_team(_blind_case(cast)), "stranger"),
    "save_filter": Example(
        "reviewer", lambda cast: {"name": "urgent", "filters": {"queue": "open", "risk": "high"}}, "agent"
    ),
    "preview_call": Example("reviewer", lambda cast: {"action": "retract_item", "input": about(cast)}, "agent"),
    "preview_proposal": Example("reviewer", _proposal, "agent"),
    "review_proposal": Example("reviewer", lambda cast: {**_proposal(cast), "filters": {"queue": "open"}}, "agent"),
    "decide_proposals": Example("reviewer", _chosen, "agent"),
    "revert_change": Example("operator", _policy_entry, "agent"),
    "undo_decision": Example("reviewer", _rejected, "agent"),
    "claim_proposal": Example("reviewer", _proposal, "agent"),
    "comment_on_proposal": Example("agent", lambda cast: {**_proposal(cast), "text": "@reviewer 看看"}, "stranger"),
    "edit_and_approve": Example("reviewer", lambda cast: {**_edited(cast), "reason": "spelling"}, "agent"),
    "proposal_counts": Example("agent", lambda cast: in_team(_proposal(cast)), "stranger"),
    "recommend": Example(
        "reviewer", lambda cast: {**_proposal(cast), "verdict": "approve", "reason": "seen"}, "agent"
    ),
    "release_proposal": Example("reviewer", _claimed, "agent"),
    "request_changes": Example("reviewer", lambda cast: {**_proposal(cast), "reason": "name the project"}, "agent"),
    "revise_proposal": Example("agent", _edited, "stranger"),
    "snooze_proposal": Example("reviewer", lambda cast: {**_proposal(cast), "seen_again": 3}, "agent"),
    "agent_activity": Example("reviewer", lambda cast: {"domain_id": TEAM, "kind": "system"}, "agent"),
    "approve_proposal": Example("reviewer", _proposal, "agent"),
    "assign_reviewer": Example("operator", lambda cast: {"user": "reviewer", "domain_id": TEAM}, "agent"),
    "create_principal": Example("operator", lambda cast: {"name": "new", "domain_id": TEAM}, "agent"),
    "explain_policy": Example("reviewer", lambda cast: {"proposal_id": _proposal(cast)["id"]}, "stranger"),
    "export_audit": Example("operator", lambda cast: {"domain_id": TEAM, "action": "none_such"}, "agent"),
    "get_audit_entry": Example("operator", _audit_entry, "agent"),
    "get_policy": Example("operator", lambda cast: {"domain_id": TEAM}, "agent"),
    "get_proposal": Example("agent", _proposal, "stranger"),
    "grant_access": Example(
        "operator", lambda cast: {"name": "reader", "domain_id": TEAM, "rights": ["read", "write"]}, "agent"
    ),
    "issue_key": Example("operator", lambda cast: {"name": "reader"}, "agent"),
    "list_audit": Example("operator", lambda cast: {"domain_id": TEAM, "action": "none_such"}, "agent"),
    "list_domains": Example("agent", lambda cast: {"limit": 5}, None),
    "list_principals": Example("operator", lambda cast: {"limit": 2, "domain_id": TEAM}, "agent"),
    "list_proposals": Example("agent", lambda cast: in_team(_proposal(cast)), "stranger"),
    "list_scopes": Example("agent", lambda cast: in_team(a_session(cast)), "stranger"),
    "reject_proposal": Example("reviewer", lambda cast: {**_proposal(cast), "reason": "not yet"}, "agent"),
    "replay_policy": Example(
        "reviewer", lambda cast: {"domain_id": TEAM, "document": {"review": {"queue": []}}, "days": 7}, "agent"
    ),
    "reset_second_factor": Example("operator", lambda cast: {"user": "reviewer", "reason": "phone lost"}, "agent"),
    "revoke_key": Example("operator", lambda cast: {"key_prefix": cast.reader.key.split("_")[1]}, "agent"),
    "set_policy": Example("operator", lambda cast: {"domain_id": TEAM, "document": {}, "reason": "reset"}, "agent"),
    "unassign_reviewer": Example("operator", lambda cast: {"user": "reviewer", "domain_id": TEAM}, "agent"),
    "export_legacy": Example("operator", lambda cast: {"domain_id": TEAM, "limit": 10}, "agent"),
    "get_migration": Example("operator", lambda cast: {}, "agent"),
    "list_migrated_rows": Example("operator", lambda cast: {"outcome": "quarantined", "limit": 10}, "agent"),
    "doctor": Example("operator", lambda cast: {}, "agent"),
    "erase": Example("operator", _to_erase, "stranger"),
    "scrub_erased": Example("operator", _to_scrub, "agent"),
    "export_domain": Example("agent", lambda cast: {**in_team(a_package(cast)), "limit": 5}, "stranger"),
    "lift_hold": Example("operator", _held, "agent"),
    "list_holds": Example("reviewer", lambda cast: {**in_team(_held(cast)), "lifted": True}, "agent"),
    "list_tombstones": Example("reviewer", lambda cast: in_team(cast.operator.do("erase", _to_erase(cast))), "agent"),
    "place_hold": Example(
        "operator", lambda cast: {"domain_id": TEAM, "scope": "project:*", "reason": "诉讼"}, "agent"
    ),
    "verify_audit": Example("operator", lambda cast: {"after": 0, "limit": 10}, "agent"),
    "set_preferences": Example("reviewer", lambda cast: {"shortcuts": False, "diff": "unified"}, "agent"),
    "whoami": Example("agent", lambda cast: {}, None),
    "withdraw_proposal": Example("agent", _proposal, "stranger"),
}
