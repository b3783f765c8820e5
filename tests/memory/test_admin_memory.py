"""The admin's pages of what was learned and shown: on record, shown as text, linked to where it came from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from governance.models import AuditEntry
from kernel.errors import NotFoundError
from memory.models import (
    ContextRecord,
    Entity,
    EvidenceLink,
    ExtractionRun,
    KgEdge,
    MemoryItem,
    Session,
    Turn,
)
from scopes.models import Grant
from scopes.selectors import authenticate_key
from tests.asked import texts
from tests.conftest import TEAM, Player, make_agent, make_person
from tests.guards.write_guard import unguarded
from tests.memory.talk import VERIFIED, commit, compose, context, decision, entity, gone, item, only

NASTY = "<script>alert(1)</script><a href='javascript:x'>go</a> https://evil.example a\u200bb \u202egnp"


@pytest.fixture
def client(cast) -> Client:
    make_person("ann", TEAM, is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username="ann"))
    return client


def change(row: Any) -> str:
    return reverse(f"admin:memory_{row._meta.model_name}_change", args=[row.pk])


def page(client: Client, row: Any) -> str:
    answer = client.get(change(row))
    assert answer.status_code == 200
    return answer.content.decode()


def changed_twice(cast) -> tuple[MemoryItem, MemoryItem]:
    """A decision that was changed, old and new."""
    rest: dict[str, Any] = {"scopes": context("project:shop")}
    old = only(commit(cast.agent, decisions=[decision("Use MySQL")], **rest))
    new = only(commit(cast.agent, say="Let us switch.", extract=False, decisions=[decision("Use Postgres")], **rest))
    return item(old["id"]), item(new["id"])


def again(player: Player) -> Player:
    """The same agent with what it may reach now."""
    return replace(player, identity=authenticate_key(player.key))


def extraction(turn_id: str, **fields: Any) -> ExtractionRun:
    with unguarded():
        return ExtractionRun.objects.create(domain_id=TEAM, turn_id=turn_id, **fields)


def test_it_works(cast, client):
    old, new = changed_twice(cast)
    text = page(client, new)
    for part in ("Use Postgres", "project:shop", "decision:shop:database", "in force", "superseded", "Use MySQL"):
        assert part in text
    assert text.count(change(old)) >= 2, "a version and a predecessor"
    assert change(new.source_turn) in text
    assert change(new.source_session) in text
    assert "no longer in force" in page(client, old)
    assert "replaced by" in page(client, old)


@pytest.mark.parametrize(
    ("model", "action"),
    [(ContextRecord, "get_context"), (ExtractionRun, "list_extractions")],
)
def test_looking_is_on_record(cast, client, model, action):
    made = commit(cast.agent, decisions=[decision("private")])
    compose(cast.agent, "private?")
    extraction(made["turn_id"], state="failed", raw_reply="private")
    listed = client.get(reverse(f"admin:memory_{model._meta.model_name}_changelist")).content.decode()
    assert "private" not in listed
    assert not AuditEntry.objects.filter(actor_name="ann").exclude(action="sign_in").exists()
    assert "private" in page(client, model.objects.get())
    entry = AuditEntry.objects.exclude(action="sign_in").get(actor_name="ann")
    assert (entry.action, entry.door, entry.domain_id) == (action, "admin", TEAM)


def test_a_recorded_context_is_shown_as_the_agent_saw_it(cast, client):
    scopes = context("project:shop", "task:now")
    commit(cast.agent, decisions=[decision("Use MySQL for the shop")], scopes=context("project:shop"))
    commit(cast.agent, decisions=[decision("Use Postgres for now")], scopes=context("task:now"))
    commit(cast.agent, say="Which database does the shop use?", extract=False)
    compose(
        cast.agent,
        "Which database does the shop use?",
        scope_context=scopes,
        developer_blocks=[{"type": "format_rules", "text": "Answer in JSON"}],
    )
    record = ContextRecord.objects.get()
    text = page(client, record)
    for part in ("Use Postgres for now", "Answer in JSON", "Which database does the shop use?", "score", "Why:"):
        assert part in text
    (shadow,) = record.package["debug"]["shadowed"]
    assert shadow["rule"] in text
    assert change(item(shadow["loser_id"])) in text
    assert change(item(shadow["winner_id"])) in text
    for entry in record.package["debug"]["dropped"]:
        assert entry["reason"] in text


def test_an_entity_shows_its_aliases_mentions_and_relations(cast, client):
    rest: dict[str, Any] = {"scopes": context("project:shop")}
    commit(
        cast.agent,
        entities=[entity(aliases=["the RAG"], remember=True)],
        edges=[{"subject": "smart_rag", "predicate": "uses", "object": "Postgres"}],
        **rest,
    )
    row, edge = Entity.objects.get(canonical="smart_rag"), KgEdge.objects.get()
    text = page(client, row)
    assert "the RAG" in text
    assert change(Turn.objects.get()) in text
    assert change(edge) in text
    assert change(row.item) in text
    assert "Postgres" in page(client, edge)
    assert change(Turn.objects.get()) in page(client, edge)
    lists = {
        "entity": ("SMART_rag", "smart", "the rag", str(row.pk)),
        "kgedge": ("Smart_RAG", "post", str(edge.pk)),
    }
    for name, terms in lists.items():
        for term in terms:
            found = client.get(reverse(f"admin:memory_{name}_changelist"), {"q": term}).context["cl"].result_list
            assert len(found) == 1, term


def test_a_failed_extraction_shows_its_reply_and_the_way_to_try_again(cast, client):
    made = commit(cast.agent, say="hello")
    text = page(client, extraction(made["turn_id"], state="failed", error="not JSON", raw_reply="Sure! Here it is"))
    for part in ("not JSON", "Sure! Here it is", "extract_turn", made["turn_id"]):
        assert part in text


def test_evidence_leads_to_what_can_be_seen_and_nowhere_else(cast, client):
    seen = only(commit(cast.agent, decisions=[decision("Use Postgres")]))["id"]
    hidden = only(commit(cast.stranger, decisions=[decision("Use MySQL")], domain_id="elsewhere"))["id"]
    refs = [{"kind": "memory", "id": seen}, {"kind": "url", "id": "https://e.example"}]
    made = only(commit(cast.agent, decisions=[decision("Use SQLite", "decision:x:y", evidence_refs=refs)]))
    with unguarded():
        row = item(made["id"])
        EvidenceLink.objects.create(domain_id=TEAM, item=row, kind="memory", ref=hidden, role="supporting")
    text = page(client, row)
    assert change(item(seen)) in text
    assert hidden in text, "it was said, so it is shown"
    assert change(item(hidden)) not in text
    assert 'href="https://e.example' not in text


def test_stored_text_is_content_and_never_interface(cast, client):
    refs = [{"kind": "url", "id": "https://evil.example/<script>alert(1)</script>\u200b"}]
    made = commit(
        cast.agent,
        decisions=[decision(NASTY, rationale=NASTY, evidence_refs=refs)],
        entities=[entity(NASTY[:60], "other", name=NASTY, aliases=[NASTY], remember=True)],
        edges=[{"subject": NASTY, "predicate": NASTY[:90], "object": NASTY}],
        retractions=[gone("goals", "goal:shop:x", NASTY)],
    )
    compose(cast.agent, NASTY, developer_blocks=[{"type": "other", "text": NASTY}], agent_state={NASTY: NASTY})
    extraction(made["turn_id"], state="failed", model=NASTY, error=NASTY, raw_reply=NASTY)
    for model in (MemoryItem, Entity, KgEdge, ContextRecord, ExtractionRun):
        listed = client.get(reverse(f"admin:memory_{model._meta.model_name}_changelist")).content.decode()
        for text in (listed, *(page(client, row) for row in model.objects.all())):
            assert "<script>alert" not in text, model
            assert "javascript:x'>" not in text, model
            assert not any(char in text for char in "\u200b\u202e"), model
            assert 'href="https://evil' not in text, model


def test_a_summary_stands_on_the_sessions_page(cast, client):
    changed_twice(cast)
    session = Session.objects.get()
    text = page(client, session)
    assert "Working summary" in text
    assert "version 2" in text
    assert "## Decisions" in text
    assert reverse("admin:memory_memoryitem_changelist") + f"?source_session={session.pk}" in text


def test_a_session_without_a_summary_says_when_one_is_made(cast, client):
    commit(cast.agent, say="hello")
    assert "No working summary yet" in page(client, Turn.objects.get().session)


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("?status__exact=retracted", {"goal:shop:open"}),
        ("?lifecycle_status__exact=candidate", set()),
        ("?type=goals", {"goal:shop:open"}),
        ("?q=decision:sh", {"decision:shop:database"}),
        ("?type=nonsense", set()),
        ("?in_force=no", {"decision:shop:database", "goal:shop:open"}),
        ("?in_force=maybe&type=decisions", {"decision:shop:database"}),
    ],
)
def test_a_list_can_be_narrowed(cast, client, query, keys):
    changed_twice(cast)
    commit(cast.agent, goals=[{"key": "goal:shop:open", "description": "Open"}])
    commit(cast.agent, retractions=[gone("goals", "goal:shop:open")])
    answer = client.get(reverse("admin:memory_memoryitem_changelist") + query)
    assert {row.key for row in answer.context["cl"].result_list} == keys


def test_no_other_column_can_be_guessed_by_asking(client):
    for query in ("?statement__startswith=U", "?value__icontains=x", "?author_id=a", "?version=9"):
        answer = client.get(reverse("admin:memory_memoryitem_changelist") + query)
        assert answer.status_code in (302, 400), query


def test_a_reviewer_of_a_part_of_the_domain_sees_no_context(cast):
    compose(cast.agent)
    make_person("part", TEAM, "project:shop", is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username="part"))
    assert client.get(change(ContextRecord.objects.get())).status_code == 302
    assert not client.get(reverse("admin:memory_contextrecord_changelist")).context["cl"].result_list


@pytest.mark.parametrize("model", [MemoryItem, Entity, ContextRecord])
def test_a_page_asks_as_many_questions_however_much_there_is(cast, client, model):
    shop = context("project:shop")

    def grow() -> None:
        changed = decision(f"Use database {MemoryItem.objects.count()}")
        commit(cast.agent, decisions=[changed], entities=[entity(aliases=["rag"], remember=True)], scopes=shop)
        compose(cast.agent, "Which database?", scope_context=shop)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(client, model.objects.order_by("-id")[0])
        return len([sql for sql in texts(queries) if "SAVEPOINT" not in sql])

    for _ in range(3):
        grow()
    asked()
    before = asked()
    for _ in range(6):
        grow()
    assert asked() == before < (20 if model is MemoryItem else 30)


def test_the_page_of_a_memory_and_of_its_copy_ask_few_questions(cast, client):
    first = only(commit(cast.agent, decisions=[decision("Use MySQL")]))["id"]
    refs = [{"kind": "memory", "id": first}, {"kind": "url", "id": "https://e.example"}]
    source = only(commit(cast.agent, say="Use it.", extract=False, decisions=[decision("Use it", evidence_refs=refs)]))
    body = {
        "memory_item_id": source["id"],
        "target_scope": {"type": "project", "id": "p"},
        "reason": "for all",
        **VERIFIED,
    }
    copy = cast.reviewer.do("promote_to_scope", body)["item"]["id"]
    for row in (item(source["id"]), item(copy)):
        page(client, row)
        with CaptureQueriesContext(connection) as queries:
            page(client, row)
        asked = [sql for sql in texts(queries) if "SAVEPOINT" not in sql]
        assert len(asked) < 20, "\n".join(asked)


def test_the_own_context_of_an_agent_is_lost_with_its_grant(cast):
    peer = make_agent("peer", pattern="project:shop")
    record = compose(peer, "anything?", "mine", scope_context={"read": [{"type": "project", "id": "shop"}]})
    told = peer.do("get_context", id=record["context_id"])
    assert told["package"] == {name: part for name, part in record.items() if name != "messages"}
    assert (told["actor"], told["session_id"]) == ("peer", "mine")
    for other in (cast.agent, cast.reader, cast.stranger):
        with pytest.raises(NotFoundError, match="No context"):
            other.call("get_context", id=record["context_id"])
    assert cast.reviewer.do("get_context", id=record["context_id"]) == told
    with unguarded():
        Grant.objects.filter(principal__name="peer").update(pattern="project:other")
    with pytest.raises(NotFoundError, match="No scope 'project:shop'"):
        again(peer).call("get_context", id=record["context_id"])


def test_a_promoted_memory_shows_its_line_both_texts_and_who_is_told(cast, client):
    place = context("task:t")
    source = only(commit(cast.agent, say="Ann wants it.", extract=False, decisions=[decision(NASTY)], scopes=place))
    target = {"type": "project", "id": "shop"}
    body = {
        "memory_item_id": source["id"],
        "target_scope": target,
        "reason": NASTY,
        **VERIFIED,
        "text": "Postgres it is.",
    }
    copy = cast.reviewer.do("promote_to_scope", body)["item"]["id"]
    other = make_agent("colleague")
    compose(other, "Postgres?", "n1", scope_context=context("project:shop"))
    cast.agent.do("retract_item", memory_item_id=copy, reason=NASTY)
    for row in (item(source["id"]), item(copy)):
        text = page(client, row)
        assert "Postgres it is." in text
        assert "Use Postgres" not in text
        assert "promoted in other words for reviewer, decided by reviewer" in text
        assert "<script>alert" not in text
        assert "Ann wants it." in text
        assert 'aria-current="true"' in text
    assert "colleague" in page(client, item(copy))
    assert "waits for the next compose" in page(client, item(copy))


def test_a_reviewer_of_the_target_alone_sees_that_there_is_a_source_and_not_what_it_says(cast):
    source = only(commit(cast.agent, decisions=[decision("Ann leaves")]))
    target = {"type": "project", "id": "shop"}
    body = {
        "memory_item_id": source["id"],
        "target_scope": target,
        "reason": "for all",
        **VERIFIED,
        "text": "Someone leaves.",
    }
    copy = cast.reviewer.do("promote_to_scope", body)["item"]["id"]
    make_person("shop-only", TEAM, "project:shop", is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username="shop-only"))
    text = page(client, item(copy))
    assert "A memory of a scope that you may not read." in text
    assert "Ann leaves" not in text


def test_a_context_names_a_session_to_which_nothing_was_committed(cast, client):
    package = compose(cast.agent, "zebra choice", "not-yet")
    assert cast.agent.do("get_context", id=package["context_id"])["session_id"] == "not-yet"
    for page, args in (("changelist", []), ("change", [package["context_id"]])):
        assert "not-yet" in client.get(reverse(f"admin:memory_contextrecord_{page}", args=args)).content.decode()
