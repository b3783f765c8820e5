"""Source databases as people have them: realistic, and dirty in every way that their schemas allow."""

from __future__ import annotations

from pathlib import Path

from tests.legacy.sources import schema
from tests.legacy.sources.brain import Talk, converse, talk_of
from tests.legacy.sources.dirt import soil, soil_scoped
from tests.legacy.sources.dirt_library import soil_library
from tests.legacy.sources.library import collect
from tests.legacy.sources.manifest import Manifest
from tests.legacy.sources.rows import Rows
from tests.legacy.sources.scoped import widen

EVERYTHING = schema.BRAIN_0_1 + schema.BRAIN_0_2 + schema.RAG_EARLY + schema.RAG_LATE


def clean(sessions: int = 4, turns: int = 13, seed: int = 1) -> tuple[Rows, list[Talk]]:
    """A SmartBrain 0.1 with nothing wrong: two messages in each turn."""
    rows = Rows(seed)
    return rows, converse(rows, sessions, turns)


def dirty(sessions: int = 4, turns: int = 13, seed: int = 2) -> tuple[Rows, list[Talk], Manifest]:
    """A SmartBrain 0.1 with whole conversations and everything wrong beside them."""
    rows, talks = clean(sessions, turns, seed)
    manifest = Manifest()
    soil(rows, manifest)
    return rows, talks, manifest


def everything(media: Path, sessions: int = 4, seed: int = 3) -> tuple[Rows, list[Talk], Manifest]:
    """SmartBrain 0.2 and SmartRAG in one database, dirty; bytes are written under `media`."""
    rows, talks = clean(sessions, 13, seed)
    manifest = Manifest()
    spoiled = talk_of(rows, 700, 6)
    widen(rows, [spoiled, *talks])
    soil_scoped(rows, manifest, spoiled)
    collect(rows, 6, 3, media)
    soil_library(rows, manifest, media)
    return rows, talks, manifest
