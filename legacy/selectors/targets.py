"""Rows here by the name that the records of moving in give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db.models import Model

from governance.selectors.audit import on_record
from legacy.contracts.rows import as_uuid
from media.models import SectionTag, SourceSection, Tag, Topic, TopicSection, TopicTag
from scopes.models import Domain, MemoryScope

# What joins two rows is named by both: the 32 hexadecimal digits of each, in the order of its primary key.
_ENDS: dict[type[Model], tuple[tuple[str, type[Model]], tuple[str, type[Model]]]] = {
    SectionTag: (("section_id", SourceSection), ("tag_id", Tag)),
    TopicSection: (("topic_id", Topic), ("section_id", SourceSection)),
    TopicTag: (("topic_id", Topic), ("tag_id", Tag)),
}
_DIGITS = 32


def targets(model: type[Model], names: Iterable[str], related: Sequence[str] = ()) -> dict[str, Any]:
    """The rows of these names that are here; `related` are fetched with them."""
    rows = model._default_manager.select_related(*related)
    if model is Domain:
        return dict(rows.in_bulk(list(names)).items())
    if model in _ENDS:
        return _pairs(model, set(names))
    known = [pk for pk in map(as_uuid, names) if pk is not None]
    field = "id" if model is MemoryScope else "pk"
    return {name_of(row): row for row in rows.filter(**{f"{field}__in": known})}


def name_of(row: Any) -> str:
    """How a row here is named as a target."""
    if type(row) in _ENDS:
        return "".join(getattr(row, field).hex for field, _ in _ENDS[type(row)])
    return str(row.id if isinstance(row, MemoryScope) else row.pk)


def _pairs(model: type[Model], names: Collection[str]) -> dict[str, Any]:
    (field, _), _ = _ENDS[model]
    ones = {name[:_DIGITS] for name in names}
    rows = model._default_manager.filter(**{f"{field}__in": [each for each in ones if len(each) == _DIGITS]})
    return {name: row for row in rows if (name := name_of(row)) in names}


def gone_with_an_end(table: str, model: type[Model], gone: Collection[str]) -> set[str]:
    """Of missing links those of which an end is gone too, or which the audit log tells of: it keeps a change of filing
    under the document or the topic."""
    if model not in _ENDS:
        return set()
    (_, one), (_, other) = _ENDS[model]
    owners = _owners(one, {name[:_DIGITS] for name in gone})
    others = _owners(other, {name[_DIGITS:] for name in gone})
    told = on_record(table, set(owners.values())) | on_record(one._meta.db_table, set(owners.values()))
    return {
        name
        for name in gone
        if name[:_DIGITS] not in owners or name[_DIGITS:] not in others or owners[name[:_DIGITS]] in told
    }


def _owners(model: type[Model], digits: Collection[str]) -> dict[str, str]:
    """The ends that are here, each with the id under which a change of its links is told."""
    column = "document_id" if model is SourceSection else "pk"
    rows = model._default_manager.filter(pk__in=list(digits)).values_list("pk", column)
    return {pk.hex: str(owner) for pk, owner in rows}
