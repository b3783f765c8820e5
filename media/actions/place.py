"""What a call about documents is about: its domain and scopes, under the policy in force."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from governance.policies import ScopesPolicy, in_force
from kernel.actions import Target
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError
from media.models import SourceDocument
from media.selectors.documents import scopes_of
from media.selectors.sight import domain_of, private_scope
from scopes.contracts import SCOPE_TYPES, ScopeRef
from scopes.selectors import check_ref, held, owned_sessions, partition_of, require_domain


def domain_target(named: str | None, ctx: Ctx) -> Target:
    """A call about what the caller may see of one domain."""
    domain_id = domain_of(named, ctx)
    require_domain(domain_id, ctx)
    return Target(domain_id, scopes=())


def writing_target(named: str | None, refs: Iterable[ScopeRef], ctx: Ctx) -> Target:
    """A call that writes to the scopes named, or where none is, to what is the caller's own."""
    domain_id = domain_of(named, ctx)
    require_domain(domain_id, ctx)
    names = [checked_scope(ref, domain_id, ctx) for ref in refs]
    own = private_scope(ctx.actor.id)
    sessions = owned_sessions(domain_id, names, ctx, partition_of(domain_id, ctx))
    return Target(domain_id, tuple(names) or (own,), sessions | {own})


def checked_scope(ref: ScopeRef, domain_id: str, ctx: Ctx) -> str:
    """The written form of a scope that the domain knows. Raises InvalidInputError."""
    check_ref(ref, domain_id, in_force(domain_id, ctx).section(ScopesPolicy).allowed_types)
    return ref.name


def own_target(domain_id: str, ctx: Ctx) -> Target:
    """A call on what is the caller's own in a domain: it needs the right to write anything there."""
    own = private_scope(ctx.actor.id)
    return Target(domain_id, (own,), frozenset({own}))


def own_document(document: SourceDocument, ctx: Ctx) -> Target:
    """A call that only the owner of a document may make. Raises ForbiddenError for others who see it."""
    if document.owner_id != ctx.actor.id:
        raise ForbiddenError("Only the owner of a document may do this.")
    return own_target(document.domain_id, ctx)


def taking_out(document: SourceDocument, scope: str, ctx: Ctx) -> Target:
    """A call by the owner that takes a document out of a scope: those who read it there are who decides, where it waits."""
    return replace(own_document(document, ctx), place=scope if scope in shared_to(document, ctx) else "")


def shared_to(document: SourceDocument, ctx: Ctx) -> list[str]:
    """The scopes (`type:id`) that a document is shared to, as far as the actor sees them."""
    return [f"{view.type}:{view.id}" for view in scopes_of([document], ctx).get(document.pk, [])]


def _widest(scopes: list[str]) -> str:
    """The one of some scopes that the most read; empty where there is none."""
    width = {scope_type: place for place, scope_type in enumerate(SCOPE_TYPES)}
    return min(scopes, key=lambda name: (width.get(name.partition(":")[0], len(width)), name), default="")


def erasing(document: SourceDocument, ctx: Ctx) -> Target:
    """A call by the owner, or by whoever may erase in a scope that it is shared to."""
    shared = shared_to(document, ctx)
    if document.owner_id == ctx.actor.id and ctx.may_somewhere(Right.WRITE, document.domain_id):
        return Target(document.domain_id, scopes=(), place=_widest(shared))
    erasable = [name for name in shared if Right.ERASE in held(ctx, document.domain_id, name)]
    if not erasable:
        raise ForbiddenError("Only the owner of a document, or whoever may erase where it is shared, takes it away.")
    return Target(document.domain_id, tuple(erasable))
