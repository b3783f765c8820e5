"""Items in words: the statement of a value, and the text under which it is indexed (memory types, chapter 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from kernel.canonical import canonical_json, digest
from kernel.text import fold

Value = Mapping[str, Any]

# The field of a value that tells it in words, and the fields that are no words of anybody's.
_WORDS = {
    "preferences": "value",
    "goals": "description",
    "tasks": "title",
    "decisions": "decision",
    "events": "title",
    "cases": "problem",
    "patterns": "rule",
}
_NO_WORDS: dict[str, tuple[str, ...]] = {
    "tasks": ("status",),
    "preferences": ("priority",),
    "patterns": ("confidence",),
}

# Which fields the segments of a key stand for, so that a value need not repeat them.
KEY_FIELDS: dict[str, tuple[str, ...]] = {
    "profile": ("subject",),
    "preferences": ("scope", "name"),
    "goals": ("project", "name"),
    "tasks": ("project", "task_id"),
    "decisions": ("project", "topic"),
    "entities": ("kind", "canonical"),
    "events": ("scope", "date"),
    "cases": ("domain",),
    "patterns": ("domain", "name"),
    "facts": ("subject",),
}


def complete(item_type: str, key: str, value: Value) -> dict[str, Any]:
    """The value with the fields that its key already says."""
    fields = KEY_FIELDS.get(item_type, ())
    said = key.split(":", len(fields))[1:]
    return {**dict(zip(fields, said, strict=False)), **{k: v for k, v in value.items() if v is not None}}


def reworded(item_type: str, key: str, value: Value, text: str) -> dict[str, Any]:
    """The value of an item that is told in other words: nothing of the words before is left in it."""
    kept = {name: value[name] for name in _NO_WORDS.get(item_type, ()) if name in value}
    return complete(item_type, key, {**kept, _WORDS.get(item_type, "statement"): text})


def wording_field(item_type: str) -> str:
    """The field of a value that tells it in words; empty for a type that is told by all of its fields together."""
    return "statement" if item_type == "facts" else _WORDS.get(item_type, "")


def statement(item_type: str, value: Value) -> str:
    """The item in one short sentence, in the language of its value."""
    given = value.get("statement")
    if isinstance(given, str) and given.strip():
        return given.strip()
    return _STATEMENTS[item_type](value).strip() or readable(value)


def chunk_text(item_type: str, key: str | None, value: Value, said: str, recorded_at: datetime) -> str:
    """Index text: a locator line, the statement, the rest of the value in words, and the time."""
    rest = readable({k: v for k, v in value.items() if not (isinstance(v, str) and v in said)})
    lines = [f"[{item_type}:{key}]" if key else f"[{item_type}]", said, rest]
    lines.append(f"Recorded at: {recorded_at.date().isoformat()}")
    return "\n".join(line for line in lines if line)


def readable(value: Any) -> str:
    """Any JSON value in words: `name: value` pairs joined by semicolons, in the order of the names, since databases
    keep the members of an object in orders of their own."""
    if isinstance(value, dict):
        parts = [f"{name}: {shown}" for name, inner in sorted(value.items()) if (shown := readable(inner))]
        return "; ".join(parts)
    if isinstance(value, list | tuple):
        return ", ".join(shown for inner in value if (shown := readable(inner)))
    if value is None or value == "":
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def tool_text(name: str, args: Any, result: Any) -> str:
    """A tool call in words, as it is indexed and shown."""
    asked, answered = readable(args), readable(result)
    return f"{name}({asked}): {answered}" if asked else f"{name}: {answered}"


def content_hash(item_type: str, key: str | None, value: Value) -> str:
    """SHA-256 of what an item says, after folding: equal for the same value in another spelling or in other words."""
    return digest([item_type, key or "", _folded(_telling(item_type, value))])


def _telling(item_type: str, value: Value) -> dict[str, Any]:
    """The fields that make a value what it is: the words around it only where it has no field of its own, as facts."""
    told = {name: inner for name, inner in value.items() if name == "value" or inner not in ("", [], {})}
    own = told.keys() - {"statement", *KEY_FIELDS.get(item_type, ())}
    if own and item_type != "facts":
        told.pop("statement", None)
    return told


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, Mapping):
        return {str(name): _folded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_folded(inner) for inner in value]
    return value


def _joined(*parts: Any, by: str = " — ") -> str:
    return by.join(str(part) for part in parts if part not in (None, "", [], {}))


def _profile(value: Value) -> str:
    facts = "; ".join(_joined(fact.get("k"), fact.get("v"), by=": ") for fact in value.get("facts", []))
    return _joined(value.get("subject"), facts, by=" — ")


def _preference(value: Value) -> str:
    return _joined(_joined(value.get("scope"), value.get("name"), by=" "), readable(value.get("value")), by=": ")


def _goal(value: Value) -> str:
    return _joined(value.get("description") or value.get("name"), value.get("status"))


def _task(value: Value) -> str:
    return _joined(value.get("title") or value.get("task_id"), value.get("status"), value.get("due"))


def _decision(value: Value) -> str:
    return _joined(value.get("decision"), value.get("rationale"))


def _entity(value: Value) -> str:
    aliases = ", ".join(value.get("aliases", []))
    name = value.get("canonical") or value.get("name")
    return _joined(f"{name} ({aliases})" if aliases else name, value.get("kind"), readable(value.get("attrs", {})))


def _event(value: Value) -> str:
    return _joined(value.get("title"), value.get("date"), value.get("impact"))


def _case(value: Value) -> str:
    return _joined(value.get("problem"), value.get("solution"), value.get("outcome"))


def _pattern(value: Value) -> str:
    return _joined(value.get("name"), value.get("rule"), by=": ")


_STATEMENTS: dict[str, Callable[[Value], str]] = {
    "profile": _profile,
    "preferences": _preference,
    "goals": _goal,
    "tasks": _task,
    "decisions": _decision,
    "entities": _entity,
    "events": _event,
    "cases": _case,
    "patterns": _pattern,
    "facts": readable,
}
