"""What a denial adds to its message: to whoever named no domain, the domains in which the call would be theirs to make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from governance.policies import Decision
from kernel.actions import Action, Target
from kernel.context import ANY, Ctx
from kernel.contracts import Contract

DOMAINS_NAMED = 5


def advised(action: Action[Any, Any, Any], decision: Decision, target: Target, ctx: Ctx) -> Decision:
    """The decision, with that advice where it helps: the right over the installation is missing, and held in a domain."""
    if decision.rule != f"missing_right:{action.right}" or target.domain_id is not None:
        return decision
    mine = sorted({grant.domain_id for grant in ctx.reach if action.right in grant.rights} - {ANY})
    if not mine or not _takes_domain(action.input):
        return decision
    named = ", ".join(mine[:DOMAINS_NAMED]) + (", …" if len(mine) > DOMAINS_NAMED else "")
    return replace(decision, message=f"{decision.message} Name a domain in `domain_id`: you hold it in {named}.")


def _takes_domain(model: type[Contract]) -> bool:
    """Whether an input names a domain, itself or in a part of it."""
    if "domain_id" in model.model_fields:
        return True
    parts = [part for field in model.model_fields.values() for part in (field.annotation, *get_args(field.annotation))]
    return any(isinstance(part, type) and issubclass(part, Contract) and _takes_domain(part) for part in parts)
