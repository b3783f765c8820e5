"""Where a scoped call happens, under the policy in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from governance.policies import ScopesPolicy, in_force
from kernel.actions import Target
from kernel.context import Ctx
from scopes.contracts import Scoped
from scopes.selectors import Resolved, resolve


def allowed_types(domain_id: str, ctx: Ctx) -> Sequence[str]:
    """The scope types that the domain's policy knows."""
    return in_force(domain_id, ctx).section(ScopesPolicy).allowed_types


def place_of(given: Scoped, ctx: Ctx) -> Resolved:
    """The call's scopes after defaults and checks, worked out once in a call."""
    return ctx.once("place", lambda: _resolved(given, ctx))


def _resolved(given: Scoped, ctx: Ctx) -> Resolved:
    place = resolve(given, ctx, allowed_types(given.domain_id, ctx))
    if place.default_write is not None or not place.write:
        return place
    explicit = in_force(given.domain_id, ctx).section(ScopesPolicy).require_explicit_elevated_write
    return place if explicit else replace(place, default_write=place.write[0])


def read_target(given: Scoped, ctx: Ctx) -> Target:
    """What a call is about that reads the scopes it names."""
    place = place_of(given, ctx)
    return Target(place.domain_id, place.read, place.owned)
