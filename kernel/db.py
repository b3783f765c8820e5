"""Every difference between SQLite and PostgreSQL lives in this file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import Error, OperationalError, connection, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import F, Func, Lookup, Q
from django.db.models.functions import Collate, Left
from django.db.models.lookups import Exact, In, StartsWith

Row = TypeVar("Row", bound=models.Model)


@cache
def is_postgres() -> bool:
    """Whether the default database is PostgreSQL: for as long as the process lives."""
    return engine() == "postgresql"


@cache
def engine() -> str:
    """The name of the default database's engine, by which what was made for it is kept."""
    return connection.vendor


def sqlite_options(busy_timeout_seconds: float) -> dict[str, Any]:
    """Connection options for SQLite: write-ahead log, immediate transactions, a busy timeout, enforced foreign keys."""
    return {
        "timeout": busy_timeout_seconds,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }


def postgres_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Connection options for PostgreSQL, where `given` ones of the URL count first; `None` there turns one off.

    A statement that comes again word for word is planned for good the third time. Looking up a row by an index is taken
    for as cheap as it is where the index is in memory: at the default price, which is that of a disk that turns, small
    tables are read from end to end.
    """
    options = {"prepare_threshold": 2, "options": "-c random_page_cost=1.1", **given}
    return {name: None if value == "None" else value for name, value in options.items()}


def is_outage(error: OperationalError) -> bool:
    """Whether the database is busy or out of reach; SQLite says OperationalError for a wrong statement too, PostgreSQL
    for one beyond its limits, which no later attempt makes smaller."""
    if is_postgres():
        return not str(getattr(error.__cause__, "sqlstate", "")).startswith("54")
    return any(sign in str(error) for sign in ("locked", "busy", "unable to open", "disk"))


def ping() -> bool:
    """Whether the database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except Error:
        return False


def unapplied_migrations() -> list[str]:
    """The migrations that this code has and the database lacks, as `app.name`, in order. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def byte_order(column: str) -> Collate:
    """Text ordered and compared by its bytes, whatever the database's own collation."""
    return Collate(F(column), "C" if is_postgres() else "BINARY")


def starts_with(column: str, prefix: str) -> Q:
    """Rows whose text begins with just this one, letter by letter: LIKE on SQLite takes capitals for small letters."""
    return Q(Exact(Left(F(column), len(prefix)), prefix)) if prefix else Q()


class JSONField(models.JSONField):
    """JSON that reads back alike from both databases.

    PostgreSQL keeps the members of an object by the length of their names, then by their bytes, and numbers as decimals
    without exponent or negative zero; SQLite is given the same. To migrations it is Django's own field.
    """

    def deconstruct(self) -> Any:
        """As Django's own field: the column is the same."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        """The value as the database takes it."""
        plain = value if connection.vendor == "postgresql" else _as_jsonb(value)
        return super().get_db_prep_value(plain, connection, prepared)


_AS_IS = (str, int)  # values of these very types need no thought, and are most of all


def _as_jsonb(value: Any) -> Any:
    """Plain JSON as PostgreSQL would give it back; anything else as it is."""
    kind = type(value)
    if kind in _AS_IS:
        return value
    if kind is dict or isinstance(value, dict):
        names = sorted(sorted(value), key=len) if "".join(value).isascii() else sorted(value, key=_place_of_name)
        return {name: _as_jsonb(value[name]) for name in names}
    if isinstance(value, (list, tuple)):  # a pair of types is looked through faster than their union
        return [_as_jsonb(inner) for inner in value]
    if isinstance(value, float):
        return int(Decimal(repr(value))) if abs(value) >= 1e16 else value + 0.0
    return value


def _place_of_name(name: str) -> tuple[int, bytes]:
    raw = name.encode("utf-8")
    return len(raw), raw


def check_references() -> None:
    """Raise IntegrityError where a row refers to one that the present transaction deleted. PostgreSQL would say so only
    at its end; SQLite has one writer at a time, so that nobody else can have come to refer to it."""
    if is_postgres():
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C within the block is KeyboardInterrupt, and the next statement opens a new connection unless a transaction stands
    around the block. In the middle of a commit it leaves one that takes no further transaction, and Django's error about
    that hides the interrupt."""
    within = connection.in_atomic_block
    try:
        yield
    except BaseException as exc:
        if not _is_interrupt(exc):
            raise
        if not within:
            _leave_connection()
        raise KeyboardInterrupt from exc


def _leave_connection() -> None:
    left, connection.connection = connection.connection, None
    connection.in_atomic_block = False  # whatever else it holds of a transaction is let go when it connects
    if left is not None:
        left.close()


def _is_interrupt(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction whose every write is undone at the end of the block."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def held_in_place(rows: models.QuerySet[Row]) -> list[Any]:
    """The keys of these rows, none of which is removed before the present transaction ends. Others may hold them too.

    On SQLite nobody else writes meanwhile anyway.
    """
    sql, values = rows.order_by("pk").values_list("pk").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} FOR KEY SHARE" if is_postgres() else sql, values)
        return [rows.model._meta.pk.to_python(key) for (key,) in cursor.fetchall()]


def skipping_locked(rows: models.QuerySet[Row]) -> models.QuerySet[Row]:
    """The rows, locked, without those that another transaction holds: several workers then never wait for each other.

    SQLite has one writer at a time, and no such locks. Whoever takes a row still has to change it conditionally.
    """
    return rows.select_for_update(skip_locked=True) if is_postgres() else rows


class _Unindexed(Func):
    """A column that SQLite shall not choose an index by: without statistics it takes any index for a selective one."""

    template = "%(expressions)s"
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)


