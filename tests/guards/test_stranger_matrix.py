"""Every action, every principal, every row state: a stranger reads nothing, learns nothing and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from governance.models import AuditEntry
from kernel.actions import all_actions
from kernel.errors import DomainError, UnauthenticatedError
from scopes.selectors import authenticate_key
from tests.conftest import Player
from tests.guards.world import (
    DOMAIN,
    MARK,
    OTHER,
    PROJECT,
    QUESTION,
    RECORDS,
    UUID,
    Ids,
    Inputs,
    World,
    build,
    context,
    stored,
    turn,
)
from tests.media.shelf import a_plan
from tests.shared import shared

pytestmark = pytest.mark.django_db
KEY = {"idempotency_key": "k"}


def _proposals(ids: Ids) -> dict[str, dict]:
    return {"queued": {"id": ids.queued}, "approved": {"id": ids.approved}, "rejected": {"id": ids.rejected}}


def _decisions(ids: Ids) -> dict[str, dict]:
    return {state: {**tree, **KEY, "reason": "because"} for state, tree in _proposals(ids).items()}


def _places(ids: Ids) -> dict[str, dict]:
    """Each row state by which a scoped call can name what is the team's."""
    project = f"project:{ids.project}"
    return {
        "session": {"domain_id": ids.domain, "session_id": ids.session},
        "session scope": {"domain_id": ids.domain, "session_id": "mine", **context(f"session:{ids.session}")},
        "project": {"domain_id": ids.domain, "session_id": "mine", **context(project, write=project)},
        "task": {"domain_id": ids.domain, "session_id": "mine", **context("task:t", write="task:t")},
    }


def _searches(ids: Ids) -> dict[str, dict]:
    """Every kind and mode in every place."""
    everything = {"query": MARK, "kinds": ["memory", "message", "section", "card"], "history": True}
    found = {name: {**tree, **everything} for name, tree in _places(ids).items()}
    for mode in ("exact", "relational", "semantic"):
        found |= {f"{name} {mode}": {**tree, **everything, "mode": mode} for name, tree in _places(ids).items()}
    return found


def _retrieves(ids: Ids) -> dict[str, dict]:
    """A plan in every place but the task, to which nothing is shared, and one with its place inside."""
    plan = a_plan("What of Planboard?")
    found = {name: {**tree, "plan": plan} for name, tree in _places(ids).items() if name != "task"}
    inside = {**plan, **context(f"project:{ids.project}"), "domain_id": ids.domain}
    return {**found, "plan of project": inside}


def _composes(ids: Ids) -> dict[str, dict]:
    question = {"user_message": QUESTION, "render": True}
    return {name: {**tree, **question} for name, tree in _places(ids).items()}


def _items(ids: Ids) -> dict[str, dict]:
    return {
        "session": {"id": ids.item},
        "project": {"id": ids.project_item},
        "replaced": {"id": ids.old_item},
        "retracted": {"id": ids.retracted_item},
    }


def _writes(ids: Ids) -> dict[str, dict]:
    """An item for a scope of the team, by itself and as if learned from a turn of the team."""
    goal = {"domain_id": ids.domain, "type": "goals", "item": {"key": "goal:a:b"}, **KEY}
    project = {**goal, "scope": {"type": "project", "id": ids.project}}
    return {
        "project": project,
        "turn": {**project, "turn_id": ids.turn},
        "task": {**goal, "scope": {"type": "task", "id": "t"}},
    }


def _acts(**fields: object) -> Inputs:
    """An act on an item in each of its states."""

    def inputs(ids: Ids) -> dict[str, dict]:
        given = {**KEY, "reason": "because", **fields}
        return {state: {"memory_item_id": tree["id"], **given} for state, tree in _items(ids).items()}

    return inputs


WHY = [{"kind": "url", "id": "https://example.org/why"}]


def _item_lists(ids: Ids) -> dict[str, dict]:
    domain = {"domain_id": ids.domain, "history": True}
    return {
        "domain": domain,
        "project": {**domain, "scope": {"type": "project", "id": ids.project}},
        "session": {**domain, "scope": {"type": "session", "id": ids.session}},
        "key": {**domain, "key": f"goal:{MARK}:g"},
        "retracted": {**domain, "status": "retracted"},
    }


def _conflict_lists(ids: Ids) -> dict[str, dict]:
    domain = {"domain_id": ids.domain, "state": None}
    return {
        "domain": domain,
        "session": {**domain, "scope": {"type": "session", "id": ids.session}},
        "item": {**domain, "memory_item_id": ids.disputed_item},
    }


