"""What the pages of acts refuse or hold: stale forms, bad input, strangers, policy, and text that stays text."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from governance.models import AuditEntry, Proposal
from memory.admin import acts
from memory.models import MemoryItem
from tests.conftest import ELSEWHERE, TEAM
from tests.memory.act_pages import ALL, REASON, URL, address, client, confirm, done, fields_of, look, page, signed
from tests.memory.acting import SHOP, demote, known
from tests.memory.talk import commit, context, decision

__all__ = ["client"]

QUEUED = {"review": {"queue": [{"name": "all", "actions": ["retract_item"], "actor_kinds": ["person"]}]}}
CANNED = {"review": {"canned_reasons": {"*": ["Out of date", "<b>Wrong</b> project"]}}}


def test_an_undo_that_cannot_be_done_says_why(cast, client):
    row = known(cast.agent)
    new = done(client, row, "correct_item", text="Use SQLite")
    cast.reviewer.do("correct_item", memory_item_id=str(new.pk), text="Use Redis", reason="again")
    text = page(client, new.pk)
    *_, form = re.findall(r'<form method="post" action="([^"]*)" class="sb-undo">(.*?)</form>', text, re.DOTALL)
    answer = client.post(form[0], dict(re.findall(r'name="([^"]*)" value="([^"]*)"', form[1])))
    assert answer.status_code == 409
    assert "Nothing was changed" in answer.content.decode()
    assert MemoryItem.objects.get(current_until=None).statement == "Use Redis"


def test_a_stale_form_is_told_and_changes_nothing(cast, client):
    row = known(cast.agent)
    blank = fields_of(client.get(address(row, "retract_item")).content.decode(), "form")
    shown = look(client, row, "retract_item", **REASON)
    cast.operator.do("correct_item", memory_item_id=row, text="Use SQLite", reason="mine")
    late = client.post(address(row, "retract_item"), {**blank, "reason": "typed <b>with care</b>"})
    assert late.status_code == 409
    text = late.content.decode()
    assert "changed since you opened the form" in text
    assert "typed &lt;b&gt;with care&lt;/b&gt;</textarea>" in text
    answer = client.post(address(row, "retract_item"), fields_of(shown.content.decode(), "confirm"))
    assert answer.status_code == 409
    assert "something else by now" in answer.content.decode()
    assert MemoryItem.objects.get(pk=row).status == "superseded"
    assert "no longer in force" in client.get(address(row, "correct_item")).content.decode()


@pytest.mark.parametrize(
    ("act", "typed", "says"),
    [
        ("retract_item", {"reason": " "}, "Reason: it must not be empty."),
        ("retract_item", {"reason": "x" * 2001}, "Reason: it may have at most 2000 characters"),
        ("retract_item", {**REASON, "also": ["nobody"]}, "for the same reason: this is no id of a memory."),
        ("correct_item", REASON, "say what is right"),
        ("correct_item", {**REASON, "field.decision": ""}, "Decision: "),
        ("narrow_item", {**REASON, "target": "task"}, "The narrower scope: 'task' is no scope: write it as type:id"),
        ("narrow_item", {**REASON, "target": "global:all"}, "The narrower scope: global is not narrower"),
        ("narrow_item", {**REASON, "target": "nothing:x"}, "The narrower scope: unknown scope type 'nothing'"),
        ("demote", {**REASON, "refs": URL}, "Why, in one word: choose one."),
        ("demote", {**REASON, "reason_type": "obsolete"}, "What speaks against it: at least one is needed."),
        (
            "demote",
            {**REASON, "reason_type": "obsolete", "refs": "\n what is this"},
            "What speaks against it, line 2: ",
        ),
        ("promote_to_scope", {**REASON, "target": "global:all"}, "What confirms it: at least one is needed."),
        (
            "promote_to_scope",
            {**REASON, "target": SHOP, "refs": URL},
            "The scope that gets it: the memory is in project:shop already",
        ),
        ("promote_to_scope", {**REASON, "target": "session:s1", "refs": URL}, "session"),
    ],
)
def test_bad_input_is_refused_with_what_was_typed(cast, client, act, typed, says):
    row = known(cast.agent)
    answer = look(client, row, act, **typed)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert says in unescape(re.sub(r"<[^>]+>", " ", text.split('id="problem"')[1].split("</section>")[0]))
    again = fields_of(text, "form")
    told = unescape(re.sub(r"<[^>]+>", " ", text.split('id="problem"')[1].split("</section>")[0]))
    assert not re.search(r"[a-z]_[a-z]|\.\d|should|Field required|value\.\w", told.replace("type:id", "")), told
    for name, value in typed.items():
        if name not in ("also", "reason_type"):
            assert again[name] == [value]
    assert MemoryItem.objects.get().lifecycle_status == "promoted"


def test_who_may_not_is_offered_nothing_and_refused(cast, client):
    row = known(cast.agent)
    cast.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE, pattern="*")
    watcher = signed("watcher", TEAM, "task:other")
    cast.operator.do("assign_reviewer", user="watcher", domain_id=TEAM, pattern=SHOP, role="operator")
    assert "Use Postgres" in page(watcher, row)
    assert "Act on this memory" not in page(watcher, row)
    for act in ALL[:5]:
        assert watcher.get(address(row, act)).status_code == 403
        assert watcher.post(address(row, act), {**REASON, "step": "do", "digest": "0" * 64}).status_code in (
            403,
            404,
            422,
        )
    stranger = signed("stranger2", ELSEWHERE)
    for act in ALL:
        for answer in (stranger.get(address(row, act)), stranger.post(address(row, act), REASON)):
            assert "Use Postgres" not in answer.content.decode()
            assert answer.status_code in (302, 404)
    assert MemoryItem.objects.get().status == "active"


def test_there_is_no_other_act(cast, client):
    row = known(cast.agent)
    assert client.get(address(row, "erase")).status_code in (302, 404)
    assert client.get(address(row, "get_memory_item")).status_code in (302, 404)


def test_what_policy_holds_waits_and_says_so(cast, client):
    row = known(cast.agent)
    cast.operator.do("set_policy", domain_id=TEAM, document=QUEUED, reason="two people")
    assert "waits for someone else" in page(client, row)
    shown = look(client, row, "retract_item", **REASON)
    assert "Nothing happens at once" in shown.content.decode()
    confirm(client, row, "retract_item", shown)
    assert "It waits for someone else" in page(client, row)
    assert (Proposal.objects.get().action, MemoryItem.objects.get().status) == ("retract_item", "active")


def test_ready_reasons_and_what_an_address_fills_in(cast, client):
    row = known(cast.agent)
    cast.operator.do("set_policy", domain_id=TEAM, document=CANNED, reason="the usual ones")
    asked = {"target": "global:all", "reason": "as <i>seen</i>"}
    text = client.get(address(row, "promote_to_scope"), asked).content.decode()
    assert 'data-reason="2" data-text="&lt;b&gt;Wrong&lt;/b&gt; project"' in text
    again = fields_of(text, "form")
    assert (again["target"], again["reason"]) == (["global:all"], ["as <i>seen</i>"])


def test_what_an_agent_wrote_stays_text(cast, client):
    nasty = "<script>alert(1)</script> a\u200bb"
    row = known(cast.agent, nasty)
    commit(cast.agent, "s2", scopes=context(SHOP), decisions=[decision(nasty + "!", key="decision:shop:other")])
    for act in ALL[:5]:
        text = client.get(address(row, act)).content.decode()
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text


def test_looking_at_a_form_is_on_record(cast, client):
    row = known(cast.agent)
    client.get(address(row, "retract_item"))
    entry = AuditEntry.objects.exclude(action="sign_in").get(actor_name="ann")
    assert (entry.action, entry.door) == ("related_items", "admin")


@pytest.mark.parametrize("act", ALL[:5])
def test_a_form_asks_little_of_the_database(cast, client, act):
    row = known(cast.agent)
    for place in range(4):
        known(cast.agent, f"Use Postgres, said {place}", session=f"n{place}", key=f"decision:shop:d{place}")
    client.get(address(row, act))
    with CaptureQueriesContext(connection) as asked:
        client.get(address(row, act))
    told = [
        (query["sql"] or "")[:120]
        for query in asked
        if not (query["sql"] or "SAVEPOINT").startswith(("SAVEPOINT", "RELEASE"))
    ]
    assert len(told) < 20, told
    with CaptureQueriesContext(connection) as asked:
        page(client, row)
    assert len(asked) < 20, [query["sql"][:90] for query in asked]


def test_a_demoted_memory_can_be_retired_and_retracted_and_no_more(cast, client):
    row = known(cast.agent)
    demote(cast.reviewer, row)
    text = page(client, row)
    assert [act for act in ALL if address(row, act) in text] == ["retract_item", "correct_item", "demote"]
    assert "nobody is shown it" in client.get(address(row, "promote_to_scope")).content.decode()


def test_a_form_that_offers_a_part_of_the_scopes_says_so(cast, client, monkeypatch):
    item_id = known(cast.agent)
    commit(cast.agent, scopes=context("task:b"), decisions=[decision()])
    commit(cast.agent, scopes=context("task:a"), decisions=[decision()])
    form = client.get(address(item_id, "narrow_item")).content.decode()
    assert "are offered" not in form
    monkeypatch.setattr(acts, "MAX_SCOPES", 1)
    form = client.get(address(item_id, "narrow_item")).content.decode()
    assert "The first 1 by name are offered. Others can be written." in form
    assert form.count("<option value=") == 1
