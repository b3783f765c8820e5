"""Undoing what was done to memories: each comes back to the state that it had, or the undoing is refused."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from governance.models import AuditEntry, Reversal
from kernel.errors import ConflictError, StaleError, TransitionError
from memory.models import Conflict, KnowledgeEvent, MemoryItem, Notice
from search.models import IndexEntry
from tests.conftest import Cast, Player
from tests.guards.write_guard import unguarded
from tests.memory.acting import SHOP, TASK, correct, demote, known, narrow, retract
from tests.memory.promoting import approve, promote, promoter
from tests.memory.talk import commit, compose, context, decision, gone, item, memories, states
from tests.memory.test_queued_items import hold, write

KEY = "decision:shop:database"


def revert(player: Player, action: str) -> list[str]:
    """Take the last such call back by its audit entry; the rows that changed."""
    entry = AuditEntry.objects.filter(action=action, outcome="allowed").latest("id")
    changed: list[str] = player.do("revert_change", audit_entry_id=str(entry.pk), reason="a slip")["changed"]
    return changed


def undo_approval(cast: Cast, queued: dict) -> dict:
    """Take back what was decided on a proposal."""
    answer: dict = cast.reviewer.do("undo_decision", proposal_id=queued["proposal"]["id"], reason="a slip")
    return answer


def said(key: str = KEY) -> list[str]:
    """What is in force of a key."""
    rows = MemoryItem.objects.filter(key=key, current_until=None, status="active")
    return list(rows.values_list("statement", flat=True))


class TestRetraction:
    def test_of_two_versions_one_is_in_force_again_and_the_other_is_history_again(self, cast):
        one, two = known(cast.agent), known(cast.agent, "Use SQLite")
        retract(cast.agent, two, also=[one])
        revert(cast.reviewer, "retract_item")
        assert states(KEY) == [("active", False, 1), ("retracted", False, 2), ("active", True, 3)]
        assert said() == ["Use SQLite"]
        entry = IndexEntry.objects.get(object_id=UUID(one))
        assert (entry.state, entry.current_until) == ("history", item(one).current_until)
        step = KnowledgeEvent.objects.filter(item_id=UUID(one)).latest("id")
        assert (step.kind, step.from_status, step.to_status) == ("restored", "retracted/promoted", "active/promoted")

    def test_of_history_alone_what_holds_stays_as_it_is(self, cast):
        one, two = known(cast.agent), known(cast.agent, "Use SQLite")
        retract(cast.agent, one)
        assert revert(cast.reviewer, "retract_item") == [f"memory_items {one}"]
        assert states(KEY) == [("active", False, 1), ("active", True, 2)]
        assert str(item(one).successor_id) == two
        past = memories(cast.agent, "Use", scope_context=context(SHOP), history=True)
        assert sorted(past) == ["Use Postgres", "Use SQLite"]

    def test_a_held_denial_of_what_was_said_twice_is_undone(self, cast):
        for text in ("Use Postgres", "Use SQLite"):
            known(cast.agent, text)
        hold(cast, "project", actions=("retract_item",))
        answer = commit(cast.agent, scopes=context(SHOP), retractions=[gone("decisions", KEY)])
        (queued,) = answer["memory_written"]["queued"]
        cast.reviewer.do("approve_proposal", id=queued["proposal_id"], revision=1)
        assert said() == []
        cast.reviewer.do("undo_decision", proposal_id=queued["proposal_id"], reason="a slip")
        assert said() == ["Use SQLite"]
        assert [status for status, _, _ in states(KEY)] == ["active", "retracted", "active"]

    @pytest.mark.parametrize("marked", [True, False])
    def test_what_another_took_the_place_of_stays_history(self, cast, marked):
        """Also by a record that does not say whether it was in force."""
        old = known(cast.agent, key="decision:shop:old")
        new = known(cast.agent, "Use SQLite", key="decision:shop:new", supersedes=old)
        retract(cast.agent, old)
        if not marked:
            _forget_force()
        revert(cast.reviewer, "retract_item")
        assert (item(old).status, str(item(old).successor_id), said("decision:shop:old")) == ("superseded", new, [])
        assert said("decision:shop:new") == ["Use SQLite"]

    @pytest.mark.parametrize("lost", [True, False])
    def test_a_record_without_the_mark_is_read_by_the_history_of_the_row(self, cast, lost):
        """Also where the successor was erased since."""
        one, two = known(cast.agent), known(cast.agent, "Use SQLite")
        retract(cast.agent, one)
        _forget_force()
        if lost:
            with unguarded():
                MemoryItem.objects.filter(pk=one).update(successor=None)
        revert(cast.reviewer, "retract_item")
        assert (item(one).status, item(one).current_until is None, said()) == ("active", False, ["Use SQLite"])
        retract(cast.agent, two)
        _forget_force()
        revert(cast.reviewer, "retract_item")
        assert said() == ["Use SQLite"]

    def test_a_notice_of_the_retraction_is_dropped_and_one_of_the_correction_stays(self, cast):
        old = known(cast.agent)
        compose(cast.agent, "Postgres?", scope_context=context(SHOP))
        correct(cast.agent, old, text="Use SQLite")
        retract(cast.agent, old)
        assert set(Notice.objects.values_list("kind", flat=True)) == {"corrected", "retracted"}
        revert(cast.reviewer, "retract_item")
        assert set(Notice.objects.values_list("kind", flat=True)) == {"corrected"}


class TestRetractedSince:
    """What was retracted since does not come back by undoing what went before."""

    def test_a_correction_is_not_undone(self, cast):
        wrong = known(cast.agent)
        correct(cast.agent, wrong, text="Use SQLite")
        retract(cast.agent, wrong)
        with pytest.raises(StaleError, match="changed again"):
            revert(cast.reviewer, "correct_item")
        assert (item(wrong).status, said(), Reversal.objects.count()) == ("retracted", ["Use SQLite"], 0)
        revert(cast.reviewer, "retract_item")
        revert(cast.reviewer, "correct_item")
        assert said() == ["Use Postgres"]

    def test_a_narrowing_is_not_undone(self, cast):
        wide = known(cast.agent)
        narrow(cast.agent, wide)
        retract(cast.agent, wide)
        with pytest.raises(StaleError, match="changed again"):
            revert(cast.reviewer, "narrow_item")
        assert MemoryItem.objects.filter(scope__scope_type="project", current_until=None).count() == 0

    def test_a_written_version_is_not_undone(self, cast):
        old = known(cast.agent)
        write(cast.agent, decision("Use SQLite"))
        retract(cast.agent, old)
        with pytest.raises(StaleError, match="changed again"):
            revert(cast.reviewer, "write_memory_item")
        assert said() == ["Use SQLite"]

    @pytest.mark.parametrize("undoing", [False, True])
    def test_a_conflict_is_not_reopened(self, cast, undoing):
        known(cast.agent, "The default database is Postgres.", key="decision:shop:db")
        known(cast.agent, "The default database is MySQL.", key="decision:shop:default-db")
        conflict = Conflict.objects.get()
        cast.reviewer.do("resolve_conflict", id=str(conflict.pk), outcome="keep_a", reason="because")
        lost = str(conflict.item_b_id)
        retract(cast.agent, lost)
        entry = str(AuditEntry.objects.get(action="resolve_conflict").pk)
        act = {"audit_entry_id": entry} if undoing else {"id": str(conflict.pk)}
        with pytest.raises(ConflictError, match="taken back since"):
            cast.reviewer.call("revert_change" if undoing else "reopen_conflict", reason="too early", **act)
        assert (item(lost).status, said("decision:shop:default-db")) == ("retracted", [])
        assert Conflict.objects.get().state == "resolved"


def inferred(cast: Cast, text: str = "Use Postgres", **fields: Any) -> str:
    """The id of a decision that is a candidate in the project."""
    answer = write(cast.agent, decision(text, **fields), inferred=True)
    return str(answer["item"]["id"])


class TestTrusted:
    """A candidate that became trusted, since the same was said of it by a promotion or a call of its own."""

    def test_a_promotion_leaves_the_candidate_that_it_was(self, cast):
        there = inferred(cast)
        was = item(there).confidence
        queued = promote(promoter(cast), known(cast.agent, scope=TASK))
        assert approve(cast, queued)["item"]["id"] == there
        assert (item(there).lifecycle_status, item(there).confidence > was) == ("promoted", True)
        assert undo_approval(cast, queued)["summary"] == "1 undone"
        row = item(there)
        assert (row.lifecycle_status, row.status, row.confidence) == ("candidate", "active", was)
        assert IndexEntry.objects.get(object_id=UUID(there)).state == "candidate"
        assert memories(cast.agent, "Postgres", scope_context=context(SHOP)) == []
        step = KnowledgeEvent.objects.filter(item_id=UUID(there)).latest("id")
        assert (step.kind, step.from_status, step.to_status) == ("undone", "active/promoted", "active/candidate")
        again = undo_and_approve(cast, queued)
        assert (again, item(there).lifecycle_status) == (there, "promoted")

    def test_a_written_item_leaves_the_candidate_that_it_was(self, cast):
        there = inferred(cast)
        hold(cast, "project")
        queued = write(cast.agent, decision())
        cast.reviewer.do("approve_proposal", id=queued["proposal"]["id"], revision=1)
        assert item(there).lifecycle_status == "promoted"
        assert revert(cast.reviewer, "write_memory_item") == [f"memory_items {there}"]
        assert item(there).lifecycle_status == "candidate"

    def test_its_conflicts_are_over(self, cast):
        there = inferred(cast, "The default database is MySQL.", key="decision:shop:default-db")
        known(cast.agent, "The default database is Postgres.", key="decision:shop:db")
        write(cast.agent, decision("The default database is MySQL.", key="decision:shop:default-db"))
        assert Conflict.objects.get().state == "open"
        revert(cast.reviewer, "write_memory_item")
        assert (Conflict.objects.get().state, item(there).lifecycle_status) == ("resolved", "candidate")

    def test_a_record_that_does_not_tell_the_confidence_leaves_it(self, cast):
        there = inferred(cast)
        write(cast.agent, decision())
        _forget_confidence()
        revert(cast.reviewer, "write_memory_item")
        assert (item(there).lifecycle_status, item(there).confidence) == ("candidate", 0.8)

    @pytest.mark.parametrize("since", ["demoted", "retracted", "replaced"])
    def test_what_was_changed_since_is_not_undone(self, cast, since):
        there = inferred(cast)
        write(cast.agent, decision())
        if since == "demoted":
            demote(cast.reviewer, there)
        elif since == "retracted":
            retract(cast.agent, there)
        else:
            known(cast.agent, "Use SQLite")
        written = AuditEntry.objects.filter(action="write_memory_item", outcome="allowed").latest("id")
        with pytest.raises(StaleError, match="changed again"):
            cast.reviewer.do("revert_change", audit_entry_id=str(written.pk), reason="a slip")


def undo_and_approve(cast: Cast, queued: dict) -> str:
    """Approve a proposal again that is open since its approval was undone; the id of what it gave."""
    proposal = cast.reviewer.do("get_proposal", id=queued["proposal"]["id"])
    done = cast.reviewer.do("approve_proposal", id=proposal["id"], revision=proposal["revision"])
    return str(done["result"]["item"]["id"])


class TestBeside:
    """What is said beside a value that was known already."""

    def test_the_review_date_is_as_it_was(self, cast):
        row = known(cast.agent, review_by="2098-01-01T00:00:00Z")
        before = item(row).review_by
        write(cast.agent, decision(review_by="2099-01-01T00:00:00Z"))
        assert item(row).review_by != before
        assert revert(cast.reviewer, "write_memory_item") == [f"memory_items {row}"]
        assert item(row).review_by == before

    def test_where_there_was_none_there_is_none_again(self, cast):
        row = known(cast.agent)
        write(cast.agent, decision(review_by="2099-01-01T00:00:00Z"))
        revert(cast.reviewer, "write_memory_item")
        assert item(row).review_by is None

    def test_a_review_date_given_since_stays(self, cast):
        row = known(cast.agent)
        write(cast.agent, decision(review_by="2099-01-01T00:00:00Z"))
        entry = AuditEntry.objects.filter(action="write_memory_item").latest("id")
        write(cast.agent, decision(review_by="2097-01-01T00:00:00Z"))
        with pytest.raises(StaleError, match="changed again"):
            cast.reviewer.do("revert_change", audit_entry_id=str(entry.pk), reason="a slip")
        assert str(item(row).review_by).startswith("2097")

    def test_where_nothing_can_be_restored_it_says_so_and_nothing_is_spent(self, cast):
        """What the scope trusted already only gained evidence."""
        there = known(cast.agent)
        queued = promote(promoter(cast), known(cast.agent, scope=TASK))
        assert approve(cast, queued)["item"]["id"] == there
        with pytest.raises(TransitionError, match="nothing to take back"):
            undo_approval(cast, queued)
        with pytest.raises(TransitionError, match="nothing to take back"):
            revert(cast.reviewer, "promote_to_scope")
        assert Reversal.objects.count() == 0
        assert cast.reviewer.do("get_proposal", id=queued["proposal"]["id"])["state"] == "approved"


def _forget_confidence() -> None:
    """Let the last recorded call be one that was recorded before changes told it."""
    entry = AuditEntry.objects.filter(outcome="allowed").latest("id")
    sides = ("before", "after")
    kept = [
        {**change, **{side: {k: v for k, v in (change[side] or {}).items() if k != "confidence"} or None for side in sides}}
        for change in entry.changes
    ]  # fmt: skip
    with unguarded():
        AuditEntry.objects.filter(pk=entry.pk).update(changes=kept)


def _forget_force() -> None:
    """Let retractions be of before their steps told whether the memory was in force."""
    with unguarded():
        KnowledgeEvent.objects.filter(kind="retracted").update(metadata={})
