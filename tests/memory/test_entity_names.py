"""The names by which an entity is found follow what was decided of it: corrected, corrected back, undone."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry
from kernel.errors import ConflictError
from memory.models import Entity, EntityAlias, MemoryItem
from memory.services.conflicts.rewriting import merge
from tests.conftest import Cast, Player
from tests.guards.write_guard import unguarded
from tests.memory.acting import correct, retract
from tests.memory.talk import commit, context, entity, gone, lines, only, search
from tests.memory.test_queued_items import hold

KEY = "entity:person:Rob Miler"


def named(player: Player, canonical: str = "Rob Miler", *aliases: str, **fields: object) -> str:
    """The id of a person's memory, in the project."""
    said = entity(canonical, "person", aliases=list(aliases), remember=True, **fields)
    return str(only(commit(player, scopes=context("project:p"), entities=[said]))["id"])


def right(player: Player, item_id: str, **value: object) -> str:
    """Correct those fields; the id of the new version."""
    return str(correct(player, item_id, value=value)["item"]["id"])


def revert(player: Player, action: str) -> None:
    entry = AuditEntry.objects.filter(action=action, outcome="allowed").latest("id")
    player.do("revert_change", audit_entry_id=str(entry.pk), reason="a slip")


def in_force() -> Entity:
    """The one entity whose memory is in force."""
    return Entity.objects.get(item__current_until=None, item__status="active")


def memory() -> MemoryItem:
    """The memory of that entity."""
    return MemoryItem.objects.get(entity=in_force())


def names() -> tuple[str, str, str, set[str]]:
    """What the one entity in force is called: canonical, folded, as people say it, and its aliases."""
    row = in_force()
    return row.canonical, row.canonical_folded, row.name, set(row.aliases.values_list("alias_folded", flat=True))


def found(player: Player, query: str) -> bool:
    """Whether a relational search by that name reaches what was said of Robert Miller."""
    rows = search(player, query, "s1", mode="relational", scope_context=context("project:p", "session:s1"))
    return any("holiday" in row["text"] for row in rows)


def test_it_works(cast):
    item = named(cast.agent, "Rob Miler", "老米", "Bob")
    new = right(cast.agent, item, canonical="Robert Miller", aliases=["老米", "Rob"])
    assert names() == ("Robert Miller", "robert miller", "Robert Miller", {"老米", "rob"})
    assert str(in_force().item_id) == new
    assert Entity.objects.count() == 1


def test_a_search_goes_by_the_names_that_are_right(cast):
    item = named(cast.agent, "Robert Miller", "老王")
    commit(cast.agent, "s1", say="Robert Miller is on holiday until Friday.", extract=False)
    assert found(cast.agent, "老王在哪里？")
    right(cast.agent, item, aliases=["老米"])
    assert found(cast.agent, "老米在哪里？")
    assert not found(cast.agent, "老王在哪里？")


def test_an_entity_is_retracted_by_a_name_that_is_right_and_by_no_wrong_one(cast):
    right(cast.agent, named(cast.agent, "Robert Miller", "Bob"), aliases=["Rob"])
    said = {"scopes": context("project:p")}
    commit(cast.agent, **said, retractions=[gone("entities", "entity:person:bob")])
    assert in_force().canonical == "Robert Miller"
    commit(cast.agent, **said, retractions=[gone("entities", "entity:person:rob")])
    assert not MemoryItem.objects.filter(key="entity:person:Robert Miller", current_until=None).exists()


def test_the_name_as_people_say_it_follows(cast):
    item = named(cast.agent, "Robert Miller", name="Bob")
    assert names() == ("Robert Miller", "robert miller", "Bob", {"bob"})
    right(cast.agent, item, name="Rob", aliases=[])
    assert names() == ("Robert Miller", "robert miller", "Rob", {"rob"})


def test_what_is_corrected_beside_the_names_leaves_them(cast):
    item = named(cast.agent, "Rob Miler", "Bob")
    right(cast.agent, item, attrs={"team": "ops"})
    assert names() == ("Rob Miler", "rob miler", "Rob Miler", {"bob"})


class TestUndoing:
    def test_a_correction_undone_gives_the_names_back(self, cast):
        right(cast.agent, named(cast.agent, "Rob Miler", "Bob"), canonical="Robert Miller", aliases=["老米"])
        revert(cast.reviewer, "correct_item")
        assert names() == ("Rob Miler", "rob miler", "Rob Miler", {"bob"})

    def test_names_that_a_correction_took_are_borne_again_after_undoing(self, cast):
        right(cast.agent, named(cast.agent, "Robert Miller", "Bob"), aliases=[])
        revert(cast.reviewer, "correct_item")
        named(cast.agent, "Robert Miller", "Bob", attrs={"team": "ops"})
        assert names()[3] == {"bob"}

    def test_a_name_that_another_took_meanwhile_is_refused(self, cast):
        right(cast.agent, named(cast.agent), canonical="Robert Miller")
        other = entity("Rob  Miler", "person", remember=True) | {"key": "entity:person:another"}
        commit(cast.agent, scopes=context("project:p"), entities=[other])
        with pytest.raises(ConflictError, match="correct or retract that one first"):
            revert(cast.reviewer, "correct_item")


