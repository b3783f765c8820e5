"""Principals, keys, grants, reviewers, domains and scopes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from governance.contracts.base import KeyRight, UserName
from kernel.context import Right
from kernel.contracts import Contract, Identifier, KeyedInput, KeyedResult, PageInput, PageResult
from scopes.contracts import LEGACY_DOMAIN, DomainId, PrincipalView, Role, ScopePattern, ScopeView


class CreatePrincipalInput(Contract):
    """A new principal with a first key and a first grant."""

    name: str = Field(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$", description="Unique name.")
    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="Domain of the grant, created where missing.")
    pattern: ScopePattern = "*"
    rights: list[KeyRight] = Field(
        default=[Right.READ, Right.WRITE], min_length=1, max_length=4, description="Rights of the grant."
    )
    owner: UserName | None = Field(default=None, description="User name of the person who answers for it.")


class NewKeyResult(Contract):
    """A key, shown this once."""

    principal: PrincipalView = Field(description="The principal.")
    key_prefix: str = Field(description="Names the key from now on.")
    api_key: str = Field(description="The secret. It is not stored: keep it now.")


class IssueKeyInput(Contract):
    """One more key for a principal."""

    name: str = Field(min_length=1, max_length=100, description="Name of the principal.")


class RevokeKeyInput(KeyedInput):
    """Stop one key from working."""

    key_prefix: str = Field(min_length=1, max_length=16, description="The part of the key between the underscores.")


class RevokeKeyResult(KeyedResult):
    """The key that no longer works."""

    key_prefix: str = Field(description="Prefix of the key.")
    principal: str = Field(description="Name of its principal.")
    revoked_at: datetime = Field(description="Since when.")


class GrantAccessInput(KeyedInput):
    """Give a principal exactly these rights on a pattern of scopes."""

    name: str = Field(min_length=1, max_length=100, description="Name of the principal.")
    domain_id: DomainId
    pattern: ScopePattern = "*"
    rights: list[KeyRight] = Field(max_length=4, description="The rights; an empty list takes the grant away.")


class PrincipalResult(KeyedResult):
    """A principal after a change."""

    principal: PrincipalView = Field(description="The principal.")


class ListPrincipalsInput(PageInput):
    """Principals of a domain, or all of them."""

    domain_id: DomainId | None = Field(default=None, description="Only those with a grant in this domain.")


class ListPrincipalsResult(PageResult):
    """One page of principals, by name."""

    principals: list[PrincipalView] = Field(description="Principals, by name.")


RoleField = Annotated[
    Role,
    Field(
        description="`reviewer` reads, decides and reads the record; `auditor` reads the record and the policies and "
        "nothing else; `operator` gives access and sets policies in the domain."
    ),
]


class AssignReviewerInput(KeyedInput):
    """Let a person act in a role on scopes of a domain."""

    user: UserName
    domain_id: DomainId
    pattern: ScopePattern = "*"
    role: RoleField = Role.REVIEWER


class AssignReviewerResult(KeyedResult):
    """The assignment in force."""

    user: str = Field(description="User name.")
    domain_id: str = Field(description="Domain.")
    pattern: str = Field(description="Scopes.")
    role: Role = Field(description="Role.")


class UnassignReviewerInput(AssignReviewerInput):
    """Take an assignment away."""


class UnassignReviewerResult(AssignReviewerResult):
    """The assignment that is no longer in force."""


class WhoamiInput(Contract):
    """Nothing to say."""


class WhoamiResult(Contract):
    """Who you are here and what you may reach."""

    name: str = Field(description="Your name.")
    kind: str = Field(description="agent, person or system.")
    door: str = Field(description="Door you came through.")
    grants: list[dict[str, Any]] = Field(description="`{domain_id, pattern, rights}` each.")


class ListDomainsInput(PageInput):
    """The domains you may read in."""


class DomainView(Contract):
    """A domain."""

    id: str = Field(description="Domain id.")
    created_at: datetime = Field(description="When it was made.")


class ListDomainsResult(PageResult):
    """One page of domains, by id."""

    domains: list[DomainView] = Field(description="Domains, by id.")


class ListScopesInput(PageInput):
    """The scopes you may read in a domain."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The domain.")
    type: Identifier | None = Field(default=None, description="Only scopes of this type.")


class ScopeRow(ScopeView):
    """A scope with its id in the server."""

    scope_id: UUID = Field(description="Server id (UUIDv7).")
    created_at: datetime = Field(description="When it was first written.")


class ListScopesResult(PageResult):
    """One page of scopes, in order of creation."""

    scopes: list[ScopeRow] = Field(description="Scopes, oldest first.")