class Sha256(Func):
    """The SHA-256 of a text in UTF-8, in hex; null of null."""

    template = "SHA256(%(expressions)s)"  # which Django gives to SQLite
    arity = 1
    output_field = models.CharField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
        return self.as_sql(compiler, connection, template=template, **context)


_AMONG = {"postgresql": "{} = ANY({})", "sqlite": "{} IN (SELECT value FROM json_each({}))"}


@models.ForeignObject.register_lookup
@models.Field.register_lookup
class Among(In):
    """`column__among`: one of a collection that is a single value of the statement, so that its text is the same
    however many there are. For compiled queries; with values that are there already it is `in`."""

    lookup_name = "among"

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        if self.rhs_is_direct_value():
            return super().as_sql(compiler, connection)
        column, params = self.process_lhs(compiler, connection)
        place, values = self.process_rhs(compiler, connection)
        return _AMONG[connection.vendor].format(column, place), [*params, *values]


_BEGINS_ALIKE = {"postgresql": '{} COLLATE "C" ILIKE {}', "sqlite": r"{} LIKE {} ESCAPE '\'"}


@models.Field.register_lookup
class BeginsAlike(StartsWith):
    """`column__begins_alike`: text that begins so, ASCII letters in any case and all others just as they are. It is what
    LIKE does on SQLite; PostgreSQL takes it from the "C" collation, for any other knows further letters."""

    lookup_name = "begins_alike"

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        column, params = self.process_lhs(compiler, connection)
        beginning, values = self.process_rhs(compiler, connection)
        return _BEGINS_ALIKE[connection.vendor].format(column, beginning), [*params, *values]


_LOOKUPS: dict[str, type[Lookup[Any]]] = {"": Exact, "in": In, "among": Among}


def checked(**wanted: Any) -> list[Lookup[Any]]:
    """Predicates that every row is held to, but by which no row is looked for: `column=value` or `column__in=values`.

    For what is found by a better index and must lie in the caller's domain and scopes as well.
    """
    predicates: list[Lookup[Any]] = []
    for name, value in wanted.items():
        column, _, how = name.partition("__")
        predicates.append(_LOOKUPS[how](_Unindexed(F(column)), list(value) if how == "in" else value))
    return predicates


def as_parameter(value: Any) -> Any:
    """A value of a compiled query as the driver takes it: what a field of Django's does where it knows the column."""
    if isinstance(value, str | int):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, UUID):
        return value if is_postgres() else value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, Collection):
        each = [one if type(one) in _AS_IS else as_parameter(one) for one in value]
        return _as_array(each) if is_postgres() else json.dumps(each)
    raise TypeError(f"A compiled query takes no {type(value).__name__}.")


def _as_array(values: list[Any]) -> Any:
    """A list for PostgreSQL: numbers and ids already written as it reads them, which is quick and of no type of its own."""
    if set(map(type, values)) <= _WRITTEN:  # looking at each value for itself costs more than all the rest
        return "{" + ",".join(map(str, values)) + "}"
    return values


_FEW = 12
_WRITTEN = {int, UUID}
_UNNESTED = "SELECT * FROM unnest({})"


def values_of(types: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[str, list[Any]]:
    """Rows as what an INSERT takes after its columns of these types, with the values for it. For many rows PostgreSQL
    gets each column as one value, so that the text is the same however many there are."""
    if len(rows) <= _FEW or not is_postgres():
        places = f"({', '.join(['%s'] * len(types))})"
        return "VALUES " + ", ".join([places] * len(rows)), [value for row in rows for value in row]
    arrays = ", ".join(f"%s::{kind.partition('(')[0]}[]" for kind in types)  # its length would cut a value short
    return _UNNESTED.format(arrays), [_as_array(list(column)) for column in zip(*rows, strict=True)]


def literal(value: Any) -> str:
    """A constant as it stands in the text of a statement that is run with values."""
    if is_postgres():
        from psycopg import ClientCursor  # noqa: PLC0415  SQLite does without

        with connection.cursor() as cursor:
            text = ClientCursor(cursor.connection).mogrify("%s", [value])
    else:
        text = str(int(value)) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
    return text.replace("%", "%%")


def repeated_cursor() -> CursorWrapper:
    """A cursor for statements that come again word for word: PostgreSQL parses and plans such a one a few times on a
    connection and then keeps it."""
    wrapper = connection.cursor()
    if is_postgres():
        from psycopg import Cursor  # noqa: PLC0415  SQLite does without

        wrapper.cursor = Cursor(connection.connection)  # Django's own writes values into the text, new each time
    return wrapper


def count_up(model: type[models.Model], rows: Sequence[tuple[str, str, str, int, int]]) -> dict[tuple[str, str], int]:
    """Add amounts to counters in one statement, and what each then holds, by actor and kind.

    A row is (domain, actor, kind, span, amount); the model has these columns and its key over the first three, with
    `used` for the amount. In a later span than the stored one a counter begins at nothing again. Both databases take
    the same statement; each row's lock is held until the present transaction ends.
    """
    table = connection.ops.quote_name(model._meta.db_table)
    places = ", ".join(["(%s, %s, %s, %s, %s)"] * len(rows))
    sql = (
        f"INSERT INTO {table} (domain, actor, kind, span, used) VALUES {places} "  # noqa: S608  names are ours
        "ON CONFLICT (domain, actor, kind) DO UPDATE SET "
        f"used = CASE WHEN {table}.span < excluded.span THEN excluded.used ELSE {table}.used + excluded.used END, "
        f"span = CASE WHEN {table}.span < excluded.span THEN excluded.span ELSE {table}.span END "
        "RETURNING actor, kind, used"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [value for row in sorted(rows) for value in row])
        return {(actor, kind): used for actor, kind, used in cursor.fetchall()}
