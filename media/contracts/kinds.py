"""The closed word lists of documents and jobs."""

from __future__ import annotations

from enum import StrEnum


class MediaType(StrEnum):
    """What a document is, whatever its source."""

    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    DOCUMENT = "document"
    OTHER = "other"


class SourceType(StrEnum):
    """Where a document came from, whatever it is."""

    URL = "url"
    FILE = "file"
    MANUAL = "manual"
    MEMORY_SNAPSHOT = "memory_snapshot"
    OTHER = "other"


class DocumentState(StrEnum):
    """How far the reading of a document got."""

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class JobStatus(StrEnum):
    """Where a job is; the last four are final."""

    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELED = "canceled"


FINAL = frozenset({JobStatus.COMPLETED, JobStatus.PARTIAL, JobStatus.FAILED, JobStatus.CANCELED})
