"""What the forms of acts on a memory say, as the input of their actions, and what they show before anything is typed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from kernel.errors import InvalidInputError
from memory.admin.deeds import CORRECT, DEMOTE, LEAVE, NARROW, PROMOTE, RETRACT, Deed
from memory.contracts.refs import identity_of, is_address
from memory.contracts.writing import item_fields
from memory.models import MemoryItem
from memory.statements import KEY_FIELDS
from scopes.contracts import written_scope

NO_WORDS = ("key", "confirmed", "statement", "scope_ref", "supersedes")


@dataclass(frozen=True, slots=True)
class ValueField:
    """One field of a memory's value in a form; `is_json` where it is more than text."""

    name: str
    text: str
    is_json: bool


def value_fields(row: MemoryItem) -> list[ValueField]:
    """The fields of a memory's value that can be corrected by themselves: not those that its key says."""
    told = {name: value for name, value in row.value.items() if name != "statement"}
    fields = item_fields(row.type, told, row.key or "")
    names = [name for name in fields if name not in (*NO_WORDS, *KEY_FIELDS.get(row.type, ()))]
    return [
        ValueField(name, fields[name], is_json=False)
        if isinstance(fields[name], str)
        else ValueField(name, _as_json(fields[name]), is_json=True)
        for name in names
    ]


def given_of(deed: Deed, row: MemoryItem, sent: QueryDict) -> dict[str, Any]:
    """What a form says, as the input of the deed's action. Raises InvalidInputError that names the field."""
    given: dict[str, Any] = {"memory_item_id": str(row.pk), "reason": typed(sent, "reason")}
    if deed in (RETRACT, CORRECT, NARROW):
        given["also"] = sent.getlist("also")
    if deed in (NARROW, PROMOTE):
        given["target_scope"] = written_scope(typed(sent, "target").strip(), "target_scope")
        given |= {"text": text} if (text := typed(sent, "text").strip()) else {}
    if deed is CORRECT:
        given |= _correction(row, sent)
    if deed is DEMOTE:
        given["status"] = sent.get("status", "demoted")
    if deed in (DEMOTE, LEAVE):
        given["reason_type"] = sent.get("reason_type", "")
    if deed in (DEMOTE, LEAVE, CORRECT):
        given["evidence_refs"] = [each.ref for each in sent_refs(sent)]
    if deed is PROMOTE:
        given["verification_refs"] = [each.ref for each in sent_refs(sent)]
    return given


def typed(sent: QueryDict, name: str) -> str:
    """The text of a field with the line ends that are stored: browsers send others."""
    return sent.get(name, "").replace("\r\n", "\n")


def _correction(row: MemoryItem, sent: QueryDict) -> dict[str, Any]:
    """What differs from the memory: its words, the fields of its value, or both."""
    said, given = typed(sent, "text").strip(), {}
    if said and said != row.statement:
        given["text"] = said
    changed = {
        field.name: _value(field, text)
        for field in value_fields(row)
        if f"field.{field.name}" in sent and (text := typed(sent, f"field.{field.name}")) != field.text
    }
    return {**given, "value": changed} if changed else given


def _value(field: ValueField, text: str) -> Any:
    if not field.is_json:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise _fault(f"field.{field.name}", f"{field.name} is not valid JSON: {exc}") from exc


@dataclass(frozen=True, slots=True)
class SentRef:
    """A reference that a form names, and where, such as `choice 1` or `line 2`."""

    place: str
    ref: Any


def sent_refs(sent: QueryDict) -> list[SentRef]:
    """Evidence that was ticked (`kind id` each), then what was typed: an address, a memory's UUID, or `kind id` a line. Of
    those that name the same thing the first, so that each has the place in the list that the action is told."""
    ticked = [each for each in sent.getlist("ref") if each.strip()]
    lines = [(f"choice {number}", each) for number, each in enumerate(ticked, 1)]
    lines += [(f"line {number}", each) for number, each in enumerate(typed(sent, "refs").splitlines(), 1)]
    found = [SentRef(place, _ref(text.strip())) for place, text in lines if text.strip()]
    once: dict[Any, SentRef] = {}
    for each in found:
        once.setdefault(identity_of(each.ref) or each.place, each)
    return list(once.values())


def _ref(line: str) -> Any:
    if is_address(line):
        return {"kind": "url", "id": line}
    kind, _, row_id = line.partition(" ")
    return {"kind": kind, "id": row_id.strip()} if row_id.strip() else line


def _fault(place: str, message: str) -> InvalidInputError:
    return InvalidInputError(message, errors=[{"loc": [place], "msg": message, "type": "form"}])


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def filled(row: MemoryItem, deed: Deed, sent: QueryDict) -> dict[str, Any]:
    """What a form shows: what was typed or what its address says, else how the memory stands."""
    words = row.statement if deed is CORRECT and row.type not in ("entities", "profile") else ""
    texts = {
        name: sent.get(name, standard)
        for name, standard in (
            ("reason", ""),
            ("text", words),
            ("target", ""),
            ("status", "demoted"),
            ("reason_type", "out_of_scope" if deed is LEAVE else ""),
            ("refs", ""),
        )
    }
    fields = value_fields(row) if deed is CORRECT else []
    return {
        **texts,
        "also": sent.getlist("also"),
        "ref": sent.getlist("ref"),
        "fields": [(field, sent.get(f"field.{field.name}", field.text)) for field in fields],
    }


def kept(sent: QueryDict, but: Sequence[str]) -> list[tuple[str, str]]:
    """Everything that a form said, to be sent again with the confirmation, without these names."""
    lists: Mapping[str, list[str]] = dict(sent.lists())
    return [(name, value) for name, values in lists.items() if name not in but for value in values]
