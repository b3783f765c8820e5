"""Tags in a tree, and topics."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry
from kernel.errors import DomainError, InvalidInputError
from media.models import SectionTag, SourceDocument, Tag, TopicSection
from media.services import tagging
from tests.conftest import TEAM, Cast, Player, make_agent

PROJECT = {"type": "project", "id": "shop"}
TEXT = "## Database\n\nPostgres.\n\n## Fruit\n\n西瓜。\n"


def add(player: Player, text: str = TEXT, /, scopes: tuple = (), **options: object) -> str:
    made = player.do("add_document", domain_id=TEAM, options={"text": text, **options}, scopes=list(scopes))
    return str(made["document_id"])


def refused(player: Player, action: str, /, **fields: object) -> tuple[int, str]:
    with pytest.raises(DomainError) as told:
        player.do(action, **fields)
    return told.value.status, told.value.code


def tags(player: Player) -> dict[str, dict]:
    return {each["name"]: each for each in player.do("list_tags", domain_id=TEAM)["tags"]}


@pytest.fixture
def peer(cast: Cast) -> Player:
    return make_agent("peer", TEAM)


def test_it_works(cast):
    document = add(cast.agent, tags=["Fruit", "ＦＲＵＩＴ", "  Data  bases "])
    assert {name: each["section_count"] for name, each in tags(cast.agent).items()} == {
        "ＦＲＵＩＴ": 2,
        "Data bases": 2,
    }
    made = cast.agent.do("create_topic", domain_id=TEAM, title="Shopping", tags=["fruit"], document_ids=[document])
    topic = made["topic"]
    assert (topic["title"], topic["own"], topic["tags"]) == ("Shopping", True, ["ＦＲＵＩＴ"])
    told = cast.agent.do("get_topic", topic_id=topic["id"])
    assert [(each["document_id"], each["section_count"]) for each in told["documents"]] == [(document, 2)]


# Tags


def test_a_tag_stands_below_another(cast):
    add(cast.agent, tags=["melon"])
    moved = cast.agent.do("move_tag", tag_id=tags(cast.agent)["melon"]["id"], parent="fruit", create_parent=True)[
        "tag"
    ]
    assert moved["path"] == "fruit > melon"
    top = cast.agent.do("move_tag", tag_id=moved["id"])["tag"]
    assert (top["path"], top["parent_id"]) == ("melon", None)


def test_a_tag_above_that_is_missing_is_made_only_where_that_is_said(cast, peer):
    add(cast.agent, tags=["melon"])
    add(cast.agent, "# Shared\n\nText", scopes=(PROJECT,), tags=["open"])
    mine, seen = tags(cast.agent)["melon"]["id"], tags(peer)["open"]["id"]
    assert refused(cast.agent, "move_tag", tag_id=mine, parent="friut") == (404, "not_found")
    assert refused(peer, "move_tag", tag_id=seen, parent="melon") == (404, "not_found")  # there, but out of sight
    assert not Tag.objects.filter(name="friut").exists()
    made = cast.agent.do("move_tag", tag_id=mine, parent="fruit", create_parent=True)["tag"]
    assert made["path"] == "fruit > melon"


@pytest.mark.parametrize("name", ["animal > mammal > cat", "a ＞ b", "> a", ">"])
def test_a_path_is_no_name(cast, name):
    document = add(cast.agent, tags=["a>b", "c->d"])
    with pytest.raises(InvalidInputError) as told:
        add(cast.agent, "# New\n\nText", tags=[name])
    assert "each tag by itself" in str(told.value.errors)
    assert refused(cast.agent, "tag_sections", document_id=document, tags=[name])[0] == 422
    assert refused(cast.agent, "create_topic", domain_id=TEAM, title="T", tags=[name])[0] == 422
    mine = tags(cast.agent)["a>b"]["id"]
    assert refused(cast.agent, "move_tag", tag_id=mine, parent=name, create_parent=True)[0] == 422


@pytest.mark.parametrize("below", ["a", "b", "c"])
def test_a_tag_never_stands_below_itself(cast, below):
    add(cast.agent, tags=["a", "b", "c"])
    known = tags(cast.agent)
    cast.agent.do("move_tag", tag_id=known["b"]["id"], parent="a")
    cast.agent.do("move_tag", tag_id=known["c"]["id"], parent="b")
    assert refused(cast.agent, "move_tag", tag_id=known["a"]["id"], parent=below) == (409, "conflict")
    assert Tag.objects.get(name="a").parent is None


def test_sections_are_filed_and_taken_out(cast):
    document = add(cast.agent, tags=["old"])
    section = cast.agent.do("get_document", document_id=document)["sections"][1]["id"]
    one = cast.agent.do("tag_sections", document_id=document, section_ids=[section], tags=["new", "old"])
    assert (one["added"], one["removed"]) == (1, 0)
    again = cast.agent.do("tag_sections", document_id=document, section_ids=[section], tags=["new"])
    assert (again["added"], again["removed"]) == (0, 0)
    replaced = cast.agent.do("tag_sections", document_id=document, tags=["only"], replace=True)
    assert (replaced["added"], replaced["removed"]) == (2, 3)
    assert cast.agent.do("tag_sections", document_id=document, replace=True)["removed"] == 2
    assert not SectionTag.objects.exists()


def test_a_section_of_another_document_is_not_filed(cast):
    document, other = add(cast.agent), add(cast.agent, "# Other\n\nText")
    section = cast.agent.do("get_document", document_id=other)["sections"][0]["id"]
    told = refused(cast.agent, "tag_sections", document_id=document, section_ids=[section], tags=["x"])
    assert told == (404, "not_found")
    assert refused(cast.agent, "tag_sections", document_id=document)[0] == 422


def test_a_tag_of_what_is_private_is_private(cast, peer):
    add(cast.agent, tags=["secret"])
    tag = tags(cast.agent)["secret"]["id"]
    assert tags(peer) == {}
    assert refused(peer, "move_tag", tag_id=tag) == (404, "not_found")
    shared = add(cast.agent, "# Shared\n\nText", scopes=(PROJECT,), tags=["secret", "open"])
    assert {name: each["section_count"] for name, each in tags(peer).items()} == {"secret": 1, "open": 1}
    assert refused(peer, "tag_sections", document_id=shared, tags=["x"]) == (403, "forbidden")
    assert refused(cast.reader, "move_tag", tag_id=tag) == (403, "forbidden")


def test_a_tree_is_no_deeper_for_being_moved_whole(cast, monkeypatch):
    monkeypatch.setattr(tagging, "MAX_DEPTH", 4)
    add(cast.agent, tags=["a", "b", "c", "x", "y", "z"])
    ids = {row.name: str(row.pk) for row in Tag.objects.all()}
    for child, parent in (("b", "a"), ("c", "b"), ("y", "x"), ("z", "y")):
        cast.agent.do("move_tag", tag_id=ids[child], parent=parent)
    assert refused(cast.agent, "move_tag", tag_id=ids["x"], parent="b") == (409, "conflict")
    cast.agent.do("move_tag", tag_id=ids["z"], parent="c")


def test_a_tag_is_taken_away_and_what_stood_below_it_stands_at_the_top(cast):
    document = add(cast.agent, tags=["a", "b", "c"])
    known = tags(cast.agent)
    cast.agent.do("move_tag", tag_id=known["b"]["id"], parent="a")
    cast.agent.do("move_tag", tag_id=known["c"]["id"], parent="b")
    topic = cast.agent.do("create_topic", domain_id=TEAM, title="One", tags=["b", "c"])["topic"]["id"]
    told = cast.agent.do("delete_tag", tag_id=known["b"]["id"])
    assert told == {"tag_id": known["b"]["id"], "removed": 2, "still_seen": False, "deduplicated": False}
    assert {name: each["path"] for name, each in tags(cast.agent).items()} == {"a": "a", "c": "c"}
    assert cast.agent.do("get_topic", topic_id=topic)["topic"]["tags"] == ["c"]
    assert len(cast.agent.do("get_document", document_id=document)["sections"]) == 2
    entry = AuditEntry.objects.get(action="delete_tag")
    assert sorted((change["table"], change["after"] is None) for change in entry.changes) == [
        ("research_topic_tags", True), ("section_tags", True), ("tags", False), ("tags", True),
    ]  # fmt: skip
    assert refused(cast.agent, "delete_tag", tag_id=known["b"]["id"]) == (404, "not_found")
    add(cast.agent, "# New\n\nText", tags=["b"])
    assert tags(cast.agent)["b"]["section_count"] == 1


def test_a_tag_that_only_stands_above_others_is_taken_away_too(cast, peer):
    add(cast.agent, tags=["melon"])
    above = cast.agent.do("move_tag", tag_id=tags(cast.agent)["melon"]["id"], parent="fruit", create_parent=True)[
        "tag"
    ]["parent_id"]
    assert refused(peer, "delete_tag", tag_id=above) == (404, "not_found")
    assert cast.agent.do("delete_tag", tag_id=above)["removed"] == 0
    assert tags(cast.agent)["melon"]["path"] == "melon"


def test_a_tag_stays_where_others_filed_under_it(cast, peer):
    add(cast.agent, tags=["plans"])
    hidden = add(peer, "# Peer\n\nText", tags=["plans"])
    tag = tags(cast.agent)["plans"]["id"]
    told = cast.agent.do("delete_tag", tag_id=tag)
    assert (told["removed"], told["still_seen"]) == (2, False)  # nothing tells that a hidden document has it
    assert tags(cast.agent) == {}
    assert tags(peer)["plans"]["section_count"] == 1
    cast.agent.do("tag_sections", document_id=add(cast.agent), tags=["plans"])
    peer.do("share_document", document_id=hidden, scope=PROJECT)
    assert cast.agent.do("delete_tag", tag_id=tag)["still_seen"]


@pytest.fixture
def eraser(db: None) -> Player:
    return make_agent("eraser", TEAM, rights=["read", "write", "erase"])


def test_who_may_erase_takes_a_tag_off_everything_where_asked_to(peer, eraser):
    add(peer, "# Peer\n\nText", scopes=(PROJECT,), tags=["plans"])
    tag = tags(eraser)["plans"]["id"]
    told = eraser.do("delete_tag", tag_id=tag)
    assert (told["removed"], told["still_seen"]) == (0, True)
    told = eraser.do("delete_tag", tag_id=tag, everywhere=True)
    assert (told["removed"], told["still_seen"]) == (1, False)
    assert not Tag.objects.exists()
    assert [row.scope for row in AuditEntry.objects.filter(action="delete_tag").order_by("pk")][1] == "*"


@pytest.mark.parametrize(
    ("pattern", "rights"),
    [("*", ["read", "write"]), ("*", ["read", "erase"]), ("project:*", ["read", "write", "erase"])],
)
def test_a_tag_is_taken_off_everything_only_by_who_may_write_and_erase_everywhere(peer, pattern, rights):
    other = make_agent("other", TEAM, pattern=pattern, rights=rights)
    add(peer, "# Peer\n\nText", scopes=(PROJECT,), tags=["plans"])
    assert refused(other, "delete_tag", tag_id=tags(other)["plans"]["id"], everywhere=True) == (403, "forbidden")
    assert tags(peer)["plans"]["section_count"] == 1


def test_policy_sees_that_a_tag_would_go_everywhere(cast, peer, eraser):
    rule = {"name": "tags", "actions": ["delete_tag"], "scope_types": ["*"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared by all")
    add(peer, "# Peer\n\nText", scopes=(PROJECT,), tags=["plans"])
    tag = tags(eraser)["plans"]["id"]
    assert eraser.do("delete_tag", tag_id=tag)["removed"] == 0
    waiting = eraser.do("delete_tag", tag_id=tag, everywhere=True)["proposal"]
    assert tags(peer)["plans"]["section_count"] == 1
    cast.reviewer.do("approve_proposal", id=waiting["id"], revision=1, reason="agreed")
    assert not Tag.objects.exists()


# Topics


def test_a_topic_is_changed_and_taken_away(cast):
    topic = cast.agent.do("create_topic", domain_id=TEAM, title="One", tags=["a", "b"])["topic"]["id"]
    changed = cast.agent.do("update_topic", topic_id=topic, title="Two", tags=["b", "c"])["topic"]
    assert (changed["title"], changed["tags"]) == ("Two", ["b", "c"])
    entry = AuditEntry.objects.filter(action="update_topic").latest("id")
    told = next(change for change in entry.changes if change["table"] == "research_topics")
    assert (told["before"]["tags"], told["after"]["tags"]) == (["a", "b"], ["b", "c"])
    changed = cast.agent.do("update_topic", topic_id=topic, description="What it is")["topic"]
    assert (changed["title"], changed["description"], changed["tags"]) == ("Two", "What it is", ["b", "c"])
    cast.agent.do("delete_topic", topic_id=topic)
    assert refused(cast.agent, "get_topic", topic_id=topic) == (404, "not_found")
    assert cast.agent.do("list_topics", domain_id=TEAM)["topics"] == []


def test_documents_are_added_and_removed_again_and_again(cast):
    document = add(cast.agent)
    topic = cast.agent.do("create_topic", domain_id=TEAM, title="One")["topic"]["id"]
    both = {"topic_id": topic, "document_id": document}
    assert [cast.agent.do("add_document_to_topic", both)["added_sections"] for _ in range(2)] == [2, 0]
    listed = cast.agent.do("list_documents", domain_id=TEAM, topic_id=topic)["documents"]
    assert [each["id"] for each in listed] == [document]
    gone = [cast.agent.do("remove_document_from_topic", both)["deleted_sections"] for _ in range(2)]
    assert gone == [2, 0]
    assert SourceDocument.objects.count() == 1


def test_a_removed_document_leaves_its_topics(cast):
    document = add(cast.agent)
    cast.agent.do("create_topic", domain_id=TEAM, title="One", document_ids=[document])
    cast.agent.do("remove_document", document_id=document, reason="old")
    assert not TopicSection.objects.exists()


def test_two_topics_of_one_title(cast, peer):
    cast.agent.do("create_topic", domain_id=TEAM, title="Fruit")
    assert refused(cast.agent, "create_topic", domain_id=TEAM, title="ＦＲＵＩＴ") == (409, "conflict")
    other = cast.agent.do("create_topic", domain_id=TEAM, title="Other")["topic"]["id"]
    assert refused(cast.agent, "update_topic", topic_id=other, title="fruit") == (409, "conflict")
    assert peer.do("create_topic", domain_id=TEAM, title="Fruit")["topic"]["own"]


def test_a_topic_is_seen_through_its_documents(cast, peer):
    private, shared = add(cast.agent), add(cast.agent, "# Shared\n\nText", scopes=(PROJECT,))
    topic = cast.agent.do("create_topic", domain_id=TEAM, title="One", document_ids=[private])["topic"]["id"]
    for action in ("get_topic", "get_topic_recommendations", "delete_topic", "update_topic"):
        assert refused(peer, action, topic_id=topic) == (404, "not_found")
    assert peer.do("list_topics", domain_id=TEAM)["topics"] == []
    cast.agent.do("add_document_to_topic", topic_id=topic, document_id=shared)
    told = peer.do("get_topic", topic_id=topic)
    assert ([each["document_id"] for each in told["documents"]], told["topic"]["own"]) == ([shared], False)
    assert refused(peer, "delete_topic", topic_id=topic) == (403, "forbidden")
    assert refused(peer, "add_document_to_topic", topic_id=topic, document_id=shared) == (403, "forbidden")


def test_what_one_cannot_see_is_not_gathered(cast, peer):
    document = add(cast.agent)
    told = refused(peer, "create_topic", domain_id=TEAM, title="Mine", document_ids=[document])
    assert told == (404, "not_found")
    assert refused(cast.reader, "create_topic", domain_id=TEAM, title="Mine") == (403, "forbidden")


def test_topics_that_share_tags_are_recommended(cast, peer):
    names = {"One": ["a", "b", "c"], "Near": ["a", "b"], "Far": ["c", "d", "e"], "None": ["z"]}
    made = {
        title: cast.agent.do("create_topic", domain_id=TEAM, title=title, tags=each)["topic"]["id"]
        for title, each in names.items()
    }
    peer.do("create_topic", domain_id=TEAM, title="Hidden", tags=["a", "b", "c"])
    told = cast.agent.do("get_topic_recommendations", topic_id=made["One"])["recommendations"]
    assert [(each["title"], each["score"]) for each in told] == [("Near", 0.6667), ("Far", 0.2)]
    assert cast.agent.do("get_topic_recommendations", topic_id=made["None"])["recommendations"] == []


def test_taking_a_tag_away_again_under_its_key_gives_the_first_answer(cast, peer):
    add(cast.agent, tags=["a"])
    gone = tags(cast.agent)["a"]["id"]
    first = cast.agent.do("delete_tag", tag_id=gone, idempotency_key="k1")
    assert cast.agent.do("delete_tag", tag_id=gone, idempotency_key="k1") == {**first, "deduplicated": True}
    assert AuditEntry.objects.latest("id").reason == "idempotent replay"
    for asking, given in (
        (cast.agent, {"tag_id": gone, "idempotency_key": "k2"}),
        (cast.agent, {"tag_id": "018f0000-0000-7000-8000-000000000000", "idempotency_key": "k1"}),
        (peer, {"tag_id": gone, "idempotency_key": "k1"}),
    ):
        assert refused(asking, "delete_tag", **given) == (404, "not_found")
