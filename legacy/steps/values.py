"""What a memory of the older system says, in the form in which it would have been stored here: pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kernel.canonical import canonical_json
from kernel.conf import conf
from kernel.errors import InvalidInputError
from legacy.contracts import Quarantined, Reason, SourceRow
from memory.candidates import NOT_VALUE, Candidate, as_candidate
from memory.contracts.items import TRUSTED, Lifecycle, Status
from memory.contracts.writing import ITEM_TYPES
from memory.keys import GRAMMARS, check_key
from memory.policies import ConfidenceLevels
from memory.statements import complete, content_hash, statement

KNOWN = frozenset(
    {
        "id", "session_id", "type", "key", "value_json", "confidence", "status", "source_turn_id", "source_message_id",
        "evidence_refs", "updated_at", "scope_id", "source_session_id", "lifecycle_status", "statement",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mapped:
    """A memory's own words and state; where it belongs is looked up apart. `notes` say what is otherwise than there."""

    type: str
    key: str | None
    value: dict[str, Any]
    statement: str
    confidence: float
    status: Status
    lifecycle: Lifecycle
    updated_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    review_by: datetime | None
    importance: int
    notes: tuple[str, ...]

    @property
    def content_hash(self) -> str:
        """What it says, as a digest: the same as of a commit of it, which keeps no such members as are beside its value."""
        beside = {name: told for name, told in self.value.get("beside", {}).items() if name not in NOT_VALUE}
        rest = {name: told for name, told in self.value.items() if name != "beside"}
        return content_hash(self.type, self.key, {**rest, "beside": beside} if beside else rest)

    @property
    def trusted(self) -> bool:
        """Whether it enters a context by itself."""
        return self.lifecycle in TRUSTED


def mapped(row: SourceRow) -> Mapped:
    """A memory from its row. Raises Quarantined."""
    notes: list[str] = []
    kind = row.required("type", 20)
    if kind not in ITEM_TYPES:
        raise Quarantined(Reason.UNKNOWN_TYPE, f"type {kind}")
    key = _key(kind, row.text("key"), notes)
    given = row.json_object("value_json")
    size, most = len(canonical_json(given)), conf().max_message_chars
    if size > most:
        raise Quarantined(Reason.TEXT_TOO_LONG, f"value_json: {size} characters, at most {most}")
    known, value = _as_given_here(kind, key, given, notes)
    row.json("evidence_refs")
    words = row.text("statement", most).strip() or (known.statement if known else statement(kind, value))
    return Mapped(
        type=kind,
        key=key,
        value=value,
        statement=words or key or kind,
        confidence=_confidence(row, notes),
        status=_status(row),
        lifecycle=_lifecycle(row, notes),
        updated_at=row.moment("updated_at"),
        valid_from=known.valid_from if known else None,
        valid_to=known.valid_to if known else None,
        review_by=known.review_by if known else None,
        importance=known.importance if known else 0,
        notes=tuple(notes),
    )


def _key(kind: str, text: str, notes: list[str]) -> str | None:
    if not text.strip():
        notes.append("it has no key")
        return None
    try:
        key = check_key(kind, text)
    except ValueError as exc:
        raise Quarantined(Reason.KEY_GRAMMAR, str(exc)) from None
    if key != text:
        notes.append(f"key was {text}")
    return key


def _as_given_here(
    kind: str, key: str | None, given: dict[str, Any], notes: list[str]
) -> tuple[Candidate | None, dict[str, Any]]:
    """The memory that a commit of this value would make, if any does, and its value.

    Fields that the type does not know stay as they are. Those of another shape than it has, and those that here are no
    part of a value, stand under `beside`, so that nothing that reads the type stumbles on them.
    """
    faulty = {name: told for name, told in given.items() if name in (*NOT_VALUE, "beside") and told is not None}
    fields = {name: told for name, told in given.items() if name != "key"}
    known = ITEM_TYPES[kind].model_fields
    more = {name: told for name, told in fields.items() if name not in known and name not in faulty}
    fields = {name: told for name, told in fields.items() if name in known}
    candidate = None
    under = {"key": key or GRAMMARS[kind].example}
    while candidate is None:
        try:
            candidate = as_candidate("value_json", ITEM_TYPES[kind].parse({**fields, **under}), ConfidenceLevels())
        except InvalidInputError as exc:
            wrong = {error["loc"][0] for error in exc.errors if error["loc"]} & fields.keys()
            if not wrong:
                break
            faulty |= {name: fields.pop(name) for name in wrong}
    if key is None:
        candidate = None
    if faulty:
        notes.append(f"of another shape than {kind} have: {', '.join(sorted(faulty))}")
    value = (
        candidate.value
        if candidate
        else complete(kind, key or "", {name: told for name, told in fields.items() if name not in NOT_VALUE})
    )
    return candidate, {**more, **value, **({"beside": faulty} if faulty else {})}


def _confidence(row: SourceRow, notes: list[str]) -> float:
    value = row.number("confidence")
    if value is None:
        notes.append("it had no confidence")
        return ConfidenceLevels().inferred
    if not 0 <= value <= 1:
        raise Quarantined(Reason.CONFIDENCE_RANGE, f"confidence {value}")
    return value


def _status(row: SourceRow) -> Status:
    text = row.text("status") or Status.ACTIVE.value
    try:
        return Status(text)
    except ValueError:
        raise Quarantined(Reason.UNKNOWN_STATUS, f"status {text[:40]}") from None


def _lifecycle(row: SourceRow, notes: list[str]) -> Lifecycle:
    text = row.text("lifecycle_status") or Lifecycle.PROMOTED.value
    try:
        lifecycle = Lifecycle(text)
    except ValueError:
        raise Quarantined(Reason.UNKNOWN_STATUS, f"lifecycle_status {text[:40]}") from None
    if lifecycle is Lifecycle.CANONICAL:
        notes.append("canonical there; without a tier it is promoted here")
        return Lifecycle.PROMOTED
    return lifecycle
