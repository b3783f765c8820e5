"""SmartRAG's library moved in by the command, and what became of a row, what is found, and what there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from legacy.models import MigratedRow
from media.models import (
    MediaJob,
    MediaObject,
    MediaObjectReference,
    SectionTag,
    SourceDocument,
    SourceSection,
    Tag,
    Topic,
    TopicSection,
    TopicTag,
)
from scopes.contracts import LEGACY_DOMAIN
from tests.conftest import Player, make_agent
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows
from tests.media.shelf import a_plan

LATE = schema.RAG_EARLY + schema.RAG_LATE
SMART_RAG = "smart-rag"
TABLES = (
    SourceDocument, SourceSection, Tag, Topic, SectionTag, TopicSection, TopicTag, MediaObject, MediaObjectReference,
    MediaJob,
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_place(settings, tmp_path):
    """Stored bytes and locks of each test lie apart."""
    settings.SMARTBRAIN = replace(
        django_settings.SMARTBRAIN, data_dir=tmp_path / "data", media_allowed_hosts="docs.example.org"
    )


@pytest.fixture
def owner(db) -> Player:
    """The principal whose the library becomes."""
    return make_agent(SMART_RAG, LEGACY_DOMAIN)


@pytest.fixture
def rows() -> Rows:
    """A source without rows so far."""
    return Rows(5)


def move(made: Source, *arguments: str, media: Path | None = None) -> dict[str, Any]:
    """Run the command, and answer its figures."""
    out = StringIO()
    given = [*arguments, *(["--media-root", str(media)] if media else [])]
    call_command(
        "migrate_legacy", "--from", made.url, "--owner", SMART_RAG, "--json", *given, stdout=out, stderr=StringIO()
    )
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


@contextmanager
def moved(server: str, rows: Rows, *arguments: str, media: Path | None = None) -> Iterator[Source]:
    """Inside the block the source is there, and was moved in."""
    with source(server, rows, ddl=LATE) as made:
        move(made, *arguments, media=media)
        yield made


def fate(table: str, source_id: object) -> MigratedRow:
    """What became of a row of the source."""
    return MigratedRow.objects.get(source_table=table, source_id=str(source_id))


def here(table: str, row: dict[str, Any]) -> str:
    """The id here of a row of the source."""
    found = fate(table, row["id"])
    assert found.outcome == "migrated", (found.reason, found.note)
    return found.target_id


def counts() -> list[int]:
    """How many rows each table of the library has here."""
    return [model.objects.count() for model in TABLES]


def searched(player: Player, query: str) -> list[str]:
    """The documents that a search finds."""
    given = {"domain_id": LEGACY_DOMAIN, "session_id": "s", "query": query, "kinds": ["section"]}
    return [result["ref"]["document_id"] for result in player.do("search_memory", given)["results"]]


def retrieved(player: Player, query: str) -> list[str]:
    """The documents that a retrieval finds."""
    answer = player.do("retrieve", {"domain_id": LEGACY_DOMAIN, "plan": a_plan(query)})
    return [each["document_id"] for each in answer["evidences"]]
