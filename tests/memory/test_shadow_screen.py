"""The form of the shadow inspector, and the way from what would be to the form that does it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory.admin import places
from memory.models import MemoryItem
from tests.conftest import ELSEWHERE, TEAM, make_agent, make_person
from tests.memory.act_pages import address, signed
from tests.memory.talk import commit, compose, context, decision
from tests.memory.test_shadows import SCOPES, fill

ASKED = {"domain_id": TEAM, "scopes": " ".join(SCOPES)}


@pytest.fixture
def client(cast) -> Client:
    return signed("ann")


def shadows(client: Client, **asked: Any) -> str:
    answer = client.get(reverse("admin:memory_shadows"), asked)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def ticked(text: str) -> list[str]:
    return re.findall(r'name="scope" value="([^"]*)" checked', text)


def test_it_works(cast, client):
    fill(cast, "global:g", "task:t", "project:p")
    text = shadows(client)
    assert f'<option value="{TEAM}" selected>' in text
    assert "See which row an agent is shown" in text
    offered = re.findall(r'name="scope" value="([^"]*)"', text)
    assert offered == ["expert:e", "global:g", "project:p", "task:t"]
    assert not any(name.startswith("session:") for name in offered)
    text = shadows(client, domain_id=TEAM, scope=["global:g", "task:t"], scopes="session:s1, project:p")
    assert text.count('class="sb-wins"') == 1
    assert ticked(text) == ["global:g", "project:p", "task:t"]
    assert 'name="scopes" value="session:s1"' in text
    assert "See which row" not in text


def test_a_domain_is_chosen_before_its_scopes(cast, client):
    fill(cast, "global:g")
    make_agent("far", ELSEWHERE)
    cast.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE, pattern="*")
    text = shadows(client, domain_id=ELSEWHERE, scope=["global:g"], choose="yes")
    assert f'<option value="{ELSEWHERE}" selected>' in text
    assert "No scope but conversations" in text
    assert ticked(text) == []


def test_the_domain_of_most_of_the_newest_contexts_is_the_first_choice(cast, client):
    make_agent("far", ELSEWHERE)
    cast.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE, pattern="*")
    assert f'<option value="{ELSEWHERE}" selected>' in shadows(client), "the first by name, where none was composed in"
    commit(cast.agent, say="Hello")
    compose(cast.agent, "Hello?")
    assert f'<option value="{TEAM}" selected>' in shadows(client)


def test_a_context_is_chosen_by_when_and_for_whom(cast, client):
    fill(cast, "global:g", "task:t")
    record = compose(cast.agent, "Which tone?", scope_context=context(*SCOPES))["context_id"]
    assert re.search(rf'<option value="{record}">[^<]* UTC for agent, 1 gave way', shadows(client))
    text = shadows(client, domain_id=TEAM, context_id=["", record])
    assert "As it was at" in text
    assert f'<option value="{record}" selected>' in text
    assert 'maxlength="36"' in text
    assert f'value="{record}" maxlength="36"' not in text, "it would outlive another choice"


def test_more_scopes_than_are_offered_can_be_written(cast, client, monkeypatch):
    fill(cast, "global:g", "task:t")
    monkeypatch.setattr(places, "MAX_SCOPES", 1)
    text = shadows(client, **ASKED)
    assert "Others can be written below" in text
    assert ticked(text) == ["expert:e"]
    assert "as in task:t" in text


def test_a_scope_with_a_space_in_its_id_is_ticked_or_written_as_any_other(cast, client):
    spaced, session = "project:my shop", "session:first talk"
    commit(cast.agent, decisions=[decision(key="decision:shop:tone")], scopes=context(spaced))
    commit(cast.agent, decisions=[decision(key="decision:shop:tone")], scopes=context("task:t"))
    commit(cast.agent, "first talk", decisions=[decision(key="decision:shop:tone")])
    text = shadows(client, domain_id=TEAM, scope=["task:t", spaced])
    assert ticked(text) == [spaced, "task:t"]
    assert text.count('class="sb-wins"') == 1
    for link in re.findall(r'href="(\?[^"]*act=retract[^"]*)"', text):
        again = unescape(client.get(reverse("admin:memory_shadows") + link.partition("#")[0]).content.decode())
        assert "Nothing was written" in again
        assert ticked(again) == [spaced, "task:t"]
    text = shadows(client, domain_id=TEAM, scopes=f"task:t, {session} {spaced},")
    assert ticked(text) == [spaced, "task:t"]
    assert f'name="scopes" value="{session}"' in text
    assert ticked(shadows(client, domain_id=TEAM, scope=["task:t", session])) == ["task:t", session]


def test_a_scope_whose_id_reads_like_two_is_written_in_quotation_marks_and_comes_back_so(cast, client):
    odd, session = "project:plan task:t", 'session:talk "of" task:t, <b>'
    commit(cast.agent, decisions=[decision(key="decision:shop:tone")], scopes=context(odd))
    commit(cast.agent, session.partition(":")[2], decisions=[decision(key="decision:shop:tone")])
    written = '"project:plan task:t", "session:talk ""of"" task:t, <b>"'
    text = shadows(client, domain_id=TEAM, scopes=written)
    assert ticked(text) == [odd]
    assert text.count('class="sb-wins"') == 1
    raw = client.get(reverse("admin:memory_shadows"), {"domain_id": TEAM, "scopes": written}).content.decode()
    (again,) = re.findall(r'name="scopes" value="([^"]*)"', raw)
    assert unescape(again) == '"session:talk ""of"" task:t, <b>"'
    both = shadows(client, domain_id=TEAM, scope=[odd], scopes=unescape(again))
    assert both.count('class="sb-wins"') == 1
    for link in re.findall(r'href="(\?[^"]*act=retract[^"]*)"', both):
        assert "Nothing was written" in shadows_at(client, link)


def shadows_at(client: Client, link: str) -> str:
    return unescape(client.get(reverse("admin:memory_shadows") + link.partition("#")[0]).content.decode())


def test_the_contexts_of_the_chosen_domain_are_offered_however_many_are_newer_elsewhere(cast, client, monkeypatch):
    monkeypatch.setattr(places, "MAX_CONTEXTS", 2)
    commit(cast.agent, say="Hello")
    here = compose(cast.agent, "Hello?")["context_id"]
    far = make_agent("far", ELSEWHERE)
    cast.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE, pattern="*")
    commit(far, domain_id=ELSEWHERE, say="Hello")
    for _ in range(3):
        compose(far, "Hello?", domain_id=ELSEWHERE)
    text = shadows(client, domain_id=TEAM)
    assert f'<option value="{here}">' in text
    text = shadows(client, context_id=here)
    assert f'<option value="{TEAM}" selected>' in text, "a context lies in a domain"
    assert f'<option value="{here}" selected>' in text


def test_the_form_tells_how_many_it_offers(cast, client, monkeypatch):
    fill(cast, "global:g", "task:t")
    make_agent("far", ELSEWHERE)
    cast.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE, pattern="*")
    assert '<select name="domain_id">' in shadows(client)
    monkeypatch.setattr(places, "MAX_SCOPES", 1)
    monkeypatch.setattr(places, "MAX_DOMAINS", 1)
    text = shadows(client, domain_id=TEAM)
    assert "The first 1 by name" in text
    assert f'<input type="text" name="domain_id" value="{TEAM}"' in text


def test_who_reads_nothing_is_told_so(cast):
    make_person("nobody", is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username="nobody"))
    text = shadows(client)
    assert "No domain is yours to read" in text
    assert TEAM not in re.findall(r"<option[^>]*>([^<]*)", text)


@pytest.mark.parametrize(
    ("act", "to", "deed"),
    [("retract", "", "retract_item"), ("demote", "", "demote"), ("promote", "global:g", "promote_to_scope")],
)
def test_what_would_be_leads_to_the_form_that_does_it(cast, client, act, to, deed):
    ids = fill(cast, "task:t", "project:p")
    text = shadows(client, **ASKED, act=act, item=ids["task:t"], to=to)
    (link,) = re.findall(r'href="([^"]*)">Do it: [a-z]*…', text)
    assert link.partition("?")[0] == address(ids["task:t"], deed)
    form = client.get(link).content.decode()
    assert 'name="reason"' in form
    assert (f'name="target" list="scopes" value="{to}"' in form) == bool(to)
    change = reverse("admin:memory_memoryitem_change", args=[ids["task:t"]])
    what_if = text[text.index('id="what-if"') : text.index("Back to how it is")]
    assert change in what_if, "a rung leads to its memory"
    assert len(re.findall(r"/memoryitem/[0-9a-f-]{36}/change/", what_if)) == (3 if act != "promote" else 4)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"scopes": "shop"}, "'shop' is no scope: write it as type:id"),
        ({"scopes": '"task:t'}, "not closed"),
        ({"scopes": "nothing:x"}, "nknown scope type"),
        ({"scopes": "project:"}, ""),
        ({"scopes": "task:t", "domain_id": "No Domain!"}, ""),
        ({"context_id": "<b>what</b>"}, "'<b>what</b>' is no id of a context"),
        ({"context_id": "01890a5d-ac96-774b-bcce-b302099a8057"}, "01890a5d-ac96-774b-bcce-b302099a8057"),
        ({"scopes": "task:t", "act": "burn", "item": "x"}, ""),
        ({"scopes": "task:t", "key": "k" * 5000}, ""),
    ],
)
def test_a_slip_leaves_the_form_with_what_was_typed(cast, client, asked, says):
    fill(cast, "task:t")
    sent = {"domain_id": TEAM, **asked}
    answer = client.get(reverse("admin:memory_shadows"), sent)
    text = answer.content.decode()
    assert answer.status_code in (404, 422)
    (told,) = re.findall(r'role="alert">([^<]+)</p>', text)
    assert says in unescape(told)
    assert not unescape(told).startswith(("scope_context", "context_id", "domain_id", "what_if", "key"))
    assert "Nothing was changed" not in text
    assert "<b>what" not in text
    form = unescape(text[text.index('<form method="get"') :])
    typed = asked.get("context_id") or asked["scopes"]
    assert f'value="{typed}"' in form


def test_who_may_not_do_it_is_not_led_there(cast, client):
    ids = fill(cast, "task:t", "project:p")
    make_person("watcher", is_staff=True)
    cast.operator.do("assign_reviewer", user="watcher", domain_id=TEAM, pattern="*", role="operator")
    watcher = Client()
    watcher.force_login(get_user_model().objects.get(username="watcher"))
    text = shadows(watcher, **ASKED, act="retract", item=ids["task:t"])
    assert "another row would count" in text
    assert "Do it" not in text
    cast.reviewer.do("retract_item", memory_item_id=ids["project:p"], reason="gone")
    assert MemoryItem.objects.get(pk=ids["project:p"]).status == "retracted"
    assert "Do it" not in shadows(client, **ASKED, act="retract", item=ids["project:p"]), "it is done already"


def test_what_would_be_asks_little_of_the_database(cast, client):
    ids = fill(cast, "task:t", "project:p")
    shadows(client, **ASKED)
    with CaptureQueriesContext(connection) as asked:
        shadows(client, **ASKED, act="retract", item=ids["task:t"])
    assert len(asked) < 20, [query["sql"][:90] for query in asked]
