"""Reading access: who a key or a person is, and which scopes a call may reach."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet

from kernel.compiled import Given, compiled, instances
from kernel.context import ANY, KEY_RIGHTS, Actor, ActorKind, Ctx, Reach, Right, type_prefix
from kernel.errors import InvalidInputError, NotFoundError, UnauthenticatedError
from kernel.ids import uuids_in
from scopes.contracts import LEGACY_DOMAIN, OWNER, SESSION, GrantView, PrincipalView, Role, Scoped, ScopeRef
from scopes.models import ApiKey, Domain, Grant, MemoryScope, Principal, ReviewerAssignment

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ROLE_RIGHTS = {
    Role.REVIEWER: frozenset({Right.READ, Right.PROMOTE, Right.AUDIT, Right.DECIDE}),
    Role.AUDITOR: frozenset({Right.AUDIT}),
    Role.OPERATOR: frozenset({Right.READ, Right.AUDIT, Right.OPERATE}),
}
EVERYTHING = (Reach(ANY, ANY, frozenset(Right)),)


@dataclass(frozen=True, slots=True)
class Identity:
    """Someone recognised: the actor and what it may reach."""

    actor: Actor
    reach: tuple[Reach, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a call happens, after defaults: names are `type:id`; `owned` are sessions that the actor itself opened.

    `rows` are those of its scopes that were there when the call began.
    """

    domain_id: str
    session: str | None
    read: tuple[str, ...]
    write: tuple[str, ...]
    default_write: str | None
    owned: frozenset[str]
    partition: str
    rows: Mapping[str, MemoryScope] = field(default_factory=dict, compare=False, repr=False)

    def scopes_read(self) -> dict[int, MemoryScope]:
        """The scopes that are read and there, by key, in the order in which they were named."""
        return {self.rows[name].key: self.rows[name] for name in self.read if name in self.rows}


