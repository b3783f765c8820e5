"""A part of a call that policy holds back is queued by itself, while the rest of the call is carried out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from governance import gate
from governance.models import AuditEntry, Proposal
from kernel import actions
from kernel.actions import Applied
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError
from tests.conftest import TEAM
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
