"""What the page of a memory says of where it comes from: in words and linked, with the ids whole, and nothing unseen."""

from __future__ import annotations

import re
from html import unescape
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory.models import MemoryItem, Message, Session, Turn
from tests.conftest import TEAM
from tests.media.shelf import put
from tests.memory.act_pages import page, signed
from tests.memory.acting import SHOP, TASK
from tests.memory.talk import VERIFIED, commit, context, decision, only, ref

SAID = "We   agreed:\nPostgres <b>16</b> a\u200bb it is, " + "because " * 40
PLACED = {"scopes": context(SHOP)}


@pytest.fixture
def client(cast) -> Client:
    return signed("ann")


def section(text: str, title: str) -> str:
    return text[text.index(f"<h3>{title}</h3>") :].partition("</section>")[0]


def cells(text: str, title: str) -> list[tuple[str, str]]:
    """The links of a table, each with what it says."""
    found = re.findall(r'<a href="([^"]*)">(.*?)</a>', section(text, title), re.DOTALL)
    return [(link, " ".join(unescape(re.sub(r"<[^>]+>", "", words)).split())) for link, words in found]


def change(row: object) -> str:
    return reverse(f"admin:memory_{type(row).__name__.lower()}_change", args=[row.pk])  # type: ignore[attr-defined]


def test_it_works(cast, client):
    commit(cast.agent, say=SAID, extract=False, **PLACED)
    message, turn = Message.objects.get(), Turn.objects.get()
    other = only(commit(cast.agent, "s2", decisions=[decision("Use SQLite", key="decision:shop:other")], **PLACED))
    document = str(put(cast.agent, "Notes", shared=(SHOP,), title="The <i>plan</i>").pk)
    refs = [
        {"kind": "message", "id": str(message.pk)},
        {"kind": "memory", "id": other["id"]},
        {"kind": "document", "id": document},
        {"kind": "url", "id": "https://example.org/why"},
    ]
    row = only(commit(cast.agent, decisions=[decision("Use Postgres 16", evidence_refs=refs)], **PLACED))["id"]
    text = page(client, row)
    known = dict(cells(text, "Evidence"))
    assert known[change(turn)].startswith("user: We agreed: Postgres <b>16</b> a⟦U+200B⟧b it is, because")
    assert known[change(turn)].endswith("…")
    assert known[change(MemoryItem(pk=other["id"]))] == "Use SQLite"
    assert "<b>16</b>" not in text
    for whole in (str(message.pk), other["id"], document):
        assert f'<code class="sb-whole">{whole}</code>' in text
    assert "The <i>plan</i>" in known.values()
    came = dict(cells(text, "Where it comes from"))
    second = Turn.objects.get(session__external_id="s1", seq=2)
    assert came[change(second)] == "Turn 2"
    assert came[change(Session.objects.get(external_id="s1"))] == "s1"
    assert f'<code class="sb-whole">{second.pk}</code>' in text


def test_the_message_that_it_was_read_from_is_told_by_its_first_words(cast, client):
    told = commit(cast.agent, say="We decided to use Postgres for storage because it is boring.", **PLACED)
    row = MemoryItem.objects.get(pk=only(told)["id"])
    links = cells(page(client, row.pk), "Where it comes from")
    assert (change(row.source_turn), "user: We decided to use Postgres for storage because it is boring.") in links
    assert (change(row.source_turn), "Turn 1") in links


def test_a_promotion_says_from_where_and_for_whom(cast, client):
    source = only(commit(cast.agent, decisions=[decision("Use Postgres")], scopes=context(TASK)))["id"]
    given = {"memory_item_id": source, "target_scope": ref(SHOP), "reason": "agreed", **VERIFIED}
    copy = cast.reviewer.do("promote_to_scope", given)
    text = page(client, copy["item"]["id"])
    assert "promoted for reviewer from task:t" in section(text, "Where it comes from")
    assert copy["promotion"]["event_id"] in text
    assert cells(text, "Before and after") == [(change(MemoryItem(pk=source)), "Use Postgres")]


def test_what_may_not_be_seen_stays_an_id(cast):
    commit(cast.agent, say="Secret words", extract=False, scopes=context(SHOP, default=None))
    message = Message.objects.get()
    row = only(
        commit(
            cast.agent,
            decisions=[decision("Use Postgres", evidence_refs=[{"kind": "message", "id": str(message.pk)}])],
            **PLACED,
        )
    )["id"]
    text = page(signed("here", TEAM, SHOP), row)
    assert "Use Postgres" in text
    assert "Secret words" not in text
    assert f"<code>{message.pk}</code>" in text
    assert change(message.turn) not in text


def test_however_much_it_rests_on_the_page_asks_little(cast, client):
    commit(cast.agent, say="One", extract=False, **PLACED)
    refs = [{"kind": "message", "id": str(Message.objects.get().pk)}]
    refs += [{"kind": "url", "id": f"https://example.org/{uuid4()}"} for _ in range(20)]
    row = only(commit(cast.agent, decisions=[decision("Use Postgres", evidence_refs=refs)], **PLACED))["id"]
    page(client, row)
    with CaptureQueriesContext(connection) as asked:
        page(client, row)
    assert len(asked) < 20, [query["sql"][:90] for query in asked]
