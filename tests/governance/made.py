"""Actions made for tests: the smallest ones that write, fail, change and destroy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from kernel.actions import Action, Applied, Change, Target
from kernel.context import Ctx, Right
from kernel.contracts import KeyedInput, KeyedResult
from kernel.errors import StaleError
from scopes.contracts import DomainId
from scopes.models import Domain
from scopes.selectors import require_domain
from tests.conftest import TEAM


class NoteInput(KeyedInput):
    """A note on a domain."""

    domain_id: DomainId = Field(default=TEAM)
    note: str = Field(default="a note")


class NoteResult(KeyedResult):
    """The note kept."""

    note: str


def note_on_domain(given: NoteInput, prepared: None, ctx: Ctx) -> Applied[NoteResult]:
    """Write the note into the domain's metadata: a change with a before and an after."""
    row = Domain.objects.get(pk=given.domain_id)
    before = row.metadata
    Domain.objects.filter(pk=row.pk).update(metadata={"note": given.note})
    return NoteResult(note=given.note), [Change("domains", row.pk, before, {"note": given.note})]


def failing(error: Exception) -> Callable[[NoteInput, None, Ctx], Applied[NoteResult]]:
    """An apply that writes and then raises."""

    def apply(given: NoteInput, prepared: None, ctx: Ctx) -> Applied[NoteResult]:
        note_on_domain(given, prepared, ctx)
        raise error

    return apply


def made(
    apply: Callable[[NoteInput, Any, Ctx], Applied[NoteResult]] | None = note_on_domain,
    prepare: Callable[[NoteInput, Ctx], Any] = lambda given, ctx: None,
    failed: Callable[..., Sequence[Change]] | None = None,
    right: Right = Right.WRITE,
    subject: str = "",
    evidence: Callable[[], str] = lambda: "",
    reverse: Callable[..., Sequence[Change]] | None = None,
) -> Action[NoteInput, NoteResult, Any]:
    """An action `note` that is not in the registry."""

    def target(given: NoteInput, ctx: Ctx) -> Target:
        require_domain(given.domain_id, ctx)
        return Target(given.domain_id, subject=subject, evidence=evidence())

    return Action(
        "note", "Keep a note.", NoteInput, NoteResult, right, target, prepare, apply, failed, reverse=reverse
    )


def note_of(domain_id: str = TEAM) -> str | None:
    """The note that a domain holds."""
    note: str | None = Domain.objects.get(pk=domain_id).metadata.get("note")
    return note


def note_back(given, changes, ctx):
    """Write the note that was there before."""
    (change,) = changes
    row = Domain.objects.get(pk=change.id)
    if row.metadata != change.after:
        raise StaleError("The note was changed since.")
    Domain.objects.filter(pk=row.pk).update(metadata=change.before)
    return [Change("domains", row.pk, change.after, change.before)]
