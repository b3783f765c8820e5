"""Inserting rows of which every column is known: one statement a table, without Django writing it anew each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import AutoField, Field, Model

from kernel import db

# SQLite takes 32,766 values in a statement, PostgreSQL 65,535.
_MAX_VALUES = 30_000


def insert(rows: Sequence[Model], *, known: bool = False) -> None:
    """Insert rows of one model; those whose number the database gives know it afterwards.

    `known`: a row that breaks a constraint because it is there already is passed over, and no row gets a number.
    Otherwise raises IntegrityError, and then none of a batch is there.
    """
    if not rows:
        return
    fields, number = _columns(type(rows[0]))
    size = _MAX_VALUES // len(fields)
    for start in range(0, len(rows), size):
        _insert(rows[start : start + size], fields, number=number, known=known)


def _columns(model: type[Model]) -> tuple[list[Field[Any, Any]], str | None]:
    """The columns to fill, and the one in which the database numbers the rows, if it does."""
    options = model._meta  # noqa: SLF001  Django documents it
    number = options.pk.column if isinstance(options.pk, AutoField) else None
    return [field for field in options.concrete_fields if field.column != number], number


def _insert(rows: Sequence[Model], fields: Sequence[Field[Any, Any]], *, number: str | None, known: bool) -> None:
    quoted = connection.ops.quote_name
    table = quoted(fields[0].model._meta.db_table)  # noqa: SLF001  Django documents it
    names = ", ".join(quoted(str(field.column)) for field in fields)
    ending = " ON CONFLICT DO NOTHING" if known else f" RETURNING {quoted(number)}" if number else ""
    source, values = db.values_of(
        [str(field.db_type(connection)) for field in fields],
        [[field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields] for row in rows],
    )
    with db.repeated_cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({names}) {source}{ending}", values)
        if number and not known:
            for row, (given,) in zip(rows, cursor.fetchall(), strict=True):
                row.pk = given
    for row in rows:
        row._state.adding = False  # noqa: SLF001  Django documents it
