"""Admin pages on decisions and their record: proposals, the audit log and policy versions."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from governance import selectors
from governance.admin.agents import AgentsScreen
from governance.admin.blind import BlindListScreen, BlindScreen
from governance.admin.bulk import BulkScreen
from governance.admin.explain import ExplainScreen
from governance.admin.history import HistoryScreen
from governance.admin.item import EffectScreen, ItemScreen
from governance.admin.preferences import PreferencesScreen
from governance.admin.queue import QueueScreen
from governance.admin.statistics import StatisticsScreen
from governance.admin.undo import RevertScreen, UndoScreen
from governance.adminbase import (
    Cell,
    Fact,
    ReadOnlyAdmin,
    as_uuid,
    badge,
    ctx_of,
    fact,
    list_url,
    page_url,
    place_of,
    read,
    shown,
    when,
)
from governance.contracts import ObjectChange, Outcome, ProposalState
from governance.models import AuditEntry, PolicyVersion, Proposal
from kernel.context import Ctx, Door, Right
from kernel.ids import new_id
from scopes.models import Principal

OUTCOME_TONES = {Outcome.ALLOWED.value: "good", Outcome.QUEUED.value: "warn"}
STATE_TONES = {
    ProposalState.OPEN.value: "warn",
    ProposalState.APPROVED.value: "good",
    ProposalState.REJECTED.value: "bad",
}


class DoorFilter(SimpleListFilter):
    """The door of a call: a short closed list, so nothing is looked up."""

    title = "door"
    parameter_name = "door"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The doors."""
        return [(door.value, door.value) for door in Door]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Entries of that door."""
        return queryset.filter(door=self.value()) if self.value() else queryset


@admin.register(AuditEntry)
class AuditAdmin(ReadOnlyAdmin):
    """Who did what, and what became of it."""

    group, place, icon = "Review", 1, "history"
    placed = False
    ordering = ("-at", "-pk")
    screens = (HistoryScreen, ExplainScreen, AgentsScreen, RevertScreen)
    list_display = ("at_time", "who", "what", "result", "where", "door_label", "rule_name")
    list_display_links = ("what",)
    list_filter = ("outcome", DoorFilter)
    search_fields = ("action",)
    search_help_text = "Action, name of who acted, or a request id"
    narrow_by = ("domain", "request_id", "actor_id", "action", "proposal")
    needs = Right.AUDIT
    teach = "Nothing recorded yet. Every call leaves an entry here, refused ones too."
    teach_command = "manage.py act list_audit '{}' --user <your name>"
    detail_template = "smartbrain/audit.html"

    def visible(self, ctx: Ctx) -> QuerySet[AuditEntry]:
        """Entries of scopes that the person reviews."""
        return selectors.visible_audit(ctx).filter(selectors.may_be_told(ctx))

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Lists need neither the facts nor the changes; one entry is shown too where it was decided elsewhere."""
        if request.resolver_match and "object_id" in request.resolver_match.kwargs:
            return selectors.audit_in_sight(ctx_of(request))
        return super().get_queryset(request).defer("facts", "changes")

    def matches(self, term: str) -> Q:
        """Ids, actions and actors by their indexes; names are looked up first."""
        people = get_user_model().objects.filter(username=term).values_list("pk", flat=True)
        agents = Principal.objects.filter(name=term).values_list("pk", flat=True)
        actors = [f"user:{pk}" for pk in people] + [str(pk) for pk in agents] + [f"system:{term}"[:64]]
        found = Q(action=term) | Q(actor_id__in=actors)
        row_id = as_uuid(term)
        return found | Q(id=row_id) | Q(request_id=row_id) if row_id else found

    @admin.display(description="When (UTC)")
    def at_time(self, row: AuditEntry) -> str:
        """When."""
        return when(row.at)

    @admin.display(description="Who")
    def who(self, row: AuditEntry) -> str:
        """Who."""
        return shown(row.actor_name + (f" for {row.on_behalf_of}" if row.on_behalf_of else ""))

    @admin.display(description="Action")
    def what(self, row: AuditEntry) -> str:
        """The action."""
        return shown(row.action)

    @admin.display(description="Outcome")
    def result(self, row: AuditEntry) -> str:
        """What became of it."""
        return badge(row.outcome, OUTCOME_TONES.get(row.outcome, "bad"))

    @admin.display(description="Where")
    def where(self, row: AuditEntry) -> str:
        """Domain and scope."""
        return shown(place_of(row.domain_id, row.scope))

    @admin.display(description="Door")
    def door_label(self, row: AuditEntry) -> str:
        """The door."""
        return badge(row.door)

    @admin.display(description="Rule")
    def rule_name(self, row: AuditEntry) -> str:
        """The rule that decided."""
        return shown(row.rule)

    def facts(self, row: AuditEntry, request: HttpRequest) -> list[Fact]:
        """Everything known of the call."""
        behalf = [fact("On behalf of", row.on_behalf_of)] if row.on_behalf_of else []
        seen = selectors.sighted(row, ctx_of(request))
        return [
            fact("When", row.at, kind="time"),
            fact("Who", f"{row.actor_name} ({row.actor_kind})", list_url(self.opts, actor_id=row.actor_id)),
            *behalf,
            fact("Action", row.action, list_url(self.opts, action=row.action), "code"),
            fact("Outcome", row.outcome + (f" ({row.code})" if row.code else "")),
            *([fact("Reason", row.reason)] if row.reason and seen.placed else []),
            fact("Where", place_of(row.domain_id, seen.scope)),
            fact("Door", row.door),
            fact("Rule", row.rule, kind="code"),
            fact("Policy version", row.policy_version, kind="code"),
            fact("Request", row.request_id, list_url(self.opts, request_id=row.request_id), "code"),
            fact("Input digest", row.input_digest, kind="code"),
        ]

    def detail(self, row: AuditEntry, request: HttpRequest) -> dict[str, Any]:
        """What changed and what happened to it before and after, what the decision rested on, and the proposal where
        there is one in sight."""
        proposals = selectors.visible_proposals(ctx_of(request))
        entry = read("get_audit_entry", request, id=str(row.pk))
        proposal = proposals.filter(pk=entry.proposal_id).first() if entry.proposal_id else None
        return {
            "changes": compare(entry.changes),
            "decision_facts": entry.facts,
            "proposal": linked(proposal),
            "objects": [changed_object(each) for each in entry.objects],
            "entry": entry,
            "key": str(new_id()),
            "why": f"{reverse('admin:governance_explain')}?{urlencode({'audit_entry_id': row.pk})}",
        }