def hash_key(secret: str) -> str:
    """SHA-256 of an API key, 64 hexadecimal digits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def authenticate_key(secret: str) -> Identity:
    """Who carries this API key. Raises UnauthenticatedError alike for missing, malformed, wrong and revoked keys."""
    parts = secret.strip().split("_", 2)
    if len(parts) != 3 or parts[0] != "sb" or not secret.isascii() or "\x00" in secret:
        raise UnauthenticatedError
    key = (
        ApiKey.objects.select_related("principal__owner")
        .prefetch_related("principal__grants")
        .filter(prefix=parts[1][:16], revoked_at=None, principal__active=True)
        .first()
    )
    if key is None or not hmac.compare_digest(key.hash, hash_key(secret.strip())):
        raise UnauthenticatedError
    return identify_principal(key.principal)


def identify_principal(principal: Principal) -> Identity:
    """The actor and reach of a principal; a right that no key may hold is dropped even if a row claims it."""
    return Identity(_agent(principal), tuple(_reach_of(grant) for grant in principal.grants.all()))


def _agent(principal: Principal) -> Actor:
    owner = f"user:{principal.owner_id}" if principal.owner_id else ""
    return Actor(ActorKind.AGENT, str(principal.id), principal.name, owner)


def _reach_of(grant: Grant) -> Reach:
    return Reach(grant.domain_id, grant.pattern, frozenset(right for right in KEY_RIGHTS if right in grant.rights))


def identify_person(user: User) -> Identity:
    """The actor and reach of a signed-in person: everything for a superuser, else what is assigned in roles whose group
    the person is in."""
    actor = Actor(ActorKind.PERSON, f"user:{user.pk}", user.get_username())
    if not user.is_active:
        return Identity(actor, ())
    if user.is_superuser:
        return Identity(actor, EVERYTHING)
    rows = ReviewerAssignment.objects.filter(user=user, role__in=user.groups.values("name"))
    return Identity(actor, tuple(Reach(row.domain_id, row.pattern, ROLE_RIGHTS[Role(row.role)]) for row in rows))


def identify_again(actor: Actor) -> Identity:
    """The same actor with what it may reach now; nothing once its principal or account is switched off or gone, or the
    last key of the principal was revoked."""
    if actor.kind is ActorKind.SYSTEM:
        return Identity(actor, EVERYTHING)
    if actor.kind is ActorKind.PERSON:
        user = get_user_model().objects.filter(pk=actor.id.removeprefix("user:")).first()
        return identify_person(user) if user else Identity(actor, ())
    live = ApiKey.objects.filter(principal_id=actor.id, revoked_at=None)
    row = Principal.objects.prefetch_related("grants").filter(pk=actor.id, active=True).first()
    return identify_principal(row) if row and live.exists() else Identity(actor, ())


def identify_agents(actors: Iterable[Actor]) -> dict[str, Identity]:
    """What `identify_again` says of several agents, by their ids, in one statement, however many they are."""
    known = {actor.id: Identity(actor, ()) for actor in actors if actor.kind is ActorKind.AGENT}
    live = Exists(ApiKey.objects.filter(principal=OuterRef("principal"), revoked_at=None))
    rows = Grant.objects.filter(live, principal__in=uuids_in(known).values(), principal__active=True)
    for grant in rows.select_related("principal"):
        before = known[str(grant.principal_id)].reach
        known[str(grant.principal_id)] = Identity(_agent(grant.principal), (*before, _reach_of(grant)))
    return known


def identify_author(author_id: str, name: str) -> Identity:
    """Who wrote a row that keeps the id and name of its author, with what they may reach now."""
    prefixes = {"user": ActorKind.PERSON, "system": ActorKind.SYSTEM}
    kind = prefixes.get(author_id.partition(":")[0], ActorKind.AGENT)
    actor = Actor(kind, author_id, name)
    known = kind is not ActorKind.AGENT or uuids_in([author_id])
    return identify_again(actor) if known else Identity(actor, ())


def identify_named(name: str) -> Identity | None:
    """The actor and reach of the active principal of that name; None where there is none."""
    row = Principal.objects.prefetch_related("grants").filter(name=name, active=True).first()
    return identify_principal(row) if row else None


def domain_exists(domain_id: str) -> bool:
    """Whether the domain is there."""
    return Domain.objects.filter(pk=domain_id).exists()


def visible_domains(ctx: Ctx, right: Right = Right.READ) -> QuerySet[Domain]:
    """The base queryset: domains in which the actor holds the right on at least one scope."""
    found = Q(pk__in=[])
    for grant in ctx.reach:
        if right in grant.rights:
            found |= _in_domain(grant, "id")
    return Domain.objects.filter(found)


def require_domain(domain_id: str, ctx: Ctx) -> None:
    """Raise NotFoundError unless the actor has a grant in the domain and the domain is there."""
    if not ctx.knows(domain_id) or not domain_exists(domain_id):
        raise NotFoundError(f"No domain {domain_id!r} that you can see.")


def resolve(given: Scoped, ctx: Ctx, allowed_types: Sequence[str]) -> Resolved:
    """Fill in the defaults of a scoped call and check that it may read what it names.

    Raises InvalidInputError for an unknown scope type or a scope of another domain, NotFoundError for a domain or a
    scope outside the actor's grants.
    """
    domain_id, partition = given.domain_id, partition_of(given.domain_id, ctx)
    session = f"{SESSION}:{given.session_id}" if given.session_id is not None else None
    read, write, default = _named(given, session)
    named = dict.fromkeys([*read, *write, *(name for name in (session, default) if name is not None)])
    rows = {row.name: row for row in scope_rows(domain_id, named, partition)} if ctx.knows(domain_id) else {}
    if not rows:  # a scope that is there lies in a domain that is there
        require_domain(domain_id, ctx)
    for ref in _refs(given):
        check_ref(ref, domain_id, allowed_types)
    owned = _owned([*read, *([session] if session else [])], rows, ctx)
    for name in read:
        if not held(ctx, domain_id, name, owned) & {Right.READ}:
            raise NotFoundError(f"No scope {name!r} that you can see.")
    return Resolved(domain_id, session, read, write, default, owned, partition, rows)


def held(ctx: Ctx, domain_id: str, scope: str, owned: frozenset[str] = frozenset()) -> frozenset[Right]:
    """The rights that the actor holds on a scope. On a session that it opened itself it may read, write and propose for
    promotion, as far as it holds that right anywhere in the domain."""
    if scope in owned:
        own = (Right.READ, Right.WRITE, Right.PROMOTE)
        return frozenset(right for right in own if ctx.may_somewhere(right, domain_id))
    return frozenset(right for grant in ctx.reach if grant.covers_scope(domain_id, scope) for right in grant.rights)


def _named(given: Scoped, session: str | None) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    context = given.scope_context
    if context is None:
        name = session or ""
        return (name,), (name,), name
    read = tuple(ref.name for ref in context.read)
    default = context.default_write.name if context.default_write else None
    if context.write is None:
        return read, (default,) if default else (), default
    return read, tuple(ref.name for ref in context.write), default


def _refs(given: Scoped) -> list[ScopeRef]:
    """Every scope that the call names."""
    context = given.scope_context
    if context is None:
        return []
    return [*context.read, *(context.write or []), *([context.default_write] if context.default_write else [])]


def check_ref(ref: ScopeRef, domain_id: str, allowed_types: Sequence[str]) -> None:
    """Refuse a scope of an unknown type or of another domain."""
    if ref.type not in allowed_types:
        raise InvalidInputError(
            f"Unknown scope type {ref.type!r}: use one of {', '.join(allowed_types)}.",
            errors=[{"loc": ["scope_context"], "msg": f"unknown scope type {ref.type!r}", "type": "scope_type"}],
        )
    if ref.domain_id is not None and ref.domain_id != domain_id:
        raise InvalidInputError(
            f"Scope {ref.name!r} names another domain than the request: one call stays in one domain.",
            errors=[{"loc": ["scope_context"], "msg": "scope of another domain", "type": "foreign_domain"}],
        )


def partition_of(domain_id: str, ctx: Ctx) -> str:
    """The partition of session scopes: the actor in the legacy domain, where session ids are per principal."""
    return ctx.actor.id if domain_id == LEGACY_DOMAIN else ""


def owned_sessions(domain_id: str, names: Iterable[str], ctx: Ctx, partition: str) -> frozenset[str]:
    """The session scopes among `names` that the actor opened, or that nobody has opened yet. `partition` is that of
    `partition_of`."""
    sessions = [name for name in names if name.startswith(f"{SESSION}:")]
    rows = scope_rows(domain_id, sessions, partition) if sessions else []
    return _owned(sessions, {row.name: row for row in rows}, ctx)


def _owned(names: Iterable[str], rows: Mapping[str, MemoryScope], ctx: Ctx) -> frozenset[str]:
    """The session scopes among `names` that the actor opened, or that nobody has opened yet."""
    sessions = (name for name in names if name.startswith(f"{SESSION}:"))
    return frozenset(name for name in sessions if name not in rows or rows[name].owner == ctx.actor.id)


def visible_scopes(ctx: Ctx, right: Right = Right.READ) -> QuerySet[MemoryScope]:
    """The base queryset: every scope on which the actor holds the right, and the sessions that it opened itself; never
    one that no caller can name."""
    nothing = Q(pk__in=[])
    granted, mine = nothing, nothing
    for grant in ctx.reach:
        if right not in grant.rights:
            continue
        granted |= _covered(grant)
        if right in (Right.READ, Right.WRITE):
            mine |= Q(owner=ctx.actor.id) & _in_domain(grant, "domain_id")
    if ctx.actor.kind is ActorKind.AGENT:
        granted &= Q(partition__in=["", ctx.actor.id])
    return MemoryScope.objects.filter(granted | mine).exclude(scope_type=OWNER)


def private_scopes(domain_id: str, names: Iterable[str] = (), keys: Iterable[int] = ()) -> QuerySet[MemoryScope]:
    """The scopes of a domain that no caller can name, among these names or these keys."""
    actors = [name.removeprefix(f"{OWNER}:") for name in names]
    rows = MemoryScope.objects.filter(domain_id=domain_id, scope_type=OWNER)
    return rows.filter(Q(external_id__in=actors) | Q(key__in=list(keys)))


def domain_filter(ctx: Ctx, right: Right = Right.READ) -> Q:
    """The domains in which the actor holds the right at all, for a table that carries its domain.

    It adds nothing to the scopes' own filter but lets the database start at the newest rows of one domain.
    """
    domains = sorted({grant.domain_id for grant in ctx.reach if right in grant.rights})
    if ANY in domains:
        return Q(pk__isnull=False)
    return Q(domain_id=domains[0]) if len(domains) == 1 else Q(domain_id__in=domains)


def _covered(grant: Reach) -> Q:
    found = _in_domain(grant, "domain_id")
    if grant.pattern == ANY:
        return found
    scope_type, _, external_id = grant.pattern.partition(":")
    found &= Q(scope_type=scope_type)
    return found if external_id == ANY else found & Q(external_id=external_id)


def _in_domain(grant: Reach, column: str) -> Q:
    return Q(**{f"{column}__isnull": False}) if grant.domain_id == ANY else Q(**{column: grant.domain_id})


def within_reach(ctx: Ctx, right: Right, domain: str = "domain_id", scope: str = "scope") -> Q:
    """A filter for tables that hold a domain and a scope in written form (`type:id`, or `*` for the whole domain).

    `domain` and `scope` are the column names. Rows of no domain are seen by those who hold the right everywhere.
    """
    found = Q(pk__in=[])
    for grant in ctx.reach:
        if right not in grant.rights:
            continue
        if grant.domain_id == ANY and grant.pattern == ANY:
            return Q(pk__isnull=False)  # not Q(): an empty filter would vanish from an `|`
        here = _in_domain(grant, domain)
        prefix = type_prefix(grant.pattern)
        if prefix is not None:
            here &= Q(**{f"{scope}__startswith": prefix})
        elif grant.pattern != ANY:
            here &= Q(**{scope: grant.pattern})
        found |= here
    return found


# What makes up a scope where queries of other apps read it along: the columns, and the row from their values.
SCOPE_COLUMNS = ("key", "id", "domain_id", "scope_type", "external_id", "partition", "owner")
scope_row = instances(MemoryScope, SCOPE_COLUMNS)


@compiled(scope_row)
def _scopes(domain: Given, types: Given, external_ids: Given, partitions: Given) -> QuerySet[MemoryScope, Any]:
    """Every combination of them, which is more than is wanted, so that all parts of the index are used."""
    rows = MemoryScope.objects.filter(
        domain_id=domain, scope_type__among=types, external_id__among=external_ids, partition__among=partitions
    )
    return rows.order_by("key").values_list(*SCOPE_COLUMNS)


def scope_rows(domain_id: str, names: Iterable[str], partition: str) -> list[MemoryScope]:
    """The rows of the scopes that exist among `names`, in the order of `names`."""
    wanted = list(names)
    parts = [name.partition(":") for name in wanted]
    found = _scopes(
        domain=domain_id,
        types={scope_type for scope_type, _, _ in parts},
        external_ids={external_id for _, _, external_id in parts},
        partitions={"", partition},
    )
    rows = {row.name: row for row in found if row.partition == (partition if row.scope_type == SESSION else "")}
    return [rows[name] for name in wanted if name in rows]


def view_principal(principal: Principal, ctx: Ctx) -> PrincipalView:
    """A principal with its grants where the asker may audit or operate; no secret is in it."""
    return PrincipalView(
        id=str(principal.id),
        name=principal.name,
        kind=ActorKind(principal.kind),
        active=principal.active,
        owner=principal.owner.get_username() if principal.owner else None,
        grants=[
            GrantView(domain_id=grant.domain_id, pattern=grant.pattern, rights=[Right(r) for r in grant.rights])
            for grant in principal.grants.all()
            if ctx.may(Right.AUDIT, grant.domain_id, grant.pattern)
        ],
    )


def readers_of(domain_id: str, scope: str, owner: str = "") -> list[str]:
    """Names of the active principals that may read a scope (`type:id`); `owner` is the id of who opened a session."""
    rows = Grant.objects.filter(domain_id=domain_id, principal__active=True).select_related("principal")
    return sorted(
        {
            row.principal.name
            for row in rows
            if Right.READ in row.rights
            and (
                str(row.principal_id) == owner
                or Reach(domain_id, row.pattern, frozenset()).covers_scope(domain_id, scope)
            )
        }
    )
