"""What a commit needs to know of what came before: texts that were shown, entities that were named, open tasks."""

from __future__ import annotations

from collections.abc import Sequence

from kernel.canonical import digest
from kernel.context import Ctx
from kernel.text import fold
from memory.models import ContextShown, MemoryItem, Turn
from scopes.selectors import Resolved, scope_rows

MAX_OPEN_TASKS = 200


def text_hash(text: str) -> str:
    """SHA-256 by which a text is recognised after folding."""
    return digest(fold(text))


def recalled_texts(texts: Sequence[str], domain_id: str, ctx: Ctx) -> set[str]:
    """Those of the texts that a recorded context has shown to the same actor."""
    hashes = {text_hash(text): text for text in texts if text.strip()}
    if not hashes:
        return set()
    rows = ContextShown.objects.filter(domain_id=domain_id, actor_id=ctx.actor.id, text_hash__in=list(hashes))
    return {hashes[found] for found in rows.values_list("text_hash", flat=True).distinct()}


def recent_entity_names(place: Resolved, turns: int) -> list[str]:
    """The folded entity names that the session's last turns mentioned, once for each turn."""
    if place.session is None:
        return []
    rows = scope_rows(place.domain_id, [place.session], place.partition)
    if not rows:
        return []
    found = Turn.objects.filter(session__scope=rows[0]).order_by("-seq").values_list("entity_names", flat=True)
    return [name for names in found[:turns] for name in names]


def open_tasks(place: Resolved) -> list[tuple[str, str]]:
    """Keys and titles of the tasks of the default scope that are not done."""
    if place.default_write is None:
        return []
    scopes = scope_rows(place.domain_id, [place.default_write], place.partition)
    rows = MemoryItem.objects.filter(scope__in=scopes, type="tasks", current_until=None, status="active")
    found = rows.exclude(value__status="done").order_by("-id").values_list("key", "value")[:MAX_OPEN_TASKS]
    return [(str(key), str(value.get("title", ""))) for key, value in found]
