"""Admin pages on who may reach what: domains, scopes, principals, keys, grants and reviewer assignments."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from governance import selectors
from governance.adminbase import (
    Cell,
    Fact,
    ReadOnlyAdmin,
    Table,
    badge,
    ctx_of,
    fact,
    list_url,
    narrowed_links,
    page_url,
    shown,
    when,
)
from kernel.context import Ctx, Right
from scopes.models import ApiKey, Domain, Grant, MemoryScope, Principal, ReviewerAssignment
from scopes.selectors import visible_domains, visible_scopes


@admin.register(Domain)
class DomainAdmin(ReadOnlyAdmin):
    """Isolation boundaries."""

    group, place, icon = "Access", 0, "domain"
    list_display = ("name", "created")
    ordering = ("id",)
    search_fields = ("id",)
    search_help_text = "Start of a domain's name"
    teach = "No domains yet. A domain isolates one user, tenant or application; the first principal in it creates it."
    teach_command = "manage.py create_principal my-agent --domain my-team"

    def visible(self, ctx: Ctx) -> QuerySet[Domain]:
        """Domains that the person reads in."""
        return visible_domains(ctx)

    def matches(self, term: str) -> Q:
        """A domain's id is text."""
        return Q(id__istartswith=term)

    @admin.display(description="Domain")
    def name(self, row: Domain) -> str:
        """The name."""
        return shown(row.id)

    @admin.display(description="Created (UTC)")
    def created(self, row: Domain) -> str:
        """When it was made."""
        return when(row.created_at)

    def facts(self, row: Domain, request: HttpRequest) -> list[Fact]:
        """Its values and what is in it."""
        return [
            fact("Domain", row.id, kind="code"),
            fact("Created", row.created_at, kind="time"),
            fact("Metadata", row.metadata, kind="json"),
            *(Fact("In this domain", cell) for cell in narrowed_links(request, "domain", row.id)),
        ]


@admin.register(MemoryScope)
class ScopeAdmin(ReadOnlyAdmin):
    """Where long-term memory belongs."""

    group, place, icon = "Access", 1, "account_tree"
    list_display = ("scope", "type_label", "domain_name", "created")
    list_filter = ()
    ordering = ("-key",)
    search_fields = ("external_id",)
    search_help_text = "Start of a scope's id, or its UUID"
    narrow_by = ("domain", "scope_type")
    teach = "No scopes yet. An agent makes one by naming it where it commits a turn."
    teach_command = '"scope_context": {"read": [{"type": "project", "id": "atlas"}]}'

    def visible(self, ctx: Ctx) -> QuerySet[MemoryScope]:
        """Scopes that the person reads."""
        return visible_scopes(ctx)

    @admin.display(description="Scope")
    def scope(self, row: MemoryScope) -> str:
        """The written form."""
        return shown(row.name)

    @admin.display(description="Type")
    def type_label(self, row: MemoryScope) -> str:
        """The type."""
        return badge(row.scope_type)

    @admin.display(description="Domain")
    def domain_name(self, row: MemoryScope) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="First used (UTC)")
    def created(self, row: MemoryScope) -> str:
        """When it was first named."""
        return when(row.created_at)

    def facts(self, row: MemoryScope, request: HttpRequest) -> list[Fact]:
        """Its values."""
        parent = self.get_queryset(request).filter(pk=row.parent_id).first() if row.parent_id else None
        return [
            fact("Scope", row.name, kind="code"),
            fact("Domain", row.domain_id),
            fact("Parent", parent.name if parent else "none", page_url(parent) if parent else ""),
            fact("Scope id", row.id, kind="code"),
            fact("First used", row.created_at, kind="time"),
            fact("Metadata", row.metadata, kind="json"),
        ]


