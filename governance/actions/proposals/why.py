"""Why a proposal waits: the rule as the policy had it that held the call, and what the policy of today makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from governance.models import Proposal
from governance.policies import (
    ALWAYS_REVIEWED,
    Facts,
    Policies,
    Verdict,
    at_version,
    decide,
    deciding,
    held_by,
    in_force,
)
from kernel.context import Ctx

_TODAY = {
    Verdict.ALLOW: "Today it would be allowed",
    Verdict.QUEUE: "Today it would wait too",
    Verdict.DENY: "Today it would be refused",
}


def rule_in_words(row: Proposal, ctx: Ctx) -> str:
    """The rule in words, from the version of the policy that is on record with the proposal."""
    if row.drafted:
        return "It was drafted from a decision, and is carried out with the rights of whoever approves it."
    name, said = held_by(row.action, row.rule, None)
    if not said:
        policies = _policies_then(row, ctx)
        if policies is None:
            return f"Held by {row.rule} of policy {row.policy_version}, which is not stored here any more."
        said = held_by(row.action, row.rule, policies)[1]
    if not said:
        return f"Held by {row.rule}."
    return f"Rule {name!r}: {said}." if name else f"{said}."


def today_in_words(row: Proposal, held_on: Mapping[str, Any] | None, ctx: Ctx) -> str:
    """What the policy in force makes of the recorded facts on which the call was held; empty where it says the same."""
    now, then = in_force(row.domain_id, ctx), _policies_then(row, ctx)
    if held_on is None or row.drafted or row.rule == ALWAYS_REVIEWED or now is then:
        return ""
    facts = Facts.from_json(held_on)
    decision = decide(facts, now)
    told = deciding(facts, decision.rule, now)
    if decision.rule == row.rule and told == deciding(facts, row.rule, then):
        return ""
    return f"{_TODAY[decision.verdict]}, by policy {now.version}. {told}"


def _policies_then(row: Proposal, ctx: Ctx) -> Policies | None:
    """The policy by which the call was held; None where a part of it is not stored."""
    now = in_force(row.domain_id, ctx)
    if now.version == row.policy_version:
        return now
    known = ("policies at", row.policy_version, row.domain_id)
    return ctx.once(known, lambda: at_version(row.policy_version, row.domain_id, now))
