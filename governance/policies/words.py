"""A decision in words: what was asked, what the actor held, and which rule decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from governance.policies.decide import ALLOW_RULE, ALWAYS_REVIEWED, QUEUE_RULE, TWO_PERSON, Facts, ScopeFacts, Verdict
from governance.policies.sections import QueueRule, ReviewPolicy
from kernel.context import Right

if TYPE_CHECKING:
    from governance.policies.effective import Policies


def verdict_of(rule: str) -> Verdict | None:
    """The verdict that a recorded rule stands for; None where no decision was made, as on input that was unreadable."""
    if rule.startswith((QUEUE_RULE, TWO_PERSON)) or rule == ALWAYS_REVIEWED:
        return Verdict.QUEUE
    if rule.startswith("missing_right:") or rule == "not_visible":
        return Verdict.DENY
    return Verdict.ALLOW if rule.startswith(("right:", ALLOW_RULE)) or rule == "approved" else None


def in_words(facts: Facts, rule: str, policies: Policies | None) -> list[str]:
    """Why a call was decided by `rule`. `policies` are those it was decided by; None where they cannot be told."""
    where = f"in domain {facts.domain_id}" if facts.domain_id is not None else "on the installation as a whole"
    said = [f"A call of {facts.action} by {_article(facts.actor_kind)} through {facts.door}, {where}."]
    said += [_held(facts, name, held) for name, held in ((scope.name, scope.held) for scope in facts.scopes)]
    if not facts.scopes:
        said.append("The action is open to all who see its object: it asks for no right on a scope.")
    return [*said, deciding(facts, rule, policies)]


def _article(kind: str) -> str:
    return {"agent": "an agent", "person": "a person"}.get(kind, "the system")


def _held(facts: Facts, name: str, held: Sequence[str]) -> str:
    place = "the whole domain" if name == "*" and facts.domain_id is not None else f"scope {name}"
    if name == "*" and facts.domain_id is None:
        place = "the installation"
    rights = ", ".join(held) if held else "no right"
    met = "which is held" if facts.right in held else "which is missing"
    if met == "which is missing" and facts.permits(ScopeFacts(name, tuple(held))):
        met = "or to be a person who decides there, which the actor is"
    return f"It needs the right {facts.right} on {place}, {met} (held: {rights})."


def deciding(facts: Facts, rule: str, policies: Policies | None) -> str:
    """The sentence on the rule that decided; `policies` as for `in_words`."""
    name, said = held_by(facts.action, rule, policies)
    if name:
        return f"Held for review by the policy rule {name!r}{f': {said}' if said else ''}."
    if said:
        return f"Held for review: {said}."
    sentences = {
        "draft": "Held for review: it was drafted for someone who may do it.",
        "approved": "Allowed: a person approved the stored call.",
        "not_visible": "Denied as not found: who may not read there is not told that it exists.",
    }
    if rule.startswith("missing_right:"):
        return f"Denied: the right {rule.partition(':')[2]} is missing."
    if rule.startswith(ALLOW_RULE):
        return f"Allowed: the policy rule {rule.removeprefix(ALLOW_RULE)!r} excepts this agent from waiting."
    if rule == f"right:{Right.DECIDE}" and facts.or_decide:
        return "Allowed: a person who may decide there may do it too, and no rule of review.queue matches."
    if rule.startswith("right:"):
        return "Allowed: the right is held, and no rule of review.queue matches."
    return sentences.get(rule, "No policy decided: the call was refused or made before that.")


def held_by(action: str, rule: str, policies: Policies | None) -> tuple[str, str]:
    """The name of the policy's rule by which a call waits, and what holds it, without a full stop. The name is empty where
    the action always waits; what holds it where `policies` do not tell, and both where the call does not wait."""
    if rule == ALWAYS_REVIEWED:
        return "", f"{action} always waits for a person who may decide in its place"
    if rule.startswith(TWO_PERSON):
        said = f"two persons stand for {action}; a proposer who could decide on it is one of them"
        return rule.removeprefix(TWO_PERSON), said
    if not rule.startswith(QUEUE_RULE):
        return "", ""
    name = rule.removeprefix(QUEUE_RULE)
    queue = policies.section(ReviewPolicy).queue if policies else []
    known = next((each for each in queue if each.name == name), None)
    return name, _queued(known) if known else ""


def _queued(rule: QueueRule) -> str:
    types = f" on scopes of type {', '.join(rule.scope_types)}" if rule.scope_types else ""
    return f"calls of {', '.join(rule.actions)} by {', '.join(rule.actor_kinds)}{types} wait for a person"
