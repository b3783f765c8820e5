"""SmartRAG's library moved in: documents that are found as before, by whom they were, with their tags and topics."""

from __future__ import annotations

import pytest

from legacy.models import MigratedRow
from media.models import (
    MediaJob,
    MediaObject,
    MediaObjectReference,
    SectionTag,
    SourceDocument,
    SourceSection,
    Tag,
    TopicSection,
)
from media.selectors.indexed import lost_sections, misplaced_entries
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Principal
from tests.conftest import make_agent
from tests.legacy.smart_rag import counts, fate, here, move, moved, own_place, owner, retrieved, rows, searched
from tests.legacy.sources import library, schema
from tests.legacy.sources.databases import source

__all__ = ["own_place", "owner", "rows"]


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
