"""Reading the audit log: lists, one entry, taking it elsewhere, and checking its chain."""

from __future__ import annotations

from dataclasses import asdict

from governance import selectors
from governance.actions.proposals.rules import require_revertible
from governance.audit import chain
from governance.audit.export import render
from governance.contracts import (
    AuditDetail,
    AuditRef,
    ChainFault,
    ExportAuditInput,
    ExportAuditResult,
    ListAuditInput,
    ListAuditResult,
    VerifyAuditInput,
    VerifyAuditResult,
)
from kernel.actions import Action, Target, register
from kernel.context import ANY, Ctx, Right
from kernel.errors import DomainError, ForbiddenError
from scopes.selectors import require_domain


def _target(given: ListAuditInput, ctx: Ctx) -> Target:
    if given.domain_id is not None:
        require_domain(given.domain_id, ctx)
    if not any(Right.AUDIT in grant.rights for grant in ctx.reach):
        raise ForbiddenError("Only reviewers, auditors and operators read the audit log.")
    return Target(given.domain_id, scopes=())


def _list_audit(given: ListAuditInput, ctx: Ctx) -> ListAuditResult:
    found, cursor = selectors.page_of_audit(given, ctx)
    return ListAuditResult(entries=[selectors.view_audit(row, ctx) for row in found], next_cursor=cursor)


LIST_AUDIT = register(
    Action(
        "list_audit",
        "List who did what, newest first, in the scopes you review.",
        ListAuditInput,
        ListAuditResult,
        Right.AUDIT,
        _target,
        _list_audit,
        resource="audit",
    )
)


def _entry_target(given: AuditRef, ctx: Ctx) -> Target:
    row = selectors.sighted_audit_entry(given.id, ctx)
    return Target(row.domain_id, scopes=(), proposal_id=row.proposal_id)


def _get_entry(given: AuditRef, ctx: Ctx) -> AuditDetail:
    row = selectors.sighted_audit_entry(given.id, ctx)
    if not ctx.may(Right.AUDIT, row.domain_id or ANY, row.scope):
        return selectors.view_audit_detail(row, "It was decided in a scope that you do not review.", ctx)
    try:
        require_revertible(row, ctx)
    except DomainError as exc:
        return selectors.view_audit_detail(row, exc.message, ctx)
    return selectors.view_audit_detail(row, "", ctx)


GET_AUDIT_ENTRY = register(
    Action(
        "get_audit_entry",
        "Show one audit entry: its decision, and for each object it changed the change before and after.",
        AuditRef,
        AuditDetail,
        Right.AUDIT,
        _entry_target,
        _get_entry,
    )
)


def _export_audit(given: ExportAuditInput, ctx: Ctx) -> ExportAuditResult:
    found, cursor = selectors.page_of_audit(given, ctx)
    entries = [selectors.view_audit(row, ctx) for row in found]
    content = render(entries, given.format, header=given.cursor is None)
    return ExportAuditResult(content=content, rows=len(entries), next_cursor=cursor)


EXPORT_AUDIT = register(
    Action(
        "export_audit",
        "Take audit entries elsewhere as CSV or JSON lines, page by page, newest first.",
        ExportAuditInput,
        ExportAuditResult,
        Right.AUDIT,
        _target,
        _export_audit,
    )
)


def _verify_audit(given: VerifyAuditInput, ctx: Ctx) -> VerifyAuditResult:
    stretch = chain.check(given.after, given.limit)
    faults = [ChainFault(**asdict(fault)) for fault in stretch.faults]
    complete = stretch.checked < given.limit
    unsealed, since = chain.waiting() if complete else (None, None)
    if complete:
        faults += [ChainFault(**asdict(fault)) for fault in chain.unchained()]
    return VerifyAuditResult(
        checked=stretch.checked,
        erased=stretch.erased,
        faults=faults,
        number=stretch.number,
        hash=stretch.hash,
        complete=complete,
        unsealed=unsealed,
        unsealed_since=since,
    )


VERIFY_AUDIT = register(
    Action(
        "verify_audit",
        "Check a stretch of the sealed audit log: whether entries or seals were changed, removed or put in.",
        VerifyAuditInput,
        VerifyAuditResult,
        Right.AUDIT,
        lambda given, ctx: Target(None),
        _verify_audit,
    )
)
