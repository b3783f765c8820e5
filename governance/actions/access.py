"""Actions on domains, scopes, principals, keys, grants and reviewer assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib.auth import get_user_model

from governance.contracts import (
    AssignReviewerInput,
    AssignReviewerResult,
    CreatePrincipalInput,
    DomainView,
    GrantAccessInput,
    IssueKeyInput,
    ListDomainsInput,
    ListDomainsResult,
    ListPrincipalsInput,
    ListPrincipalsResult,
    ListScopesInput,
    ListScopesResult,
    NewKeyResult,
    PrincipalResult,
    RevokeKeyInput,
    RevokeKeyResult,
    ScopeRow,
    UnassignReviewerInput,
    UnassignReviewerResult,
    WhoamiInput,
    WhoamiResult,
)
from governance.selectors import visible_principals
from kernel.actions import Action, Applied, Target, register
from kernel.context import KEY_RIGHTS, ActorKind, Ctx, Right
from kernel.errors import InvalidInputError, NotFoundError
from kernel.paging import page
from scopes import services
from scopes.models import Principal
from scopes.selectors import require_domain, view_principal, visible_domains, visible_scopes

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def _installation(given: object, ctx: Ctx) -> Target:
    return Target(None)


def _nowhere(given: object, ctx: Ctx) -> Target:
    return Target(None, scopes=())


def _domain(given: GrantAccessInput | AssignReviewerInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id)


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    user: User | None = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise NotFoundError(f"No person with the user name {name!r}.")
    return user


def _principal(name: str, ctx: Ctx) -> Principal:
    """A principal that the actor can see: an operator of one domain learns nothing of another's."""
    rows = visible_principals(ctx).select_related("owner").prefetch_related("grants")
    row = rows.filter(name=name).first()
    if row is None:
        raise NotFoundError(f"No principal {name!r} that you can see.")
    return row


def _only_key_rights(rights: list[Right]) -> None:
    if not set(rights) <= KEY_RIGHTS:
        raise InvalidInputError(f"A key can hold only these rights: {', '.join(sorted(KEY_RIGHTS))}.")


def _prepare_principal(given: CreatePrincipalInput, ctx: Ctx) -> User | None:
    _only_key_rights(given.rights)
    return _user(given.owner)


def _create_principal(given: CreatePrincipalInput, owner: User | None, ctx: Ctx) -> Applied[NewKeyResult]:
    changes = services.ensure_domain(given.domain_id)
    row, created = services.create_principal(given.name, ActorKind.AGENT, owner)
    granted = services.grant(row, given.domain_id, given.pattern, given.rights)
    key, secret, issued = services.issue_key(row)
    result = NewKeyResult(principal=view_principal(row, ctx), key_prefix=key.prefix, api_key=secret)
    return result, [*changes, created, *granted, issued]


CREATE_PRINCIPAL = register(
    Action(
        "create_principal",
        "Create a principal with a first key and grant. The key is in the answer and nowhere else.",
        CreatePrincipalInput,
        NewKeyResult,
        Right.OPERATE,
        _installation,
        _prepare_principal,
        _create_principal,
    )
)


def _issue_key(given: IssueKeyInput, row: Principal, ctx: Ctx) -> Applied[NewKeyResult]:
    key, secret, issued = services.issue_key(row)
    return NewKeyResult(principal=view_principal(row, ctx), key_prefix=key.prefix, api_key=secret), [issued]


ISSUE_KEY = register(
    Action(
        "issue_key",
        "Give a principal one more key, so that keys can be changed without a pause.",
        IssueKeyInput,
        NewKeyResult,
        Right.OPERATE,
        _installation,
        lambda given, ctx: _principal(given.name, ctx),
        _issue_key,
    )
)


def _revoke_key(given: RevokeKeyInput, prepared: None, ctx: Ctx) -> Applied[RevokeKeyResult]:
    row, changes = services.revoke_key(given.key_prefix, ctx)
    result = RevokeKeyResult(key_prefix=row.prefix, principal=row.principal.name, revoked_at=row.revoked_at or ctx.now)
    return result, changes


REVOKE_KEY = register(
    Action(
        "revoke_key",
        "Stop a key from working, at once and for good.",
        RevokeKeyInput,
        RevokeKeyResult,
        Right.OPERATE,
        _installation,
        lambda given, ctx: None,
        _revoke_key,
        destroys=True,
    )
)


def _prepare_grant(given: GrantAccessInput, ctx: Ctx) -> Principal:
    _only_key_rights(given.rights)
    return _principal(given.name, ctx)


