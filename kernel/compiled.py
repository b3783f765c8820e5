"""Queries that are run over and over in one shape: Django writes their SQL once in a process, a run gives the values.

To build a queryset and to write its SQL costs several times what the database needs to answer a small read. What is
compiled is an ordinary queryset, with its isolation predicate in it, that has `Given` wherever a value will stand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet, Value
from django.db.models.sql.compiler import SQLCompiler

from kernel import db

Row = TypeVar("Row")
Instance = TypeVar("Instance", bound=Model)


class Given(Value):
    """Where a compiled query takes the value of that name. With the lookup `among` the value is a collection."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:
        """A place in the statement; what stands there until the run is this object itself."""
        return "%s", [self]


@dataclass(frozen=True, slots=True)
class _Written:
    """A query as it is sent: its SQL, the names of its values in order, and for columns that need it how to read them."""

    sql: str
    places: tuple[str, ...]
    readers: tuple[tuple[int, tuple[Callable[..., Any], ...], Any], ...]
    reading: BaseDatabaseWrapper


class Compiled(Generic[Row]):
    """One query of a fixed shape, called with its values by name."""

    def __init__(
        self, build: Callable[..., QuerySet[Any, Any]], row: Callable[..., Row], names: Iterable[str] = ()
    ) -> None:
        """`names` are those of the values, where the parameters of `build` do not tell them."""
        self._build = build
        self._row = row
        self._names = frozenset(names or inspect.signature(build).parameters)
        self._written: dict[str, _Written] = {}
        self.__doc__ = build.__doc__

    def __call__(self, **values: Any) -> list[Row]:
        """The rows, each made by `row` from its columns. No value may be None, for nothing equals NULL."""
        engine = db.engine()
        written = self._written.get(engine)
        if written is None:
            written = self._written[engine] = self._write()
        if values.keys() != self._names:
            raise TypeError(f"The query takes {', '.join(sorted(self._names))}, not {', '.join(sorted(values))}.")
        params = [db.as_parameter(values[name]) for name in written.places]
        with db.repeated_cursor() as cursor:
            cursor.execute(written.sql, params)
            rows = cursor.fetchall()
        make = self._row
        if written.readers:
            return [make(*_read(row, written)) for row in rows]
        return rows if make is tuple_of else [make(*row) for row in rows]

    def _write(self) -> _Written:
        query = self._build(**{name: Given(name) for name in self._names}).query
        compiler = query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        # Columns are read with the help of a connection; this one is never opened, so that none is held on to.
        reading = connection.copy()
        columns = [each[0] for each in compiler.select[: compiler.col_count]]
        readers = query.get_compiler(connection=reading).get_converters(columns)
        sql, places = _fixed(sql, params)
        return _Written(
            sql, places, tuple((at, tuple(steps), column) for at, (steps, column) in readers.items()), reading
        )


def _fixed(sql: str, params: Sequence[Any]) -> tuple[str, tuple[str, ...]]:
    """The SQL with what is the same in every run written into it, so that a plan made for good rests on it."""
    first, *rest = sql.split("%s")
    fixed = first
    for part, after in zip(params, rest, strict=True):
        fixed += ("%s" if isinstance(part, Given) else db.literal(part)) + after
    return fixed, tuple(part.name for part in params if isinstance(part, Given))


def _read(row: tuple[Any, ...], written: _Written) -> list[Any]:
    columns = list(row)
    for at, steps, column in written.readers:
        value = columns[at]
        for step in steps:
            value = step(value, column, written.reading)
        columns[at] = value
    return columns


def compiled(row: Callable[..., Row]) -> Callable[[Callable[..., QuerySet[Any, Any]]], Compiled[Row]]:
    """Compile the queryset that a function builds from its parameters; it has to end in `values_list`.

    The function is called once, with a `Given` for each parameter, so nothing else in it may change from run to run:
    no moment, no setting, no choice by a parameter.
    """
    return lambda build: Compiled(build, row)


def tuple_of(*columns: Any) -> tuple[Any, ...]:
    """A row as the plain tuple of its columns."""
    return columns


def instances(model: type[Instance], columns: Sequence[str]) -> Callable[..., Instance]:
    """Makes instances of rows of `values_list(*columns)`; a column that is left out is read when it is asked for.

    Raises ValueError unless the columns come in the model's own order.
    """
    own = model._meta.concrete_fields
    if tuple(field.attname for field in own if field.attname in columns) != tuple(columns):
        raise ValueError(f"The columns of {model.__name__} must be its own, in its own order.")
    return lambda *values: model.from_db(connection.alias, columns, values)
