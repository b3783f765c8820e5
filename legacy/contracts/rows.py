"""A row of the source as PostgreSQL writes it, and its columns as values: whoever asks for a value that cannot be taken
gets the reason for the quarantine."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn
from uuid import UUID, uuid5

from kernel.canonical import canonical_json
from kernel.text import storable
from legacy.contracts.reasons import Quarantined, Reason

NAMESPACE = UUID("6f1d3c52-6f0b-5e5b-9a5e-1c2f6a3f7b10")  # of ids made from an older id that is no UUID

KEY_MAX = 200
MAX_DEPTH = 200  # of JSON: what reads it here goes down level by level


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row: its table, its primary key as text (of several columns: joined by `:`), and each column as the text that
    PostgreSQL writes for it, None for NULL. Bytes that are no UTF-8 are escaped as surrogates."""

    table: str
    id: str
    columns: Mapping[str, str | None]
    place: tuple[Any, ...] = field(default=(), compare=False)  # where it stands among the rows of its step
    repeat: int = 1  # 2 for the second row of the same id, where no primary key forbids that; its id says so too

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of all columns, 64 hexadecimal digits."""
        return hashlib.sha256(canonical_json(dict(self.columns)).encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def key(self) -> str:
        """The id as it is remembered here, at most 200 plain characters."""
        return key_of(self.id)

    def target_id(self, *, part: str = "") -> UUID:
        """The id that the row gets here: its own where that is a UUID, else one made from table and id; `part` tells
        apart the rows here that one row there becomes."""
        own = None if part else as_uuid(self.id)
        return own or uuid5(NAMESPACE, ":".join([self.table, self.key, *([part] if part else [])]))

    def shown(self) -> dict[str, str | None]:
        """The columns as they are kept in the quarantine: plain JSON that every database holds."""
        return {name: None if text is None else storable(text) for name, text in self.columns.items()}

    def has(self, name: str) -> bool:
        """Whether the source has the column at all, and a value in it."""
        return self.columns.get(name) is not None

    def optional(self, name: str, most: int | None = None) -> str | None:
        """A text, None for NULL or a missing column; `most` is its limit in characters."""
        text = self.columns.get(name)
        if text is None:
            return None
        check_text(text, name)
        if most is not None and len(text) > most:
            raise Quarantined(Reason.TEXT_TOO_LONG, f"{name}: {len(text)} characters, at most {most}")
        return text

    def text(self, name: str, most: int | None = None) -> str:
        """A text; empty for NULL or a missing column."""
        return self.optional(name, most) or ""

    def required(self, name: str, most: int | None = None) -> str:
        """A text that must be there and not be blank."""
        text = self.optional(name, most)
        if text is None or not text.strip():
            raise Quarantined(Reason.MISSING_VALUE, f"{name} is empty")
        return text

    def json(self, name: str) -> Any:
        """A JSON value; None for NULL or a missing column."""
        text = self.columns.get(name)
        return None if text is None else parse_json(text, name)

    def json_object(self, name: str) -> dict[str, Any]:
        """A JSON object; `{}` for NULL or JSON null."""
        value = self.json(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise Quarantined(Reason.NOT_AN_OBJECT, f"{name} is a {type(value).__name__}")
        return value

    def json_data(self, name: str) -> dict[str, Any]:
        """JSON of somebody's own: an object, or anything else as the one member `name` of it."""
        value = self.json(name)
        if value is None or isinstance(value, dict):
            return value or {}
        return {name: value}

    def wrapped(self, name: str) -> str:
        """A note of JSON that is no object and so became a member of one; empty where it is one."""
        value = self.json(name)
        return "" if value is None or isinstance(value, dict) else f"{name} is no object: it is kept inside one"

    def moment(self, name: str) -> datetime | None:
        """A moment in UTC; None for NULL or a missing column. One without an offset is taken for UTC."""
        text = self.columns.get(name)
        return None if text is None else parse_moment(text, name)

    def integer(self, name: str, least: int = 0, most: int = 2_147_483_647) -> int:
        """A whole number within bounds that must be there."""
        text = self.columns.get(name)
        try:
            value = int(text or "")
        except ValueError:
            raise Quarantined(Reason.BAD_NUMBER, f"{name}: {(text or 'NULL')[:40]}") from None
        if not least <= value <= most:
            raise Quarantined(Reason.BAD_NUMBER, f"{name}: {value} is not between {least} and {most}")
        return value

    def number(self, name: str) -> float | None:
        """A finite number; None for NULL or a missing column."""
        text = self.columns.get(name)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            raise Quarantined(Reason.BAD_NUMBER, f"{name}: {text[:40]}") from None
        if not math.isfinite(value):
            raise Quarantined(Reason.BAD_NUMBER, f"{name}: {text[:40]}")
        return value

    def beside(self, known: frozenset[str]) -> dict[str, Any]:
        """The columns that no step knows, as the text they have: they go to the metadata of what is stored."""
        return {name: self.text(name) for name in sorted(self.columns.keys() - known) if self.has(name)}


def key_of(source_id: str) -> str:
    """A source id as it is remembered here: itself, or its beginning and a digest where it is long or no plain text."""
    plain = storable(source_id)
    if plain == source_id and len(plain) <= KEY_MAX:
        return plain
    return f"{plain[: KEY_MAX - 65]}#{hashlib.sha256(source_id.encode('utf-8', 'surrogateescape')).hexdigest()}"


def as_uuid(text: str) -> UUID | None:
    """The UUID that a text says in its usual form, else None."""
    try:
        value = UUID(text)
    except ValueError:
        return None
    return value if str(value) == text else None


def check_text(text: str, name: str) -> None:
    """Refuse what no text column here can hold."""
    if "\x00" in text:
        raise Quarantined(Reason.NUL, f"{name} holds NUL")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Quarantined(Reason.BAD_ENCODING, f"{name} is no UTF-8") from None


def parse_json(text: str, name: str) -> Any:
    """A JSON value of which every text can be stored and every number is finite."""
    check_text(text, name)
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        raise Quarantined(Reason.BAD_JSON, f"{name} is no JSON that can be read") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise Quarantined(Reason.BAD_JSON, f"{name} is nested deeper than {MAX_DEPTH} levels")
    if "\\u" in text:
        for inner in _texts(value):
            check_text(inner, name)
    return value


def _is_deeper(value: Any, most: int) -> bool:
    """Whether values lie in more than so many lists and objects."""
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names of members too."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, dict):
            waiting += [*inner, *inner.values()]
        elif isinstance(inner, list):
            waiting += inner


def parse_moment(text: str, name: str) -> datetime:
    """A moment as PostgreSQL writes it in ISO style."""
    try:
        value = datetime.fromisoformat(text)
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Quarantined(Reason.BAD_TIME, f"{name}: {text[:40]}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    vanished = value == 0 and any(digit in text.lower().partition("e")[0] for digit in "123456789")
    if vanished or not math.isfinite(value):
        raise ValueError(text)
    return value
