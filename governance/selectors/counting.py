"""Counting several lists at once, none of them further than a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet


def bounded_counts(lists: Sequence[QuerySet[Any]], most: int) -> list[int]:
    """How many rows each list has, looking at `most` + 1 of each, in one statement."""
    parts: list[str] = []
    given: list[Any] = []
    empty: set[int] = set()
    for place, rows in enumerate(lists):
        try:
            sql, params = rows.order_by().values("pk")[: most + 1].query.sql_with_params()
        except EmptyResultSet:
            empty.add(place)
            continue
        parts.append(f"(SELECT COUNT(*) FROM ({sql}) counted_{place})")  # noqa: S608  compiled by the ORM, values apart
        given += params
    found: list[int] = []
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {', '.join(parts)}", given)
            found = list(cursor.fetchone() or ())
    counted = iter(found)
    return [0 if place in empty else next(counted) for place in range(len(lists))]
