"""The older systems' tables, as their own migrations made them: SmartBrain 0.1 and 0.2, and SmartRAG at two ages."""

from __future__ import annotations

BRAIN_0_1 = """
CREATE TABLE sessions (
    id text PRIMARY KEY, created_at timestamptz NOT NULL, metadata_json jsonb NOT NULL DEFAULT '{}'
);
CREATE TABLE turns (
    id text PRIMARY KEY, session_id text NOT NULL REFERENCES sessions(id), seq int NOT NULL,
    created_at timestamptz NOT NULL, UNIQUE (session_id, seq)
);
CREATE TABLE messages (
    id text PRIMARY KEY, turn_id text NOT NULL REFERENCES turns(id), role text NOT NULL, content text NOT NULL,
    model text, created_at timestamptz NOT NULL, meta_json jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX messages_turn ON messages (turn_id);
CREATE TABLE tool_calls (
    id text PRIMARY KEY, turn_id text NOT NULL REFERENCES turns(id), name text NOT NULL, args_json jsonb NOT NULL,
    result_json jsonb NOT NULL, status text NOT NULL, created_at timestamptz NOT NULL
);
CREATE TABLE refs (
    id text PRIMARY KEY, turn_id text NOT NULL REFERENCES turns(id), ref_type text NOT NULL, ref_uri text NOT NULL,
    ref_meta_json jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL
);
CREATE INDEX refs_turn ON refs (turn_id);
CREATE TABLE memory_items (
    id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, key text NOT NULL, value_json jsonb NOT NULL,
    confidence numeric(3,2) NOT NULL DEFAULT 0.6, status text NOT NULL DEFAULT 'active', source_turn_id text,
    source_message_id text, evidence_refs jsonb NOT NULL DEFAULT '[]', updated_at timestamptz NOT NULL
);
CREATE INDEX memory_items_session ON memory_items (session_id, status);
CREATE INDEX memory_items_key ON memory_items (type, key);
CREATE TABLE memory_chunks (
    id text PRIMARY KEY, memory_item_id text NOT NULL REFERENCES memory_items(id), text text NOT NULL, tsv tsvector,
    meta_json jsonb NOT NULL DEFAULT '{}'
);
CREATE TABLE entities (id text PRIMARY KEY, name text NOT NULL, kind text NOT NULL, canonical_id text);
CREATE TABLE entity_mentions (
    id text PRIMARY KEY, entity_id text NOT NULL REFERENCES entities(id), turn_id text, message_id text,
    span_json jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL
);
CREATE TABLE summaries (
    session_id text PRIMARY KEY, summary_text text NOT NULL, summary_version int NOT NULL,
    summary_source_turn_range jsonb NOT NULL, summary_generated_at timestamptz NOT NULL
);
"""

BRAIN_0_2 = """
CREATE TABLE domains (
    id text PRIMARY KEY, metadata jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE TABLE memory_scopes (
    id text PRIMARY KEY, domain_id text NOT NULL REFERENCES domains(id), scope_type text NOT NULL,
    external_id text NOT NULL, parent_scope_id text REFERENCES memory_scopes(id),
    metadata_json jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
    UNIQUE (domain_id, scope_type, external_id)
);
CREATE TABLE session_scope_links (
    session_id text NOT NULL REFERENCES sessions(id), scope_id text NOT NULL REFERENCES memory_scopes(id),
    access_mode text NOT NULL, priority int NOT NULL, created_at timestamptz NOT NULL, PRIMARY KEY (session_id, scope_id)
);
ALTER TABLE sessions ADD domain_id text;
ALTER TABLE memory_items ADD scope_id text, ADD source_session_id text,
    ADD lifecycle_status text NOT NULL DEFAULT 'promoted';
ALTER TABLE entities ADD scope_id text, ADD source_session_id text;
CREATE TABLE kg_edges (
    id text PRIMARY KEY, session_id text NOT NULL, subject text NOT NULL, predicate text NOT NULL, object text NOT NULL,
    status text NOT NULL DEFAULT 'active', valid_from timestamptz, valid_to timestamptz, scope_id text,
    source_session_id text, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL
);
CREATE TABLE knowledge_events (
    id text PRIMARY KEY, memory_item_id text NOT NULL REFERENCES memory_items(id), event_type text NOT NULL,
    from_status text, to_status text NOT NULL, reason text, reviewer text, metadata_json jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL
);
"""

