"""Which documents the one who asks may see: its own, and those shared to a scope that it may read."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Exists, OuterRef, Q, QuerySet

from kernel.context import ANY, Ctx, Right
from media.models import DocumentShare, SourceDocument
from scopes.contracts import LEGACY_DOMAIN, OWNER
from scopes.selectors import domain_filter, visible_scopes


def domain_of(named: str | None, ctx: Ctx) -> str:
    """The domain that a call names, else the only one that the actor can reach, else `legacy`."""
    mine = {grant.domain_id for grant in ctx.reach} - {ANY}
    return named or (mine.pop() if len(mine) == 1 else LEGACY_DOMAIN)


def private_scope(actor_id: str) -> str:
    """The written form of the scope in which the index keeps the documents of one owner in a domain, for nobody else.

    No caller can name it, for no scope type of a call holds such a sign.
    """
    return f"{OWNER}:{actor_id}"


def visible_documents(ctx: Ctx, right: Right = Right.READ) -> QuerySet[SourceDocument]:
    """The base queryset: the actor's own documents, and those shared to a scope on which it holds the right."""
    scopes = visible_scopes(ctx, right)
    shared = DocumentShare.objects.filter(Exists(scopes.filter(pk=OuterRef("scope_id"))), document=OuterRef("pk"))
    return SourceDocument.objects.filter(domain_filter(ctx, right), Q(owner_id=ctx.actor.id) | Exists(shared))


def documents_in(ctx: Ctx, domain_id: str, scope_keys: Collection[int]) -> QuerySet[SourceDocument]:
    """Those that are read through some scopes: what was shared to one of them, and the actor's own documents that it
    shared to none, since a document that was placed elsewhere has no business here."""
    elsewhere = DocumentShare.objects.filter(document=OuterRef("pk"))
    here = elsewhere.filter(scope_id__in=scope_keys)
    own = Q(owner_id=ctx.actor.id) & ~Exists(elsewhere)
    return SourceDocument.objects.filter(domain_filter(ctx), own | Exists(here), domain_id=domain_id)
