"""How a memory would read after an act, beside how it reads now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from governance.adminbase.briefs import row_of
from governance.adminbase.diff import FieldDiff, Kind
from memory.admin.deeds import CORRECT, NARROW, PROMOTE, Deed
from memory.correcting import corrected
from memory.extensions.showing import fields_of, row_change
from memory.models import MemoryItem


def reads_then(deed: Deed, row: MemoryItem, given: Mapping[str, Any]) -> list[FieldDiff]:
    """The words and the fields of the value that the act would change, each once: a field that says the same as the
    words is told along with them. Empty where the act changes neither. Raises InvalidInputError as a correction does."""
    text, fields = given.get("text"), given.get("value")
    if deed not in (CORRECT, NARROW, PROMOTE) or row.key is None or (text is None and fields is None):
        return []
    value, words = corrected(row.type, row.key, row.value, text, fields)
    before = {name: told for name, told in fields_of(row).items() if _is_wording(name)}
    after = {f"value.{name}": told for name, told in sorted(value.items()) if name != "statement"}
    told = row_of(row_change(before, {"statement": words, **after}, str(row.pk), words))
    return [field for field in told.fields if field.kind is not Kind.SAME]


def _is_wording(name: str) -> bool:
    return name == "statement" or name.startswith("value.")
