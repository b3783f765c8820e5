"""What a commit needs to know of what came before: texts that were shown, entities that were named, open tasks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from kernel.canonical import digest
from kernel.compiled import Given, compiled, tuple_of
from kernel.context import Ctx
from kernel.text import fold
from memory.compose.recalled import Part, Span, parts_of
from memory.contracts import MessageIn
from memory.models import ContextRecord, ContextShown, MemoryItem, Turn
from memory.selectors.items import current_items

MAX_OPEN_TASKS = 200


def text_hash(text: str) -> str:
    """SHA-256 by which a text is recognised after folding."""
    return digest(fold(text))


def recalled_texts(texts: Sequence[str], domain_id: str, actor_id: str) -> set[str]:
    """Those of the texts that a recorded context has shown to the same actor."""
    hashes = {text: text_hash(text) for text in texts if text.strip()}
    if not hashes:
        return set()
    shown = {hashed for (hashed,) in _shown(domain=domain_id, actor=actor_id, hashes=set(hashes.values()))}
    return {text for text, hashed in hashes.items() if hashed in shown}


@dataclass(frozen=True, slots=True)
class Recalled:
    """What of one message came out of memory: all of it, the parts that say so, and those of them that were proved.

    A part that only says so is no evidence, as a quotation is none; what is not to be found has to have been shown.
    """

    whole: bool = False
    said: tuple[Span, ...] = ()
    proved: tuple[Span, ...] = ()


def recalled_in(messages: Sequence[MessageIn], domain_id: str, actor_id: str) -> list[Recalled]:
    """What of each message came out of memory: a fence names a context of the domain, a line was shown to the actor."""
    parts = [parts_of(message.content) for message in messages]
    every = [part for found in parts for part in found]
    contexts = _recorded({part.context_id for part in every if part.context_id is not None}, domain_id)
    texts = [message.content for message in messages] + [part.line for part in every]
    shown = recalled_texts(texts, domain_id, actor_id)
    return [
        Recalled(
            whole=message.meta.get("origin") == "recall" or message.content in shown,
            said=tuple(part.span for part in found),
            proved=tuple(part.span for part in found if _is_proved(part, contexts, shown)),
        )
        for message, found in zip(messages, parts, strict=True)
    ]


def _is_proved(part: Part, contexts: set[UUID], shown: set[str]) -> bool:
    if part.context_id is not None:
        return part.context_id in contexts
    return not part.line or part.line in shown


def _recorded(ids: set[UUID], domain_id: str) -> set[UUID]:
    if not ids:
        return set()
    rows = ContextRecord.objects.filter(pk__among=sorted(ids), domain_id=domain_id).order_by()
    return set(rows.values_list("pk", flat=True))


def recent_entity_names(session_key: int, turns: int) -> list[str]:
    """The folded entity names that a session's last turns mentioned, once for each turn."""
    found = Turn.objects.filter(session__scope_id=session_key).order_by("-seq").values_list("entity_names", flat=True)
    return [name for names in found[:turns] for name in names]


def open_tasks(scope_key: int) -> list[tuple[str, str]]:
    """Keys and titles of a scope's tasks that are not done, the newest first."""
    return [(str(key), str(value.get("title", ""))) for key, value in _open_tasks(scope=scope_key)]


def current_facts(domain_id: str, scope_key: int, keys: Collection[str], ctx: Ctx) -> dict[str, dict[str, Any]]:
    """The values of a scope's facts of these keys that are current now, by key."""
    rows = current_items(domain_id, [scope_key], ctx.now).filter(type="facts", key__among=sorted(keys))
    return {str(key): value for key, value in rows.order_by().values_list("key", "value")}


@compiled(tuple_of)
def _open_tasks(scope: Given) -> QuerySet[MemoryItem, Any]:
    rows = MemoryItem.objects.filter(scope_id=scope, type="tasks", current_until=None, status="active")
    return rows.exclude(value__status="done").order_by("-id").values_list("key", "value")[:MAX_OPEN_TASKS]


@compiled(tuple_of)
def _shown(domain: Given, actor: Given, hashes: Given) -> QuerySet[ContextShown, Any]:
    rows = ContextShown.objects.filter(domain_id=domain, actor_id=actor, text_hash__among=hashes)
    return rows.values_list("text_hash").distinct()
