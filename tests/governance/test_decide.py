"""The decision as a table, and its purity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.hooks import policy_sections
from governance.policies import (
    CareRule,
    Facts,
    Policies,
    QueueRule,
    ReviewPolicy,
    ScopeFacts,
    Verdict,
    decide,
    deciding,
    held_by,
    may_wait,
    verdict_of,
)
from kernel.actions import get
from kernel.context import ActorKind, Right

ALL = tuple(sorted(Right))
DECIDES = ("audit", "decide", "promote", "read")
RULE = QueueRule(name="wait", actions=["commit_*"], scope_types=["global", "project"])


def policies(*rules: QueueRule) -> Policies:
    sections = {name: model() for name, model in policy_sections().items()}
    return Policies("v", {**sections, "review": ReviewPolicy(queue=list(rules))})


def facts(*scopes: tuple[str, tuple[str, ...]], **fields: Any) -> Facts:
    base = Facts(
        action="commit_turn",
        effect="write",
        right="write",
        actor_kind="agent",
        door="http",
        domain_id="team",
        scopes=tuple(ScopeFacts(name, held) for name, held in scopes),
        approved=False,
    )
    return replace(base, **fields)


def person(*scopes: tuple[str, tuple[str, ...]], **fields: Any) -> Facts:
    """A call for which a person who decides there needs no other right."""
    return facts(*scopes, **{"actor_kind": "person", "action": "retract_item", "or_decide": True, **fields})


def test_it_works():
    decision = decide(facts(("session:s", ("read", "write"))), policies())
    assert (decision.verdict, decision.rule) == (Verdict.ALLOW, "right:write")


@pytest.mark.parametrize(
    ("case", "verdict", "rule", "code"),
    [
        (facts(("session:s", ("read", "write"))), "allow", "right:write", ""),
        (facts(), "allow", "right:write", ""),
        (facts(("project:p", ("read",))), "deny", "missing_right:write", "forbidden"),
        (facts(("project:p", ())), "deny", "not_visible", "not_found"),
        (facts(("project:p", ("erase",))), "deny", "not_visible", "not_found"),
        (facts(("session:s", ALL), ("project:p", ())), "deny", "not_visible", "not_found"),
        (facts(("session:s", ALL), ("project:p", ("read",))), "deny", "missing_right:write", "forbidden"),
        (facts(("*", ("read",)), right="operate"), "deny", "missing_right:operate", "forbidden"),
        (facts(("*", ()), right="operate", domain_id=None), "deny", "missing_right:operate", "forbidden"),
        (facts(("*", ALL), right="operate", domain_id=None), "allow", "right:operate", ""),
        (facts(("project:p", ALL)), "queue", "review.queue:wait", ""),
        (facts(("session:s", ALL), ("global:all", ALL)), "queue", "review.queue:wait", ""),
        (facts(("session:s", ALL)), "allow", "right:write", ""),
        (facts(("project:p", ALL), approved=True), "allow", "approved", ""),
        (facts(("project:p", ("read",)), approved=True), "deny", "missing_right:write", "forbidden"),
        (facts(("project:p", ()), approved=True), "deny", "not_visible", "not_found"),
        (facts(("project:p", ALL), effect="read", right="read"), "allow", "right:read", ""),
        (facts(("project:p", ALL), effect="destroy"), "queue", "review.queue:wait", ""),
        (facts(("project:p", ALL), action="set_policy"), "allow", "right:write", ""),
        (facts(("project:p", ALL), actor_kind="person"), "allow", "right:write", ""),
        (facts(("project:p", ALL), actor_kind="system"), "allow", "right:write", ""),
        (facts(("task:t", ALL)), "allow", "right:write", ""),
        (person(("task:t", DECIDES)), "allow", "right:decide", ""),
        (person(("task:t", DECIDES), ("task:u", ALL)), "allow", "right:decide", ""),
        (person(("task:t", ALL)), "allow", "right:write", ""),
        (person(("task:t", DECIDES), ("task:u", ("read", "promote"))), "deny", "missing_right:write", "forbidden"),
        (person(("task:t", DECIDES), ("task:u", ())), "deny", "not_visible", "not_found"),
        (person(("task:t", ("decide",))), "allow", "right:decide", ""),
        (person(("task:t", ("read", "audit"))), "deny", "missing_right:write", "forbidden"),
        (person(("task:t", DECIDES), or_decide=False), "deny", "missing_right:write", "forbidden"),
        (person(("task:t", DECIDES), actor_kind="agent"), "deny", "missing_right:write", "forbidden"),
        (person(("task:t", DECIDES), actor_kind="system"), "deny", "missing_right:write", "forbidden"),
    ],
)
def test_the_table(case, verdict, rule, code):
    decision = decide(case, policies(RULE))
    assert (decision.verdict, decision.rule, decision.code) == (verdict, rule, code)
    assert bool(decision.message) == (verdict == "deny")


def test_the_first_rule_that_matches_queues():
    second = QueueRule(name="second", actions=["*"])
    found = decide(facts(("project:p", ALL)), policies(RULE, second))
    assert found.rule == "review.queue:wait"
    assert decide(facts(("task:t", ALL)), policies(RULE, second)).rule == "review.queue:second"


held = st.frozensets(st.sampled_from(ALL)).map(lambda rights: tuple(sorted(rights)))
cases = st.builds(
    facts,
    st.tuples(st.sampled_from(["session:s", "project:p", "global:g", "*"]), held),
    st.tuples(st.sampled_from(["session:s", "project:q", "task:t"]), held),
    action=st.sampled_from(["commit_turn", "search_memory", "set_policy"]),
    effect=st.sampled_from(["read", "write", "destroy"]),
    right=st.sampled_from(ALL),
    actor_kind=st.sampled_from(list(ActorKind)),
    approved=st.booleans(),
)


@given(cases)
def test_the_decision_is_a_function_of_its_facts(case):
    rules = policies(RULE)
    assert decide(case, rules) == decide(case, rules)


@given(cases)
def test_nothing_is_allowed_or_queued_without_the_right_on_every_scope(case):
    decision = decide(case, policies(RULE))
    holds = all(case.right in scope.held for scope in case.scopes)
    assert (decision.verdict is Verdict.DENY) == (not holds)


@given(cases)
def test_a_scope_that_cannot_be_read_is_never_confirmed(case):
    decision = decide(case, policies(RULE))
    for scope in case.scopes:
        if case.right not in scope.held:
            assert decision.code == ("forbidden" if "read" in scope.held else "not_found")
            break


@given(cases)
def test_more_rights_never_deny_more(case):
    more = replace(case, scopes=tuple(ScopeFacts(scope.name, ALL) for scope in case.scopes))
    assert decide(more, policies(RULE)).verdict is not Verdict.DENY


def test_it_asks_no_database(django_assert_num_queries, db):
    with django_assert_num_queries(0):
        decide(facts(("project:p", ALL)), policies(RULE))


def test_what_is_always_reviewed_waits_without_any_rule_until_it_is_approved():
    case = facts(("task:t", ALL), waits=True)
    assert (decide(case, policies()).verdict, decide(case, policies()).rule) == (Verdict.QUEUE, "always_reviewed")
    assert decide(replace(case, approved=True), policies()).verdict is Verdict.ALLOW
    assert decide(replace(case, scopes=(ScopeFacts("task:t", ("read",)),)), policies()).verdict is Verdict.DENY


def test_facts_kept_before_deciding_did_as_well_are_replayed_as_they_were():
    now = person(("task:t", DECIDES))
    assert Facts.from_json(now.as_json()) == now
    kept = {name: value for name, value in now.as_json().items() if name != "or_decide"}
    assert decide(Facts.from_json(kept), policies()).verdict is Verdict.DENY


def test_who_could_do_it_by_deciding_is_told_both_rights():
    refused = person(("task:t", ("read",)))
    assert "'write' or 'decide'" in decide(refused, policies()).message
    assert "'decide'" not in decide(replace(refused, actor_kind="agent"), policies()).message


TWO = ReviewPolicy(two_person=[CareRule(name="both", actions=["retract_*"], scope_types=["global"])])


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (person(("global:all", DECIDES)), "queue"),
        (person(("task:t", DECIDES), place="global:all"), "queue"),
        (person(("task:t", DECIDES)), "allow"),
        (person(("global:all", DECIDES), action="correct_item"), "allow"),
        (person(("global:all", DECIDES), approved=True), "allow"),
        (person(("global:all", DECIDES), queueable=False), "allow"),
        (person(("global:all", DECIDES), effect="read"), "allow"),
        (person(("global:all", ("read",))), "deny"),
        (facts(("global:all", ALL), action="retract_item"), "allow"),
        (facts(("global:all", ALL), action="retract_item", actor_kind="system"), "allow"),
    ],
)
def test_a_persons_call_for_which_two_stand_waits(case, verdict):
    decision = decide(case, replace(policies(), sections={**policies().sections, "review": TWO}))
    assert decision.verdict == verdict
    assert verdict_of(decision.rule) is decision.verdict
    assert (decision.rule == "review.two_person:both") is (verdict == "queue")
    assert decide(Facts.from_json(case.as_json()), policies()).verdict != "queue"


def test_a_commit_may_hold_back_what_two_persons_stand_for():
    two = replace(policies(), sections={**policies().sections, "review": TWO})
    found = [may_wait(two, get("retract_item"), kind, "global") for kind in ("person", "agent")]
    assert found == [True, False]


@pytest.mark.parametrize(
    ("rule", "name", "said"),
    [
        ("always_reviewed", "", "commit_turn always waits for a person who may decide in its place"),
        (
            "review.two_person:both",
            "both",
            "two persons stand for commit_turn; a proposer who could decide on it is one of them",
        ),
        (
            "review.queue:wait",
            "wait",
            "calls of commit_* by agent on scopes of type global, project wait for a person",
        ),
        ("review.queue:gone", "gone", ""),
        ("right:write", "", ""),
    ],
)
def test_what_holds_a_call_is_told_in_one_way(rule, name, said):
    assert held_by("commit_turn", rule, policies(RULE)) == (name, said)
    told = deciding(facts(), rule, policies(RULE))
    assert told.startswith("Held for review") == bool(name or said)
    assert said in told
