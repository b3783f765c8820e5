"""Admin pages of entities and relations: names only, limited to the scopes that the person reads."""

from __future__ import annotations

from uuid import UUID

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from governance.adminbase import (
    Cell,
    Fact,
    ReadOnlyAdmin,
    Table,
    as_uuid,
    badge,
    ctx_of,
    fact,
    list_url,
    page_url,
    shown,
    when,
)
from kernel.context import Ctx
from memory.models import Entity, EntityAlias, EntityMention, KgEdge
from memory.naming import fold_name
from memory.selectors import visible_items, visible_sessions, visible_turns
from memory.selectors.graph import visible_edges, visible_entities

NEWEST = 20
STATE_TONES = {"active": "good"}


@admin.register(Entity)
class EntityAdmin(ReadOnlyAdmin):
    """Someone or something that texts name."""

    group, place, icon = "Memory", 1, "label"
    list_display = ("title", "kind_name", "where", "state", "added")
    search_fields = ("canonical_folded",)
    search_help_text = "A name or alias, whole or its start, or an entity's UUID"
    narrow_by = ("domain", "scope", "kind")
    teach = "No entities yet. One is kept when a commit says so, or when it is named often enough:"
    teach_command = (
        '{"turn_events": {"entities": [{"key": "entity:repo:smart_rag", "aliases": ["rag"], "remember": true}]}}'
    )

    def visible(self, ctx: Ctx) -> QuerySet[Entity]:
        """Entities of the scopes that the person reads."""
        return visible_entities(ctx)

    def matches(self, term: str) -> Q:
        """An entity by its id, the start of its folded name, or a whole alias."""
        name, row_id = fold_name(term), as_uuid(term)
        aliases = EntityAlias.objects.filter(alias_folded=name).values("entity_id")
        found = Q(canonical_folded__startswith=name) | Q(pk__in=aliases)
        return found | Q(id=row_id) if row_id else found

    @admin.display(description="Entity")
    def title(self, row: Entity) -> str:
        """Its canonical name."""
        return shown(row.canonical)

    @admin.display(description="Kind")
    def kind_name(self, row: Entity) -> str:
        """Its kind."""
        return badge(row.kind)

    @admin.display(description="Where")
    def where(self, row: Entity) -> str:
        """Domain and scope."""
        return shown(row.scope)

    @admin.display(description="State")
    def state(self, row: Entity) -> str:
        """Whether it is in use."""
        return badge(row.state, STATE_TONES.get(row.state, "plain"))

    @admin.display(description="Added (UTC)")
    def added(self, row: Entity) -> str:
        """When."""
        return when(row.created_at)

    def facts(self, row: Entity, request: HttpRequest) -> list[Fact]:
        """Its values."""
        ctx = ctx_of(request)
        item = visible_items(ctx).filter(pk=row.item_id).first() if row.item_id else None
        return [
            fact("Canonical name", row.canonical),
            fact("Name", row.name),
            fact("Kind", row.kind, list_url(self.opts, domain=row.domain_id, kind=row.kind)),
            fact("State", row.state),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Scope", row.scope.name, list_url(self.opts, scope=row.scope_id), "code"),
            fact("Memory", str(item) if item else "none", page_url(item) if item else "", "code"),
            *_session_fact(row.source_session_id, ctx),
            fact("Added", row.created_at, kind="time"),
            fact("Entity id", row.pk, kind="code"),
        ]

    def tables(self, row: Entity, request: HttpRequest) -> list[Table]:
        """Its aliases, the turns that named it and the relations that it takes part in."""
        ctx = ctx_of(request)
        names = [row.canonical_folded, fold_name(row.name), *(alias.alias_folded for alias in row.aliases.all())]
        aliases = [[Cell(alias.alias)] for alias in row.aliases.all()]
        edges = visible_edges(ctx).filter(Q(subject_folded__in=names) | Q(object_folded__in=names), scope=row.scope)
        return [
            Table("Aliases", ("Alias",), aliases, "It goes by no other name."),
            _mentions(row, ctx),
            Table(
                "Relations", ("Relation", "State"), [_edge(edge) for edge in edges.order_by("-id")[:NEWEST]], "None."
            ),
        ]


