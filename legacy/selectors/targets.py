"""Rows here by the name that the records of moving in give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Model

from legacy.contracts.rows import as_uuid
from media.models import SectionTag, SourceSection, Tag, Topic, TopicSection, TopicTag
from scopes.models import Domain, MemoryScope

# What joins two rows is named by both: the 32 hexadecimal digits of each, in the order of its primary key.
ENDS: dict[type[Model], tuple[tuple[str, type[Model]], tuple[str, type[Model]]]] = {
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
    if model in ENDS:
        return _pairs(model, set(names))
    known = [pk for pk in map(as_uuid, names) if pk is not None]
    field = "id" if model is MemoryScope else "pk"
    return {name_of(row): row for row in rows.filter(**{f"{field}__in": known})}


def name_of(row: Any) -> str:
    """How a row here is named as a target."""
    if type(row) in ENDS:
        return "".join(getattr(row, field).hex for field, _ in ENDS[type(row)])
    return str(row.id if isinstance(row, MemoryScope) else row.pk)


def _pairs(model: type[Model], names: Collection[str]) -> dict[str, Any]:
    (field, _), _ = ENDS[model]
    ones = {name[:_DIGITS] for name in names}
    rows = model._default_manager.filter(**{f"{field}__in": [each for each in ones if len(each) == _DIGITS]})
    return {name: row for row in rows if (name := name_of(row)) in names}


def ends_of(name: str) -> tuple[UUID, UUID]:
    """The rows that a link joins, from its name."""
    return UUID(name[:_DIGITS]), UUID(name[_DIGITS:])


def owner_of_links(model: type[Model], names: Collection[str]) -> dict[str, str]:
    """Under which id a change of each of these links is told: that of its document or topic, as far as that is here."""
    (_, one), _ = ENDS[model]
    column = "document_id" if one is SourceSection else "pk"
    rows = one._default_manager.filter(pk__in={ends_of(name)[0] for name in names}).values_list("pk", column)
    owners = {pk: str(owner) for pk, owner in rows}
    return {name: owners[first] for name in names if (first := ends_of(name)[0]) in owners}
