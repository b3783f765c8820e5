"""Documents of SmartRAG: each belongs to one owner in the domain `legacy`, and is shared to nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db.models import Q

from kernel.context import Actor
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.dated import dated_id, day
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, put
from legacy.steps.metadata import PROVENANCE, document_metadata
from legacy.steps.principals import owners, principal_of
from legacy.steps.reading import Read, read
from media.contracts.kinds import DocumentState, SourceType
from media.models import SourceDocument, SourceSection
from media.services.sections import reindex_sections
from scopes.contracts import LEGACY_DOMAIN
from scopes.services import ensure_domain

TABLE = "source_documents"
_KNOWN = frozenset(
    {
        "id", "title", "url", "author", "publication_date", "language", "description", "download_state", "created_at",
        "updated_at", "metadata", "source_type", "source_uri", "content_hash", "principal",
    }
)  # fmt: skip
_WRITTEN = (
    "title", "author", "description", "publication_date", "language", "media_type", "source_type", "source_uri",
    "content_hash", "state", "metadata", "created_at", "updated_at",
)  # fmt: skip
_STATES = {0: DocumentState.PENDING, 1: DocumentState.COMPLETED, 2: DocumentState.FAILED}
_DIGITS = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a document's row says. `uri` and `content_hash` are empty where it has none."""

    principal: str
    title: str
    author: str
    description: str
    published: date | None
    language: str
    source_type: str
    uri: str
    content_hash: str
    state: str
    metadata: dict[str, Any]
    provenance: dict[str, Any]
    created_at: datetime | None
    updated_at: datetime | None
    notes: tuple[str, ...] = ()


def mapped(row: SourceRow) -> Mapped:
    """A document from its row. Raises Quarantined."""
    notes: list[str] = []
    title = row.text("title", 255)
    if not title.strip():
        notes.append("it had no title")
    url, uri = row.text("url", 2000).strip(), row.text("source_uri", 2000).strip()
    given_hash = row.text("content_hash").strip()
    content_hash = sha256_of(given_hash)
    aside = {"principal": row.text("principal"), **row.beside(_KNOWN)}
    if uri and url and url != uri:
        aside["url"] = url
    if given_hash != content_hash:
        aside["content_hash"] = given_hash
        notes.append("content_hash is written otherwise" if content_hash else "its content_hash is no SHA-256")
    return Mapped(
        principal=principal_of(row),
        title=title if title.strip() else "Untitled",
        author=row.text("author", 255),
        description=row.text("description"),
        published=day(row, "publication_date"),
        language=row.text("language", 10) or "en",
        source_type=_source_type(row, uri or url),
        uri=uri or url,
        content_hash=content_hash,
        state=_state(row).value,
        metadata=row.json_object("metadata"),
        provenance={name: value for name, value in aside.items() if value},
        created_at=row.moment("created_at"),
        updated_at=row.moment("updated_at"),
        notes=tuple(notes),
    )


def sha256_of(text: str) -> str:
    """The lower-case hex of a SHA-256, with or without its name before it; empty for anything else."""
    digits = text.strip().lower().removeprefix("sha256:")
    return digits if len(digits) == 64 and _DIGITS.issuperset(digits) else ""


def _state(row: SourceRow) -> DocumentState:
    if not row.has("download_state"):
        return DocumentState.PENDING
    state = row.integer("download_state", least=-(2**31))
    if state not in _STATES:
        raise Quarantined(Reason.UNKNOWN_STATUS, f"download_state {state}")
    return _STATES[state]


def _source_type(row: SourceRow, uri: str) -> str:
    given = row.text("source_type").strip()
    if not given:
        return (SourceType.URL if uri.startswith(("http://", "https://")) else SourceType.OTHER).value
    if given not in list(SourceType):
        raise Quarantined(Reason.UNKNOWN_TYPE, f"source_type {given[:40]}")
    return given


