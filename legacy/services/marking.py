"""What is remembered of a row beside where it went: marks of the values that were stored, and what it is a part of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from legacy.contracts import Outcome
from legacy.selectors.compared import COMPARISONS, OWNER, held, mark
from legacy.selectors.targets import targets
from media.models import MediaObjectReference, SourceSection

_OF_DOCUMENTS: dict[str, Any] = {"source_sections": SourceSection, "media_object_references": MediaObjectReference}
Beside = tuple[dict[str, str] | None, str]


def beside_of(outcomes: Sequence[Outcome], owner_id: str) -> dict[tuple[str, str], Beside]:
    """By table and id of each row that has just been stored: the marks of its values, where it has a note, and its
    document."""
    found: dict[tuple[str, str], Beside] = {(each.row.table, each.row.key): (None, "") for each in outcomes}
    by_table: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        if each.target_id and each.row.table in COMPARISONS:
            by_table[each.row.table].append(each)
    for table, some in by_table.items():
        documents = _documents(table, some)
        marks = _marks(table, [each for each in some if each.note], owner_id)
        for each in some:
            found[table, each.row.key] = (marks.get(each.row.key), documents.get(each.target_id, ""))
    return found


def _documents(table: str, outcomes: Sequence[Outcome]) -> dict[str, str]:
    if table not in _OF_DOCUMENTS:
        return {}
    rows = _OF_DOCUMENTS[table].objects.filter(pk__in=[each.target_id for each in outcomes])
    return {str(pk): str(document_id) for pk, document_id in rows.values_list("pk", "document_id")}


def _marks(table: str, outcomes: Sequence[Outcome], owner_id: str) -> dict[str, dict[str, str]]:
    if not outcomes:
        return {}
    comparison, owner = COMPARISONS[table], {OWNER: owner_id}
    there = targets(comparison.model, [each.target_id for each in outcomes], comparison.fetched)
    return {
        each.row.key: {one.column: mark(one.here) for one in held(comparison, each.row, there[each.target_id], owner)}
        for each in outcomes
        if each.target_id in there
    }
