"""The base of every admin page: read-only windows and screens on what the signed-in person may see, fast on large tables."""

from __future__ import annotations

from governance.adminbase.asking import ctx_of, read
from governance.adminbase.cells import Cell, Fact, Table, badge, fact, shown, when
from governance.adminbase.lists import BoundedPaginator, LookAheadList, as_uuid, bounded_count
from governance.adminbase.navigation import (
    GROUPS,
    favicon,
    list_url,
    narrowed_links,
    navigation,
    page_url,
    pages,
    stylesheet,
)
from governance.adminbase.windows import Placed, ReadOnlyAdmin

__all__ = [
    "GROUPS",
    "BoundedPaginator",
    "Cell",
    "Fact",
    "LookAheadList",
    "Placed",
    "ReadOnlyAdmin",
    "Table",
    "as_uuid",
    "badge",
    "bounded_count",
    "ctx_of",
    "fact",
    "favicon",
    "list_url",
    "narrowed_links",
    "navigation",
    "page_url",
    "pages",
    "read",
    "shown",
    "stylesheet",
    "when",
]
