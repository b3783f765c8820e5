"""How proposals about documents look to a reviewer, and what is kept with them.

Whoever decides on a proposal is offered what it says of its document, whether or not it is shared to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from governance.contracts.presenting import FieldChange, Presentation, ProposalFacts, RelatedText, RowChange
from governance.hooks import FactFinder, Presenter
from kernel.actions import Change
from kernel.context import Ctx
from kernel.text import one_line
from media.contracts.documents import AddDocumentInput, RemoveDocumentInput, ShareDocumentInput
from media.models import SourceDocument
from media.selectors.uploads import without_key

DOCUMENTS = "source_documents"
_SHORT = 120
_BEGINNING = 2000  # characters of a document that a reviewer sees beside its fields
Saying = Callable[[Any, Sequence[Change]], str]


def short(text: str) -> str:
    """A text in one line of at most 120 characters."""
    return one_line(text, _SHORT)


def said_of_import(given: AddDocumentInput, changes: Sequence[Change]) -> str:
    """An import in one line."""
    row = next((change.after for change in changes if change.table == DOCUMENTS and change.after), {})
    where = ", ".join(ref.name for ref in given.scopes) or "its owner only"
    return short(f"Import for {where}: {row.get('title') or given.options.title or without_key(given.source)}")


def said_of_sharing(given: ShareDocumentInput, changes: Sequence[Change]) -> str:
    """A sharing in one line."""
    return short(f"Share to {given.scope.name}: {_title(given.document_id)}")


def said_of_unsharing(given: ShareDocumentInput, changes: Sequence[Change]) -> str:
    """An end of a sharing in one line."""
    return short(f"Take out of {given.scope.name}: {_title(given.document_id)}")


def said_of_removal(given: RemoveDocumentInput, changes: Sequence[Change]) -> str:
    """A removal in one line."""
    return short(f"Take away: {_title(given.document_id)}")


def _title(document_id: UUID) -> str:
    return SourceDocument.objects.filter(pk=document_id).values_list("title", flat=True).first() or str(document_id)


def present_import(
    given: AddDocumentInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """A document that is to be imported, with its beginning; where its source was imported before, what changes."""
    beside = {
        "scopes": ", ".join(ref.name for ref in given.scopes) or "its owner only",
        "tags": ", ".join(given.options.tags) or None,
        "text": (given.options.text or "")[:_BEGINNING] or None,
    }
    rows = [_row(change, beside) for change in changes if change.table == DOCUMENTS]
    source = without_key(given.source)
    evidence = [RelatedText(kind="url", id=source, text=source, role="source")] if source else []
    return Presentation(subject=said_of_import(given, changes), rows=rows, evidence=evidence)


def present_known(saying: Saying) -> Presenter:
    """A document that is there, which an action is about: `saying` puts it in one line. Of a decided proposal the line
    that was kept with it stands, as the document may be another by now, or gone."""

    def present(given: Any, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None) -> Presentation:
        rows = [_row(change, {}) for change in changes[:20]]
        if then is not None:
            return Presentation(subject="", rows=rows)
        row = SourceDocument.objects.filter(pk=given.document_id).first()
        beginning = str(row.metadata.get("content", ""))[:_BEGINNING] if row is not None else ""
        about = RelatedText(
            kind="document", id=str(given.document_id), text=beginning, role="subject", source=row.title if row else ""
        )
        return Presentation(subject=saying(given, changes), rows=rows, evidence=[about])

    return present


def _row(change: Change, beside: dict[str, Any]) -> RowChange:
    before, after = change.before, change.after
    names = list(dict.fromkeys([*(after or {}), *(before or {})]))
    fields = [
        FieldChange(name=name, before=old, after=new, differs=old != new)
        for name, old, new in ((name, (before or {}).get(name), (after or {}).get(name)) for name in names)
    ]
    fields += [
        FieldChange(name=name, after=value, differs=True) for name, value in beside.items() if value is not None
    ]
    kind = "added" if before is None else "removed" if after is None else "changed"
    title = str((after or before or {}).get("title", ""))
    return RowChange(table=change.table, id=change.id, kind=kind, title=title, fields=fields)


def facts(saying: Saying) -> FactFinder:
    """What is kept with a proposal, so that lists show it without asking again."""

    def find(given: Any, changes: Sequence[Change], ctx: Ctx) -> ProposalFacts:
        rows = [change.after for change in changes if change.table == DOCUMENTS and change.after]
        hashed = str(rows[0]["content_hash"]) if rows else ""
        told = saying(given, changes)
        reason = getattr(given, "reason", "")
        return ProposalFacts(
            subject=told, summary=short(reason) or told, similar_key=hashed, source_key=f"actor:{ctx.actor.id}"
        )

    return find


IMPORTS = ("add_document", "add_image", "add_audio", "add_video", "add_media")
_KNOWN: dict[str, Saying] = {
    "share_document": said_of_sharing,
    "unshare_document": said_of_unsharing,
    "remove_document": said_of_removal,
}
PRESENTERS: dict[str, Presenter] = {
    **dict.fromkeys(IMPORTS, present_import),
    **{name: present_known(saying) for name, saying in _KNOWN.items()},
}
FACTS: dict[str, FactFinder] = {
    **dict.fromkeys(IMPORTS, facts(said_of_import)),
    **{name: facts(saying) for name, saying in _KNOWN.items()},
}
