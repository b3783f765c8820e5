"""What a reviewer is shown of a proposal, and what it would do: as apps tell it, or as its rows do."""

from __future__ import annotations

import pytest

from governance import hooks
from governance.contracts import (
    ConflictNote,
    EffectLine,
    Presentation,
    ProposalFacts,
    RelatedText,
    RowChange,
    Snapshot,
)
from governance.models import AuditEntry, Proposal
from kernel import actions
from kernel.errors import ForbiddenError, NotFoundError
from tests.conftest import TEAM, make_agent, make_person
from tests.governance.made import made, note_of
from tests.governance.queueing import later, queue_note, set_review, statements

pytestmark = pytest.mark.usefixtures("midday")


@pytest.fixture
def desk(cast, monkeypatch):
    """The cast, with `note` queued by policy, and a second reviewer `ann`."""
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast)
    return cast, make_person("ann", TEAM)


def steps(answer: dict) -> dict[str, str]:
    """Each step with what stands against it."""
    return {step["step"]: step["why_not"] for step in answer["may"]}


def test_it_works(desk):
    cast, ann = desk
    cast.reviewer.do("reject_proposal", id=queue_note(cast.agent, "Run 1 failed"), reason="not ours")
    proposal = queue_note(cast.agent, "run 2 failed")
    ann.do("claim_proposal", id=proposal)
    ann.do("comment_on_proposal", id=proposal, text="looks odd")
    shown = cast.reviewer.do("review_proposal", id=proposal)
    assert shown["proposal"]["claim"]["by"] == "ann"
    assert shown["presentation"]["subject"] == "note: run 2 failed"
    assert [(f["name"], f["before"], f["after"]) for f in shown["presentation"]["rows"][0]["fields"]] == [
        ("note", None, "run 2 failed")
    ]
    assert shown["why"] == "Rule 'wait': calls of note by agent wait for a person."
    assert [(step["kind"], step["by"], step["text"]) for step in shown["timeline"]] == [
        ("proposed", "agent", ""),
        ("claimed", "ann", ""),
        ("comment", "ann", "looks odd"),
    ]
    assert (shown["source"]["last_hour"], shown["source"]["burst"], shown["source"]["rejected"]) == (2, False, 1)
    assert shown["earlier"][0]["decisions"][0]["reason"] == "not ours"
    assert steps(shown) == {
        "approve": "",
        "reject": "",
        "request_changes": "",
        "edit_and_approve": "",
        "claim": "",
        "snooze": "",
        "release": f"Proposal {proposal} is claimed by ann, not by you: nothing was changed.",
        "comment": "",
    }


def test_what_one_may_not_do_is_said(desk):
    cast, _ = desk
    owned = make_agent("owned", owner="reviewer")
    proposal = queue_note(owned)
    may = steps(cast.reviewer.do("review_proposal", id=proposal))
    assert "Nobody approves" in may["approve"]
    assert "Nobody approves" in may["edit_and_approve"]
    assert may["reject"] == ""
    cast.reviewer.do("request_changes", id=proposal, reason="which?")
    sent_back = steps(cast.reviewer.do("review_proposal", id=proposal))
    assert "Wait for its proposer" in sent_back["approve"]


def test_what_policy_says_of_the_scope(desk):
    cast, _ = desk
    set_review(
        cast,
        guidelines={"*": "Be kind.", "project:*": "Name the project."},
        canned_reasons={"*": [f"reason {number}" for number in range(12)]},
    )
    shown = cast.reviewer.do("review_proposal", id=queue_note(cast.agent))
    assert shown["guidelines"] == ["Be kind."]
    assert shown["canned_reasons"] == [f"reason {number}" for number in range(9)]


def test_a_burst_of_one_source_is_flagged(desk):
    cast, _ = desk
    set_review(cast, burst_per_hour=3)
    first, *_ = [queue_note(cast.agent, f"note {number}") for number in range(3)]
    source = cast.reviewer.do("review_proposal", id=first)["source"]
    assert (source["burst"], source["last_hour"], len(source["recent"])) == (True, 3, 2)
    with later(hours=2):
        assert cast.reviewer.do("review_proposal", id=first)["source"]["burst"] is False


def test_the_next_one_of_the_list_is_named(desk):
    cast, _ = desk
    ids = [queue_note(cast.agent, word) for word in ("one", "two", "three")]
    asked = {"filters": {"queue": "open"}}
    assert cast.reviewer.do("review_proposal", id=ids[0], **asked)["next_id"] == ids[1]
    cast.reviewer.do("reject_proposal", id=ids[0], reason="no")
    assert cast.reviewer.do("review_proposal", id=ids[0], **asked)["next_id"] == ids[1]
    assert cast.reviewer.do("review_proposal", id=ids[2], **asked)["next_id"] is None
    assert cast.reviewer.do("review_proposal", id=ids[0], filters={"text": "three"})["next_id"] == ids[2]


