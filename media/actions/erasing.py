"""How documents are erased, and what holds them."""

from __future__ import annotations

from governance.hooks import Eraser, register_eraser, register_holds
from media.selectors.erasing import DOCUMENT, erasable_documents, jobs_under_way, names_of_documents, show_documents
from media.services.erasing import erase_documents, hold_documents

register_eraser(
    Eraser(
        DOCUMENT,
        "source_documents",
        erasable_documents,
        names_of_documents,
        show_documents,
        erase_documents,
        hold_documents,
    )
)
register_holds(jobs_under_way)
