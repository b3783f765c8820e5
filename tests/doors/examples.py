"""One example of every action: who may do it, with what, and who may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from governance.hooks import erasers
from kernel import clock
from media.services.leases import claim
from tests.conftest import TEAM, Cast, a_turn
from tests.doors.language_model import a_model
from tests.media.jobbing import a_job
from tests.media.shelf import a_plan, put


@dataclass(frozen=True)
class Example:
    """`who` may do it with the input that `given` makes; `refused` names someone whom the gate refuses the same.
    `model` is true where a language model must be configured."""

    who: str
    given: Callable[[Cast], dict]
    refused: str | None
    model: bool = False


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


def _session(cast: Cast) -> dict:
    cast.agent.do("commit_turn", a_turn("默认数据库是 Postgres"))
    return {"domain_id": TEAM, "session_id": "s1"}


def _session_by_id(cast: Cast) -> dict:
    _session(cast)
    return {"id": cast.agent.do("list_sessions", domain_id=TEAM)["sessions"][0]["id"]}


PROJECT = {"type": "project", "id": "shop"}
IN_PROJECT = {"scope_context": {"read": [PROJECT], "default_write": PROJECT}}


def _everything(cast: Cast) -> dict:
    """A turn of everything that can be committed."""
    first = cast.agent.do("commit_turn", _learning(**IN_PROJECT))
    return a_turn(
        "记住：默认数据库是 Postgres。Which port?",
        session_id="s1",
        turn_events={
            "messages": [{"role": "user", "content": "以后都用中文回答。", "id": "m1", "created_at": "2026-01-02T03:04:05Z"}],
            "tool_calls": [{"name": "grep", "args": {"q": [1, None]}, "result": "none"}],
            "refs": [{"ref_type": "file", "ref_uri": "file:///schema.sql"}],
            "tasks": [{"key": "task:shop:parser", "title": "Write the parser", "status": "done"}],
            "decisions": [
                {
                    "key": "decision:shop:database",
                    "decision": "Use SQLite",
                    "supersedes": first["memory_written"]["items"][0]["id"],
                    "valid_from": "2026-01-01T00:00:00+08:00",
                    "evidence_refs": [{"kind": "url", "id": "https://example.org/why"}],
                }
            ],
            "goals": [{"key": "goal:shop:launch", "description": "Open in May"}],
            "events": [{"key": "event:shop:2026-01-02:kickoff", "title": "Kick-off"}],
            "preferences": [{"key": "pref:writing:tone", "value": {"tone": "简洁"}, "confirmed": True}],
            "profile": [{"key": "profile:user", "facts": [{"k": "名字", "v": "李梅"}]}],
            "cases": [{"key": "case:db:slow", "problem": "Slow", "solution": "An index"}],
            "patterns": [{"key": "pattern:db:index", "rule": "Index what you filter by"}],
            "entities": [{"key": "entity:repo:smart_rag", "aliases": ["rag"], "remember": True}],
            "retractions": [{"type": "goals", "key": "goal:shop:unknown", "reason": "never said"}],
            "edges": [{"subject": "smart_rag", "predicate": "uses", "object": "Postgres"}],
        },
        **IN_PROJECT,
    )  # fmt: skip


def _learning(**fields: object) -> dict:
    decision = {"key": "decision:shop:database", "decision": "Use Postgres 数据库"}
    events = {"messages": [{"role": "user", "content": "数据库?"}], "decisions": [decision]}
    return a_turn(turn_events=events, **fields)


def _item(cast: Cast) -> dict:
    """An item with a version before it."""
    cast.agent.do("commit_turn", _learning())
    return {"id": cast.agent.do("commit_turn", _everything(cast))["memory_written"]["items"][0]["id"]}


def _to_erase(cast: Cast) -> dict:
    named = [{"kind": "memory", **_item(cast)}, {"kind": "document", "id": _document(cast)["document_id"]}]
    return {"domain_id": TEAM, "objects": named, "along": True, "reason": "依法删除", "idempotency_key": "删除-1"}


def _to_scrub(cast: Cast) -> dict:
    """What the queue is given after one memory was erased."""
    pk = _item(cast)["id"]
    names = erasers()["memory"].names([UUID(pk)])
    given = {"domain_id": TEAM, "objects": [{"kind": "memory", "id": pk}], "reason": "law", "idempotency_key": "k"}
    return {"domain_id": TEAM, "receipt_id": cast.operator.do("erase", given)["receipt_id"], "ids": sorted(names)}


def _held(cast: Cast) -> dict:
    """A hold on one memory."""
    given = {"domain_id": TEAM, "object": {"kind": "memory", **_item(cast)}, "reason": "a lawsuit"}
    return {"id": cast.operator.do("place_hold", given)["hold"]["id"], "reason": "it is over"}


def _to_compose(cast: Cast) -> dict:
    cast.agent.do("commit_turn", _everything(cast))
    own = {"type": "session", "id": "s1"}
    return {
        "domain_id": TEAM,
        "session_id": "s1",
        "scope_context": {"read": [PROJECT, own]},
        "user_message": "Which 数据库 does smart_rag use?",
        "agent_state": {"step": [1, "二"]},
        "developer_blocks": [{"type": "format_rules", "text": "Answer in JSON"}],
        "render": True,
    }


def _composed(cast: Cast) -> dict:
    return {"id": cast.agent.do("compose_context", _to_compose(cast))["context_id"]}


def conflicting(cast: Cast) -> None:
    """Two memories of a project that contradict each other."""
    told = [
        {"key": "decision:shop:db", "decision": "The default database is Postgres."},
        {"key": "decision:shop:default-db", "decision": "The default database is MySQL."},
    ]
    cast.agent.do("commit_turn", a_turn("Two views.", turn_events={"decisions": told}, extract=False, **IN_PROJECT))


def _conflicts(cast: Cast) -> dict:
    conflicting(cast)
    return {"domain_id": TEAM, "scope": PROJECT, "severity": "high", "state": "open"}


SHARED = {"type": "global", "id": "all"}
WHY = {"kind": "url", "id": "https://example.org/why"}


def _about(cast: Cast, **fields: object) -> dict:
    """An act on an item of the project."""
    return {"memory_item_id": _item(cast)["id"], "reason": "it is so", **fields}


def _to_promote(cast: Cast) -> dict:
    return _about(cast, target_scope=SHARED, verification_refs=[WHY], text="We use SQLite", reviewer="somebody")


def _promoted(cast: Cast) -> dict:
    """A promoted copy."""
    return {"memory_item_id": cast.reviewer.do("promote_to_scope", _to_promote(cast))["item"]["id"]}


def _to_write(cast: Cast) -> dict:
    """Every field of an item that is written by itself, learned from a message of a turn."""
    turn = cast.agent.do("commit_turn", a_turn("数据库是 SQLite"))["turn_id"]
    decision = {
        "key": "decision:shop:database",
        "decision": "Use SQLite",
        "valid_from": "2026-01-01T00:00:00+08:00",
        "review_by": "2027-01-01T00:00:00Z",
        "importance": 3,
        "evidence_refs": [WHY],
    }
    item = {"domain_id": TEAM, "scope": PROJECT, "type": "decisions", "item": decision}
    return {**item, "statement": "数据库是 SQLite", "inferred": True, "turn_id": turn, "message": 0}


def _to_raise(cast: Cast) -> dict:
    evidence = [{"kind": "url", "id": f"https://example.org/{n}"} for n in range(6)]
    refs = {"supporting_refs": evidence[:3], "verification_refs": evidence[3:5], "teaching_refs": evidence[5:]}
    return _about(cast, tier="dao_tian", field="databases", text="Use what is there", **refs)


def _conflict(cast: Cast) -> dict:
    """A conflict that someone may look at and decide."""
    conflicting(cast)
    (found,) = cast.agent.do("list_conflicts", domain_id=TEAM)["conflicts"]
    return {"id": found["id"]}


def _merging(cast: Cast) -> dict:
    return {
        **_conflict(cast),
        "outcome": "merge",
        "text": "Postgres, 测试用 SQLite。",
        "reason": "both were half right",
    }


def _shadowed(cast: Cast) -> dict:
    """A key that two scopes hold, and what would be if one of its rows left."""
    scopes = {"read": [PROJECT, SHARED], "write": [PROJECT, SHARED], "default_write": PROJECT}
    told = [{"key": "pref:writing:tone", "value": value, "confirmed": True, "scope_ref": scope}
            for value, scope in (("简洁", PROJECT), ("detailed", SHARED))]  # fmt: skip
    made = cast.agent.do("commit_turn", a_turn(turn_events={"preferences": told}, scope_context=scopes))
    what_if = {"act": "retract", "memory_item_id": made["memory_written"]["items"][0]["id"]}
    return {"domain_id": TEAM, "scope_context": {"read": [PROJECT, SHARED]}, "type": "preferences", "what_if": what_if}


def _decided(cast: Cast) -> dict:
    kept = {**_conflict(cast), "outcome": "keep_a", "reason": "older and right"}
    cast.reviewer.do("resolve_conflict", kept)
    return {"id": kept["id"], "reason": "too early"}


def _extraction(cast: Cast) -> dict:
    """A turn of which a model made something."""
    turn_id = cast.agent.do("commit_turn", a_turn("The port is 5432.", **IN_PROJECT))["turn_id"]
    with a_model():
        cast.agent.do("extract_turn", turn_id=turn_id)
    return {"turn_id": turn_id}


def _to_search(cast: Cast) -> dict:
    """A search with every field."""
    cast.agent.do("commit_turn", _everything(cast))
    return {
        **_session(cast),
        **IN_PROJECT,
        "query": "数据库",
        "kinds": ["memory", "message"],
        "types": ["decisions"],
        "mode": "hybrid",
        "as_of": {"valid": "2040-01-01T00:00:00Z"},
        "history": True,
        "time_range": {"since": "2001-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z"},
        "min_confidence": 0.01,
        "limit": 2,
    }


def _audit_entry(cast: Cast) -> dict:
    cast.agent.do("commit_turn", a_turn())
    entries = cast.operator.do("list_audit", domain_id=TEAM, action="commit_turn", limit=1)["entries"]
    return {"id": entries[0]["id"]}


def _in_team(made: dict) -> dict:
    """A list of what is in the team, where something was made to be listed."""
    assert made
    return {"domain_id": TEAM}


def _to_retrieve(cast: Cast) -> dict:
    put(cast.agent, "Zebra 斑马 stripes", "more of them", metadata={"page": 2}, shared=("project:shop",))
    plan = a_plan("斑马 stripes", budget={"top_k": 5000}, later=1, filters={"media_type": "document"})
    return {"domain_id": TEAM, "plan": plan, "scope_context": {"read": [PROJECT]}}


def _job(status: str) -> Callable[[Cast], dict]:
    """A media job in that state."""
    return lambda cast: {"id": str(a_job(cast.agent, status, result={"warnings": ["不可读"]}).pk)}


def _failed_jobs(cast: Cast) -> dict:
    failed = [a_job(cast.agent, "failed", error="too_large: 超过上限", scopes=["project:shop"]) for _ in range(2)]
    return {"domain_id": TEAM, "ids": [str(row.pk) for row in failed]}


def _stale_job(cast: Cast) -> dict:
    a_job(cast.agent, "processing", heartbeat_at=clock.now() - timedelta(days=1))
    return {}


def _importing(cast: Cast, **options: object) -> dict:
    """Every field of an import."""
    given = {
        "name": "plan.md",
        "title": "The plan",
        "description": "What we do",
        "author": "李梅",
        "publication_date": "2026-01-02",
        "language": "zh",
        "tags": ["Plans"],
        "source_uri": "https://example.org/plan",
        "metadata": {"mine": [1, "二"]},
        "generate_tags": True,
        **options,
    }
    return {"domain_id": TEAM, "options": given, "scopes": [PROJECT]}


def _text(cast: Cast) -> dict:
    return _importing(cast, text="# 计划\n\nWords.\n\n## 数据库\n\n默认数据库是西瓜。\n")


def _media(cast: Cast) -> dict:
    return _importing(cast, name="melon.png", data=PICTURE)


def _document(cast: Cast) -> dict:
    return {"document_id": cast.agent.do("add_document", _text(cast))["document_id"]}


def _to_enqueue(cast: Cast) -> dict:
    return {**_text(cast), "operation": "add_document", "idempotency_key": "计划-1"}


def _claimed_job(cast: Cast) -> dict:
    """A job that a worker holds."""
    lease = claim(UUID(cast.agent.do("enqueue_media", _to_enqueue(cast))["job_id"]), clock.now())
    assert lease is not None
    return {"id": str(lease.job_id), "lease_token": str(lease.token)}


PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="  # one pixel
)


def _topic(cast: Cast) -> dict:
    document = _document(cast)["document_id"]
    for title in ("Near", "计划"):
        given = {"domain_id": TEAM, "title": title, "tags": ["a", "b"], "description": "x", "document_ids": [document]}
        made = cast.agent.do("create_topic", given)
    return {"topic_id": made["topic"]["id"]}


def _tag(cast: Cast) -> dict:
    _document(cast)
    return {"tag_id": cast.agent.do("list_tags", domain_id=TEAM)["tags"][0]["id"]}


EXAMPLES: dict[str, Example] = {
    "add_document_to_topic": Example("agent", lambda cast: {**_topic(cast), **_document(cast)}, "stranger"),
    "create_topic": Example(
        "agent",
        lambda cast: {
            "domain_id": TEAM,
            "title": "Fruit",
            "description": "水果",
            "tags": ["melons"],
            "document_ids": [_document(cast)["document_id"]],
        },
        "stranger",
    ),
    "delete_topic": Example("agent", _topic, "stranger"),
    "get_topic": Example("agent", _topic, "stranger"),
    "get_topic_recommendations": Example("agent", _topic, "stranger"),
    "list_tags": Example("agent", lambda cast: _in_team(_tag(cast)), "stranger"),
    "list_topics": Example("agent", lambda cast: _in_team(_topic(cast)), "stranger"),
    "delete_tag": Example("agent", _tag, "stranger"),
    "move_tag": Example("agent", lambda cast: {**_tag(cast), "parent": "Above", "create_parent": True}, "stranger"),
    "remove_document_from_topic": Example("agent", lambda cast: {**_topic(cast), **_document(cast)}, "stranger"),
    "tag_sections": Example("agent", lambda cast: {**_document(cast), "tags": ["新"], "replace": True}, "stranger"),
    "update_topic": Example("agent", lambda cast: {**_topic(cast), "title": "New", "tags": ["c"]}, "stranger"),
    "acknowledge_media_job": Example("agent", _job("failed"), "stranger"),
    "cancel_media_job": Example("agent", _job("queued"), "stranger"),
    "enqueue_media": Example("agent", _to_enqueue, "stranger"),
    "run_media_job": Example("agent", _claimed_job, "stranger"),
    "upload_media": Example("agent", lambda cast: {"domain_id": TEAM, "name": "图.png", "data": PICTURE}, "stranger"),
    "get_media_job": Example("agent", _job("partial"), "stranger"),
    "list_media_jobs": Example(
        "agent",
        lambda cast: {**_in_team(_failed_jobs(cast)), "status": ["failed", "partial"], "unacknowledged": True},
        "stranger",
    ),
    "media_job_stats": Example("agent", lambda cast: _in_team(_failed_jobs(cast)), "stranger"),
    "prune_media_jobs": Example(
        "operator", lambda cast: {"days": 0, "limit": len(_failed_jobs(cast)["ids"])}, "agent"
    ),
    "recover_media_jobs": Example("operator", _stale_job, "agent"),
    "retry_media_job": Example("agent", _job("failed"), "stranger"),
    "retry_media_jobs": Example("agent", _failed_jobs, "stranger"),
    "add_audio": Example("agent", lambda cast: _importing(cast, name="song.mp3", data="SUQzBAAAAAAAAA=="), "stranger"),
    "add_document": Example("agent", _text, "stranger"),
    "add_image": Example("agent", _media, "stranger"),
    "add_media": Example("agent", lambda cast: _importing(cast, data=PICTURE, media_type="auto"), "stranger"),
    "add_video": Example(
        "agent", lambda cast: _importing(cast, name="clip.avi", data="UklGRiQAAABBVkkgTElTVA=="), "stranger"
    ),
    "get_document": Example("agent", lambda cast: {**_document(cast), "limit": 1}, "stranger"),
    "get_document_file": Example("agent", _document, "stranger"),
    "list_documents": Example("agent", lambda cast: {**_in_team(_document(cast)), "tag": "plans"}, "stranger"),
    "remove_document": Example("agent", lambda cast: {**_document(cast), "reason": "old"}, "stranger"),
    "share_document": Example("agent", lambda cast: {**_document(cast), "scope": SHARED}, "stranger"),
    "unshare_document": Example("agent", lambda cast: {**_document(cast), "scope": PROJECT}, "stranger"),
    "delete_filter": Example("reviewer", _filter, "agent"),
    "draft_rule": Example("reviewer", lambda cast: {**_proposal(cast), "reason": "always fine"}, "agent"),
    "expire_proposals": Example("operator", lambda cast: {}, "agent"),
    "list_blind_reviews": Example("operator", lambda cast: _in_team(_blind_case(cast)), "stranger"),
    "list_filters": Example("reviewer", lambda cast: {"counts": bool(_filter(cast))}, None),
    "review_blindly": Example(
        "operator", lambda cast: {**_blind_case(cast), "verdict": "approve", "reason": "seems ours"}, "agent"
    ),
    "review_stats": Example("reviewer", lambda cast: _in_team(_blind_case(cast)), "stranger"),
    "save_filter": Example(
        "reviewer", lambda cast: {"name": "urgent", "filters": {"queue": "open", "risk": "high"}}, "agent"
    ),
    "preview_proposal": Example("reviewer", _proposal, "agent"),
    "review_proposal": Example("reviewer", lambda cast: {**_proposal(cast), "filters": {"queue": "open"}}, "agent"),
    "decide_proposals": Example("reviewer", _chosen, "agent"),
    "revert_change": Example("operator", _policy_entry, "agent"),
    "undo_decision": Example("reviewer", _rejected, "agent"),
    "claim_proposal": Example("reviewer", _proposal, "agent"),
    "comment_on_proposal": Example("agent", lambda cast: {**_proposal(cast), "text": "@reviewer 看看"}, "stranger"),
    "edit_and_approve": Example("reviewer", lambda cast: {**_edited(cast), "reason": "spelling"}, "agent"),
    "proposal_counts": Example("agent", lambda cast: _in_team(_proposal(cast)), "stranger"),
    "rebuild_index": Example("operator", lambda cast: {**_in_team(_item(cast)), "full": True, "limit": 50}, "agent"),
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
    "commit_turn": Example("agent", _everything, "stranger"),
    "compose_context": Example("agent", _to_compose, "stranger"),
    "correct_item": Example("agent", lambda cast: _about(cast, text="Use DuckDB", evidence_refs=[WHY]), "stranger"),
    "create_principal": Example("operator", lambda cast: {"name": "new", "domain_id": TEAM}, "agent"),
    "demote": Example(
        "reviewer",
        lambda cast: _about(cast, status="retired", reason_type="obsolete", evidence_refs=[WHY]),
        "agent",
    ),
    "demote_from_scope": Example(
        "reviewer",
        lambda cast: {**_promoted(cast), "reason": "not for all", "reason_type": "unsafe", "evidence_refs": [WHY]},
        "agent",
    ),
    "diagnostics": Example("agent", lambda cast: _in_team(_composed(cast)), "stranger"),
    "explain_policy": Example("reviewer", lambda cast: {"proposal_id": _proposal(cast)["id"]}, "stranger"),
    "export_audit": Example("operator", lambda cast: {"domain_id": TEAM, "action": "none_such"}, "agent"),
    "extract_turn": Example("agent", _extraction, "stranger", model=True),
    "get_audit_entry": Example("operator", _audit_entry, "agent"),
    "get_conflict": Example("agent", _conflict, "stranger"),
    "get_context": Example("agent", _composed, "reader"),
    "get_memory_item": Example("agent", _item, "stranger"),
    "get_policy": Example("operator", lambda cast: {"domain_id": TEAM}, "agent"),
    "get_proposal": Example("agent", _proposal, "stranger"),
    "get_session": Example("agent", _session_by_id, "stranger"),
    "get_turn": Example(
        "agent", lambda cast: {"turn_id": cast.agent.do("commit_turn", a_turn())["turn_id"]}, "stranger"
    ),
    "grant_access": Example(
        "operator", lambda cast: {"name": "reader", "domain_id": TEAM, "rights": ["read", "write"]}, "agent"
    ),
    "inspect_shadows": Example("agent", _shadowed, "stranger"),
    "issue_key": Example("operator", lambda cast: {"name": "reader"}, "agent"),
    "lineage": Example("agent", _promoted, "stranger"),
    "list_audit": Example("operator", lambda cast: {"domain_id": TEAM, "action": "none_such"}, "agent"),
    "list_conflicts": Example("agent", _conflicts, "stranger"),
    "list_domains": Example("agent", lambda cast: {"limit": 5}, None),
    "list_extractions": Example("agent", lambda cast: _in_team(_extraction(cast)), "stranger"),
    "list_memory_items": Example("agent", lambda cast: {**_in_team(_item(cast)), "history": True}, "stranger"),
    "list_principals": Example("operator", lambda cast: {"limit": 2, "domain_id": TEAM}, "agent"),
    "list_proposals": Example("agent", lambda cast: _in_team(_proposal(cast)), "stranger"),
    "list_scopes": Example("agent", lambda cast: _in_team(_session(cast)), "stranger"),
    "list_sessions": Example("agent", lambda cast: _in_team(_session(cast)), "stranger"),
    "list_turns": Example("agent", _session, "stranger"),
    "narrow_item": Example(
        "agent", lambda cast: _about(cast, target_scope={"type": "task", "id": "t"}, text="Here: SQLite"), "stranger"
    ),
    "promote_to_scope": Example("reviewer", _to_promote, "agent"),
    "raise_tier": Example("reviewer", _to_raise, "agent"),
    "reject_proposal": Example("reviewer", lambda cast: {**_proposal(cast), "reason": "not yet"}, "agent"),
    "replay_policy": Example(
        "reviewer", lambda cast: {"domain_id": TEAM, "document": {"review": {"queue": []}}, "days": 7}, "agent"
    ),
    "reopen_conflict": Example("reviewer", _decided, "stranger"),
    "resolve_conflict": Example("reviewer", _merging, "stranger"),
    "retract_item": Example("agent", lambda cast: _about(cast, also=[_item(cast)["id"]]), "stranger"),
    "reset_second_factor": Example("operator", lambda cast: {"user": "reviewer", "reason": "phone lost"}, "agent"),
    "retrieve": Example("agent", _to_retrieve, "stranger"),
    "revoke_key": Example("operator", lambda cast: {"key_prefix": cast.reader.key.split("_")[1]}, "agent"),
    "search_memory": Example("agent", _to_search, "stranger"),
    "set_policy": Example("operator", lambda cast: {"domain_id": TEAM, "document": {}, "reason": "reset"}, "agent"),
    "unassign_reviewer": Example("operator", lambda cast: {"user": "reviewer", "domain_id": TEAM}, "agent"),
    "check_media": Example("operator", lambda cast: {}, "agent"),
    "export_legacy": Example("operator", lambda cast: {"domain_id": TEAM, "limit": 10}, "agent"),
    "get_migration": Example("operator", lambda cast: {}, "agent"),
    "list_migrated_rows": Example("operator", lambda cast: {"outcome": "quarantined", "limit": 10}, "agent"),
    "doctor": Example("operator", lambda cast: {}, "agent"),
    "erase": Example("operator", _to_erase, "stranger"),
    "scrub_erased": Example("operator", _to_scrub, "agent"),
    "export_domain": Example("agent", lambda cast: {**_in_team(_composed(cast)), "limit": 5}, "stranger"),
    "lift_hold": Example("operator", _held, "agent"),
    "list_holds": Example("reviewer", lambda cast: {**_in_team(_held(cast)), "lifted": True}, "agent"),
    "list_tombstones": Example("reviewer", lambda cast: _in_team(cast.operator.do("erase", _to_erase(cast))), "agent"),
    "place_hold": Example(
        "operator", lambda cast: {"domain_id": TEAM, "scope": "project:*", "reason": "诉讼"}, "agent"
    ),
    "garbage_collect_media_objects": Example("operator", lambda cast: {"limit": 10, "min_age_hours": 0}, "agent"),
    "verify_audit": Example("operator", lambda cast: {"after": 0, "limit": 10}, "agent"),
    "set_preferences": Example("reviewer", lambda cast: {"shortcuts": False, "diff": "unified"}, "agent"),
    "whoami": Example("agent", lambda cast: {}, None),
    "withdraw_proposal": Example("agent", _proposal, "stranger"),
    "write_memory_item": Example("agent", _to_write, "stranger"),
}
