"""For every action of governance, and those about what was moved in, an input for each state of a row."""

from __future__ import annotations

from tests.guards.inputs.memory import acts, items
from tests.guards.world import KEY, MARK, Ids, Inputs


def _proposals(ids: Ids) -> dict[str, dict]:
    return {"queued": {"id": ids.queued}, "approved": {"id": ids.approved}, "rejected": {"id": ids.rejected}}


def _decisions(ids: Ids) -> dict[str, dict]:
    return {state: {**tree, **KEY, "reason": "because"} for state, tree in _proposals(ids).items()}


def _audits(ids: Ids) -> dict[str, dict]:
    return {
        "domain": {"domain_id": ids.domain},
        "all": {},
        "actor": {"actor": ids.principal},
        "request": {"request_id": ids.request},
        "object": {"table": "turns", "object_id": ids.turn},
    }


def _on_proposals(**fields: object) -> Inputs:
    """A call on a proposal in each of its states."""
    return lambda ids: {state: {**tree, **KEY, **fields} for state, tree in _proposals(ids).items()}


def _erasures(ids: Ids) -> dict[str, dict]:
    """Each kind of thing in each of its states."""
    named = {f"memory {state}": {"kind": "memory", "id": tree["id"]} for state, tree in items(ids).items()}
    named["session"] = {"kind": "session", "id": ids.session_uuid}
    named["document"] = {"kind": "document", "id": ids.document}
    return {
        state: {**KEY, "domain_id": ids.domain, "objects": [ref], "reason": "because"} for state, ref in named.items()
    }


def _to_hold(ids: Ids) -> dict[str, dict]:
    found = {
        state: {"domain_id": ids.domain, "object": tree["objects"][0], "reason": "because"}
        for state, tree in _erasures(ids).items()
    }
    return {**found, "scope": {"domain_id": ids.domain, "scope": f"project:{ids.project}", "reason": "because"}}


GOVERNANCE: dict[str, Inputs] = {
    "erase": _erasures,
    "scrub_erased": lambda ids: {"turn": {"domain_id": ids.domain, "receipt_id": ids.entry, "ids": [ids.turn]}},
    "export_domain": lambda ids: {"domain": {"domain_id": ids.domain, "limit": 1000}},
    "lift_hold": lambda ids: {"hold": {"id": ids.hold, "reason": "because"}},
    "list_holds": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain, "lifted": True}},
    "list_tombstones": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "place_hold": _to_hold,
    "delete_filter": lambda ids: {"filter": {**KEY, "id": ids.filter}},
    "draft_rule": _on_proposals(reason="because"),
    "expire_proposals": lambda ids: {"all": KEY},
    "list_blind_reviews": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "list_filters": lambda ids: {"all": {"counts": True}},
    "review_blindly": _on_proposals(verdict="approve", reason="because"),
    "review_stats": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "save_filter": lambda ids: {"domain": {"name": "f", "filters": {"domain_id": ids.domain}}},
    "preview_call": lambda ids: {
        state: {"action": "retract_item", "input": tree} for state, tree in acts()(ids).items()
    },
    "preview_proposal": _proposals,
    "review_proposal": _proposals,
    "decide_proposals": lambda ids: {
        state: {"verdict": "reject", "proposals": [{**tree, "revision": 1}], "reason": "because"}
        for state, tree in _proposals(ids).items()
    },
    "revert_change": lambda ids: {"entry": {**KEY, "audit_entry_id": ids.entry, "reason": "because"}},
    "undo_decision": lambda ids: {
        state: {**KEY, "proposal_id": tree["id"], "reason": "because"} for state, tree in _proposals(ids).items()
    },
    "claim_proposal": _on_proposals(),
    "comment_on_proposal": _on_proposals(text="well"),
    "edit_and_approve": _on_proposals(input={}, reason="because"),
    "proposal_counts": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "recommend": _on_proposals(verdict="approve", reason="because"),
    "release_proposal": _on_proposals(),
    "request_changes": _on_proposals(reason="because"),
    "revise_proposal": _on_proposals(input={}),
    "snooze_proposal": _on_proposals(seen_again=3),
    "agent_activity": lambda ids: {
        "domain": {"domain_id": ids.domain},
        "people": {"kind": "person"},
        "all": {},
    },
    "approve_proposal": _decisions,
    "assign_reviewer": lambda ids: {"domain": {**KEY, "user": ids.person, "domain_id": ids.domain}},
    "create_principal": lambda ids: {"domain": {"name": "newcomer", "domain_id": ids.domain}},
    "explain_policy": lambda ids: {
        "entry": {"audit_entry_id": ids.entry},
        "proposal": {"proposal_id": ids.queued},
        "question": {"what_if": {"name": ids.principal, "action": "whoami", "domain_id": ids.domain}},
    },
    "export_audit": lambda ids: {
        f"{written} {state}": {**tree, "format": written}
        for written in ("csv", "json")
        for state, tree in _audits(ids).items()
    },
    "get_audit_entry": lambda ids: {"entry": {"id": ids.entry}},
    "get_policy": lambda ids: {"domain": {"domain_id": ids.domain}, "installation": {}},
    "get_proposal": _proposals,
    "grant_access": lambda ids: {
        "domain": {**KEY, "name": ids.principal, "domain_id": ids.domain, "rights": ["read"]},
        "self": {**KEY, "name": "stranger", "domain_id": ids.domain, "rights": ["read"]},
    },
    "issue_key": lambda ids: {"principal": {"name": ids.principal}},
    "list_audit": _audits,
    "list_domains": lambda ids: {"all": {}},
    "list_principals": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "list_proposals": lambda ids: {
        "all": {},
        "domain": {"domain_id": ids.domain},
        "state": {"state": "open"},
        "queue": {"queue": "open"},
        "text": {"text": MARK},
    },
    "list_scopes": lambda ids: {
        "domain": {"domain_id": ids.domain},
        "session": {"domain_id": ids.domain, "type": "session"},
    },
    "reject_proposal": _decisions,
    "replay_policy": lambda ids: {
        "domain": {"domain_id": ids.domain, "document": {}},
        "installation": {"document": {}},
    },
    "reset_second_factor": lambda ids: {"person": {**KEY, "user": ids.person, "reason": "because"}},
    "revoke_key": lambda ids: {"key": {**KEY, "key_prefix": ids.key_prefix}},
    "set_policy": lambda ids: {
        "domain": {**KEY, "domain_id": ids.domain, "document": {}, "reason": "because"},
        "installation": {**KEY, "document": {}, "reason": "because"},
    },
    "unassign_reviewer": lambda ids: {"domain": {**KEY, "user": ids.person, "domain_id": ids.domain}},
    "verify_audit": lambda ids: {"chain": {}},
    "doctor": lambda ids: {"installation": {}},
    "export_legacy": lambda ids: {"domain": {"domain_id": ids.domain}},
    "get_migration": lambda ids: {"installation": {}},
    "list_migrated_rows": lambda ids: {"installation": {}},
    "set_preferences": lambda ids: {"own": {"shortcuts": False}},
    "whoami": lambda ids: {"me": {}},
    "withdraw_proposal": lambda ids: {state: {**tree, **KEY} for state, tree in _proposals(ids).items()},
}
