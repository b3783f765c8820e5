"""Decisions explained, imagined, and tried again by a draft: the same `decide`, the rule and version named."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model

from governance.models import AuditEntry, PolicyVersion
from kernel import clock
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from tests.conftest import ELSEWHERE, TEAM, a_turn, make_agent, make_person
from tests.guards.world import stored
from tests.guards.write_guard import unguarded
from tests.memory.promoting import known, promote

GLOBALS = {"review": {"queue": [{"name": "globals", "actions": ["commit_turn"], "scope_types": ["global"]}]}}
EVERYTHING = {"review": {"queue": [{"name": "all", "actions": ["commit_*"]}]}}
GLOBAL = {"type": "global", "id": "all"}
IN_GLOBAL = {"scope_context": {"read": [GLOBAL], "default_write": GLOBAL}}


def newest(action: str) -> str:
    return str(AuditEntry.objects.filter(action=action).latest("id").pk)


def what_if(player, **fields) -> dict:
    asked = {"name": "agent", "action": "commit_turn", "domain_id": TEAM, "scope": "global:all", **fields}
    answer: dict = player.do("explain_policy", what_if=asked)
    return answer


def test_it_works(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))
    told = cast.reviewer.do("explain_policy", audit_entry_id=newest("commit_turn"))
    assert (told["verdict"], told["rule"], told["policy_version"]) == ("queue", "review.queue:globals", "team/v1")
    assert told["words"][-1] == (
        "Held for review by the policy rule 'globals': calls of commit_turn by agent on scopes of type global wait for "
        "a person."
    )
    assert told["now"] == {
        "verdict": "queue",
        "rule": "review.queue:globals",
        "policy_version": "team/v1",
        "differs": False,
    }


def test_an_allowed_call(cast):
    cast.agent.do("commit_turn", a_turn())
    told = cast.reviewer.do("explain_policy", audit_entry_id=newest("commit_turn"))
    assert (told["verdict"], told["rule"], told["policy_version"]) == ("allow", "right:write", "defaults")
    assert told["words"] == [
        "A call of commit_turn by an agent through python, in domain team.",
        "It needs the right write on scope session:s1, which is held (held: read, write).",
        "Allowed: the right is held, and no rule of review.queue matches.",
    ]


def test_a_denied_call(cast):
    with pytest.raises(ForbiddenError) as refused:
        cast.reader.do("commit_turn", a_turn())
    told = cast.reviewer.do("explain_policy", audit_entry_id=newest("commit_turn"))
    assert (told["verdict"], told["code"], told["rule"]) == ("deny", "forbidden", "missing_right:write")
    assert told["message"] == refused.value.message
    assert told["words"][-1] == "Denied: the right write is missing."


def test_a_call_that_was_not_readable_says_that_nothing_was_decided(cast):
    with pytest.raises(InvalidInputError):
        cast.agent.do("commit_turn", domain_id=TEAM, surprise=1)
    told = cast.reviewer.do("explain_policy", audit_entry_id=newest("commit_turn"))
    assert (told["verdict"], told["code"], told["facts"], told["now"]) == (None, "invalid_input", {}, None)
    assert "before it came to a decision" in told["words"][0]


def test_a_later_policy_is_told_apart_from_the_one_that_decided(cast):
    cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    told = cast.reviewer.do("explain_policy", audit_entry_id=newest("commit_turn"))
    assert (told["verdict"], told["policy_version"]) == ("allow", "defaults")
    assert (told["now"]["verdict"], told["now"]["policy_version"], told["now"]["differs"]) == (
        "queue",
        "team/v1",
        True,
    )


def test_a_rule_that_is_gone_is_told_as_it_was(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="no more")
    told = cast.reviewer.do("explain_policy", audit_entry_id=newest("commit_turn"))
    assert "on scopes of type global wait for a person" in told["words"][-1]
    assert told["now"]["verdict"] == "allow"


def test_a_proposal_is_explained_to_its_reviewer_and_its_proposer_and_to_nobody_else(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    proposal = cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))["proposal"]["id"]
    for player in (cast.reviewer, cast.agent):
        assert player.do("explain_policy", proposal_id=proposal)["rule"] == "review.queue:globals"
    for player in (cast.stranger, cast.reader, make_person("other", ELSEWHERE)):
        with pytest.raises(NotFoundError, match="No proposal"):
            player.do("explain_policy", proposal_id=proposal)


@pytest.mark.parametrize(
    ("fields", "verdict", "rule"),
    [
        ({}, "queue", "review.queue:globals"),
        ({"scope": "project:x"}, "allow", "right:write"),
        ({"scope": "session:new"}, "allow", "right:write"),
        ({"name": "reader"}, "deny", "missing_right:write"),
        ({"action": "approve_proposal", "scope": "*"}, "deny", "missing_right:decide"),
        ({"name": "reviewer", "kind": "person", "action": "approve_proposal", "scope": "*"}, "allow", "right:decide"),
        ({"name": "reviewer", "kind": "person"}, "deny", "missing_right:write"),
    ],
)
def test_what_if(cast, fields, verdict, rule):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    told = what_if(cast.operator, **fields)
    assert (told["verdict"], told["rule"], told["policy_version"]) == (verdict, rule, "team/v1")
    assert told["now"] is None


def test_what_if_answers_what_then_happens(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    imagined = what_if(cast.operator, door="python")
    cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))
    real = AuditEntry.objects.filter(action="commit_turn").latest("id")
    assert (imagined["rule"], imagined["policy_version"]) == (real.rule, real.policy_version)
    assert imagined["facts"] == {**real.facts, "scopes": imagined["facts"]["scopes"]}
    assert (
        imagined["facts"]["scopes"][0]
        in [{"name": scope["name"], "held": tuple(scope["held"])} for scope in real.facts["scopes"]]
        or imagined["facts"]["scopes"][0] in real.facts["scopes"]
    )


def test_a_promotion_is_imagined_from_where_it_starts_to_where_it_is_decided(cast):
    make_person("ann", TEAM, "project:x")
    ask = {"name": "ann", "kind": "person", "action": "promote_to_scope", "scope": "project:x"}
    assert what_if(cast.operator, **ask)["verdict"] == "allow"
    told = what_if(cast.operator, **ask, target_scope="global:all")
    assert (told["verdict"], told["rule"], told["facts"]["place"]) == ("deny", "not_visible", "global:all")
    both = what_if(cast.operator, **{**ask, "action": "narrow_item"}, target_scope="task:t")
    assert (both["verdict"], [each["name"] for each in both["facts"]["scopes"]]) == ("deny", ["project:x", "task:t"])


@pytest.mark.parametrize("action", ["resolve_conflict", "reopen_conflict"])
@pytest.mark.parametrize(
    ("there", "rule"),
    [([], "not_visible"), (["read"], "missing_right:promote"), (["read", "promote"], "always_reviewed")],
)
def test_a_decision_on_a_conflict_needs_its_right_on_both_sides(cast, action, there, rule):
    guest = make_agent("guest", pattern="project:x", rights=["read", "promote"])
    cast.operator.do("grant_access", name="guest", domain_id=TEAM, pattern="global:all", rights=there)
    for ends in (("project:x", "global:all"), ("global:all", "project:x")):
        told = what_if(cast.operator, name=guest.name, action=action, scope=ends[0], target_scope=ends[1])
        assert (told["rule"], told["facts"]["place"]) == (rule, ends[1])


def test_a_promotion_to_where_one_may_not_read_is_not_found(cast):
    guest = make_agent("guest", pattern="project:shop", rights=["read", "write", "promote"])
    ask = {"name": "guest", "action": "promote_to_scope", "scope": "project:shop", "target_scope": "global:all"}
    told = what_if(cast.operator, **ask)
    assert (told["verdict"], told["rule"], told["code"]) == ("deny", "not_visible", "not_found")
    with pytest.raises(NotFoundError, match="No scope 'global:all'") as refused:
        promote(guest, known(guest, scope="project:shop"), "global:all")
    assert told["message"] == refused.value.message
    assert what_if(cast.operator, **{**ask, "scope": "global:all"})["rule"] == "not_visible"
    cast.operator.do("grant_access", name="guest", domain_id=TEAM, pattern="global:all", rights=["read"])
    told = what_if(cast.operator, **ask)
    assert (told["verdict"], told["rule"], told["facts"]["place"]) == ("queue", "always_reviewed", "global:all")


@pytest.mark.parametrize("given", [{"scope": "planet:x"}, {"target_scope": "planet:x"}])
def test_a_type_of_scope_that_the_domain_does_not_know_is_refused(cast, given):
    with pytest.raises(InvalidInputError, match="Unknown scope type 'planet'"):
        what_if(cast.operator, **given)


def test_who_asks_reviews_both_ends(cast):
    ann = make_person("ann", TEAM, "project:x")
    with pytest.raises(NotFoundError):
        what_if(ann, action="promote_to_scope", scope="project:x", target_scope="global:all")


def test_a_switched_off_principal_cannot_be_asked_about(cast):
    with pytest.raises(NotFoundError):
        what_if(cast.operator, name="nobody")
    get_user_model().objects.filter(username="reviewer").update(is_active=False)
    told = what_if(cast.operator, name="reviewer", kind="person", action="approve_proposal", scope="*")
    assert told["verdict"] == "deny"


def test_a_reviewer_asks_about_their_own_scopes_and_people_only(cast):
    ann = make_person("ann", TEAM, "project:x")
    with pytest.raises(NotFoundError):
        what_if(ann, scope="project:y")
    with pytest.raises(NotFoundError):
        what_if(ann, scope="*")
    with pytest.raises(NotFoundError, match="No active agent 'stranger' that you can see"):
        what_if(cast.reviewer, name="stranger")
    with pytest.raises(NotFoundError, match="No active person 'operator' that you can see"):
        what_if(cast.reviewer, name="operator", kind="person")
    with pytest.raises(NotFoundError, match="No domain 'elsewhere'"):
        what_if(cast.reviewer, domain_id=ELSEWHERE)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {
            "audit_entry_id": "01890000-0000-7000-8000-000000000001",
            "proposal_id": "01890000-0000-7000-8000-000000000001",
        },
        {"what_if": {"name": "agent"}},
        {"what_if": {"name": "agent", "action": "commit_turn", "kind": "system", "domain_id": TEAM}},
        {"audit_entry_id": "x"},
    ],
)
def test_a_question_that_is_none_is_refused(cast, given):
    with pytest.raises(InvalidInputError):
        cast.operator.do("explain_policy", given)


def test_an_unknown_action_is_not_found(cast):
    with pytest.raises(NotFoundError, match="There is no action"):
        what_if(cast.operator, action="none_such")


def replay(player, document: dict = EVERYTHING, **fields) -> dict:
    answer: dict = player.do("replay_policy", domain_id=TEAM, document=document, **fields)
    return answer


def test_a_draft_is_tried_on_what_was_decided(cast):
    for number in range(5):
        cast.agent.do("commit_turn", a_turn(f"text {number}"))
    with pytest.raises(ForbiddenError):
        cast.reader.do("commit_turn", a_turn())
    before = stored()
    found = replay(cast.reviewer)
    assert stored() == before
    assert not PolicyVersion.objects.exists()
    (line,) = found["lines"]
    assert (line["action"], line["verdict"], line["rule"]) == ("commit_turn", "allow", "right:write")
    assert (line["new_verdict"], line["new_rule"], line["count"]) == ("queue", "review.queue:all", 5)
    assert next(row["audit_entry_id"] for row in line["examples"]) == str(
        AuditEntry.objects.filter(action="commit_turn", outcome="allowed").latest("id").pk
    )
    assert len(line["examples"]) == 3
    assert (found["otherwise"], found["complete"]) == (5, True)
    assert found["looked_at"] >= found["decided"] > 5


def test_a_draft_that_equals_the_policy_in_force_turns_nothing(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))
    cast.agent.do("commit_turn", a_turn())
    assert replay(cast.reviewer, GLOBALS)["lines"] == []


def test_a_draft_that_loosens_shows_what_would_no_longer_wait(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))
    (line,) = replay(cast.reviewer, {})["lines"]
    assert (line["verdict"], line["rule"], line["new_verdict"]) == ("queue", "review.queue:globals", "allow")


def test_what_the_policy_in_force_changed_already_is_no_effect_of_a_draft(cast):
    """Calls from before the last change of the policy: the draft is held against what would happen to them now."""
    cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))
    cast.agent.do("commit_turn", a_turn())
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    assert replay(cast.reviewer, GLOBALS)["lines"] == []
    (line,) = replay(cast.reviewer)["lines"]
    assert (line["verdict"], line["rule"], line["new_rule"]) == ("allow", "right:write", "review.queue:all")
    assert line["count"] == 1, "the other one waits by now too"
    (loosened,) = replay(cast.reviewer, {})["lines"]
    assert (loosened["verdict"], loosened["new_verdict"], loosened["count"]) == ("queue", "allow", 1)


def test_an_approved_call_stays_approved(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=GLOBALS, reason="shared")
    proposal = cast.agent.do("commit_turn", a_turn(**IN_GLOBAL))["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    assert replay(cast.reviewer, GLOBALS)["lines"] == []


def test_a_draft_for_the_installation_is_tried_on_every_domain(cast):
    cast.agent.do("commit_turn", a_turn())
    cast.stranger.do("commit_turn", a_turn(domain_id=ELSEWHERE))
    found = cast.operator.do("replay_policy", document=EVERYTHING)
    assert found["otherwise"] == 2
    assert {row["domain_id"] for row in found["lines"][0]["examples"]} == {TEAM, ELSEWHERE}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": []}}, reason="own rules")
    assert cast.operator.do("replay_policy", document=EVERYTHING)["otherwise"] == 1


def test_only_the_last_days_count_and_only_so_many(cast):
    cast.agent.do("commit_turn", a_turn("old"))
    with unguarded():
        AuditEntry.objects.filter(action="commit_turn").update(at=clock.now() - timedelta(days=8))
    cast.agent.do("commit_turn", a_turn("new"))
    assert replay(cast.reviewer, days=7)["otherwise"] == 1
    assert replay(cast.reviewer, days=9)["looked_at"] > 0
    cut = replay(cast.reviewer, limit=1)
    assert (cut["looked_at"], cut["complete"]) == (1, False)


@pytest.mark.parametrize("fields", [{"days": 0}, {"days": 31}, {"limit": 0}, {"limit": 50_001}])
def test_its_bounds_are_stated(cast, fields):
    with pytest.raises(InvalidInputError):
        replay(cast.reviewer, **fields)


def test_a_draft_that_is_no_policy_is_refused(cast):
    with pytest.raises(InvalidInputError, match="Unknown policy section"):
        replay(cast.reviewer, {"none": {}})


def test_who_may_not_read_the_record_replays_nothing(cast):
    with pytest.raises(ForbiddenError):
        replay(cast.agent)
    with pytest.raises(NotFoundError):
        replay(cast.stranger)


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("replay_policy", {"document": {}}),
        ("get_policy", {}),
        ("explain_policy", {"what_if": {"name": "agent", "action": "commit_turn"}}),
    ],
)
def test_who_named_no_domain_is_told_which_to_name(cast, action, given):
    with pytest.raises(
        ForbiddenError, match=r"over the installation.* Name a domain in `domain_id`: you hold it in team"
    ):
        cast.reviewer.do(action, given)
    with pytest.raises(ForbiddenError) as refused:
        cast.reader.do(action, given)
    assert "Name a domain" not in refused.value.message, "it would not help: the right is held nowhere"


def test_a_call_that_takes_no_domain_is_not_told_to_name_one(cast):
    with pytest.raises(ForbiddenError) as refused:
        cast.reviewer.do("expire_proposals")
    assert "Name a domain" not in refused.value.message


def test_a_policy_change_can_itself_wait_for_a_second_person(cast):
    rule = {"name": "policy", "actions": ["set_policy"], "actor_kinds": ["person"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="four eyes")
    answer = cast.operator.call("set_policy", domain_id=TEAM, document={}, reason="loosen")
    assert answer.status == 202
    assert PolicyVersion.objects.count() == 1
    proposal = answer.body()["proposal"]["id"]
    with pytest.raises(ForbiddenError, match="Nobody approves"):
        cast.operator.do("approve_proposal", id=proposal)
    cast.reviewer.do("approve_proposal", id=proposal)
    assert PolicyVersion.objects.count() == 2
