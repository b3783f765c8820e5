"""Actions on contexts: compose one, look at one again."""

from __future__ import annotations

from kernel.actions import Action, Change, Target, register
from kernel.conf import conf
from kernel.context import Ctx, Right
from kernel.errors import TooLargeError
from memory.actions.place import place_of, read_target
from memory.contracts.compose import ComposeContextInput, ComposeContextResult, GetContextInput, GetContextResult
from memory.models import ContextRecord
from memory.selectors.composing import compose
from memory.selectors.contexts import context_by_id
from memory.selectors.conversation import session_of
from memory.selectors.withholding import package_told
from memory.services.contexts import record_context
from memory.services.notices import told
from scopes.contracts import SESSION
from scopes.selectors import partition_of, scope_rows


def _compose(given: ComposeContextInput, ctx: Ctx) -> ComposeContextResult:
    if len(given.user_message) > conf().max_message_chars:
        raise TooLargeError(f"user_message is over {conf().max_message_chars} characters: shorten it.")
    return compose(given, place_of(given, ctx), ctx)


def _record(given: ComposeContextInput, shown: ComposeContextResult, ctx: Ctx) -> list[Change]:
    told(shown.notices, shown.context_id, ctx)
    session = session_of(place_of(given, ctx), ctx)
    return record_context(given, shown, session.id if session else None, ctx)


COMPOSE_CONTEXT = register(
    Action(
        "compose_context",
        "Compose the context for the next message: who the user is, the conversation, and evidence from the scopes read.",
        ComposeContextInput,
        ComposeContextResult,
        Right.READ,
        read_target,
        _compose,
        exposed=_record,
    )
)


def _context_target(given: GetContextInput, ctx: Ctx) -> Target:
    """Its own principal must be allowed to read every scope of it today; anyone else sees it as reviewer of the domain."""
    row = context_by_id(given.id, ctx)
    if row.actor_id != ctx.actor.id:
        return Target(row.domain_id)
    read = _scopes_shown(row)
    sessions = [name for name in read if name.startswith(f"{SESSION}:")]
    rows = scope_rows(row.domain_id, sessions, partition_of(row.domain_id, ctx))
    foreign = {scope.name for scope in rows if scope.owner != ctx.actor.id}
    return Target(row.domain_id, read, frozenset(sessions) - foreign)


def _scopes_shown(row: ContextRecord) -> tuple[str, ...]:
    """The scopes that it draws on, the conversation's own included."""
    read = [f"{scope['type']}:{scope['id']}" for scope in row.package["debug"]["scopes_read"]]
    conversation = [f"{SESSION}:{row.session.external_id}"] if row.session else []
    return tuple(dict.fromkeys([*read, *conversation]))


def _get_context(given: GetContextInput, ctx: Ctx) -> GetContextResult:
    row = context_by_id(given.id, ctx)
    package, withheld = package_told(row, ctx)
    return GetContextResult(
        context_id=row.id,
        domain_id=row.domain_id,
        session_id=row.session.external_id if row.session else row.package.get("session_id"),
        actor=row.actor_name,
        request_id=row.request_id,
        created_at=row.created_at,
        took_ms=row.took_ms,
        package=package,
        withheld=withheld,
    )


GET_CONTEXT = register(
    Action(
        "get_context",
        "Show a context that was composed for you, or in a domain that you review, as the agent got it.",
        GetContextInput,
        GetContextResult,
        Right.READ,
        _context_target,
        _get_context,
    )
)
