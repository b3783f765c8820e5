"""What media tells the apps below it: how its texts are read, how references to them are checked, and how its proposals
are shown to reviewers."""

from __future__ import annotations

from governance.hooks import (
    Words,
    register_counted_table,
    register_dashboard_panel,
    register_diagnostics,
    register_doctor_check,
    register_effect,
    register_exporter,
    register_facts,
    register_presenter,
    register_words,
)
from media.extensions.effects import effect_on_documents
from media.extensions.exporting import EXPORTERS
from media.extensions.health import check_index, check_jobs, check_parsers, check_store, figures_of
from media.extensions.panel import documents
from media.extensions.proposals import FACTS, PRESENTERS
from media.selectors.found import hydrate_sections, resolve_documents, resolve_sections
from search.contracts import Kind
from search.hooks import register_evidence_resolver, register_hydrator

register_counted_table("source_documents")
register_hydrator(Kind.SECTION, hydrate_sections)
register_evidence_resolver("section", resolve_sections)
register_evidence_resolver("document", resolve_documents)

for _name, _presenter in PRESENTERS.items():
    register_presenter(_name, _presenter)
for _name, _find in FACTS.items():
    register_facts(_name, _find)
for _table, _words in {
    "document_shares": Words(
        "share of a document", "shares of documents", {"document_id": "Document", "domain_id": "Domain"}
    ),
    "media_jobs": Words("job"),
    "media_objects": Words("file"),
    "research_topics": Words("topic"),
    "source_documents": Words("document", fields={"content_hash": "Digest of the text", "source_uri": "Address"}),
    "source_sections": Words("part of a document", "parts of documents"),
}.items():
    register_words(_table, _words)
register_effect(effect_on_documents)
register_dashboard_panel(documents)
register_diagnostics("media", figures_of)
register_doctor_check("media index", check_index)
register_doctor_check("media jobs", check_jobs)
register_doctor_check("media parsers", check_parsers)
register_doctor_check("media store", check_store)
for _exporter in EXPORTERS:
    register_exporter(_exporter)
