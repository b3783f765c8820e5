"""The action that carries out a retrieval plan on the documents that the caller may see."""

from __future__ import annotations

from governance.policies import ScopesPolicy, in_force
from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from kernel.errors import InvalidInputError
from media.contracts.asking import RetrieveInput
from media.contracts.retrieval import EvidencePack
from media.selectors.retrieving import reading_all, reading_in
from media.selectors.sight import domain_of
from media.services.retrieving import retrieve
from scopes.contracts import ScopeContext, Scoped
from scopes.selectors import Resolved, require_domain, resolve


def _domain(given: RetrieveInput, ctx: Ctx) -> str:
    return domain_of(given.domain_id or given.plan.debug.caller.domain_id, ctx)


def _context(given: RetrieveInput) -> ScopeContext | None:
    """The scopes to read, whether they stand beside the plan or in it."""
    beside, inside = given.scope_context, given.plan.scope_context
    if beside is not None and inside is not None and beside != inside:
        raise InvalidInputError(
            "scope_context stands in the plan and beside it, and they differ: send one of them.",
            errors=[{"loc": ["scope_context"], "msg": "differs from the plan's", "type": "conflict"}],
        )
    return beside or inside


def _place(given: RetrieveInput, ctx: Ctx) -> Resolved | None:
    """The scopes that the call names, checked; None where it names none."""
    return ctx.once("place", lambda: _resolved(given, ctx))


def _resolved(given: RetrieveInput, ctx: Ctx) -> Resolved | None:
    context, domain_id = _context(given), _domain(given, ctx)
    require_domain(domain_id, ctx)  # a plan's caller may have named it, in any words
    if context is None and given.session_id is None:
        return None
    place = Scoped(domain_id=domain_id, session_id=given.session_id, scope_context=context)
    return resolve(place, ctx, in_force(domain_id, ctx).section(ScopesPolicy).allowed_types)


def _target(given: RetrieveInput, ctx: Ctx) -> Target:
    place = _place(given, ctx)
    if place is None:
        return Target(_domain(given, ctx), scopes=())
    return Target(place.domain_id, place.read, place.owned)


def _retrieve(given: RetrieveInput, ctx: Ctx) -> EvidencePack:
    place = _place(given, ctx)
    reading = reading_in(place, ctx) if place else reading_all(_domain(given, ctx), ctx)
    return retrieve(given.plan, reading, ctx)


RETRIEVE = register(
    Action(
        "retrieve",
        "Find evidence in documents by a retrieval plan, filtered before anything is cut; the answer tells how it was found.",
        RetrieveInput,
        EvidencePack,
        Right.READ,
        _target,
        _retrieve,
    )
)