def changed_object(each: ObjectChange) -> dict[str, Any]:
    """An object that an entry changed, with links to its changes around that one."""
    history = urlencode({"table": each.table, "object_id": each.object_id})
    around = {
        name: reverse("admin:governance_auditentry_change", args=[entry_id]) if entry_id else ""
        for name, entry_id in (("previous", each.previous), ("next", each.next))
    }
    return {"object": each, "history": f"{reverse('admin:governance_history')}?{history}", **around}


def linked(row: Proposal | None) -> Cell | None:
    """A link to a proposal."""
    return Cell(f"{row.action} by {row.proposer_name} ({row.state})", page_url(row)) if row else None


def compare(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The changes of an entry as tables: for each row every field before and after, and whether it differs."""
    shown_changes = []
    for change in changes[:200]:
        before, after = change.get("before"), change.get("after")
        names = sorted({*(before or {}), *(after or {})})
        fields = [
            {
                "name": name,
                "before": (before or {}).get(name),
                "after": (after or {}).get(name),
                "differs": (before or {}).get(name) != (after or {}).get(name),
            }
            for name in names
        ]
        kind = "added" if before is None else "removed" if after is None else "changed"
        shown_changes.append({"kind": kind, "table": change.get("table"), "id": change.get("id"), "fields": fields})
    return shown_changes


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    """Calls that wait for a person, and what was decided."""

    group, place, icon = "Review", 0, "rule"
    list_display = ("what", "state_label", "by", "where", "rule_name", "proposed")
    list_filter = ("state",)
    search_fields = ("action", "proposer_name")
    search_help_text = "Start of an action or of a proposer's name, or the proposal's UUID"
    narrow_by = ("domain", "action")
    needs = Right.DECIDE
    teach = "No proposals. A call that the policy holds for review waits here until a person decides."
    teach_command = 'manage.py act get_policy \'{"domain_id": "my-team"}\' --user <your name>'
    screens = (
        QueueScreen,
        BulkScreen,
        ItemScreen,
        EffectScreen,
        UndoScreen,
        BlindListScreen,
        BlindScreen,
        StatisticsScreen,
        PreferencesScreen,
    )
    placed = False

    def visible(self, ctx: Ctx) -> QuerySet[Proposal]:
        """Proposals that the person may decide on."""
        return selectors.visible_proposals(ctx).prefetch_related(None)

    @admin.display(description="Proposed action")
    def what(self, row: Proposal) -> str:
        """The action."""
        return shown(row.action)

    @admin.display(description="State")
    def state_label(self, row: Proposal) -> str:
        """The state."""
        return badge(row.state.replace("_", " "), STATE_TONES.get(row.state, "plain"))

    @admin.display(description="Proposed by")
    def by(self, row: Proposal) -> str:
        """Who proposed it."""
        return shown(row.proposer_name)

    @admin.display(description="Where")
    def where(self, row: Proposal) -> str:
        """Domain and scope."""
        return shown(place_of(row.domain_id, row.scope))

    @admin.display(description="Held by rule")
    def rule_name(self, row: Proposal) -> str:
        """The rule that queued it."""
        return shown(row.rule)

    @admin.display(description="Proposed (UTC)")
    def proposed(self, row: Proposal) -> str:
        """When."""
        return when(row.created_at)


@admin.register(PolicyVersion)
class PolicyAdmin(ReadOnlyAdmin):
    """Every version of every policy."""

    group, place, icon = "System", 0, "gavel"
    list_display = ("version", "domain_name", "by", "why", "created")
    search_fields = ("author_name",)
    search_help_text = "Start of an author's name"
    narrow_by = ("domain",)
    needs = Right.AUDIT
    per = "domain"
    teach = "No policy versions, so the product's defaults are in force. An operator sets policies; each change is kept as a version."
    teach_command = 'manage.py act get_policy \'{"domain_id": "my-team"}\' --user <your name>'

    def visible(self, ctx: Ctx) -> QuerySet[PolicyVersion]:
        """Versions of domains that the person reviews as a whole."""
        return selectors.visible_policies(ctx)

    @admin.display(description="Version")
    def version(self, row: PolicyVersion) -> str:
        """Source and number."""
        return shown(f"{row.source} v{row.number}")

    @admin.display(description="Domain")
    def domain_name(self, row: PolicyVersion) -> str:
        """The domain."""
        return shown(row.domain_id or "the installation")

    @admin.display(description="By")
    def by(self, row: PolicyVersion) -> str:
        """Who wrote it."""
        return shown(row.author_name)

    @admin.display(description="Reason")
    def why(self, row: PolicyVersion) -> str:
        """Why."""
        return shown(row.reason)

    @admin.display(description="Since (UTC)")
    def created(self, row: PolicyVersion) -> str:
        """Since when."""
        return when(row.created_at)

    def facts(self, row: PolicyVersion, request: HttpRequest) -> list[Fact]:
        """Its values and the document."""
        return [
            fact("Version", f"{row.source} v{row.number}"),
            fact("Domain", row.domain_id or "the installation"),
            fact("By", row.author_name),
            fact("Reason", row.reason),
            fact("Since", row.created_at, kind="time"),
            fact("Digest", row.digest, kind="code"),
            fact("Document", row.document, kind="json"),
        ]
