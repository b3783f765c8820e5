"""Which documents the stored bytes of SmartRAG are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.dated import dated_id
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, parents, put, told_beside
from media.models import MediaObjectReference, SourceDocument
from media.services.objects import hold_many, refer_many

TABLE = "media_object_references"
_KNOWN = frozenset({"id", "media_object_id", "document_id", "created_at"})


class References:
    """The step of references to stored bytes."""

    name = "media_object_references"
    tables: tuple[str, ...] = (TABLE,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every reference, by its id."""
        return source.rows(TABLE)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store references of which both ends are here, and count them with their objects."""
        objects = parents("media_objects", (row.columns.get("media_object_id") for row in rows))
        documents = parents("source_documents", (row.columns.get("document_id") for row in rows))
        held = hold_many([pk for row in rows if (pk := objects.maybe(row.columns.get("media_object_id")))])
        wanted = [pk for row in rows if (pk := documents.maybe(row.columns.get("document_id")))]
        domains = dict(SourceDocument.objects.filter(pk__in=wanted).values_list("pk", "domain_id"))
        there = MediaObjectReference.objects.filter(document__in=wanted)
        known = {(one, other): pk for pk, one, other in there.values_list("pk", "media_object_id", "document_id")}
        made: list[MediaObjectReference] = []

        def take(row: SourceRow) -> Outcome:
            media_object = objects.target(row.required("media_object_id"))
            document = documents.target(row.required("document_id"))
            if media_object not in held:
                raise Quarantined(Reason.BYTES_MISSING, "its bytes were removed here")
            if document not in domains:
                raise Quarantined(Reason.ORPHAN, "its document was taken away here")
            note = told_beside(row, _KNOWN)
            if (media_object, document) in known and run.again is None:
                same = "the document has these bytes already"
                return moved(row, TABLE, known[media_object, document], f"{same}; {note}" if note else same)
            at = row.moment("created_at")
            made.append(
                MediaObjectReference(
                    id=run.became if run.again else dated_id(row, at),
                    domain_id=domains[document],
                    media_object_id=media_object,
                    document_id=document,
                    created_at=at or run.ctx.now,
                )
            )
            known[media_object, document] = made[-1].pk
            return moved(row, TABLE, made[-1].pk, note)

        outcomes = each(rows, take)
        if run.again is None:
            refer_many(made)
        else:
            put(made, run, ("created_at",), ("media_object_id", "document_id"))
        return outcomes
