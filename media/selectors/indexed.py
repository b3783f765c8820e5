"""Sections against the index: which are not found everywhere they are read, and which entries stand where none should.

A section has one entry in the scope of its document's owner, and one in each scope that the document is shared to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from media.models import DocumentShare, SourceDocument, SourceSection
from scopes.contracts import OWNER
from search.contracts import Kind
from search.selectors.upkeep import entries_of, has_entry

if TYPE_CHECKING:
    from search.models import IndexEntry


def lost_sections() -> QuerySet[SourceSection]:
    """Sections that have no entry in some scope in which they are read."""
    own = has_entry(
        Kind.SECTION,
        OuterRef("pk"),
        scope__domain=OuterRef("domain_id"),
        scope__scope_type=OWNER,
        scope__external_id=OuterRef("document__owner_id"),
    )
    shares = DocumentShare.objects.filter(document=OuterRef("document_id"))
    shared = has_entry(Kind.SECTION, OuterRef(OuterRef("pk")), scope=OuterRef("scope_id"))
    return SourceSection.objects.filter(~own | Exists(shares.filter(~shared)))


def misplaced_entries() -> QuerySet[IndexEntry]:
    """Entries of sections that are gone, or that are not read in that scope."""
    sections = SourceSection.objects.filter(pk=OuterRef("object_id"))
    own = sections.filter(domain_id=OuterRef("scope__domain_id"), document__owner_id=OuterRef("scope__external_id"))
    shared = sections.filter(document__shares__scope_id=OuterRef("scope_id"))
    rightly = Q(scope__scope_type=OWNER) & Exists(own) | Exists(shared)
    return entries_of(Kind.SECTION).filter(~rightly)


def sections_after(domain_id: str, after: UUID, most: int) -> list[UUID]:
    """The sections of a domain after that one, in the order of their ids."""
    rows = SourceSection.objects.filter(domain_id=domain_id, pk__gt=after).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:most])


def count_sections(domain_id: str) -> int:
    """How many sections a domain has."""
    return SourceSection.objects.filter(domain_id=domain_id).count()


def ill_indexed(ids: Sequence[UUID]) -> list[UUID]:
    """Those of the sections that are not found where they should be, or found where they should not."""
    lost = lost_sections().filter(pk__in=ids).values_list("pk", flat=True)
    misplaced = misplaced_entries().filter(object_id__in=ids).values_list("object_id", flat=True)
    return sorted({*lost, *misplaced})


def gone_sections(ids: Iterable[UUID]) -> list[UUID]:
    """Those of the ids that are of no section."""
    wanted = set(ids)
    return sorted(wanted - set(SourceSection.objects.filter(pk__in=wanted).values_list("pk", flat=True)))


def shared_keys(documents: Iterable[SourceDocument]) -> Mapping[UUID, list[int]]:
    """The scopes that each document is shared to."""
    found: defaultdict[UUID, list[int]] = defaultdict(list)
    rows = DocumentShare.objects.filter(document__in=[row.pk for row in documents]).order_by("scope_id")
    for document_id, key in rows.values_list("document_id", "scope_id"):
        found[document_id].append(key)
    return found
