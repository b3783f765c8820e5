"""The package and its account."""

from __future__ import annotations

from dataclasses import replace

from kernel.tokens import count_tokens
from memory.compose.assemble import Header, assemble, evidence_from
from memory.compose.budget import fit
from memory.compose.contracts import ContextPackage
from memory.compose.fusion import candidates_from, fuse
from memory.compose.render import render
from memory.compose.values import KeyedRow, Slots
from memory.compose.winners import resolve
from tests.memory.compose.made import (
    CONTEXT_ID,
    NOW,
    REQUEST_ID,
    a_pack,
    a_plan,
    a_policy,
    a_request,
    an_evidence,
    block,
    memory,
    turn,
    uid,
)

MESSAGE = "请查资料: which database does Alice use?"


def a_package(memories, evidences=(), policy=None, **pack) -> ContextPackage:
    plan = a_plan(MESSAGE, request=a_request(agent_state={"step": 1}))
    policy = policy or a_policy()
    answer = a_pack(plan, evidences, **pack)
    rows = [
        KeyedRow(uid(n), "facts", "k", kind, f"{kind}:x", "", False, NOW) for n, kind in ((1, "task"), (2, "global"))
    ]
    _, shadowed = resolve(rows)
    header = Header(CONTEXT_ID, NOW, "s1", ("task:x", "global:x"), tuple(shadowed))
    fused = fuse(memories, candidates_from(answer), [], plan, policy)
    evidence, cut = evidence_from(fused.selected, plan, policy, NOW)
    slots = Slots(MESSAGE, (block("Likes tea."),), (), "Goals", (turn(1),), tuple(evidence))
    fitted = fit(slots, policy.token_limit, policy)
    fitted = replace(fitted, truncated=(*fitted.truncated, *cut))
    return assemble(header, plan, answer, fused, fitted, policy)


def test_it_works():
    """Spec cases 27 and 28."""
    package = a_package([memory(1, "Alice uses Postgres", scope="task:x", source_session_id="s0")], [an_evidence(5)])
    assert list(package.model_dump()) == [
        "version",
        "context_id",
        "session_id",
        "created_at",
        "system_blocks",
        "developer_blocks",
        "working_summary",
        "recent_turns",
        "evidence",
        "conflicts",
        "user_message",
        "notices",
        "constraints",
        "debug",
    ]
    assert package.user_message.model_dump() == {"role": "user", "content": MESSAGE}
    assert package.debug.trace.model_dump() == {
        "context_id": CONTEXT_ID,
        "request_id": REQUEST_ID,
        "plan_id": "p1",
    }
    assert package.debug.planner.purpose == "research"
    assert package.debug.agent_state == {"step": 1}
    first = package.evidence[0]
    assert first.scope
    assert (first.source, first.scope.type, first.source_session_id) == ("memory", "task", "s0")
    assert first.ref.memory_item_id == uid(1)
    assert package.evidence[1].ref.document_id == "5"
    assert [why.id for why in package.debug.why_selected] == [item.id for item in package.evidence]
    assert "speaks of Alice" in package.debug.why_selected[0].reason
    rendered = sum(count_tokens(message["content"]) for message in render(package))
    assert package.constraints.token_budget.used_estimate == rendered


def test_case_29_snippets_and_constraints():
    package = a_package([memory(1, "x" * 2000), memory(2, "y" * 800)])
    assert [len(item.snippet) for item in package.evidence] == [803, 800]
    assert package.evidence[0].snippet.endswith("xxx...")
    assert [(entry.id, entry.reason) for entry in package.debug.truncated] == [(str(uid(1)), "snippet_limit")]
    assert package.constraints.diversity.model_dump() == {"by_document": 3, "by_source": 2, "by_lineage": 2}
    assert package.constraints.truncation.model_dump() == {"snippets_max_chars": 800, "recent_turns_max": 8}


def test_case_48_debug_shows_what_gave_way_and_each_scopes_part():
    package = a_package([memory(1, scope="task:x"), memory(3, "weak one", scope="global:x", weak=True)])
    assert [(entry.winner_scope, entry.loser_scope) for entry in package.debug.shadowed] == [("task:x", "global:x")]
    assert [(s.scope.type, s.found, s.selected, s.shadowed) for s in package.debug.scope_stats] == [
        ("task", 1, 1, 0),
        ("global", 1, 0, 1),
    ]
    assert package.debug.scope_budget
    assert package.debug.scope_budget.model_dump() == {"max_items_per_scope": 10, "used": {"task:x": 1}}
    assert [scope.type for scope in package.debug.scopes_read] == ["task", "global"]


def test_what_a_store_could_not_do_is_said():
    package = a_package(
        [],
        warnings=["scope filter not applied"],
        explain={"ignored_fields": ["global_filters.language not supported"]},
    )
    assert "global_filters.language not supported" in package.debug.ignored
    assert package.debug.scope_filter_warnings == ["scope filter not applied"]


def test_every_evidence_is_in_the_package_or_named_as_left_out():
    memories = [memory(n, f"fact {n} " * 60) for n in range(30)]
    package = a_package(memories, policy=a_policy(token_limit=900))
    shown = [item.id for item in package.evidence]
    gone = [entry.id for entry in package.debug.dropped if entry.slot == "evidence"]
    assert sorted(shown + gone) == sorted(item.id for item in memories)
    assert {"budget", "max_items"} <= {entry.reason for entry in package.debug.dropped}
    assert package.constraints.token_budget.used_estimate <= 900


def test_a_package_survives_the_wire():
    package = a_package([memory(1, scope="task:x")], [an_evidence(5)])
    assert ContextPackage.parse(package.model_dump(mode="json")) == package
