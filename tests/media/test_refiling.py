"""A document that is imported again: sections whose text changed stay filed, and what is lost is told."""

from __future__ import annotations

from functools import partial

import pytest

from governance.models import AuditEntry
from kernel.errors import DomainError
from media.models import SectionTag, TopicSection
from tests.conftest import TEAM, Player, make_agent
from tests.threads import at_once

pytestmark = pytest.mark.django_db

URI = "https://example.org/plan"
PROJECT = {"type": "project", "id": "shop"}


def put(player: Player, **parts: str) -> dict:
    """The document with one section under each heading."""
    text = "".join(f"## {name}\n\n{words}\n\n" for name, words in parts.items())
    made: dict = player.do("add_document", domain_id=TEAM, options={"text": text, "source_uri": URI}, scopes=[PROJECT])
    return made


def sections(player: Player, made: dict) -> dict[str, dict]:
    shown = player.do("get_document", document_id=made["document_id"])["sections"]
    return {each["title"]: each for each in shown}


def file(player: Player, made: dict, **tags: list[str]) -> None:
    ids = {title: each["id"] for title, each in sections(player, made).items()}
    for title, names in tags.items():
        player.do("tag_sections", document_id=made["document_id"], section_ids=[ids[title]], tags=names)


def topic(player: Player, made: dict, title: str) -> str:
    given = {"domain_id": TEAM, "title": title, "document_ids": [made["document_id"]]}
    return str(player.do("create_topic", given)["topic"]["id"])


def test_it_works(cast):
    made = put(cast.agent, Fruit="Melons.", Nuts="Almonds.")
    file(cast.agent, made, Fruit=["sweet", "甜"], Nuts=["hard"])
    gathered = topic(cast.agent, made, "Food")
    again = put(cast.agent, Fruit="Melons and figs.", Nuts="Almonds.", Milk="Cheese.")
    assert again["warnings"] == []
    now = sections(cast.agent, again)
    assert {title: sorted(each["tags"]) for title, each in now.items()} == {
        "Fruit": ["sweet", "甜"],
        "Nuts": ["hard"],
        "Milk": [],
    }
    held = TopicSection.objects.filter(topic__pk=gathered).values_list("section", flat=True)
    assert {str(pk) for pk in held} == {now["Fruit"]["id"], now["Nuts"]["id"]}


def test_what_is_lost_is_named_and_on_record(cast):
    made = put(cast.agent, Fruit="Melons.", Nuts="Almonds.")
    file(cast.agent, made, Fruit=["sweet"])
    gathered = topic(cast.agent, made, "Food")
    peer = make_agent("peer", TEAM)
    topic(peer, made, "Hidden")
    again = put(cast.agent, Nuts="Almonds.")
    (warning,) = again["warnings"]
    assert warning.startswith("unfiled:")
    for part in ("'Fruit'", "tag 'sweet'", "topic 'Food'", "1 topics of others"):
        assert part in warning
    assert "Hidden" not in warning
    entry = AuditEntry.objects.filter(action="add_document").latest("pk")
    gone = {(change["table"], change["id"]) for change in entry.changes if change["after"] is None}
    assert {("section_tags", made["document_id"]), ("research_topic_sections", gathered)} <= gone
    assert not SectionTag.objects.exists()


def test_tags_that_the_import_gives_to_all_are_not_called_lost(cast):
    options = {"source_uri": URI, "tags": ["plans"]}
    cast.agent.do("add_document", domain_id=TEAM, options={"text": "## A\n\n1\n\n## B\n\n2", **options})
    again = cast.agent.do("add_document", domain_id=TEAM, options={"text": "## A\n\n1", **options})
    assert again["warnings"] == []


def test_of_many_lost_sections_twenty_are_told_one_by_one(cast):
    made = put(cast.agent, **{f"Part{n}": f"Words {n}." for n in range(25)}, Kept="Here.")
    cast.agent.do("tag_sections", document_id=made["document_id"], tags=["x"])
    again = put(cast.agent, Kept="Here.")
    assert len(again["warnings"]) == 21
    assert again["warnings"][-1] == "unfiled:5 more sections are gone that were filed under something."


@pytest.mark.django_db(transaction=True)
def test_a_tag_and_a_topic_go_while_the_document_is_imported_again(transactional_db):
    """Whoever is first: the import is stored, and nothing is filed under what is gone."""
    agent = make_agent("agent", TEAM)
    for number in range(3):
        made = put(agent, Fruit=f"Melons {number}.", Nuts="Almonds.")
        file(agent, made, Fruit=["a", "b"])
        gathered = topic(agent, made, f"Food {number}")
        tag = next(each["id"] for each in agent.do("list_tags", domain_id=TEAM)["tags"] if each["name"] == "a")
        outcomes = at_once(
            [
                partial(put, agent, Fruit=f"Figs {number}.", Nuts="Almonds."),
                partial(agent.do, "delete_tag", tag_id=tag),
                partial(agent.do, "delete_topic", topic_id=gathered),
            ]
        )
        assert not [each for each in outcomes if isinstance(each, DomainError)]
        assert "b" in sections(agent, made)["Fruit"]["tags"]
        assert not TopicSection.objects.exists()