def _conflicts(ids: Ids) -> dict[str, dict]:
    return {"session": {"id": ids.conflict}, "project": {"id": ids.project_conflict}}


def _of_shadows(place: dict) -> dict:
    """A place as the inspector takes it: it reads, so it needs no conversation beside its scopes."""
    return {name: value for name, value in place.items() if name != "session_id" or "scope_context" not in place}


def _turns(ids: Ids) -> dict[str, dict]:
    return {"session": {"turn_id": ids.turn}, "project": {"turn_id": ids.project_turn}}


def _jobs(ids: Ids) -> dict[str, dict]:
    return {"own": {"id": ids.job}, "project": {"id": ids.project_job}}


def _job_lists(ids: Ids) -> dict[str, dict]:
    return {"domain": {"domain_id": ids.domain}, "all": {}}


def _commits(ids: Ids) -> dict[str, dict]:
    events = turn(ids, "hello")["turn_events"]
    return {name: {**tree, **KEY, "turn_events": events} for name, tree in _places(ids).items()}


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


def _imports(ids: Ids) -> dict[str, dict]:
    """An import into a scope of the team, of text and of what the team uploaded."""
    project = {"domain_id": ids.domain, "scopes": [{"type": "project", "id": ids.project}], **KEY}
    return {
        "text": {**project, "options": {"text": "words", "source_uri": f"https://example.org/{MARK}"}},
        "upload": {**project, "source": f"upload:{ids.document}"},
    }


def _documents(**fields: object) -> Inputs:
    return lambda ids: {"project": {"document_id": ids.document, **fields}}


def _shares(ids: Ids) -> dict[str, dict]:
    scopes = {"project": {"type": "project", "id": ids.project}, "task": {"type": "task", "id": "t"}}
    return {state: {**KEY, "document_id": ids.document, "scope": scope} for state, scope in scopes.items()}


def _topics(**fields: object) -> Inputs:
    return lambda ids: {"topic": {"topic_id": ids.topic, **fields}}


def _gathered(ids: Ids) -> dict[str, dict]:
    return {"topic": {**KEY, "topic_id": ids.topic, "document_id": ids.document}}


def _erasures(ids: Ids) -> dict[str, dict]:
    """Each kind of thing in each of its states."""
    named = {f"memory {state}": {"kind": "memory", "id": tree["id"]} for state, tree in _items(ids).items()}
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


