"""How documents are exported: those that the one who asks may see."""

from __future__ import annotations

from typing import Any

from governance.hooks import Exporter, same
from kernel.context import Ctx
from media.models import DocumentShare, SourceSection
from media.selectors.sight import visible_documents
from scopes.selectors import visible_scopes


def _documents(domain_id: str, ctx: Ctx) -> Any:
    return visible_documents(ctx).filter(domain_id=domain_id)


def _sections(domain_id: str, ctx: Ctx) -> Any:
    return SourceSection.objects.filter(document__in=_documents(domain_id, ctx))


def _shares(domain_id: str, ctx: Ctx) -> Any:
    return DocumentShare.objects.filter(document__in=_documents(domain_id, ctx), scope__in=visible_scopes(ctx))


EXPORTERS = (
    Exporter(
        "source_documents",
        _documents,
        same(
            "owner_id", "owner_name", "title", "author", "description", "publication_date", "language", "media_type",
            "source_type", "source_uri", "content_hash", "state", "metadata", "created_at", "updated_at",
        ),
    ),
    Exporter("source_sections", _sections, same("document_id", "number", "title", "content", "metadata", "created_at")),
    Exporter(
        "document_shares",
        _shares,
        {
            **same("document_id", "shared_by", "created_at"),
            "scope_type": "scope__scope_type",
            "scope_id": "scope__external_id",
        },
    ),
)  # fmt: skip
