"""Lists that stay fast on large tables: they look one row ahead and never count the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.admin.options import IncorrectLookupParameters
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.views import ChangeList

from kernel.text import show_invisible

COUNT_TO = 1000
LAST_PAGE = 100_000
FOUND = "smartbrain.found"  # where a request keeps what its search found


def as_uuid(text: str) -> UUID | None:
    """The UUID that a search term is, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None


def bounded_count(rows: QuerySet[Any]) -> str:
    """How many rows there are, looking at a thousand at most."""
    found = rows.order_by().values("pk")[: COUNT_TO + 1].count()
    return f"at least {COUNT_TO}" if found > COUNT_TO else str(found)


@dataclass(frozen=True, slots=True)
class Matches:
    """What the search box of a page found: ids of rows, which the list then shows in that order, or any condition, which
    leaves the order of the page; and what is to be said of it on the page."""

    rows: Sequence[UUID] | Q
    told: Sequence[str] = ()

    def of(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the rows that were found."""
        return rows.filter(self.rows if isinstance(self.rows, Q) else Q(pk__in=self.rows))

    def page(self, rows: QuerySet[Any], start: int, end: int) -> list[Any]:
        """The rows found from one place to another, of those that `of` gave."""
        if isinstance(self.rows, Q):
            return list(rows[start:end])
        wanted = self.rows[start:end]
        found = {row.pk: row for row in rows.filter(pk__in=wanted)} if wanted else {}
        return [found[pk] for pk in wanted if pk in found]


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Pages of an autocompletion: it never counts past a thousand rows."""

    @cached_property
    def count(self) -> int:
        """How many rows there are, a thousand at most."""
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[:COUNT_TO].count())


class LookAheadList(ChangeList):  # type: ignore[misc]
    """A page of rows that reads one row more than it shows instead of counting the table; its order is fixed. `tabbed` is
    the parameter of the one filter that the page shows as tabs."""

    tabbed = ""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        """The one order of the page, whatever the address asks for."""
        return list(self.model_admin.get_ordering(request))

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """The rows that fit the address; one that no text column can hold is refused."""
        if any("\x00" in str(value) for value in self.params.values()) or not 1 <= self.page_num <= LAST_PAGE:
            raise IncorrectLookupParameters
        rows: QuerySet[Any] = super().get_queryset(request, exclude_parameters)
        return rows.defer(*self.model_admin.on_page_only) if self.model_admin.on_page_only else rows

    def get_results(self, request: HttpRequest) -> None:
        """Read the page's rows."""
        start = (self.page_num - 1) * self.list_per_page
        found: Matches = request.META.get(FOUND) or Matches(Q())
        rows = found.page(self.queryset, start, start + self.list_per_page + 1)
        self.has_next = len(rows) > self.list_per_page
        self.result_list = self.model_admin.looked_at(rows[: self.list_per_page], request)
        self.told = found.told
        self.result_count = start + len(self.result_list)
        self.full_result_count = None
        self.show_all = self.can_show_all = False
        self.multi_page = self.has_next or self.page_num > 1
        self.paginator = self.model_admin.get_paginator(request, rows, self.list_per_page)

    @property
    def first_number(self) -> int:
        """The place of the page's first row."""
        return (int(self.page_num) - 1) * int(self.list_per_page) + 1

    @property
    def at_least(self) -> int:
        """How many rows there are for sure."""
        return int(self.result_count) + int(self.has_next)

    @property
    def previous_number(self) -> int:
        """The page before."""
        return int(self.page_num) - 1

    @property
    def next_number(self) -> int:
        """The page after."""
        return int(self.page_num) + 1

    @property
    def narrowed(self) -> list[tuple[str, str, str]]:
        """What the address narrows the rows to and no filter on the page tells: parameter, label and value."""
        filters = {getattr(each, "parameter_name", "") for each in self.filter_specs}
        found = []
        for name, value in self.params.items():
            column = name.removesuffix("__exact").removesuffix("__id")
            if column in self.model_admin.narrow_by and column not in filters:
                found.append((name, column.replace("_", " "), show_invisible(str(value))))
        return found
