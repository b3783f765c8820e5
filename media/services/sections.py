"""Sections of a document: replaced when it is imported again, and indexed under the scopes in which it is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from hashlib import blake2b
from typing import Any, Protocol
from uuid import UUID

from django.db.models import F

from kernel.actions import Change
from kernel.context import Ctx
from kernel.rows import insert
from media.models import SourceDocument, SourceSection
from media.selectors.indexed import misplaced_entries, shared_keys
from media.selectors.sight import private_scope
from media.services.refiling import Unfiled, filings_of, heirs, refile
from scopes.services import ensure_scopes
from search import services as index
from search.contracts import Kind, NewEntry

Counted = Mapping[str, Mapping[str, int]]
"""The terms of texts, counted before the transaction in which they are indexed."""

_ASIDE = 1_000_000  # kept sections wait behind this number while their places are given out


class Written(Protocol):
    """A section to store."""

    @property
    def title(self) -> str:
        """Its heading."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def metadata(self) -> dict[str, Any]:
        """Where it is."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """The sections of a document in order, those of them that are new or stand elsewhere now, the changes, how many went,
    and those of them whose tags and topics went too."""

    sections: list[SourceSection]
    placed: list[SourceSection]
    changes: list[Change]
    lost: int
    unfiled: list[Unfiled]


def replace_sections(document: SourceDocument, wanted: Sequence[Written]) -> Replaced:
    """Let the document have exactly these sections. One whose heading and text are as before stays the same row, with
    its id, tags and topics; what stands in the place of one that goes has its tags and topics."""
    held: defaultdict[tuple[str, str], list[SourceSection]] = defaultdict(list)
    old = list(document.sections.order_by("number"))
    for row in reversed(old):
        held[row.title, row.content].append(row)
    kept: list[SourceSection] = []
    moved: list[SourceSection] = []
    made: list[SourceSection] = []
    for number, each in enumerate(wanted, 1):
        same = held[each.title, each.content]
        if same:
            row = same.pop()
            if (row.number, row.metadata) != (number, each.metadata):
                row.number, row.metadata = number, each.metadata
                moved.append(row)
            kept.append(row)
        else:
            made.append(_new(document, number, each))
    going = {row.pk for left in held.values() for row in left}
    gone = [row for row in old if row.pk in going]
    filings = filings_of([row.pk for row in gone])
    remove_sections([row.pk for row in gone])
    SourceSection.objects.filter(pk__in=[row.pk for row in moved]).update(number=F("number") + _ASIDE)
    SourceSection.objects.bulk_update(moved, ["number", "metadata"], batch_size=200)
    _give_ids(made)
    insert(made)
    after = {"count": len(wanted), "added": len(made), "removed": len(gone)}
    before = {"count": len(old)} if old else None
    change = Change("source_sections", str(document.pk), before, after, incidental=True)
    rows = sorted([*kept, *made], key=lambda row: row.number)
    unfiled, refiled = refile(document, gone, heirs(old, rows), filings) if gone else ([], [])
    changes = [change, *refiled] if made or gone else []
    return Replaced(rows, [*made, *moved], changes, len(gone), unfiled)


def _give_ids(made: Sequence[SourceSection]) -> None:
    """Let the ids of new sections descend: a search gives what is equally good from the newest id on, so that sections
    of one document come in its order."""
    for row, pk in zip(made, sorted((row.pk for row in made), reverse=True), strict=True):
        row.pk = pk


def remove_sections(ids: Sequence[UUID]) -> None:
    """Take sections away, from the index too."""
    index.remove(Kind.SECTION, ids)
    SourceSection.objects.filter(pk__in=ids).delete()


def count_sections(title: str, sections: Iterable[Written | SourceSection]) -> Counted:
    """The terms of the sections of a document with this title. Counting is most of the work of indexing, so it is done
    before the transaction."""
    texts = (text_of(title, each) for each in sections)
    return {text: index.count_terms(text) for text in texts}


def index_sections(
    document: SourceDocument, sections: Sequence[SourceSection], scope_keys: Iterable[int], counted: Counted
) -> None:
    """Bring the index in line with these sections of a document in these scopes. A text that is not among those counted
    is counted now."""
    index.refresh([entry_of(document, row, key, counted) for key in sorted(set(scope_keys)) for row in sections])


def reindex_sections(ids: Collection[UUID], ctx: Ctx) -> tuple[int, int, int]:
    """Bring the index in line with sections as they are, in every scope in which they are read and in no other; gives
    how many entries were changed, added and removed. Other writers of their documents wait meanwhile."""
    of = SourceSection.objects.filter(pk__in=ids).values("document_id")
    documents = {row.pk: row for row in SourceDocument.objects.select_for_update().filter(pk__in=of).order_by("pk")}
    shared = shared_keys(documents.values())
    found = defaultdict[UUID, list[SourceSection]](list)
    for row in SourceSection.objects.filter(pk__in=ids, document__in=documents).order_by("document", "number"):
        found[row.document_id].append(row)
    entries = []
    for pk, sections in found.items():
        keys = sorted({own_scope_key(documents[pk], ctx), *shared.get(pk, ())})
        entries += [entry_of(documents[pk], row, key, {}) for key in keys for row in sections]
    misplaced = defaultdict[int, list[UUID]](list)
    for pk, key in misplaced_entries().filter(object_id__in=ids).values_list("object_id", "scope_id"):
        misplaced[key].append(pk)
    removed = sum(index.remove(Kind.SECTION, gone, key) for key, gone in misplaced.items())
    return *index.refresh(entries), removed


def own_scope_key(document: SourceDocument, ctx: Ctx) -> int:
    """The scope under which the index keeps the document for its owner."""
    own = private_scope(document.owner_id)
    return ensure_scopes(document.domain_id, [own], ctx, "")[0][own].key


def entry_of(document: SourceDocument, row: SourceSection, scope_key: int, counted: Counted) -> NewEntry:
    """What the index keeps of a section in one scope: its words with those of its headings, by the time at which it was
    published, else imported."""
    published, text = document.publication_date, text_of(document.title, row)
    return NewEntry(
        kind=Kind.SECTION,
        object_id=row.pk,
        domain_id=document.domain_id,
        scope_key=scope_key,
        text=text,
        session_key=_key_of(document),
        sequence=row.number,
        numbered=True,
        event_time=datetime.combine(published, time(), UTC) if published else document.created_at,
        recorded_at=row.created_at,
        counted=counted.get(text),
    )


def _key_of(document: SourceDocument) -> int:
    """The number by which the index knows a document: positive, of 63 bits."""
    return int.from_bytes(blake2b(document.pk.bytes, digest_size=8).digest(), "big") >> 1


def text_of(title: str, each: Written | SourceSection) -> str:
    """The words by which a section of a document with this title is found."""
    return "\n".join(dict.fromkeys([title, each.title, each.content]))


def _new(document: SourceDocument, number: int, each: Written) -> SourceSection:
    return SourceSection(
        domain_id=document.domain_id,
        document=document,
        number=number,
        title=each.title,
        content=each.content,
        metadata=each.metadata,
        created_at=document.updated_at,
    )
