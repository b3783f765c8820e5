"""Entities: which are worth keeping, and which names are one (specification 2.4, cases 7 to 10 and 14)."""

from __future__ import annotations

import pytest

from kernel.errors import InvalidInputError
from memory.models import Entity, EntityAlias, EntityMention, MemoryItem
from tests.conftest import TEAM
from tests.guards.write_guard import unguarded
from tests.memory.factories import made, scope_row
from tests.memory.talk import (
    commit,
    compose,
    context,
    entity,
    gone,
    item,
    lines,
    memories,
    only,
    ref,
    search,
    shown,
    states,
)

P, Q = "project:p", "project:q"


def relational(player, query: str, **fields: object) -> list[str]:
    return [row["text"] for row in search(player, query, mode="relational", **fields)]


def plain_turns(player, count: int, session: str = "s1") -> None:
    for number in range(count):
        commit(player, session, say=f"just talk {number}")


def test_it_works(cast):
    """Cases 7 to 9 in one: skipped, written for its form, written because asked to."""
    skipped = commit(cast.agent, entities=[entity("smart_rag")])
    assert lines(skipped) == [("skip", "below_threshold")]
    assert not Entity.objects.exists()
    structural = commit(cast.agent, entities=[entity("octo/smart_rag")])
    assert lines(structural) == [("write", "structured")]
    assert lines(commit(cast.agent, entities=[entity("Ann", "person", remember=True)])) == [("write", "structured")]
    assert sorted(Entity.objects.values_list("canonical", flat=True)) == ["Ann", "octo/smart_rag"]


@pytest.mark.parametrize("name", ["octo/smart_rag", "https://example.com", "README.md", "仓库/主库"])
def test_a_structural_name_is_kept_at_once(cast, name):
    """Case 8."""
    assert lines(commit(cast.agent, entities=[entity(name)])) == [("write", "structured")]


@pytest.mark.parametrize("name", ["smart_rag", "王芳"])
def test_the_second_mention_within_the_window_is_kept(cast, name):
    """Case 7."""
    assert lines(commit(cast.agent, entities=[entity(name)])) == [("skip", "below_threshold")]
    plain_turns(cast.agent, 18)
    assert lines(commit(cast.agent, entities=[entity(name)])) == [("write", "structured")]
    assert EntityMention.objects.count() == 1


def test_two_mentions_twenty_one_turns_apart_are_still_too_few(cast):
    """Case 10: the window is 20 turns, this one included."""
    commit(cast.agent, entities=[entity("smart_rag")])
    plain_turns(cast.agent, 19)
    assert lines(commit(cast.agent, entities=[entity("smart_rag")])) == [("skip", "below_threshold")]


def test_a_name_twice_in_one_turn_counts_once(cast):
    twice = [entity("smart_rag"), entity("smart_rag")]
    assert lines(commit(cast.agent, entities=twice)) == [("skip", "below_threshold")] * 2


def test_mentions_count_within_their_session_and_after_folding(cast):
    commit(cast.agent, "s1", entities=[entity("Smart_RAG")])
    assert lines(commit(cast.agent, "s2", entities=[entity("smart_rag")])) == [("skip", "below_threshold")]
    assert lines(commit(cast.agent, "s1", entities=[entity("ｓｍａｒｔ_ｒａｇ")])) == [("write", "structured")]


