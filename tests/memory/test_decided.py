"""A decided proposal is shown as it was, whatever became of memory since: one test for each action with a presenter."""

from __future__ import annotations

from typing import Any

import pytest

from memory.models import MemoryItem
from tests.clients import sign_in
from tests.conftest import TEAM, Cast, Player, make_agent, make_person
from tests.governance.desk import item as page_of_proposal
from tests.governance.desk import statements, text_of
from tests.governance.queueing import later
from tests.memory.presented import hold
from tests.memory.promoting import promoter
from tests.memory.talk import commit, context, decision, only, ref

SHOP, TASK, GLOBAL = "project:shop", "task:t", "global:g"
URL = {"kind": "url", "id": "https://example.org/why"}
OTHER = {"kind": "url", "id": "https://b.example"}
WHY = {"reason": "it is so"}
LEFT_OUT = ("nearest", "neighbours", "conflicts")


def known(agent: Player, text: str = "Use Postgres", scope: str = SHOP, session: str = "s1", **fields: Any) -> str:
    """A memory under one key, so that another text takes its place."""
    said = commit(agent, session, say=f"{text}, please.", extract=False, scopes=context(scope), decisions=[decision(text, **fields)])  # fmt: skip
    return str(only(said)["id"])


def decide(cast: Cast, proposal: str, verdict: str) -> None:
    if verdict == "approved":
        cast.reviewer.do("approve_proposal", id=proposal)
    else:
        cast.reviewer.do("reject_proposal", id=proposal, reason="not now")


def upset(cast: Cast) -> None:
    """The world changes: what there was is taken back or replaced, and more is said that is near."""
    with later(days=2):
        cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="nobody looks any more")
        for scope in (SHOP, TASK, GLOBAL):
            late = [decision(f"Use Cassandra in {scope}", importance=5, review_by="2030-01-01T00:00:00Z")]
            near = decision("Use Postgres 17", "decision:db:near")
            commit(cast.agent, "s-late", scopes=context(scope), decisions=[*late, near])


def shown(by: Player, proposal: str) -> dict[str, Any]:
    told: dict[str, Any] = by.do("review_proposal", id=proposal)["presentation"]
    return told


