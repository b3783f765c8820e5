"""Erasing for good: rows, what quotes them, and the receipt that stays; and placing and lifting legal holds."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError

from governance.contracts.erasing import MOST_SOUGHT, NOT_PROVED, EraseInput, EraseResult, PlaceHoldInput
from governance.hooks import scrubbers
from governance.models import LegalHold, Proposal, Tombstone
from governance.selectors.erasing import (
    BATCH,
    RECEIPTS,
    Extent,
    Traces,
    eraser_of,
    mark_of,
    view_hold,
    view_tombstone,
)
from governance.services.scrubbing import scrub
from kernel.actions import Change
from kernel.context import ANY, Ctx
from kernel.db import check_references
from kernel.errors import StaleError, TransitionError
from kernel.ids import new_id, uuids_in
from kernel.queue import enqueue, enqueue_later
from kernel.rows import batches, insert
from scopes.services import lock_domain, lock_scopes

SHOWN = 100
ENDED = 15  # minutes in which a call ends that reads, asks a model and stores


@dataclass(frozen=True, slots=True)
class Ready:
    """What is to go, the ids by which records quote it, and those records."""

    extent: Extent
    names: frozenset[str]
    traces: Traces


def hold_still(ready: Ready, domain_id: str) -> None:
    """Let nobody change what is to go, or come to quote or hold it, until the present transaction ends. In the order in
    which others take these: proposals, documents, sessions, all the scopes, the domain."""
    for batch in batches(sorted(ready.traces.proposals), BATCH):
        list(Proposal.objects.select_for_update().filter(pk__in=batch).order_by("pk").values_list("pk"))
    scopes: set[int] = set()
    for kind in sorted(ready.extent.things):
        scopes |= set(eraser_of(kind).hold(ready.extent.things[kind].keys()))
    lock_scopes(scopes)
    lock_domain(domain_id)


def erase(given: EraseInput, ready: Ready, ctx: Ctx) -> tuple[EraseResult, list[Change]]:
    """Delete all of it, scrub what quotes it, and leave a receipt for each thing."""
    receipt_id = new_id()
    by = (ctx.approval.decided_by if ctx.approval else None) or ctx.actor
    stones: list[Tombstone] = []
    changes: list[Change] = []
    for kind, things in ready.extent.things.items():
        eraser = eraser_of(kind)
        for each in eraser.erase(list(things)):
            scopes = things[each.id]
            counts = dict(each.counts)
            stones.append(
                Tombstone(
                    receipt_id=receipt_id,
                    domain_id=given.domain_id,
                    kind=kind,
                    object_id=each.id,
                    scope=place_of(scopes),
                    scopes=list(scopes),
                    sha256=each.sha256,
                    counts=counts,
                    reason=given.reason,
                    by_id=by.id,
                    by_name=by.name,
                    on_behalf_of=ctx.actor.name if ctx.approval else "",
                    created_at=ctx.now,
                )
            )
            changes.append(Change(eraser.table, str(each.id), {"sha256": each.sha256, **counts}, None, scopes=scopes))
            changes += [Change(table, pk, {"with": str(each.id)}, None, scopes=scopes) for table, pk in each.along]
    _require_loose()
    scrubbed = scrub_all(ready.names, ready.traces, receipt_id, given.domain_id, ctx)
    insert(stones)
    told = {"erased": len(stones), **scrubbed, "sought": _scrub_again_later(ready.names, receipt_id, given.domain_id)}
    changes.append(Change(RECEIPTS, str(receipt_id), None, told, incidental=True))
    result = EraseResult(
        receipt_id=receipt_id,
        erased_count=len(stones),
        erased=[view_tombstone(stone) for stone in stones[:SHOWN]],
        scrubbed=scrubbed,
        not_proved=list(NOT_PROVED),
    )
    return result, changes


def scrub_all(names: frozenset[str], traces: Traces, receipt_id: UUID, domain_id: str, ctx: Ctx) -> dict[str, int]:
    """Take what quotes these ids out of every record; how many records of each kind were changed."""
    scrubbed = scrub(names, traces, receipt_id, ctx)
    ids = list(uuids_in(names).values())
    for scrubber, found in zip(scrubbers(), traces.others, strict=True):
        more = scrubber.scrub(ids, found, domain_id, receipt_id)
        if twice := scrubbed.keys() & more.keys():
            raise ValueError(f"two scrubbers count records named {', '.join(sorted(twice))}")
        scrubbed |= more
    return scrubbed


def _scrub_again_later(names: frozenset[str], receipt_id: UUID, domain_id: str) -> list[str]:
    """Who read it before it was gone may store what quotes it afterwards: look for that at once and when all such calls
    have ended. The marks of the lists of ids that will be looked for."""
    lists = list(batches(sorted(names), MOST_SOUGHT))
    for batch in lists:
        given = (str(receipt_id), domain_id, *batch)
        enqueue("governance.jobs.scrub_again", *given)
        enqueue_later(ENDED, "governance.jobs.scrub_again", *given)
    return [mark_of(batch) for batch in lists]


def _require_loose() -> None:
    """Find now, and not when the transaction ends, that another writer has just come to rest on what is gone."""
    try:
        check_references()
    except IntegrityError as exc:
        raise StaleError("Something has come to depend on it at this moment: look at it again.") from exc


def place_of(scopes: tuple[str, ...]) -> str:
    """The scope in which something lies, in one word: `*` for more than one."""
    return scopes[0] if len(scopes) == 1 else ANY


def place_hold(given: PlaceHoldInput, scope: str, ctx: Ctx) -> tuple[LegalHold, list[Change]]:
    """A new hold. The same hold may be placed by several people for reasons of their own."""
    row = LegalHold.objects.create(
        domain_id=given.domain_id,
        kind=given.object.kind if given.object else "",
        object_id=given.object.id if given.object else None,
        scope=scope,
        reason=given.reason,
        by_id=ctx.actor.id,
        by_name=ctx.actor.name,
        created_at=ctx.now,
    )
    return row, [Change("legal_holds", str(row.pk), None, view_hold(row).model_dump(mode="json"))]


def lift_hold(row: LegalHold, reason: str, ctx: Ctx) -> list[Change]:
    """End a hold. Raises TransitionError where somebody did already."""
    lifted = LegalHold.objects.filter(pk=row.pk, lifted_at=None).update(
        lifted_at=ctx.now, lifted_by=ctx.actor.name, lift_reason=reason
    )
    row.refresh_from_db()
    if not lifted:
        raise TransitionError(f"{row.lifted_by} lifted this hold already.")
    after = {"lifted_at": ctx.now.isoformat(), "lifted_by": ctx.actor.name, "lift_reason": reason}
    return [Change("legal_holds", str(row.pk), {"lifted_at": None}, after)]
