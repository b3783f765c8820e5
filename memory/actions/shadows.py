"""The action that inspects shadows."""

from __future__ import annotations

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from memory.actions.compose import GET_CONTEXT
from memory.actions.place import allowed_types
from memory.contracts.compose import GetContextInput
from memory.contracts.shadows import InspectShadowsInput, InspectShadowsResult
from memory.selectors.shadows import inspect
from scopes.contracts import Scoped
from scopes.selectors import Resolved, resolve


def _place(given: InspectShadowsInput, ctx: Ctx) -> Resolved | None:
    """The scopes that the call names, after defaults and checks; None where it names a recorded context."""
    if given.context_id is not None:
        return None
    scoped = Scoped(domain_id=given.domain_id, session_id=given.session_id, scope_context=given.scope_context)
    return ctx.once("shadows", lambda: resolve(scoped, ctx, allowed_types(given.domain_id, ctx)))


def _target(given: InspectShadowsInput, ctx: Ctx) -> Target:
    """The scopes looked at; of a recorded context, whoever may see it may inspect it."""
    place = _place(given, ctx)
    if place is not None:
        return Target(place.domain_id, place.read, place.owned)
    if given.context_id is None:
        raise TypeError("a call without a place has a context")
    return GET_CONTEXT.target(GetContextInput(id=given.context_id), ctx)


INSPECT_SHADOWS = register(
    Action(
        "inspect_shadows",
        "Show per key which row counts in the scopes read, which give way and by which rule, and what would change that.",
        InspectShadowsInput,
        InspectShadowsResult,
        Right.READ,
        _target,
        lambda given, ctx: inspect(given, _place(given, ctx), ctx),
    )
)
