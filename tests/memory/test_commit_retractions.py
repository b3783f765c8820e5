"""Taking back: every active version of a key, in its own scope, once (specification 2.5, cases 3 and 13)."""

from __future__ import annotations

from memory.models import Entity, MemoryItem
from tests.conftest import TEAM
from tests.memory.talk import commit, compose, context, gone, lines, memories, only, pref, ref, shown, states

DATABASE = "decision:shop:database"
TONE = "pref:writing:tone"
P, Q = "project:p", "project:q"


def test_it_works(cast):
    """Case 3; field report B10: with its reason."""
    found = only(commit(cast.agent, preferences=[pref()]))["id"]
    answer = commit(cast.agent, retractions=[gone("preferences", TONE, "never said that")])
    assert lines(answer) == [("retract", "retracted")]
    assert answer["memory_written"]["count"] == 0
    assert answer["memory_written"]["conflicts"] == [
        {"type": "retract", "key": TONE, "previous_memory_item_id": found, "memory_item_id": None, "rule": None}
    ]
    assert states(TONE) == [("retracted", False, 1)]
    history = cast.agent.do("get_memory_item", id=found)["history"]
    assert (history[-1]["kind"], history[-1]["reason"]) == ("retracted", "never said that")
    assert memories(cast.agent, "writing tone") == []
    package = compose(cast.agent, "Which tone do I like?")
    assert (shown(package), package["system_blocks"]) == ([], [])
    assert cast.agent.do("list_memory_items", domain_id=TEAM)["items"] == []


def test_a_retraction_of_something_unknown_is_kept_once(cast):
    """Specification 2.5: a row with status retracted, counted; said again it is the same denial."""
    answer = commit(cast.agent, retractions=[gone("decisions", DATABASE, "we never decided")])
    assert lines(answer) == [("retract", "nothing_to_retract")]
    assert answer["memory_written"]["count"] == 1
    assert only(answer)["status"] == "retracted"
    for _ in range(3):
        again = commit(cast.agent, retractions=[gone("decisions", DATABASE, "we never decided")])
        assert lines(again) == [("deduplicate", "already_retracted")]
        assert again["memory_written"]["count"] == 0
    assert states(DATABASE) == [("retracted", False, 1)]
    assert memories(cast.agent, "decided", history=True) == []


def test_what_was_retracted_can_be_said_again(cast):
    commit(cast.agent, preferences=[pref()])
    commit(cast.agent, retractions=[gone("preferences", TONE)])
    assert not only(commit(cast.agent, preferences=[pref()]))["deduplicated"]
    assert [status for status, _, _ in states(TONE)] == ["retracted", "active"]
    commit(cast.agent, retractions=[gone("preferences", TONE)])
    assert [status for status, _, _ in states(TONE)] == ["retracted", "retracted"]


def test_a_retraction_reaches_its_own_scope_only(cast):
    scopes = context(P, Q, write=(P, Q))
    commit(cast.agent, scopes=scopes, preferences=[pref("a"), pref("a", scope_ref=ref(Q))])
    commit(cast.agent, scopes=scopes, retractions=[gone("preferences", TONE, scope_ref=ref(Q))])
    assert [row.scope.name for row in MemoryItem.objects.filter(status="active")] == [P]


def test_a_retraction_in_the_commit_that_writes_the_key_wins(cast):
    """Specification 2.3: retractions come last. What one commit both says and takes back does not hold."""
    commit(cast.agent, preferences=[pref("old")])
    answer = commit(cast.agent, preferences=[pref("new")], retractions=[gone("preferences", TONE)] * 2)
    assert lines(answer) == [("write", "structured"), ("retract", "retracted"), ("deduplicate", "already_retracted")]
    assert [status for status, _, _ in states(TONE)] == ["superseded", "retracted"]
    assert memories(cast.agent, "writing tone") == []


def test_a_retracted_entity_says_so(cast):
    entity = {"key": "entity:person:ann", "kind": "person", "canonical": "Ann", "remember": True}
    commit(cast.agent, "s", entities=[entity])
    assert Entity.objects.get().state == "active"
    commit(cast.agent, "s", retractions=[{"type": "entities", "key": "entity:person:ann", "reason": "left"}])
    assert Entity.objects.get().state == "retracted"
