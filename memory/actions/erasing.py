"""How memories and sessions are erased, what holds things, and which records quote them."""

from __future__ import annotations

from governance.hooks import Eraser, Scrubber, register_eraser, register_holds, register_scrubber
from memory.selectors import erasing
from memory.services.erasing import (
    erase_items,
    erase_sessions,
    hold_items,
    hold_sessions,
    quoting_contexts,
    scrub_contexts,
)

register_eraser(
    Eraser(
        erasing.ITEM,
        "memory_items",
        erasing.erasable_items,
        erasing.names_of_items,
        erasing.show_items,
        erase_items,
        hold_items,
        erasing.wholes_of_items,
    )
)
register_eraser(
    Eraser(
        erasing.SESSION,
        "sessions",
        erasing.erasable_sessions,
        erasing.names_of_sessions,
        erasing.show_sessions,
        erase_sessions,
        hold_sessions,
    )
)
register_holds(erasing.dependents)
register_scrubber(
    Scrubber(lambda ids, found, domain_id, receipt_id: scrub_contexts(ids, found, domain_id), quoting_contexts)
)
