"""What a correction makes of a memory: its value and its words, which say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernel.errors import InvalidInputError
from kernel.text import fold
from memory.agreement import disagreement, names_its_value
from memory.candidates import given_item
from memory.contracts.writing import item_fields
from memory.policies import ConfidenceLevels
from memory.statements import readable, reworded, wording_field

FIELDS_ONLY = ("entities", "profile")  # types that words cannot correct
_HERE = ConfidenceLevels()  # how far it is trusted is not told here


def corrected(
    item_type: str, key: str, value: Mapping[str, Any], text: str | None, fields: Mapping[str, Any] | None
) -> tuple[dict[str, Any], str]:
    """The value and the words after a correction by its text, by fields of the value, or by both.

    Words alone leave nothing of what was said before; fields leave the other fields. Of both, the words are put into the
    field that tells the value in words, unless that is given too. A fact whose words are not given keeps them. Raises
    InvalidInputError that names the place of a fault, where the words and the fields say different things, and where a
    value changes that no words can be held against, such as true, and no words are given.
    """
    words = text.strip() if text is not None else None
    if fields is None:
        words = words or ""
        return reworded(item_type, key, value, words), words
    told = {name: inner for name, inner in value.items() if name != "statement"} | dict(fields)
    name = wording_field(item_type)
    if words is not None and name and name not in fields:
        told[name] = words
    elif item_type == "facts":
        told = {"statement": value.get("statement"), **told}  # in the same words, where they still hold
    given = given_item(item_type, {**item_fields(item_type, told, key), **fields}, "value", _HERE)
    said = given.statement
    if words is not None and fold(words) not in {fold(said), fold(readable(given.value.get(name)))}:
        raise disagreement(words, said)
    if item_type == "facts":
        kept = words is None and "statement" not in fields
        names_its_value(given.value.get("value"), value.get("value"), words or said, kept=kept)
    return given.value, words or said


def said_of(
    item_type: str, text: str | None, fields: Mapping[str, Any] | None, first: tuple[str, str]
) -> tuple[str | None, Mapping[str, Any] | None]:
    """The text and the fields by which another item is corrected along with a first one, of which `first` tells the type
    and the words that are right: the same where the types are equal, else these words. Raises InvalidInputError for a
    type that words cannot correct."""
    if item_type == first[0]:
        return text, fields
    if item_type in FIELDS_ONLY:
        raise InvalidInputError(f"value: {item_type} are corrected by their fields: give `value`.")
    return first[1], None
