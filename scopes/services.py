"""Writing access: domains, scopes, principals, keys, grants and assignments. Only actions call these."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from kernel.actions import Change
from kernel.compiled import Given, compiled, tuple_of
from kernel.context import Ctx, Right
from kernel.errors import ConflictError, NotFoundError
from scopes.contracts import SESSION, Role
from scopes.models import ApiKey, Domain, Grant, MemoryScope, Principal, ReviewerAssignment
from scopes.selectors import hash_key, scope_rows

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def ensure_domain(domain_id: str) -> list[Change]:
    """Create the domain unless it is there."""
    _, created = Domain.objects.get_or_create(pk=domain_id)
    return [Change("domains", domain_id, None, {"id": domain_id}, incidental=True)] if created else []


def ensure_scopes(
    domain_id: str, names: Iterable[str], ctx: Ctx, partition: str, also: Iterable[str] = ()
) -> tuple[dict[str, MemoryScope], list[Change]]:
    """The rows of the named scopes, created where they are missing; a new session scope belongs to the actor. With the
    rows of those of `also` that are there."""
    wanted = list(dict.fromkeys(names))
    found = {row.name: row for row in scope_rows(domain_id, [*wanted, *also], partition)}
    changes = []
    for name in sorted(set(wanted) - set(found)):  # one order for all writers: none waits for another in a ring
        scope_type, _, external_id = name.partition(":")
        is_session = scope_type == SESSION
        row, created = MemoryScope.objects.get_or_create(
            domain_id=domain_id,
            scope_type=scope_type,
            external_id=external_id,
            partition=partition if is_session else "",
            defaults={"owner": ctx.actor.id if is_session else ""},
        )
        found[name] = row
        if created:
            after = {"domain_id": domain_id, "scope": name}
            changes.append(Change("memory_scopes", str(row.id), None, after, incidental=True, scopes=(name,)))
    return found, changes


def lock_scopes(keys: Iterable[int]) -> None:
    """Let other writers of these scopes wait until the present transaction ends; nobody waits to read them."""
    wanted = set(keys)
    if wanted:
        _locked(keys=wanted)


def lock_domain(domain_id: str) -> None:
    """Let others that lock this domain wait until the present transaction ends; nobody else waits. Taken after the scopes
    that are written: whoever holds it changes only what lies in scopes that it locked, and conflicts between scopes, which
    nobody changes without it."""
    list(Domain.objects.select_for_update(no_key=True).filter(pk=domain_id).values_list("pk"))


@compiled(tuple_of)
def _locked(keys: Given) -> QuerySet[MemoryScope, Any]:
    rows = MemoryScope.objects.select_for_update(no_key=True).filter(pk__among=keys).order_by("pk")
    return rows.values_list("pk")


def create_principal(name: str, kind: str, owner: User | None) -> tuple[Principal, Change]:
    """A new principal. Raises ConflictError where the name is taken."""
    try:
        with transaction.atomic():
            row = Principal.objects.create(name=name, kind=kind, owner=owner)
    except IntegrityError as exc:
        raise ConflictError(f"There is already a principal {name!r}: choose another name, or issue it a key.") from exc
    return row, Change("principals", str(row.id), None, {"name": name, "kind": kind, "owner": row.owner_id})


def issue_key(principal: Principal) -> tuple[ApiKey, str, Change]:
    """A new key of the principal: the row, the secret (never stored, never shown again) and the change."""
    prefix = secrets.token_hex(6)
    secret = f"sb_{prefix}_{secrets.token_urlsafe(32)}"
    row = ApiKey.objects.create(principal=principal, prefix=prefix, hash=hash_key(secret))
    return row, secret, Change("api_keys", str(row.id), None, {"principal": principal.name, "prefix": prefix})


def revoke_key(prefix: str, ctx: Ctx) -> tuple[ApiKey, list[Change]]:
    """Stop a key from working; saying it again changes nothing. `prefix` is the part between the underscores."""
    row = ApiKey.objects.select_related("principal").filter(prefix=prefix).first()
    if row is None:
        raise NotFoundError(f"No key with prefix {prefix!r}.")
    stopped = ApiKey.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=ctx.now)
    row.refresh_from_db()
    if not stopped:
        return row, []
    return row, [Change("api_keys", str(row.id), {"revoked_at": None}, {"revoked_at": ctx.now.isoformat()})]


def grant(principal: Principal, domain_id: str, pattern: str, rights: Iterable[Right]) -> list[Change]:
    """Give the principal exactly these rights on the pattern; an empty list takes the grant away."""
    wanted = sorted(set(rights))
    row = Grant.objects.filter(principal=principal, domain_id=domain_id, pattern=pattern).first()
    before = {"rights": row.rights} if row else None
    if row is None and wanted:
        row = Grant.objects.create(principal=principal, domain_id=domain_id, pattern=pattern, rights=wanted)
    elif row is None or row.rights == wanted:
        return []
    elif wanted:
        Grant.objects.filter(pk=row.pk).update(rights=wanted)
    else:
        row_id = str(row.pk)
        row.delete()
        return [Change("grants", row_id, before, None)]
    after = {"principal": principal.name, "domain_id": domain_id, "pattern": pattern, "rights": wanted}
    return [Change("grants", str(row.pk), before, after)]


def assign(user: User, domain_id: str, pattern: str, role: Role) -> list[Change]:
    """Let the person act in the role on the scopes of the pattern, as a member of its group; saying it again changes
    nothing."""
    row, created = ReviewerAssignment.objects.get_or_create(user=user, domain_id=domain_id, pattern=pattern, role=role)
    changes = [Change("reviewer_assignments", str(row.pk), None, _assignment(row))] if created else []
    group, _ = Group.objects.get_or_create(name=role)
    if not user.groups.filter(pk=group.pk).exists():
        user.groups.add(group)
        changes.append(_membership(user, role, joined=True))
    return changes


def unassign(user: User, domain_id: str, pattern: str, role: Role) -> list[Change]:
    """Take an assignment away; with the last of its role the person leaves the group too. Without one, nothing changes."""
    row = ReviewerAssignment.objects.filter(user=user, domain_id=domain_id, pattern=pattern, role=role).first()
    if row is None:
        return []
    changes = [Change("reviewer_assignments", str(row.pk), _assignment(row), None)]
    row.delete()
    left = ReviewerAssignment.objects.filter(user=user, role=role).exists()
    if not left and user.groups.filter(name=role).exists():
        user.groups.remove(*Group.objects.filter(name=role))
        changes.append(_membership(user, role, joined=False))
    return changes


def _assignment(row: ReviewerAssignment) -> dict[str, str]:
    return {"user": row.user.get_username(), "domain_id": row.domain_id, "pattern": row.pattern, "role": row.role}


def _membership(user: User, role: Role, *, joined: bool) -> Change:
    known = {"user": user.get_username(), "group": role.value}
    before, after = (None, known) if joined else (known, None)
    return Change("auth_user_groups", f"{user.pk}:{role}", before, after)
