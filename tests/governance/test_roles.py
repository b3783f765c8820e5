"""Reviewers, auditors and operators: what each role may do, and that the group is its ceiling."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group

from governance.models import AuditEntry
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from scopes.models import ReviewerAssignment
from scopes.selectors import identify_person
from tests.conftest import ELSEWHERE, TEAM, Player, a_turn, make_agent, make_person

RULE = {"review": {"queue": [{"name": "all", "actions": ["commit_turn"]}]}}


def person(cast, name: str, role: str, domain_id: str = TEAM, pattern: str = "*") -> Player:
    """A new account with one assignment."""
    make_person(name, is_staff=True)
    cast.operator.do("assign_reviewer", user=name, domain_id=domain_id, pattern=pattern, role=role)
    return again(name)


def again(name: str) -> Player:
    """The person as they are recognised now."""
    return Player(name, identify_person(get_user_model().objects.get(username=name)))


@pytest.fixture
def proposal(cast) -> str:
    cast.operator.do("set_policy", domain_id=TEAM, document=RULE, reason="reviewed")
    return str(cast.agent.do("commit_turn", a_turn())["proposal"]["id"])


def test_it_works(cast, proposal):
    person(cast, "ann", "reviewer").do("approve_proposal", id=proposal)


def test_an_auditor_reads_the_record_and_the_policies(cast, proposal):
    lee = person(cast, "lee", "auditor")
    assert "commit_turn" in {row["action"] for row in lee.do("list_audit", domain_id=TEAM)["entries"]}
    assert lee.do("get_policy", domain_id=TEAM)["version"] == "team/v1"
    assert lee.do("replay_policy", domain_id=TEAM, document={})["otherwise"] == 1
    assert lee.do("export_audit", domain_id=TEAM)["rows"] > 0
    asked = {"name": "agent", "action": "commit_turn", "domain_id": TEAM}
    assert lee.do("explain_policy", what_if=asked)["verdict"] == "queue"


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("approve_proposal", {}),
        ("reject_proposal", {"reason": "no"}),
        ("get_proposal", {}),
    ],
)
def test_an_auditor_decides_nothing(cast, proposal, action, given):
    lee = person(cast, "lee", "auditor")
    with pytest.raises(NotFoundError, match="No proposal"):
        lee.do(action, id=proposal, **given)


def test_an_auditor_reads_no_memory_and_changes_nothing(cast):
    cast.agent.do("commit_turn", a_turn())
    lee = person(cast, "lee", "auditor")
    for action in ("list_sessions", "list_memory_items", "list_scopes"):
        answer = lee.do(action, domain_id=TEAM)
        assert [value for value in answer.values() if isinstance(value, list)] == [[]], action
    with pytest.raises((NotFoundError, ForbiddenError)):
        lee.do("set_policy", domain_id=TEAM, document={}, reason="mine")
    with pytest.raises((NotFoundError, ForbiddenError)):
        lee.do("search_memory", domain_id=TEAM, session_id="s1", query="database")


def test_an_operator_of_a_domain_gives_access_and_sets_policies_there(cast):
    kim = person(cast, "kim", "operator")
    kim.do("set_policy", domain_id=TEAM, document={}, reason="mine")
    kim.do("grant_access", name="reader", domain_id=TEAM, rights=["read", "write"])
    kim.do("assign_reviewer", user="reviewer", domain_id=TEAM, pattern="project:x")
    for action, given in (
        ("set_policy", {"document": {}, "reason": "all"}),
        ("create_principal", {"name": "new", "domain_id": TEAM}),
        ("issue_key", {"name": "reader"}),
        ("list_principals", {}),
        ("verify_audit", {}),
    ):
        with pytest.raises(ForbiddenError):
            kim.do(action, given)


def test_an_operator_of_a_domain_learns_nothing_of_another(cast):
    kim = person(cast, "kim", "operator")
    with pytest.raises(NotFoundError, match="No principal 'stranger' that you can see"):
        kim.do("grant_access", name="stranger", domain_id=TEAM, rights=["read"])
    with pytest.raises(NotFoundError, match="No principal 'nobody' that you can see"):
        kim.do("grant_access", name="nobody", domain_id=TEAM, rights=["read"])
    with pytest.raises(NotFoundError, match="No domain"):
        kim.do("set_policy", domain_id=ELSEWHERE, document={}, reason="theirs")
    make_agent("both", ELSEWHERE)
    cast.operator.do("grant_access", name="both", domain_id=TEAM, rights=["read"])
    shown = kim.do("grant_access", name="both", domain_id=TEAM, rights=["read", "write"])["principal"]["grants"]
    assert {grant["domain_id"] for grant in shown} == {TEAM}


def test_an_operator_does_not_decide(cast, proposal):
    with pytest.raises(NotFoundError):
        person(cast, "kim", "operator").do("approve_proposal", id=proposal)


def test_out_of_the_group_an_assignment_counts_for_nothing(cast, proposal):
    ann = person(cast, "ann", "reviewer")
    get_user_model().objects.get(username="ann").groups.clear()
    with pytest.raises(NotFoundError):
        again("ann").do("approve_proposal", id=proposal)
    assert again("ann").identity.reach == ()
    get_user_model().objects.get(username="ann").groups.add(Group.objects.get_or_create(name="auditor")[0])
    assert again("ann").identity.reach == ()  # a group gives nothing that was not assigned
    assert ann.identity.reach


def test_one_person_may_have_two_roles_in_one_place(cast, proposal):
    person(cast, "ann", "reviewer")
    cast.operator.do("assign_reviewer", user="ann", domain_id=TEAM, role="operator")
    ann = again("ann")
    ann.do("reject_proposal", id=proposal, reason="not yet")
    ann.do("set_policy", domain_id=TEAM, document={}, reason="mine")
    cast.operator.do("unassign_reviewer", user="ann", domain_id=TEAM, role="operator")
    with pytest.raises(ForbiddenError):
        again("ann").do("set_policy", domain_id=TEAM, document={}, reason="mine")
    assert again("ann").do("list_proposals", domain_id=TEAM)["proposals"]


def test_taking_an_assignment_away_works_at_once_and_leaves_its_record(cast, proposal):
    person(cast, "ann", "reviewer")
    answer = cast.operator.do("unassign_reviewer", user="ann", domain_id=TEAM)
    assert answer["role"] == "reviewer"
    assert not ReviewerAssignment.objects.filter(user__username="ann").exists()
    assert not get_user_model().objects.get(username="ann").groups.exists()
    assert again("ann").identity.reach == ()
    tables = [change["table"] for change in AuditEntry.objects.latest("id").changes]
    assert tables == ["reviewer_assignments", "auth_user_groups"]
    cast.operator.do("unassign_reviewer", user="ann", domain_id=TEAM)
    assert AuditEntry.objects.latest("id").changes == []


def test_the_group_stays_while_another_assignment_of_the_role_is_left(cast):
    person(cast, "ann", "reviewer")
    cast.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE)
    cast.operator.do("unassign_reviewer", user="ann", domain_id=TEAM)
    assert [reach.domain_id for reach in again("ann").identity.reach] == [ELSEWHERE]


@pytest.mark.parametrize("role", ["", "boss", "superuser", 7])
def test_a_role_that_is_none_is_refused(cast, role):
    with pytest.raises(InvalidInputError, match="role"):
        cast.operator.do("assign_reviewer", user="reviewer", domain_id=TEAM, role=role)


def test_an_operator_of_some_scopes_does_not_operate_the_domain(cast):
    kim = person(cast, "kim", "operator", pattern="project:*")
    with pytest.raises((ForbiddenError, NotFoundError)):
        kim.do("set_policy", domain_id=TEAM, document={}, reason="mine")
    with pytest.raises((ForbiddenError, NotFoundError)):
        kim.do("assign_reviewer", user="kim", domain_id=TEAM, role="operator")