RAG_EARLY = """
CREATE TABLE source_documents (
    id serial PRIMARY KEY, title varchar(255) NOT NULL, url text, author text, publication_date date,
    language varchar(10) NOT NULL DEFAULT 'en', description text, download_state int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL, metadata jsonb NOT NULL DEFAULT '{}',
    source_type text, source_uri text, content_hash text
);
CREATE TABLE source_sections (
    id serial PRIMARY KEY, document_id int NOT NULL REFERENCES source_documents(id) ON DELETE CASCADE,
    content text NOT NULL, section_title varchar(500), section_number int NOT NULL, created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL, metadata jsonb NOT NULL DEFAULT '{}'
);
CREATE TABLE tags (
    id serial PRIMARY KEY, name varchar(255) NOT NULL UNIQUE, parent_id int REFERENCES tags(id) ON DELETE SET NULL,
    created_at timestamptz NOT NULL
);
CREATE TABLE research_topics (
    id serial PRIMARY KEY, name varchar(255) NOT NULL UNIQUE, description text, created_at timestamptz NOT NULL
);
CREATE TABLE section_tags (
    section_id int NOT NULL REFERENCES source_sections(id) ON DELETE CASCADE,
    tag_id int NOT NULL REFERENCES tags(id) ON DELETE CASCADE, created_at timestamptz NOT NULL,
    PRIMARY KEY (section_id, tag_id)
);
CREATE TABLE research_topic_sections (
    research_topic_id int NOT NULL REFERENCES research_topics(id) ON DELETE CASCADE,
    section_id int NOT NULL REFERENCES source_sections(id) ON DELETE CASCADE, created_at timestamptz NOT NULL,
    PRIMARY KEY (research_topic_id, section_id)
);
CREATE TABLE research_topic_tags (
    research_topic_id int NOT NULL REFERENCES research_topics(id) ON DELETE CASCADE,
    tag_id int NOT NULL REFERENCES tags(id) ON DELETE CASCADE, created_at timestamptz NOT NULL,
    PRIMARY KEY (research_topic_id, tag_id)
);
CREATE TABLE text_search_configs (
    language_code varchar(10) PRIMARY KEY, config_name text NOT NULL, is_installed boolean NOT NULL DEFAULT true
);
CREATE TABLE section_fts (
    section_id int PRIMARY KEY REFERENCES source_sections(id) ON DELETE CASCADE, document_id int NOT NULL,
    language varchar(10) NOT NULL, fts_title tsvector, fts_content tsvector, fts_combined tsvector
);
CREATE TABLE embeddings (
    id serial PRIMARY KEY, source_id int NOT NULL REFERENCES source_sections(id) ON DELETE CASCADE,
    vector real[] NOT NULL, created_at timestamptz NOT NULL
);
CREATE TABLE search_logs (
    id serial PRIMARY KEY, query text NOT NULL, search_type text NOT NULL, execution_time_ms int NOT NULL,
    results_count int NOT NULL, filters jsonb, created_at timestamptz NOT NULL
);
CREATE TABLE media_jobs (
    id serial PRIMARY KEY, operation varchar(32) NOT NULL, source text NOT NULL, options jsonb NOT NULL DEFAULT '{}',
    status varchar(20) NOT NULL DEFAULT 'queued', attempts int NOT NULL DEFAULT 0, max_attempts int NOT NULL DEFAULT 3,
    result jsonb, error text, available_at timestamptz NOT NULL, started_at timestamptz, finished_at timestamptz,
    created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL
);
CREATE INDEX media_jobs_available ON media_jobs (status, available_at);
CREATE TABLE media_objects (
    id serial PRIMARY KEY, content_hash varchar(128) NOT NULL UNIQUE, storage_uri text NOT NULL,
    byte_size bigint NOT NULL, reference_count int NOT NULL DEFAULT 0, created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE TABLE media_object_references (
    id serial PRIMARY KEY, media_object_id int NOT NULL REFERENCES media_objects(id) ON DELETE CASCADE,
    document_id int NOT NULL REFERENCES source_documents(id) ON DELETE CASCADE, created_at timestamptz NOT NULL,
    UNIQUE (media_object_id, document_id)
);
CREATE TABLE api_rate_limits (
    id serial PRIMARY KEY, principal varchar(128) NOT NULL, period text NOT NULL, window_start timestamptz NOT NULL,
    request_count int NOT NULL DEFAULT 0, byte_count bigint NOT NULL DEFAULT 0, updated_at timestamptz NOT NULL
);
"""

RAG_LATE = """
ALTER TABLE media_jobs ADD idempotency_key varchar(128), ADD principal varchar(128) NOT NULL DEFAULT 'system',
    ADD lease_token varchar(64), ADD heartbeat_at timestamptz, ADD staging_media_object_id int,
    ADD request_fingerprint varchar(64) NOT NULL;
CREATE UNIQUE INDEX media_jobs_idempotency ON media_jobs (principal, idempotency_key);
ALTER TABLE source_documents ADD principal varchar(128) NOT NULL DEFAULT 'system';
"""

# Older or patched installations: JSON as it was typed, which may hold \\u0000 and half pairs.
LOOSE = """
ALTER TABLE tool_calls ALTER args_json TYPE json USING args_json::text::json,
    ALTER result_json TYPE json USING result_json::text::json;
ALTER TABLE messages ALTER meta_json DROP DEFAULT, ALTER meta_json TYPE text USING meta_json::text;
"""

TABLES_0_1 = (
    "sessions", "turns", "messages", "tool_calls", "refs", "memory_items", "memory_chunks", "entities",
    "entity_mentions", "summaries",
)  # fmt: skip
TABLES_0_2 = ("domains", "memory_scopes", "session_scope_links", "kg_edges", "knowledge_events")
TABLES_RAG = (
    "source_documents", "source_sections", "tags", "research_topics", "section_tags", "research_topic_sections",
    "research_topic_tags", "media_jobs", "media_objects", "media_object_references",
)  # fmt: skip
DERIVED = ("memory_chunks", "text_search_configs", "section_fts", "embeddings", "search_logs", "api_rate_limits")
# An order in which rows can be stored under the foreign keys.
ORDER = (
    "domains", "memory_scopes", "sessions", "session_scope_links", *TABLES_0_1[1:], "kg_edges", "knowledge_events",
    *TABLES_RAG, "text_search_configs", "section_fts", "embeddings", "search_logs", "api_rate_limits",
)  # fmt: skip
KEYS = {
    "summaries": ("session_id",),
    "session_scope_links": ("session_id", "scope_id"),
    "section_tags": ("section_id", "tag_id"),
    "research_topic_sections": ("research_topic_id", "section_id"),
    "research_topic_tags": ("research_topic_id", "tag_id"),
    "text_search_configs": ("language_code",),
    "section_fts": ("section_id",),
}  # every other table: ("id",)
