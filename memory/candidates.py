"""The retention gate: from a turn's structured items and what its text says to candidates for memory, and why the
rest is not kept (behavioural specification 2.3 and 2.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from kernel.errors import InvalidInputError
from memory.contracts.commit import RetentionLine, TurnEvents
from memory.contracts.items import EntityIn, ItemIn, Lifecycle, PreferenceIn
from memory.contracts.refs import EvidenceRef
from memory.contracts.writing import ITEM_TYPES, WriteMemoryItemInput
from memory.extraction import Extraction, Proposed
from memory.extraction.denials import denies
from memory.keys import check_key, slug
from memory.naming import fold_name
from memory.policies import ConfidenceLevels, RetentionPolicy
from memory.statements import complete, statement

# What an item says beside its value: where it belongs, how long it holds, what it rests on.
NOT_VALUE = frozenset(
    {
        "key",
        "scope_ref",
        "supersedes",
        "valid_from",
        "valid_to",
        "review_by",
        "importance",
        "evidence_refs",
        "remember",
        "confirmed",
    }
)

# The field that says the same as the first segment of the key, where that is one of a closed list.
_CLOSED_SEGMENT = {"entities": "kind", "preferences": "scope"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing to write. `scope` is `type:id`, or None for the default; `message` is the place of its message.

    `columns` are further columns of the row, of what was promoted or is knowledge. `anew` asks for a new version even
    where the current one says the same, since that one is no longer trusted. `decided`: a person decided it, so it may
    take the place of knowledge in force.
    """

    type: str
    key: str
    value: dict[str, Any]
    statement: str
    confidence: float
    lifecycle: Lifecycle
    origin: str
    source: str
    scope: str | None = None
    message: int | None = None
    supersedes: UUID | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    review_by: datetime | None = None
    importance: int = 0
    evidence: tuple[EvidenceRef, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)
    anew: bool = False
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Retraction:
    """One key to retract, with the reason. `facts` names only parts of a profile: `(name, value or None for any)`."""

    type: str
    key: str
    reason: str
    source: str
    scope: str | None = None
    facts: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class TaskUpdate:
    """A status that the text gives to a known task."""

    key: str
    status: str
    source: str
    message: int


@dataclass(frozen=True, slots=True)
class Retained:
    """What the gate lets through, in the order of writing, and a line for what it does not."""

    candidates: list[Candidate]
    updates: list[TaskUpdate]
    retractions: list[Retraction]
    skipped: list[RetentionLine]


def retain(events: TurnEvents, extraction: Extraction, names: Sequence[str], policy: RetentionPolicy) -> Retained:
    """Apply the gate. `names` are the folded entity names of the turns in the window, this one included.

    Raises InvalidInputError for a key outside the grammar of its type; nothing is stored then.
    """
    kept = Retained([], [], [], [])
    for path, item in events.items():
        key = _checked(item.of_type, item.key, path)
        _agrees(item, key, path)
        reason = _rejected(item, names, policy)
        if reason:
            kept.skipped.append(line("skip", item.of_type, key, reason, None, path))
        else:
            kept.candidates.append(_structured(path, item, key, policy.confidence))
    for number, asked in enumerate(events.retractions):
        path = f"turn_events.retractions.{number}"
        scope = asked.scope_ref.name if asked.scope_ref else None
        kept.retractions.append(
            Retraction(asked.type, _checked(asked.type, asked.key, path), asked.reason, path, scope)
        )
    _from_text(kept, extraction, policy.confidence)
    return kept


def entity_names(events: TurnEvents) -> list[str]:
    """The folded names of the entities that a turn mentions, each once."""
    names = [fold_name(_name_of(item)) for item in events.entities]
    return list(dict.fromkeys(names))


def set_apart(candidate: Candidate, current: Mapping[str, Any]) -> Candidate | None:
    """A denial of another value than the current one, under a key of its own: it takes back nothing that holds.

    None for anything else, such as the denial of the value that the current one states, which takes its place.
    """
    told = candidate.value
    if candidate.type != "facts" or not denies(str(told.get("relation", ""))) or "value" not in current:
        return None
    if slug(str(told.get("value"))) == slug(str(current["value"])):
        return None
    name = slug(f"{told['relation']} {told.get('value')}")
    return replace(candidate, key=f"fact:{slug(str(told.get('subject')))}:{name}")


def line(action: Any, item_type: str, key: str | None, reason: str, scope: str | None, source: str) -> RetentionLine:
    """One line of the explanation, structured and as text."""
    where = f" in {scope}" if scope else ""
    text = f"{action} {item_type} {key or '(no key)'}{where}: {reason.replace('_', ' ')} ({source})"
    return RetentionLine(
        action=action, type=item_type, key=key, reason_code=reason, scope=scope, source=source, text=text
    )


def _checked(item_type: str, key: str, path: str) -> str:
    try:
        return check_key(item_type, key)
    except ValueError as exc:
        raise InvalidInputError(
            f"{path}.key: {exc}", errors=[{"loc": [*path.split("."), "key"], "msg": str(exc), "type": "key_grammar"}]
        ) from exc


def _agrees(item: ItemIn, key: str, path: str) -> None:
    """Refuse a field that names another kind or area than the key: one of the two must be a mistake."""
    name = _CLOSED_SEGMENT.get(item.of_type)
    given = getattr(item, name) if name else None
    said = key.split(":", 2)[1]
    if given is not None and given != said:
        message = f"{given!r} contradicts the key, which says {said!r}"
        raise InvalidInputError(
            f"{path}.{name}: {message}",
            errors=[{"loc": [*path.split("."), name], "msg": message, "type": "key_field"}],
        )


