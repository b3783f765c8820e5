"""An example of every action of memory."""

from __future__ import annotations

from uuid import UUID

from tests.conftest import TEAM, Cast, a_turn
from tests.doors.examples.example import IN_PROJECT, PROJECT, SHARED, WHY, Example, in_team
from tests.doors.language_model import a_model


def a_session(cast: Cast) -> dict:
    cast.agent.do("commit_turn", a_turn("默认数据库是 Postgres"))
    return {"domain_id": TEAM, "session_id": "s1"}


def _session_by_id(cast: Cast) -> dict:
    a_session(cast)
    return {"id": cast.agent.do("list_sessions", domain_id=TEAM)["sessions"][0]["id"]}


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


def an_item(cast: Cast) -> dict:
    """An item with a version before it."""
    cast.agent.do("commit_turn", _learning())
    return {"id": cast.agent.do("commit_turn", _everything(cast))["memory_written"]["items"][0]["id"]}


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


def a_package(cast: Cast) -> dict:
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


def about(cast: Cast, **fields: object) -> dict:
    """An act on an item of the project."""
    return {"memory_item_id": an_item(cast)["id"], "reason": "it is so", **fields}


def _to_promote(cast: Cast) -> dict:
    return about(cast, target_scope=SHARED, verification_refs=[WHY], text="We use SQLite", reviewer="somebody")


def _promoted(cast: Cast) -> dict:
    """A promoted copy."""
    return {"memory_item_id": cast.reviewer.do("promote_to_scope", _to_promote(cast))["item"]["id"]}


def _to_relate(cast: Cast) -> dict:
    """Every field of a relation that is written by itself, learned from a turn."""
    told = {"subject": "订单", "predicate": "depends_on", "object": "ledger", "confidence": 0.9}
    ends = {"valid_from": "2026-01-01T00:00:00+08:00", "valid_to": "2030-01-01T00:00:00Z"}
    turn = cast.agent.do("commit_turn", a_turn("订单依赖账本"))["turn_id"]
    return {"domain_id": TEAM, "scope": PROJECT, "turn_id": turn, **told, **ends}


def _to_deny(cast: Cast) -> dict:
    turn = cast.agent.do("commit_turn", a_turn("我们没有用 Redis"))["turn_id"]
    said = {"type": "facts", "key": "fact:cache:redis", "reason": "我们没有用 Redis", "turn_id": turn}
    return {"domain_id": TEAM, "scope": PROJECT, **said}


def _to_write(cast: Cast) -> dict:
    """Every field of an item that is written by itself, learned from a message of a turn."""
    turn = cast.agent.do("commit_turn", a_turn("数据库是 SQLite"))["turn_id"]
    decision = {
        "key": "decision:shop:database",
        "decision": "Use SQLite",
        "valid_from": "2026-01-01T00:00:00+08:00",
        "review_by": "2099-01-01T00:00:00Z",
        "importance": 3,
        "evidence_refs": [WHY],
    }
    item = {"domain_id": TEAM, "scope": PROJECT, "type": "decisions", "item": decision}
    return {**item, "statement": "数据库是 SQLite", "inferred": True, "turn_id": turn, "message": 0}


def _to_raise(cast: Cast) -> dict:
    evidence = [{"kind": "url", "id": f"https://example.org/{n}"} for n in range(6)]
    refs = {"supporting_refs": evidence[:3], "verification_refs": evidence[3:5], "teaching_refs": evidence[5:]}
    return about(cast, tier="dao_tian", field="databases", text="Use what is there", **refs)


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
        **a_session(cast),
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


MEMORY: dict[str, Example] = {
    "rebuild_index": Example("operator", lambda cast: {**in_team(an_item(cast)), "full": True, "limit": 50}, "agent"),
    "commit_turn": Example("agent", _everything, "stranger"),
    "compose_context": Example("agent", _to_compose, "stranger"),
    "correct_item": Example(
        "agent",
        lambda cast: about(cast, text="Use DuckDB", evidence_refs=[WHY], also=[an_item(cast)["id"]]),
        "stranger",
    ),
    "demote": Example(
        "reviewer",
        lambda cast: about(cast, status="retired", reason_type="obsolete", evidence_refs=[WHY]),
        "agent",
    ),
    "demote_from_scope": Example(
        "reviewer",
        lambda cast: {**_promoted(cast), "reason": "not for all", "reason_type": "unsafe", "evidence_refs": [WHY]},
        "agent",
    ),
    "diagnostics": Example("agent", lambda cast: in_team(a_package(cast)), "stranger"),
    "extract_turn": Example("agent", _extraction, "stranger", model=True),
    "get_conflict": Example("agent", _conflict, "stranger"),
    "show_conflicts": Example("agent", lambda cast: {"ids": [_conflict(cast)["id"], str(UUID(int=7))]}, "stranger"),
    "get_context": Example("agent", a_package, "reader"),
    "get_memory_item": Example("agent", an_item, "stranger"),
    "show_memory_items": Example("agent", lambda cast: {"ids": [an_item(cast)["id"], str(UUID(int=7))]}, "stranger"),
    "get_session": Example("agent", _session_by_id, "stranger"),
    "get_turn": Example(
        "agent", lambda cast: {"turn_id": cast.agent.do("commit_turn", a_turn())["turn_id"]}, "stranger"
    ),
    "inspect_shadows": Example("agent", _shadowed, "stranger"),
    "lineage": Example("agent", _promoted, "stranger"),
    "list_conflicts": Example("agent", _conflicts, "stranger"),
    "list_extractions": Example("agent", lambda cast: in_team(_extraction(cast)), "stranger"),
    "list_memory_items": Example("agent", lambda cast: {**in_team(an_item(cast)), "history": True}, "stranger"),
    "list_sessions": Example("agent", lambda cast: in_team(a_session(cast)), "stranger"),
    "list_turns": Example("agent", a_session, "stranger"),
    "narrow_item": Example(
        "agent",
        lambda cast: about(
            cast, target_scope={"type": "task", "id": "t"}, text="Here: SQLite", also=[an_item(cast)["id"]]
        ),
        "stranger",
    ),
    "promote_to_scope": Example("reviewer", _to_promote, "agent"),
    "raise_tier": Example("reviewer", _to_raise, "agent"),
    "reopen_conflict": Example("reviewer", _decided, "stranger"),
    "resolve_conflict": Example("reviewer", _merging, "stranger"),
    "related_items": Example("agent", lambda cast: {"memory_item_id": an_item(cast)["id"]}, "stranger"),
    "retract_item": Example("agent", lambda cast: about(cast, also=[an_item(cast)["id"]]), "stranger"),
    "search_memory": Example("agent", _to_search, "stranger"),
    "write_denial": Example("agent", _to_deny, "stranger"),
    "write_memory_item": Example("agent", _to_write, "stranger"),
    "write_relation": Example("agent", _to_relate, "stranger"),
}
