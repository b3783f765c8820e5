"""The doctor's look at memory: whether its texts are found."""

from __future__ import annotations

from datetime import datetime

from governance.hooks import Checked
from memory.models import MemoryChunk, Message
from search.contracts import Kind
from search.selectors.upkeep import count_entries, without_entry


def check_index(now: datetime) -> Checked:
    """Whether every message and every memory that has a text is found, by the present tokeniser."""
    messages = without_entry(Message.objects.all(), Kind.MESSAGE).count()
    items = without_entry(MemoryChunk.objects.all(), Kind.MEMORY, "item_id").count()
    stale = count_entries(None)[1]
    if not (messages or items or stale):
        return Checked("Index, messages and memories agree.")
    said = (
        f"Not in the index: {messages} messages and {items} memories. Made by an earlier tokeniser: {stale} entries."
    )
    return Checked(said, "Run `manage.py rebuild_index` (`--full` where something is missing).")
