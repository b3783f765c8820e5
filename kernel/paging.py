"""Cursors: an opaque place in a stable order, bound to the filters it was given for."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from django.db.models import F, Model, QuerySet

from kernel.canonical import canonical_json, digest
from kernel.contracts import PageInput
from kernel.db import byte_order
from kernel.errors import InvalidInputError
from kernel.wire import check_tree

Row = TypeVar("Row", bound=Model)


def filters_digest(given: PageInput) -> str:
    """Names the filters of a list call, whatever its page."""
    return digest(given.model_dump(mode="json", exclude={"cursor", "limit"}))[:16]


def encode(place: Sequence[Any], given: PageInput) -> str:
    """A cursor for the row at `place` (plain JSON values of the sort columns, the last one unique)."""
    raw = canonical_json([filters_digest(given), *place]).encode("utf-8")
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def decode(given: PageInput, size: int) -> list[Any] | None:
    """The place that the call's cursor names, or None for the first page.

    Raises InvalidInputError for a cursor that is not ours or was given for other filters.
    """
    if given.cursor is None:
        return None
    try:
        raw = base64.b64decode(given.cursor + "=" * (-len(given.cursor) % 4), altchars=b"-_", validate=True)
        place = json.loads(raw.decode("utf-8"))
        check_tree(place)
    except (ValueError, binascii.Error, RecursionError, InvalidInputError) as exc:
        raise bad_cursor() from exc
    if not isinstance(place, list) or len(place) != size + 1 or not all(isinstance(part, str) for part in place):
        raise bad_cursor()
    if place[0] != filters_digest(given):
        raise bad_cursor("cursor was given for other filters: start again without it")
    return place[1:]


def page(
    rows: QuerySet[Row], given: PageInput, column: str, read: Callable[[str], Any], *, newest_first: bool = False
) -> tuple[list[Row], str | None]:
    """One page of `rows` in the order of the unique `column`, and the cursor of the next page or None at the end.

    `read` turns the text in a cursor back into a value of the column, raising ValueError for nonsense; text columns
    (`read` is str) are ordered by their bytes.
    """
    place = decode(given, 1)
    rows = cast("QuerySet[Row]", rows.alias(page_place=byte_order(column) if read is str else F(column)))
    if place is not None:
        try:
            value = read(place[0])
        except ValueError as exc:
            raise bad_cursor() from exc
        rows = rows.filter(page_place__lt=value) if newest_first else rows.filter(page_place__gt=value)
    found = list(rows.order_by("-page_place" if newest_first else "page_place")[: given.limit + 1])
    if len(found) <= given.limit:
        return found, None
    found = found[: given.limit]
    return found, encode([str(getattr(found[-1], column))], given)


def bad_cursor(message: str = "cursor is not one of ours: send `next_cursor` of the page before") -> InvalidInputError:
    """The error for a cursor that cannot be used."""
    return InvalidInputError(message, errors=[{"loc": ["cursor"], "msg": message, "type": "cursor"}])
