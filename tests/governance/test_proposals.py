"""Proposals: what a policy queues waits for a person, who decides once, knowingly, and never on their own."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model

from governance import gate, services
from governance.contracts.erasing import mark
from governance.gate import system_ctx
from governance.models import AuditEntry, Decision, IdempotencyRecord, Proposal
from kernel import actions
from kernel.context import Door
from kernel.errors import (
    ConflictError,
    DomainError,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    NotFoundError,
    StaleError,
    TransitionError,
)
from memory.models import Message, Turn
from scopes.selectors import identify_person
from tests.conftest import TEAM, Player, a_turn, make_agent, make_cast, make_person
from tests.governance.made import failing, made, note_of, note_on_domain
from tests.guards.write_guard import unguarded
from tests.threads import at_once

GLOBAL = {"type": "global", "id": "all"}
ELEVATED = {"scope_context": {"read": [GLOBAL], "default_write": GLOBAL}}


def queue_rule(*names: str, **fields: object) -> dict:
    return {"review": {"queue": [{"name": "wait", "actions": list(names), **fields}]}}


@pytest.fixture
def queued(cast, monkeypatch):
    """A queued `note` of the agent: its proposal id."""
    monkeypatch.setitem(actions._registry, "note", made())
    cast.operator.do("set_policy", domain_id=TEAM, document=queue_rule("note"), reason="r")
    return cast.agent.do("note", note="first")["proposal"]["id"]


def test_it_works(cast, queued):
    assert note_of() is None
    row = Proposal.objects.get()
    assert (row.state, row.action, row.rule, row.proposer_name) == ("open", "note", "review.queue:wait", "agent")
    assert row.changes == [{"table": "domains", "id": TEAM, "before": {}, "after": {"note": "first"}}]
    decided = cast.reviewer.do("approve_proposal", id=queued, reason="good")
    assert note_of() == "first"
    assert decided["result"]["note"] == "first"
    assert decided["proposal"]["state"] == "approved"
    assert [(d["by"], d["verdict"], d["reason"]) for d in decided["proposal"]["decisions"]] == [
        ("reviewer", "approved", "good")
    ]


def test_queued_denied_and_approved_calls_are_entered(cast, queued):
    entry = AuditEntry.objects.latest("id")
    assert (entry.outcome, entry.rule, entry.changes, str(entry.proposal_id)) == (
        "queued",
        "review.queue:wait",
        [],
        queued,
    )
    cast.reviewer.do("approve_proposal", id=queued)
    carried, decided = AuditEntry.objects.order_by("-id")[:2][::-1]
    assert (carried.action, carried.actor_name, carried.on_behalf_of, carried.rule) == (
        "note",
        "reviewer",
        "agent",
        "approved",
    )
    assert carried.changes[0]["after"] == {"note": "first"}
    assert (decided.action, decided.actor_name, str(decided.proposal_id)) == ("approve_proposal", "reviewer", queued)
    assert carried.request_id == decided.request_id


def test_only_the_types_of_the_rule_wait(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=queue_rule("commit_*", scope_types=["global"]), reason="r")
    assert cast.agent.call("commit_turn", a_turn()).status == 200
    assert cast.agent.call("commit_turn", a_turn(**ELEVATED)).status == 202
    assert cast.agent.call("search_memory", domain_id=TEAM, session_id="s1", query="x").status == 200


def test_people_need_not_wait_unless_named(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=queue_rule("commit_turn"), reason="r")
    assert cast.operator.call("commit_turn", a_turn()).status == 200
    document = queue_rule("commit_turn", actor_kinds=["person"])
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    assert cast.operator.call("commit_turn", a_turn()).status == 202


def test_a_right_that_is_missing_is_refused_and_not_queued(cast, queued):
    with pytest.raises(ForbiddenError):
        cast.reader.call("note", note="mine")
    assert Proposal.objects.count() == 1


def test_an_invalid_call_is_refused_and_not_queued(cast, queued):
    with pytest.raises(InvalidInputError):
        cast.agent.call("note", note=7)
    assert Proposal.objects.count() == 1


def test_a_call_that_would_fail_is_refused_and_not_queued(cast, queued, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made(failing(ConflictError("taken"))))
    with pytest.raises(ConflictError):
        cast.agent.call("note", note="second")
    assert Proposal.objects.count() == 1
    assert AuditEntry.objects.latest("id").outcome == "failed"


def test_the_same_call_again_is_the_same_proposal(cast, queued):
    again = cast.agent.do("note", note="first")
    assert (again["proposal"]["id"], again["deduplicated"]) == (queued, True)


def test_the_same_call_of_another_principal_is_its_own_proposal(cast, queued):
    """Equal words need not mean the same place: a session of the legacy domain belongs to its principal."""
    other = make_agent("other")
    theirs = other.do("note", note="first")
    assert theirs["proposal"]["id"] != queued
    assert theirs["proposal"]["proposed_by"] == "other"


def test_equal_turns_of_two_legacy_principals_are_both_kept(cast):
    one, two = make_agent("one", "legacy"), make_agent("two", "legacy")
    cast.operator.do("set_policy", domain_id="legacy", document=queue_rule("commit_turn"), reason="r")
    for agent in (one, two):
        cast.operator.do("approve_proposal", id=agent.do("commit_turn", a_turn(domain_id="legacy"))["proposal"]["id"])
    for agent in (one, two):
        assert len(agent.do("list_turns", session_id="s1")["turns"]) == 1


def test_a_rejection_needs_a_reason(cast, queued):
    for reason in ("", " ", "\n", None):
        with pytest.raises(InvalidInputError):
            cast.reviewer.call("reject_proposal", id=queued, reason=reason)
    with pytest.raises(InvalidInputError):
        cast.reviewer.call("reject_proposal", id=queued)
    decided = cast.reviewer.do("reject_proposal", id=queued, reason="not ours")
    assert decided["proposal"]["state"] == "rejected"
    assert note_of() is None
    assert cast.agent.do("get_proposal", id=queued)["decisions"][0]["reason"] == "not ours"


def test_a_final_state_is_final(cast, queued):
    cast.reviewer.do("reject_proposal", id=queued, reason="no")
    for action in ("approve_proposal", "reject_proposal"):
        with pytest.raises(TransitionError, match="already rejected by reviewer"):
            cast.reviewer.call(action, id=queued, reason="again")
    with pytest.raises(TransitionError):
        cast.agent.call("withdraw_proposal", id=queued)
    assert Decision.objects.count() == 1


def test_after_a_withdrawal_the_same_call_is_a_new_proposal(cast, queued):
    cast.agent.do("withdraw_proposal", id=queued)
    assert cast.agent.do("note", note="first")["proposal"]["id"] != queued


def test_a_proposer_takes_its_proposal_back(cast, queued):
    assert cast.agent.do("withdraw_proposal", id=queued)["proposal"]["state"] == "withdrawn"
    with pytest.raises(TransitionError):
        cast.reviewer.call("approve_proposal", id=queued)
    assert note_of() is None


def test_nobody_else_takes_it_back(cast, queued):
    with pytest.raises(ForbiddenError):
        cast.reviewer.call("withdraw_proposal", id=queued)
    with pytest.raises(NotFoundError):
        cast.reader.call("withdraw_proposal", id=queued)


def test_a_key_never_decides(cast, queued):
    for action in ("approve_proposal", "reject_proposal"):
        with pytest.raises(ForbiddenError):
            cast.agent.call(action, id=queued, reason="mine")
        with pytest.raises(NotFoundError):
            cast.reader.call(action, id=queued, reason="mine")


def test_the_servers_own_shell_never_decides(cast, queued):
    """The reviewer is a signed-in person, also on the command line."""
    for action in ("approve_proposal", "reject_proposal"):
        with pytest.raises(ForbiddenError, match="signed-in person"):
            gate.call(action, {"id": queued, "reason": "r"}, ctx=system_ctx("shell", Door.CLI))
    assert Proposal.objects.get().state == "open"


def test_nobody_approves_what_they_proposed(cast, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made())
    document = queue_rule("note", actor_kinds=["person", "agent"])
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    proposal = cast.operator.do("note", note="mine")["proposal"]["id"]
    with pytest.raises(ForbiddenError, match="Nobody approves"):
        cast.operator.call("approve_proposal", id=proposal)
    cast.reviewer.do("approve_proposal", id=proposal)
    assert note_of() == "mine"


def test_nobody_approves_what_their_own_key_proposed(cast, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made())
    owned = make_agent("owned", owner="reviewer")
    cast.operator.do("set_policy", domain_id=TEAM, document=queue_rule("note"), reason="r")
    proposal = owned.do("note", note="mine")["proposal"]["id"]
    with pytest.raises(ForbiddenError, match="own key"):
        cast.reviewer.call("approve_proposal", id=proposal)
    assert Proposal.objects.get().state == "open"
    assert Proposal.objects.get().last_error == ""
    cast.operator.do("approve_proposal", id=proposal)


def test_a_reviewer_sees_only_what_is_assigned(cast, queued):
    elsewhere = make_person("elsewhere-reviewer", "elsewhere")
    narrow = make_person("narrow", TEAM, "project:p1")
    for player in (elsewhere, narrow, cast.stranger, cast.reader):
        assert player.do("list_proposals")["proposals"] == []
        with pytest.raises(NotFoundError):
            player.call("get_proposal", id=queued)
    for player in (cast.agent, cast.reviewer, cast.operator):
        assert [row["id"] for row in player.do("list_proposals")["proposals"]] == [queued]
        assert player.do("get_proposal", id=queued)["input"]["note"] == "first"


def test_another_revision_is_stale(cast, queued):
    for action in ("approve_proposal", "reject_proposal"):
        with pytest.raises(StaleError):
            cast.reviewer.call(action, id=queued, revision=2, reason="r")
    assert cast.reviewer.do("approve_proposal", id=queued, revision=1)["proposal"]["state"] == "approved"


def test_what_changed_meanwhile_is_stale_and_stays_open(cast, queued, monkeypatch):
    cast.operator.do("note", note="meanwhile")
    with pytest.raises(StaleError):
        cast.reviewer.call("approve_proposal", id=queued)
    assert note_of() == "meanwhile"
    row = Proposal.objects.get()
    assert (row.state, row.decisions.count()) == ("open", 0)
    assert "changed since" in row.last_error
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.outcome, entry.code, entry.proposal_id) == (
        "approve_proposal",
        "failed",
        "stale",
        row.id,
    )
    assert not AuditEntry.objects.filter(action="note", rule="approved").exists()


def test_an_apply_that_fails_stays_open_with_its_error(cast, queued, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made(failing(ConflictError("the shelf is full"))))
    with pytest.raises(ConflictError):
        cast.reviewer.call("approve_proposal", id=queued)
    row = Proposal.objects.get()
    assert (row.state, row.last_error, row.decisions.count()) == ("open", "the shelf is full", 0)
    assert note_of() is None
    monkeypatch.setitem(actions._registry, "note", made())
    assert cast.reviewer.do("approve_proposal", id=queued)["proposal"]["last_error"] == ""
    assert note_of() == "first"


def test_a_key_that_was_used_before_is_no_fault_of_the_proposal(cast, queued, monkeypatch):
    third = cast.agent.do("note", note="third")["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=queued, idempotency_key="k")
    with pytest.raises(IdempotencyConflictError):
        cast.reviewer.do("approve_proposal", id=third, idempotency_key="k")
    assert Proposal.objects.get(pk=third).last_error == ""
    with unguarded():
        IdempotencyRecord.objects.filter(key="k").update(answer=mark(third))
    with pytest.raises(ConflictError, match="erased since"):
        cast.reviewer.do("approve_proposal", id=third, idempotency_key="k")
    monkeypatch.setattr(services, "earlier_answer", lambda *given: None)
    with pytest.raises(ConflictError, match="under way"):
        cast.reviewer.do("approve_proposal", id=third, idempotency_key="k")
    assert Proposal.objects.get(pk=third).last_error == ""


def test_an_apply_that_breaks_stays_open_and_tells_nothing_internal(cast, queued, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made(failing(ZeroDivisionError("secret"))))
    with pytest.raises(ZeroDivisionError):
        cast.reviewer.call("approve_proposal", id=queued)
    row = Proposal.objects.get()
    assert row.state == "open"
    assert row.last_error
    assert "secret" not in row.last_error


def test_a_proposer_without_grant_is_not_carried_out(cast, queued):
    cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=[])
    with pytest.raises(ConflictError, match="may no longer"):
        cast.reviewer.call("approve_proposal", id=queued)
    assert note_of() is None
    assert "may no longer" in Proposal.objects.get().last_error


def test_a_proposer_with_less_rights_is_not_carried_out(cast, queued):
    cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read"])
    with pytest.raises(ConflictError, match="may no longer"):
        cast.reviewer.call("approve_proposal", id=queued)
    assert note_of() is None
    assert Proposal.objects.get().state == "open"


def test_a_proposer_whose_key_was_revoked_is_not_carried_out(cast, queued):
    cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1])
    with pytest.raises(ConflictError, match="may no longer"):
        cast.reviewer.call("approve_proposal", id=queued)
    assert note_of() is None


def test_a_proposer_who_changed_its_key_is_carried_out(cast, queued):
    cast.operator.do("issue_key", name="agent")
    cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1])
    cast.reviewer.do("approve_proposal", id=queued)
    assert note_of() == "first"


def test_a_reviewer_who_was_switched_off_decides_nothing(cast, queued):
    user = get_user_model().objects.get(username="reviewer")
    user.is_active = False
    user.save()
    with pytest.raises(NotFoundError):
        Player("reviewer", identify_person(user)).call("approve_proposal", id=queued)


def test_an_approved_commit_is_the_agents_own(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=queue_rule("commit_turn"), reason="r")
    proposal = cast.agent.do("commit_turn", a_turn("queued text"))["proposal"]["id"]
    assert not Message.objects.exists()
    cast.reviewer.do("approve_proposal", id=proposal)
    turn = Turn.objects.get()
    assert (turn.author_name, turn.session.scope.owner) == ("agent", cast.agent.identity.actor.id)
    assert (
        cast.agent.do("list_turns", domain_id=TEAM, session_id="s1")["turns"][0]["messages"][0]["content"]
        == "queued text"
    )


def test_a_policy_change_can_itself_be_queued(cast):
    document = queue_rule("set_policy", actor_kinds=["person"])
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="four eyes")
    answer = cast.operator.call("set_policy", domain_id=TEAM, document={}, reason="open up")
    assert answer.status == 202
    second = make_person("second", is_superuser=True)
    second.do("approve_proposal", id=str(answer.queued.proposal.id))
    assert cast.operator.do("get_policy", domain_id=TEAM)["document"]["review"]["queue"] == []


@pytest.mark.parametrize("state", ["approved", "rejected"])
@pytest.mark.django_db(transaction=True)
def test_of_two_reviewers_exactly_one_wins_and_the_other_is_told_who(monkeypatch, state):
    cast = make_cast()
    second = make_person("second", TEAM)
    monkeypatch.setitem(actions._registry, "note", made(note_on_domain))
    cast.operator.do("set_policy", domain_id=TEAM, document=queue_rule("note"), reason="r")
    queued = cast.agent.do("note", note="first")["proposal"]["id"]
    works = {
        "reviewer": lambda: cast.reviewer.do("approve_proposal", id=queued),
        "second": lambda: second.do(
            "approve_proposal" if state == "approved" else "reject_proposal", id=queued, reason="r"
        ),
    }
    outcomes = dict(zip(works, at_once(list(works.values())), strict=True))
    won = [name for name, outcome in outcomes.items() if not isinstance(outcome, DomainError)]
    assert len(won) == 1
    (lost,) = set(works) - set(won)
    assert isinstance(outcomes[lost], TransitionError)
    assert f"by {won[0]}" in outcomes[lost].message
    assert Decision.objects.get().by_name == won[0]
    assert (note_of() == "first") == (Proposal.objects.get().state == "approved")
    assert Proposal.objects.get().last_error == ""


@pytest.mark.django_db(transaction=True)
def test_the_same_call_queued_at_once_is_one_proposal(monkeypatch):
    cast = make_cast()
    monkeypatch.setitem(actions._registry, "note", made())
    cast.operator.do("set_policy", domain_id=TEAM, document=queue_rule("note"), reason="r")
    answers = at_once([lambda: cast.agent.do("note", note="same") for _ in range(4)])
    assert Proposal.objects.count() == 1
    assert {answer["proposal"]["id"] for answer in answers} == {str(Proposal.objects.get().id)}
    assert sum(not answer["deduplicated"] for answer in answers) == 1