@admin.register(Principal)
class PrincipalAdmin(ReadOnlyAdmin):
    """Who carries a key."""

    group, place, icon = "Access", 2, "smart_toy"
    list_display = ("who", "kind_label", "state", "answers", "created")
    list_select_related = ("owner",)
    search_fields = ("name",)
    search_help_text = "Start of a principal's name, or its UUID"
    front = "Principals"
    needs = Right.AUDIT
    teach = "No principals yet. An operator makes one; its key is shown once."
    teach_command = "manage.py create_principal my-agent --domain my-team --rights read,write"

    def visible(self, ctx: Ctx) -> QuerySet[Principal]:
        """Principals with a grant where the person reviews."""
        return selectors.visible_principals(ctx)

    @admin.display(description="Principal")
    def who(self, row: Principal) -> str:
        """The name."""
        return shown(row.name)

    @admin.display(description="Kind")
    def kind_label(self, row: Principal) -> str:
        """The kind of actor."""
        return badge(row.kind)

    @admin.display(description="State")
    def state(self, row: Principal) -> str:
        """Whether its keys work."""
        return badge("active", "good") if row.active else badge("switched off", "bad")

    @admin.display(description="Answered for by")
    def answers(self, row: Principal) -> str:
        """The person behind it."""
        return shown(row.owner.get_username() if row.owner else "nobody")

    @admin.display(description="Created (UTC)")
    def created(self, row: Principal) -> str:
        """When it was made."""
        return when(row.created_at)

    def facts(self, row: Principal, request: HttpRequest) -> list[Fact]:
        """Its values."""
        return [
            fact("Principal", row.name),
            fact("Kind", row.kind),
            fact("State", "active" if row.active else "switched off: its keys do not work"),
            fact("Answered for by", row.owner.get_username() if row.owner else "nobody"),
            fact("Created", row.created_at, kind="time"),
            fact("Principal id", row.id, kind="code"),
            *(Fact("What it did", cell) for cell in narrowed_links(request, "actor_id", row.id)),
        ]

    def tables(self, row: Principal, request: HttpRequest) -> list[Table]:
        """Its grants in the scopes that the person reviews, and its keys."""
        ctx = ctx_of(request)
        grants = [
            [Cell(g.domain_id), Cell(g.pattern, page_url(g), "code"), Cell(", ".join(g.rights))]
            for g in selectors.visible_grants(ctx).filter(principal=row)[:100]
        ]
        keys = [
            [Cell(f"sb_{k.prefix}_…", page_url(k), "code"), Cell(k.created_at, kind="time"), Cell(_key_state(k))]
            for k in selectors.visible_keys(ctx).filter(principal=row)[:100]
        ]
        return [
            Table("Grants", ("Domain", "Scopes", "Rights"), grants, "No grants: it can do nothing."),
            Table("Keys", ("Key", "Issued", "State"), keys, "No keys: it cannot sign in."),
        ]


def _key_state(row: ApiKey) -> str:
    return f"revoked {row.revoked_at:%Y-%m-%d %H:%M} UTC" if row.revoked_at else "works"


@admin.register(ApiKey)
class KeyAdmin(ReadOnlyAdmin):
    """Keys by their prefix; neither a secret nor its hash is ever shown."""

    group, place, icon = "Access", 3, "key"
    list_display = ("key_prefix", "who", "state", "issued")
    list_select_related = ("principal",)
    search_fields = ("prefix",)
    search_help_text = "Prefix of a key: the part between the underscores"
    needs = Right.AUDIT
    teach = "No keys yet. A key belongs to a principal; an operator issues and revokes it."
    teach_command = "manage.py revoke_key <prefix>"

    def visible(self, ctx: Ctx) -> QuerySet[ApiKey]:
        """Keys of visible principals, without their hash."""
        return selectors.visible_keys(ctx).defer("hash")

    @admin.display(description="Key")
    def key_prefix(self, row: ApiKey) -> str:
        """The prefix."""
        return shown(f"sb_{row.prefix}_…")

    @admin.display(description="Principal")
    def who(self, row: ApiKey) -> str:
        """Whose it is."""
        return shown(row.principal.name)

    @admin.display(description="State")
    def state(self, row: ApiKey) -> str:
        """Whether it works."""
        return badge("revoked", "bad") if row.revoked_at else badge("works", "good")

    @admin.display(description="Issued (UTC)")
    def issued(self, row: ApiKey) -> str:
        """When it was made."""
        return when(row.created_at)

    def facts(self, row: ApiKey, request: HttpRequest) -> list[Fact]:
        """Its values; the secret was shown once and is stored nowhere."""
        return [
            fact("Key", f"sb_{row.prefix}_…", kind="code"),
            fact("Principal", row.principal.name, page_url(row.principal)),
            fact("State", _key_state(row)),
            fact("Issued", row.created_at, kind="time"),
        ]


