"""Decided proposals of governance itself, and of actions that nobody presents: told from the record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kernel import actions
from tests.conftest import TEAM, Cast, make_agent
from tests.governance.desk import Desk, item, make_desk, text_of
from tests.governance.made import NoteInput, NoteResult, made
from tests.governance.queueing import queue_note, review, set_review
from tests.memory.talk import commit, context, decision, only


def shown(cast: Cast, proposal: str) -> dict[str, Any]:
    told: dict[str, Any] = cast.reviewer.do("review_proposal", id=proposal)["presentation"]
    return told


def rows(told: dict[str, Any]) -> list[tuple[str, str, Any, Any]]:
    return [(row["id"], each["name"], each["before"], each["after"]) for row in told["rows"] for each in row["fields"]]


def put(cast: Cast, **section: Any) -> None:
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": section}, reason="r")


@pytest.fixture
def drafted(cast, monkeypatch) -> tuple[Cast, str]:
    """A drafted rule that waits."""
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast, burst_per_hour=7)
    first = queue_note(cast.agent)
    draft = cast.reviewer.do("draft_rule", id=first, reason="it is trusted")["proposal"]["id"]
    return cast, draft


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_it_works_for_a_change_of_the_policy(drafted, verdict):
    """Whether the version that it replaced is in force or long gone, and nobody but operators reads the rest of it."""
    cast, draft = drafted
    if verdict == "approved":
        cast.operator.do("approve_proposal", id=draft)
    else:
        cast.reviewer.do("reject_proposal", id=draft, reason="not yet")
    first = shown(cast, draft)
    assert [(row, name) for row, name, _, _ in rows(first)] == [("review", "allow")]
    ((_, _, before, after),) = rows(first)
    assert before is None
    assert after[0]["actors"] == ["agent"]
    assert first["evidence"] == [], "what it would decide otherwise on today's record is not told as if it were then"
    put(cast, **review()["review"], burst_per_hour=9)
    assert shown(cast, draft) == first


def test_an_action_that_nobody_presents_tells_its_recorded_rows(cast, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast)
    cast.operator.do("note", note="before")
    done, left = queue_note(cast.agent, "first"), queue_note(cast.agent, "second")
    cast.reviewer.do("approve_proposal", id=done)
    cast.reviewer.do("reject_proposal", id=left, reason="no")
    cast.operator.do("note", note="long after")
    assert [each[1:] for each in rows(shown(cast, done))] == [("note", "before", "first")]
    assert [each[1:] for each in rows(shown(cast, left))] == [("note", "before", "second")]


def test_a_rejected_erasure_still_tells_what_it_was_about(cast):
    pk = only(commit(cast.agent, scopes=context("project:p"), decisions=[decision("The code is 4711")]))["id"]
    asked = {"domain_id": TEAM, "objects": [{"kind": "memory", "id": pk}], "reason": "asked to"}
    eraser = make_agent("eraser", TEAM, rights=["read", "write", "erase"])
    proposal = eraser.do("erase", asked)["proposal"]["id"]
    cast.reviewer.do("reject_proposal", id=proposal, reason="a hold is coming")
    told = shown(cast, proposal)
    assert [row["kind"] for row in told["rows"]] == ["removed"]


class TextInput(NoteInput):
    """A note with a text that people may reword."""

    text: str = ""


class TestPage:
    @pytest.fixture
    def desk(self, db, monkeypatch) -> Desk:
        """Where a call of `note` waits, and changes nothing."""
        idle = made(lambda given, prepared, ctx: (NoteResult(note=given.note), []))
        monkeypatch.setitem(actions._registry, "note", replace(idle, input=TextInput))
        desk = make_desk()
        set_review(desk.cast)
        return desk

    def proposed(self, desk: Desk) -> str:
        return str(desk.cast.agent.do("note", text="a telling text")["proposal"]["id"])

    def told(self, desk: Desk, proposal: str) -> str:
        """What its page says of the change."""
        page = text_of(desk.ann, item(proposal))
        return page.partition('aria-labelledby="change"')[2].partition("</section>")[0]

    def test_an_approval_that_changed_nothing_is_not_dressed_up(self, desk):
        proposal = self.proposed(desk)
        assert "a telling text" in self.told(desk, proposal), "while it waits its input stands for the change"
        desk.cast.reviewer.do("approve_proposal", id=proposal)
        told = self.told(desk, proposal)
        assert "What it changed" in told
        assert "It changed nothing." in told
        assert "a telling text" not in told

    def test_what_was_rejected_still_tells_what_it_asked_for(self, desk):
        proposal = self.proposed(desk)
        desk.cast.reviewer.do("reject_proposal", id=proposal, reason="no")
        told = self.told(desk, proposal)
        assert "What it would have changed" in told
        assert "a telling text" in told
