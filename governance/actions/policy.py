"""Actions on the policy document: show, set, explain a decision, try a draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

from governance import gate, selectors, services
from governance.audit.decisions import identify, recorded
from governance.contracts import (
    DecisionNow,
    ExplainPolicyInput,
    ExplainPolicyResult,
    PartDecision,
    PolicyInput,
    PolicyResult,
    ReplayExample,
    ReplayLine,
    ReplayPolicyInput,
    ReplayPolicyResult,
    SetPolicyInput,
    WhatIf,
)
from governance.models import AuditEntry
from governance.policies import (
    Decision,
    Draft,
    Facts,
    Replayed,
    ScopeFacts,
    ScopesPolicy,
    Verdict,
    at_version,
    check_document,
    decide,
    denied,
    effective,
    in_words,
    replay,
    verdict_of,
)
from kernel.actions import Action, Applied, Change, Target, get, register
from kernel.context import ANY, ActorKind, Ctx, Right
from kernel.errors import InvalidInputError, NotFoundError
from scopes.contracts import SESSION
from scopes.selectors import held, owned_sessions, partition_of, require_domain

LINES = 100


def _target(given: PolicyInput | SetPolicyInput | ReplayPolicyInput, ctx: Ctx) -> Target:
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
    check_document(given.document, given.domain_id)


def _set_policy(given: SetPolicyInput, prepared: None, ctx: Ctx) -> Applied[PolicyResult]:
    row, change = services.add_policy_version(given.domain_id, "action", given.document, given.reason, ctx)
    policies = effective(given.domain_id)
    result = PolicyResult(domain_id=given.domain_id, version=policies.version, document=policies.document())
    # what it replaces: a document written before another came into force would undo that one unseen
    replaced = Change("policies", given.domain_id or ANY, {"version": row.number - 1}, {"version": row.number})
    return result, [change, replaced]


def _take_back(given: SetPolicyInput | None, changes: Sequence[Change], ctx: Ctx) -> Sequence[Change]:
    return services.restore_policy(changes, ctx)


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
        reverse=_take_back,
    )
)


def _explain_target(given: ExplainPolicyInput, ctx: Ctx) -> Target:
    if given.audit_entry_id is not None:
        row = selectors.get_audit_entry(given.audit_entry_id, ctx)
        return Target(row.domain_id, scopes=(), proposal_id=row.proposal_id)
    if given.proposal_id is not None:
        proposal = selectors.get_proposal(given.proposal_id, ctx)
        return Target(proposal.domain_id, scopes=(), proposal_id=proposal.id)
    asked = _asked(given)
    if asked.domain_id is None:
        return Target(None)
    require_domain(asked.domain_id, ctx)
    return Target(asked.domain_id, _scopes(asked))


def _scopes(asked: WhatIf) -> tuple[str, ...]:
    """Every scope that an imagined call names."""
    return tuple(dict.fromkeys(name for name in (asked.scope, asked.target_scope) if name is not None))


def _imagined(asked: WhatIf, owned: frozenset[str]) -> Target:
    """What an imagined call is about. What always waits is decided in the other scope that it names. What takes a memory
    there needs its right where that starts, any other call in both.
    Raises InvalidInputError on a type of scope that the domain does not know."""
    if asked.domain_id is None:
        return Target(None, ("*",), owned)
    known = [*effective(asked.domain_id).section(ScopesPolicy).allowed_types, SESSION]
    for name in _scopes(asked):
        kind = name.partition(":")[0]
        if kind != ANY and kind not in known:
            raise InvalidInputError(f"Unknown scope type {kind!r}: use one of {', '.join(dict.fromkeys(known))}.")
    if asked.target_scope is None or not get(asked.action).reviewed:
        return Target(asked.domain_id, _scopes(asked), owned)
    scopes = (asked.scope,) if _leads_elsewhere(asked) else _scopes(asked)
    return Target(asked.domain_id, scopes, owned, place=asked.target_scope)


def _leads_elsewhere(asked: WhatIf) -> bool:
    """Whether calls of the action name where something is to go, as a promotion does."""
    return "target_scope" in get(asked.action).input.model_fields


def _decided(facts: Facts, decision: Decision, target: Target, theirs: Ctx) -> Decision:
    """The decision, but for what is to be decided in a scope that the actor may not read: that is not found."""
    if not target.place or target.place in target.scopes or decision.verdict is Verdict.DENY:
        return decision
    there = ScopeFacts(target.place, tuple(held(theirs, target.domain_id or "", target.place, target.owned)))
    return denied(replace(facts, right=Right.READ, scopes=(there,))) or decision


def _asked(given: ExplainPolicyInput) -> WhatIf:
    if given.what_if is None:
        raise InvalidInputError("Send exactly one of audit_entry_id, proposal_id and what_if.")
    return given.what_if


def _explain(given: ExplainPolicyInput, ctx: Ctx) -> ExplainPolicyResult:
    if given.audit_entry_id is not None:
        row = selectors.get_audit_entry(given.audit_entry_id, ctx)
        return _of_entry(row, selectors.shown_facts(row, ctx))
    if given.proposal_id is not None:
        # its own entry, not one that the asker may see: who proposed it may know why it waits
        entries = AuditEntry.objects.filter(proposal_id=given.proposal_id, outcome="queued").exclude(facts={})
        entry = entries.order_by("id").first()
        if entry is None:
            raise NotFoundError(f"Nothing is recorded of how proposal {given.proposal_id} was decided.")
        return _of_entry(entry, entry.facts)
    return _of_question(_asked(given), ctx)


def _of_entry(row: AuditEntry, shown: dict[str, Any]) -> ExplainPolicyResult:
    """A recorded decision, and what the policy in force now would make of the same facts; told by what is `shown`."""
    told = {"rule": row.rule, "policy_version": row.policy_version, "code": row.code, "message": row.reason}
    if not row.facts:
        words = ["The call was refused before it came to a decision: nothing that a policy could decide is recorded."]
        return ExplainPolicyResult(verdict=None, words=words, facts={}, **told)
    facts = Facts.from_json(row.facts)
    verdict = verdict_of(row.rule)
    in_force = effective(row.domain_id)
    decision = decide(facts, in_force)
    now = DecisionNow(
        verdict=decision.verdict,
        rule=decision.rule,
        policy_version=in_force.version,
        differs=decision.verdict is not verdict,
    )
    words = in_words(Facts.from_json(shown), row.rule, at_version(row.policy_version, row.domain_id))
    return ExplainPolicyResult(verdict=verdict, words=words, facts=shown, now=now, **told)


def _of_question(asked: WhatIf, ctx: Ctx) -> ExplainPolicyResult:
    """A decision on a call that nobody made, by the rights that the one it names really holds."""
    action = get(asked.action)
    if asked.kind is ActorKind.SYSTEM:
        raise InvalidInputError("kind is agent or person: the system itself may do everything.")
    identity = identify(asked, ctx)
    theirs = Ctx(identity.actor, asked.door, identity.reach)
    owned: frozenset[str] = frozenset()
    if asked.domain_id is not None:
        owned = owned_sessions(asked.domain_id, [asked.scope], theirs, partition_of(asked.domain_id, theirs))
    target = _imagined(asked, owned)
    facts, decision, policies = gate.foresee(action, target, theirs)
    decision = _decided(facts, decision, target, theirs)
    parts = _parts(action, target, asked, theirs) if decision.verdict is Verdict.ALLOW else []
    words = in_words(facts, decision.rule, policies)
    if asked.scope in owned:
        words.insert(-1, "The session is its own: it may read and write there without a grant that names it.")
    return ExplainPolicyResult(
        verdict=decision.verdict,
        rule=decision.rule,
        policy_version=policies.version,
        code=decision.code,
        message=decision.message,
        words=[*words, *(_said(part) for part in parts if part.verdict == Verdict.QUEUE)],
        facts=facts.as_json(),
        parts=parts,
    )


def _parts(action: Action[Any, Any, Any], target: Target, asked: WhatIf, theirs: Ctx) -> list[PartDecision]:
    """What would be decided on the parts of a call that is allowed."""
    kind = asked.scope.partition(":")[0]
    judged = [name for name, scope_types in action.parts.items() if kind in scope_types]
    found = []
    for name in judged:
        decision = gate.foresee(get(name), target, theirs)[1]
        found.append(PartDecision(action=name, verdict=decision.verdict, rule=decision.rule))
    return found


def _said(part: PartDecision) -> str:
    return (
        f"What it does there as {part.action} waits for a person by itself, by the rule {part.rule}; the rest is done."
    )


EXPLAIN_POLICY = register(
    Action(
        "explain_policy",
        "Explain why a call was or would be allowed, held for review or denied: the rule, its version, and why.",
        ExplainPolicyInput,
        ExplainPolicyResult,
        Right.AUDIT,
        _explain_target,
        _explain,
    )
)


def _replay(given: ReplayPolicyInput, ctx: Ctx) -> ReplayPolicyResult:
    check_document(given.document, given.domain_id)
    draft = Draft(given.domain_id, given.document)
    since = ctx.now - timedelta(days=given.days)
    found = replay(
        recorded(given.domain_id, since, given.limit, ctx),
        cache(effective),
        cache(lambda domain_id: effective(domain_id, draft)),
    )
    return ReplayPolicyResult(
        since=since,
        looked_at=found.looked_at,
        decided=found.decided,
        otherwise=found.otherwise,
        complete=found.looked_at < given.limit,
        lines=_lines(found),
    )


def _lines(found: Replayed) -> list[ReplayLine]:
    lines = []
    for kind, count in sorted(found.turned.items(), key=lambda pair: (-pair[1], pair[0]))[:LINES]:
        examples = [
            ReplayExample(audit_entry_id=row.id, at=row.at, actor=row.actor, domain_id=row.domain_id, scope=row.scope)
            for row in found.examples[kind]
        ]
        lines.append(ReplayLine(**kind._asdict(), count=count, examples=examples))
    return lines


REPLAY_POLICY = register(
    Action(
        "replay_policy",
        "Try a draft policy on the calls of the last 30 days: which would be decided otherwise. Nothing is stored.",
        ReplayPolicyInput,
        ReplayPolicyResult,
        Right.AUDIT,
        _target,
        _replay,
    )
)
