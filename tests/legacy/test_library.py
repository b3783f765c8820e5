"""SmartRAG's library moved in: documents that are found as before, by whom they were, with their bytes, tags and jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from legacy.models import MigratedRow
from media.actions import working
from media.models import (
    MediaJob,
    MediaObject,
    MediaObjectReference,
    SectionTag,
    SourceDocument,
    SourceSection,
    Tag,
    Topic,
    TopicSection,
    TopicTag,
)
from media.selectors.indexed import lost_sections, misplaced_entries
from media.storage import store
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Principal
from tests.conftest import Player, make_agent
from tests.doors.http import Http
from tests.legacy.sources import library, schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows
from tests.media.shelf import a_plan

LATE = schema.RAG_EARLY + schema.RAG_LATE
SMART_RAG = "smart-rag"
TABLES = (
    SourceDocument, SourceSection, Tag, Topic, SectionTag, TopicSection, TopicTag, MediaObject, MediaObjectReference,
    MediaJob,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _own_place(settings, tmp_path):
    """Stored bytes and locks of each test lie apart."""
    settings.SMARTBRAIN = replace(
        django_settings.SMARTBRAIN, data_dir=tmp_path / "data", media_allowed_hosts="docs.example.org"
    )


@pytest.fixture
def owner(db) -> Player:
    return make_agent(SMART_RAG, LEGACY_DOMAIN)


@pytest.fixture
def rows() -> Rows:
    return Rows(5)


def move(made: Source, *arguments: str, media: Path | None = None) -> dict[str, Any]:
    out = StringIO()
    given = [*arguments, *(["--media-root", str(media)] if media else [])]
    call_command(
        "migrate_legacy", "--from", made.url, "--owner", SMART_RAG, "--json", *given, stdout=out, stderr=StringIO()
    )
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


@contextmanager
def moved(server: str, rows: Rows, *arguments: str, media: Path | None = None) -> Iterator[Source]:
    with source(server, rows, ddl=LATE) as made:
        move(made, *arguments, media=media)
        yield made


def fate(table: str, source_id: object) -> MigratedRow:
    return MigratedRow.objects.get(source_table=table, source_id=str(source_id))


def here(table: str, row: dict[str, Any]) -> str:
    """The id here of a row of the source."""
    found = fate(table, row["id"])
    assert found.outcome == "migrated", (found.reason, found.note)
    return found.target_id


def counts() -> list[int]:
    return [model.objects.count() for model in TABLES]


def searched(player: Player, query: str) -> list[str]:
    given = {"domain_id": LEGACY_DOMAIN, "session_id": "s", "query": query, "kinds": ["section"]}
    return [result["ref"]["document_id"] for result in player.do("search_memory", given)["results"]]


def retrieved(player: Player, query: str) -> list[str]:
    answer = player.do("retrieve", {"domain_id": LEGACY_DOMAIN, "plan": a_plan(query)})
    return [each["document_id"] for each in answer["evidences"]]


def test_it_works(postgres, owner, rows, tmp_path):
    library.collect(rows, 6, 3, tmp_path / "older")
    with moved(postgres, rows, media=tmp_path / "older"):
        pass
    assert not MigratedRow.objects.filter(outcome="quarantined").exists()
    kiln = here("source_documents", rows["source_documents"][3])
    assert kiln in searched(owner, "测温锥")
    assert kiln in retrieved(owner, "测温锥")
    told = owner.do("get_document", {"document_id": kiln})
    assert (told["document"]["title"], told["document"]["language"], told["section_count"]) == ("窑炉笔记 3", "zh", 3)
    assert (told["document"]["author"], told["document"]["state"], told["document"]["own"]) == (
        "Ada",
        "completed",
        True,
    )
    assert told["metadata"]["pages"] == 3
    assert told["metadata"]["provenance"]["id"] == "4"
    assert [each["metadata"]["page"] for each in told["sections"]] == [1, 2, 3]
    assert told["sections"][0]["tags"] == ["harbor"]
    listed = owner.do("list_documents", {"domain_id": LEGACY_DOMAIN})["documents"]
    made = [here("source_documents", row) for row in rows["source_documents"]]
    assert [row["id"] for row in listed] == made[::-1], "newest first"
    paths = {row["path"] for row in owner.do("list_tags", {"domain_id": LEGACY_DOMAIN})["tags"]}
    assert paths == {"harbor", "窑炉", "safety"}
    assert Tag.objects.get(name="cranes").parent == Tag.objects.get(name="harbor")
    topics = owner.do("list_topics", {"domain_id": LEGACY_DOMAIN})["topics"]
    assert {(row["title"], row["description"], *row["tags"]) for row in topics} == {
        ("Maintenance", "What keeps running", "harbor"), ("陶艺", ""),
    }  # fmt: skip
    assert TopicSection.objects.count() == SectionTag.objects.count() == 6
    assert not lost_sections().exists()
    assert not misplaced_entries().exists()


def test_run_again_changes_nothing(postgres, owner, rows, tmp_path):
    library.collect(rows, 6, 3, tmp_path / "older")
    with moved(postgres, rows, media=tmp_path / "older") as made:
        before, digests = counts(), made.digests()
        again = move(made, media=tmp_path / "older")
        assert counts() == before
        assert made.digests() == digests
    assert all(count > 0 for count in before)
    figures = [again["tables"][table] for table in schema.TABLES_RAG if again["tables"].get(table)]
    assert all(each == {"read": each["read"], "unchanged": each["read"]} for each in figures)
    assert sum(row.reference_count for row in MediaObject.objects.all()) == MediaObjectReference.objects.count() == 3


@pytest.mark.parametrize("batch", [1, 2, 7])
def test_the_size_of_a_batch_changes_nothing(postgres, owner, rows, batch):
    library.collect(rows, 4, 3, None)
    top = library.tag(rows, "zz")
    library.tag(rows, "aa", parent_id=top["id"])
    late = library.tag(rows, "mm")
    library.tag(rows, "bb", parent_id=late["id"])
    late["parent_id"] = top["id"]
    with moved(postgres, rows, "--batch", str(batch)):
        pass
    assert not MigratedRow.objects.filter(outcome="quarantined").exists()
    assert Tag.objects.get(name="bb").parent == Tag.objects.get(name="mm")
    assert Tag.objects.get(name="mm").parent == Tag.objects.get(name="zz")
    assert not lost_sections().exists()


def test_bytes_without_their_folder_wait_and_come_along_later(postgres, owner, rows, tmp_path):
    folder = tmp_path / "older"
    made = library.document(rows, "Kept", text="kept")
    kept = library.keep(rows, made, b"the bytes", folder)
    with moved(postgres, rows) as there:
        assert fate("media_objects", kept["id"]).reason == "bytes_missing"
        assert fate("media_object_references", 1).reason == "parent_quarantined"
        assert not MediaObject.objects.exists()
        told = move(there, "--dry-run", media=folder)
        assert told["tables"]["media_objects"] == {"read": 1, "migrated": 1}
        assert not MediaObject.objects.exists()
        assert not store().exists(kept["content_hash"])
        move(there, media=folder)
    row = MediaObject.objects.get(pk=here("media_objects", kept))
    assert (row.content_hash, row.byte_size, row.reference_count) == (kept["content_hash"], 9, 1)
    assert b"".join(store().stream(row.content_hash)) == b"the bytes"
    assert row.references.get().document_id == UUID(here("source_documents", made))


def test_bytes_are_taken_only_where_their_hash_is_true(postgres, owner, rows, tmp_path):
    folder = tmp_path / "older"
    kept = library.keep(rows, None, b"what they were", folder)
    Path(kept["storage_uri"]).write_bytes(b"what they are")
    sized = library.keep(rows, None, b"sized", folder, byte_size=99)
    with moved(postgres, rows, media=folder):
        pass
    assert fate("media_objects", kept["id"]).reason == "bytes_differ"
    assert fate("media_objects", sized["id"]).note == "byte_size was 99"
    assert MediaObject.objects.get().byte_size == 5


def test_what_another_principal_owned_is_for_nobody_else(postgres, owner, rows):
    ada = make_agent("ada", LEGACY_DOMAIN)
    stranger = make_agent("stranger", "elsewhere")
    for name in ("system", "ada", "bo", "stranger"):
        made = library.document(rows, f"Of {name}", text=name, principal=name)
        library.section(rows, made, 1, f"secret word {name}")
    with moved(postgres, rows):
        pass
    of = {row["principal"]: here("source_documents", row) for row in rows["source_documents"]}
    assert searched(owner, "secret word") == retrieved(owner, "secret word") == [of["system"]]
    assert searched(ada, "secret word") == retrieved(ada, "secret word") == [of["ada"]]
    assert stranger.call("list_documents", {"domain_id": "elsewhere"}).body()["documents"] == []
    made_here = Principal.objects.get(name="bo")
    assert not made_here.keys.exists()
    assert not made_here.grants.exists()
    assert SourceDocument.objects.get(pk=of["bo"]).owner_id == str(made_here.pk)


def test_the_same_key_and_payload_give_the_old_job(postgres, owner, rows):
    asked = {"title": "Plan", "tags": ["b", "a"], "description": "计划"}
    old = library.job(
        rows, "https://docs.example.org/plan.md", "completed", idempotency_key="k-1", options={**asked, "async": True}
    )
    waiting = library.job(rows, "https://docs.example.org/next.md", "queued", idempotency_key="k-2", options=asked)
    with moved(postgres, rows):
        pass
    http = Http(owner.key)
    body = {"operation": "add_document", "source": old["source"], "options": {**asked, "async": True}}
    told = http.post("media", body, Idempotency_Key="k-1").json()
    assert (told["job_id"], told["deduplicated"], told["status"]) == (here("media_jobs", old), True, "completed")
    body = {"operation": "add_document", "source": waiting["source"], "idempotency_key": "k-2"}
    told = http.post("media", {**body, "options": {"async": True, "tags": ["b", "a"], **asked}}).json()
    assert (told["job_id"], told["deduplicated"], told["status"]) == (here("media_jobs", waiting), True, "queued")
    refused = http.post("media", {**body, "options": {**asked, "tags": ["a", "b"], "async": True}})
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_conflict")
    assert MediaJob.objects.count() == 2


def test_an_upload_that_a_job_reads_comes_along_and_is_known_again(postgres, owner, rows, tmp_path):
    folder = tmp_path / "older"
    kept = library.keep(rows, None, b"# Plan\n\nThe zebra waits.", folder)
    old = library.job(
        rows, kept["storage_uri"], "processing", idempotency_key="k", options={"name": "plan.md"},
        staging_media_object_id=kept["id"], attempts=1, lease_token="t" * 64,
    )  # fmt: skip
    with moved(postgres, rows) as made:
        assert fate("media_jobs", old["id"]).reason == "parent_quarantined"
        move(made, media=folder)
    job = MediaJob.objects.get(pk=here("media_jobs", old))
    assert (job.status, job.lease_token, job.attempts) == ("queued", None, 1)
    assert "waits again" in job.note
    source_of = owner.do("upload_media", {"data": "IyBQbGFuCgpUaGUgemVicmEgd2FpdHMu", "name": "plan.md"})["source"]
    asked = {"operation": "add_document", "source": source_of, "options": {"name": "plan.md"}, "idempotency_key": "k"}
    told = owner.do("enqueue_media", asked)
    assert (told["job_id"], told["deduplicated"]) == (str(job.pk), True)
    working.run_media_job(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.error) == ("completed", "")
    assert searched(owner, "zebra") == [job.result["document_id"]]


def test_a_job_that_nobody_here_can_do_says_so(postgres, owner, rows):
    old = library.job(rows, "/srv/in/plan.md", "queued")
    with moved(postgres, rows):
        pass
    job = MediaJob.objects.get(pk=here("media_jobs", old))
    assert job.status == "queued"
    assert job.created_at.year == 2025
    assert owner.do("media_job_stats")["oldest_queued_age_seconds"] < 600  # it waits since it moved in
    assert "No worker here can do it" in job.note
    working.run_media_job(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.error.partition(":")[0]) == ("failed", "invalid_input")


def test_a_job_for_a_host_that_is_closed_here_waits_until_it_is_named(postgres, owner, rows, settings):
    """No worker fails it for good meanwhile; what has ended, and what another host has, comes along."""
    job = library.job
    waits = [job(rows, f"https://{host}/a.pdf", "queued") for host in ("files.example.com", "files.example.com:8443")]
    waits.append(job(rows, "https://files.example.com/b.pdf", "processing"))
    comes = [
        job(rows, "https://files.example.com/c.pdf", "failed"),
        job(rows, "https://docs.example.org/d.pdf", "queued"),
    ]
    with source(postgres, rows, ddl=LATE) as made:
        tried = move(made, "--dry-run")
        figures = move(made)
        assert (
            figures["closed_hosts"] == tried["closed_hosts"] == {"files.example.com": 2, "files.example.com:8443": 1}
        )
        assert figures["reasons"] == {"host_closed": 3}
        assert {fate("media_jobs", row["id"]).reason for row in waits} == {"host_closed"}
        assert {fate("media_jobs", row["id"]).outcome for row in comes} == {"migrated"}
        out = StringIO()
        call_command("migrate_legacy", "--from", made.url, "--owner", SMART_RAG, stdout=out, stderr=StringIO())
        assert "SMARTBRAIN_MEDIA_ALLOWED_HOSTS does not name: files.example.com (2)" in out.getvalue()
        settings.SMARTBRAIN = replace(settings.SMARTBRAIN, media_allowed_hosts="*.example.org, files.example.com")
        assert move(made)["closed_hosts"] == {"files.example.com:8443": 1}
    assert MediaJob.objects.filter(status="queued").count() == 3


def test_a_job_names_the_document_that_it_made_by_its_id_here(postgres, owner, rows):
    made = library.document(rows, "Made", text="made")
    old = library.job(rows, "https://docs.example.org/made.md", "completed")
    with moved(postgres, rows):
        pass
    told = owner.do("get_media_job", {"id": here("media_jobs", old)})
    assert told["result"] == {"document_id": here("source_documents", made), "older_document_id": 1}


def test_documents_of_one_address_are_kept_apart_and_true_copies_are_told(postgres, owner, rows):
    address = "/srv/docs/plan.md"
    older = library.document(rows, "Older", text="older", source_uri=address)
    newer = library.document(rows, "Newer", text="newer", source_uri=address)
    copy = library.document(rows, "Newer again", text="newer", source_uri=address, updated_at=older["updated_at"])
    bare = library.document(rows, "Neither", text="", source_uri=None, content_hash=None)
    others = library.document(rows, "Ada's", text="newer", source_uri=address, principal="ada")
    with moved(postgres, rows, "--batch", "1"):
        pass
    stored = {row.title: row for row in SourceDocument.objects.all()}
    assert set(stored) == {"Older", "Newer", "Neither", "Ada's"}
    assert stored["Newer"].source_uri == stored["Ada's"].source_uri == address
    assert (stored["Older"].source_uri, stored["Older"].content_hash) == ("", older["content_hash"])
    assert stored["Older"].metadata["provenance"]["source_uri"] == address
    assert stored["Neither"].source_uri == f"smartrag:source_documents/{bare['id']}"
    assert fate("source_documents", copy["id"]).reason == "duplicate"
    assert fate("source_documents", older["id"]).note.startswith("another document has its address")
    assert fate("source_documents", newer["id"]).note == fate("source_documents", others["id"]).note == ""


def test_numbers_that_were_given_twice_are_given_anew(postgres, owner, rows):
    made = library.document(rows, "Twice", text="twice")
    for text in ("one", "two", "one again", "two again"):
        library.section(rows, made, 1 if text.startswith("one") else 2, text)
    with moved(postgres, rows, "--batch", "2"):
        pass
    found = SourceSection.objects.order_by("number").values_list("number", "content")
    assert list(found) == [(1, "one"), (2, "two"), (3, "one again"), (4, "two again")]
    assert fate("source_sections", 3).note == "another section holds number 1: it has 3"


def test_tags_that_are_one_word_become_one_and_circles_are_opened(postgres, owner, rows):
    made = library.document(rows, "Filed", text="filed")
    part = library.section(rows, made, 1, "filed")
    one, same = library.tag(rows, "AI"), library.tag(rows, "ａi")
    left, right = library.tag(rows, "snake"), library.tag(rows, "ouroboros")
    left["parent_id"], right["parent_id"] = right["id"], left["id"]
    for each in (one, same):
        rows.add("section_tags", section_id=part["id"], tag_id=each["id"], created_at=rows.tick())
    with moved(postgres, rows):
        pass
    assert here("tags", one) == here("tags", same)
    assert fate("tags", same["id"]).note == "the same word as the tag 'AI': 'ａi'"
    assert SectionTag.objects.count() == 1
    assert MigratedRow.objects.filter(source_table="section_tags", outcome="migrated").count() == 2
    assert Tag.objects.get(name="snake").parent is None
    assert Tag.objects.get(name="ouroboros").parent == Tag.objects.get(name="snake")
    assert all("circle" in fate("tags", each["id"]).note for each in (left, right))


def test_a_tree_deeper_than_trees_may_be_is_cut(postgres, owner, rows):
    above = None
    for number in range(120):
        above = library.tag(rows, f"t{number}", parent_id=above)["id"]
    with moved(postgres, rows, "--batch", "7"):
        pass
    assert Tag.objects.count() == 120
    tops = set(Tag.objects.filter(parent=None).values_list("name", flat=True))
    assert tops == {"t0", "t50", "t100"}


def test_a_topic_whose_name_is_taken_keeps_its_words(postgres, owner, rows):
    library.topic(rows, "Plans", "first")
    second = library.topic(rows, "ｐlans", "second")
    with moved(postgres, rows):
        pass
    told = owner.do("list_topics", {"domain_id": LEGACY_DOMAIN})["topics"]
    assert {(row["title"], row["description"]) for row in told} == {("Plans", "first"), ("ｐlans (2)", "second")}
    assert fate("research_topics", second["id"]).note == "another topic has its name: it is ｐlans (2)"


def test_links_to_what_did_not_come_along_are_told(postgres, owner, rows):
    made = library.document(rows, "Bad", text="bad", download_state=9)
    part = library.section(rows, made, 1, "bad")
    word = library.tag(rows, "word")
    rows.add("section_tags", section_id=part["id"], tag_id=word["id"], created_at=rows.tick())
    with moved(postgres, rows) as there:
        found = MigratedRow.objects.filter(outcome="quarantined").values_list("source_table", "reason")
        assert set(found) == {
            ("source_documents", "unknown_status"),
            ("source_sections", "parent_quarantined"),
            ("section_tags", "parent_quarantined"),
        }
        with there.connect() as connection:
            connection.execute("UPDATE source_documents SET download_state = 1")
        move(there)
    assert not MigratedRow.objects.filter(outcome="quarantined").exists()
    assert SectionTag.objects.count() == 1
    assert searched(owner, "bad") == [here("source_documents", made)]


def test_what_was_taken_away_here_stays_away(postgres, owner, rows):
    made = library.document(rows, "Gone", text="gone")
    library.section(rows, made, 1, "gone")
    with moved(postgres, rows) as there:
        document = here("source_documents", made)
        owner.do("remove_document", {"document_id": document, "reason": "old"})
        with there.connect() as connection:
            connection.execute(
                "INSERT INTO source_sections (id, document_id, content, section_number, created_at, updated_at)"
                " VALUES (2, 1, 'late', 2, now(), now())"
            )
        move(there)
    assert not SourceDocument.objects.exists()
    assert fate("source_sections", 2).reason == "orphan"


def test_the_tables_of_the_first_migrations_are_read_too(postgres, owner, rows, tmp_path):
    library.collect(rows, 3, 2, None, late=False)
    with source(postgres, rows, ddl=schema.RAG_EARLY) as made:
        move(made)
    assert not MigratedRow.objects.filter(outcome="quarantined").exists()
    assert SourceDocument.objects.filter(owner_id=owner.identity.actor.id).count() == 3
    assert MediaJob.objects.exclude(request_fingerprint="").count() == 5
