"""Handing turns that were committed here back to the older system."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from kernel.contracts import Contract
from scopes.contracts import LEGACY_DOMAIN, DomainId

ExportPhase = Literal["turns", "summaries", "items", "relations"]


class ExportLegacyInput(Contract):
    """One page; send `next_cursor` as `cursor` until there is none."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The domain whose new turns are handed back.")
    limit: int = Field(default=200, ge=1, le=500, description="Turns or items looked at in a page, 1 to 500.")
    cursor: str | None = Field(default=None, max_length=200, description="`next_cursor` of the page before.")


class OlderRow(Contract):
    """One row as the older system's tables hold it."""

    table: str = Field(description="Table of the older schema.")
    values: dict[str, Any] = Field(description="Column and value, as plain JSON; instants in RFC 3339.")


class ExportNote(Contract):
    """Something that the older schema cannot say, or says otherwise."""

    code: str = Field(description="What kind of thing it is.")
    table: str = Field(description="The table here.")
    id: str = Field(description="Id of the row here.")
    what: str = Field(description="What it is, in a sentence.")
    statement: str = Field(default="", description="SQL that a person may run in the older database; empty: none.")


class ExportLegacyResult(Contract):
    """Rows of a page in the order in which they can be inserted. A session or an entity may come again on a later page."""

    domain_id: str = Field(description="The domain.")
    phase: ExportPhase = Field(description="What was looked at.")
    seen: int = Field(description="Turns, items, summaries or relations looked at, those of the migration included.")
    rows: list[OlderRow] = Field(description="Rows of the older schema.")
    notes: list[ExportNote] = Field(description="What is not among the rows, or only in another form.")
    next_cursor: str | None = Field(description="Where to go on; null at the end.")