class Documents:
    """The step of documents."""

    name = "source_documents"
    tables: tuple[str, ...] = (TABLE,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every document. Of several of one address the one that was read, and last, comes first, and holds it."""
        places = ["(r.download_state IS DISTINCT FROM 1)"] if source.has(TABLE, "download_state") else []
        order = ["r.updated_at DESC NULLS LAST"] if source.has(TABLE, "updated_at") else []
        return source.rows(TABLE, places=places, order=order)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store documents under their owners. A second one of the same address and the same bytes is a duplicate; one of
        other bytes is known by these."""
        ensure_domain(LEGACY_DOMAIN)
        shelf = _Shelf(run, read(rows, mapped))
        outcomes = each(rows, shelf.take)
        put(shelf.made, run, _WRITTEN, ("owner_id",))
        if run.again is not None:
            of = SourceSection.objects.filter(document__in=[document.pk for document in shelf.made])
            reindex_sections(of.values_list("pk", flat=True), run.ctx)  # the title and the day are part of the entries
        return outcomes


@dataclass(slots=True)
class _Shelf:
    """The documents of a batch as they are taken, beside those of the same owners and addresses that are here."""

    run: Run
    said: Read[Mapped]
    made: list[SourceDocument] = field(default_factory=list)
    people: dict[str, Actor] = field(default_factory=dict)
    held: dict[tuple[str, str], str] = field(default_factory=dict)  # hash by owner and address
    plain: set[tuple[str, str]] = field(default_factory=set)  # owner and hash of those without an address

    def __post_init__(self) -> None:
        self.people = owners({one.principal for one in self.said}, self.run)
        ids = {actor.id for actor in self.people.values()}
        uris, hashes = {one.uri for one in self.said}, {one.content_hash for one in self.said}
        same = Q(source_uri__in=uris - {""}) | Q(source_uri="", content_hash__in=hashes - {""})
        rows = SourceDocument.objects.filter(same, domain_id=LEGACY_DOMAIN, owner_id__in=ids)
        if self.run.again is not None:
            rows = rows.exclude(pk=self.run.again.target_id)
        for found in rows.values_list("owner_id", "source_uri", "content_hash"):
            self._hold(*found)

    def _hold(self, owner: str, uri: str, content_hash: str) -> None:
        if uri:
            self.held[owner, uri] = content_hash
        else:
            self.plain.add((owner, content_hash))

    def take(self, row: SourceRow) -> Outcome:
        """The document of a row, to be stored. Raises Quarantined for a duplicate."""
        said = self.said.of(row)
        owner = self.people[said.principal]
        uri, notes = self._address(row, said, owner)
        provenance = {"system": "smartrag", "table": TABLE, "id": row.key, "run": str(self.run.id), **said.provenance}
        if said.uri and uri != said.uri:
            provenance["source_uri"] = said.uri
        created = said.created_at or said.updated_at or self.run.ctx.now
        document = SourceDocument(
            id=self.run.became if self.run.again else dated_id(row, said.created_at),
            domain_id=LEGACY_DOMAIN,
            owner_id=owner.id,
            owner_name=owner.name,
            title=said.title,
            author=said.author,
            description=said.description,
            publication_date=said.published,
            language=said.language,
            source_type=said.source_type,
            source_uri=uri,
            content_hash=said.content_hash,
            state=said.state,
            metadata=document_metadata(said.metadata, provenance),
            created_at=created,
            updated_at=said.updated_at or created,
        )
        document.media_type = document.metadata["media_type"]
        aside = document.metadata[PROVENANCE].get("metadata", {})
        if aside:
            notes.append(f"of its metadata, {', '.join(sorted(aside))[:500]} stands in provenance")
        self._hold(owner.id, uri, said.content_hash)
        self.made.append(document)
        return moved(row, TABLE, document.pk, "; ".join([*said.notes, *notes]))

    def _address(self, row: SourceRow, said: Mapped, owner: Actor) -> tuple[str, list[str]]:
        """The address by which it is known here, empty where that is its bytes. Raises Quarantined."""
        mine = (owner.id, said.uri)
        if said.uri and mine not in self.held:
            return said.uri, []
        if said.uri and said.content_hash and self.held[mine] == said.content_hash:
            raise Quarantined(Reason.DUPLICATE, f"the same address and bytes: {said.uri[:200]}")
        notes = [f"another document has its address {said.uri[:200]}"] if said.uri else []
        if said.content_hash:
            if (owner.id, said.content_hash) not in self.plain:
                return "", notes
            if not said.uri:
                raise Quarantined(Reason.DUPLICATE, "the same bytes, and no address")
        return f"smartrag:{TABLE}/{row.key}", [*notes, "it is known by its older id"]
