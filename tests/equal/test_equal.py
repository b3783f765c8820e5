"""SQLite and PostgreSQL give the same answers, whatever happens (specification 8, case 60)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.equal.machine import History
from tests.equal.pair import Pair
from tests.memory.talk import ref

pytestmark = [pytest.mark.once, pytest.mark.no_cover]  # it drives both databases by itself

settings.register_profile(
    "equal",
    max_examples=200,
    stateful_step_count=4,
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "equal-soak", settings.get_profile("equal"), derandomize=False, max_examples=300, stateful_step_count=40
)

# What the histories must have come to, or their being equal says little.
HAPPENED = {
    *("commit_turn 200", "commit_turn 202"),
    *("search_memory 200", "compose_context 200", "list_memory_items 200", "set_policy 200", "approve_proposal 200"),
    *("shadowed", "dropped", "system_blocks", "recent_turns", "evidence", "working_summary"),
    *("conflicts", "deduplicated", "valid_to", "current_until", "next_cursor", "changes"),
    *("add_document 200", "share_document 200", "get_document 200"),
    *("list_documents 200", "retrieve 200", "evidences", "snippet", "section_id", "warnings", "documents", "tags"),
}


def live(pair: Pair, profile: str) -> None:
    """Let both databases live through the histories of a profile."""
    History.pair = pair
    run_state_machine_as_test(History, settings=settings.get_profile(profile))


def test_it_works(pair: Pair) -> None:
    live(pair, "equal")
    assert pair.examples >= 200
    assert HAPPENED - set(pair.seen) == set()


def test_a_document_comes_and_goes_alike(pair: Pair) -> None:
    """What short histories of chance may not come to."""
    here = pair.example()
    one = here.here(here.agent, "add_document", options={"text": "# 斑马\n\nZebra stripes."})["body"]["document_id"]
    given = {"document_id": one, "scope": ref("project:p")}
    plan = {
        "version": "0.1",
        "request_id": one,
        "purpose": "qa",
        "queries": [{"text": "zebra"}],
        "budget": {"top_k": 3},
    }
    for action, fields in (
        ("share_document", given),
        ("retrieve", {"domain_id": here.domain, "plan": plan}),
        ("unshare_document", given),
        ("remove_document", {"document_id": one, "reason": "r"}),
    ):
        assert here.call(here.agent, action, **fields)["status"] == 200, action
    assert here.call(here.agent, "get_document", document_id=one)["status"] == 404


def test_every_way_of_reading_back_is_compared(pair: Pair) -> None:
    here = pair.example()
    turn = {"session_id": "s", "turn_events": {"decisions": [{"key": "decision:p:db", "decision": "用 Postgres"}]}}
    stored = here.here(here.agent, "commit_turn", idempotency_key="k", **turn)["body"]
    changed = {**turn, "extract": False}
    assert here.here(here.agent, "commit_turn", idempotency_key="k", **changed)["status"] == 409
    wrong = {"session_id": "s", "turn_events": {"decisions": [{"key": "no:such:grammar", "decision": "x"}]}}
    assert here.here(here.agent, "commit_turn", **wrong)["status"] == 422
    item = stored["memory_written"]["items"][0]["id"]
    assert here.call(here.agent, "get_memory_item", id=item)["body"]["item"]["statement"] == "用 Postgres"
    newer = {"session_id": "s", "turn_events": {"decisions": [{"key": "decision:p:db", "decision": "改用 MySQL"}]}}
    after = here.here(here.agent, "commit_turn", **newer)["body"]["memory_written"]["items"][0]["id"]
    assert here.call(here.agent, "get_memory_item", id=item)["body"]["successor_id"] == after
    assert here.call(here.agent, "get_turn", turn_id=stored["turn_id"])["status"] == 200
    assert here.here(here.agent, "list_turns", session_id="s")["body"]["turns"]
    for action in ("list_sessions", "list_scopes", "diagnostics"):
        assert here.here(here.agent, action)["status"] == 200


def test_conflicts_are_found_told_decided_and_reopened_alike(pair: Pair) -> None:
    here = pair.example()
    scope = {"type": "project", "id": "shop"}
    place = {"session_id": "s", "scope_context": {"read": [scope], "default_write": scope}}

    def told(*texts: str) -> list[dict]:
        rows = [{"key": f"decision:shop:{here.calls}-{number}", "decision": text} for number, text in enumerate(texts)]
        answer = here.here(here.agent, "commit_turn", turn_events={"decisions": rows}, **place)
        found: list[dict] = answer["body"]["memory_written"]["found"]
        return found

    told("默认数据库是 Postgres。", "Keep 37 snapshots.", "We deploy on Fridays.")
    found = told("默认数据库是 MySQL。", "keep １５ snapshots", "We never deploy on Fridays.", "WE DEPLOY ON FRIDAYS!")
    assert [row["rule"] for row in found] == ["other_object", "number", "negation", "near_duplicate", "negation"]
    edges = [{"subject": "Ann", "predicate": "lives_in", "object": name} for name in ("Berlin", "北京")]
    for edge in edges:
        here.here(here.agent, "commit_turn", turn_events={"edges": [edge]}, **place)
    asked = {"query": "数据库 snapshots Fridays", "user_message": "数据库 snapshots Fridays"}
    for action, name in (("search_memory", "query"), ("compose_context", "user_message")):
        assert here.here(here.agent, action, **{name: asked[name]}, **place)["body"]["conflicts"]
    rows = next(here.pages(here.agent, "list_conflicts", limit=50))["conflicts"]
    assert len(rows) == 6
    outcomes = [("keep_a", {}), ("keep_b", {}), ("merge", {"text": "都行"}), ("both_valid", {"condition": "按地区"})]
    for row, (outcome, more) in zip(reversed(rows), outcomes, strict=False):
        decided = here.call(here.reviewer, "resolve_conflict", id=row["id"], outcome=outcome, reason="why", **more)
        assert decided["status"] in (200, 409), "a side may have left with an earlier decision"
        here.call(here.reviewer, "get_conflict", id=row["id"])
        here.call(here.reviewer, "reopen_conflict", id=row["id"], reason="no")
    assert [page["conflicts"] for page in here.pages(here.agent, "list_conflicts", state=None, limit=2)]


@pytest.mark.soak
def test_for_ten_thousand_steps(pair: Pair) -> None:
    """As many histories as it takes: how long each is, is drawn."""
    while pair.steps < 10_000:
        before = pair.steps
        live(pair, "equal-soak")
        assert pair.steps > before


def test_a_difference_is_told(pair: Pair) -> None:
    here, both = pair.example(), pair.workers
    pair.workers = {"SQLite": both["SQLite"]}
    here.here(here.operator, "set_policy", document={"retention": {"context_days": 1}}, reason="only on one side")
    pair.workers = both
    with pytest.raises(AssertionError, match=r"disagree(.|\n)*context_days"):
        here.here(here.operator, "get_policy")


def test_a_bug_is_told_although_both_have_it(pair: Pair) -> None:
    with pytest.raises(AssertionError, match="has a bug"):
        pair.example().call("nobody", "whoami")
