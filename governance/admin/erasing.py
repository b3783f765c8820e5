"""Admin pages on what was erased and what must not be: receipts, and legal holds."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from governance.adminbase import (
    Cell,
    Fact,
    ReadOnlyAdmin,
    Table,
    as_uuid,
    badge,
    fact,
    list_url,
    place_of,
    shown,
    when,
)
from governance.contracts.erasing import NOT_PROVED
from governance.models import LegalHold, Tombstone
from governance.selectors import erasing as selectors
from kernel.context import Ctx, Right

IN_FORCE, LIFTED = "in force", "lifted"


@admin.register(Tombstone)
class ReceiptAdmin(ReadOnlyAdmin):
    """What was erased: hashes and counts, none of the words."""

    group, place, icon = "Review", 7, "delete_forever"
    list_display = ("what", "where", "why", "by", "erased")
    search_fields = ("by_name",)
    search_help_text = "Start of a person's name, or the UUID of a receipt or of what was erased"
    narrow_by = ("domain", "receipt_id", "kind")
    needs = Right.AUDIT
    teach = (
        "Nothing was erased yet. To erase is to take memories, sessions or documents away for good; a person"
        " decides, and a receipt stays here."
    )
    teach_command = (
        "manage.py act erase "
        """'{"domain_id": "my-team", "objects": [{"kind": "memory", "id": "<id>"}], "reason": "asked to"}'"""
    )
    on_page_only = ("scopes", "counts", "sha256")

    def visible(self, ctx: Ctx) -> QuerySet[Tombstone]:
        """Receipts of what lay in scopes that the person reviews."""
        return selectors.visible_tombstones(ctx)

    def matches(self, term: str) -> Q:
        """A receipt by its own id, by that of the whole call, or by that of what was erased."""
        row_id = as_uuid(term)
        found = super().matches(term)
        return found | Q(receipt_id=row_id) | Q(object_id=row_id) if row_id else found

    @admin.display(description="Erased")
    def what(self, row: Tombstone) -> str:
        """What it was."""
        return shown(f"{row.kind} {row.object_id}")

    @admin.display(description="Where it lay")
    def where(self, row: Tombstone) -> str:
        """Domain and scope."""
        return shown(place_of(row.domain_id, row.scope))

    @admin.display(description="Reason")
    def why(self, row: Tombstone) -> str:
        """Why."""
        return shown(row.reason)

    @admin.display(description="By")
    def by(self, row: Tombstone) -> str:
        """Who carried it out."""
        return shown(row.by_name)

    @admin.display(description="Erased (UTC)")
    def erased(self, row: Tombstone) -> str:
        """When."""
        return when(row.created_at)

    def facts(self, row: Tombstone, request: HttpRequest) -> list[Fact]:
        """Its values, and the way to all that the call erased and to its entry in the log."""
        receipt = str(row.receipt_id)
        entry = reverse("admin:governance_history", query={"table": selectors.RECEIPTS, "object_id": receipt})
        return [
            fact("Erased", row.kind),
            fact("Id that it had", row.object_id, kind="code"),
            *(fact("Where it lay", place_of(row.domain_id, name)) for name in row.scopes),
            fact("Reason", row.reason),
            fact("Carried out by", row.by_name),
            fact("Asked for by", row.on_behalf_of or row.by_name),
            fact("At", row.created_at, kind="time"),
            fact("SHA-256 of all its rows", row.sha256, kind="code"),
            fact("Receipt", receipt, kind="code"),
            fact("All of the same call", "receipts", list_url(self.opts, receipt_id=receipt)),
            fact("In the audit log", "who did what", entry),
            fact("In this domain", "receipts", list_url(self.opts, domain=row.domain_id)),
        ]

    def tables(self, row: Tombstone, request: HttpRequest) -> list[Table]:
        """How many rows went with it, and what the receipt does not prove."""
        went = [[Cell(name.replace("_", " ")), Cell(count)] for name, count in sorted(row.counts.items()) if count]
        left = [[Cell(each)] for each in NOT_PROVED]
        return [
            Table("Went with it", ("Rows", "How many"), went, "Nothing hung on it."),
            Table("What this receipt does not prove", ("Not proved",), left, ""),
        ]


class StateFilter(SimpleListFilter):
    """Whether a hold is in force: a short closed list, so nothing is looked up."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The states."""
        return [(state, state) for state in (IN_FORCE, LIFTED)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LegalHold]) -> QuerySet[LegalHold]:
        """Holds in that state."""
        wanted = {IN_FORCE: True, LIFTED: False}.get(self.value() or "")
        return queryset if wanted is None else queryset.filter(lifted_at__isnull=wanted)


@admin.register(LegalHold)
class HoldAdmin(ReadOnlyAdmin):
    """What must not be erased."""

    group, place, icon = "Review", 6, "lock"
    list_display = ("what", "where", "state", "why", "by", "placed_at")
    list_filter = (StateFilter,)
    search_fields = ("by_name",)
    search_help_text = "Start of a person's name, or the UUID of a hold or of what it is on"
    narrow_by = ("domain",)
    needs = Right.AUDIT
    teach = "No legal holds. A hold forbids to erase one thing, or all in some scopes, until an operator lifts it."
    teach_command = (
        """manage.py act place_hold '{"domain_id": "my-team", "scope": "project:atlas", "reason": "a lawsuit"}'"""
    )

    def visible(self, ctx: Ctx) -> QuerySet[LegalHold]:
        """Holds on scopes that the person reviews."""
        return selectors.visible_holds(ctx)

    def matches(self, term: str) -> Q:
        """A hold by its id, or by that of what it is on."""
        row_id = as_uuid(term)
        found = super().matches(term)
        return found | Q(object_id=row_id) if row_id else found

    @admin.display(description="On")
    def what(self, row: LegalHold) -> str:
        """What is held."""
        return shown(_held(row))

    @admin.display(description="Where")
    def where(self, row: LegalHold) -> str:
        """Domain and scopes."""
        return shown(place_of(row.domain_id, row.scope))

    @admin.display(description="State")
    def state(self, row: LegalHold) -> str:
        """Whether it is in force."""
        return badge(LIFTED, "plain") if row.lifted_at else badge(IN_FORCE, "warn")

    @admin.display(description="Reason")
    def why(self, row: LegalHold) -> str:
        """Why."""
        return shown(row.reason)

    @admin.display(description="Placed by")
    def by(self, row: LegalHold) -> str:
        """Who placed it."""
        return shown(row.by_name)

    @admin.display(description="Placed (UTC)")
    def placed_at(self, row: LegalHold) -> str:
        """When."""
        return when(row.created_at)

    def facts(self, row: LegalHold, request: HttpRequest) -> list[Fact]:
        """Its values."""
        found = [
            fact("On", _held(row)),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Scopes", row.scope, kind="code"),
            fact("State", LIFTED if row.lifted_at else IN_FORCE),
            fact("Reason", row.reason),
            fact("Placed by", row.by_name),
            fact("Placed", row.created_at, kind="time"),
            fact("Hold id", row.pk, kind="code"),
        ]
        if row.lifted_at:
            lifted = [fact("Lifted by", row.lifted_by), fact("Lifted", row.lifted_at, kind="time")]
            return [*found, *lifted, fact("Lifted because", row.lift_reason)]
        return [*found, fact("To lift it", f"""manage.py act lift_hold '{{"id": "{row.pk}", "reason": "…"}}'""")]


def _held(row: LegalHold) -> str:
    return (
        f"{row.kind} {row.object_id}"
        if row.object_id
        else f"all in {row.scope if row.scope != '*' else row.domain_id}"
    )
