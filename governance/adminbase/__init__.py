"""The base of every admin page: read-only windows and screens on what the signed-in person may see, fast on large tables."""

from __future__ import annotations

from governance.adminbase.asking import act, act_as_foretold, ctx_of, decide, read
from governance.adminbase.cells import Cell, Fact, Table, badge, fact, place_of, shown, when
from governance.adminbase.lists import BoundedPaginator, LookAheadList, Matches, as_uuid, bounded_count
from governance.adminbase.navigation import (
    GROUPS,
    favicon,
    list_url,
    narrowed_links,
    navigation,
    page_url,
    pages,
    places,
    script,
    stylesheet,
)
from governance.adminbase.screens import Screen, back_to, sent_json, toast, whole
from governance.adminbase.sight import Per, Sight, sight_of
from governance.adminbase.windows import Placed, ReadOnlyAdmin

__all__ = [
    "GROUPS",
    "BoundedPaginator",
    "Cell",
    "Fact",
    "LookAheadList",
    "Matches",
    "Per",
    "Placed",
    "ReadOnlyAdmin",
    "Screen",
    "Sight",
    "Table",
    "act",
    "act_as_foretold",
    "as_uuid",
    "back_to",
    "badge",
    "bounded_count",
    "ctx_of",
    "decide",
    "fact",
    "favicon",
    "list_url",
    "narrowed_links",
    "navigation",
    "page_url",
    "pages",
    "place_of",
    "places",
    "read",
    "script",
    "sent_json",
    "shown",
    "sight_of",
    "stylesheet",
    "toast",
    "when",
    "whole",
]
