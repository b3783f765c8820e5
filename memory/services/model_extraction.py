"""Learning from a stored turn with a language model: asked outside the transaction, applied whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.db.models import F

from kernel.actions import Applied, Change
from kernel.context import Ctx
from kernel.errors import ConflictError, DomainError, UnavailableError
from kernel.queue import enqueue
from memory.candidates import Candidate
from memory.compose.recalled import without
from memory.contracts.commit import MemoryWritten
from memory.contracts.extraction import ExtractionState, ExtractionView, ExtractTurnInput, ExtractTurnResult
from memory.contracts.items import Lifecycle
from memory.extraction import redact
from memory.modelling import ModelReply, ModelReplyError, configured_client, read_reply
from memory.models import ExtractionRun, Turn
from memory.policies import RetentionPolicy
from memory.selectors import recalled_texts, turn_by_id
from memory.selectors.conflicts import told_of_found
from memory.services.graph import write_entity
from memory.services.holding import Holding, item_waits
from memory.services.items import Commit, Pending, Written, settle, write
from memory.statements import complete, reworded
from scopes.services import lock_scopes


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn, what the model said of it, and what asks policy about each part of that."""

    turn: Turn
    reply: ModelReply
    model: str
    holding: Holding


def ask_later(turn: Turn, policy: RetentionPolicy, ctx: Ctx) -> list[Change]:
    """Queue the extraction of a turn, once its transaction commits, where a model is configured and wanted."""
    if not policy.extract_with_model or configured_client() is None or turn.default_write_id is None:
        return []
    run = ExtractionRun.objects.create(domain_id=turn.domain_id, turn=turn, created_at=ctx.now)
    enqueue("memory.jobs.extract_turn", str(turn.id))
    return [Change("extraction_runs", str(run.id), None, {"turn": str(turn.id), "state": run.state})]


def ask(given: ExtractTurnInput, holding_of: Callable[[Turn], Holding], ctx: Ctx) -> Heard:
    """Ask the model about a turn. Raises UnavailableError where none is configured or its answer cannot be used."""
    client = configured_client()
    if client is None:
        raise UnavailableError("No language model is configured: set SMARTBRAIN_MODEL_URL and SMARTBRAIN_MODEL_NAME.")
    turn = turn_by_id(given.turn_id, ctx)
    if turn.default_write_id is None:
        raise ConflictError("The turn was committed without a default_write scope, so nothing may be learned from it.")
    said = redact("\n".join(_said(turn)))
    reply = read_reply(client.complete(said)) if said.strip() else ModelReply(items=[])
    return Heard(turn, reply, client.model, holding_of(turn))


def _said(turn: Turn) -> list[str]:
    """The messages of a turn but those that came out of memory, which are no evidence."""
    messages = [row for row in turn.messages.all() if row.content.strip() and row.meta.get("origin") != "recall"]
    recalled = recalled_texts([row.content for row in messages], turn.domain_id, turn.author_id)
    own = [(row, without(row.content, row.recalled)) for row in messages if row.content not in recalled]
    return [f"{row.name or row.role}: {text}" for row, text in own if text.strip()]


def apply(given: ExtractTurnInput, heard: Heard, ctx: Ctx) -> Applied[ExtractTurnResult]:
    """Store what the model said as candidates in the turn's default scope."""
    turn = Turn.objects.select_related("session", "default_write").get(pk=heard.turn.pk)
    if turn.default_write is None:
        raise ConflictError("The turn has no default_write scope.")
    scope = turn.default_write
    lock_scopes([scope.key])
    commit = Commit(turn, list(turn.messages.all()), ctx, Written(), Pending())
    for number, item in enumerate(heard.reply.items):
        candidate = Candidate(
            type=item.type,
            key=item.key,
            value=complete(item.type, item.key, {"statement": item.statement}),
            statement=item.statement,
            confidence=min(item.confidence, 0.6),
            lifecycle=Lifecycle.CANDIDATE,
            origin="model",
            source=f"model:{heard.model}:{number}",
        )
        if item_waits(_told(candidate), scope.name, heard.holding, turn.domain_id, commit):
            continue
        if item.type == "entities":
            write_entity(candidate, scope, commit)
        else:
            write(candidate, scope, commit)
    settle(commit)
    run, change = _finish(turn, ExtractionState.DONE, heard.model, None, ctx)
    written = commit.written
    result = ExtractTurnResult(
        extraction=view_extraction(run),
        memory_written=MemoryWritten(
            count=written.count,
            items=written.items,
            queued=written.queued,
            conflicts=written.conflicts,
            found=told_of_found(written.found, ctx),
        ),
        retention=written.lines,
    )
    return result, [change, *written.changes]


def _told(candidate: Candidate) -> Candidate:
    """The candidate as an item by itself, in which the field that says it in words holds the model's sentence."""
    value = reworded(candidate.type, candidate.key, candidate.value, candidate.statement)
    return replace(candidate, value={**value, "statement": candidate.statement})


def failed(given: ExtractTurnInput, error: DomainError, ctx: Ctx) -> list[Change]:
    """Keep why the model's answer could not be used, with the answer."""
    if not isinstance(error, ModelReplyError):
        return []
    client = configured_client()
    _, change = _finish(
        turn_by_id(given.turn_id, ctx), ExtractionState.FAILED, client.model if client else "", error, ctx
    )
    return [change]


def _finish(
    turn: Turn, state: ExtractionState, model: str, error: ModelReplyError | None, ctx: Ctx
) -> tuple[ExtractionRun, Change]:
    run, _ = ExtractionRun.objects.get_or_create(
        turn=turn, defaults={"domain_id": turn.domain_id, "created_at": ctx.now}
    )
    before = run.state
    ExtractionRun.objects.filter(pk=run.pk).update(
        state=state,
        attempts=F("attempts") + 1,
        model=model,
        error=error.message if error else "",
        raw_reply=error.raw if error else "",
        finished_at=ctx.now,
    )
    run.refresh_from_db()
    return run, Change("extraction_runs", str(run.id), {"state": before}, {"state": run.state, "error": run.error})


def view_extraction(run: ExtractionRun) -> ExtractionView:
    """An extraction as answers show it."""
    return ExtractionView(
        id=run.id,
        turn_id=run.turn_id,
        state=ExtractionState(run.state),
        attempts=run.attempts,
        model=run.model,
        error=run.error,
        raw_reply=run.raw_reply,
        created_at=run.created_at,
        finished_at=run.finished_at,
    )