def fields(row: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {each["name"]: (each["before"], each["after"]) for each in row["fields"] if each["differs"]}


CASES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "retract_item": ({}, [("changed", {"status": ("active", "retracted")})]),
    "correct_item": (
        {"text": "Use SQLite"},
        [
            ("added", {"statement": ("Use Postgres", "Use SQLite"), "value.decision": ("Use Postgres", "Use SQLite")}),
            ("changed", {"status": ("active", "superseded")}),
        ],
    ),
    "narrow_item": (
        {"target_scope": ref(TASK)},
        [
            ("added", {"scope": (SHOP, TASK)}),
            ("changed", {"status": ("active", "superseded"), "narrowed_to": (None, TASK)}),
        ],
    ),
    "demote": (
        {"evidence_refs": [URL], "reason_type": "unsafe"},
        [("changed", {"lifecycle": ("promoted", "demoted")})],
    ),
    "raise_tier": (
        {"tier": "shu", "supporting_refs": [URL], "verification_refs": [OTHER]},
        [("added", {"tier": ("none", "shu")}), ("changed", {"status": ("active", "superseded")})],
    ),
    "promote_to_scope": (
        {"target_scope": ref(GLOBAL), "verification_refs": [URL], "text": "Postgres it is"},
        [
            ("added", {"statement": ("Use MySQL", "Postgres it is"), "value.decision": ("Use MySQL", "Postgres it is")}),
            ("changed", {"status": ("active", "superseded")}),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
@pytest.mark.parametrize("action", CASES)
def test_an_act_on_a_memory_is_shown_as_it_was(cast, action, verdict):
    given, rows = CASES[action]
    agent = promoter(cast)
    known(agent, "Use MySQL", GLOBAL, "s0")
    item_id = known(agent)
    hold(cast, action)
    proposal = agent.do(action, {"memory_item_id": item_id, **WHY, **given})["proposal"]["id"]
    decide(cast, proposal, verdict)
    first = shown(cast.reviewer, proposal)
    assert [(row["kind"], fields(row)) for row in first["rows"]] == rows
    upset(cast)
    then = shown(cast.reviewer, proposal)
    assert then == first, "what is so today is not told as if it had been so"
    assert not any(then[name] for name in LEFT_OUT)
    assert "Cassandra" not in str(then)
    made = [row for row in then["rows"] if row["kind"] == "added"]
    for row in made:
        exists = MemoryItem.objects.filter(pk=row["id"]).exists()
        assert (exists, bool(row["link"])) == ((True, True) if verdict == "approved" else (False, False))


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_a_written_item_and_a_turn_are_shown_as_they_were(cast, verdict):
    known(cast.agent, "Use MySQL")
    hold(cast, "commit_turn", "write_memory_item")
    item = decision("Use Postgres")
    written = cast.agent.do("write_memory_item", domain_id=TEAM, scope=ref(SHOP), type="decisions", item=item)
    turn = commit(cast.agent, "s2", say="DuckDB now.", extract=False, scopes=context(SHOP), decisions=[decision("Use DuckDB", "decision:db:olap")])  # fmt: skip
    found = [written["proposal"]["id"], turn["proposal"]["id"]]
    for proposal in found:
        decide(cast, proposal, verdict)
    first = [shown(cast.reviewer, proposal) for proposal in found]
    assert fields(first[0]["rows"][0])["statement"] == ("Use MySQL", "Use Postgres")
    assert fields(first[1]["rows"][0])["statement"] == (None, "Use DuckDB")
    upset(cast)
    assert [shown(cast.reviewer, proposal) for proposal in found] == first
    assert not any(told[name] for told in first for name in LEFT_OUT)


def test_what_was_known_already_when_it_was_approved_added_nothing(cast):
    hold(cast, "write_memory_item")
    item = decision("Use Postgres")
    given = {"domain_id": TEAM, "scope": ref(SHOP), "type": "decisions", "item": item}
    proposal = cast.agent.do("write_memory_item", given)["proposal"]["id"]
    assert shown(cast.reviewer, proposal)["rows"]
    cast.reviewer.do("reject_proposal", id=proposal, reason="later")
    assert [row["kind"] for row in shown(cast.reviewer, proposal)["rows"]] == ["added"]


def test_a_decision_on_a_conflict_is_shown_as_it_was(cast):
    known(cast.agent, "The port of the mail service is 25")
    known(cast.agent, "The port of the mail service is 26", session="s2", key="decision:db:mail")
    conflict = cast.reviewer.do("list_conflicts", domain_id=TEAM)["conflicts"][0]["id"]
    curator = make_agent("curator", rights=["read", "write", "promote"])
    proposal = curator.do("resolve_conflict", id=conflict, outcome="keep_b", reason="newer")["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    first = shown(cast.reviewer, proposal)
    assert fields(first["rows"][0])["state"] == ("open", "resolved")
    assert ("changed", {"status": ("active", "superseded")}) in [(row["kind"], fields(row)) for row in first["rows"]]
    upset(cast)
    assert shown(cast.reviewer, proposal)["rows"] == first["rows"]


def test_an_undone_approval_is_open_again_and_compared_with_today(cast):
    item_id = known(cast.agent)
    hold(cast, "retract_item")
    proposal = cast.agent.do("retract_item", memory_item_id=item_id, **WHY)["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    with later(seconds=5):
        cast.reviewer.do("undo_decision", proposal_id=proposal, reason="too soon")
        told = cast.reviewer.do("review_proposal", id=proposal)
    assert told["proposal"]["decided_at"] is None
    assert told["presentation"]["rows"][0]["fields"]


def test_evidence_that_came_later_is_not_told_as_if_it_had_been_there(cast):
    agent = promoter(cast)
    item_id = known(agent)
    hold(cast, "demote")
    given = {"memory_item_id": item_id, "reason_type": "unsafe", **WHY}
    proposal = agent.do("demote", {**given, "evidence_refs": [URL]})["proposal"]["id"]
    cast.reviewer.do("reject_proposal", id=proposal, reason="no")
    with later(days=1):
        promoter(cast).do("demote", {**given, "evidence_refs": [OTHER]})
        again = promoter(cast).do("list_proposals", queue="open")["proposals"][0]["id"]
        cast.reviewer.do("approve_proposal", id=again)
        assert OTHER["id"] in [each["text"] for each in shown(cast.reviewer, again)["evidence"]]
    told = shown(cast.reviewer, proposal)
    assert [each["text"] for each in told["evidence"]] == [URL["id"], "Use Postgres, please."]


def test_who_may_not_read_a_row_is_told_no_more_than_that_it_changed(cast):
    agent = promoter(cast)
    known(agent, "Ann earns much", GLOBAL, "s0")
    mine = known(agent)
    hold(cast, "promote_to_scope")
    given = {"memory_item_id": mine, "target_scope": ref(GLOBAL), "verification_refs": [URL], **WHY}
    proposal = agent.do("promote_to_scope", given)["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    narrow = make_person("global-reviewer", TEAM, GLOBAL)
    told = shown(narrow, proposal)
    assert "Ann earns much" in str(told), "who decides there reads it"
    assert [row["link"] != "" for row in told["rows"]] == [True, True]
    assert told["evidence"][0]["link"] == "", "the source lies where they read nothing"


def test_what_was_erased_stays_erased(cast):
    item_id = known(cast.agent, "The code is Zebulon")
    hold(cast, "retract_item")
    proposal = cast.agent.do("retract_item", memory_item_id=item_id, **WHY)["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    cast.operator.do("erase", domain_id=TEAM, objects=[{"kind": "memory", "id": item_id}], reason="asked to")
    told = shown(cast.reviewer, proposal)
    assert told["rows"] == []
    assert "Zebulon" not in str(told)


class TestPage:
    @pytest.fixture
    def ann(self, cast):
        make_person("ann", TEAM, is_staff=True)
        return sign_in("ann")

    @pytest.mark.parametrize(
        ("verdict", "heading", "sides"),
        [
            ("approved", "What it changed", ("Before", "After")),
            ("rejected", "What it would have changed", ("Then", "Proposed")),
        ],
    )
    def test_the_headings_say_that_it_was_decided(self, cast, ann, verdict, heading, sides):
        item_id = known(cast.agent)
        hold(cast, "correct_item")
        given = {"memory_item_id": item_id, "text": "Use SQLite", **WHY}
        proposal = cast.agent.do("correct_item", given)["proposal"]["id"]
        assert "What would change" in text_of(ann, page_of_proposal(proposal))
        decide(cast, proposal, verdict)
        upset(cast)
        page = text_of(ann, page_of_proposal(proposal))
        assert f'<h3 id="change">{heading}</h3>' in page
        assert all(f'<p class="sb-quiet">{side}</p>' in page for side in sides)
        assert "What would change" not in page
        assert "Cassandra" not in page
        assert statements(ann, page_of_proposal(proposal)) < 20