def _rejected(item: ItemIn, names: Sequence[str], policy: RetentionPolicy) -> str:
    """Why an item is not kept; empty where it is."""
    if isinstance(item, PreferenceIn) and not item.confirmed:
        return "not_confirmed"
    if isinstance(item, EntityIn) and not _entity_matters(item, names, policy):
        return "below_threshold"
    return ""


def _entity_matters(item: EntityIn, names: Sequence[str], policy: RetentionPolicy) -> bool:
    name = _name_of(item)
    if item.remember or any(mark in name for mark in ("/", "http", ".")):
        return True
    return list(names).count(fold_name(name)) >= policy.entity_gate.freq_threshold


def _name_of(item: EntityIn) -> str:
    return item.canonical or item.name or item.key.split(":", 2)[-1]


def given_item(item_type: str, fields: Mapping[str, Any], path: str, levels: ConfidenceLevels) -> Candidate:
    """The candidate for an item that is given by itself, such as `commit_turn` takes in its lists.

    Raises InvalidInputError that names the place of a fault.
    """
    try:
        item = ITEM_TYPES[item_type].parse(fields)
    except InvalidInputError as exc:
        errors = [{**error, "loc": [path, *error["loc"]]} for error in exc.errors]
        raise InvalidInputError(f"{path}.{exc.message}", errors=errors) from exc
    key = _checked(item_type, item.key, path)
    _agrees(item, key, path)
    if isinstance(item, PreferenceIn) and not item.confirmed:
        raise InvalidInputError(f"{path}.confirmed: only a confirmed preference is kept.")
    return _structured(path, item, key, levels)


def written_alone(given: WriteMemoryItemInput, levels: ConfidenceLevels) -> Candidate:
    """The candidate of an item that is written by itself. What it says of its origin follows from the call, never from
    the item. Raises InvalidInputError that names the place of a fault."""
    candidate = given_item(given.type, given.item, "item", levels)
    if candidate.scope is not None or candidate.supersedes is not None:
        raise InvalidInputError("item: give the scope in `scope`, and use correct_item to replace an item by its id.")
    if given.statement is not None:
        value = {**candidate.value, "statement": given.statement}
        candidate = replace(candidate, statement=given.statement, value=value)
    if given.inferred:
        confidence = min(candidate.confidence, levels.inferred)
        candidate = replace(candidate, lifecycle=Lifecycle.CANDIDATE, confidence=confidence)
    heard = given.message is not None and given.statement is not None
    return replace(candidate, message=given.message, origin="text:proposed" if heard else "structured", source="item")


def as_candidate(path: str, item: ItemIn, levels: ConfidenceLevels) -> Candidate:
    """The candidate that a read item makes, kept or not. Raises InvalidInputError for a key outside its grammar."""
    return _structured(path, item, _checked(item.of_type, item.key, path), levels)


def _structured(path: str, item: ItemIn, key: str, levels: ConfidenceLevels) -> Candidate:
    value = complete(item.of_type, key, item.model_dump(mode="json", exclude=set(NOT_VALUE)))
    by_type = {"tasks": levels.tool_derived, "events": levels.tool_derived, "entities": levels.inferred}
    return Candidate(
        type=item.of_type,
        key=key,
        value=value,
        statement=statement(item.of_type, value),
        confidence=by_type.get(item.of_type, levels.user_asserted),
        lifecycle=Lifecycle.PROMOTED,
        origin="structured",
        source=path,
        scope=item.scope_ref.name if item.scope_ref else None,
        supersedes=item.supersedes,
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        review_by=item.review_by,
        importance=item.importance,
        evidence=tuple(item.evidence_refs),
    )


def _from_text(kept: Retained, extraction: Extraction, levels: ConfidenceLevels) -> None:
    said = {(candidate.type, candidate.key) for candidate in kept.candidates}
    for found in extraction.proposed:
        source = f"text:{found.rule} in turn_events.messages.{found.message}"
        if found.kind == "retract":
            kept.retractions.append(
                Retraction(found.type, found.key, found.statement, source, facts=_named_facts(found))
            )
        elif found.kind == "task_status":
            kept.updates.append(TaskUpdate(found.key, str(found.value.get("status", "")), source, found.message))
        elif (found.type, found.key) in said:
            kept.skipped.append(line("skip", found.type, found.key, "given_as_structured_item", None, source))
        else:
            kept.candidates.append(_heard(found, source, levels))
    for passed in extraction.skipped:
        source = f"turn_events.messages.{passed.message}"
        kept.skipped.append(line("skip", "text", None, passed.reason, None, source))


def _named_facts(found: Proposed) -> tuple[tuple[str, str | None], ...]:
    """The facts of a profile that a denial names."""
    facts = found.value.get("facts")
    if found.type != "profile" or not isinstance(facts, list):
        return ()
    named = [fact for fact in facts if isinstance(fact, dict) and fact.get("k")]
    return tuple((str(fact["k"]), str(fact["v"]) if fact.get("v") is not None else None) for fact in named)


def _heard(found: Proposed, source: str, levels: ConfidenceLevels) -> Candidate:
    """A statement from text: asserted by the user at no less than that level, else a candidate at no more than inferred."""
    asserted = found.explicit or found.confidence >= levels.user_asserted
    confidence = max(found.confidence, levels.user_asserted) if asserted else min(found.confidence, levels.inferred)
    value = complete(found.type, found.key, {**found.value, "statement": found.statement})
    return Candidate(
        type=found.type,
        key=found.key,
        value=value,
        statement=found.statement,
        confidence=confidence,
        lifecycle=Lifecycle.PROMOTED if asserted else Lifecycle.CANDIDATE,
        origin=f"text:{found.rule}"[:60],
        source=source,
        message=found.message,
    )
