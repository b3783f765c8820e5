"""Actions on model extractions: learn from a turn, list what was tried."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from kernel.actions import Action, Target, register
from kernel.context import ActorKind, Ctx, Right
from kernel.paging import page
from memory import selectors
from memory.actions.holding import holding_of
from memory.contracts.extraction import (
    ExtractTurnInput,
    ExtractTurnResult,
    ListExtractionsInput,
    ListExtractionsResult,
)
from memory.models import Turn
from memory.selectors.extractions import visible_extractions
from memory.services import model_extraction
from memory.services.holding import ELEVATED
from scopes.selectors import identify_author, require_domain


def _turn_target(given: ExtractTurnInput, ctx: Ctx) -> Target:
    turn = selectors.turn_by_id(given.turn_id, ctx)
    session = turn.session.scope
    owned = frozenset({session.name}) if session.owner == ctx.actor.id else frozenset()
    written = turn.default_write.name if turn.default_write else session.name
    return Target(turn.domain_id, tuple(dict.fromkeys([written, session.name])), owned)


def _prepare(given: ExtractTurnInput, ctx: Ctx) -> model_extraction.Heard:
    return model_extraction.ask(given, lambda turn: holding_of(turn.domain_id, ctx, _speaker(turn, ctx)), ctx)


def _speaker(turn: Turn, ctx: Ctx) -> Ctx:
    """Whose words are judged: of a turn that the server reads by itself, those of who committed it."""
    if ctx.actor.kind is not ActorKind.SYSTEM:
        return ctx
    author = identify_author(turn.author_id, turn.author_name)
    return replace(ctx, actor=author.actor, reach=author.reach, memo={})


EXTRACT_TURN = register(
    Action(
        "extract_turn",
        "Learn from one stored turn with the configured language model; what it says becomes candidates.",
        ExtractTurnInput,
        ExtractTurnResult,
        Right.WRITE,
        _turn_target,
        _prepare,
        model_extraction.apply,
        failed=model_extraction.failed,
        parts={"write_memory_item": ELEVATED},
    )
)


def _list_target(given: ListExtractionsInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _list(given: ListExtractionsInput, ctx: Ctx) -> ListExtractionsResult:
    rows = visible_extractions(ctx).filter(domain_id=given.domain_id)
    if given.turn_id is not None:
        rows = rows.filter(turn_id=given.turn_id)
    if given.state is not None:
        rows = rows.filter(state=given.state)
    found, cursor = page(rows, given, "id", UUID, newest_first=True)
    return ListExtractionsResult(
        extractions=[model_extraction.view_extraction(row) for row in found], next_cursor=cursor
    )


LIST_EXTRACTIONS = register(
    Action(
        "list_extractions",
        "List what a language model made of turns, failures with their raw reply included.",
        ListExtractionsInput,
        ListExtractionsResult,
        Right.READ,
        _list_target,
        _list,
        resource="extractions",
    )
)
