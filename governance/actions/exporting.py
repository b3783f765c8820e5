"""The action that exports what one may see of a domain."""

from __future__ import annotations

from governance.contracts.exporting import EXCLUDED, ExportDomainInput, ExportDomainResult
from governance.selectors.exporting import page_of_export
from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from scopes.selectors import require_domain


def _target(given: ExportDomainInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _export(given: ExportDomainInput, ctx: Ctx) -> ExportDomainResult:
    found = page_of_export(given, ctx)
    return ExportDomainResult(
        content="".join(f"{line}\n" for line in found.lines),
        rows=len(found.lines),
        table=found.table,
        tables=list(found.tables),
        excluded=list(EXCLUDED),
        next_cursor=found.cursor,
    )


EXPORT_DOMAIN = register(
    Action(
        "export_domain",
        "Give all that you may see of a domain as JSON lines, a page of one table at a time.",
        ExportDomainInput,
        ExportDomainResult,
        Right.READ,
        _target,
        _export,
    )
)
