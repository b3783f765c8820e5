"""Media jobs of SmartRAG, with the fingerprint by which a key that comes again finds its job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from kernel.context import ANY, Actor
from kernel.errors import InvalidInputError
from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.dated import dated_id
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Parents, Run, each, parents, put, told_beside
from legacy.steps.principals import owners, principal_of
from legacy.steps.reading import Read, read
from media.contracts.documents import UPLOAD
from media.contracts.jobs import Operation
from media.contracts.kinds import FINAL, JobStatus
from media.fetching import host_refused, limits
from media.models import MediaJob, MediaObject
from media.services.jobs import Wanted, adopt, begin
from media.services.objects import hold_many
from media.services.operations import input_of, tree_of
from scopes.contracts import LEGACY_DOMAIN
from scopes.services import ensure_domain

TABLE = "media_jobs"
_KNOWN = frozenset(
    {
        "id", "operation", "source", "options", "status", "attempts", "max_attempts", "result", "error", "available_at",
        "started_at", "finished_at", "created_at", "updated_at", "idempotency_key", "principal", "lease_token",
        "heartbeat_at", "staging_media_object_id", "request_fingerprint",
    }
)  # fmt: skip
# Options that said how the call was to be made, or that the older server added: no call here has them in its payload.
_NOT_ASKED = frozenset(
    {"async", "idempotency_key", "principal", "staging_media_object_id", "delete_source_after", "extractors"}
)
_MOST = 32_767
_WRITTEN = (
    "source", "options", "status", "attempts", "max_attempts", "result", "error", "note", "available_at", "created_at",
    "started_at", "finished_at", "idempotency_key", "staging_object_id",
)  # fmt: skip
REQUEUED = "A worker of the older system held it when it moved in: it waits again."


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a job's row says; `was` is its status in the source."""

    principal: str
    operation: str
    source: str
    options: dict[str, Any]
    was: JobStatus
    attempts: int
    max_attempts: int
    result: dict[str, Any] | None
    error: str
    available_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    created_at: datetime | None
    key: str
    staged: str | None
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> JobStatus:
        """Where it is here: what was in work waits again."""
        return JobStatus.QUEUED if self.was is JobStatus.PROCESSING else self.was

    @property
    def document(self) -> str | None:
        """The older id of the document that it made."""
        found = (self.result or {}).get("document_id")
        return str(found) if isinstance(found, (int, str)) and not isinstance(found, bool) else None


def mapped(row: SourceRow) -> Mapped:
    """A job from its row. Raises Quarantined."""
    options = row.json_object("options")
    dropped = sorted(_NOT_ASKED & options.keys())
    notes = [f"options left out: {', '.join(dropped)}"] if dropped else []
    key = row.text("idempotency_key", 128)
    if key != key.strip():
        notes.append("white space around its key is no part of it")
    was, operation = _status(row), row.required("operation", 32)
    if operation not in list(Operation):
        raise Quarantined(Reason.UNKNOWN_OPERATION, f"operation {operation}")
    if was is JobStatus.PROCESSING:
        notes.append("it was processing: it waits again")
    finished = row.moment("finished_at")
    if was in FINAL and finished is None:
        finished = row.moment("updated_at")
        notes.append("it had no finished_at: it is that of its last change")
    return Mapped(
        principal=principal_of(row),
        operation=operation,
        source=row.text("source", 2000),
        options={name: value for name, value in options.items() if name not in _NOT_ASKED},
        was=was,
        attempts=row.integer("attempts", most=_MOST) if row.has("attempts") else 0,
        max_attempts=row.integer("max_attempts", most=_MOST) if row.has("max_attempts") else 3,
        result=row.json_object("result") if row.has("result") else None,
        error=row.text("error"),
        available_at=row.moment("available_at"),
        started_at=row.moment("started_at"),
        finished_at=finished if was in FINAL else None,
        created_at=row.moment("created_at"),
        key=key.strip(),
        staged=row.optional("staging_media_object_id"),
        notes=tuple(filter(None, [*notes, told_beside(row, _KNOWN)])),
    )


def _status(row: SourceRow) -> JobStatus:
    text = row.text("status") or JobStatus.QUEUED.value
    try:
        return JobStatus(text)
    except ValueError:
        raise Quarantined(Reason.UNKNOWN_STATUS, f"status {text[:40]}") from None


def unreadable(said: Mapped, source: str) -> str:
    """Why no worker here can do the job as it stands; empty where one can."""
    try:
        input_of(said.operation, tree_of(LEGACY_DOMAIN, source, said.options, ()))
    except InvalidInputError as exc:
        faults = "; ".join(str(fault["msg"]) for fault in exc.errors) or exc.message
        return f"No worker here can do it as it stands: {faults}"[:1000]
    return ""


