"""Rows by the statement: stretches of values that one takes, and inserting rows of which every column is known, one
statement a table, without Django writing it anew each time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Field, ForeignKey, Model

from kernel import db

T = TypeVar("T")

# SQLite takes 32,766 values in a statement, PostgreSQL 65,535.
_MAX_VALUES = 30_000
# Of these fields a value of this very type is as the driver takes it, or `db.as_parameter` makes it so.
_PLAIN: dict[str, type] = {
    "CharField": str,
    "TextField": str,
    "BooleanField": bool,
    "FloatField": float,
    "IntegerField": int,
    "BigIntegerField": int,
    "PositiveIntegerField": int,
    "PositiveBigIntegerField": int,
    "PositiveSmallIntegerField": int,
    "AutoField": int,
    "BigAutoField": int,
    "UUIDField": UUID,
    "DateTimeField": datetime,
}


@dataclass(frozen=True, slots=True)
class _Column:
    """A column to fill. A value of type `plain` needs no help of its field."""

    name: str
    field: Field[Any, Any]
    plain: type | None


@dataclass(frozen=True, slots=True)
class _Table:
    """What an INSERT into a table begins with, its columns, and the one in which the database numbers the rows."""

    head: str
    columns: tuple[_Column, ...]
    types: tuple[str, ...]
    number: str | None


def batches(values: Collection[T], size: int = 500) -> Iterator[list[T]]:
    """The values in the order in which they are given, in stretches that a statement can take. Who locks rows by them
    gives them sorted, so that no two wait for each other."""
    ordered = list(values)
    return (ordered[start : start + size] for start in range(0, len(ordered), size))


def insert(rows: Sequence[Model], *, known: bool = False) -> None:
    """Insert rows of one model; those whose number the database gives know it afterwards.

    `known`: a row that breaks a constraint because it is there already is passed over, and no row gets a number.
    Otherwise raises IntegrityError, and then none of a batch is there.
    """
    if not rows:
        return
    connection = connections[DEFAULT_DB_ALIAS]  # the connection itself: every look through Django's proxy costs
    table = _table(type(rows[0]), db.engine())
    size = _MAX_VALUES // len(table.columns)
    for start in range(0, len(rows), size):
        _insert(rows[start : start + size], table, connection, known=known)


@cache
def _table(model: type[Model], _engine: str) -> _Table:
    options = model._meta
    connection = connections[DEFAULT_DB_ALIAS]
    quoted = connection.ops.quote_name
    number = options.pk.column if isinstance(options.pk, AutoField) else None
    fields = [field for field in options.concrete_fields if field.column != number]
    names = ", ".join(quoted(str(field.column)) for field in fields)
    return _Table(
        f"INSERT INTO {quoted(options.db_table)} ({names}) ",
        tuple(_Column(field.attname, field, _PLAIN.get(_target(field).get_internal_type())) for field in fields),
        tuple(str(field.db_type(connection)) for field in fields),
        quoted(number) if number else None,
    )


def _target(field: Field[Any, Any]) -> Field[Any, Any]:
    while isinstance(field, ForeignKey):
        field = field.target_field
    return field


def _insert(rows: Sequence[Model], table: _Table, connection: BaseDatabaseWrapper, *, known: bool) -> None:
    number = None if known else table.number
    ending = " ON CONFLICT DO NOTHING" if known else f" RETURNING {number}" if number else ""
    source, values = db.values_of(table.types, [_values(row, table, connection) for row in rows])
    with db.repeated_cursor() as cursor:
        cursor.execute(f"{table.head}{source}{ending}", values)
        if number:
            for row, (given,) in zip(rows, cursor.fetchall(), strict=True):
                row.pk = given
    for row in rows:
        row._state.adding = False  # noqa: SLF001  Django documents it


def _values(row: Model, table: _Table, connection: BaseDatabaseWrapper) -> list[Any]:
    """The values of a row as the driver takes them."""
    held, values = vars(row), []
    for column in table.columns:
        value = held[column.name]
        if value is not None and type(value) is not column.plain:
            value = column.field.get_db_prep_save(value, connection)
        elif column.plain is UUID or column.plain is datetime:
            value = value if value is None else db.as_parameter(value)
        values.append(value)
    return values
