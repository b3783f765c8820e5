"""A part of a call that policy holds back is queued by itself, while the rest of the call is carried out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from governance import gate
from governance.contracts import Risk
from governance.models import RISKS, AuditEntry, Proposal
from governance.policies import Facts
from kernel import actions
from kernel.actions import Applied
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError
from tests.conftest import TEAM, make_person
from tests.governance.made import NoteInput, NoteResult, made, note_of, note_on_domain
from tests.governance.test_proposals import queue_rule


def outer(given: NoteInput, prepared: None, ctx: Ctx) -> Applied[NoteResult]:
    """Keep the note as another action, unless that has to wait."""
    part = NoteInput(domain_id=given.domain_id, note=given.note)
    queued = gate.queue_within(actions.get("part"), part, ctx)
    if queued is not None:
        return NoteResult(note=f"queued {queued.deduplicated}"), []
    return note_on_domain(given, prepared, ctx)


@pytest.fixture
def parts(cast, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made(outer))
    monkeypatch.setitem(actions._registry, "part", replace(made(), name="part"))
    return cast


def test_it_works(parts):
    assert parts.agent.do("note", note="one")["note"] == "one"
    parts.operator.do("set_policy", domain_id=TEAM, document=queue_rule("part"), reason="r")
    answer = parts.agent.call("note", note="two")
    assert (answer.status, answer.body()["note"], note_of()) == (200, "queued False", "one")
    assert parts.agent.do("note", note="two")["note"] == "queued True"
    row = Proposal.objects.get()
    assert (row.action, row.input["note"], row.proposer_name, row.state) == ("part", "two", "agent", "open")
    entries = AuditEntry.objects.filter(request_id=row.request_id)
    assert {(entry.action, entry.outcome) for entry in entries} == {("part", "queued"), ("note", "allowed")}
    parts.reviewer.do("approve_proposal", id=str(row.id))
    assert note_of() == "two"


def test_who_approves_the_whole_approves_its_parts(parts):
    parts.operator.do("set_policy", domain_id=TEAM, document=queue_rule("part", "note"), reason="r")
    queued = parts.agent.do("note", note="whole")["proposal"]["id"]
    assert [str(row.id) for row in Proposal.objects.all()] == [queued]
    parts.reviewer.do("approve_proposal", id=queued)
    assert note_of() == "whole"


def test_a_part_that_is_denied_fails_the_call_that_does_not_catch_it(parts, monkeypatch):
    monkeypatch.setitem(actions._registry, "part", replace(made(), name="part", right=Right.ERASE))
    with pytest.raises(ForbiddenError, match="part needs the right 'erase'"):
        parts.agent.call("note", note="x")
    assert note_of() is None


def test_it_is_refused_outside_the_gate(parts):
    with pytest.raises(RuntimeError, match="inside the gate"):
        gate.queue_within(made(), NoteInput(), parts.agent.ctx())


class TestJudgedAsAnother:
    """What is judged as two actions waits by the rules of both, and asks for the larger care of both, from when it is held
    until it is carried out."""

    @pytest.fixture
    def desk(self, parts, monkeypatch):
        def both(given: NoteInput, prepared: None, ctx: Ctx) -> Applied[NoteResult]:
            part = NoteInput(domain_id=given.domain_id, note=given.note)
            queued = gate.queue_within(actions.get("part"), part, ctx)
            return NoteResult(note=str(queued.proposal.id) if queued else "done"), []

        monkeypatch.setitem(actions._registry, "note", made(both))
        monkeypatch.setitem(actions._registry, "twin", replace(made(), name="twin"))
        monkeypatch.setitem(actions._registry, "part", replace(made(), name="part", judged_as=("twin",)))
        return parts

    def held(self, cast, **care: list) -> Proposal:
        document = {"review": {"queue": [{"name": "wait", "actions": ["twin"]}], **care}}
        cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
        return Proposal.objects.get(pk=cast.agent.do("note", note="two")["note"])

    def test_it_works(self, desk):
        row = self.held(desk, two_person=[{"name": "both", "actions": ["twin"]}])
        assert (row.action, row.rule, row.approvals_needed) == ("part", "review.queue:wait", 2)
        desk.reviewer.do("approve_proposal", id=str(row.id))
        assert note_of() is None
        make_person("ann", TEAM).do("approve_proposal", id=str(row.id))
        assert note_of() == "two"

    @pytest.mark.parametrize("name", ["part", "twin"])
    def test_the_rules_of_either_count(self, desk, name):
        rule = [{"name": "both", "actions": [name]}]
        row = self.held(desk, two_person=rule, high_risk=rule)
        assert (RISKS[row.risk], row.approvals_needed) == (Risk.HIGH, 2)
        revised = desk.agent.do("revise_proposal", id=str(row.id), input={**row.input, "note": "three"})["proposal"]
        assert (revised["risk"], revised["approvals_needed"]) == ("high", 2)

    def test_a_rule_that_came_since_counts_too(self, desk):
        row = self.held(desk)
        self.held(desk, two_person=[{"name": "both", "actions": ["twin"]}])
        answer = desk.reviewer.do("approve_proposal", id=str(row.id))["proposal"]
        assert (answer["state"], answer["approvals_needed"]) == ("open", 2)

    def test_by_itself_it_is_judged_no_otherwise(self, desk):
        self.held(desk)
        assert desk.agent.call("part", note="alone").status == 202

    @pytest.mark.parametrize(
        ("names", "status"),
        [(["part"], 200), (["twin"], 200), (["p*"], 202), (["*"], 200), (["note"], 202), (["part", "twin"], 200)],
    )
    def test_an_exception_names_the_action_itself_or_the_one_that_a_rule_holds_back(self, desk, names, status):
        allow = [{"name": "trusted", "actions": names, "actors": ["agent"]}]
        document = {"review": {"queue": [{"name": "wait", "actions": ["twin"]}], "allow": allow}}
        desk.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
        assert desk.agent.call("part", note="x").status == status
        assert desk.agent.call("twin", note="x").status == (200 if "twin" in names or "*" in names else 202)

    @pytest.mark.parametrize("fields", [{"actors": ["other"]}, {"scopes": ["project:*"]}])
    def test_an_exception_for_another_agent_or_scope_does_not_count(self, desk, fields):
        allow = [{"name": "trusted", "actions": ["part"], "actors": ["agent"], **fields}]
        document = {"review": {"queue": [{"name": "wait", "actions": ["twin"]}], "allow": allow}}
        desk.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
        assert desk.agent.call("part", note="x").status == 202

    def test_what_was_kept_of_it_is_read_back_as_it_was(self, desk):
        desk.agent.do("part", note="alone")
        kept = AuditEntry.objects.filter(action="part").latest("id").facts
        assert kept["judged_as"] == ["twin"]
        assert Facts.from_json(kept).judged_as == ("twin",)