INPUTS: dict[str, Inputs] = {
    "erase": _erasures,
    "scrub_erased": lambda ids: {"turn": {"domain_id": ids.domain, "receipt_id": ids.entry, "ids": [ids.turn]}},
    "export_domain": lambda ids: {"domain": {"domain_id": ids.domain, "limit": 1000}},
    "lift_hold": lambda ids: {"hold": {"id": ids.hold, "reason": "because"}},
    "list_holds": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain, "lifted": True}},
    "list_tombstones": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "place_hold": _to_hold,
    "add_document_to_topic": _gathered,
    "create_topic": lambda ids: {
        "document": {**KEY, "domain_id": ids.domain, "title": "mine", "document_ids": [ids.document]}
    },
    "delete_topic": _topics(**KEY),
    "get_topic": _topics(),
    "get_topic_recommendations": _topics(),
    "list_tags": lambda ids: {"domain": {"domain_id": ids.domain}},
    "list_topics": lambda ids: {"domain": {"domain_id": ids.domain}},
    "delete_tag": lambda ids: {"tag": {**KEY, "tag_id": ids.tag}},
    "move_tag": lambda ids: {"tag": {**KEY, "tag_id": ids.tag}},
    "remove_document_from_topic": _gathered,
    "tag_sections": _documents(**KEY, tags=["mine"]),
    "update_topic": _topics(**KEY, title="mine"),
    "add_audio": _imports,
    "add_document": _imports,
    "add_image": _imports,
    "add_media": _imports,
    "add_video": _imports,
    "get_document": lambda ids: {"document": {"document_id": ids.document}},
    "get_document_file": lambda ids: {"document": {"document_id": ids.document}},
    "list_documents": lambda ids: {"domain": {"domain_id": ids.domain}},
    "remove_document": _documents(**KEY, reason="because"),
    "share_document": _shares,
    "unshare_document": _shares,
    "delete_filter": lambda ids: {"filter": {**KEY, "id": ids.filter}},
    "draft_rule": _on_proposals(reason="because"),
    "expire_proposals": lambda ids: {"all": KEY},
    "list_blind_reviews": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "list_filters": lambda ids: {"all": {"counts": True}},
    "review_blindly": _on_proposals(verdict="approve", reason="because"),
    "review_stats": lambda ids: {"all": {}, "domain": {"domain_id": ids.domain}},
    "save_filter": lambda ids: {"domain": {"name": "f", "filters": {"domain_id": ids.domain}}},
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
    "commit_turn": _commits,
    "compose_context": _composes,
    "correct_item": _acts(text="otherwise"),
    "create_principal": lambda ids: {"domain": {"name": "newcomer", "domain_id": ids.domain}},
    "demote": _acts(evidence_refs=WHY, reason_type="unsafe"),
    "demote_from_scope": _acts(evidence_refs=WHY),
    "diagnostics": lambda ids: {"domain": {"domain_id": ids.domain}},
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
    "enqueue_media": lambda ids: {
        state: {**tree, "operation": "add_document"} for state, tree in _imports(ids).items()
    },
    "run_media_job": lambda ids: {
        state: {**tree, "lease_token": "019abcde-0000-4000-8000-000000000000"} for state, tree in _jobs(ids).items()
    },
    "upload_media": lambda ids: {"domain": {"domain_id": ids.domain, "name": "plan.md", "data": "no base64"}},
    "acknowledge_media_job": _jobs,
    "cancel_media_job": _jobs,
    "get_media_job": _jobs,
    "list_media_jobs": _job_lists,
    "media_job_stats": _job_lists,
    "prune_media_jobs": lambda ids: {"all": {"days": 0}},
    "recover_media_jobs": lambda ids: {"all": {}},
    "retry_media_job": _jobs,
    "retry_media_jobs": lambda ids: {**_job_lists(ids), "named": {"ids": [ids.job]}},
    "extract_turn": lambda ids: {state: {**tree, **KEY} for state, tree in _turns(ids).items()},
    "get_audit_entry": lambda ids: {"entry": {"id": ids.entry}},
    "get_conflict": _conflicts,
    "get_context": lambda ids: {"session": {"id": ids.context}, "project": {"id": ids.project_context}},
    "get_memory_item": _items,
    "get_policy": lambda ids: {"domain": {"domain_id": ids.domain}, "installation": {}},
    "get_proposal": _proposals,
    "get_session": lambda ids: {"session": {"id": ids.session_uuid}, "project": {"id": ids.project_session_uuid}},
    "get_turn": _turns,
    "grant_access": lambda ids: {
        "domain": {**KEY, "name": ids.principal, "domain_id": ids.domain, "rights": ["read"]},
        "self": {**KEY, "name": "stranger", "domain_id": ids.domain, "rights": ["read"]},
    },
    "inspect_shadows": lambda ids: {
        name: {**_of_shadows(tree), "key": f"goal:{MARK}:g"} for name, tree in _places(ids).items()
    },
    "issue_key": lambda ids: {"principal": {"name": ids.principal}},
    "lineage": lambda ids: {state: {"memory_item_id": tree["id"]} for state, tree in _items(ids).items()},
    "list_audit": _audits,
    "list_conflicts": _conflict_lists,
    "list_domains": lambda ids: {"all": {}},
    "list_extractions": lambda ids: {
        "domain": {"domain_id": ids.domain},
        "failed": {"domain_id": ids.domain, "state": "failed"},
    },
    "list_memory_items": _item_lists,
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
    "list_sessions": lambda ids: {"domain": {"domain_id": ids.domain}},
    "list_turns": lambda ids: {"session": {"domain_id": ids.domain, "session_id": ids.session}},
    "narrow_item": _acts(target_scope={"type": "task", "id": "t"}),
    "promote_to_scope": _acts(target_scope={"type": "task", "id": "t"}, verification_refs=WHY),
    "raise_tier": _acts(tier="qi", supporting_refs=WHY, verification_refs=WHY),
    "rebuild_index": lambda ids: {"domain": {"domain_id": ids.domain}},
    "reject_proposal": _decisions,
    "replay_policy": lambda ids: {
        "domain": {"domain_id": ids.domain, "document": {}},
        "installation": {"document": {}},
    },
    "reopen_conflict": lambda ids: {
        state: {**tree, **KEY, "reason": "because"} for state, tree in _conflicts(ids).items()
    },
    "resolve_conflict": lambda ids: {
        state: {**tree, **KEY, "reason": "because", "outcome": "not_a_conflict"}
        for state, tree in _conflicts(ids).items()
    },
    "retract_item": _acts(also=[]),
    "reset_second_factor": lambda ids: {"person": {**KEY, "user": ids.person, "reason": "because"}},
    "retrieve": _retrieves,
    "revoke_key": lambda ids: {"key": {**KEY, "key_prefix": ids.key_prefix}},
    "search_memory": _searches,
    "set_policy": lambda ids: {
        "domain": {**KEY, "domain_id": ids.domain, "document": {}, "reason": "because"},
        "installation": {**KEY, "document": {}, "reason": "because"},
    },
    "unassign_reviewer": lambda ids: {"domain": {**KEY, "user": ids.person, "domain_id": ids.domain}},
    "verify_audit": lambda ids: {"chain": {}},
    "check_media": lambda ids: {"store": {}},
    "doctor": lambda ids: {"installation": {}},
    "export_legacy": lambda ids: {"domain": {"domain_id": ids.domain}},
    "get_migration": lambda ids: {"installation": {}},
    "list_migrated_rows": lambda ids: {"installation": {}},
    "garbage_collect_media_objects": lambda ids: {"store": {}},
    "set_preferences": lambda ids: {"own": {"shortcuts": False}},
    "whoami": lambda ids: {"me": {}},
    "withdraw_proposal": lambda ids: {state: {**tree, **KEY} for state, tree in _proposals(ids).items()},
    "write_memory_item": _writes,
}

