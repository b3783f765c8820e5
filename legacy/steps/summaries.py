"""Working summaries: the one that each session has there becomes that version of its summary here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kernel.rows import insert
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, put, stay, told_beside
from legacy.steps.places import Places
from memory.models import Summary

_KNOWN = frozenset(
    {
        "session_id", "summary_text", "summary_version", "summary_source_turn_range", "summary_generated_at",
        "source_session_id",
    }
)  # fmt: skip
TRIGGER = "migrated"


def turn_range(row: SourceRow) -> tuple[int, int]:
    """The first and last turn that a summary was made from; 0 and 0 where it does not say. Raises Quarantined."""
    value = row.json("summary_source_turn_range")
    if value is None or value in ({}, []):
        return 0, 0
    ends: Any = (value.get("from"), value.get("to")) if isinstance(value, dict) else value
    right = isinstance(ends, list | tuple) and len(ends) == 2 and all(type(end) is int for end in ends)
    if not right or not 0 <= ends[0] <= ends[1] <= 2_147_483_647:
        raise Quarantined(
            Reason.BAD_NUMBER, f"summary_source_turn_range: {row.text('summary_source_turn_range')[:80]}"
        )
    return ends[0], ends[1]


class Summaries:
    """The step of summaries."""

    name = "summaries"
    tables: tuple[str, ...] = ("summaries",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every summary, by its session."""
        return source.rows("summaries", key=("session_id",))

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store summaries; a session that has that version already keeps its own."""
        places = Places(rows)
        made: list[Summary] = []

        def take(row: SourceRow) -> Outcome:
            session = places.session_named(row.text("session_id"))
            first, last = turn_range(row)
            summary = Summary(
                id=row.target_id(part="summary"),
                domain_id=session.domain_id,
                session=session,
                version=row.integer("summary_version", least=1) if row.has("summary_version") else 1,
                text=row.required("summary_text"),
                source_from=first,
                source_to=last,
                trigger=TRIGGER,
                generated_at=row.moment("summary_generated_at") or session.created_at,
            )
            if run.again is not None:
                return _taken_again(row, summary, run)
            if Summary.objects.filter(session=session, version__gte=summary.version).exists():
                raise Quarantined(
                    Reason.DUPLICATE, f"the session has version {summary.version} of its summary already"
                )
            made.append(summary)
            return moved(row, "summaries", summary.pk, _note(row, summary))

        outcomes = each(rows, take)
        insert(made)
        return outcomes


def _taken_again(row: SourceRow, summary: Summary, run: Run) -> Outcome:
    """A newer version becomes another row beside the one before; the same version is mended. Raises Quarantined."""
    before = Summary.objects.get(pk=run.became)
    summary.pk = before.pk
    stay(summary, before, ("session_id",))
    if summary.version == before.version:
        put([summary], run, ("text", "source_from", "source_to", "generated_at"))
        return moved(row, "summaries", summary.pk, _note(row, summary))
    if Summary.objects.filter(session=summary.session_id, version__gt=before.version).exists():
        raise Quarantined(Reason.TOUCHED_HERE, f"the session has a newer summary than version {before.version} here")
    if summary.version < before.version:
        raise Quarantined(Reason.MOVED_THERE, f"version {summary.version} after version {before.version}")
    summary.pk = row.target_id(part=f"summary {summary.version}")
    insert([summary])
    return moved(row, "summaries", summary.pk, _note(row, summary))


def _note(row: SourceRow, summary: Summary) -> str:
    notes = [told_beside(row, _KNOWN), "" if summary.source_to else "it does not say which turns it was made from"]
    return "; ".join(filter(None, notes))
