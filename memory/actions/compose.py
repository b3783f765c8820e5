"""The compose action."""

from __future__ import annotations

from kernel.actions import Action, register
from kernel.conf import conf
from kernel.context import Ctx, Right
from kernel.errors import TooLargeError
from memory.actions.place import place_of, read_target
from memory.contracts.compose import ComposeContextInput, ComposeContextResult
from memory.selectors.composing import compose
from memory.services.contexts import record_context


def _compose(given: ComposeContextInput, ctx: Ctx) -> ComposeContextResult:
    if len(given.user_message) > conf().max_message_chars:
        raise TooLargeError(f"user_message is over {conf().max_message_chars} characters: shorten it.")
    return compose(given, place_of(given, ctx), ctx)


COMPOSE_CONTEXT = register(
    Action(
        "compose_context",
        "Compose the context for the next message: who the user is, the conversation, and evidence from the scopes read.",
        ComposeContextInput,
        ComposeContextResult,
        Right.READ,
        read_target,
        _compose,
        exposed=record_context,
    )
)
