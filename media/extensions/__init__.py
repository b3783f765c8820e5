"""What media tells the apps below it: how its texts are read, and how references to them are checked."""

from __future__ import annotations

from governance.hooks import register_counted_table
from media.selectors.found import hydrate_sections, resolve_documents, resolve_sections
from search.contracts import Kind
from search.hooks import register_evidence_resolver, register_hydrator

register_counted_table("source_documents")
register_hydrator(Kind.SECTION, hydrate_sections)
register_evidence_resolver("section", resolve_sections)
register_evidence_resolver("document", resolve_documents)
