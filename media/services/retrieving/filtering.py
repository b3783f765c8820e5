"""The filters of a plan, query by query, as they are applied and as they are told."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from pydantic import JsonValue

from media.contracts.kinds import MediaType, SourceType
from media.contracts.retrieval import GlobalFilters, PlanQuery, RetrievalPlan
from media.selectors.retrieving import Reading

_WORDS = {"media_type": tuple(MediaType), "source_type": tuple(SourceType)}
_IDS = ("document_ids", "tag_ids", "topic_ids")


def filters_of(plan: RetrievalPlan, query: PlanQuery | None = None) -> GlobalFilters:
    """Each filter from where it is given first: the query, `filters`, `global_filters`. An empty one is none, since a
    plan that came over the wire has them all."""
    places = [*([query.filters] if query else []), plan.filters, plan.global_filters]
    found = {}
    for name in GlobalFilters.model_fields:
        found[name] = next((value for place in places if (value := getattr(place, name))), getattr(places[-1], name))
    return GlobalFilters.model_construct(**found)


def told(filters: GlobalFilters) -> dict[str, JsonValue]:
    """The filters that are there, as plain JSON."""
    given = filters.model_dump(mode="json")
    return {name: value for name, value in given.items() if value}


def applied(reading: Reading, plan: RetrievalPlan, asked: Mapping[int, GlobalFilters]) -> dict[str, JsonValue]:
    """What was really applied: the domain, the scopes that the caller named, the filters that all queries share, and under
    `queries` all those of a query, by its place, that has others too."""
    each = [told(given) for given in asked.values()] or [told(filters_of(plan))]
    common = {name: value for name, value in each[0].items() if all(one.get(name) == value for one in each)}
    other: dict[str, JsonValue] = {str(at): own for at, given in asked.items() if (own := told(given)) != common}
    scopes: dict[str, JsonValue] = {"scopes": list(reading.names)} if reading.named else {}
    return {"domain_id": reading.domain_id, **scopes, **common, **({"queries": other} if other else {})}


def strange_ids(filters: GlobalFilters) -> list[str]:
    """A warning for each filter of ids that holds one which is none of ours: nothing has it."""
    return [
        f"{name}: {text[:80]!r} is no id of this store"
        for name in _IDS
        for text in getattr(filters, name)
        if not _is_uuid(text)
    ]


def strange_words(filters: GlobalFilters) -> list[str]:
    """A warning for each filter of a closed list that holds a word which is not on it: no document has it."""
    return [
        f"{name}: {text[:80]!r} is none of {', '.join(known)}"
        for name, known in _WORDS.items()
        for text in getattr(filters, name)
        if text not in known
    ]


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