COUNTS = {"media_job_stats", "proposal_counts", "review_stats"}  # numbers of what the caller may see: none
ONE_BY_ONE = {"decide_proposals", "retry_media_jobs"}  # answer with what became of each: not found
OWN = {"save_filter", "set_preferences", "upload_media", "whoami"}  # what one chooses or brings for oneself
MAY_ANSWER = (
    COUNTS
    | ONE_BY_ONE
    | {
        "agent_activity",
        "export_audit",
        "list_audit",
        "list_blind_reviews",
        "list_domains",
        "list_filters",
        "list_holds",
        "list_tombstones",
        "list_media_jobs",
        "list_proposals",
        "set_preferences",
        "whoami",
    }
)  # with what is the caller's own
OF_THE_INSTALLATION = {
    "check_media", "doctor", "get_migration", "list_migrated_rows",
    "expire_proposals", "garbage_collect_media_objects", "prune_media_jobs", "recover_media_jobs",
    "create_principal", "issue_key", "revoke_key", "list_principals", "get_policy", "replay_policy", "reset_second_factor",
    "set_policy",
    "verify_audit",
}  # fmt: skip
AT_ODDS = {"get_conflict", "inspect_shadows", "list_conflicts"}
READER_SEES = COUNTS | AT_ODDS | {
    "list_blind_reviews", "list_filters",
    "compose_context", "diagnostics", "export_domain", "get_memory_item", "get_session", "get_turn", "lineage",
    "get_document", "get_document_file", "get_topic", "get_topic_recommendations", "list_documents", "list_tags", "list_topics",
    "list_domains", "list_extractions", "list_media_jobs", "list_memory_items", "list_proposals", "list_scopes",
    "list_sessions", "list_turns", "retrieve", "retry_media_jobs", "search_memory", "whoami",
}  # fmt: skip
SHOWS_CONTENT = READER_SEES - COUNTS - {
    "list_blind_reviews",
    "list_domains",
    "list_filters",
    "list_proposals",
    "retry_media_jobs",
    "whoami",
} | {"get_context", "get_media_job"}
READER_KNOWS_NOTHING_OF = {
    "acknowledge_media_job", "cancel_media_job", "get_media_job", "retry_media_job", "run_media_job",
    "lift_hold",
    "approve_proposal", "claim_proposal", "comment_on_proposal", "delete_filter", "draft_rule", "edit_and_approve",
    "explain_policy", "get_audit_entry", "get_context", "get_proposal", "preview_proposal", "recommend",
    "reject_proposal", "release_proposal", "request_changes", "revert_change", "review_blindly", "review_proposal",
    "revise_proposal", "snooze_proposal", "undo_decision", "withdraw_proposal",
}  # fmt: skip


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with shared(build, django_db_blocker) as built:
        yield built


