"""Relations of 0.2: of equal ones in a scope one is in force, as if they had been committed here one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kernel.canonical import digest
from kernel.text import fold
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, free_ids, put, told_beside
from legacy.steps.places import Origins, Places, within
from memory.models import KgEdge
from memory.naming import fold_name

_KNOWN = frozenset(
    {
        "id", "session_id", "subject", "predicate", "object", "status", "scope_id", "source_session_id", "confidence",
        "valid_from", "valid_to", "created_at", "updated_at", "source_turn_id",
    }
)  # fmt: skip
_WRITTEN = (
    "subject", "predicate", "object", "status", "confidence", "valid_from", "valid_to", "recorded_at", "current_until",
    "source_turn_id",
)  # fmt: skip
_IN_FORCE = "the same relation is in force"
_ENDED = ("superseded", "retracted", "ended", "inactive", "invalidated", "expired")


class Edges:
    """The step of relations."""

    name = "kg_edges"
    tables: tuple[str, ...] = ("kg_edges",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every relation, by its time."""
        times = [name for name in ("created_at", "updated_at") if source.has("kg_edges", name)]
        return source.rows("kg_edges", order=[f"r.{name} NULLS FIRST" for name in times])

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store relations; one that says the same as one in force, for the same time, ends at once."""
        places = Places(rows)
        origins = Origins([row.columns.get("source_turn_id") for row in rows], [])
        ids = free_ids(KgEdge, rows, run)
        made: list[KgEdge] = []
        held = _held(rows, places.scope_keys, run)

        def take(row: SourceRow) -> Outcome:
            edge = _mapped(row, run)
            scope, session = places.place(row)
            turn = within(origins.turn(row.columns.get("source_turn_id")), scope)
            edge.id, edge.scope, edge.domain_id, edge.source_session = ids[row.id], scope, scope.domain_id, session
            edge.source_turn_id = turn.id if turn else None
            lost = row.has("source_turn_id") and turn is None
            notes = [
                f"source_turn_id {row.columns['source_turn_id']} did not come along into its domain" if lost else ""
            ]
            if run.again is not None:
                _learned_before(edge, run)
            notes += [told_beside(row, _KNOWN), _end_one(edge, held)]
            made.append(edge)
            return moved(row, "kg_edges", edge.pk, "; ".join(filter(None, notes)))

        outcomes = each(rows, take)
        put(made, run, _WRITTEN, ("scope_id", "content_hash", "source_session_id"))
        return outcomes


def _mapped(row: SourceRow, run: Run) -> KgEdge:
    """A relation from its row, without its place. Raises Quarantined."""
    subject, predicate, target = (
        row.required("subject", 300),
        row.required("predicate", 100),
        row.required("object", 300),
    )
    status = row.text("status") or "active"
    if status != "active" and status not in _ENDED:
        raise Quarantined(Reason.UNKNOWN_STATUS, f"status {status[:40]}")
    confidence = row.number("confidence")
    if confidence is not None and not 0 <= confidence <= 1:
        raise Quarantined(Reason.CONFIDENCE_RANGE, f"confidence {confidence}")
    began, ended = row.moment("valid_from"), row.moment("valid_to")
    if began is not None and ended is not None and ended <= began:
        raise Quarantined(Reason.BAD_TIME, "valid_to is not later than valid_from")
    recorded = row.moment("created_at") or row.moment("updated_at") or run.ctx.now
    changed = row.moment("updated_at") or recorded
    return KgEdge(
        subject=subject,
        predicate=predicate,
        object=target,
        subject_folded=fold_name(subject),
        object_folded=fold_name(target),
        content_hash=digest([fold_name(subject), fold(predicate), fold_name(target)]),
        status=status[:12],
        confidence=1.0 if confidence is None else confidence,
        valid_from=began,
        valid_to=ended,
        recorded_at=recorded,
        current_until=None if status == "active" else max(changed, recorded),
    )


_Held = dict[tuple[int, str], KgEdge]  # what is in force, by scope and what it says


def _held(rows: Sequence[SourceRow], scopes: Collection[int], run: Run) -> _Held:
    """The relations in force here about what the rows are about, but for one that is taken again."""
    about = {fold_name(row.columns.get("subject") or "") for row in rows}
    found = KgEdge.objects.filter(scope_id__in=scopes, subject_folded__in=about, current_until=None)
    again = run.again.target_id if run.again is not None else ""
    return {(edge.scope_id, edge.content_hash): edge for edge in found if str(edge.pk) != again}


def _learned_before(edge: KgEdge, run: Run) -> None:
    """A relation that is taken again is known here for longer. Raises Quarantined where another took its place here."""
    there = KgEdge.objects.get(pk=edge.pk)
    if there.status == "active" and there.current_until is not None and not run.told_before(_IN_FORCE):
        raise Quarantined(Reason.TOUCHED_HERE, "another relation took its place here")
    edge.recorded_at = min(edge.recorded_at, there.recorded_at)


def _end_one(edge: KgEdge, held: _Held) -> str:
    """Of relations that say the same in a scope leave one in force; a note where that is not this one.

    The one that is there stays, unless the new one holds until another time.
    """
    if edge.current_until is not None:
        return ""
    there = held.setdefault((edge.scope_id, edge.content_hash), edge)
    if there is edge:
        return ""
    if there.valid_to == edge.valid_to:
        edge.current_until = max(there.recorded_at, edge.recorded_at)
        return f"{_IN_FORCE}: {there.pk}"
    there.current_until = max(there.recorded_at, edge.recorded_at)
    KgEdge.objects.filter(pk=there.pk).update(current_until=there.current_until)  # one of this batch comes so anyway
    held[edge.scope_id, edge.content_hash] = edge
    return ""