class Jobs:
    """The step of media jobs."""

    name = "media_jobs"
    tables: tuple[str, ...] = (TABLE,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every job, by its id."""
        return source.rows(TABLE)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store jobs under their owners; those that wait are begun by the workers here."""
        ensure_domain(LEGACY_DOMAIN)
        queue = _Queue(run, read(rows, mapped))
        outcomes = each(rows, queue.take)
        if run.again is None:
            adopt(queue.made)
        else:
            _take_again(queue.made, run)
        return outcomes


def _take_again(rows: Sequence[MediaJob], run: Run) -> None:
    """Give a job the state that it has in the source by now. Raises Quarantined where a worker here began it."""
    for row in rows:
        there = MediaJob.objects.select_for_update().get(pk=row.pk)
        begun = run.again is not None and there.started_at is not None and there.started_at >= run.again.run.started_at
        if there.status == JobStatus.PROCESSING or begun:
            raise Quarantined(Reason.TOUCHED_HERE, "a worker here began it")
        put([row], run, _WRITTEN, ("owner_id", "operation", "request_fingerprint"))
        if row.status == JobStatus.QUEUED and there.status != JobStatus.QUEUED:
            MediaJob.objects.filter(pk=row.pk).update(waits_since=run.ctx.now)
            begin(row)


@dataclass(slots=True)
class _Queue:
    """The jobs of a batch as they are taken, beside what they name."""

    run: Run
    said: Read[Mapped]
    made: list[MediaJob] = field(default_factory=list)
    people: dict[str, Actor] = field(init=False)
    documents: Parents = field(init=False)
    objects: Parents = field(init=False)
    staged: dict[UUID, MediaObject] = field(init=False)
    keys: set[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        said = list(self.said)
        self.people = owners({one.principal for one in said}, self.run)
        self.documents = parents("source_documents", (one.document for one in said))
        self.objects = parents("media_objects", (one.staged for one in said))
        held = hold_many([pk for one in said if (pk := self.objects.maybe(one.staged))])
        self.staged = MediaObject.objects.in_bulk(held)
        same = MediaJob.objects.filter(
            owner_id__in={actor.id for actor in self.people.values()},
            idempotency_key__in={one.key for one in said} - {""},
        )
        if self.run.again is not None:
            same = same.exclude(pk=self.run.again.target_id)
        self.keys = set(same.values_list("owner_id", "idempotency_key"))

    def take(self, row: SourceRow) -> Outcome:
        """The job of a row, to be stored. Raises Quarantined."""
        one = self.said.of(row)
        owner, notes = self.people[one.principal], list(one.notes)
        staged = self._staged(one, notes)
        source = f"{UPLOAD}{staged.pk}" if staged else one.source
        if one.was not in FINAL and (host := host_refused(source, limits().hosts)):
            raise Quarantined(Reason.HOST_CLOSED, host)
        wanted = Wanted(LEGACY_DOMAIN, one.operation, source, one.options, (), staged)
        created = one.created_at or self.run.ctx.now
        self.made.append(
            MediaJob(
                id=self.run.became if self.run.again else dated_id(row, one.created_at),
                domain_id=wanted.domain_id,
                owner_id=owner.id,
                owner_name=owner.name,
                operation=wanted.operation,
                source=wanted.source,
                options=wanted.options,
                scopes=[],
                place=ANY,
                status=one.status.value,
                attempts=one.attempts,
                max_attempts=one.max_attempts,
                result=self._result(one),
                error=one.error,
                note=self._note(one, source, notes),
                available_at=self._available(one, created),
                created_at=created,
                waits_since=self.run.ctx.now,
                started_at=one.started_at,
                finished_at=one.finished_at or (created if one.was in FINAL else None),
                idempotency_key=self._key(one, owner, notes),
                request_fingerprint=wanted.fingerprint,
                staging_object=staged,
            )
        )
        return moved(row, TABLE, self.made[-1].pk, "; ".join(notes))

    def _available(self, one: Mapped, created: datetime) -> datetime:
        """When it could be begun: one that waits not before it came here, so that it has not waited for years."""
        told = one.available_at or created
        return max(told, self.run.ctx.now) if one.status is JobStatus.QUEUED else told

    def _staged(self, one: Mapped, notes: list[str]) -> MediaObject | None:
        """The upload that the job reads. Raises Quarantined where one that is still to be done lacks it."""
        if one.staged is None:
            return None
        found = self.staged.get(self.objects.maybe(one.staged) or UUID(int=0))
        if found is not None:
            notes.append(f"its source was {one.source[:200]}")
        elif one.was not in FINAL or one.was is JobStatus.FAILED:
            self.objects.target(one.staged)
            raise Quarantined(Reason.BYTES_MISSING, "the upload that it reads was removed here")
        else:
            notes.append(f"the upload {one.staged} that it read did not come along")
        return found

    def _result(self, one: Mapped) -> dict[str, Any] | None:
        """Its answer, with the id that its document has here and the older one beside it."""
        if one.result is None or one.document is None:
            return one.result
        found = self.documents.maybe(one.document)
        if found is None:
            return one.result
        return {**one.result, "document_id": str(found), "older_document_id": one.result["document_id"]}

    def _note(self, one: Mapped, source: str, notes: list[str]) -> str:
        """What the job itself says of how it came here."""
        if one.was in FINAL:
            return ""
        why = unreadable(one, source)
        notes += [why] if why else []
        requeued = REQUEUED if one.was is JobStatus.PROCESSING else ""
        return " ".join(filter(None, [requeued, why]))

    def _key(self, one: Mapped, owner: Actor, notes: list[str]) -> str:
        """Its key, empty where another job of its owner's has it."""
        if not one.key:
            return ""
        if (owner.id, one.key) in self.keys:
            notes.append(f"another job has its key {one.key}")
            return ""
        self.keys.add((owner.id, one.key))
        return one.key
