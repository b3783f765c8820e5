"""Taking what one may see of a domain elsewhere, as JSON lines."""

from __future__ import annotations

from pydantic import Field

from kernel.contracts import PageInput, PageResult
from scopes.contracts import LEGACY_DOMAIN, DomainId

FORMAT = 1
EXCLUDED = (
    "Stored bytes: get_document_file names the file of a document.",
    "Tags and topics.",
    "The search index, summaries, conflicts and recorded contexts: they are derived, or tell of this installation only.",
    "Media jobs, proposals, the audit log (see export_audit), receipts, policies, grants and keys.",
    "What the history of a memory says of other memories and scopes: see lineage.",
    "What you may not see: conversations, memories and documents of others that are in no scope that you read.",
)


class ExportDomainInput(PageInput):
    """Which domain; send `next_cursor` as `cursor` until there is none."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    limit: int = Field(default=200, ge=1, le=1000, description="Lines a page, 1 to 1,000; fewer once they have 8 MB.")


class ExportDomainResult(PageResult):
    """Rows of one table."""

    content: str = Field(description="JSON lines: `table` and `row` each, in canonical JSON. Equal for equal rows.")
    rows: int = Field(description="How many lines.")
    table: str = Field(description="The table that they are of; empty where there is nothing at all.")
    tables: list[str] = Field(description="Every table that is exported, in order.")
    excluded: list[str] = Field(description="What is not in an export.")
