"""Jobs for tests: a small import that reads its text from its own options, so that it fails and waits on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from pydantic import Field

import kernel.actions
from kernel import clock
from kernel.actions import Action, Applied, Change, Target
from kernel.context import Ctx, Right
from kernel.contracts import Contract
from media.actions.place import writing_target
from media.models import MediaJob, SourceDocument
from media.selectors.sight import domain_of
from media.services import leases
from scopes.contracts import ScopeRef
from tests.conftest import TEAM, Player
from tests.guards.write_guard import unguarded

PROJECT = {"type": "project", "id": "shop"}


class SmallInput(Contract):
    """As every import takes it."""

    domain_id: str | None = None
    source: str = Field(min_length=1)
    options: dict[str, Any] = {}
    scopes: list[ScopeRef] = []


class SmallResult(Contract):
    """As every import answers."""

    document_id: str
    status: str = "success"
    warnings: list[str] = []


@dataclass
class Importing:
    """`before` runs while the source is read, `during` while it is stored."""

    before: Callable[[SmallInput, Ctx], Any] = lambda given, ctx: None
    during: Callable[[SmallInput, Ctx], Any] = lambda given, ctx: None
    result: Callable[[str], SmallResult] = lambda pk: SmallResult(document_id=pk)

    def action(self, name: str) -> Action[Any, Any, Any]:
        return Action(name, "A small import.", SmallInput, SmallResult, Right.WRITE, _target, self._read, self._store)

    def _read(self, given: SmallInput, ctx: Ctx) -> str:
        self.before(given, ctx)
        return given.source

    def _store(self, given: SmallInput, text: str, ctx: Ctx) -> Applied[SmallResult]:
        domain_id = domain_of(given.domain_id, ctx)
        row = SourceDocument.objects.create(
            domain_id=domain_id, owner_id=ctx.actor.id, owner_name=ctx.actor.name, title=text, media_type="document",
            source_type="manual", source_uri=text, content_hash="0" * 64, state="completed",
        )  # fmt: skip
        self.during(given, ctx)
        return self.result(str(row.pk)), [Change("source_documents", str(row.pk), None, {"title": text})]


def _target(given: SmallInput, ctx: Ctx) -> Target:
    return writing_target(given.domain_id, given.scopes, ctx)


@pytest.fixture
def importing(monkeypatch) -> Importing:
    """The import that jobs do in this test."""
    small = Importing()
    for name in ("add_document", "add_media"):
        monkeypatch.setitem(kernel.actions._registry, name, small.action(name))
    return small


def wanted(source: str = "https://example.org/a", **fields: object) -> dict:
    return {"domain_id": TEAM, "operation": "add_document", "source": source, **fields}


def enqueue(player: Player, source: str = "https://example.org/a", **fields: object) -> str:
    """The id of a new job."""
    job_id: str = player.do("enqueue_media", wanted(source, **fields))["job_id"]
    return job_id


def a_job(player: Player, status: str = "queued", **fields: Any) -> MediaJob:
    """A job of the player in that state, made by hand: it was asked for five minutes ago, begun two minutes ago and
    ended one minute ago."""
    now = clock.now()
    made: dict[str, Any] = {"domain_id": TEAM, "operation": "add_media", "source": "https://example.org/a"}
    if status not in ("queued", "canceled"):
        made |= {"started_at": now - timedelta(minutes=2), "attempts": 1}
    if status not in ("queued", "processing"):
        made |= {"finished_at": now - timedelta(minutes=1)}
    owner = {"owner_id": player.identity.actor.id, "owner_name": player.name, "request_fingerprint": "0" * 64}
    with unguarded():
        return MediaJob.objects.create(
            status=status, created_at=now - timedelta(minutes=5), **{**made, **owner, **fields}
        )


def row_of(job_id: str) -> MediaJob:
    return MediaJob.objects.get(pk=job_id)


def put(job_id: str, **fields: object) -> None:
    """Change a job's row by hand."""
    with unguarded():
        MediaJob.objects.filter(pk=job_id).update(**fields)


def later(seconds: float):
    """From now on the clock is that much ahead, inside the block."""
    moment = clock.now() + timedelta(seconds=seconds)
    return clock.use(lambda: moment)


def raising(error):
    """What raises that error, as `before` or `during` of the import."""

    def do(given, ctx):
        raise error

    return do


def taken(job_id: str = "") -> leases.Lease:
    """The lease of this job, or of the next one."""
    now = clock.now()
    lease = leases.claim(row_of(job_id).pk, now) if job_id else leases.claim_next(now)
    assert lease is not None
    return lease