class TestAnotherBearsTheName:
    @pytest.mark.parametrize("value", [{"canonical": "ann  LEE"}, {"canonical": "Annie"}, {"aliases": ["Annie"]}])
    def test_it_is_refused_and_nothing_is_changed(self, cast, value):
        item = named(cast.agent)
        other = named(cast.agent, "Ann Lee", "Annie")
        with pytest.raises(ConflictError, match=f"{other}.*correct or retract that one first"):
            right(cast.agent, item, **value)
        assert MemoryItem.objects.get(pk=item).current_until is None
        assert set(Entity.objects.values_list("canonical", flat=True)) == {"Rob Miler", "Ann Lee"}

    def test_the_name_of_one_that_was_retracted_is_free(self, cast):
        item, other = named(cast.agent), named(cast.agent, "Ann Lee", "Annie")
        retract(cast.agent, other)
        right(cast.agent, item, canonical="Ann Lee")
        assert names() == ("Ann Lee", "ann lee", "Ann Lee", set())
        named(cast.agent, "Rob Miler", attrs={"team": "ops"})
        assert names() == ("Ann Lee", "ann lee", "Ann Lee", set())
        assert memory().key == KEY

    def test_such_a_correction_is_undone(self, cast):
        item, other = named(cast.agent, "Rob Miler", "Bob"), named(cast.agent, "Ann Lee")
        retract(cast.agent, other)
        right(cast.agent, item, canonical="Ann Lee", aliases=[])
        revert(cast.reviewer, "correct_item")
        assert names() == ("Rob Miler", "rob miler", "Rob Miler", {"bob"})

    def test_a_name_of_another_kind_or_scope_is_free(self, cast):
        item = named(cast.agent)
        commit(cast.agent, scopes=context("project:p"), entities=[entity("Ann", "topic", remember=True)])
        commit(cast.agent, scopes=context("project:q"), entities=[entity("Ann", "person", remember=True)])
        right(cast.agent, item, canonical="Ann")
        assert Entity.objects.filter(canonical="Ann").count() == 3


class TestNamedAgain:
    def test_the_wrong_name_under_its_key_is_no_name_again(self, cast):
        right(cast.agent, named(cast.agent), canonical="Robert Miller")
        named(cast.agent, "Rob Miler", "老米", attrs={"team": "ops"})
        assert names() == ("Robert Miller", "robert miller", "Robert Miller", {"老米"})
        assert memory().value["aliases"] == ["老米"]

    def test_a_wrong_alias_beside_the_right_name_is_none_again(self, cast):
        right(cast.agent, named(cast.agent, "Robert Miller", "Bob"), aliases=["Rob"])
        for team in ("ops", "web"):
            named(cast.agent, "Robert Miller", "bob", "Bobby", attrs={"team": team})
        assert names()[3] == {"rob", "bobby"}
        assert memory().value["aliases"] == ["Bobby", "Rob"]

    def test_a_wrong_alias_may_be_the_name_of_another(self, cast):
        right(cast.agent, named(cast.agent, "Robert Miller", "Bob"), aliases=[])
        named(cast.agent, "Bob")
        assert set(Entity.objects.values_list("canonical", flat=True)) == {"Robert Miller", "Bob"}
        assert not EntityAlias.objects.exists()

    def test_a_later_correction_gives_a_name_back(self, cast):
        item = right(cast.agent, named(cast.agent, "Robert Miller", "Bob"), aliases=[])
        right(cast.agent, item, aliases=["Bob"])
        named(cast.agent, "Robert Miller", "Bob", attrs={"team": "ops"})
        assert names()[3] == {"bob"}

    def test_the_same_again_is_no_new_version(self, cast):
        item = right(cast.agent, named(cast.agent, "Robert Miller", "Bob"), aliases=[])
        said = entity("Robert Miller", "person", aliases=["Bob"], remember=True)
        answer = commit(cast.agent, scopes=context("project:p"), entities=[said])
        assert lines(answer) == [("deduplicate", "same_value")]
        assert only(answer)["id"] == item

    def test_after_a_retraction_it_keeps_none_of_the_names_before(self, cast):
        retract(cast.agent, named(cast.agent, "Robert Miller", "Bob"))
        named(cast.agent, "Robert Miller")
        assert names()[3] == set()


def test_a_correction_that_was_edited_and_approved_names_it_as_edited(cast: Cast):
    item = named(cast.agent, "Rob Miler", "Bob")
    hold(cast, "project", actions=("correct_item",))
    body = {"memory_item_id": item, "reason": "misspelt", "value": {"canonical": "Robert Miler"}}
    queued = cast.agent.do("correct_item", body)["proposal"]["id"]
    right_input = {**cast.reviewer.do("get_proposal", id=queued)["input"], "value": {"canonical": "Robert Miller"}}
    cast.reviewer.do("edit_and_approve", id=queued, revision=1, input=right_input, reason="two l")
    assert names() == ("Robert Miller", "robert miller", "Robert Miller", {"bob"})


def test_of_two_that_are_merged_the_names_that_are_told_hold(cast):
    one, two = (MemoryItem.objects.get(pk=named(cast.agent, name)) for name in ("Rob Miler", "Robert Miller"))
    with unguarded():
        merged, _ = merge(one, two, "Robert Miller is one person", "one person", cast.reviewer.ctx())
    assert names()[0] == "Robert Miller"
    assert in_force().item_id == merged.pk
