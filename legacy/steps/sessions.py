"""Sessions: each becomes a session with its private scope, in the domain `legacy` or its own, and belongs to the owner of
the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from kernel.rows import insert
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, free_ids, own, put, take_over
from memory.models import Session, SessionScopeLink
from scopes.contracts import LEGACY_DOMAIN, SESSION, DomainId, ExternalId
from scopes.models import MemoryScope
from scopes.services import ensure_domain

_KNOWN = frozenset({"id", "created_at", "metadata_json", "domain_id"})
HERE = "was here already"  # what the note of a row says that joined one of this installation
_EXTERNAL: TypeAdapter[str] = TypeAdapter(ExternalId)
_DOMAIN: TypeAdapter[str] = TypeAdapter(DomainId)


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a session's row says."""

    external_id: str
    domain_id: str
    metadata: dict[str, Any]
    created_at: datetime | None


def mapped(row: SourceRow) -> Mapped:
    """A session from its row; further columns go to its metadata. Raises Quarantined."""
    return Mapped(
        external_id=session_name(row.text("id")),
        domain_id=domain_name(row.text("domain_id") or LEGACY_DOMAIN),
        metadata={**row.beside(_KNOWN), **row.json_data("metadata_json")},
        created_at=row.moment("created_at"),
    )


def session_name(text: str) -> str:
    """A session's id as calls may name it. Raises Quarantined."""
    try:
        return _EXTERNAL.validate_python(text)
    except ValidationError:
        raise Quarantined(Reason.BAD_ID, f"session id of {len(text)} characters") from None


def domain_name(text: str) -> str:
    """A domain's id as calls may name it. Raises Quarantined."""
    try:
        return _DOMAIN.validate_python(text)
    except ValidationError:
        raise Quarantined(Reason.BAD_DOMAIN, text[:80]) from None


class Sessions:
    """The step of sessions."""

    name = "sessions"
    tables: tuple[str, ...] = ("sessions",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every session, by its id."""
        return source.rows("sessions")

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store sessions and their scopes; one that is there already, because its owner opened it here, is used."""
        ids = free_ids(Session, rows, run)
        sessions, scopes = _there([row.id for row in rows], run)
        new: list[MemoryScope] = []
        changed: list[Session] = []
        made: list[tuple[Session, MemoryScope]] = []

        def take(row: SourceRow) -> Outcome:
            said = mapped(row)
            place = (said.domain_id, said.external_id)
            scope = scopes.get(place)
            if scope is not None and scope.owner != run.owner.id:
                raise Quarantined(Reason.DUPLICATE, "a session of that id here is another principal's")
            if run.again is not None:
                own(run, HERE)
                changed.append(_session(said, ids[row.id], run))
                return moved(row, "sessions", ids[row.id], row.wrapped("metadata_json"))
            if place in sessions:
                kept, told = take_over(sessions[place], said.metadata, said.created_at)
                note = "; ".join(filter(None, [f"a session of that id {HERE}", kept]))
                return moved(row, "sessions", sessions[place].pk, note, told=told)
            if scope is None:
                scope = _scope(said, run)
                new.append(scope)
            made.append((_session(said, ids[row.id], run), scope))
            return moved(row, "sessions", ids[row.id], row.wrapped("metadata_json"))

        outcomes = each(rows, take)
        put(changed, run, ("metadata", "created_at"), ("domain_id", "external_id"))
        for domain_id in sorted({scope.domain_id for scope in new}):
            ensure_domain(domain_id)
        insert(new)
        for session, scope in made:
            session.scope_id = scope.pk
        insert([session for session, _ in made])
        insert([_link(session) for session, _ in made])
        return outcomes


_Place = tuple[str, str]  # domain and the session's id as calls name it


def _there(names: Sequence[str], run: Run) -> tuple[dict[_Place, Session], dict[_Place, MemoryScope]]:
    """The sessions of these names that are here already, and the scopes."""
    partitions = ["", run.owner.id]
    sessions = Session.objects.filter(external_id__in=names, scope__partition__in=partitions)
    scopes = MemoryScope.objects.filter(external_id__in=names, scope_type=SESSION, partition__in=partitions)
    return (
        {(row.domain_id, row.external_id): row for row in sessions},
        {(row.domain_id, row.external_id): row for row in scopes},
    )


def _scope(said: Mapped, run: Run) -> MemoryScope:
    return MemoryScope(
        domain_id=said.domain_id,
        scope_type=SESSION,
        external_id=said.external_id,
        partition=run.owner.id if said.domain_id == LEGACY_DOMAIN else "",
        owner=run.owner.id,
        created_at=said.created_at or run.ctx.now,
        updated_at=said.created_at or run.ctx.now,
    )


def _session(said: Mapped, session_id: UUID, run: Run) -> Session:
    return Session(
        id=session_id,
        domain_id=said.domain_id,
        external_id=said.external_id,
        metadata=said.metadata,
        created_at=said.created_at or run.ctx.now,
    )


def _link(session: Session) -> SessionScopeLink:
    """A session reads and writes its own scope."""
    return SessionScopeLink(
        session=session, scope_id=session.scope_id, access_mode="read_write", created_at=session.created_at
    )
