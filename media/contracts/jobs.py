"""Media jobs as callers see them: asking for an import, following it, and what to do when it failed."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from kernel.contracts import Contract, KeyedInput, KeyedResult, PageInput, PageResult
from media.contracts.kinds import JobStatus, MediaType
from scopes.contracts import DomainId, ScopeRef, ScopeView

MAX_JOBS_AT_ONCE = 200


class Operation(StrEnum):
    """What a job does; each is the name of the action that does the same at once."""

    ADD_DOCUMENT = "add_document"
    ADD_MEDIA = "add_media"
    ADD_IMAGE = "add_image"
    ADD_AUDIO = "add_audio"
    ADD_VIDEO = "add_video"


OptionalDomain = Annotated[
    DomainId | None,
    Field(description="The isolation domain; left out, the only one you can reach, else `legacy`."),
]


class EnqueueMediaInput(KeyedInput):
    """An import that a worker does later. The same key with the same payload gives the same job."""

    domain_id: OptionalDomain = None
    operation: Operation = Field(description="The action that the job does.")
    source: str = Field(
        default="", max_length=2000, description="The source of that action; empty where its options hold the text."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="The options of that action.")
    scopes: list[ScopeRef] = Field(
        default_factory=list, max_length=20, description="Scopes to share the document to; none: only you see it."
    )


class EnqueueMediaResult(KeyedResult):
    """The job that was asked for."""

    job_id: UUID = Field(description="Follow it with `get_media_job`.")
    status: JobStatus = Field(description="Where it is, also when the same key comes again.")
    media_type: MediaType | None = Field(description="What it seems to be, before anybody looked into it.")
    warnings: list[str] = Field(description="What will be left out, or is odd.")


class JobView(Contract):
    """One job: alone as the older protocol has it, or in a list."""

    id: UUID = Field(description="Job id (UUIDv7).")
    domain_id: str = Field(description="Its domain.")
    owner: str = Field(description="Name of whoever asked for it, who will own the document.")
    operation: str = Field(description="What it does.")
    source: str = Field(description="What is imported.")
    options: dict[str, Any] = Field(description="With which options.")
    scopes: list[ScopeView] = Field(description="Where the document is shared to.")
    status: JobStatus = Field(description="queued, processing, completed, partial, failed or canceled.")
    attempts: int = Field(description="How often a worker began it.")
    max_attempts: int = Field(description="How often it is begun at most before it counts as failed.")
    result: dict[str, Any] | None = Field(description="The answer of the operation, once it is done.")
    error: str = Field(description="Why the last attempt failed; empty otherwise.")
    note: str = Field(description="What else happened to it, such as a worker that was lost.")
    advice: str = Field(description="What to do next; empty where there is nothing to do.")
    created_at: datetime = Field(description="When it was asked for.")
    available_at: datetime = Field(description="It is not begun before.")
    started_at: datetime | None = Field(description="When the last attempt began.")
    finished_at: datetime | None = Field(description="When it ended.")
    acknowledged_at: datetime | None = Field(description="When a person took note of how it ended.")


class JobRef(Contract):
    """One job by its id."""

    id: UUID = Field(description="Job id.")


class ListMediaJobsInput(PageInput):
    """Which jobs to list."""

    domain_id: DomainId | None = Field(default=None, description="Only those of this domain.")
    status: list[JobStatus] = Field(
        default_factory=list, max_length=6, description="Only these states; over HTTP with commas between them."
    )
    unacknowledged: bool = Field(default=False, description="Only those that nobody took note of yet.")
    offset: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Rows to skip, for older clients; `cursor` is exact while rows come in.",
    )


class ListMediaJobsResult(PageResult):
    """One page of jobs, newest first."""

    jobs: list[JobView] = Field(description="Jobs, newest first.")


class MediaJobStatsInput(Contract):
    """Of which jobs to count."""

    domain_id: DomainId | None = Field(default=None, description="Only those of this domain.")


class MediaJobStatsResult(Contract):
    """How many of the jobs that you can see are where."""

    counts: dict[JobStatus, int] = Field(description="Jobs in each state; every state is listed.")
    total: int = Field(description="Jobs in all.")
    unacknowledged: int = Field(description="Failed and partial jobs that nobody took note of yet.")
    oldest_queued_age_seconds: int | None = Field(
        description="For how long the job that waits longest could have been begun; null: none waits."
    )
    stale_processing: int = Field(description="Jobs whose worker has shown no life for too long.")


class RetryMediaJobsInput(Contract):
    """Failed jobs to try again: those named, or all that you can see and nobody acknowledged."""

    ids: list[UUID] = Field(
        default_factory=list,
        max_length=MAX_JOBS_AT_ONCE,
        description="Only these; none: every failed one that nobody acknowledged.",
    )
    domain_id: DomainId | None = Field(default=None, description="Only those of this domain.")


class RefusedJob(Contract):
    """A job that was not tried again."""

    id: UUID = Field(description="Job id.")
    reason: str = Field(description="Why not.")


class RetryMediaJobsResult(Contract):
    """What became of each."""

    retried: list[UUID] = Field(description="Jobs that wait again.")
    refused: list[RefusedJob] = Field(description="Jobs that do not, with the reason.")
    remaining: int = Field(description="Failed, unacknowledged jobs that this call did not come to: call again.")


class RunMediaJobInput(Contract):
    """A claimed job, as the worker that holds its lease runs it."""

    id: UUID = Field(description="Job id.")
    lease_token: UUID = Field(description="The lease that its worker took; nobody else knows it.")


class RunMediaJobResult(Contract):
    """How it ended."""

    status: JobStatus = Field(description="completed or partial.")
    result: dict[str, Any] = Field(description="The answer of the operation.")


class RecoverMediaJobsInput(Contract):
    """Take back the jobs of workers that show no life."""


class RecoverMediaJobsResult(Contract):
    """What was taken back."""

    requeued: list[UUID] = Field(description="Jobs that wait again.")
    failed: list[UUID] = Field(description="Jobs that had been begun as often as they may.")


class PruneMediaJobsInput(Contract):
    """Delete ended jobs, and let go of their uploads."""

    days: int = Field(default=7, ge=0, le=3650, description="Only those that ended this many days ago.")
    limit: int = Field(default=500, ge=1, le=1000, description="At most so many.")


class PruneMediaJobsResult(Contract):
    """What was deleted."""

    pruned: int = Field(description="Jobs that are gone.")
