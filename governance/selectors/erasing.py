"""What a call to erase reaches: the things named, all that goes with them, and what forbids it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from governance.contracts.erasing import ErasableRef, EraseInput, HoldView, TombstoneView
from governance.hooks import Dependent, Eraser, erasers, holds, scrubbers
from governance.models import AuditEntry, AuditObject, IdempotencyRecord, LegalHold, Proposal, Tombstone
from kernel.canonical import digest
from kernel.context import Ctx, Right, covers
from kernel.errors import ConflictError, InvalidInputError, NotFoundError
from kernel.ids import a_day_before, names_any, oldest, uuids_in
from kernel.rows import batches
from scopes.selectors import within_reach

ERASE, SCRUB_ERASED = "erase", "scrub_erased"
OF_ERASING = (ERASE, SCRUB_ERASED)  # calls whose records stay: hashes, counts and the reason, which may say what went
MOST = 10_000  # things that one call may erase, with all that goes along
MOST_NAMES = 100_000  # ids by which records may quote all of that
BATCH = 200
RECEIPTS = "tombstones"
_SHOWN = 5

Things = Mapping[str, Mapping[UUID, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Extent:
    """Everything that goes, by kind and id, with the scopes in which it lies; and what forbids it."""

    things: Things
    held: tuple[Dependent, ...]

    @property
    def scopes(self) -> tuple[str, ...]:
        """Every scope in which something goes."""
        return tuple(sorted({name for found in self.things.values() for names in found.values() for name in names}))


@dataclass(frozen=True, slots=True)
class Traces:
    """Records that quote what goes: proposals, answers to idempotency keys, and what each scrubber of an app found."""

    proposals: frozenset[UUID]
    answers: frozenset[UUID]
    others: tuple[Collection[UUID], ...]


def eraser_of(kind: str) -> Eraser:
    """The eraser of that kind. Raises InvalidInputError with the kinds that there are."""
    found = erasers().get(kind)
    if found is None:
        raise InvalidInputError(f"kind: there is no {kind!r} to erase. Kinds: {', '.join(erasers())}.")
    return found


def extent_of(given: EraseInput, ctx: Ctx) -> Extent:
    """What the call would erase. Parts go with their whole; what else depends goes only where the call says so.

    Raises NotFoundError for a thing named that the actor does not see.
    """
    waiting: defaultdict[str, set[UUID]] = defaultdict(set)
    for ref in given.objects:
        eraser_of(ref.kind)
        waiting[ref.kind].add(ref.id)
    found: defaultdict[str, dict[UUID, tuple[str, ...]]] = defaultdict(dict)
    named = {(ref.kind, ref.id) for ref in given.objects}
    holding: dict[tuple[str, str], Dependent] = {}
    while waiting:
        kind, ids = waiting.popitem()
        seen = eraser_of(kind).find(ids, given.domain_id, ctx)
        missing = next((pk for pk in sorted(ids) if pk not in seen and (kind, pk) in named), None)
        if missing is not None:
            raise NotFoundError(f"No {kind} {str(missing)!r} that you can see.")
        found[kind].update(seen)
        if sum(map(len, found.values())) > MOST:
            raise ConflictError(f"More than {MOST} things would go: name fewer.")
        for each in _dependents(kind, seen.keys(), given.domain_id):
            known = holding.get((each.kind, each.id))
            if known is None or (each.part and not known.part):
                holding[each.kind, each.id] = each
                if each.kind in erasers() and (each.part or given.along):
                    waiting[each.kind].add(UUID(each.id))
    things = {kind: dict(sorted(found[kind].items())) for kind in erasers() if found.get(kind)}
    gone = {(kind, str(pk)) for kind, ids in things.items() for pk in ids}
    held = [each for place, each in holding.items() if place not in gone]
    return Extent(things, (*_in_sight(held, given.domain_id, ctx), *by_law(things, given.domain_id)))


def _in_sight(held: Collection[Dependent], domain_id: str, ctx: Ctx) -> Iterator[Dependent]:
    """What holds, without the names of what the actor does not see."""
    for kind, eraser in erasers().items():
        ids = [UUID(each.id) for each in held if each.kind == kind]
        seen = eraser.find(ids, domain_id, ctx) if ids else {}
        for each in held:
            if each.kind == kind:
                unseen = Dependent(each.of, "", "", "something that you cannot see depends on it")
                yield each if UUID(each.id) in seen else unseen
    yield from (each for each in held if each.kind not in erasers())


def _dependents(kind: str, ids: Collection[UUID], domain_id: str) -> Iterable[Dependent]:
    return (each for find in holds() for each in find(kind, ids, domain_id))


def by_law(things: Things, domain_id: str) -> list[Dependent]:
    """The legal holds in force that any of these things is under, or a whole that it is a part of."""
    found = []
    wholes = {kind: eraser_of(kind).wholes(ids.keys()) for kind, ids in things.items()}
    for hold in LegalHold.objects.filter(domain_id=domain_id, lifted_at=None).order_by("id"):
        for kind, ids in things.items():
            held = [pk for pk, scopes in ids.items() if _holds(hold, {(kind, pk), wholes[kind].get(pk)}, scopes)]
            if held:
                found.append(
                    Dependent(held[0], "legal_hold", str(hold.pk), f"{hold.by_name} placed a legal hold on it")
                )
    return found


def _holds(hold: LegalHold, named: Collection[tuple[str, UUID] | None], scopes: Iterable[str]) -> bool:
    if hold.object_id is not None:
        return (hold.kind, hold.object_id) in named
    return any(covers(hold.scope, name) for name in scopes)


def require_free(held: Collection[Dependent]) -> None:
    """Raise ConflictError where something forbids to erase, saying what."""
    if not held:
        return
    first = list(held)[:_SHOWN]
    said = "; ".join(f"{each.of}: {each.why}{f' ({each.kind} {each.id})' if each.id else ''}" for each in first)
    more = f"; and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
    raise ConflictError(
        f"It is held, and nothing was erased: {said}{more}. Lift legal holds; name what depends on it too, or set `along`.",
        extra={"held": [{"of": str(each.of), "kind": each.kind, "id": each.id, "why": each.why} for each in first]},
    )


def names_of(things: Things) -> frozenset[str]:
    """The ids by which records elsewhere quote these things. Raises ConflictError where they are too many to look for."""
    names = frozenset(name for kind, ids in things.items() for name in eraser_of(kind).names(ids.keys()))
    if len(names) > MOST_NAMES:
        raise ConflictError(f"More than {MOST_NAMES} rows would go: name fewer things.")
    return names


def traces_of(names: frozenset[str], domain_id: str) -> Traces:
    """The records of a domain that quote any of these ids. It reads all proposals, and all answers and records of apps but
    those made before any of these, so it runs outside of any transaction."""
    columns = ("pk", "input", "changes", "proposed_input")
    rows = Proposal.objects.filter(domain_id=domain_id).exclude(action__in=OF_ERASING).values_list(*columns)
    quoting = {pk for pk, *said in rows.iterator(chunk_size=BATCH) if names_any(said, names)}
    proposals = frozenset(quoting | proposals_behind(entries_about(names)))
    named = names | {str(pk) for pk in proposals}
    since = a_day_before(oldest(uuids_in(named).values()))  # a key is taken just before the ids that its answer tells
    later = IdempotencyRecord.objects.filter(domain=domain_id, pk__gt=since)
    answers = later.exclude(action__in=OF_ERASING).values_list("pk", "answer")
    ids = list(uuids_in(names).values())
    return Traces(
        proposals,
        frozenset(pk for pk, *said in answers.iterator(chunk_size=BATCH) if names_any(said, named)),
        tuple(scrubber.find(ids, domain_id) for scrubber in scrubbers()),
    )


def mark_of(ids: Iterable[str]) -> str:
    """By what the audit entry of an erasure remembers a list of ids that is to be looked for later."""
    return digest(sorted(ids))


def require_sought(receipt_id: UUID, ids: Iterable[str], domain_id: str) -> None:
    """Raises NotFoundError where the domain has no such receipt, and InvalidInputError where these ids are none of the
    lists that its erasure was to look for later: nothing else can be scrubbed in its name."""
    if not Tombstone.objects.filter(receipt_id=receipt_id, domain_id=domain_id).exists():
        raise NotFoundError(f"No receipt {str(receipt_id)!r} that you can see.")
    about = AuditObject.objects.filter(table=RECEIPTS, object_id=str(receipt_id), entry__action=ERASE)
    told = (change for changes in about.values_list("entry__changes", flat=True) for change in changes)
    sought = {mark for change in told if change["table"] == RECEIPTS for mark in change["after"].get("sought", ())}
    if mark_of(ids) not in sought:
        raise InvalidInputError("ids: this is none of the lists of ids that the erasure put in the queue, whole.")


def entries_about(names: frozenset[str]) -> set[UUID]:
    """The audit entries of calls that changed any of these."""
    return {
        pk
        for batch in batches(names, BATCH)
        for pk in AuditObject.objects.filter(object_id__in=batch).values_list("entry_id", flat=True)
    }


def changed_along(names: frozenset[str], table: str) -> set[str]:
    """The ids of rows of a table that calls changed together with any of these, whether or not they are still there."""
    return {
        change["id"]
        for batch in batches(entries_about(names), BATCH)
        for changes in AuditEntry.objects.filter(pk__in=batch).values_list("changes", flat=True)
        for change in changes
        if change["table"] == table
    }


def proposals_behind(entries: Collection[UUID]) -> set[UUID]:
    """The proposals that these audit entries belong to, but those to erase."""
    found: set[UUID] = set()
    for batch in batches(entries, BATCH):
        rows = Proposal.objects.filter(auditentry__in=batch).exclude(action__in=OF_ERASING)
        found |= set(rows.values_list("pk", flat=True))
    return found


def receipts_of(object_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """The receipts under which things were erased, by the ids of these; not limited to what anyone may see."""
    rows = Tombstone.objects.filter(object_id__in=object_ids) if object_ids else Tombstone.objects.none()
    return dict(rows.order_by("pk").values_list("object_id", "receipt_id"))


def visible_tombstones(ctx: Ctx) -> QuerySet[Tombstone]:
    """The base queryset: receipts of what lay in scopes that the actor reviews or audits."""
    return Tombstone.objects.filter(within_reach(ctx, Right.AUDIT))


def visible_holds(ctx: Ctx) -> QuerySet[LegalHold]:
    """The base queryset: holds on scopes that the actor reviews or audits."""
    return LegalHold.objects.filter(within_reach(ctx, Right.AUDIT))


def holds_over(kind: str, object_id: UUID, domain_id: str, ctx: Ctx) -> list[LegalHold | None]:
    """The legal holds in force on a thing that the actor may see; None for one that it may not see itself."""
    things = {kind: dict(eraser_of(kind).find([object_id], domain_id, ctx))}
    held = [UUID(each.id) for each in by_law(things, domain_id)] if things[kind] else []
    seen = visible_holds(ctx).in_bulk(held) if held else {}
    return [seen.get(each) for each in held]


def view_tombstone(row: Tombstone) -> TombstoneView:
    """A receipt as answers show it."""
    return TombstoneView(
        id=row.pk,
        receipt_id=row.receipt_id,
        domain_id=row.domain_id,
        kind=row.kind,
        object_id=row.object_id,
        scopes=row.scopes,
        sha256=row.sha256,
        counts=row.counts,
        reason=row.reason,
        erased_by=row.by_name,
        on_behalf_of=row.on_behalf_of,
        at=row.created_at,
    )


def view_hold(row: LegalHold) -> HoldView:
    """A hold as answers show it."""
    return HoldView(
        id=row.pk,
        domain_id=row.domain_id,
        object=ErasableRef(kind=row.kind, id=row.object_id) if row.object_id else None,
        scope=row.scope,
        reason=row.reason,
        placed_by=row.by_name,
        placed_at=row.created_at,
        lifted_by=row.lifted_by,
        lifted_at=row.lifted_at,
        lift_reason=row.lift_reason,
    )
