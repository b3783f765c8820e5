"""Documents on the front page: how many there are, of which kind, and which could not be read."""

from __future__ import annotations

from django.db.models import Count, Q
from django.urls import reverse

from governance.contracts.presenting import Figure, Panel
from kernel.context import Ctx
from media.contracts.kinds import DocumentState, MediaType
from media.models import SourceDocument
from media.selectors.sight import visible_documents

_LIST = "admin:media_sourcedocument_changelist"
_COUNTED = 1000  # newest documents that are counted


def documents(ctx: Ctx) -> Panel | None:
    """The newest documents by kind; nothing for who reviews nothing."""
    if not ctx.reach:
        return None
    newest = visible_documents(ctx).order_by("-id").values("pk")[:_COUNTED]
    rows = SourceDocument.objects.filter(pk__in=newest).order_by()
    unread = Count("pk", filter=Q(state=DocumentState.FAILED))
    kinds = list(rows.values_list("media_type").annotate(n=Count("pk"), unread=unread))
    counts = {kind: number for kind, number, _ in kinds}
    figures = [
        Figure(label=kind.value, value=str(counts[kind.value]), link=reverse(_LIST, query={"media_type": kind.value}))
        for kind in MediaType
        if counts.get(kind.value)
    ]
    failed = sum(number for *_, number in kinds)
    if failed:
        figures.append(Figure(label="not read", value=str(failed), tone="bad", link=reverse(_LIST)))
    note = "Kinds of the newest documents that you may see." if counts else "No document is shared to what you read."
    return Panel(title="Documents", figures=figures, note=note, link=reverse(_LIST))