def test_the_window_and_the_threshold_are_policy(cast):
    document = {"retention": {"entity_gate": {"window_turns": 3, "freq_threshold": 3}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tests")
    for _ in range(2):
        assert lines(commit(cast.agent, entities=[entity("smart_rag")])) == [("skip", "below_threshold")]
    assert lines(commit(cast.agent, entities=[entity("smart_rag")])) == [("write", "structured")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("octo/Smart_RAG", "OCTO/smart_rag"),
        ("octo/smart_rag", "octo／smart_rag"),
        ("café/menu", "cafe\u0301/menu"),
        ("组织/仓库", "组织／仓库"),
        ("Straße/1", "STRASSE/1"),
        ("octo/a  b", " octo/a b "),
    ],
)
def test_names_that_fold_alike_are_one_entity(cast, one, other):
    """Field report A9: case, width, composition and white space."""
    first = only(commit(cast.agent, entities=[entity(one)]))
    second = only(commit(cast.agent, entities=[{**entity(other), "key": f"entity:repo:{other.strip()}"}]))
    assert second["key"] == first["key"]
    assert Entity.objects.get().canonical == one
    assert MemoryItem.objects.filter(type="entities", current_until=None).count() == 1


@pytest.mark.parametrize("other", ["smart-rag", "Smart RAG", "smart_rag", "SMART-RAG"])
def test_names_in_kebab_snake_and_spaced_form_are_one_entity(cast, other):
    """Field report A9."""
    commit(cast.agent, entities=[entity("smart_rag", remember=True)])
    answer = commit(cast.agent, entities=[entity(other, remember=True)])
    assert only(answer)["key"] == "entity:repo:smart_rag"
    assert Entity.objects.count() == 1


def test_a_bare_word_and_the_words_it_is_made_of_are_not_one(cast):
    commit(cast.agent, entities=[entity("smart_rag", remember=True)])
    commit(cast.agent, entities=[entity("smart", remember=True), entity("smartrag2", remember=True)])
    assert Entity.objects.count() == 3


def test_an_alias_leads_to_the_entity_that_bears_it(cast):
    commit(cast.agent, entities=[entity("Robert Miller", "person", aliases=["Bob", "老米"], remember=True)])
    answer = commit(
        cast.agent, entities=[entity("bob", "person", aliases=["Bobby"], attrs={"team": "ops"}, remember=True)]
    )
    assert only(answer)["key"] == "entity:person:Robert Miller"
    row = MemoryItem.objects.get(type="entities", current_until=None)
    assert row.value["canonical"] == "Robert Miller"
    assert {"Bob", "老米", "Bobby"} <= {*row.value["aliases"], "Bob"}
    assert row.value["attrs"] == {"team": "ops"}
    assert row.version == 2
    assert Entity.objects.get().item_id == row.pk
    assert {"bob", "bobby", "老米"} <= set(EntityAlias.objects.values_list("alias_folded", flat=True))


def test_merging_keeps_what_was_known_and_takes_the_newer_word(cast):
    commit(cast.agent, entities=[entity("octo/shop", attrs={"language": "ruby", "stars": 5})])
    commit(cast.agent, entities=[entity("octo/shop", attrs={"stars": 7})])
    row = MemoryItem.objects.get(type="entities", current_until=None)
    assert row.value["attrs"] == {"language": "ruby", "stars": 7}
    assert row.statement == "octo/shop — repo — language: ruby; stars: 7"


def test_the_same_entity_again_is_no_new_version(cast):
    for name in ("octo/shop", "OCTO/shop"):
        answer = commit(cast.agent, entities=[entity(name, aliases=["shop"])])
    assert only(answer)["deduplicated"]
    assert states("entity:repo:octo/shop") == [("active", True, 1)]
    assert EntityMention.objects.count() == 2


def test_one_name_of_two_kinds_is_two_entities(cast):
    commit(
        cast.agent, entities=[entity("Mercury", "person", remember=True), entity("Mercury", "topic", remember=True)]
    )
    assert sorted(Entity.objects.values_list("kind", flat=True)) == ["person", "topic"]


def test_one_name_in_two_scopes_is_two_entities(cast):
    scopes = context(P, Q, write=(P, Q))
    commit(cast.agent, scopes=scopes, entities=[entity("octo/shop"), entity("octo/shop", scope_ref=ref(Q))])
    assert sorted(row.scope.name for row in Entity.objects.select_related("scope")) == [P, Q]


def test_an_entity_of_a_scope_that_may_not_be_written_is_refused(cast):
    answer = commit(cast.agent, scopes=context(P, Q), entities=[entity("octo/shop", scope_ref=ref(Q))])
    assert lines(answer) == [("refuse", "scope_not_writable")]
    assert not Entity.objects.exists()


def test_a_relational_search_goes_through_aliases(cast):
    commit(cast.agent, entities=[entity("Robert Miller", "person", aliases=["老米"], remember=True)])
    commit(cast.agent, "s1", say="Robert Miller is on holiday until Friday.", extract=False)
    assert any("holiday" in text for text in relational(cast.agent, "老米在哪里？"))
    assert not any("holiday" in text for text in memories(cast.agent, "老米在哪里？"))


def test_a_retracted_entity_is_gone_from_relational_hits(cast):
    """Case 14."""
    commit(cast.agent, entities=[entity("Robert Miller", "person", aliases=["老米"], remember=True)])
    commit(cast.agent, "s1", say="Robert Miller is on holiday until Friday.", extract=False)
    commit(cast.agent, retractions=[gone("entities", "entity:person:Robert Miller")])
    assert relational(cast.agent, "老米在哪里？") == []
    assert relational(cast.agent, "老米在哪里？", kinds=["memory"]) == []
    package = compose(cast.agent, "老米在哪里？", "s2", scope_context=context("session:s1"))
    assert not any("Robert" in text for text in shown(package))


@pytest.mark.parametrize("key", ["entity:person:robert  MILLER", "entity:person:bob", "entity:person:Ｂｏｂ"])
def test_an_entity_is_retracted_by_any_of_its_names(cast, key):
    found = only(commit(cast.agent, entities=[entity("Robert Miller", "person", aliases=["Bob"], remember=True)]))
    answer = commit(cast.agent, retractions=[gone("entities", key)])
    assert lines(answer) == [("retract", "retracted")]
    assert item(found["id"]).status == "retracted"
    assert relational(cast.agent, "Bob") == []


def test_a_superseded_entity_is_gone_from_relational_hits(cast):
    old = only(commit(cast.agent, entities=[entity("octo/shop", aliases=["der Laden"])]))["id"]
    commit(cast.agent, entities=[entity("octo/store", supersedes=old)])
    commit(cast.agent, "s1", say="octo/shop was archived last year.", extract=False)
    assert not any("archived" in text for text in relational(cast.agent, "der Laden"))


def test_a_retracted_entity_that_is_named_again_comes_back(cast):
    commit(cast.agent, entities=[entity("octo/shop", aliases=["der Laden"])])
    commit(cast.agent, retractions=[gone("entities", "entity:repo:octo/shop")])
    commit(cast.agent, entities=[entity("octo/shop", attrs={"stars": 1})])
    assert states("entity:repo:octo/shop") == [("retracted", False, 1), ("active", True, 1)]
    assert Entity.objects.get().item_id == MemoryItem.objects.get(current_until=None).pk
    assert relational(cast.agent, "octo/shop") != []


def test_an_entity_that_is_only_a_candidate_widens_no_search(cast):
    """What is not trusted steers nothing."""
    commit(cast.agent, entities=[entity("Robert Miller", "person", aliases=["老米"], remember=True)])
    commit(cast.agent, "s1", say="Robert Miller is on holiday until Friday.", extract=False)
    row = made(scope_row("session:s1"), candidate=True, type="entities", key="entity:person:x")
    with unguarded():
        Entity.objects.update(item=row)
    assert relational(cast.agent, "老米在哪里？", kinds=["message"]) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"canonical": "   "},
        {"aliases": [" "]},
        {"aliases": ["x"] * 51},
        {"canonical": "x" * 301},
        {"kind": "planet"},
        {"attrs": "big"},
        {"remember": "yes"},
    ],
)
def test_a_bad_field_is_refused(cast, fields):
    with pytest.raises(InvalidInputError):
        commit(cast.agent, entities=[entity("octo/shop") | fields])
    assert not MemoryItem.objects.exists()


@pytest.mark.parametrize("name", ["ﷺ" * 300, "ß" * 300, "ﬃ" * 300])
def test_a_name_that_grows_when_it_is_folded_is_kept_whole(cast, name):
    """On PostgreSQL a column has a length."""
    given = {"key": "entity:other:long", "canonical": name, "aliases": [name[:-1]], "remember": True}
    for _ in range(2):
        answer = commit(cast.agent, entities=[given])
    assert only(answer)["deduplicated"]
    assert Entity.objects.get().canonical == name
    edge = {"subject": name, "predicate": "is", "object": name}
    assert lines(commit(cast.agent, edges=[edge])) == [("edge", "edge_added")]
