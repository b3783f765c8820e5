"""Taking one memory back: what then gives nothing of it, what is offered beside it, and the way back."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError, StaleError
from memory.models import Summary
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, make_agent, make_person
from tests.memory.acting import SHOP, TASK, WHY, known, retract, rows, undo
from tests.memory.factories import made, scope_row
from tests.memory.talk import commit, compose, context, decision, entity, item, memories, only, ref, search, task


class TestRetract:
    def test_it_works(self, cast):
        wrong, right = known(cast.agent), known(cast.agent, "Deploy on Friday", key="decision:shop:deploy")
        before = rows(wrong)
        answer = retract(cast.agent, wrong)
        assert (answer["item"]["status"], answer["item"]["current"]) == ("retracted", False)
        assert rows(wrong) == before, "unrelated rows are byte-identical"
        assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == []
        steps = cast.agent.do("get_memory_item", id=wrong)["history"]
        assert (steps[-1]["kind"], steps[-1]["reason"], steps[-1]["actor"]) == ("retracted", "it was wrong", "agent")
        assert cast.agent.do("get_memory_item", id=right)["item"]["current"]

    @pytest.mark.parametrize("reason", ["", "  ", None, "x" * 2001, "\u200b\u200b"])
    def test_a_reason_is_required(self, cast, reason):
        with pytest.raises(InvalidInputError):
            retract(cast.agent, known(cast.agent), reason=reason)

    def test_what_one_may_not_see_or_write_is_not_taken_back(self, cast):
        row = known(cast.agent)
        with pytest.raises(NotFoundError):
            retract(cast.stranger, row)
        with pytest.raises(ForbiddenError):
            retract(cast.reader, row)

    def test_twice_is_once(self, cast):
        row = known(cast.agent)
        assert not retract(cast.agent, row)["deduplicated"]
        again = retract(cast.agent, row)
        assert (again["deduplicated"], again["item"]["status"]) == (True, "retracted")
        assert len([s for s in cast.agent.do("get_memory_item", id=row)["history"] if s["kind"] == "retracted"]) == 1

    def test_every_door_then_gives_nothing_of_it(self, cast):
        """Field report C10: search, compose, lists, graph neighbours and summaries."""
        place = context(SHOP)
        first = commit(
            cast.agent, scopes=place, goals=[{"key": "goal:shop:open", "description": "Open in the old mill"}],
            decisions=[decision("Move to the old mill", "decision:shop:place")],
            entities=[entity("oldmill", "topic", remember=True)],
        )  # fmt: skip
        ids = {each["type"]: each["id"] for each in first["memory_written"]["items"]}
        assert "old mill" in compose(cast.agent, "Where do we open?", scope_context=place)["working_summary"]
        for item_id in ids.values():
            retract(cast.agent, item_id)
        package = compose(cast.agent, "Where do we open, in the old mill?", scope_context=place)
        assert package["evidence"] == []
        assert package["system_blocks"] == []
        assert "old mill" not in package["working_summary"]
        assert Summary.objects.count() > 1, "the earlier summaries stay as history"
        for mode in ("hybrid", "exact", "relational"):
            assert memories(cast.agent, "old mill oldmill", scope_context=place, mode=mode) == []
        assert cast.agent.do("list_memory_items", domain_id=TEAM)["items"] == []

    def test_knowledge_in_force_is_only_taken_back_by_a_person(self, cast):
        law = made(scope_row(SHOP), principle=True, text="Never lose data.")
        with pytest.raises(ForbiddenError, match="knowledge in force"):
            retract(cast.agent, str(law.id))
        person = cast.operator
        assert retract(person, str(law.id))["item"]["status"] == "retracted"

    def test_copies_derived_items_and_near_duplicates_are_offered_and_decided_together(self, cast):
        """Field report C5."""
        source = known(cast.agent, "The staging proxy listens on port 7443", TASK)
        copy = cast.reviewer.do(
            "promote_to_scope", memory_item_id=source, target_scope=ref(SHOP), reason="for all", verification_refs=[WHY]
        )["item"]["id"]  # fmt: skip
        near = known(cast.agent, "The staging proxy listens on port 7443 today", key="decision:shop:proxy", scope=TASK)
        derived = only(
            commit(cast.agent, scopes=context(TASK), tasks=[task("Open the firewall", evidence_refs=[source])])
        )["id"]
        answer = retract(cast.agent, source)
        offered = {each["item"]["id"]: each["relation"] for each in answer["also"]}
        assert offered == {copy: "copy", derived: "derived", near: "near_duplicate"}
        ghost = str(uuid4())
        again = retract(cast.agent, source, also=[copy, near, ghost, copy])
        assert {each["id"]: each["outcome"] for each in again["outcomes"]} == {
            copy: "done", near: "done", ghost: "not_found",
        }  # fmt: skip
        assert [each["item"]["id"] for each in again["also"]] == [derived]
        assert retract(cast.agent, source, also=[near])["outcomes"][0]["outcome"] == "already"

    def test_a_given_context_narrows_what_goes_along_too(self, cast):
        small, wide = known(cast.agent, scope=TASK), known(cast.agent, scope=SHOP)
        answer = retract(cast.agent, small, also=[wide], scope_context=context(TASK))
        assert answer["outcomes"] == [{"id": wide, "outcome": "not_found", "successor_id": None}]
        assert item(wide).status == "active"
        both = context(TASK, SHOP)
        assert retract(cast.agent, small, also=[wide], scope_context=both)["outcomes"][0]["outcome"] == "done"

    def test_what_another_may_not_write_is_reported_and_left(self, cast):
        mine = known(cast.agent, scope=TASK)
        theirs = known(cast.agent, scope=SHOP)
        only_tasks = make_agent("tasks-only", pattern="task:*")
        cast.operator.do("grant_access", name="tasks-only", domain_id=TEAM, pattern=SHOP, rights=["read"])
        again = replace(only_tasks, identity=authenticate_key(only_tasks.key))
        assert retract(again, mine, also=[theirs])["outcomes"] == [
            {"id": theirs, "outcome": "not_permitted", "successor_id": None}
        ]
        assert item(theirs).status == "active"

    def test_what_goes_along_waits_like_the_item_itself(self, cast):
        rule = {"name": "wide", "actions": ["retract_item"], "scope_types": ["project"]}
        cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look")
        small, wide = known(cast.agent, scope=TASK), known(cast.agent, scope=SHOP)
        assert retract(cast.agent, small, also=[wide])["status"] == "queued"
        assert item(wide).status == "active"

    def test_who_approves_in_one_scope_takes_back_no_knowledge_in_force_in_another(self, cast):
        rule = {"name": "all", "actions": ["retract_item"]}
        cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look")
        small, law = known(cast.agent, scope=TASK), made(scope_row(SHOP), principle=True, text="Never lose data.")
        queued = retract(cast.agent, small, also=[str(law.id)])["proposal"]["id"]
        with pytest.raises(ForbiddenError, match="in a scope on which you may not decide"):
            make_person("tasks", TEAM, "task:*").call("approve_proposal", id=queued)
        assert (item(small).status, item(str(law.id)).status) == ("active", "active")

    def test_undone_it_is_back_as_a_new_version_and_the_past_stays(self, cast):
        row = known(cast.agent)
        retract(cast.agent, row)
        undo(cast.reviewer, "retract_item")
        assert item(row).status == "retracted"
        (back,) = search(cast.agent, "Postgres", scope_context=context(SHOP), kinds=["memory"])
        assert back["ref"]["item_id"] != row
        assert item(row).successor_id == UUID(back["ref"]["item_id"])

    def test_what_was_changed_since_is_not_undone(self, cast):
        row = known(cast.agent)
        retract(cast.agent, row)
        known(cast.agent, "Use SQLite")
        with pytest.raises(StaleError):
            undo(cast.reviewer, "retract_item")