def ask(player: Player, action: str, tree: dict) -> tuple[int, str, str]:
    """Status, code and the whole answer as text."""
    try:
        answer = player.call(action, tree)
    except DomainError as exc:
        return exc.status, exc.code, json.dumps(exc.problem("r"), ensure_ascii=False)
    return answer.status, "", json.dumps(answer.body(), ensure_ascii=False)


def without(text: str, tree: object) -> str:
    """The text without what the caller said itself."""
    for said in sorted(_strings(tree), key=len, reverse=True):
        text = text.replace(said, "…")
    return text


def _strings(tree: object) -> list[str]:
    if isinstance(tree, dict):
        return [said for inner in tree.values() for said in _strings(inner)]
    if isinstance(tree, list):
        return [said for inner in tree for said in _strings(inner)]
    return [tree] if isinstance(tree, str) and len(tree) > 3 else []


def leaks(text: str, world: World) -> list[str]:
    """The team's words and ids in an answer."""
    found = [word for word in (MARK, MARK.upper(), PROJECT) if word in text]
    return found + sorted(set(UUID.findall(text)) & world.secrets)


def test_it_works(world):
    for name in SHOWS_CONTENT | {"list_domains"}:
        for state, tree in INPUTS[name](world.ids).items():
            status, _, text = ask(world.agent, name, tree)
            assert status == 200
            assert leaks(without(text, tree), world), (
                f"{name} of {state} shows the team nothing: it would prove nothing"
            )


def test_no_action_is_left_out():
    assert {action.name for action in all_actions()} == set(INPUTS), "add the new action to INPUTS"


@pytest.mark.parametrize("who", ["stranger", "legacy_guest", "reviewer_elsewhere", "nobody", "switched_off"])
def test_an_outsider_reads_nothing_and_writes_nothing(world, who):
    player = world.outsiders[who]
    before = stored()
    for name, inputs in INPUTS.items():
        ghosts = inputs(Ids.ghost())
        for state, tree in inputs(world.ids).items():
            place = f"{who}: {name} of {state}"
            entries = AuditEntry.objects.count()
            status, code, text = ask(player, name, tree)
            assert not leaks(without(text, tree), world), f"{place}: {text}"
            if status == 200:
                assert name in MAY_ANSWER, f"{place} was answered: {text}"
                assert "domain_id" not in tree, f"{place}: a foreign domain is no filter, it is unknown"
            else:
                allowed = {403, 404} if name in OF_THE_INSTALLATION | MAY_ANSWER else {404}
                assert status in allowed, f"{place}: {status} {text}"
                entry = AuditEntry.objects.latest("id")
                assert (entry.outcome, entry.code, entry.action) == ("denied", code, name), place
                assert entry.domain_id is None, f"{place}: an outsider's attempt stays out of the team's own log"
            assert AuditEntry.objects.count() == entries + 1, place
            ghost = ask(player, name, ghosts[state])
            assert ghost[:2] == (status, code), f"{place} can be told from one that does not exist"
            if status != 200:
                assert without(ghost[2], ghosts[state]) == without(text, tree), place
    assert stored() == before


def test_a_read_only_key_may_look_and_not_touch(world):
    reader = world.insiders["reader"]
    before = stored(RECORDS)
    for name, inputs in INPUTS.items():
        for state, tree in inputs(world.ids).items():
            status, _, text = ask(reader, name, tree)
            unseen = name in READER_KNOWS_NOTHING_OF and state != "question"
            wanted = 200 if name in READER_SEES else 404 if unseen else 403
            assert status == wanted, f"{name} of {state}: {status} {text}"
            assert stored(RECORDS) == before, f"{name} of {state} wrote"


@pytest.mark.parametrize("who", ["neighbour", "other_reviewer"])
def test_a_grant_on_another_project_shows_nothing_of_this_one(world, who):
    player = world.insiders[who]
    before = stored()
    for name, inputs in INPUTS.items():
        for state, tree in inputs(world.ids).items():
            status, _, text = ask(player, name, tree)
            shown = without(text, tree).replace(DOMAIN, "…")
            assert not leaks(shown, world), f"{who}: {name} of {state}: {text}"
            lists = name.startswith(("list_", "export_")) and name not in {
                "list_turns",
                "list_principals",
                "export_legacy",
            }
            assert status in ({200, 403} if lists else {403, 404}) or name in COUNTS | ONE_BY_ONE | OWN | {
                "agent_activity"
            }, f"{name} of {state}: {status} {text}"
            assert not lists or status == 403 or _rows(text) == [] or name == "list_domains", f"{name}: {text}"
    assert stored() == before


