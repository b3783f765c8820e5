"""Actions on the policy document."""

from __future__ import annotations

from governance import services
from governance.contracts import PolicyInput, PolicyResult, SetPolicyInput
from governance.policies import effective, validate_document
from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from scopes.selectors import require_domain


def _target(given: PolicyInput | SetPolicyInput, ctx: Ctx) -> Target:
    if given.domain_id is not None:
        require_domain(given.domain_id, ctx)
    return Target(given.domain_id)


def _get_policy(given: PolicyInput, ctx: Ctx) -> PolicyResult:
    policies = effective(given.domain_id)
    return PolicyResult(domain_id=given.domain_id, version=policies.version, document=policies.document())


GET_POLICY = register(
    Action(
        "get_policy",
        "Show the policy in force in a domain, with every default.",
        PolicyInput,
        PolicyResult,
        Right.AUDIT,
        _target,
        _get_policy,
    )
)


def _check(given: SetPolicyInput, ctx: Ctx) -> None:
    validate_document(given.document)


def _set_policy(given: SetPolicyInput, prepared: None, ctx: Ctx) -> Applied[PolicyResult]:
    _, change = services.add_policy_version(given.domain_id, "action", given.document, given.reason, ctx)
    policies = effective(given.domain_id)
    result = PolicyResult(domain_id=given.domain_id, version=policies.version, document=policies.document())
    return result, [change]


SET_POLICY = register(
    Action(
        "set_policy",
        "Store a new policy version for a domain or the installation; earlier versions stay readable.",
        SetPolicyInput,
        PolicyResult,
        Right.OPERATE,
        _target,
        _check,
        _set_policy,
    )
)
