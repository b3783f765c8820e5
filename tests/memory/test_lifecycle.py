"""Correcting one memory, narrowing it and demoting it; who is told, and what is told before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.models import Proposal
from kernel import clock
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from tests.conftest import TEAM, make_agent
from tests.memory.acting import SHOP, TASK, WHY, correct, demote, known, narrow, rows, undo
from tests.memory.factories import made, scope_row
from tests.memory.talk import VERIFIED, commit, compose, context, item, memories, only, ref, shown, task


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

    def test_words_and_fields_that_disagree_are_refused_before_they_wait_for_anyone(self, cast):
        row = known(cast.agent)
        held = {"review": {"queue": [{"name": "all", "actions": ["correct_item"]}]}}
        cast.operator.do("set_policy", domain_id=TEAM, document=held, reason="two people")
        with pytest.raises(InvalidInputError, match="let them say the same"):
            correct(cast.agent, row, text="two euros", value={"decision": "THREE euros"})
        assert (Proposal.objects.count(), item(row).statement) == (0, "Use Postgres")

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
    assert "salary" not in str(told)
    assert [each["id"] for each in cast.agent.do("get_memory_item", id=later)["versions"]] == [wide]


def test_what_a_decision_may_concern_is_told_before_it(cast):
    row = known(cast.agent, scope=TASK, session="s2")
    copy = cast.reviewer.do(
        "promote_to_scope", memory_item_id=row, target_scope=ref(SHOP), reason="agreed", **VERIFIED
    )
    told = cast.agent.do("related_items", memory_item_id=row)
    assert [(each["item"]["id"], each["relation"]) for each in told["also"]] == [(copy["item"]["id"], "copy")]
    told = cast.agent.do("related_items", memory_item_id=copy["item"]["id"])
    assert [(each["item"]["id"], each["relation"]) for each in told["also"]] == [(row, "source")]
    only_here = {"scope_context": context(TASK)}
    assert cast.agent.do("related_items", memory_item_id=row, **only_here)["also"] == []
    with pytest.raises(NotFoundError):
        cast.stranger.do("related_items", memory_item_id=row)
