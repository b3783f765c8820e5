"""Moving in: what the last validation found, table by table on both sides, and the quarantine row by row."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from governance.adminbase import Fact, ReadOnlyAdmin, Screen, as_uuid, ctx_of, fact, page_url, read
from kernel.context import ANY, Ctx, Right
from legacy.contracts import Fate
from legacy.contracts.reading import GetMigrationResult, ListMigratedRowsResult, MigratedRowView
from legacy.contracts.validating import Check, Finding, TableFigures
from legacy.models import MigrationRun
from legacy.selectors.links import MODELS
from legacy.selectors.reading import owner_names
from legacy.selectors.running import state_of

ROWS = 10
NARROWED = ("outcome", "source_table", "source_id", "reason", "noted")


class MigrationScreen(Screen):
    """The three counts, both sides of each table, every check with its rows, and what waits in the quarantine."""

    name = "legacy_migration"
    route = "moving-in/"
    title = "Moving in"
    template = "smartbrain/migration.html"
    group, place, icon = "System", 8, "move_to_inbox"

    def allowed(self, request: HttpRequest) -> bool:
        """Operators of the installation: rows of every domain are on it."""
        return super().allowed(request) and ctx_of(request).may(Right.OPERATE, ANY)

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The last report, and one page of the rows that the address asks for; the quarantine where it names none."""
        found: GetMigrationResult = read("get_migration", request)
        asked = {name: request.GET.get(name, "").strip() for name in NARROWED}
        narrowed = {name: value for name, value in asked.items() if value} or {"outcome": "quarantined"}
        given: dict[str, Any] = {**narrowed, **({"noted": True} if "noted" in narrowed else {})}
        given |= {"cursor": request.GET["cursor"]} if request.GET.get("cursor") else {}
        listed: ListMigratedRowsResult = read("list_migrated_rows", request, limit=ROWS, **given)
        report = found.report
        checks = [_check(check) for check in report.checks] if report else []
        tables = [_table(table) for table in report.tables] if report else []
        more = {**narrowed, "cursor": listed.next_cursor}
        return {
            "report": report,
            "runs": found.runs,
            "tables": [line for line in tables if line["held"]],
            "bare": [line["figures"].source_table for line in tables if not line["held"]],
            "told": [line for line in checks if line["findings"]],
            "quiet": [line for line in checks if not line["findings"]],
            "reasons": [_reason(each, found.reasons) for each in report.reasons] if report else [],
            "asked": asked,
            "outcomes": [(fate.value, fate.value.replace("_", " ")) for fate in Fate],
            "narrowed": narrowed,
            "rows": [_row(row, found.reasons) for row in listed.rows],
            "next": urlencode(more) if listed.next_cursor else "",
            "first": not request.GET.get("cursor"),
        }


def _table(table: TableFigures) -> dict[str, Any]:
    accounted = table.migrated + table.quarantined + table.left_out
    same = None if table.source_digest is None else table.source_digest == table.target_digest
    query = {"source_table": table.source_table, "outcome": "quarantined"}
    noted = {"source_table": table.source_table, "outcome": "migrated", "noted": "1"}
    return {
        "figures": table,
        "unaccounted": None if table.in_source is None else table.in_source - accounted,
        "same": same,
        "held": bool(accounted or table.in_source or table.target_tables),
        "link": f"?{urlencode(query)}#rows" if table.quarantined else "",
        "noted": f"?{urlencode(noted)}#rows" if table.adjusted else "",
    }


def _check(check: Check) -> dict[str, Any]:
    if not check.made:
        tone, word = "plain", "not made"
    elif not check.count:
        tone, word = ("good", "holds") if check.fault else ("plain", "none")
    else:
        tone, word = ("bad", "wrong") if check.fault else ("warn", "told")
    return {"check": check, "tone": tone, "word": word, "findings": [_finding(each) for each in check.findings]}


def _finding(finding: Finding) -> dict[str, Any]:
    query = {"source_table": finding.source_table, "source_id": finding.source_id}
    return {
        "finding": finding,
        "link": _page_of(finding.target_table, finding.target_id),
        "row": f"?{urlencode(query)}#rows" if finding.source_id else "",
    }


def _reason(each: Any, meanings: dict[str, str]) -> dict[str, Any]:
    query = {"source_table": each.source_table, "outcome": each.outcome, "reason": each.reason}
    link = f"?{urlencode(query)}#rows" if each.outcome == "quarantined" else ""
    return {"count": each, "meaning": meanings.get(each.reason, ""), "link": link}


def _row(row: MigratedRowView, meanings: dict[str, str]) -> dict[str, Any]:
    return {
        "view": row,
        "meaning": meanings.get(row.reason, ""),
        "link": _page_of(row.target_table, row.target_id),
    }


def _page_of(table: str, target_id: str) -> str:
    """The page of a row here, where its table has one."""
    model, pk = MODELS.get(table), as_uuid(target_id)
    if model is None or pk is None or not admin.site.is_registered(model):
        return ""
    return page_url(model(pk=pk))


@admin.register(MigrationRun)
class MigrationRunAdmin(ReadOnlyAdmin):
    """The runs; what they did is on the page of moving in."""

    placed = False
    list_display = ("source", "its_state", "started_at", "finished_at")
    search_fields = ("source",)
    search_help_text = "Start of the older database's address"
    screens = (MigrationScreen,)
    needs = Right.OPERATE
    per = "installation"
    teach = "Nothing was moved in yet"
    teach_command = "manage.py migrate_legacy --from postgresql://user:password@host/database --owner older-app"

    def visible(self, ctx: Ctx) -> QuerySet[MigrationRun]:
        """All, to operators of the installation."""
        rows = MigrationRun.objects.all()
        return rows if ctx.may(Right.OPERATE, ANY) else rows.none()

    @admin.display(description="state")
    def its_state(self, row: MigrationRun) -> str:
        """Its state; one that was killed is interrupted."""
        return state_of(row)

    def facts(self, row: MigrationRun, request: HttpRequest) -> list[Fact]:
        """What it read, when, and its figures."""
        return [
            fact("Source", row.source),
            fact("Moved in for", owner_names([row]).get(row.owner_id, "unknown")),
            fact("State", state_of(row), kind="word"),
            fact("Began", row.started_at, kind="time"),
            fact("Ended", row.finished_at, kind="time"),
            fact("Options", row.options, kind="json"),
            fact("Figures", row.figures, kind="json"),
        ]
