"""What happened here since rows were moved in, by what is on record: the audit log, and the receipts of erasures. What
nothing tells of has not happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Model

from governance.selectors.audit import last_told
from governance.selectors.erasing import receipts_of
from legacy.contracts.rows import as_uuid
from legacy.models import MigratedRow
from legacy.selectors.compared import Held
from legacy.selectors.compared.shapes import plain
from legacy.selectors.targets import ENDS, ends_of, owner_of_links
from memory.models import MemoryItem

ERASED, REMOVED, CHANGED = "erased_here", "removed_here", "changed_here"
_DOCUMENTS, _SECTIONS = "source_documents", "source_sections"
# Of a column, the name under which the audit log tells its new value: what stands here must be the last that it told.
_TOLD: dict[str, Mapping[str, str]] = {
    "memory_items": {"status": "status", "lifecycle_status": "lifecycle"},
    "media_jobs": {"status": "status"},
    _DOCUMENTS: {
        **{name: name for name in ("title", "author", "description", "language", "publication_date")},
        **{name: name for name in ("source_type", "source_uri", "content_hash")},
        "url": "source_uri",
        "download_state": "state",
    },
    "tags": {"name": "name", "parent_id": "parent"},
    "research_topics": {"name": "title", "description": "description"},
    "session_scope_links": {"access_mode": "access_mode"},
}
# Of a column of which the audit log tells no value, the name that it tells whenever the column changes too.
_ALONG: dict[str, Mapping[str, str]] = {
    "memory_items": {"confidence": "lifecycle"},
    "media_jobs": {"error": "status", "result": "status"},
    _DOCUMENTS: {"metadata": "title", "updated_at": "title"},
    _SECTIONS: {"section_number": "title", "metadata": "title"},
}
_NOTHING = frozenset({'""', "{}", "[]"})


@dataclass(frozen=True, slots=True)
class Since:
    """What became of a row that is not as it was moved: the code of its check, and in words by what that is known."""

    code: str
    what: str


def changes(table: str, rows: Sequence[tuple[MigratedRow, Any, Sequence[Held]]]) -> dict[int, Mapping[str, Since]]:
    """Of rows here, each with the values in which it differs, what explains each of these columns, by the number of what is
    remembered of it: several rows of the source may have become one."""
    if not rows:
        return {}
    of = {row.target_id: _told_under(table, row, target) for row, target, _ in rows}
    told = last_told(_DOCUMENTS if table == _SECTIONS else table, set(of.values()))
    return {
        row.pk: {
            each.column: since
            for each in differing
            if (since := _explained(table, row, each, told.get(of[row.target_id]))) is not None
        }
        for row, _, differing in rows
    }


def _told_under(table: str, row: MigratedRow, target: Any) -> str:
    """The id under which the audit log tells of it: sections are told of with their document."""
    return str(target.document_id) if table == _SECTIONS else row.target_id


def _explained(table: str, row: MigratedRow, value: Held, told: dict[str, Any] | None) -> Since | None:
    name = _TOLD.get(table, {}).get(value.column)
    if told and name in told and plain(told[name]) == value.here:
        return Since(CHANGED, "the audit log tells of it")
    if told and _ALONG.get(table, {}).get(value.column) in told:
        return Since(CHANGED, "the audit log tells of a change of it")
    if row.receipt_id is not None and value.here in _NOTHING:
        return Since(ERASED, _under(row.receipt_id))
    return None


def made_way(items: Sequence[MemoryItem]) -> set[UUID]:
    """Of memories those that gave way to a newer one of their key which a later batch or run moved in."""
    successors = MemoryItem.objects.in_bulk({item.successor_id for item in items} - {None})
    came = set(
        MigratedRow.objects.filter(
            target_table="memory_items", target_id__in=[str(pk) for pk in successors]
        ).values_list("target_id", flat=True)
    )
    return {
        item.pk for item in items if str(item.successor_id) in came and _is_newer(successors[item.successor_id], item)
    }


def _is_newer(one: MemoryItem, other: MemoryItem) -> bool:
    same = (one.scope_id, one.type, one.key) == (other.scope_id, other.type, other.key)
    return same and one.recorded_at >= other.recorded_at and other.current_until is not None


def departures(table: str, model: type[Model], rows: Mapping[str, MigratedRow]) -> dict[str, Since]:
    """Of rows that are not here, by target id, how they went; without those of which nothing tells."""
    if model in ENDS:
        return _of_links(table, model, rows)
    ids = {uuid: name for name in rows if (uuid := as_uuid(name)) is not None}
    receipts = {ids[pk]: receipt for pk, receipt in receipts_of(ids.keys()).items()}
    told = last_told(table, rows.keys())
    found: dict[str, Since] = {}
    for name, row in rows.items():
        if receipt := row.receipt_id or receipts.get(name):
            found[name] = Since(ERASED, _under(receipt))
        elif name in told and told[name] is None:
            found[name] = Since(REMOVED, "the audit log tells of it")
    return {**_with_documents({name: row for name, row in rows.items() if row.part_of}), **found}


def _with_documents(rows: Mapping[str, MigratedRow]) -> dict[str, Since]:
    """How parts of documents went: with them, or because they were imported again."""
    documents = {row.part_of for row in rows.values()}
    receipts = receipts_of({pk for pk in map(as_uuid, documents) if pk is not None})
    told, sections = last_told(_DOCUMENTS, documents), last_told(_SECTIONS, documents)
    found: dict[str, Since] = {}
    for name, row in rows.items():
        receipt = receipts.get(UUID(row.part_of))
        if receipt is not None:
            found[name] = Since(ERASED, _under(receipt))
        elif row.part_of in told and told[row.part_of] is None:
            found[name] = Since(REMOVED, f"with its document {row.part_of}")
        elif (sections.get(row.part_of) or {}).get("removed"):
            found[name] = Since(REMOVED, f"its document {row.part_of} was imported again")
    return found


def _of_links(table: str, model: type[Model], rows: Mapping[str, MigratedRow]) -> dict[str, Since]:
    """How links went: with one of their ends, or by a change that the audit log keeps under the document or topic."""
    found: dict[str, Since] = {}
    for at, (_, end) in enumerate(ENDS[model]):
        named = {name: str(ends_of(name)[at]) for name in rows}
        kept = MigratedRow.objects.filter(target_table=end._meta.db_table, target_id__in=set(named.values()))
        came = {row.target_id: row for row in kept}
        there = {str(pk) for pk in end._default_manager.filter(pk__in=came).values_list("pk", flat=True)}
        gone = departures(end._meta.db_table, end, {key: row for key, row in came.items() if key not in there})
        found |= {name: Since(gone[key].code, f"with an end of it: {gone[key].what}")
                  for name, key in named.items() if key in gone}  # fmt: skip
    owners = owner_of_links(model, rows)
    told = {name for each in {table, *_retold(table)} for name in last_told(each, set(owners.values()))}
    since = Since(REMOVED, "the audit log tells of a change of filing")
    return {**{name: since for name, owner in owners.items() if owner in told}, **found}


def _retold(table: str) -> tuple[str, ...]:
    """Other tables under which the audit log tells of such links: a topic is told of with its tags."""
    return ("research_topics",) if table == "research_topic_tags" else ()


def _under(receipt: UUID) -> str:
    return f"receipt {receipt}"
