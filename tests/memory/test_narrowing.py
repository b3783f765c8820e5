"""What was narrowed is hidden from those outside on every door: its earlier versions, its conflicts, what was said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kernel import clock
from kernel.errors import ConflictError, NotFoundError
from memory.models import Entity, EntityAlias, ExtractionRun, MemoryItem, Message, Session, Turn
from memory.selectors.events import hydrate_events
from memory.selectors.extractions import visible_extractions
from memory.selectors.graph import visible_entities
from scopes.models import Grant, MemoryScope
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, Cast, Player, make_agent
from tests.guards.write_guard import unguarded
from tests.memory.acting import SHOP, TASK, correct, known, narrow, retract, undo
from tests.memory.talk import commit, compose, context, decision, entity, gone, lines, memories, only, search

FIRST, SECOND, LAST = "The salary budget is 100", "The salary budget is 110", "The salary budget is 120"


def outsider() -> Player:
    return make_agent("outsider", pattern=SHOP)


def told(player: Player, *texts: str) -> set[str]:
    """Those of the texts that any read of memory tells."""
    ask = {"scope_context": context(SHOP)}
    ago = {"valid": None, "recorded": (clock.now() - timedelta(microseconds=1)).isoformat()}
    found = [
        memories(player, "salary budget", "o1", **ask, **more) for more in ({}, {"history": True}, {"as_of": ago})
    ]
    listed = [player.do("list_memory_items", domain_id=TEAM, **more)["items"] for more in ({}, {"history": True})]
    seen = [
        player.do("get_memory_item", id=str(pk)) | player.do("lineage", memory_item_id=str(pk))
        for pk in MemoryItem.objects.values_list("pk", flat=True)
        if is_shown(player, str(pk))
    ]
    return {text for text in texts if text in str([found, listed, seen])}


def is_shown(player: Player, item_id: str) -> bool:
    try:
        player.do("get_memory_item", id=item_id)
    except NotFoundError:
        return False
    return True


def corrected(cast: Cast) -> str:
    agent = cast.agent
    first = known(agent, FIRST)
    second = correct(agent, first, text=SECOND)["item"]["id"]
    return str(correct(agent, second, text=LAST)["item"]["id"])


def said_again(cast: Cast) -> str:
    agent = cast.agent
    known(agent, FIRST)
    known(agent, SECOND)
    return known(agent, LAST)


def taken_back_between(cast: Cast) -> str:
    agent = cast.agent
    retract(agent, known(agent, FIRST))
    retract(agent, known(agent, SECOND))
    return known(agent, LAST)


def renamed(cast: Cast) -> str:
    agent = cast.agent
    known(agent, FIRST, key="decision:shop:first")
    second = known(agent, SECOND, key="decision:shop:first")
    return known(agent, LAST, key="decision:shop:last", supersedes=second)


def restored(cast: Cast) -> str:
    agent = cast.agent
    first = known(agent, FIRST)
    correct(agent, first, text=SECOND)
    undo(cast.reviewer, "correct_item")
    return known(agent, LAST)


LINES = [corrected, said_again, taken_back_between, renamed, restored]


@pytest.mark.parametrize("line", LINES)
def test_it_works(cast, line):
    """Every earlier version of what was narrowed is hidden too, however it came to be one."""
    other = outsider()
    last = line(cast)
    assert told(other, FIRST, SECOND, LAST) == {FIRST, SECOND, LAST}
    narrow(cast.agent, last)
    assert told(other, FIRST, SECOND, LAST) == set()
    assert told(cast.agent, FIRST, SECOND, LAST) == {FIRST, SECOND, LAST}, "who reads the narrower scope sees all"


@pytest.mark.parametrize("line", LINES)
def test_undone_everyone_sees_the_line_again(cast, line):
    other = outsider()
    narrow(cast.agent, line(cast))
    undo(cast.reviewer, "narrow_item")
    assert not MemoryItem.objects.exclude(narrowed_to=None).exists()
    assert told(other, FIRST, SECOND, LAST) == {FIRST, SECOND, LAST}


def test_what_was_narrowed_before_stays_where_it_is_and_comes_back_by_its_own_undoing(cast):
    narrow(cast.agent, known(cast.agent, FIRST), "task:other")
    narrow(cast.agent, known(cast.agent, LAST))
    undo(cast.reviewer, "narrow_item")
    assert told(outsider(), FIRST, LAST) == {LAST}


def test_another_memory_of_the_scope_stays_in_sight(cast):
    known(cast.agent, FIRST, key="decision:shop:other")
    narrow(cast.agent, known(cast.agent, LAST))
    assert told(outsider(), FIRST, LAST) == {FIRST}


def test_a_hidden_version_is_not_brought_back_into_the_wide_scope(cast):
    retract(cast.agent, known(cast.agent, FIRST))
    narrow(cast.agent, known(cast.agent, LAST))
    with pytest.raises(ConflictError, match="narrowed to another scope since"):
        undo(cast.reviewer, "retract_item")
    assert told(outsider(), FIRST, LAST) == set()


@pytest.mark.parametrize("outcome", [None, "both_valid", "keep_a", "keep_b"])
def test_a_conflict_with_it_is_shown_to_nobody_outside(cast, outcome):
    here = {"scopes": context(SHOP)}
    commit(cast.agent, **here, decisions=[decision("The default database is Postgres.", "decision:shop:db")])
    said = [decision("The default database is MySQL.", "decision:shop:default-db")]
    (found,) = commit(cast.agent, **here, decisions=said)["memory_written"]["found"]
    if outcome is not None:
        more = {"condition": "for reports"} if outcome == "both_valid" else {}
        cast.reviewer.do("resolve_conflict", id=found["id"], outcome=outcome, reason="so", **more)
    other = outsider()
    every = {"domain_id": TEAM, "state": None}
    assert [row["id"] for row in other.do("list_conflicts", every)["conflicts"]] == [found["id"]]
    narrow(cast.agent, found["a_id"] if outcome == "keep_a" else found["b_id"])
    assert other.do("list_conflicts", every)["conflicts"] == []
    with pytest.raises(NotFoundError):
        other.do("get_conflict", id=found["id"])
    assert found["id"] in [row["id"] for row in cast.agent.do("list_conflicts", every)["conflicts"]]
    assert cast.agent.do("get_conflict", id=found["id"])["conflict"]["id"] == found["id"]


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("status", ["active", "retracted"])
def test_a_denial_from_outside_neither_finds_nor_changes_it(cast, held, status):
    """As where there never was such a memory: the denial itself is kept, or waits."""
    narrow(cast.agent, corrected(cast))
    hidden = MemoryItem.objects.exclude(narrowed_to=None)
    with unguarded():
        hidden.update(status=status)
    if held:
        rule = {"name": "shared", "actions": ["retract_item"], "scope_types": ["project"]}
        cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look")
    denied = gone("decisions", decision()["key"])
    answer = commit(outsider(), "o1", scopes=context(SHOP), retractions=[denied])
    assert lines(answer) == [("queue", "waits_for_a_person") if held else ("retract", "nothing_to_retract")]
    assert [each["action"] for each in answer["memory_written"]["queued"]] == (["write_denial"] if held else [])
    assert answer["memory_written"]["conflicts"] == []
    assert set(hidden.values_list("status", flat=True)) == {status}
    assert hidden.count() == 3


def test_a_name_of_a_narrowed_entity_tells_nothing_of_it(cast):
    rag = {**entity("salary_rag"), "aliases": ["sr"], "remember": True}
    narrow(cast.agent, only(commit(cast.agent, scopes=context(SHOP), entities=[rag]))["id"])
    answer = commit(outsider(), "o1", scopes=context(SHOP), retractions=[gone("entities", "entity:repo:sr")])
    assert lines(answer) == [("retract", "nothing_to_retract")]
    assert "salary" not in str(answer)


SAID = "We decided to use NATS for the salary events."


def said_and_narrowed(cast: Cast, target: str = TASK) -> dict:
    """A turn of the agent of which one message taught a memory that was narrowed, beside one that taught nothing."""
    texts = [{"role": "user", "content": "Good morning, all"}, {"role": "user", "content": SAID, "id": "m-7"}]
    turn = commit(cast.agent, "s1", scopes=context(SHOP), messages=texts)
    return {"turn": turn["turn_id"], "narrowed": narrow(cast.agent, only(turn)["id"], target)["item"]["id"]}


def test_nobody_in_particular_is_the_opener_of_no_conversation(cast):
    said_and_narrowed(cast)
    message = Message.objects.get(content=SAID)
    session = message.turn.session.scope
    with unguarded():
        MemoryScope.objects.filter(pk=session.pk).update(owner="")
    assert hydrate_events([message.pk], TEAM, [session.pk], "") == {}
    with unguarded():
        MemoryScope.objects.filter(pk=session.pk).update(owner="me")
    assert list(hydrate_events([message.pk], TEAM, [session.pk], "me")) == [message.pk]


def test_what_taught_it_is_not_told_to_those_outside(cast):
    texts = [{"role": "user", "content": SAID}]
    item = only(commit(cast.agent, "s1", scopes=context(SHOP), messages=texts))["id"]
    other = outsider()
    here = {"scope_context": context(SHOP)}
    assert SAID in [row["text"] for row in search(other, "NATS salary events", "o1", kinds=["message"], **here)]
    narrow(cast.agent, item)
    for more in ({}, {"history": True}, {"mode": "exact"}):
        assert search(other, "NATS", "o1", **here, **more) == []
    assert SAID not in str(compose(other, "NATS salary events", "o1", **here))
    assert SAID in str(search(cast.agent, "NATS salary events", "s1", **here)), (
        "who opened the conversation is told it"
    )
    inside = make_agent("inside", pattern="*")
    both = {"scope_context": context(SHOP, TASK, default=None)}
    assert SAID in str(search(inside, "NATS salary events", "i1", kinds=["message"], **both))
    undo(cast.reviewer, "narrow_item")
    assert SAID in [row["text"] for row in search(other, "NATS salary events", "o1", kinds=["message"], **here)]


def test_a_memory_that_names_no_message_keeps_apart_all_that_was_said_in_its_turn(cast):
    here = {"scope_context": context(SHOP)}
    turn = commit(cast.agent, "s1", scopes=context(SHOP), say=SAID, decisions=[decision("Salary events go over NATS")])
    commit(cast.agent, "s1", scopes=context(SHOP), say="NATS has events for weather too.")
    item = MemoryItem.objects.get(key=decision()["key"])
    assert (item.source_message_id, str(item.source_turn_id)) == (None, turn["turn_id"])
    other = outsider()
    assert SAID in str(search(other, "NATS events", "o1", kinds=["message"], **here))
    narrow(cast.agent, str(item.pk))
    for found in (
        search(other, "NATS events", "o1", kinds=["message"], **here),
        compose(other, "NATS events", "o1", **here),
    ):
        assert SAID not in str(found)
        assert "weather" in str(found), "what was said in another turn is told as before"
    assert SAID in str(search(cast.agent, "NATS events", "s1", kinds=["message"], **here))
    undo(cast.reviewer, "narrow_item")
    assert SAID in str(search(other, "NATS events", "o1", kinds=["message"], **here))


@pytest.mark.parametrize(
    ("patterns", "told"),
    [(("session:*", SHOP), False), (("session:*", SHOP, TASK), True)],
)
def test_a_conversation_is_read_without_what_taught_it_by_those_outside(cast, patterns, told):
    made = said_and_narrowed(cast)
    reading = make_agent("reading", pattern=patterns[0])
    for pattern in patterns[1:]:
        with unguarded():
            Grant.objects.create(principal_id=reading.ctx().actor.id, domain_id=TEAM, pattern=pattern, rights=["read"])
    reading = replace(reading, identity=authenticate_key(reading.key))
    for action, given in (
        ("get_turn", {"turn_id": made["turn"]}),
        ("list_turns", {"domain_id": TEAM, "session_id": "s1"}),
        ("get_session", {"id": str(Session.objects.get().pk)}),
    ):
        answer = reading.do(action, given)
        assert (SAID in str(answer)) is told, action
        assert "Good morning, all" in str(answer)
        assert SAID in str(cast.agent.do(action, given)), "who opened it reads all of it"
    here = {"scope_context": context("session:s1", SHOP, default=None)}
    assert (SAID in str(compose(reading, "Go on", "s1", **here))) is told
    assert SAID in str(compose(cast.agent, "Go on", "s1", **here))
    assert SAID not in str(search(reading, "NATS salary events", "s1", kinds=["message"], **here)), (
        "TASK is not read here"
    )


def test_a_recorded_context_tells_those_outside_no_longer_what_it_told_them(cast):
    """What they were shown is told by its id with the reason, on the record's own action; who reads the scope sees it."""
    known(cast.agent, "The port of the gateway is 8080", key="decision:shop:port")
    texts = [{"role": "user", "content": "We decided to pay the salary gateway by NATS.", "id": "m-1"}]
    heard = only(commit(cast.agent, "s1", scopes=context(SHOP), messages=texts))["id"]
    given = known(cast.agent, LAST)
    other = outsider()
    package = compose(other, "salary gateway budget NATS port", "o1", scope_context=context(SHOP))
    assert "NATS" in str(package["evidence"])
    told = other.do("get_context", id=package["context_id"])
    assert (told["package"]["evidence"], told["withheld"]) == (package["evidence"], [])
    narrow(cast.agent, given, also=[heard])
    told = other.do("get_context", id=package["context_id"])
    said = str({name: part for name, part in told["package"].items() if name not in ("user_message", "debug")})
    assert "8080" in said
    assert LAST not in said
    assert "NATS" not in said
    assert {given, heard} == {each["id"] for each in told["withheld"] if each["slot"] == "evidence"}
    assert {each["reason"] for each in told["withheld"]} == {"narrowed"}
    undo(cast.reviewer, "narrow_item")
    assert other.do("get_context", id=package["context_id"])["package"]["evidence"] == package["evidence"]


