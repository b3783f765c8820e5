"""Who did what: the audit log as a page with filters, where the address is the filter, and a download of what fits."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from governance.adminbase import Screen, ctx_of, place_of, read
from governance.contracts import AuditView, ExportFormat, Outcome
from kernel.context import ActorKind, Door

PAGE = 50
EXPORT_PAGE = 1000
EXPORT_MOST = 10_000
TEXTS = ("actor", "action", "domain_id", "scope", "request_id", "actor_id", "table", "object_id")
HIDDEN = ("request_id", "actor_id", "table", "object_id")
DAYS = ("since", "until")
CHOICES = {"actor_kind": ActorKind, "door": Door, "outcome": Outcome}
TONES = {Outcome.ALLOWED: "good", Outcome.QUEUED: "warn"}


class HistoryScreen(Screen):
    """Every call of the scopes that the person reviews or audits, newest first."""

    name = "governance_history"
    route = "history/"
    title = "Who did what"
    template = "smartbrain/history.html"
    group, place, icon = "Review", 1, "history"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """One page of the entries that fit the address."""
        fields = _fields(request.GET.dict())
        shown = {
            "fields": fields,
            "query": urlencode(fields),
            "choices": {name: list(kind) for name, kind in CHOICES.items()},
            "hidden": [(name, fields[name]) for name in HIDDEN if name in fields],
            "most": EXPORT_MOST,
            "no_reach": not ctx_of(request).reach,
        }
        if shown["no_reach"]:
            return shown
        cursor = request.GET.get("cursor") or None
        found = read("list_audit", request, limit=PAGE, cursor=cursor, **_given(fields))
        forward = {**fields, "cursor": found.next_cursor}
        return {
            **shown,
            "lines": [_line(entry) for entry in found.entries],
            "first": cursor is None,
            "next": urlencode(forward) if found.next_cursor else "",
            "narrowed": [(name, fields[name], _without(fields, name)) for name in fields],
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """The entries that fit as a file: the newest 10,000 at most, as the page says before."""
        wanted = request.POST.get("format", ExportFormat.CSV.value)
        given = _given(_fields(request.POST.dict()))
        pages, cursor = [], None
        for _ in range(EXPORT_MOST // EXPORT_PAGE):
            found = read("export_audit", request, format=wanted, limit=EXPORT_PAGE, cursor=cursor, **given)
            pages.append(found.content)
            cursor = found.next_cursor
            if cursor is None:
                break
        text = "".join(pages)
        if wanted == ExportFormat.JSON:
            text = f"[{','.join(text.splitlines())}]"
        name = f"audit-newest-{EXPORT_MOST}" if cursor else "audit"
        kind = "text/csv; charset=utf-8" if wanted == ExportFormat.CSV else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="{name}.{wanted}"', "Cache-Control": "no-store"}
        return HttpResponse(text, content_type=kind, headers=headers)


def _fields(given: dict[str, str]) -> dict[str, str]:
    """The filters that are set, in one order."""
    names = (*TEXTS, *CHOICES, *DAYS)
    return {name: given[name].strip() for name in names if given.get(name, "").strip()}


def _given(fields: dict[str, str]) -> dict[str, str]:
    """The filters as the action takes them: a bare day is the whole of it, in UTC."""
    given = dict(fields)
    for name, moment in (("since", "T00:00:00Z"), ("until", "T23:59:59.999999Z")):
        if len(given.get(name, "")) == len("2026-01-31"):
            given[name] += moment
    return given


def _without(fields: dict[str, str], name: str) -> str:
    pair = {"table", "object_id"}
    gone = pair if name in pair else {name}
    return urlencode({key: value for key, value in fields.items() if key not in gone})


def _line(entry: AuditView) -> dict[str, Any]:
    return {
        "entry": entry,
        "link": reverse("admin:governance_auditentry_change", args=[entry.id]),
        "where": place_of(entry.domain_id, entry.scope),
        "tone": TONES.get(entry.outcome, "bad"),
        "changed": len(entry.changes),
        "withheld": entry.withheld,
    }