def _grant_access(given: GrantAccessInput, row: Principal, ctx: Ctx) -> Applied[PrincipalResult]:
    changes = services.grant(row, given.domain_id, given.pattern, given.rights)
    return PrincipalResult(principal=view_principal(_principal(given.name, ctx), ctx)), changes


GRANT_ACCESS = register(
    Action(
        "grant_access",
        "Set the rights of a principal on a pattern of scopes in one domain; no rights takes the grant away.",
        GrantAccessInput,
        PrincipalResult,
        Right.OPERATE,
        _domain,
        _prepare_grant,
        _grant_access,
    )
)


def _assigned(given: AssignReviewerInput, ctx: Ctx) -> User | None:
    return _user(given.user)


def _assign_reviewer(given: AssignReviewerInput, user: User, ctx: Ctx) -> Applied[AssignReviewerResult]:
    changes = services.assign(user, given.domain_id, given.pattern, given.role)
    return AssignReviewerResult(**given.model_dump(exclude={"idempotency_key"})), changes


ASSIGN_REVIEWER = register(
    Action(
        "assign_reviewer",
        "Let a person act as reviewer, auditor or operator on the scopes of a pattern in one domain.",
        AssignReviewerInput,
        AssignReviewerResult,
        Right.OPERATE,
        _domain,
        _assigned,
        _assign_reviewer,
    )
)


def _unassign_reviewer(given: UnassignReviewerInput, user: User, ctx: Ctx) -> Applied[UnassignReviewerResult]:
    changes = services.unassign(user, given.domain_id, given.pattern, given.role)
    return UnassignReviewerResult(**given.model_dump(exclude={"idempotency_key"})), changes


UNASSIGN_REVIEWER = register(
    Action(
        "unassign_reviewer",
        "Take such an assignment away, at once.",
        UnassignReviewerInput,
        UnassignReviewerResult,
        Right.OPERATE,
        _domain,
        _assigned,
        _unassign_reviewer,
        destroys=True,
    )
)


def _list_principals(given: ListPrincipalsInput, ctx: Ctx) -> ListPrincipalsResult:
    rows = Principal.objects.select_related("owner").prefetch_related("grants")
    if given.domain_id is not None:
        rows = rows.filter(pk__in=Principal.objects.filter(grants__domain_id=given.domain_id).values("pk"))
    found, cursor = page(rows, given, "name", str)
    return ListPrincipalsResult(principals=[view_principal(row, ctx) for row in found], next_cursor=cursor)


LIST_PRINCIPALS = register(
    Action(
        "list_principals",
        "List principals and their grants.",
        ListPrincipalsInput,
        ListPrincipalsResult,
        Right.OPERATE,
        _installation,
        _list_principals,
        resource="principals",
    )
)


def _list_domains(given: ListDomainsInput, ctx: Ctx) -> ListDomainsResult:
    found, cursor = page(visible_domains(ctx), given, "id", str)
    return ListDomainsResult(
        domains=[DomainView(id=row.id, created_at=row.created_at) for row in found], next_cursor=cursor
    )


LIST_DOMAINS = register(
    Action(
        "list_domains",
        "List the domains you may read in.",
        ListDomainsInput,
        ListDomainsResult,
        Right.READ,
        _nowhere,
        _list_domains,
        resource="domains",
    )
)


def _scopes_target(given: ListScopesInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _list_scopes(given: ListScopesInput, ctx: Ctx) -> ListScopesResult:
    rows = visible_scopes(ctx).filter(domain_id=given.domain_id)
    if given.type is not None:
        rows = rows.filter(scope_type=given.type)
    found, cursor = page(rows, given, "id", UUID)
    scopes = [
        ScopeRow(type=row.scope_type, id=row.external_id, scope_id=row.id, created_at=row.created_at) for row in found
    ]
    return ListScopesResult(scopes=scopes, next_cursor=cursor)


LIST_SCOPES = register(
    Action(
        "list_scopes",
        "List the scopes you may read in one domain.",
        ListScopesInput,
        ListScopesResult,
        Right.READ,
        _scopes_target,
        _list_scopes,
        resource="scopes",
    )
)


def _whoami(given: WhoamiInput, ctx: Ctx) -> WhoamiResult:
    grants = [
        {"domain_id": grant.domain_id, "pattern": grant.pattern, "rights": sorted(grant.rights)} for grant in ctx.reach
    ]
    return WhoamiResult(name=ctx.actor.name, kind=ctx.actor.kind, door=ctx.door, grants=grants)


WHOAMI = register(
    Action(
        "whoami",
        "Say who you are here and what you may reach.",
        WhoamiInput,
        WhoamiResult,
        Right.READ,
        _nowhere,
        _whoami,
    )
)
