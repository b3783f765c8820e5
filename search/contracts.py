"""What the index takes and gives: entries to add, a query, and hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class Kind(StrEnum):
    """What a findable text is."""

    MEMORY = "memory"
    MESSAGE = "message"
    SECTION = "section"
    CARD = "card"


class State(StrEnum):
    """Whether a text takes part in ordinary searches; its owner writes this column."""

    CURRENT = "current"
    CANDIDATE = "candidate"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class NewEntry:
    """One text to index under one scope. `sequence` orders the texts of a session, or of a document, whose key is then
    `session_key`; `numbered`: it counts them from 1 without a gap, so that it is their place too; `author` is who said it; `label` is
    its owner's own class of it, such as the type of a memory; it holds in the world from `valid_from` to `valid_to`;
    `trust`, 0..1, is how sure its owner is of it. `counted` are the terms of author and text where they were counted
    before, as of a long text that is written in one transaction."""

    kind: Kind
    object_id: UUID
    domain_id: str
    scope_key: int
    text: str
    event_time: datetime
    recorded_at: datetime
    session_key: int | None = None
    sequence: int = 0
    author: str = ""
    label: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    state: State = State.CURRENT
    trust: float = 1.0
    current_until: datetime | None = None
    counted: Mapping[str, int] | None = None
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A search over scopes that the caller was found to be allowed to read. `since` is included, `until` is not.

    `valid_at` is the moment in the world for which an answer must hold. `recorded_at`, where given, asks for what the
    index held at that moment instead of what it holds now. `labels` empty means any. `history` takes in what is no
    longer current; `superseded` takes in what had left by the moment asked for, of which the owner says what still holds
    for its own time. `scope_weights` multiplies the scores of a scope's texts; a scope left out has 1.

    `reader` is the id of the actor that asks, by which an owner may show less; nobody in particular where it is empty.

    A filter of the owner's is applied in the look-up itself, before anything is cut, in one of two forms: `among` names
    the only objects wanted, a few hundred at most, and every one of them is ranked; `within` makes, from the path to
    the column of an object's id, a condition of the database that every text is held to.
    """

    text: str
    domain_id: str
    scope_keys: tuple[int, ...]
    kinds: tuple[Kind, ...]
    valid_at: datetime
    since: datetime | None = None
    until: datetime | None = None
    recorded_at: datetime | None = None
    labels: tuple[str, ...] = ()
    history: bool = False
    superseded: bool = False
    reader: str = ""
    scope_weights: Mapping[int, float] = field(default_factory=dict)
    among: tuple[UUID, ...] | None = None
    within: Callable[[str], Any] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One found text: `score` orders, rounded to six places; `confidence` 0..1 is the share of the query's
    information that the text matches."""

    kind: Kind
    object_id: UUID
    scope_key: int
    score: float
    confidence: float
    signals: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hydrated:
    """What the owner of a found text tells of it. `session_id` and `message_id` are the caller's own ids;
    `message_uuid` is the stored message it comes from, by which a memory and its message are one result. Of a section,
    `document` is the title of its document, `pages` its metadata, which tells its pages, and `shared_key` is the scope through which it is read,
    none for what is the reader's own."""

    text: str
    author: str
    event_time: datetime
    recorded_at: datetime
    session_id: str | None = None
    turn_id: UUID | None = None
    message_id: str | None = None
    message_uuid: UUID | None = None
    title: str = ""
    item_id: UUID | None = None
    section_id: UUID | None = None
    document_id: UUID | None = None
    document: str = ""
    pages: Mapping[str, Any] = field(default_factory=dict)
    shared_key: int | None = None