def test_the_ladder_of_a_recorded_context_has_no_rung_of_it_for_those_outside(cast):
    known(cast.agent, LAST)
    known(cast.agent, "Budgets are secret", scope="global:all")
    other = make_agent("outsider", pattern=SHOP)
    cast.operator.do("grant_access", name="outsider", domain_id=TEAM, pattern="global:*", rights=["read"])
    other = replace(other, identity=authenticate_key(other.key))
    here = {"scope_context": context(SHOP, "global:all", default=None)}
    package = compose(other, "salary budget", "o1", **here)
    assert LAST in str(other.do("inspect_shadows", domain_id=TEAM, context_id=package["context_id"]))
    narrow(cast.agent, str(MemoryItem.objects.get(statement=LAST).pk))
    assert LAST not in str(
        other.do("inspect_shadows", domain_id=TEAM, context_id=package["context_id"], key=decision()["key"])
    )
    assert "Budgets" in str(
        other.do("inspect_shadows", domain_id=TEAM, context_id=package["context_id"], key=decision()["key"])
    )


def test_a_tool_call_is_kept_apart_with_what_was_learned_in_its_turn(cast):
    call = {
        "name": "lookup",
        "args": {"what": "salary"},
        "result": {"bus": "NATS for the salary events"},
        "status": "ok",
    }
    turn = commit(
        cast.agent, "s1", scopes=context(SHOP), tool_calls=[call], decisions=[decision("Salary events go over NATS")]
    )
    other, here = outsider(), {"scope_context": context(SHOP)}
    assert "NATS" in str(search(other, "salary events", "o1", kinds=["message"], **here))
    narrow(cast.agent, str(MemoryItem.objects.get(key=decision()["key"]).pk))
    assert search(other, "salary events", "o1", kinds=["message"], **here) == []
    reading = make_agent("reading", pattern="session:*")
    assert "NATS" not in str(reading.do("get_turn", turn_id=turn["turn_id"]))
    assert "NATS" in str(cast.agent.do("get_turn", turn_id=turn["turn_id"]))
    undo(cast.reviewer, "narrow_item")
    assert "NATS" in str(reading.do("get_turn", turn_id=turn["turn_id"]))


