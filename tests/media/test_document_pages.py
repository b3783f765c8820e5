"""The admin's pages of documents: on record, shown as text, limited to what is shared where the person reads."""

from __future__ import annotations

import base64

import pytest
from django.test import Client
from django.urls import reverse

from governance.models import AuditEntry
from tests.clients import new_reviewer
from tests.conftest import TEAM
from tests.media import files, shelf

NASTY = "<script>alert(1)</script> a\u200bb [go](javascript:x)"
PROJECT = {"type": "project", "id": "shop"}
LIST = "admin:media_sourcedocument_changelist"


@pytest.fixture
def client(cast) -> Client:
    return new_reviewer("ann", TEAM)


def add(cast, text: str = f"# Plan\n\n{NASTY}\n", /, scopes: tuple = (PROJECT,), **options: object) -> str:
    inline = {} if "data" in options else {"text": text}
    made = cast.agent.do("add_document", domain_id=TEAM, options={**inline, **options}, scopes=list(scopes))
    return str(made["document_id"])


def page(client: Client, document_id: str, query: str = "") -> str:
    answer = client.get(reverse("admin:media_sourcedocument_change", args=[document_id]) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_it_works(cast, client, tmp_path):
    raw = base64.b64encode(files.pdf(tmp_path / "a.pdf").read_bytes()).decode()
    document = add(cast, data=raw, name="a.pdf", tags=["melons"], metadata={"mine": {"a": 1}})
    assert "The report" in client.get(reverse(LIST)).content.decode()
    text = page(client, document)
    for part in ("project:shop", "melons", "pages 1–3", "application/pdf", "mine", "Ann", "first page is about"):
        assert part in text


def test_the_page_leads_to_the_file(cast, client):
    document = add(cast, "# Plan\n\nUse Postgres.\n")
    link = reverse("document_file", args=[document])
    assert f'href="{link}"' in page(client, document)
    answer = client.get(link)
    assert b"".join(answer.streaming_content) == b"# Plan\n\nUse Postgres.\n"
    assert answer["Content-Disposition"].startswith("attachment")


def test_text_is_content_and_nothing_else(cast, client):
    text = page(client, add(cast, title=f"T {NASTY}", description=NASTY, tags=[NASTY]))
    assert "<script>alert" not in text
    assert "⟦U+200B⟧" in text
    assert 'href="javascript' not in text


@pytest.mark.parametrize(
    "metadata", [{"start_ms": "soon"}, {"offset_start": 3}, {"page": [1]}, {"start_ms": None, "page": True}]
)
def test_a_place_that_is_no_number_is_not_told(cast, client, metadata):
    row = shelf.put(
        cast.agent, "words of old", metadata=metadata, document={"media_type": "document"}, shared=("project:shop",)
    )
    text = page(client, str(row.pk))
    assert "words of old" in text
    assert "soon" not in text


def test_looking_is_on_record(cast, client):
    document = add(cast)
    client.get(reverse(LIST))
    assert not AuditEntry.objects.filter(actor_name="ann").exclude(action="sign_in").exists()
    page(client, document)
    entry = AuditEntry.objects.exclude(action="sign_in").get(actor_name="ann")
    assert (entry.action, entry.door, entry.domain_id) == ("get_document", "admin", TEAM)


@pytest.mark.parametrize("scopes", [(), ({"type": "task", "id": "t"},)], ids=["not shared", "shared elsewhere"])
def test_what_is_not_shared_to_what_one_reviews_is_not_there(cast, scopes):
    client = new_reviewer("bob", TEAM, "project:shop")
    document = add(cast, scopes=scopes)
    empty = client.get(reverse(LIST)).content.decode()
    assert "No documents that you may see" in empty
    assert "team / project:shop" in empty
    answer = client.get(reverse("admin:media_sourcedocument_change", args=[document]))
    assert answer.status_code == 302
    cast.agent.do("share_document", document_id=document, scope=PROJECT)
    assert "Plan" in page(client, document)


def test_a_long_document_is_read_page_by_page(cast, client):
    document = add(cast, "".join(f"## Part {n}\n\nText {n}.\n\n" for n in range(45)))
    first = page(client, document)
    assert "Text 19." in first
    assert "Text 20." not in first
    assert "45 sections" in first
    cursor = first.split("?cursor=")[1].split('"')[0]
    assert "Text 20." in page(client, document, f"?cursor={cursor}")


@pytest.mark.parametrize(
    ("query", "shown"),
    [("q=Plan", True), ("q=https://x.y", True), ("q=other", False), ("media_type=document", True),
     ("media_type=image", False), ("source_type=manual", True), ("source_type=url", False)],
)  # fmt: skip
def test_the_list_is_searched_and_filtered(cast, client, query, shown):
    add(cast, source_uri="https://x.y/z")
    text = client.get(f"{reverse(LIST)}?{query}").content.decode()
    assert ("https://x.y/z" in text) is shown
    assert ("Nothing fits" in text) is not shown


def test_the_page_asks_few_questions(cast, client, django_assert_max_num_queries):
    document = add(cast, "".join(f"## Part {n}\n\nText {n}.\n\n" for n in range(20)), tags=["a", "b"])
    with django_assert_max_num_queries(20):
        page(client, document)


@pytest.mark.parametrize("over", ["the document", "its scope"])
def test_a_legal_hold_on_it_is_told(cast, client, over):
    document, other = add(cast), add(cast, "# Else\n\nwords\n", scopes=({"type": "task", "id": "t"},))
    what = {"object": {"kind": "document", "id": document}} if over == "the document" else {"scope": "project:shop"}
    hold = cast.operator.do("place_hold", domain_id=TEAM, reason="a lawsuit", **what)["hold"]["id"]
    link = reverse("admin:governance_legalhold_change", args=[hold])
    assert link in page(client, document)
    assert "everything in" in page(client, document) or over == "the document"
    assert "legal hold" not in page(client, other)
    cast.operator.do("lift_hold", id=hold, reason="over")
    assert "legal hold" not in page(client, document)


def test_who_may_not_see_the_hold_is_told_that_there_is_one(cast):
    document = add(cast, scopes=(PROJECT, {"type": "task", "id": "t"}))
    cast.operator.do("place_hold", domain_id=TEAM, reason="a lawsuit", scope="task:t")
    text = page(new_reviewer("bob", TEAM, "project:shop"), document)
    assert "an operator placed a hold that covers it" in text
    assert "lawsuit" not in text
    assert "task:t" not in text.partition("legal hold")[2].partition("</p>")[0]
