"""Relations of 0.2: of equal ones in a scope the newest is in force, the others ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernel.canonical import digest
from kernel.rows import insert
from kernel.text import fold
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, free_ids, told_beside
from legacy.steps.places import Origins, Places
from memory.models import KgEdge
from memory.naming import fold_name

_KNOWN = frozenset(
    {
        "id", "session_id", "subject", "predicate", "object", "status", "scope_id", "source_session_id", "confidence",
        "valid_from", "valid_to", "created_at", "updated_at", "source_turn_id",
    }
)  # fmt: skip
_ENDED = ("superseded", "retracted", "ended", "inactive", "invalidated", "expired")


class Edges:
    """The step of relations."""

    name = "kg_edges"
    tables: tuple[str, ...] = ("kg_edges",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every relation, the newest first."""
        times = [name for name in ("updated_at", "created_at") if source.has("kg_edges", name)]
        return source.rows("kg_edges", order=[f"r.{name} DESC NULLS LAST" for name in times])

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store relations; one that is in force here already stays so."""
        places = Places(rows)
        origins = Origins([row.columns.get("source_turn_id") for row in rows], [])
        ids = free_ids(KgEdge, rows)
        made: list[KgEdge] = []

        def take(row: SourceRow) -> Outcome:
            edge = _mapped(row, run)
            session = places.session(row)
            scope = places.scope(row, session)
            turn = origins.turn(row.columns.get("source_turn_id"))
            edge.id, edge.scope, edge.domain_id, edge.source_session = ids[row.id], scope, scope.domain_id, session
            edge.source_turn_id = turn.id if turn else None
            made.append(edge)
            return moved(row, "kg_edges", edge.pk, told_beside(row, _KNOWN))

        outcomes = each(rows, take)
        _end_equal(made)
        insert(made)
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


def _end_equal(edges: Sequence[KgEdge]) -> None:
    """Of relations that say the same in a scope, leave the first in force: the newest, or the one that is here."""
    hashes = {edge.content_hash for edge in edges}
    held = KgEdge.objects.filter(
        scope_id__in={edge.scope_id for edge in edges}, content_hash__in=hashes, current_until=None
    )
    taken = {(edge.scope_id, edge.content_hash): edge for edge in held}
    for edge in edges:
        if edge.current_until is None:
            newer = taken.setdefault((edge.scope_id, edge.content_hash), edge)
            if newer is not edge:
                edge.current_until = max(newer.recorded_at, edge.recorded_at)
