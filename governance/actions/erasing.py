"""Actions that erase for good, under review, and the holds that forbid it."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from governance.contracts.erasing import (
    EraseInput,
    EraseResult,
    HoldRef,
    HoldResult,
    ListHoldsInput,
    ListHoldsResult,
    ListTombstonesInput,
    ListTombstonesResult,
    PlaceHoldInput,
    ScrubErasedInput,
    ScrubErasedResult,
)
from governance.models import LegalHold
from governance.selectors import erasing as selectors
from governance.services import erasing as services
from kernel.actions import Action, Applied, Change, Target, register
from kernel.canonical import digest
from kernel.context import ANY, Ctx, Right
from kernel.errors import ForbiddenError, NotFoundError, StaleError
from kernel.paging import page
from scopes.selectors import held, require_domain
from scopes.services import lock_domain


def _extent(given: EraseInput, ctx: Ctx) -> selectors.Extent:
    return ctx.once(("extent", digest(given.model_dump(mode="json"))), lambda: selectors.extent_of(given, ctx))


def _target(given: EraseInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    scopes = _extent(given, ctx).scopes
    for name in scopes:  # before the gate asks, which would name a scope that the actor does not know
        if Right.ERASE not in (rights := held(ctx, given.domain_id, name)) and Right.READ not in rights:
            raise ForbiddenError("Part of it lies where you may not erase.")
    named = sorted(f"{ref.kind}:{ref.id}" for ref in given.objects)
    return Target(given.domain_id, scopes, subject=f"erase:{digest(named)}", place=services.place_of(scopes))


def _prepare(given: EraseInput, ctx: Ctx) -> services.Ready:
    extent = _extent(given, ctx)
    selectors.require_free(extent.held)
    names = selectors.names_of(extent.things)
    return services.Ready(extent, names, selectors.traces_of(names, given.domain_id))


def _erase(given: EraseInput, ready: services.Ready, ctx: Ctx) -> Applied[EraseResult]:
    services.hold_still(ready, given.domain_id)
    now = selectors.extent_of(given, ctx)
    selectors.require_free(now.held)
    if now.things != ready.extent.things:
        raise StaleError("More or less would go than a moment ago: look at it again.")
    names = ready.names | selectors.names_of(now.things)  # something may have been said since
    return services.erase(given, replace(ready, names=names), ctx)


ERASE = register(
    Action(
        selectors.ERASE,
        "Erase memories, sessions or documents for good with all that quotes them, under review; receipts stay.",
        EraseInput,
        EraseResult,
        Right.ERASE,
        _target,
        _prepare,
        _erase,
        destroys=True,
        reviewed=True,
        instead="What was erased is gone: restore a backup, or store it anew.",
    )
)


def _scrub_target(given: ScrubErasedInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id)


def _left_of(given: ScrubErasedInput, ctx: Ctx) -> tuple[frozenset[str], selectors.Traces]:
    names = frozenset(map(str, given.ids))
    selectors.require_sought(given.receipt_id, names, given.domain_id)
    return names, selectors.traces_of(names, given.domain_id)


def _scrub(
    given: ScrubErasedInput, left: tuple[frozenset[str], selectors.Traces], ctx: Ctx
) -> Applied[ScrubErasedResult]:
    scrubbed = services.scrub_all(*left, given.receipt_id, given.domain_id, ctx)
    told = Change(selectors.RECEIPTS, str(given.receipt_id), None, dict(scrubbed), incidental=True)
    return ScrubErasedResult(scrubbed=scrubbed), [told] if any(scrubbed.values()) else []


SCRUB_ERASED = register(
    Action(
        selectors.SCRUB_ERASED,
        "Scrub what quotes something erased and was stored since, by calls that had read it before; a job does it at once "
        "and again after 15 minutes.",
        ScrubErasedInput,
        ScrubErasedResult,
        Right.OPERATE,
        _scrub_target,
        _left_of,
        _scrub,
        destroys=True,
        queueable=False,
        instead="What quoted the erased thing is gone with it.",
    )
)


def _audited(domain_id: str | None, ctx: Ctx) -> Target:
    if domain_id is not None:
        require_domain(domain_id, ctx)
    if not any(Right.AUDIT in grant.rights for grant in ctx.reach):
        raise ForbiddenError("Only reviewers, auditors and operators read receipts and holds.")
    return Target(domain_id, scopes=())


def _list_tombstones(given: ListTombstonesInput, ctx: Ctx) -> ListTombstonesResult:
    wanted = given.model_dump(include={"domain_id", "object_id", "receipt_id"}, exclude_none=True)
    found, cursor = page(selectors.visible_tombstones(ctx).filter(**wanted), given, "id", UUID, newest_first=True)
    return ListTombstonesResult(tombstones=[selectors.view_tombstone(row) for row in found], next_cursor=cursor)


LIST_TOMBSTONES = register(
    Action(
        "list_tombstones",
        "List the receipts of what was erased, newest first, in the scopes you review.",
        ListTombstonesInput,
        ListTombstonesResult,
        Right.AUDIT,
        lambda given, ctx: _audited(given.domain_id, ctx),
        _list_tombstones,
        resource="tombstones",
    )
)


def _held_scopes(given: PlaceHoldInput, ctx: Ctx) -> tuple[str, ...]:
    if given.object is None:
        return (given.scope or ANY,)
    found = selectors.eraser_of(given.object.kind).find([given.object.id], given.domain_id, ctx)
    if given.object.id not in found:
        raise NotFoundError(f"No {given.object.kind} {str(given.object.id)!r} that you can see.")
    return found[given.object.id]


def _place_target(given: PlaceHoldInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    scopes = _held_scopes(given, ctx)
    return Target(given.domain_id, tuple(ANY if name.endswith(ANY) else name for name in scopes))


def _place(given: PlaceHoldInput, prepared: tuple[str, ...], ctx: Ctx) -> Applied[HoldResult]:
    lock_domain(given.domain_id)  # who erases has it too: either the hold is seen, or what it names is gone
    row, changes = services.place_hold(given, services.place_of(_held_scopes(given, ctx)), ctx)
    return HoldResult(hold=selectors.view_hold(row)), changes


PLACE_HOLD = register(
    Action(
        "place_hold",
        "Forbid with a reason that something, or all in some scopes, is erased, until the hold is lifted.",
        PlaceHoldInput,
        HoldResult,
        Right.OPERATE,
        _place_target,
        _held_scopes,
        _place,
        queueable=False,
        instead="Lift the hold with lift_hold.",
    )
)


def _hold(given: HoldRef, ctx: Ctx) -> LegalHold:
    row = selectors.visible_holds(ctx).filter(pk=given.id).first()
    if row is None:
        raise NotFoundError(f"No hold {str(given.id)!r} that you can see.")
    return row


def _lift_target(given: HoldRef, ctx: Ctx) -> Target:
    row = _hold(given, ctx)
    return Target(row.domain_id, (ANY if row.scope.endswith(ANY) else row.scope,))


def _lift(given: HoldRef, row: LegalHold, ctx: Ctx) -> Applied[HoldResult]:
    changes = services.lift_hold(row, given.reason, ctx)
    return HoldResult(hold=selectors.view_hold(row)), changes


LIFT_HOLD = register(
    Action(
        "lift_hold",
        "End a legal hold with a reason; the hold stays on record.",
        HoldRef,
        HoldResult,
        Right.OPERATE,
        _lift_target,
        _hold,
        _lift,
        queueable=False,
        instead="Place the hold again with place_hold.",
    )
)


def _list_holds(given: ListHoldsInput, ctx: Ctx) -> ListHoldsResult:
    rows = selectors.visible_holds(ctx)
    if given.domain_id is not None:
        rows = rows.filter(domain_id=given.domain_id)
    if not given.lifted:
        rows = rows.filter(lifted_at=None)
    found, cursor = page(rows, given, "id", UUID, newest_first=True)
    return ListHoldsResult(holds=[selectors.view_hold(row) for row in found], next_cursor=cursor)


LIST_HOLDS = register(
    Action(
        "list_holds",
        "List legal holds, newest first, in the scopes you review.",
        ListHoldsInput,
        ListHoldsResult,
        Right.AUDIT,
        lambda given, ctx: _audited(given.domain_id, ctx),
        _list_holds,
        resource="holds",
    )
)
