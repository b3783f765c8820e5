"""Reading the audit log."""

from __future__ import annotations

from uuid import UUID

from governance import selectors
from governance.contracts import ListAuditInput, ListAuditResult
from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError
from kernel.paging import page
from scopes.selectors import require_domain


def _target(given: ListAuditInput, ctx: Ctx) -> Target:
    if given.domain_id is not None:
        require_domain(given.domain_id, ctx)
    if not any(Right.DECIDE in grant.rights for grant in ctx.reach):
        raise ForbiddenError("Only reviewers and operators read the audit log.")
    return Target(given.domain_id, scopes=())


def _list_audit(given: ListAuditInput, ctx: Ctx) -> ListAuditResult:
    found, cursor = page(selectors.filter_audit(given, ctx), given, "id", UUID, newest_first=True)
    return ListAuditResult(entries=[selectors.view_audit(row) for row in found], next_cursor=cursor)


LIST_AUDIT = register(
    Action(
        "list_audit",
        "List who did what, newest first, in the scopes you review.",
        ListAuditInput,
        ListAuditResult,
        Right.DECIDE,
        _target,
        _list_audit,
        resource="audit",
    )
)
