"""What is done within a call and judged as another: tried by a draft, told by an explanation, and imagined."""

from __future__ import annotations

from governance.models import AuditEntry
from tests.conftest import TEAM, a_turn, make_person
from tests.governance.test_explain import EVERYTHING, what_if
from tests.guards.write_guard import unguarded

ITEMS = {"review": {"queue": [{"name": "items", "actions": ["write_memory_item"], "scope_types": ["project"]}]}}
TAKEN_BACK = {"review": {"queue": [{"name": "back", "actions": ["retract_item"], "scope_types": ["project"]}]}}


def decide_in(cast, *projects: str, **events: list) -> None:
    """A turn that writes a decision into each of these projects, by its own scope_ref."""
    scopes = [{"type": "project", "id": name} for name in projects]
    decisions = [
        {"key": f"decision:{scope['id']}:x", "decision": "Herons", "scope_ref": scope}
        for scope in scopes
        if "retractions" not in events
    ]
    context = {"read": scopes, "write": scopes}
    turn = {"decisions": decisions, **events}
    cast.agent.do("commit_turn", a_turn(turn_events=turn, scope_context=context))


def turned(cast, document: dict, player=None) -> dict[str, int]:
    answer = (player or cast.operator).do("replay_policy", domain_id=TEAM, document=document)
    return {line["action"]: line["count"] for line in answer["lines"]}


def test_it_works(cast):
    decide_in(cast, "shop", "atlas")
    cast.agent.do("commit_turn", a_turn())
    assert turned(cast, ITEMS) == {"write_memory_item in commit_turn": 2}
    assert cast.operator.do("replay_policy", domain_id=TEAM, document=ITEMS)["otherwise"] == 1, (
        "one call, two parts of it"
    )
    assert turned(cast, TAKEN_BACK) == {}
    cast.operator.do("set_policy", domain_id=TEAM, document=ITEMS, reason="r")
    decide_in(cast, "later")
    assert turned(cast, {"review": {"queue": []}}) == {
        "write_memory_item in commit_turn": 2,
        "write_memory_item": 1,
    }, "what waited then, and what would have"


def test_what_a_turn_takes_back_counts_as_that_and_as_written(cast):
    decide_in(cast, "shop")
    gone = [
        {"type": "decisions", "key": "decision:shop:x", "reason": "no", "scope_ref": {"type": "project", "id": "shop"}}
    ]
    decide_in(cast, "shop", retractions=gone)
    assert turned(cast, TAKEN_BACK) == {"retract_item in commit_turn": 1}
    assert turned(cast, ITEMS) == {"write_memory_item in commit_turn": 2}


def test_a_call_that_a_draft_holds_whole_is_counted_once(cast):
    decide_in(cast, "shop")
    assert turned(cast, EVERYTHING) == {"commit_turn": 1}


def test_the_parts_of_a_call_are_told_to_who_reviews_their_scopes_only(cast):
    decide_in(cast, "shop", "atlas")
    half = make_person("half", TEAM, "project:shop")
    make_person("whole", TEAM)
    row = AuditEntry.objects.filter(action="commit_turn").latest("id")
    assert sorted(scope for _, scope in row.facts["parts"]) == ["project:atlas", "project:shop"]
    told = cast.reviewer.do("explain_policy", audit_entry_id=str(row.pk))["facts"]
    assert len(told["parts"]) == 2
    with unguarded():
        AuditEntry.objects.filter(pk=row.pk).update(scope="project:shop")
    assert half.do("explain_policy", audit_entry_id=str(row.pk))["facts"]["parts"] == [
        ["write_memory_item", "project:shop"]
    ]


def test_an_imagined_call_tells_which_of_its_parts_would_wait(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=ITEMS, reason="r")
    told = what_if(cast.reviewer, scope="project:shop")
    assert told["verdict"] == "allow"
    assert {(part["action"], part["verdict"]) for part in told["parts"]} == {
        (name, "queue") for name in ("write_memory_item", "retract_item", "write_relation", "write_denial")
    }
    assert told["words"][-4] == (
        "What it does there as write_memory_item waits for a person by itself, by the rule review.queue:items; the rest "
        "is done."
    )
    assert what_if(cast.reviewer, scope="task:shop")["parts"] == []
    assert what_if(cast.reviewer, action="compose_context", scope="project:shop")["parts"] == []
