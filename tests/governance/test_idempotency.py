"""Sending a call again is safe: one row, one answer, and never somebody else's."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry, IdempotencyRecord, Proposal
from kernel.errors import ConflictError, DomainError, ForbiddenError, IdempotencyConflictError, InvalidInputError
from memory.models import Turn
from tests.conftest import a_turn, make_agent, make_cast
from tests.threads import at_once

KEYED = {"idempotency_key": "k1"}
GLOBAL = {"type": "global", "id": "all"}
ELEVATED = {"scope_context": {"read": [GLOBAL], "default_write": GLOBAL}}
RULE = {"name": "elevated", "actions": ["commit_turn"], "scope_types": ["global"]}


def test_it_works(cast):
    first = cast.agent.do("commit_turn", a_turn(), **KEYED)
    again = cast.agent.do("commit_turn", a_turn(), **KEYED)
    assert first["deduplicated"] is False
    assert again == {**first, "deduplicated": True}
    assert Turn.objects.count() == 1


def test_a_replay_is_entered_in_the_audit_log(cast):
    cast.agent.do("commit_turn", a_turn(), **KEYED)
    cast.agent.do("commit_turn", a_turn(), **KEYED)
    assert AuditEntry.objects.latest("id").reason == "idempotent replay"
    assert AuditEntry.objects.latest("id").changes == []


def test_the_order_of_members_does_not_matter(cast):
    first = cast.agent.do("commit_turn", a_turn(), **KEYED)
    again = cast.agent.do("commit_turn", dict(reversed(a_turn().items())), **KEYED)
    assert again["turn_id"] == first["turn_id"]


def test_another_payload_is_409(cast):
    cast.agent.do("commit_turn", a_turn(), **KEYED)
    with pytest.raises(IdempotencyConflictError):
        cast.agent.call("commit_turn", a_turn("another text"), **KEYED)
    assert Turn.objects.count() == 1


def test_without_a_key_every_call_counts(cast):
    cast.agent.do("commit_turn", a_turn())
    assert cast.agent.do("commit_turn", a_turn())["seq"] == 2


def test_another_principal_may_use_the_same_key(cast):
    other = make_agent("other")
    mine = cast.agent.do("commit_turn", a_turn(), **KEYED)
    theirs = other.do("commit_turn", a_turn("another text", session_id="s2"), **KEYED)
    assert theirs["deduplicated"] is False
    assert theirs["turn_id"] != mine["turn_id"]


def test_another_domain_may_use_the_same_key(cast):
    other = make_agent("legacy-agent", "legacy")
    assert other.do("commit_turn", a_turn(domain_id="legacy"), **KEYED)["seq"] == 1


def test_another_action_may_use_the_same_key(cast):
    cast.operator.do("set_policy", document={}, reason="r", **KEYED)
    assert cast.operator.do("assign_reviewer", user="reviewer", domain_id="team", **KEYED)["deduplicated"] is False


def test_a_refused_call_does_not_use_up_its_key(cast):
    with pytest.raises(ForbiddenError):
        cast.reader.call("commit_turn", a_turn(), **KEYED)
    assert not IdempotencyRecord.objects.exists()
    cast.operator.do("grant_access", name="reader", domain_id="team", rights=["read", "write"])
    from scopes.selectors import authenticate_key
    from tests.conftest import Player

    again = Player("reader", authenticate_key(cast.reader.key), cast.reader.key)
    assert again.do("commit_turn", a_turn(), **KEYED)["deduplicated"] is False


def test_an_answer_is_not_replayed_to_one_who_lost_the_right(cast):
    cast.agent.do("commit_turn", a_turn(), **KEYED)
    cast.operator.do("grant_access", name="agent", domain_id="team", rights=["read"])
    from scopes.selectors import authenticate_key
    from tests.conftest import Player

    with pytest.raises(ForbiddenError):
        Player("agent", authenticate_key(cast.agent.key)).call("commit_turn", a_turn(), **KEYED)


def test_a_queued_answer_is_replayed(cast):
    cast.operator.do("set_policy", domain_id="team", document={"review": {"queue": [RULE]}}, reason="r")
    first = cast.agent.call("commit_turn", a_turn(**ELEVATED), **KEYED)
    again = cast.agent.call("commit_turn", a_turn(**ELEVATED), **KEYED)
    assert (first.status, again.status) == (202, 202)
    assert again.body() == {**first.body(), "deduplicated": True}
    assert Proposal.objects.count() == 1
    assert not Turn.objects.exists()


@pytest.mark.parametrize("key", ["", "x" * 129, 5, True, "a\x00"])
def test_a_malformed_key_is_refused(cast, key):
    with pytest.raises(InvalidInputError):
        cast.agent.call("commit_turn", a_turn(), idempotency_key=key)


@pytest.mark.django_db(transaction=True)
def test_the_same_key_from_eight_threads_is_one_turn():
    cast = make_cast()
    outcomes = at_once([lambda: cast.agent.do("commit_turn", a_turn(), **KEYED) for _ in range(8)])
    answers = [outcome for outcome in outcomes if not isinstance(outcome, DomainError)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, DomainError)]
    assert Turn.objects.count() == 1
    assert len({answer["turn_id"] for answer in answers}) == 1
    assert sum(not answer["deduplicated"] for answer in answers) == 1
    assert all(isinstance(error, ConflictError) for error in refused)
    assert len(answers) == 8


@pytest.mark.django_db(transaction=True)
def test_the_same_key_with_other_payloads_at_once_is_one_turn():
    cast = make_cast()
    outcomes = at_once([lambda n=n: cast.agent.do("commit_turn", a_turn(f"text {n}"), **KEYED) for n in range(4)])
    assert Turn.objects.count() == 1
    assert sum(isinstance(outcome, IdempotencyConflictError) for outcome in outcomes) == 3
