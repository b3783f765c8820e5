"""Imports and moves at the same moment: one source gives one whole document, and the tree of tags has no ring."""

from __future__ import annotations

import pytest

from kernel.errors import DomainError, UnavailableError
from media.models import MediaObject, SourceDocument, SourceSection, Tag
from search.models import IndexEntry
from tests.conftest import TEAM, make_cast
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 4
SCOPES = [{"type": "project", "id": "a"}, {"type": "task", "id": "b"}]


def test_one_source_imported_at_once_is_one_document():
    cast = make_cast()

    def work(number: int) -> dict:
        text = "".join(f"## Part {n}\n\nText {number} {n}.\n\n" for n in range(number + 1))
        options = {"text": text, "source_uri": "x:1", "tags": ["b", "a", f"own {number}"]}
        scopes = SCOPES if number % 2 else SCOPES[::-1]
        return cast.agent.do("add_document", domain_id=TEAM, options=options, scopes=scopes)

    outcomes = at_once([lambda n=n: work(n) for n in range(WRITERS)])
    refused = [each for each in outcomes if isinstance(each, DomainError)]
    assert [each for each in refused if not isinstance(each, UnavailableError)] == []
    answers = [each for each in outcomes if not isinstance(each, DomainError)]
    document = SourceDocument.objects.get()
    assert {each["document_id"] for each in answers} == {str(document.pk)}
    numbers = list(SourceSection.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) in {each["section_count"] for each in answers}
    assert document.metadata["content"].count("Text") == len(numbers)
    entries = IndexEntry.objects.filter(kind="section")
    assert entries.count() == 3 * len(numbers)
    assert set(entries.values_list("object_id", flat=True)) == set(document.sections.values_list("pk", flat=True))
    held = MediaObject.objects.filter(reference_count=1)
    assert [row.content_hash for row in held] == [document.content_hash]


def test_two_tags_moved_below_each_other_at_once_make_no_ring():
    cast = make_cast()
    cast.agent.do("add_document", domain_id=TEAM, options={"text": "# A\n\nb", "tags": ["left", "right"]})
    ids = {row.name: str(row.pk) for row in Tag.objects.all()}
    moves = (("left", "right"), ("right", "left"))
    outcomes = at_once(
        [lambda tag=tag, to=to: cast.agent.do("move_tag", tag_id=ids[tag], parent=to) for tag, to in moves]
    )
    assert sum(isinstance(each, DomainError) for each in outcomes) == 1
    assert Tag.objects.exclude(parent=None).count() == 1


def test_a_tag_that_is_taken_away_while_others_file_under_it_breaks_nothing():
    cast = make_cast()
    cast.agent.do("add_document", domain_id=TEAM, options={"text": "# A\n\nb", "tags": ["plans"]})
    tag = str(Tag.objects.get().pk)

    def file(number: int):
        options = {"text": f"# Plan {number}\n\nText", "tags": ["plans"]}
        return lambda: cast.agent.do("add_document", domain_id=TEAM, options=options)

    outcomes = at_once([file(1), lambda: cast.agent.do("delete_tag", tag_id=tag), file(2), file(3)])
    assert [each for each in outcomes if not isinstance(each, dict)] == []
    assert SourceDocument.objects.count() == 4
    assert Tag.objects.count() <= 1