def _rows(text: str) -> list:
    """The rows of a list; of an export its lines but the one that names the columns."""
    body = json.loads(text)
    if "content" in body:
        lines: list[str] = body["content"].splitlines()
        return lines[body["content"].startswith("id,") :]
    return next(value for value in body.values() if isinstance(value, list))


@pytest.mark.parametrize("who", ["neighbour", "other_reviewer"])
def test_inside_the_domain_too_a_hidden_row_looks_like_none(world, who):
    ghost = Ids.ghost(DOMAIN)
    for name in (
        "get_session", "get_turn", "get_proposal", "list_turns", "withdraw_proposal", "approve_proposal",
        "get_memory_item", "get_context", "extract_turn", "get_audit_entry", "lineage", "retract_item", "get_document",
        "get_document_file", "remove_document", "share_document", "unshare_document", "get_topic", "delete_topic", "move_tag", "delete_tag", "tag_sections",
    ):  # fmt: skip
        for state, tree in INPUTS[name](world.ids).items():
            real, absent = (
                ask(world.insiders[who], name, tree),
                ask(world.insiders[who], name, INPUTS[name](ghost)[state]),
            )
            assert real[:2] == absent[:2] == (404, "not_found"), f"{name} of {state}"
            assert without(real[2], tree) == without(absent[2], INPUTS[name](ghost)[state])


def test_a_sibling_project_reads_its_own_and_nothing_of_this_one(world):
    player = world.insiders["neighbour"]
    own = Ids(domain=DOMAIN, session="wombats", project=OTHER)
    place = {"domain_id": DOMAIN, "session_id": own.session, **context(f"project:{OTHER}", write=f"project:{OTHER}")}
    goal = {"key": "goal:wombat:g", "description": "Finish the wombat plan"}
    edge = {"subject": "wombat", "predicate": "uses", "object": "burrow"}
    player.do("commit_turn", place, turn_events={"goals": [goal], "edges": [edge]})
    for asked in ("the wombat plan", QUESTION, "Planboard"):
        for name, fields in (
            ("search_memory", {"query": asked, "kinds": ["memory", "message"], "history": True}),
            ("search_memory", {"query": asked, "mode": "relational"}),
            ("compose_context", {"user_message": asked, "render": True}),
        ):
            status, _, text = ask(player, name, {**place, **fields})
            assert status == 200
            assert not leaks(text.replace(DOMAIN, "…"), world), f"{name} of {asked}: {text}"
            assert ("Finish the wombat" in text) or "wombat" not in asked
    listed = player.do("list_memory_items", domain_id=DOMAIN, history=True)["items"]
    assert [item["key"] for item in listed] == [goal["key"]]


@pytest.mark.parametrize("name", [action.name for action in all_actions() if action.effect == "read"])
def test_a_second_principal_of_the_legacy_domain_reads_nothing_of_the_first(world, name):
    guest = world.outsiders["legacy_guest"]
    ghost = Ids.ghost("legacy")
    for state, tree in INPUTS[name](world.legacy).items():
        if "project" in state:
            continue
        status, code, text = ask(guest, name, tree)
        assert not leaks(without(text, tree), world), f"{name} of {state}: {text}"
        if name in SHOWS_CONTENT and state in ("session", "domain"):
            own = ask(world.legacy_agent, name, tree)[2]
            assert leaks(without(own, tree), world), f"{name} of {state} would prove nothing"
        absent = ask(guest, name, INPUTS[name](ghost)[state])
        assert absent[:2] == (status, code), f"{name} of {state}"


def test_a_revoked_key_is_nobody(world):
    secret = world.agent.key
    assert authenticate_key(secret).actor.name == world.agent.name
    world.operator.do("revoke_key", key_prefix=world.ids.key_prefix)
    with pytest.raises(UnauthenticatedError):
        authenticate_key(secret)


@pytest.mark.parametrize(
    "secret", ["", "sb", "sb__", "sb_x_y", "Bearer x", "sb_\x00_x", "sb_\ud800_x", "sb_钥匙_x", "_" * 99]
)
def test_a_wrong_key_is_nobody(world, secret):
    with pytest.raises(UnauthenticatedError):
        authenticate_key(secret)


def test_a_key_of_the_right_prefix_and_wrong_secret_is_nobody(world):
    with pytest.raises(UnauthenticatedError):
        authenticate_key(world.agent.key[:-1] + ("A" if world.agent.key[-1] != "A" else "B"))
