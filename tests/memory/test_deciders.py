"""Who decides in a place acts on its memories without the right to write there; nobody else gains anything."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry, Proposal
from kernel.errors import ForbiddenError, NotFoundError
from memory.models import MemoryItem
from tests.conftest import TEAM, make_person
from tests.memory.acting import SHOP, TASK, correct, known, narrow, retract

QUEUED = {"review": {"queue": [{"name": "all", "actions": ["retract_item"], "actor_kinds": ["person"]}]}}


def test_it_works(cast):
    row = known(cast.agent)
    right = correct(cast.reviewer, row, text="Use Postgres 16")["item"]
    assert narrow(cast.reviewer, right["id"])["item"]["scope"] == {"type": "task", "id": "t"}
    other = known(cast.agent, "Use Redis", key="decision:shop:cache")
    assert retract(cast.reviewer, other)["item"]["status"] == "retracted"
    entry = AuditEntry.objects.filter(action="retract_item").latest("id")
    assert (entry.outcome, entry.rule, entry.facts["or_decide"]) == ("allowed", "right:decide", True)
    told = cast.reviewer.do("explain_policy", audit_entry_id=str(entry.pk))
    assert told["now"]["verdict"] == "allow"
    assert told["words"][1:] == [
        f"It needs the right write on scope {SHOP}, or to be a person who decides there, which the actor is "
        "(held: audit, decide, promote, read).",
        "Allowed: a person who may decide there may do it too, and no rule of review.queue matches.",
    ]


@pytest.mark.parametrize("action", ["retract_item", "correct_item", "narrow_item"])
def test_it_can_be_asked_before(cast, action):
    def asked(name: str, kind: str) -> dict:
        question = {"name": name, "kind": kind, "action": action, "domain_id": TEAM, "scope": SHOP}
        told: dict = cast.operator.do("explain_policy", what_if=question)
        return told

    assert asked("reviewer", "person")["verdict"] == "allow"
    assert asked("agent", "agent")["rule"] == "right:write"
    assert asked("reader", "agent")["verdict"] == "deny"


def test_what_is_named_along_follows_the_same_rule(cast):
    row, near = known(cast.agent), known(cast.agent, scope=TASK, session="s2")
    here = make_person("here", TEAM, SHOP)
    outcomes = retract(cast.reviewer, row, also=[near])["outcomes"]
    assert outcomes == [{"id": near, "outcome": "done", "successor_id": None}]
    second = known(cast.agent, "Use Redis", key="decision:shop:cache")
    apart = known(cast.agent, "Use Redis", scope=TASK, session="s2", key="decision:shop:cache")
    assert retract(here, second, also=[apart])["outcomes"] == [
        {"id": apart, "outcome": "not_found", "successor_id": None}
    ]
    assert MemoryItem.objects.get(pk=apart).status == "active"


def test_a_narrower_scope_needs_it_too(cast):
    here = make_person("here", TEAM, SHOP)
    with pytest.raises(NotFoundError, match="No scope 'task:t'"):
        narrow(here, known(cast.agent))


def test_a_key_gains_nothing(cast):
    row = known(cast.agent)
    for act in (retract, correct, narrow):
        with pytest.raises(ForbiddenError, match="'write' on"):
            act(cast.reader, row, **({"text": "No"} if act is correct else {}))
    assert MemoryItem.objects.get(pk=row).status == "active"


def test_a_policy_that_holds_it_for_another_person_still_holds(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=QUEUED, reason="two people")
    row = known(cast.agent)
    assert retract(cast.reviewer, row)["status"] == "queued"
    waiting = Proposal.objects.get()
    other = make_person("other", TEAM)
    with pytest.raises(ForbiddenError):
        cast.reviewer.do("approve_proposal", id=str(waiting.pk), revision=1)
    other.do("approve_proposal", id=str(waiting.pk), revision=1)
    assert MemoryItem.objects.get(pk=row).status == "retracted"
