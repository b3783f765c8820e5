"""What is wrong with a form of an act on a memory, told by the labels on the form and in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from kernel.errors import InvalidInputError
from memory.admin.deeds import CORRECT, NARROW, Deed
from memory.admin.wording import sent_refs

LABELS = {
    "reason": "Reason",
    "also": "Take these back for the same reason",
    "target_scope": "The scope that gets it",
    "scope_context": "The scope that gets it",
    "text": "In other words",
    "status": "How far",
    "reason_type": "Why, in one word",
    "evidence_refs": "What speaks against it",
    "verification_refs": "What confirms it",
    "value": "Fields",
}
OF_A_DEED = {
    CORRECT.action: {"text": "What is right, in words", "evidence_refs": "Evidence", "also": "Correct these likewise"},
    NARROW.action: {
        "target_scope": "The narrower scope",
        "scope_context": "The narrower scope",
        "also": "Keep these for that scope only, too",
    },
}
# By the type of a fault, what people are told; others say it themselves.
SAID = {
    "too_short": "at least one is needed.",
    "missing": "it is missing.",
    "string_too_short": "it must not be empty.",
    "string_pattern_mismatch": "it must not be empty.",
    "enum": "choose one.",
    "literal_error": "choose one.",
    "uuid_parsing": "this is no id of a memory.",
}
_REFS = ("evidence_refs", "verification_refs")
_NAMED = re.compile(r"(?P<place>[a-z_]+(?:\.\w+)*): (?P<said>.+)", re.DOTALL)


def label_of(deed: Deed, field: str) -> str:
    """The name of a field as the form of a deed shows it."""
    return {**LABELS, **OF_A_DEED.get(deed.action, {})}.get(field, _spaced(field))


def by_labels(error: InvalidInputError, deed: Deed, sent: QueryDict) -> InvalidInputError:
    """The same refusal with the names of fields as the form of the deed shows them; `sent` is what it sent."""
    lines = [each.place for each in sent_refs(sent)]
    faults = [_told(fault["loc"], fault, deed, lines) for fault in error.errors] or _named(error.message, deed, lines)
    if not faults:
        return error
    faults = list({fault["msg"]: fault for fault in faults}.values())
    more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
    first = faults[0]
    return InvalidInputError(f"{first['loc'][0]}: {first['msg']}{more}", errors=faults)


def _named(message: str, deed: Deed, lines: Sequence[str]) -> list[dict[str, Any]]:
    """The fault of a refusal that says the place in its text only."""
    found = _NAMED.fullmatch(message)
    if found is None or found["place"].split(".")[0] not in LABELS:
        return []
    return [_told(found["place"].split("."), {"msg": found["said"], "type": ""}, deed, lines)]


def _told(loc: Sequence[Any], fault: Mapping[str, Any], deed: Deed, lines: Sequence[str]) -> dict[str, Any]:
    place = [part for each in loc for part in str(each).split(".")]
    first = place[0] if place else ""
    label = label_of(deed, first)
    said = SAID.get(fault["type"], str(fault["msg"]))
    if first in ("value", "field") and len(place) > 1:
        label, said = _spaced(place[1]), said.removeprefix(f"{place[1]} ")
    elif first in _REFS and len(place) > 1 and place[1].isdigit():
        label = f"{label}, {_line(int(place[1]), lines)}"
    for technical, plain in (("String should have", "it may have"), ("Input should be", "it must be")):
        said = said.replace(technical, plain)
    return {**fault, "loc": [label], "msg": said}


def _line(place: int, lines: Sequence[str]) -> str:
    """Which of what is ticked, or which line of what is typed; `lines` names that of each reference."""
    return lines[place] if place < len(lines) else f"number {place + 1}"


def _spaced(name: str) -> str:
    return name.replace("_", " ").capitalize()