@admin.register(Grant)
class GrantAdmin(ReadOnlyAdmin):
    """What principals may do where."""

    group, place, icon = "Access", 4, "shield_person"
    list_display = ("who", "domain_name", "scopes", "rights_held", "created")
    list_select_related = ("principal",)
    search_fields = ("principal__name",)
    search_help_text = "Start of a principal's name"
    narrow_by = ("domain",)
    needs = Right.AUDIT
    teach = "No grants yet. Without a grant a key sees nothing."
    teach_command = """manage.py act grant_access '{"name": "my-agent", "domain_id": "my-team", "rights": ["read"]}'"""

    def visible(self, ctx: Ctx) -> QuerySet[Grant]:
        """Grants where the person reviews."""
        return selectors.visible_grants(ctx)

    @admin.display(description="Principal")
    def who(self, row: Grant) -> str:
        """Who holds it."""
        return shown(row.principal.name)

    @admin.display(description="Domain")
    def domain_name(self, row: Grant) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Scopes")
    def scopes(self, row: Grant) -> str:
        """The pattern."""
        return shown(row.pattern)

    @admin.display(description="Rights")
    def rights_held(self, row: Grant) -> str:
        """The rights."""
        return shown(", ".join(row.rights))

    @admin.display(description="Given (UTC)")
    def created(self, row: Grant) -> str:
        """When it was given."""
        return when(row.created_at)

    def facts(self, row: Grant, request: HttpRequest) -> list[Fact]:
        """Its values."""
        return [
            fact("Principal", row.principal.name, page_url(row.principal)),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Scopes", row.pattern, kind="code"),
            fact("Rights", ", ".join(row.rights)),
            fact("Given", row.created_at, kind="time"),
        ]


@admin.register(ReviewerAssignment)
class AssignmentAdmin(ReadOnlyAdmin):
    """Which people review, audit or operate which scopes."""

    group, place, icon = "Access", 5, "supervisor_account"
    list_display = ("who", "role_label", "domain_name", "scopes", "created")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    search_help_text = "Start of a user name"
    narrow_by = ("domain",)
    needs = Right.AUDIT
    teach = (
        "No assignments yet. A reviewer reads the scopes of a pattern and decides on its proposals; an auditor reads the"
        " record and the policies; an operator gives access and sets policies."
    )
    teach_command = """manage.py act assign_reviewer '{"user": "ann", "domain_id": "my-team", "pattern": "*"}'"""

    def visible(self, ctx: Ctx) -> QuerySet[ReviewerAssignment]:
        """Assignments on scopes that the person reviews too."""
        return selectors.visible_assignments(ctx)

    @admin.display(description="Role")
    def role_label(self, row: ReviewerAssignment) -> str:
        """What they do there."""
        return badge(row.role)

    @admin.display(description="Person")
    def who(self, row: ReviewerAssignment) -> str:
        """The person."""
        return shown(row.user.get_username())

    @admin.display(description="Domain")
    def domain_name(self, row: ReviewerAssignment) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Scopes")
    def scopes(self, row: ReviewerAssignment) -> str:
        """The pattern."""
        return shown(row.pattern)

    @admin.display(description="Since (UTC)")
    def created(self, row: ReviewerAssignment) -> str:
        """Since when."""
        return when(row.created_at)

    def facts(self, row: ReviewerAssignment, request: HttpRequest) -> list[Fact]:
        """Its values."""
        did = narrowed_links(request, "actor_id", f"user:{row.user_id}")
        return [
            fact("Person", row.user.get_username()),
            fact("Role", row.role),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Scopes", row.pattern, kind="code"),
            fact("Since", row.created_at, kind="time"),
            *(Fact("What they did", cell) for cell in did),
        ]
