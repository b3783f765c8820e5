"""What agents are told of memories that they were shown: once each, and nothing that they may not read."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel import clock
from memory.models import ContextRecord, KnowledgeEvent, Notice
from memory.selectors import notices
from tests.asked import texts
from tests.conftest import TEAM, Cast, Player, make_agent
from tests.guards.write_guard import unguarded
from tests.memory.acting import SHOP, correct, demote, known, narrow, reader, retract, undo
from tests.memory.talk import commit, compose, context, shown


def told(player: Player, session: str = "n1") -> list[dict]:
    notices: list[dict] = compose(player, "Which database?", session, scope_context=context(SHOP))["notices"]
    return notices


def test_it_works(cast):
    other, never = reader(), reader("never-shown")
    row = known(cast.agent)
    assert shown(compose(other, "Which database, Postgres?", "n1", scope_context=context(SHOP))) == ["Use Postgres"]
    assert retract(cast.agent, row)["notices"] == 1
    (notice,) = told(other)
    assert (notice["kind"], notice["memory_item_id"], notice["reason"]) == ("retracted", row, "it was wrong")
    assert notice["replacement_id"] is None
    assert told(other) == [], "once each"
    assert told(never) == []
    record = ContextRecord.objects.filter(actor_name="colleague").order_by("-id")[1]
    assert record.package["notices"][0]["memory_item_id"] == row
    assert Notice.objects.get().context == record.id


def test_a_context_that_does_not_read_the_scope_takes_no_notice(cast):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    retract(cast.agent, row)
    assert compose(other, "Which database?", "n2", scope_context=context("task:elsewhere"))["notices"] == []
    assert [each["memory_item_id"] for each in told(other)] == [row]


def test_who_acts_is_told_in_their_other_conversations(cast):
    row = known(cast.agent)
    compose(cast.agent, "Postgres?", "n1", scope_context=context(SHOP))
    assert retract(cast.agent, row)["notices"] == 1
    assert [each["memory_item_id"] for each in told(cast.agent)] == [row]


def test_the_conversation_that_takes_it_back_is_not_told(cast):
    known(cast.agent, session="n1")
    compose(cast.agent, "Postgres?", "n1", scope_context=context(SHOP))
    gone = {"type": "decisions", "key": "decision:shop:database", "reason": "never decided"}
    commit(cast.agent, "n1", scopes=context(SHOP), retractions=[gone])
    assert told(cast.agent) == []


@pytest.mark.parametrize(("composed", "left"), [("n1", 0), ("n2", 1), (None, 1)])
def test_a_conversation_that_takes_it_back_in_its_first_turn_is_not_told(cast, composed, left):
    """It composes before its first commit opens it; what it was shown elsewhere or nowhere it is told."""
    known(cast.agent, session="earlier")
    body = {"domain_id": TEAM, "user_message": "Postgres?", "scope_context": context(SHOP)}
    cast.agent.do("compose_context", body | ({"session_id": composed} if composed else {}))
    assert ContextRecord.objects.get().session is None
    gone = {"type": "decisions", "key": "decision:shop:database", "reason": "never decided"}
    commit(cast.agent, "n1", scopes=context(SHOP), retractions=[gone])
    assert len(told(cast.agent)) == left


def test_another_who_names_the_same_conversation_is_told(cast):
    known(cast.agent, session="earlier")
    other = reader()
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    gone = {"type": "decisions", "key": "decision:shop:database", "reason": "never decided"}
    commit(cast.agent, "n1", scopes=context(SHOP), retractions=[gone])
    assert len(told(other)) == 1


def test_a_correction_names_what_took_its_place(cast):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    new = correct(cast.agent, row, text="Use SQLite")["item"]["id"]
    (notice,) = told(other)
    assert (notice["kind"], notice["replacement_id"]) == ("corrected", new)


@pytest.mark.parametrize("act", ["retract_item", "correct_item", "demote", "narrow_item"])
def test_what_is_in_force_again_is_not_told_to_have_gone(cast, act):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    if act == "retract_item":
        retract(cast.agent, row)
    elif act == "correct_item":
        correct(cast.agent, row, text="Use SQLite")
    elif act == "demote":
        demote(cast.reviewer, row)
    else:
        narrow(cast.agent, row)
    undo(cast.reviewer, act)
    assert told(other) == []


def test_a_correction_corrected_again_names_what_holds_now(cast):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    second = correct(cast.agent, row, text="Use SQLite")["item"]["id"]
    third = correct(cast.agent, second, text="Use DuckDB")["item"]["id"]
    (notice,) = told(other)
    assert (notice["kind"], notice["memory_item_id"], notice["replacement_id"]) == ("corrected", row, third)


@pytest.mark.parametrize(
    ("gone", "kind", "why"), [(retract, "retracted", "it was wrong"), (demote, "demoted", "times changed")]
)
def test_a_correction_that_is_gone_is_not_named(cast, gone, kind, why):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    new = correct(cast.agent, row, text="Use SQLite")["item"]["id"]
    gone(cast.reviewer, new)
    (notice,) = told(other)
    assert (notice["kind"], notice["memory_item_id"], notice["replacement_id"]) == (kind, row, None)
    assert notice["reason"] == why


def test_a_line_of_corrections_that_is_too_long_to_follow_is_told_as_corrected(cast, monkeypatch):
    monkeypatch.setattr(notices, "MAX_STEPS", 2)
    other = reader()
    new = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    for name in ("SQLite", "DuckDB", "Oracle", "MySQL"):
        new = correct(cast.agent, new, text=f"Use {name}")["item"]["id"]
    (notice,) = told(other)
    assert (notice["kind"], notice["replacement_id"], notice["reason"]) == ("corrected", None, "it is otherwise")


def test_a_correction_that_was_promoted_and_taken_back_tells_why_it_was_taken_back(cast):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    new = correct(cast.agent, row, text="Use SQLite")["item"]["id"]
    retract(cast.agent, new)
    with unguarded():
        (event,) = KnowledgeEvent.objects.filter(item=new, kind="corrected")
        event.pk, event.kind, event.reason = None, "promoted", "it holds in the whole company"
        event.save()
    (notice,) = told(other)
    assert (notice["kind"], notice["reason"]) == ("retracted", "it was wrong")


def test_a_narrowing_tells_outsiders_nothing_of_the_narrower_scope(cast):
    other = make_agent("outsider", pattern=SHOP)
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP, "session:n1"))
    narrow(cast.agent, row)
    (notice,) = told(other)
    assert (notice["kind"], notice["replacement_id"]) == ("narrowed", None)


def test_a_demotion_is_told(cast):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    demote(cast.reviewer, row)
    assert [each["kind"] for each in told(other)] == ["demoted"]


def test_who_was_shown_it_long_ago_is_not_told(cast):
    other = reader()
    row = known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    with unguarded():
        ContextRecord.objects.update(created_at=clock.now() - timedelta(days=31))
    assert retract(cast.agent, row)["notices"] == 0


def test_at_most_ten_a_context_and_the_rest_on_the_next(cast):
    other = reader()
    ids = [known(cast.agent, f"Postgres rule {n}", key=f"decision:shop:{n}") for n in range(12)]
    for n in range(12):
        compose(other, f"Postgres rule {n}?", f"n{n}", scope_context=context(SHOP))
    for row in ids:
        retract(cast.agent, row)
    waiting = Notice.objects.count()
    assert waiting > 10
    assert len(told(other)) == 10
    assert len(told(other)) == waiting - 10


def test_where_there_is_none_it_costs_one_statement(cast):
    known(cast.agent)
    with CaptureQueriesContext(connection) as caught:
        told(cast.agent)
    assert len([sql for sql in texts(caught) if 'FROM "notices"' in sql]) == 1


def test_a_retraction_in_a_commit_is_told_too(cast):
    other = reader()
    known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    gone = {"type": "decisions", "key": "decision:shop:database", "reason": "never decided"}
    commit(cast.agent, scopes=context(SHOP), retractions=[gone])
    assert [(each["kind"], each["reason"]) for each in told(other)] == [("retracted", "never decided")]


def contradicting(cast: Cast) -> tuple[str, str]:
    """Two memories that do not go together, both shown to a colleague, and their open conflict."""
    one = known(cast.agent, "The default port is 8080.", key="decision:shop:port")
    other = known(cast.agent, "The default port is 9090.", key="decision:shop:default-port")
    assert [each["state"] for each in cast.agent.do("list_conflicts", domain_id=TEAM)["conflicts"]] == ["open"]
    return one, other


@pytest.mark.parametrize("act", ["retract", "demote", "narrow"])
def test_a_contradiction_is_over_when_one_side_leaves(cast, act):
    one, _ = contradicting(cast)
    if act == "retract":
        retract(cast.agent, one)
    elif act == "demote":
        demote(cast.reviewer, one)
    else:
        narrow(cast.agent, one, text="Here nothing listens.")
    listed = cast.agent.do("list_conflicts", domain_id=TEAM, state="open")["conflicts"]
    assert [each for each in listed if one in str(each)] == []


def test_who_was_shown_the_losing_side_of_a_decided_contradiction_is_told(cast):
    one, other = contradicting(cast)
    colleague = reader()
    compose(colleague, "What is the default port?", "n1", scope_context=context(SHOP))
    (conflict,) = cast.agent.do("list_conflicts", domain_id=TEAM)["conflicts"]
    sides = {conflict["a"]["id"]: "keep_b", conflict["b"]["id"]: "keep_a"}
    cast.reviewer.do(
        "resolve_conflict", id=conflict["id"], revision=conflict["revision"], outcome=sides[one], reason="it moved"
    )
    (notice,) = compose(colleague, "What is the default port?", "n2", scope_context=context(SHOP))["notices"]
    assert (notice["kind"], notice["memory_item_id"], notice["replacement_id"]) == ("corrected", one, other)


def test_the_chat_messages_carry_conflicts_and_notices(cast):
    """What was taken back is told in them once; what had no room is told on the next context."""
    other, row = reader(), known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    retract(cast.agent, row)
    contradicting(cast)
    rendered = compose(other, "Which default port?", "n1", scope_context=context(SHOP), render=True)
    told_of, asked = rendered["messages"][-2:]
    assert asked["content"] == "Which default port?"
    (conflict,), (notice,) = rendered["conflicts"], rendered["notices"]
    assert f"[C1] {conflict['rule']}, {conflict['severity']}, open: conflict {conflict['id']}" in told_of["content"]
    assert f"[N1] memory {row} was retracted {notice['at'][:10]}" in told_of["content"]
    again = compose(other, "Which default port?", "n1", scope_context=context(SHOP), render=True)
    assert "\n[N1]" not in again["messages"][-2]["content"]


def test_a_notice_without_room_waits_for_the_next_context(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document={"composition": {"token_limit": 300}}, reason="r")
    other, row = reader(), known(cast.agent)
    compose(other, "Postgres?", "n1", scope_context=context(SHOP))
    retract(cast.agent, row)
    full = compose(other, "Postgres " * 220, "n1", scope_context=context(SHOP))
    assert full["notices"] == []
    assert [left["slot"] for left in full["debug"]["dropped"] if left["slot"] == "notices"] == ["notices"]
    assert [each["memory_item_id"] for each in compose(other, "?", "n1", scope_context=context(SHOP))["notices"]] == [
        row
    ]
