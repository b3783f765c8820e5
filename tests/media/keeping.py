"""Stored bytes kept, attached to documents, aged and collected by hand."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from governance import gate
from governance.gate import system_ctx
from governance.gate.opening import writing
from kernel import clock
from kernel.conf import conf
from kernel.context import Door
from kernel.ids import new_id
from media.contracts.kinds import JobStatus
from media.models import MediaJob, MediaObject, MediaObjectReference, SourceDocument
from media.services import objects
from scopes.models import Domain
from tests.conftest import TEAM
from tests.guards.write_guard import unguarded

DAY = timedelta(days=1)


def system():
    """The system's own context, of this moment."""
    return system_ctx("tests", Door.PYTHON)


@pytest.fixture
def upload(tmp_path):
    """A file with these bytes."""

    def make(content: bytes = b"minutes of the meeting"):
        path = tmp_path / f"upload-{new_id().hex}"
        path.write_bytes(content)
        return path

    return make


@pytest.fixture
def keep(upload, db):
    """Keep such a file; its row."""
    return lambda content=b"minutes of the meeting": objects.keep(upload(content), "text/plain", system())


@pytest.fixture
def document(db):
    """A new document each time."""

    def make(owner: str = "alice") -> SourceDocument:
        with unguarded():
            domain, _ = Domain.objects.get_or_create(pk=TEAM)
            return SourceDocument.objects.create(
                domain=domain, owner_id=owner, owner_name=owner, title="Minutes", media_type="document",
                source_type="file", source_uri=f"https://example.org/{new_id()}", content_hash="0" * 64, state="completed",
            )  # fmt: skip

    return make


def root() -> Path:
    """The folder of stored bytes."""
    return conf().data_dir / "media"


def attach(document, row):
    """Attach stored bytes to a document; the changes."""
    with writing():
        return objects.attach(document, row)


def detach(document):
    """Let go of a document's bytes; the changes."""
    with writing():
        return objects.detach(document)


def collect(hours: int = 24, **fields: object) -> dict:
    """The answer of a collection."""
    return gate.call("garbage_collect_media_objects", {"min_age_hours": hours, **fields}, ctx=system()).body()


def aged(row: MediaObject, by: timedelta = 2 * DAY) -> MediaObject:
    """The row, touched that long ago."""
    with unguarded():
        MediaObject.objects.filter(pk=row.pk).update(touched_at=clock.now() - by)
    return row


def fresh(row):
    """The row as it is now."""
    return type(row).objects.get(pk=row.pk)


def true_counts() -> bool:
    """Whether every row counts its references."""
    return all(
        row.reference_count == MediaObjectReference.objects.filter(media_object=row).count()
        for row in MediaObject.objects.all()
    )


def staged(row: MediaObject, status: JobStatus) -> MediaJob:
    """A job in that state whose upload this is."""
    with unguarded():
        Domain.objects.get_or_create(pk=TEAM)
        return MediaJob.objects.create(
            domain_id=TEAM, owner_id="alice", owner_name="alice", operation="add_media", status=status,
            request_fingerprint="0" * 64, staging_object=row,
        )  # fmt: skip


def check(**fields: object) -> list[dict]:
    """Every fault that a check finds, page by page."""
    faults, cursor = [], None
    while True:
        found = gate.call("check_media", {"cursor": cursor, **fields}, ctx=system()).body()
        faults += found["faults"]
        cursor = found["next_cursor"]
        if cursor is None:
            return faults
