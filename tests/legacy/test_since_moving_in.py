"""What people and agents did here since something was moved in is no damage, and a validation says by what it knows that;
what nobody did is found beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from governance import gate
from kernel.actions import Change
from legacy.contracts.validating import MigrationReport
from legacy.models import MigratedRow
from legacy.selectors.compared import COMPARISONS, Held
from legacy.selectors.compared.shapes import plain
from legacy.selectors.since import changes
from legacy.services.validating import validate
from legacy.source import opened
from media.models import MediaJob, SectionTag, SourceDocument, SourceSection, Topic
from memory.models import Entity, MemoryItem, Message, Session
from tests.conftest import Cast, Player
from tests.guards.write_guard import unguarded
from tests.legacy.judging import move
from tests.legacy.moving import came
from tests.legacy.sources import clean, library, schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows

LEGACY = "legacy"


@pytest.fixture
def brain(postgres: str, older: Player) -> Iterator[Source]:
    """Two conversations, moved in for the principal `older`."""
    with source(postgres, clean(2, 12)[0], ddl=schema.BRAIN_0_1) as made:
        move(made)
        yield made


@pytest.fixture
def shelf(postgres: str, older: Player, tmp_path: Any) -> Iterator[Source]:
    """A library with tags, topics, jobs and stored bytes, moved in for the principal `older`."""
    rows, root = Rows(5), tmp_path / "older"
    library.collect(rows, 4, 3, root)
    with source(postgres, rows, ddl=schema.RAG_EARLY + schema.RAG_LATE) as made:
        move(made, media=root)
        yield made


def told(made: Source | None) -> dict[str, list[str]]:
    """What was found by each check, as `table: what`; the report must be whole."""
    report = reported(made)
    found = {
        check.code: [f"{each.target_table}: {each.what}" for each in check.findings]
        for check in report.checks
        if check.count
    }
    assert report.whole, found
    return found


def reported(made: Source | None) -> MigrationReport:
    if made is None:
        return validate(None, lambda *told: None)
    with opened(made.url) as snapshot:
        return validate(snapshot, lambda *told: None)


def erase(player: Player, kind: str, pk: object) -> str:
    given = {"domain_id": LEGACY, "objects": [{"kind": kind, "id": str(pk)}], "reason": "asked to", "along": True}
    return str(player.do("erase", given)["receipt_id"])


def differing(made: Source) -> set[str]:
    """The columns in which rows are said to differ though nothing tells why."""
    report = reported(made)
    (check,) = [each for each in report.checks if each.code == "value_differs"]
    return {part.partition(":")[0].strip() for each in check.findings for part in each.what.split("; ")}


def test_an_erased_session_is_told_with_its_receipt(brain: Source, cast: Cast):
    """With all that was said in it, its summary, mentions, link to its scope and memories."""
    session = Session.objects.order_by("pk").first()
    assert session is not None
    said = Message.objects.filter(turn__session=session).count()
    receipt = erase(cast.operator, "session", session.pk)
    for made in (brain, None):
        found = told(made)
        assert set(found) == {"erased_here"}
        assert all(receipt in what for what in found["erased_here"])
    gone = MigratedRow.objects.filter(receipt_id=receipt)
    assert gone.filter(source_table="messages").count() == said
    for table in ("sessions", "turns", "tool_calls", "refs", "memory_items", "entity_mentions", "summaries"):
        assert gone.filter(source_table=table).exists(), table


def test_an_erased_memory_takes_its_summary_and_entity_along(brain: Source, cast: Cast):
    item = MemoryItem.objects.filter(type="entities", current_until=None).first()
    item = item or MemoryItem.objects.filter(current_until=None).first()
    assert item is not None
    receipt = erase(cast.operator, "memory", item.pk)
    for made in (brain, None):
        found = told(made)
        assert set(found) == {"erased_here"}
        assert all(receipt in what for what in found["erased_here"])
    assert any(what.startswith("summaries: ") for what in found["erased_here"])


def test_an_entity_outlives_the_session_that_it_came_from(brain: Source, cast: Cast):
    """It has no source session any more, and that is no fault: the receipt says why."""
    one, other = Session.objects.order_by("pk")
    entity = Entity.objects.filter(source_session=one).first()
    assert entity is not None
    with unguarded():
        entity.mentions.exclude(pk=entity.mentions.order_by("pk")[0].pk).delete()
        Entity.objects.filter(pk=entity.pk).update(item=None)
        entity.mentions.update(turn=other.turns.order_by("seq").last())
    erase(cast.operator, "session", one.pk)
    entity.refresh_from_db()
    assert entity.source_session is None
    report = reported(None)
    (missing,) = [check for check in report.checks if check.code == "missing"]
    assert {each.target_table for each in missing.findings} <= {"entity_mentions"}  # those taken away above
    assert [check.count for check in report.checks if check.code == "no_place"] == [0]
    assert MigratedRow.objects.get(target_id=str(entity.pk)).receipt_id is not None
    assert report.missing.entities == 0


def test_an_erased_document_is_told_with_its_receipt(shelf: Source, cast: Cast):
    """With its sections, their tags and topics, its hold on stored bytes, and what its job had been asked."""
    document = SourceDocument.objects.first()
    assert document is not None
    receipt = erase(cast.operator, "document", document.pk)
    for made in (shelf, None):
        found = told(made)
        assert set(found) == {"erased_here"}
        assert all(receipt in what for what in found["erased_here"])
    tables = {what.partition(":")[0] for what in found["erased_here"]}
    assert {"source_documents", "source_sections", "section_tags", "research_topic_sections"} <= tables


def test_what_agents_and_people_did_with_memories_is_told(brain: Source, older: Player, cast: Cast):
    task = MemoryItem.objects.filter(type="tasks", status="active").order_by("pk").first()
    decision = MemoryItem.objects.filter(type="decisions", status="active").order_by("pk").first()
    assert task is not None
    assert decision is not None
    assert task.source_session is not None
    events = {"tasks": [{"key": task.key, "title": "Anew", "status": "doing"}]}
    older.do("commit_turn", session_id=task.source_session.external_id, turn_events=events)
    cast.operator.do("retract_item", memory_item_id=str(decision.pk), reason="not so")
    found = told(brain)
    assert set(found) == {"changed_here"}
    assert len(found["changed_here"]) == 2
    assert all("status: there" in what and "the audit log tells of it" in what for what in found["changed_here"])


def test_what_is_changed_by_hand_after_an_honest_change_is_found(brain: Source, older: Player, cast: Cast):
    """An entry in the audit log tells of what it tells, and of nothing else."""
    item = MemoryItem.objects.filter(type="decisions", status="active").order_by("pk").first()
    assert item is not None
    cast.operator.do("retract_item", memory_item_id=str(item.pk), reason="not so")
    assert set(told(brain)) == {"changed_here"}
    for column, value, name in (
        ("value", {**item.value, "decision": "altered"}, "value_json"),
        ("confidence", 0.11, "confidence"),
        ("status", "superseded", "status"),
    ):
        with unguarded():
            MemoryItem.objects.filter(pk=item.pk).update(**{column: value})
        assert name in differing(brain), column
        with unguarded():
            MemoryItem.objects.filter(pk=item.pk).update(
                **{column: "retracted" if column == "status" else getattr(item, column)}
            )


def test_a_document_that_is_imported_again_is_told(shelf: Source, older: Player):
    """Sections that went with its older text are told with it, and its new title is no damage."""
    document = SourceDocument.objects.order_by("pk").first()
    assert document is not None
    given = {"text": "# Anew\n\nQuite another text.", "title": "Anew", "source_uri": document.source_uri}
    older.do("add_document", domain_id=LEGACY, options=given)
    document.refresh_from_db()
    assert document.title == "Anew"
    for made in (shelf, None):
        found = told(made)
        assert set(found) <= {"changed_here", "removed_here"}
        assert any("was imported again" in what for what in found["removed_here"])
    assert any(what.startswith("source_documents: title: there") for what in told(shelf)["changed_here"])
    with unguarded():
        SourceDocument.objects.filter(pk=document.pk).update(author="somebody else")
    assert differing(shelf) >= {"author"}


def test_what_became_of_the_library_is_told(shelf: Source, older: Player, cast: Cast):
    """A removed document, a retried job, a moved tag, a topic with another name, a tag that was taken away."""
    document, other = SourceDocument.objects.order_by("pk")[:2]
    older.do("remove_document", document_id=str(document.pk), reason="old")
    failed = MediaJob.objects.get(status="failed")
    older.do("retry_media_job", id=str(failed.pk))
    topic = Topic.objects.order_by("pk").first()
    assert topic is not None
    older.do("update_topic", topic_id=str(topic.pk), title="Another name")
    tag = SectionTag.objects.filter(section__document=other).select_related("tag").first()
    assert tag is not None
    older.do("delete_tag", tag_id=str(tag.tag_id))
    found = told(shelf)
    assert set(found) == {"changed_here", "removed_here"}
    changed = {what.partition(":")[0] for what in found["changed_here"]}
    assert {"media_jobs", "research_topics"} <= changed
    removed = {what.partition(":")[0] for what in found["removed_here"]}
    assert {"source_documents", "source_sections", "section_tags"} <= removed


def test_what_goes_without_a_word_is_missing(shelf: Source):
    """A section, its place in a topic and a tag's place on it: nothing tells of them."""
    link = SectionTag.objects.order_by("pk").first()
    assert link is not None
    section = SourceSection.objects.get(pk=link.section_id)
    with unguarded():
        SourceSection.objects.filter(pk=section.pk).delete()
    for made in (shelf, None):
        report = reported(made)
        (missing,) = [check for check in report.checks if check.code == "missing"]
        assert {each.target_table for each in missing.findings} >= {"source_sections", "section_tags"}


def test_each_of_two_rows_that_became_one_is_explained(cast: Cast):
    """Whatever the other differs in."""
    tag, others = uuid4(), uuid4()
    change = Change("tags", str(tag), {"name": "water"}, {"name": "sea", "parent": None})
    gate.by_itself("somebody", lambda: [change], cast.operator.ctx())
    both, one, none = came("tags", tag, "1"), came("tags", tag, "2"), came("tags", others, "3")
    name, parent = Held("name", plain("water"), plain("sea")), Held("parent_id", plain("x"), plain(None))
    found = changes("tags", [(both, None, [name, parent]), (one, None, [name]), (none, None, [name])])
    assert {pk: set(columns) for pk, columns in found.items()} == {
        both.pk: {"name", "parent_id"},
        one.pk: {"name"},
        none.pk: set(),
    }


def test_every_table_has_a_comparison_of_its_own_rows():
    """A mark is made by the name of a value, so two values of a row have different ones."""
    for table, comparison in COMPARISONS.items():
        names = [(value.name, value.attribute) for value in comparison.values]
        assert len(names) == len(set(names)) or table == "memory_items", table
