"""Whose the sessions of the older system become: a principal with a grant in the legacy domain, and in others where told."""

from __future__ import annotations

from governance import gate
from kernel.actions import Change
from kernel.context import ANY, Actor, Ctx, Right
from kernel.errors import ConflictError, NotFoundError
from legacy.selectors.closed import closed_to
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Grant, Principal
from scopes.selectors import identify_named
from scopes.services import create_principal, ensure_domain, grant

DEFAULT_NAME = "legacy"
_RIGHTS = (Right.READ, Right.WRITE, Right.PROMOTE)


def owner_named(name: str | None, ctx: Ctx) -> Actor:
    """The owner of that name; where none is given, the only active principal with a grant in the legacy domain, else a
    principal `legacy`, which is made where it is not there.

    Raises NotFoundError for a name that nobody active has, ConflictError for one without a grant in the legacy domain.
    """
    if name is None:
        name = _only_one()
        if name is None:
            gate.by_itself("migrate_legacy", _make_default, ctx)
            name = DEFAULT_NAME
    identity = identify_named(name)
    if identity is None:
        raise NotFoundError(f"No active principal {name!r}: create it with manage.py create_principal {name}.")
    if not any(reach.domain_id == LEGACY_DOMAIN for reach in identity.reach):
        raise ConflictError(
            f"{name!r} has no grant in the domain `legacy`, so nobody could read what it owns there: "
            f"give it one with manage.py grant_access."
        )
    return identity.actor


def let_in(owner: Actor, ctx: Ctx) -> None:
    """Grant the owner to read and write in every domain where it has sessions that it may not reach, on record."""

    def write() -> list[Change]:
        row = Principal.objects.get(pk=owner.id)
        return [change for each in closed_to(owner.id) for change in grant(row, each.domain_id, ANY, each.rights)]

    gate.by_itself("migrate_legacy", write, ctx)


def _only_one() -> str | None:
    rows = Grant.objects.filter(domain_id=LEGACY_DOMAIN, principal__active=True)
    names = sorted(set(rows.values_list("principal__name", flat=True)))
    return names[0] if len(names) == 1 else None


def _make_default() -> list[Change]:
    changes = ensure_domain(LEGACY_DOMAIN)
    if identify_named(DEFAULT_NAME) is not None:
        return changes
    row, made = create_principal(DEFAULT_NAME, "agent", None)
    return [*changes, made, *grant(row, LEGACY_DOMAIN, "*", _RIGHTS)]