def test_a_narrowed_entity_is_told_by_none_of_its_names_and_begins_anew(cast):
    rag = {**entity("salary_rag"), "aliases": ["sr", "pay engine"], "remember": True}
    narrow(cast.agent, only(commit(cast.agent, scopes=context(SHOP), entities=[rag]))["id"])
    other = outsider()
    assert list(visible_entities(other.ctx())) == []
    again = commit(other, "o1", scopes=context(SHOP), entities=[{**entity("sr"), "remember": True}])
    assert "salary" not in str(again)
    assert [row.canonical for row in visible_entities(other.ctx())] == ["sr"]
    same = commit(other, "o1", scopes=context(SHOP), entities=[{**entity("salary_rag"), "remember": True}])
    item = MemoryItem.objects.get(pk=only(same)["id"])
    assert (item.value["aliases"], item.version) == ([], 1)
    assert not EntityAlias.objects.filter(entity__item=item).exists()
    inside = Entity.objects.get(scope__external_id="t")
    assert set(inside.aliases.values_list("alias", flat=True)) == {"sr", "pay engine"}


def test_what_a_model_replied_to_the_turn_is_kept_apart_too(cast):
    turn = Turn.objects.get(pk=said_and_narrowed(cast)["turn"])
    with unguarded():
        ExtractionRun.objects.create(domain_id=TEAM, turn=turn, model="m", state="failed", raw_reply=SAID)
    reading = make_agent("reading", pattern="session:*")
    assert not visible_extractions(reading.ctx()).exists()
    assert visible_extractions(cast.agent.ctx()).count() == 1
    undo(cast.reviewer, "narrow_item")
    assert visible_extractions(reading.ctx()).count() == 1
