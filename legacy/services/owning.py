"""Whose the sessions of the older system become: a principal with a grant in the legacy domain, and in others where told."""

from __future__ import annotations

from governance import gate
from kernel.actions import Change
from kernel.context import ANY, Actor, Ctx
from kernel.errors import ConflictError, InvalidInputError, NotFoundError
from legacy.selectors.closed import closed_to
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Grant, Principal
from scopes.selectors import identify_named
from scopes.services import grant


def owner_named(name: str | None) -> Actor:
    """The owner of that name; where none is given, the only active principal with a grant in the legacy domain: what it
    becomes the owner of cannot be given to another later, so nothing is guessed.

    Raises InvalidInputError where none is given and not exactly one qualifies, NotFoundError for a name that nobody
    active has, ConflictError for one without a grant in the legacy domain.
    """
    name = _only_one() if name is None else name
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


def _only_one() -> str:
    rows = Grant.objects.filter(domain_id=LEGACY_DOMAIN, principal__active=True)
    names = sorted(set(rows.values_list("principal__name", flat=True)))
    if not names:
        raise InvalidInputError(
            "--owner: nobody has a grant in the domain `legacy` yet. Make a principal with manage.py create_principal "
            "older-app, and name it: the sessions become its own, for good."
        )
    if len(names) > 1:
        raise InvalidInputError(
            f"--owner: {len(names)} principals have a grant in the domain `legacy` ({', '.join(names)[:200]}). Name the "
            "one whose the sessions shall become, for good."
        )
    return names[0]
