"""Who is asking, through which door, and what they may reach: a required argument, never a global."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from kernel import clock
from kernel.ids import new_id


class Door(StrEnum):
    """Where a call came in."""

    PYTHON = "python"
    HTTP = "http"
    MCP = "mcp"
    CLI = "cli"
    ADMIN = "admin"
    JOB = "job"


class ActorKind(StrEnum):
    """An agent carries a key, a person has signed in, the system is the server itself or its operator's shell."""

    AGENT = "agent"
    PERSON = "person"
    SYSTEM = "system"


class Right(StrEnum):
    """What a grant allows within its scopes. `audit` (read the record and the policies), `decide` and `operate` are for
    people only, and no key can hold them."""

    READ = "read"
    WRITE = "write"
    PROMOTE = "promote"
    ERASE = "erase"
    AUDIT = "audit"
    DECIDE = "decide"
    OPERATE = "operate"


T = TypeVar("T")

KEY_RIGHTS = frozenset({Right.READ, Right.WRITE, Right.PROMOTE, Right.ERASE})
ANY = "*"


def type_prefix(pattern: str) -> str | None:
    """`type:` of the pattern `type:*`, else None. In `project:a:*` the star is part of an id, for ids may hold colons."""
    scope_type, colon, external_id = pattern.partition(":")
    return f"{scope_type}:" if colon and external_id == ANY else None


def covers(pattern: str, scope: str) -> bool:
    """Whether `pattern` (`type:id`, `type:*` or `*`) names the scope (`type:id`, or `*` for the domain as a whole)."""
    prefix = type_prefix(pattern)
    return pattern in (ANY, scope) or (prefix is not None and scope.startswith(prefix))


def suffices(held: Collection[str], right: str, actor_kind: str, *, or_decide: bool) -> bool:
    """Whether rights held on a scope are enough for a call that needs `right` there. `or_decide`: a signed-in person who
    may decide there needs no other right."""
    return right in held or (or_decide and actor_kind == ActorKind.PERSON and Right.DECIDE in held)


@dataclass(frozen=True, slots=True)
class Reach:
    """One grant as data: these rights on the scopes that `pattern` (`type:id`, `type:*` or `*`) names in one domain."""

    domain_id: str
    pattern: str
    rights: frozenset[Right]

    def covers(self, domain_id: str, scope: str, right: Right) -> bool:
        """Whether this grant gives `right` on `scope` (`type:id`, or `*` for the domain as a whole)."""
        return right in self.rights and self.covers_scope(domain_id, scope)

    def covers_scope(self, domain_id: str, scope: str) -> bool:
        """Whether this grant names the scope at all."""
        return self.domain_id in (ANY, domain_id) and covers(self.pattern, scope)


@dataclass(frozen=True, slots=True)
class Actor:
    """The one who acts. `id` is stable text; `name` is what people read, kept after the account is gone."""

    kind: ActorKind
    id: str
    name: str
    owner: str = ""  # id of the person behind a key, so that nobody approves what their own key proposed

    @property
    def person(self) -> str:
        """The person who answers for this actor: itself, or the owner of the key; empty where there is none."""
        return self.id if self.kind is ActorKind.PERSON else self.owner


@dataclass(frozen=True, slots=True)
class Approval:
    """The decision in whose name a stored action is being carried out."""

    proposal_id: UUID
    decided_by: Actor


@dataclass(frozen=True, slots=True)
class Ctx:
    """One call: its actor, door, reach, moment and request id. `counted`: it is a further part of a request whose first
    part the quotas of calls have counted."""

    actor: Actor
    door: Door
    reach: tuple[Reach, ...] = ()
    request_id: UUID = field(default_factory=new_id)
    now: datetime = field(default_factory=clock.now)
    approval: Approval | None = None
    counted: bool = False
    memo: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, key: Hashable, read: Callable[[], T]) -> T:
        """What `read` gives, read at most once in this call: for what both deciding and preparing rest on.

        The gate gives every call a memo of its own. What is applied reads again what it must be sure of.
        """
        if key not in self.memo:
            self.memo[key] = read()
        found: T = self.memo[key]
        return found

    def may(self, right: Right, domain_id: str, scope: str = ANY) -> bool:
        """Whether the actor holds `right` on the scope (`*`: on the domain as a whole)."""
        return any(grant.covers(domain_id, scope, right) for grant in self.reach)

    def may_somewhere(self, right: Right, domain_id: str) -> bool:
        """Whether the actor holds `right` on any scope of the domain."""
        return any(right in grant.rights for grant in self.reach if grant.domain_id in (ANY, domain_id))

    def knows(self, domain_id: str) -> bool:
        """Whether any grant of the actor lies in that domain."""
        return any(grant.domain_id in (ANY, domain_id) for grant in self.reach)

    def approved(self, approval: Approval, actor: Actor, reach: tuple[Reach, ...]) -> Ctx:
        """The same call carried out for `actor` in the name of a decision."""
        return replace(self, approval=approval, actor=actor, reach=reach, memo={})