def _edge(row: KgEdge) -> list[Cell]:
    return [Cell(str(row), page_url(row)), Cell(row.state)]


def _mentions(row: Entity, ctx: Ctx) -> Table:
    seen = Exists(visible_turns(ctx).filter(pk=OuterRef("turn_id")))
    found = EntityMention.objects.filter(seen, entity=row).select_related("turn__session")
    rows = [
        [
            Cell(str(mention.turn), page_url(mention.turn)),
            Cell(mention.metadata, kind="json") if mention.metadata else Cell("–"),
            Cell(mention.created_at, kind="time"),
        ]
        for mention in found.order_by("-id")[:NEWEST]
    ]
    return Table("Newest mentions", ("Turn", "Where", "When"), rows, "No turn that you can see names it.")


def _session_fact(session_id: UUID | None, ctx: Ctx) -> list[Fact]:
    session = visible_sessions(ctx).filter(pk=session_id).first() if session_id else None
    return [fact("Session", session.external_id, page_url(session))] if session else []


@admin.register(KgEdge)
class EdgeAdmin(ReadOnlyAdmin):
    """Relations between names, ended ones too."""

    group, place, icon = "Memory", 2, "hub"
    list_display = ("title", "where", "state", "sure", "recorded")
    search_fields = ("subject_folded", "object_folded")
    search_help_text = "Start of one of the two names, or a relation's UUID"
    narrow_by = ("domain", "scope", "predicate")
    teach = "No relations yet. An agent stores one with commit_turn:"
    teach_command = '{"turn_events": {"edges": [{"subject": "smart_rag", "predicate": "uses", "object": "Postgres"}]}}'

    def visible(self, ctx: Ctx) -> QuerySet[KgEdge]:
        """Relations of the scopes that the person reads."""
        return visible_edges(ctx)

    def matches(self, term: str) -> Q:
        """A relation by its id, or by the start of a folded name."""
        name, row_id = fold_name(term), as_uuid(term)
        found = Q(subject_folded__startswith=name) | Q(object_folded__startswith=name)
        return found | Q(id=row_id) if row_id else found

    @admin.display(description="Relation")
    def title(self, row: KgEdge) -> str:
        """Subject, predicate and object."""
        return shown(row)

    @admin.display(description="Where")
    def where(self, row: KgEdge) -> str:
        """Domain and scope."""
        return shown(row.scope)

    @admin.display(description="State")
    def state(self, row: KgEdge) -> str:
        """Whether it still holds."""
        return badge(row.state, STATE_TONES.get(row.state, "plain"))

    @admin.display(description="Confidence")
    def sure(self, row: KgEdge) -> str:
        """How sure."""
        return f"{row.confidence:g}"

    @admin.display(description="Recorded (UTC)")
    def recorded(self, row: KgEdge) -> str:
        """When."""
        return when(row.recorded_at)

    def facts(self, row: KgEdge, request: HttpRequest) -> list[Fact]:
        """Its values."""
        ctx = ctx_of(request)
        turns = visible_turns(ctx).select_related("session")
        turn = turns.filter(pk=row.source_turn_id).first() if row.source_turn_id else None
        return [
            fact("Subject", row.subject, list_url(Entity._meta, q=row.subject)),
            fact("Predicate", row.predicate, list_url(self.opts, domain=row.domain_id, predicate=row.predicate)),
            fact("Object", row.object, list_url(Entity._meta, q=row.object)),
            fact("State", row.state),
            fact("Confidence", f"{row.confidence:g}"),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Scope", row.scope.name, list_url(self.opts, scope=row.scope_id), "code"),
            fact("Holds from", row.valid_from, kind="time"),
            fact("Holds until", row.valid_to, kind="time"),
            fact("Recorded", row.recorded_at, kind="time"),
            fact("In force until", row.current_until, kind="time"),
            *([fact("Said in", str(turn), page_url(turn))] if turn else []),
            fact("Relation id", row.pk, kind="code"),
        ]
