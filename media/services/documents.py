"""Taking documents away, with all that hangs on them."""

from __future__ import annotations

from kernel.actions import Change
from media.models import SourceDocument
from media.services.ingesting.storing import shown
from media.services.objects import detach
from media.services.sections import remove_sections
from media.services.sharing import told


def remove(document: SourceDocument) -> tuple[int, list[Change]]:
    """Delete a document, its sections with their index entries, its shares and its hold on stored bytes; how many
    sections went, and the changes."""
    sections = list(document.sections.values_list("pk", flat=True))
    change = Change("source_documents", str(document.pk), {**shown(document), "sections": len(sections)}, None)
    shares = document.shares.select_related("scope").order_by("pk")
    changes = [
        *(Change("document_shares", str(share.pk), told(document, share.scope.name), None) for share in shares),
        *detach(document),
    ]
    remove_sections(sections)
    document.delete()
    return len(sections), [change, *changes]
