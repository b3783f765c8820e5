"""Taking one memory back, correcting it, narrowing it, demoting it; who is told, and what is offered beside it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from governance.gate.opening import writing
from governance.models import AuditEntry
from kernel import clock
from kernel.actions import Change
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, StaleError
from memory.models import MemoryItem, Summary
from memory.services.reversing import reverse
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, Player, make_agent, make_person
from tests.memory.factories import made, scope_row
from tests.memory.talk import (
    commit,
    compose,
    context,
    decision,
    entity,
    item,
    memories,
    only,
    ref,
    search,
    shown,
    task,
)

SHOP = "project:shop"
TASK = "task:t"
WHY = {"kind": "url", "id": "https://example.org/why"}


def known(player: Player, text: str = "Use Postgres", scope: str = SHOP, session: str = "s1", **fields: Any) -> str:
    return str(only(commit(player, session, scopes=context(scope), decisions=[decision(text, **fields)]))["id"])


def retract(player: Player, item_id: str, **fields: Any) -> dict:
    return player.do("retract_item", {"memory_item_id": item_id, "reason": "it was wrong", **fields})


def correct(player: Player, item_id: str, **fields: Any) -> dict:
    return player.do("correct_item", {"memory_item_id": item_id, "reason": "it is otherwise", **fields})


def narrow(player: Player, item_id: str, target: str = TASK, **fields: Any) -> dict:
    body = {"memory_item_id": item_id, "target_scope": ref(target), "reason": "only here", **fields}
    return player.do("narrow_item", body)


def demote(player: Player, item_id: str, **fields: Any) -> dict:
    body = {"memory_item_id": item_id, "evidence_refs": [WHY], "reason_type": "obsolete", "reason": "times changed"}
    return player.do("demote", body, **fields)


def undo(player: Player, action: str) -> None:
    entry = AuditEntry.objects.filter(action=action, outcome="allowed").latest("id")
    with writing():
        reverse(None, [Change.from_json(kept) for kept in entry.changes], player.ctx())


def reader(name: str = "colleague") -> Player:
    return make_agent(name)


def rows(*without: str) -> dict:
    return {row["id"]: row for row in MemoryItem.objects.exclude(pk__in=without).values()}


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

    @pytest.mark.parametrize("reason", ["", "  ", None, "x" * 2001])
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
        assert answer["outcomes"] == [{"id": wide, "outcome": "not_found"}]
        assert item(wide).status == "active"
        both = context(TASK, SHOP)
        assert retract(cast.agent, small, also=[wide], scope_context=both)["outcomes"][0]["outcome"] == "done"

    def test_what_another_may_not_write_is_reported_and_left(self, cast):
        mine = known(cast.agent, scope=TASK)
        theirs = known(cast.agent, scope=SHOP)
        only_tasks = make_agent("tasks-only", pattern="task:*")
        cast.operator.do("grant_access", name="tasks-only", domain_id=TEAM, pattern=SHOP, rights=["read"])
        again = replace(only_tasks, identity=authenticate_key(only_tasks.key))
        assert retract(again, mine, also=[theirs])["outcomes"] == [{"id": theirs, "outcome": "not_permitted"}]
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
        answer = make_person("tasks", TEAM, "task:*").do("approve_proposal", id=queued)
        assert answer["result"]["outcomes"] == [{"id": str(law.id), "outcome": "governed"}]
        assert (item(small).status, item(str(law.id)).status) == ("retracted", "active")

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


class TestCorrect:
    def test_it_works(self, cast):
        """Field reports B1, B3, B5."""
        wrong = known(cast.agent, "The port is 5432")
        other = known(cast.agent, "The port of Redis is 6379", key="decision:shop:redis")
        before = rows(wrong)
        answer = correct(cast.agent, wrong, text="The port is 5433")
        new = answer["item"]["id"]
        assert {key: row for key, row in rows(wrong).items() if str(key) != new} == before
        assert (answer["replaced"]["id"], answer["replaced"]["status"]) == (wrong, "superseded")
        assert memories(cast.agent, "port", scope_context=context(SHOP), history=False) == [
            "The port is 5433", "The port of Redis is 6379",
        ]  # fmt: skip
        assert cast.agent.do("get_memory_item", id=wrong)["successor_id"] == new
        assert "5432" not in item(new).chunk.text
        assert item(other).status == "active"

    def test_fields_of_the_value_change_and_the_others_stay(self, cast):
        row = only(commit(cast.agent, tasks=[task("Write it", status="doing", project="shop")]))["id"]
        fixed = correct(cast.agent, row, value={"title": "Write the parser"})["item"]
        assert (fixed["value"]["title"], fixed["value"]["status"]) == ("Write the parser", "doing")
        assert fixed["statement"] == "Write the parser — doing"

    @pytest.mark.parametrize(
        ("fields", "said"),
        [({}, "say what is right"), ({"value": {"status": "nonsense"}}, "status"), ({"value": {"x": 1}}, "x")],
    )
    def test_what_does_not_fit_the_type_is_refused(self, cast, fields, said):
        row = only(commit(cast.agent, tasks=[task()]))["id"]
        with pytest.raises(InvalidInputError, match=said):
            correct(cast.agent, row, **fields)

    def test_the_same_words_are_no_correction(self, cast):
        with pytest.raises(InvalidInputError, match="the same"):
            correct(cast.agent, known(cast.agent), text="use  postgres")

    def test_what_was_replaced_names_what_holds_now(self, cast):
        old, new = known(cast.agent), known(cast.agent, "Use SQLite")
        with pytest.raises(ConflictError, match=new):
            correct(cast.agent, old, text="Use DuckDB")

    def test_expiry_review_importance_and_origin_stay(self, cast):
        """Field report B8."""
        row = known(cast.agent, valid_to="2099-01-01T00:00:00Z", review_by="2098-01-01T00:00:00Z", importance=3)
        fixed = item(correct(cast.agent, row, text="Use SQLite")["item"]["id"])
        old = item(row)
        for name in ("valid_to", "review_by", "importance", "scope_id", "source_session_id", "source_turn_id"):
            assert getattr(fixed, name) == getattr(old, name), name

    def test_a_correction_never_raises_the_trust_in_what_was_wrong(self, cast):
        """Field report B2."""
        row = known(cast.agent)
        trust = item(row).confidence
        correct(cast.agent, row, text="Use SQLite, not Postgres")
        assert item(row).confidence == trust

    def test_a_fact_corrected_again_and_again_says_so_and_is_no_weaker(self, cast):
        """Field report B11."""
        row = known(cast.agent)
        for number in range(5):
            answer = correct(cast.agent, row, text=f"Use database {number}")
            row = answer["item"]["id"]
            assert answer["corrections"] == number + 1
        assert answer["item"]["confidence"] == 0.8

    def test_undone_the_old_words_hold_again(self, cast):
        row = known(cast.agent)
        correct(cast.agent, row, text="Use SQLite")
        undo(cast.reviewer, "correct_item")
        assert memories(cast.agent, "Use", scope_context=context(SHOP)) == ["Use Postgres"]


class TestNarrow:
    def test_it_works(self, cast):
        """Field report C6."""
        wide = known(cast.agent, "The salary budget is 100")
        outsider = make_agent("outsider", pattern=SHOP)
        assert memories(outsider, "salary", "o1", scope_context=context(SHOP)) == ["The salary budget is 100"]
        answer = narrow(cast.agent, wide, text="The salary budget of this task is 90")
        assert answer["narrowed_item_id"] == wide
        assert memories(cast.agent, "salary", scope_context=context(TASK)) == ["The salary budget of this task is 90"]
        for fields in ({}, {"history": True}):
            assert memories(outsider, "salary", "o1", scope_context=context(SHOP), **fields) == []
            listed = outsider.do("list_memory_items", domain_id=TEAM, **fields)["items"]
            assert listed == []
        long_ago = {"valid": None, "recorded": (clock.now() - timedelta(microseconds=1)).isoformat()}
        assert memories(outsider, "salary", "o1", scope_context=context(SHOP), as_of=long_ago) == []
        for action in ("get_memory_item", "lineage"):
            name = "id" if action == "get_memory_item" else "memory_item_id"
            with pytest.raises(NotFoundError):
                outsider.do(action, {name: wide})
        assert cast.agent.do("get_memory_item", id=wide)["successor_id"] == answer["item"]["id"]

    @pytest.mark.parametrize("target", ["global:all", "project:other", "expert:x", "session:s1"])
    def test_only_a_narrower_scope_will_do(self, cast, target):
        with pytest.raises(InvalidInputError, match="narrower"):
            narrow(cast.agent, known(cast.agent), target)

    def test_both_scopes_must_be_writable(self, cast):
        wide = known(cast.agent)
        with pytest.raises(ForbiddenError):
            narrow(cast.reader, wide)
        half = make_agent("half", pattern=SHOP)
        with pytest.raises(NotFoundError):
            narrow(half, wide)

    def test_undone_it_is_wide_again(self, cast):
        wide = known(cast.agent)
        narrow(cast.agent, wide)
        undo(cast.reviewer, "narrow_item")
        assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == ["Use Postgres"]
        assert memories(cast.agent, "Postgres", scope_context=context(TASK)) == []


class TestDemote:
    def test_it_works(self, cast):
        """Specification case 118."""
        row = known(cast.agent)
        answer = demote(cast.reviewer, row)
        assert (answer["from_status"], answer["item"]["lifecycle_status"]) == ("promoted", "demoted")
        assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == []
        assert shown(compose(cast.agent, "Postgres?", scope_context=context(SHOP))) == []
        evidence = cast.agent.do("get_memory_item", id=row)["provenance"]["evidence"]
        assert {**WHY, "role": "counterexample"} in evidence

    def test_saying_it_again_does_not_bring_it_back(self, cast):
        row = known(cast.agent)
        demote(cast.reviewer, row)
        assert known(cast.agent) == row
        assert item(row).lifecycle_status == "demoted"

    @pytest.mark.parametrize(
        "fields",
        [
            {"reason_type": "bored"},
            {"evidence_refs": []},
            {"status": "promoted"},
            {"reason": " "},
            {"evidence_refs": ["x"]},
        ],
    )
    def test_bad_input_is_refused(self, cast, fields):
        with pytest.raises(InvalidInputError):
            demote(cast.reviewer, known(cast.agent), **fields)

    def test_it_needs_the_right_to_promote(self, cast):
        with pytest.raises(ForbiddenError):
            demote(cast.agent, known(cast.agent))

    def test_universal_law_is_demoted_and_never_retired(self, cast):
        law = str(made(scope_row(SHOP), principle=True, text="Never lose data.").id)
        with pytest.raises(InvalidInputError, match="cannot be retired"):
            demote(cast.reviewer, law, status="retired")
        assert demote(cast.reviewer, law)["item"]["lifecycle_status"] == "demoted"
        with pytest.raises(ConflictError, match="already"):
            demote(cast.reviewer, law)

    def test_undone_it_is_trusted_as_before(self, cast):
        law = str(made(scope_row(SHOP), principle=True, text="Never lose data.").id)
        demote(cast.reviewer, law)
        undo(cast.reviewer, "demote")
        assert (item(law).lifecycle_status, item(law).pinned) == ("canonical", True)
        assert memories(cast.agent, "lose data", scope_context=context(SHOP)) == ["Never lose data."]


def test_a_later_version_of_the_wide_key_shows_outsiders_nothing_of_what_was_narrowed(cast):
    wide = known(cast.agent, "The salary budget is 100")
    narrow(cast.agent, wide)
    later = known(cast.agent, "The budget is secret")
    outsider = make_agent("outsider", pattern=SHOP)
    told = outsider.do("get_memory_item", id=later)
    assert told["versions"] == []
    assert "100" not in str(told)
    assert [each["id"] for each in cast.agent.do("get_memory_item", id=later)["versions"]] == [wide]
