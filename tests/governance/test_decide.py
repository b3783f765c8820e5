"""The decision as a table, and its purity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.hooks import policy_sections
from governance.policies import Facts, Policies, QueueRule, ReviewPolicy, ScopeFacts, Verdict, decide
from kernel.context import ActorKind, Right

ALL = tuple(sorted(Right))
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
