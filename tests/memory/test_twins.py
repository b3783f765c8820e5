"""What is said once may be remembered twice: the second memory is offered with every act on the first, and follows it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from governance.models import AuditEntry
from kernel.errors import ForbiddenError, InvalidInputError
from memory.models import Entity, EvidenceLink, KnowledgeEvent, MemoryItem, Notice
from scopes.selectors import authenticate_key
from tests.conftest import ELSEWHERE, TEAM, Cast, Player, make_agent, make_person
from tests.memory.act_pages import REASON, address, done, look, signed, undone
from tests.memory.acting import SHOP, TASK, WHY, correct, demote, known, narrow, retract, undo
from tests.memory.factories import made, scope_row
from tests.memory.presented import presented
from tests.memory.talk import VERIFIED, commit, compose, context, decision, entity, item, memories, only, ref

OTHER = {"verification_refs": [{"kind": "url", "id": "https://example.org/two"}]}
SAID = "We decided to use NATS for the salary events."
ACTS = {"retract_item": retract, "correct_item": correct, "narrow_item": narrow}


def twins(cast: Cast) -> tuple[str, str]:
    """The decision that a turn gives, and the one that its message says in other words."""
    commit(cast.agent, scopes=context(SHOP), say=SAID, decisions=[decision("Salary events go over NATS")])
    given, heard = MemoryItem.objects.order_by("origin")
    assert (given.origin, heard.origin) == ("structured", "text:we_decided")
    return str(given.pk), str(heard.pk)


def act(name: str, player: Player, item_id: str, **fields: Any) -> dict:
    more = {"text": "Salary events go over Kafka"} if name == "correct_item" else {}
    return ACTS[name](player, item_id, **more, **fields)


def offered(answer: dict) -> dict[str, str]:
    return {each["item"]["id"]: each["relation"] for each in answer["also"]}


def outcomes(answer: dict) -> dict[str, str]:
    return {each["id"]: each["outcome"] for each in answer["outcomes"]}


def told(outside: Player, text: str = "NATS") -> list[str]:
    """What someone who reads the shop and not the task is told of this."""
    here = {"scope_context": context(SHOP)}
    found = [memories(outside, text, "o1", **here, **more) for more in ({}, {"history": True})]
    listed = outside.do("list_memory_items", domain_id=TEAM, history=True)["items"]
    seen = [*found[0], *found[1], *(each["statement"] for each in listed)]
    return sorted({each for each in seen if text in each})


def test_it_works(cast):
    """Narrowed together, neither is told outside; narrowed alone, the other is offered, since it goes on telling it."""
    given, heard = twins(cast)
    outside = make_agent("outside", pattern=SHOP)
    alone = narrow(cast.agent, given)
    assert offered(alone) == {heard: "near_duplicate"}
    assert told(outside) == ["We decided to use NATS for the salary events"]
    undo(cast.reviewer, "narrow_item")
    given = str(MemoryItem.objects.get(key=decision()["key"], current_until=None).pk)
    both = narrow(cast.agent, given, also=[heard])
    assert (outcomes(both), both["also"]) == ({heard: "done"}, [])
    assert told(outside) == []
    inside = {"scope_context": context(TASK)}
    assert sorted(memories(cast.agent, "NATS salary events", **inside)) == sorted(
        [SAID[:-1], "Salary events go over NATS"]
    )


@pytest.mark.parametrize("name", ACTS)
def test_either_of_them_is_offered_with_the_other_whichever_was_named(cast, name):
    given, heard = twins(cast)
    for one, other in ((given, heard), (heard, given)):
        assert offered(cast.agent.do("related_items", memory_item_id=one)) == {other: "near_duplicate"}
    assert offered(act(name, cast.agent, heard)) == {given: "near_duplicate"}


def test_what_another_turn_taught_has_to_say_more_of_it(cast):
    given, heard = twins(cast)
    again = decision("Salary events go over NATS", "decision:shop:queue")
    commit(cast.agent, "s2", scopes=context(SHOP), decisions=[again])
    assert offered(cast.agent.do("related_items", memory_item_id=heard)) == {given: "near_duplicate"}


@pytest.mark.parametrize("name", ACTS)
def test_both_follow_each_is_on_record_and_undoing_brings_both_back(cast, name):
    given, heard = twins(cast)
    compose(cast.agent, "How do salary events go, over NATS?", scope_context=context(SHOP))
    answer = act(name, cast.agent, given, also=[heard])
    assert (outcomes(answer), answer["also"]) == ({heard: "done"}, [])
    assert answer["notices"] == Notice.objects.count() == 2
    (entry,) = AuditEntry.objects.filter(action=name, outcome="allowed")
    assert {given, heard} <= {change["id"] for change in entry.changes}
    assert not MemoryItem.objects.filter(pk__in=[given, heard], current_until=None).exists()
    undo(cast.reviewer, name)
    back = MemoryItem.objects.filter(current_until=None, status="active")
    assert sorted(back.values_list("scope__external_id", "statement")) == sorted(
        ("shop", item(each).statement) for each in (given, heard)
    )


def test_each_is_corrected_in_its_own_place_and_says_what_took_its_place(cast):
    given, heard = twins(cast)
    answer = correct(cast.agent, given, text="Salary events go over Kafka", also=[heard], evidence_refs=[WHY])
    (also,) = answer["outcomes"]
    new = item(also["successor_id"])
    assert (new.statement, new.key, new.version) == ("Salary events go over Kafka", item(heard).key, 2)
    assert item(heard).status == "superseded"
    assert EvidenceLink.objects.filter(item=new, kind="url").exists()
    assert memories(cast.agent, "NATS", scope_context=context(SHOP)) == []


def test_one_of_another_type_is_corrected_by_the_words(cast):
    commit(
        cast.agent, scopes=context(SHOP), say="Remember that the staging proxy listens on port 7443.",
        decisions=[decision("Staging proxy on 7443")], entities=[entity(remember=True)],
    )  # fmt: skip
    rows = {row.type: str(row.pk) for row in MemoryItem.objects.all()}
    also = [rows["facts"], rows["entities"]]
    answer = correct(cast.agent, rows["decisions"], value={"decision": "Staging proxy on 7444"}, also=also)
    assert outcomes(answer) == {rows["facts"]: "done", rows["entities"]: "does_not_fit"}
    assert item(answer["outcomes"][0]["successor_id"]).statement == "Staging proxy on 7444"
    assert item(rows["entities"]).current_until is None


def test_a_copy_of_the_same_key_is_hidden_behind_what_the_narrower_scope_holds(cast):
    """In the words of the first, not in those of the copy."""
    row = known(cast.agent, "Use Postgres")
    copy = cast.reviewer.do(
        "promote_to_scope", memory_item_id=row, target_scope=ref("global:all"), reason="so", text="All use Postgres", **VERIFIED
    )["item"]["id"]  # fmt: skip
    answer = narrow(cast.reviewer, row, also=[copy], text="Only this task uses Postgres")
    assert answer["outcomes"] == [{"id": copy, "outcome": "done", "successor_id": answer["item"]["id"]}]
    assert list(MemoryItem.objects.filter(scope__external_id="t").values_list("statement", flat=True)) == [
        "Only this task uses Postgres"
    ]
    undo(cast.operator, "narrow_item")
    now = MemoryItem.objects.filter(current_until=None, status="active").values_list("scope__external_id", "statement")
    assert sorted(now) == [("all", "All use Postgres"), ("shop", "Use Postgres")]


def test_two_entities_come_back_each_as_itself(cast):
    first = only(commit(cast.agent, scopes=context(SHOP), entities=[entity("smart_rag", remember=True)]))["id"]
    second = only(commit(cast.agent, scopes=context(SHOP), entities=[entity("smart_dom", remember=True)]))["id"]
    correct(cast.agent, first, value={"attrs": {"lang": "go"}}, also=[second])
    assert MemoryItem.objects.filter(current_until=None, value__attrs={"lang": "go"}).count() == 2
    undo(cast.reviewer, "correct_item")
    for row in Entity.objects.select_related("item"):
        assert row.item is not None
        assert (row.item.value["canonical"], row.item.current_until) == (row.canonical, None)


LEFT = [
    ("narrow_item", lambda cast: known(cast.agent, scope="session:s1"), "does_not_fit"),
    ("narrow_item", lambda cast: known(cast.agent, key="decision:shop:t", scope=TASK, session="s2"), "already"),
    ("narrow_item", lambda cast: _demoted(cast), "not_in_force"),
    ("narrow_item", lambda cast: _gone(cast), "not_in_force"),
    ("correct_item", lambda cast: _gone(cast), "not_in_force"),
    ("correct_item", lambda cast: known(cast.agent, "Salary events go over Kafka", key="decision:shop:k"), "already"),
    ("narrow_item", lambda cast: str(uuid4()), "not_found"),
    ("correct_item", lambda cast: _hidden(cast), "not_found"),
    ("narrow_item", lambda cast: _law(cast), "governed"),
    ("correct_item", lambda cast: _law(cast), "governed"),
    ("narrow_item", lambda cast: _held_there(cast), "does_not_fit"),
]


def _gone(cast: Cast) -> str:
    row = known(cast.agent, key="decision:shop:gone")
    retract(cast.agent, row)
    return row


def _demoted(cast: Cast) -> str:
    row = known(cast.agent, key="decision:shop:weak")
    demote(cast.reviewer, row)
    return row


def _hidden(cast: Cast) -> str:
    """A memory of another domain."""
    where = {"domain_id": ELSEWHERE, "scopes": context(SHOP)}
    return str(only(commit(cast.stranger, "x", **where, decisions=[decision()]))["id"])


def _law(cast: Cast) -> str:
    return str(made(scope_row(SHOP), principle=True, text="Never lose data.").id)


def _held_there(cast: Cast) -> str:
    """A memory of which the narrower scope holds the key as knowledge in force."""
    row = known(cast.agent, "Ship on Fridays", key="decision:shop:ship")
    there = known(cast.agent, "Ship on Mondays", key="decision:shop:ship", scope=TASK)
    cast.operator.do("raise_tier", memory_item_id=there, tier="qi", reason="law", supporting_refs=[WHY], **OTHER)
    return row


@pytest.mark.parametrize(("name", "other", "outcome"), LEFT)
def test_what_cannot_follow_is_reported_and_left_as_it_is(cast, name, other, outcome):
    given, _ = twins(cast)
    named = other(cast)
    before = MemoryItem.objects.filter(pk=named).values().first()
    answer = act(name, cast.agent, given, also=[named, named])
    assert answer["outcomes"] == [{"id": named, "outcome": outcome, "successor_id": None}]
    assert MemoryItem.objects.filter(pk=named).values().first() == before
    assert KnowledgeEvent.objects.filter(item=named, created_at__gt=item(given).current_until).count() == 0


@pytest.mark.parametrize("name", ACTS)
def test_naming_the_first_again_changes_nothing_more(cast, name):
    given, _ = twins(cast)
    assert outcomes(act(name, cast.agent, given, also=[given])) == {given: "already"}


@pytest.mark.parametrize("name", ["correct_item", "narrow_item"])
@pytest.mark.parametrize("also", [["nobody"], [str(uuid4())] * 51, "all", None, [None], {}])
def test_bad_ids_are_refused_and_change_nothing(cast, name, also):
    given, _ = twins(cast)
    before = list(MemoryItem.objects.order_by("id").values())
    with pytest.raises(InvalidInputError, match="also"):
        act(name, cast.agent, given, also=also)
    assert list(MemoryItem.objects.order_by("id").values()) == before


def test_what_one_may_not_write_is_left(cast):
    given, _ = twins(cast)
    wide = known(cast.agent, scope="global:all")
    here = make_agent("shop-only", pattern=SHOP)
    for pattern, rights in (("task:*", ["read", "write"]), ("global:*", ["read"])):
        cast.operator.do("grant_access", name="shop-only", domain_id=TEAM, pattern=pattern, rights=rights)
    here = replace(here, identity=authenticate_key(here.key))
    for name in ("correct_item", "narrow_item"):
        answer = act(name, here, given, also=[wide])
        assert outcomes(answer) == {wide: "not_permitted"}
        given = answer["item"]["id"]
    assert item(wide).current_until is None


@pytest.mark.parametrize("name", ["narrow_item", "correct_item"])
def test_what_goes_along_waits_with_the_first_and_is_shown_to_who_decides(cast, name):
    rule = {"name": "all", "actions": [name], "actor_kinds": ["agent"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look")
    given, heard = twins(cast)
    queued = act(name, cast.agent, given, also=[heard])["proposal"]["id"]
    assert set(MemoryItem.objects.values_list("status", flat=True)) == {"active"}
    changed = {row.id: row for row in presented(cast.reviewer).rows if row.kind == "changed"}
    assert {given, heard} == changed.keys()
    if name == "narrow_item":
        assert ("hidden_outside", TASK) in [(each.name, each.after) for each in changed[heard].fields]
    answer = cast.reviewer.do("approve_proposal", id=queued)["result"]
    assert outcomes(answer)[heard] == "done"
    assert MemoryItem.objects.get(pk=heard).current_until is not None


@pytest.mark.parametrize("name", ["narrow_item", "correct_item"])
def test_who_approves_in_one_scope_changes_no_knowledge_in_force_in_another(cast, name):
    rule = {"name": "all", "actions": [name]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look")
    row = known(cast.agent)
    law = str(made(scope_row("global:all"), principle=True, text="Never lose data.").id)
    queued = act(name, cast.agent, row, also=[law])["proposal"]["id"]
    person = make_person("shops", TEAM, SHOP)
    with pytest.raises(ForbiddenError, match="in a scope on which you may not decide"):
        person.call("approve_proposal", id=queued)
    assert item(law).current_until is None
    assert item(row).current_until is None


NASTY = "<script>alert(1)</script> a\u200bb NATS"


@pytest.mark.parametrize("name", ["narrow_item", "correct_item"])
def test_the_page_offers_the_other_to_tick_and_takes_it_along(cast, name):
    client = signed("ann")
    typed = {"target": TASK} if name == "narrow_item" else {"text": "It is Kafka"}
    row = known(cast.agent, NASTY)
    other = known(cast.agent, NASTY + " now", key="decision:shop:other", session="s2")
    form = client.get(address(row, name)).content.decode()
    (box,) = re.findall(r'<input type="checkbox" name="also"[^>]*>', form)
    assert other in box
    assert "checked" not in box
    assert "<script>alert" not in form
    shown = look(client, row, name, **REASON, **typed, also=[other]).content.decode()
    assert f'name="also" value="{other}" checked' in shown
    assert "memories changed" in shown
    end = done(client, row, name, **typed, also=[other])
    assert not MemoryItem.objects.filter(pk__in=[row, other], current_until=None).exists()
    assert AuditEntry.objects.filter(action=name, actor_name="ann", outcome="allowed").count() == 1
    undone(client, end.pk)
    assert MemoryItem.objects.filter(current_until=None, scope__external_id="shop").count() == 2
    answer = look(
        client,
        MemoryItem.objects.get(current_until=None, key=decision()["key"]).pk,
        name,
        **REASON,
        **typed,
        also=["nobody"],
    )
    assert answer.status_code == 422
    assert {"narrow_item": "Keep these for", "correct_item": "Correct these likewise"}[name] in answer.content.decode()


def test_the_page_offers_no_conversation_to_be_narrowed(cast):
    client = signed("ann")
    row = known(cast.agent, "Use Postgres")
    known(cast.agent, "Use Postgres", scope="session:s1")
    assert 'name="also"' in client.get(address(row, "retract_item")).content.decode()
    assert 'name="also"' not in client.get(address(row, "narrow_item")).content.decode()
