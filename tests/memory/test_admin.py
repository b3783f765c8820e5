"""The admin's pages of conversations: read through the gate, on record, and shown as text."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from governance.models import AuditEntry
from memory.models import Session, Turn
from tests.conftest import TEAM, a_turn, make_agent, make_person

NASTY = "<script>alert(1)</script><a href='javascript:x'>go</a> https://evil.example a\u200bb \u202egnp"


@pytest.fixture
def client(cast) -> Client:
    make_person("ann", TEAM, is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username="ann"))
    return client


def change(row) -> str:
    return reverse(f"admin:memory_{row._meta.model_name}_change", args=[row.pk])


def commit(cast, **events: list) -> Turn:
    given = a_turn()
    given["turn_events"] = events
    return Turn.objects.get(pk=cast.agent.do("commit_turn", given)["turn_id"])


def test_it_works(cast, client):
    turn = commit(
        cast,
        messages=[{"role": "user", "content": "默认数据库是 Postgres", "name": "李梅"}],
        tool_calls=[{"name": "grep", "args": {"pattern": "db"}, "result": "two lines", "status": "ok"}],
        refs=[{"ref_type": "url", "ref_uri": "https://example.org/x"}],
    )
    for row in (turn, turn.session):
        page = client.get(change(row)).content.decode()
        for text in ("默认数据库是 Postgres", "李梅", "grep", "two lines", "https://example.org/x"):
            assert text in page
        assert 'href="https://example.org' not in page


@pytest.mark.parametrize(("model", "action"), [(Turn, "get_turn"), (Session, "get_session")])
def test_looking_is_on_record(cast, client, model, action):
    commit(cast, messages=[{"role": "user", "content": "private"}])
    client.get(reverse(f"admin:memory_{model._meta.model_name}_changelist"))
    assert not AuditEntry.objects.filter(actor_name="ann").exclude(action="sign_in").exists()
    client.get(change(model.objects.get()))
    entry = AuditEntry.objects.exclude(action="sign_in").get(actor_name="ann")
    assert (entry.action, entry.door, entry.domain_id, entry.scope) == (action, "admin", TEAM, "session:s1")


def test_a_list_shows_no_content(cast, client):
    commit(cast, messages=[{"role": "user", "content": "private"}])
    for name in ("session", "turn"):
        assert "private" not in client.get(reverse(f"admin:memory_{name}_changelist")).content.decode()


def test_stored_text_is_content_and_never_interface(cast, client):
    turn = commit(
        cast,
        messages=[{"role": "user", "content": NASTY, "name": NASTY, "model": NASTY, "meta": {NASTY: NASTY}}],
        tool_calls=[{"name": NASTY, "args": {NASTY: NASTY}, "result": NASTY, "status": "<script>alert"}],
        refs=[{"ref_type": "url", "ref_uri": NASTY, "ref_meta_json": {"x": NASTY}}],
    )
    for row in (turn, turn.session):
        page = client.get(change(row)).content.decode()
        assert "<script>alert" not in page
        assert "javascript:x'>" not in page
        assert "\u200b" not in page
        assert "\u202e" not in page
        assert page.count('<mark class="sb-hidden">⟦U+200B⟧</mark>') >= 8


def test_a_hidden_character_in_a_session_id_is_seen_in_the_list(cast, client):
    cast.agent.do("commit_turn", a_turn(session_id="a<b>c"))
    page = client.get(reverse("admin:memory_session_changelist")).content.decode()
    assert "a&lt;b&gt;c" in page
    assert "a<b>c" not in page


def test_a_long_message_is_folded_and_whole(cast, client):
    turn = commit(cast, messages=[{"role": "user", "content": "word " * 2000 + "end."}])
    page = client.get(change(turn)).content.decode()
    assert "10004 characters" in page
    assert "end.</pre>" in page


def test_a_long_session_is_read_in_pages(cast, client):
    for n in range(12):
        commit(cast, messages=[{"role": "user", "content": f"message-{n:02}."}])
    session = Session.objects.get()
    first = client.get(change(session))
    assert "message-09." in first.content.decode()
    assert "message-10." not in first.content.decode()
    second = client.get(change(session), {"cursor": first.context["next_cursor"]}).content.decode()
    assert "message-11." in second
    assert "message-09." not in second


def test_a_cursor_that_is_not_ours_leads_back_to_the_list(cast, client):
    turn = commit(cast, messages=[{"role": "user", "content": "x"}])
    answer = client.get(change(turn.session), {"cursor": "nonsense"})
    assert (answer.status_code, answer["Location"]) == (302, reverse("admin:memory_session_changelist"))


def test_turns_are_found_by_their_session(cast, client):
    turn = commit(cast, messages=[{"role": "user", "content": "x"}])
    cast.agent.do("commit_turn", a_turn(session_id="s1-other"))
    found = client.get(reverse("admin:memory_turn_changelist"), {"q": "s1"}).context["cl"].result_list
    assert [row.pk for row in found] == [turn.pk]
    narrowed = client.get(reverse("admin:memory_turn_changelist"), {"session": str(turn.session_id)})
    assert [row.pk for row in narrowed.context["cl"].result_list] == [turn.pk]


def test_two_legacy_sessions_of_one_name_are_told_apart(cast, client):
    for name in ("one", "two"):
        make_agent(name, "legacy").do("commit_turn", a_turn(f"said by {name}", domain_id="legacy"))
    make_person("lee", "legacy", is_staff=True)
    client.force_login(get_user_model().objects.get(username="lee"))
    pages = {client.get(change(row)).content.decode().count("said by one") for row in Session.objects.all()}
    assert pages == {0, 1}