def test_a_reviewer_of_another_scope_sees_nothing(desk):
    cast, _ = desk
    proposal = queue_note(cast.agent)
    for player in (make_person("narrow", TEAM, "project:p"), make_person("elsewhere", "elsewhere"), cast.stranger):
        for action in ("review_proposal", "preview_proposal"):
            with pytest.raises(NotFoundError):
                player.call(action, id=proposal)
    with pytest.raises(ForbiddenError):
        cast.agent.call("review_proposal", id=proposal)


def test_an_app_shows_its_own_proposals(desk, monkeypatch):
    cast, _ = desk

    def present(given, changes, ctx, then):
        assert then is None
        assert ctx.actor.name == "reviewer"
        near = RelatedText(kind="memory", id="1", text="an older note", score=0.9)
        conflict = ConflictNote(rule="same key", explanation="It says otherwise.", severity="high", other=near)
        row = RowChange(table="domains", id=changes[0].id, kind="changed", title="the domain", fields=[])
        return Presentation(subject=f"Note {given.note!r}", rows=[row], nearest=near, conflicts=[conflict])

    monkeypatch.setitem(hooks._presenters, "note", present)
    shown = cast.reviewer.do("review_proposal", id=queue_note(cast.agent))["presentation"]
    assert (shown["subject"], shown["nearest"]["text"], shown["conflicts"][0]["severity"]) == (
        "Note 'first'",
        "an older note",
        "high",
    )


def test_an_app_says_what_lists_show(desk, monkeypatch):
    cast, _ = desk

    def facts(given, changes, ctx):
        return ProposalFacts(subject="A note", summary="one line", similar_key="k", has_conflict=True)

    monkeypatch.setitem(hooks._facts, "note", facts)
    queue_note(cast.agent, "one"), queue_note(cast.agent, "two")
    rows = cast.reviewer.do("list_proposals", has_conflict=True, queue="open")["proposals"]
    assert [(row["subject"], row["summary"], row["similar"]) for row in rows] == [("A note", "one line", 1)] * 2
    assert cast.reviewer.do("list_proposals", has_conflict=False)["proposals"] == []
    assert len(cast.reviewer.do("list_proposals", similar_to=rows[0]["id"])["proposals"]) == 2


def test_a_proposal_whose_action_is_gone_is_shown_and_not_carried_out(desk, monkeypatch):
    cast, _ = desk
    proposal = queue_note(cast.agent)
    monkeypatch.delitem(actions._registry, "note")
    assert cast.reviewer.do("review_proposal", id=proposal)["presentation"]["rows"]
    assert "no action 'note'" in cast.reviewer.do("preview_proposal", id=proposal)["error"]


class TestPreview:
    def test_it_works(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        seen = cast.reviewer.do("preview_proposal", id=proposal)
        assert (seen["possible"], seen["stale"], seen["error"]) == (True, False, "")
        assert [(line["kind"], line["what"], line["count"]) for line in seen["lines"]] == [
            ("rows", "changed in domains", 1)
        ]
        assert seen["rows"][0]["fields"][0]["after"] == "first"
        assert note_of() is None
        assert Proposal.objects.get().state == "open"
        entry = AuditEntry.objects.latest("id")
        assert (entry.action, entry.outcome, entry.changes) == ("preview_proposal", "allowed", [])

    def test_apps_add_lines_and_snapshots(self, desk, monkeypatch):
        cast, _ = desk

        def effect(changes, ctx):
            assert note_of() == "first"
            return [EffectLine(kind="gains_sight", what="principals see it", count=1, who=["agent"])]

        def snapshot(changes, ctx):
            return [Snapshot(kind="context", id=str(n), title="a context", lines=[str(note_of())]) for n in range(25)]

        monkeypatch.setattr(hooks, "_effects", [effect])
        monkeypatch.setattr(hooks, "_snapshots", [snapshot])
        seen = cast.reviewer.do("preview_proposal", id=queue_note(cast.agent))
        assert seen["lines"][1]["who"] == ["agent"]
        assert len(seen["shown"]) == 20
        first = seen["shown"][0]
        assert (first["before"], first["after"], first["differs"]) == (["None"], ["first"], True)
        assert note_of() is None

    def test_what_changed_since_is_stale(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.operator.do("note", note="meanwhile")
        seen = cast.reviewer.do("preview_proposal", id=proposal)
        assert (seen["possible"], seen["stale"]) == (True, True)

    def test_what_cannot_be_done_any_more_says_why(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read"])
        seen = cast.reviewer.do("preview_proposal", id=proposal)
        assert seen["possible"] is False
        assert "may no longer" in seen["error"]

    def test_what_was_decided_changes_nothing_any_more(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)
        assert "already approved by reviewer" in cast.reviewer.do("preview_proposal", id=proposal)["error"]


def test_looking_asks_the_database_alike_whatever_there_is(desk):
    cast, _ = desk
    few = queue_note(cast.agent, "few")

    def count() -> int:
        return statements(cast, "review_proposal", id=few, filters={"queue": "open"})

    count()
    before = count()
    for number in range(30):
        other = queue_note(cast.agent, f"few {number}")
        if number % 3 == 0:
            cast.reviewer.do("reject_proposal", id=other, reason="r")
    assert count() <= before + 2  # decisions of others, once there are some
    assert count() <= 13
