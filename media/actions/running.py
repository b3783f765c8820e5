"""The action that runs a claimed job: its source is read outside the transaction, what it gives is stored inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernel.actions import Action, Applied, Change, Target, register
from kernel.context import Ctx, Right
from kernel.contracts import Contract
from kernel.errors import DomainError, NotFoundError
from media.actions.permitting import require_import
from media.contracts.jobs import (
    RunMediaJobInput,
    RunMediaJobResult,
)
from media.models import MediaJob
from media.services import jobs
from media.services.leases import held
from media.services.operations import action_of, input_of_job


@dataclass(frozen=True, slots=True)
class _Ready:
    """A job whose source was read, to be stored."""

    operation: str
    given: Contract
    prepared: Any


def _held_job(given: RunMediaJobInput, ctx: Ctx) -> MediaJob:
    row = held(given.id, given.lease_token).filter(owner_id=ctx.actor.id).first()
    if row is None:
        raise NotFoundError("No job that you hold by this lease.")
    return row


def _run_target(given: RunMediaJobInput, ctx: Ctx) -> Target:
    row = _held_job(given, ctx)
    return Target(row.domain_id, scopes=(), place=row.place)


def _read_source(given: RunMediaJobInput, ctx: Ctx) -> _Ready:
    row = _held_job(given, ctx)
    parsed = input_of_job(row)
    require_import(row.operation, parsed, row.domain_id, row.scopes, ctx)
    return _Ready(row.operation, parsed, action_of(row.operation).prepare(parsed, ctx))


def _store(given: RunMediaJobInput, ready: _Ready, ctx: Ctx) -> Applied[RunMediaJobResult]:
    jobs.hold_on(given.id, given.lease_token, ctx)
    apply = action_of(ready.operation).apply
    if apply is None:
        raise TypeError(f"{ready.operation} only reads")
    stored, changes = apply(ready.given, ready.prepared, ctx)
    result = stored.model_dump(mode="json")
    status, change = jobs.finish(given.id, given.lease_token, result, ctx)
    return RunMediaJobResult(status=status, result=result), [*changes, change]


def _keep_failure(given: RunMediaJobInput, error: DomainError, ctx: Ctx) -> list[Change]:
    return jobs.fail(given.id, given.lease_token, error, ctx)


RUN_MEDIA_JOB = register(
    Action(
        "run_media_job",
        "Do a claimed media job in the name of its owner; only the worker that holds its lease can.",
        RunMediaJobInput,
        RunMediaJobResult,
        Right.READ,
        _run_target,
        _read_source,
        _store,
        failed=_keep_failure,
        queueable=False,
        instead="Remove the document.",
    )
)
