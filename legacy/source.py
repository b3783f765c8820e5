"""Reading the older systems' PostgreSQL: one read-only snapshot, rows as text, in constant memory; nothing is ever
written there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg
from psycopg import IsolationLevel, sql
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict

from kernel.errors import InvalidInputError, UnavailableError
from legacy.contracts import SourceRow

FETCH = 32  # rows that the server sends at a time at most,
LENGTH = 4_000_000  # and fewer where they have been so many characters
_SESSION = (
    "SET default_transaction_read_only = on",
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO, YMD'",
    "SET IntervalStyle = 'iso_8601'",
    "SET extra_float_digits = 1",
    "SET bytea_output = 'hex'",
    "SET statement_timeout = 0",
    "SET idle_in_transaction_session_timeout = 0",
    "SET client_encoding = 'UTF8'",
)
# A database of this encoding holds any bytes, and the server refuses to call them UTF-8: they are taken as they are.
ANY_BYTES = "SQL_ASCII"


class _Text(Loader):
    """Text as it is, with bytes that are no UTF-8 escaped, so that a bad row is seen and stops nothing."""

    def load(self, data: Any) -> str:
        return bytes(data).decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the source: its name with schema, its columns in order, and those of its primary key. `plain`: its rows
    lie in it and nowhere else; `view`: they are those of others."""

    name: str
    schema: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    plain: bool
    view: bool

    @property
    def quoted(self) -> sql.Identifier:
        """Its name as it stands in a statement."""
        return sql.Identifier(self.schema, self.name)

    @property
    def named_by(self) -> tuple[str, ...]:
        """The columns that name a row: its primary key, else its `id`, else its first column."""
        return self.key or (("id",) if "id" in self.columns else self.columns[:1])

    @property
    def once(self) -> sql.Composable:
        """Its rows as others are joined to them: of each id one, also where no primary key sees to that."""
        if self.key or not self.columns:
            return self.quoted
        own = sql.Identifier(self.named_by[0])
        query = "(SELECT DISTINCT ON (o.{}) o.* FROM {} o ORDER BY o.{}, md5(o::text))"
        return sql.SQL(query).format(own, self.quoted, own)


class Source:
    """An open snapshot of the source. `tables` are those that were found on its search path, by name."""

    def __init__(self, connection: psycopg.Connection[Any], label: str) -> None:
        self._connection = connection
        self.label = label
        self.tables: Mapping[str, Table] = self._find_tables()
        self._database = self._find_database()
        self._cursors = count(1)

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the source has the table, and in it the column."""
        found = self.tables.get(table)
        return found is not None and (column is None or column in found.columns)

    def count(self, table: str) -> int:
        """How many rows a table has; 0 where it is not there."""
        if table not in self.tables:
            return 0
        query = sql.SQL("SELECT count(*) FROM {}").format(self.tables[table].quoted)
        return int(self._all(query)[0][0])

    def any(self, table: str) -> bool:
        """Whether a table is there and has rows."""
        if table not in self.tables:
            return False
        query = sql.SQL("SELECT EXISTS (SELECT 1 FROM {})").format(self.tables[table].quoted)
        return bool(self._all(query)[0][0])

    def origin(self, table: str) -> str:
        """Which table of which database it is, by whatever address it was reached."""
        return f"{self._database}/{self.tables[table].schema}"

    def is_of(self, origin: str) -> bool:
        """Whether an origin is of this database."""
        return origin.rpartition("/")[0] == self._database

    def rows(
        self,
        table: str,
        *,
        join: str = "",
        places: Sequence[str] = (),
        order: Sequence[str] = (),
        key: Sequence[str] = (),
    ) -> Iterator[SourceRow]:
        """The rows of a table, named `r` in the parts of SQL; nothing where the table is not there.

        They come in the order of `places`, of `order`, and of the primary key compared as bytes. `places` are
        expressions, which each row carries as its `place`; `join` may add further tables, written `{name}`; `key` is the
        primary key where the table does not say it. Where nothing sees to it that an id is there once, a further row of
        the same id has its number behind it, in an order that only the rows themselves decide.
        """
        if table not in self.tables:
            return
        found = self.tables[table]
        keys = tuple(key) or found.named_by
        columns = [sql.SQL("r.{}::text").format(sql.Identifier(name)) for name in found.columns]
        ids = [sql.SQL('r.{}::text COLLATE "C"').format(sql.Identifier(name)) for name in keys]
        query = sql.SQL("SELECT {} FROM {} r {} ORDER BY {}").format(
            sql.SQL(", ").join([*map(sql.SQL, places), *columns, _number(found, keys)]),
            found.quoted,
            sql.SQL(join).format(**{name: each.once for name, each in self.tables.items()}),
            sql.SQL(", ").join([*(sql.SQL(str(n + 1)) for n in range(len(places))), *map(sql.SQL, order), *ids]),
        )
        at = [found.columns.index(name) for name in keys]
        for values in self.stream(query):
            place, texts, repeat = values[: len(places)], values[len(places) : -1], values[-1]
            name = ":".join(texts[n] or "" for n in at) + _behind(repeat)
            yield SourceRow(table, name, dict(zip(found.columns, texts, strict=True)), place, repeat)

    def among(self, table: str, ids: Sequence[str], key: Sequence[str] = ()) -> set[str]:
        """Those of the ids that rows of a table have; `key` as for `rows`. None where the table is not there."""
        if table not in self.tables:
            return set()
        found = self.tables[table]
        keys = tuple(key) or found.named_by
        names = [sql.SQL("r.{}::text").format(sql.Identifier(name)) for name in keys]
        own = sql.SQL(" || ':' || ").join(names)
        if set(keys) != set(found.key):
            own = sql.SQL(" || ':' || ").join(sql.SQL("coalesce({}, '')").format(name) for name in names)
            own = sql.SQL("{} || CASE {} WHEN 1 THEN '' ELSE ' (' || {} || ')' END").format(
                own, _number(found, keys), _number(found, keys)
            )
        query = sql.SQL("SELECT own FROM (SELECT {} AS own FROM {} r) o WHERE own = ANY({})").format(
            own, found.quoted, sql.Literal(list(ids))
        )
        return {text for (text,) in self._all(query)}

    def stream(self, query: sql.Composed) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, a few at a time however many there are."""
        with _said_plainly(), self._connection.cursor(name=f"moving_{next(self._cursors)}") as cursor:
            cursor.execute(query)
            many = 1
            while rows := cursor.fetchmany(many):
                yield from rows
                length = sum(map(_length, rows)) // len(rows)
                many = max(1, min(FETCH, 2 * many, LENGTH // max(length, 1)))

    def unknown_tables(self, known: Collection[str]) -> list[str]:
        """Tables on the search path that nobody here knows; views have no rows of their own."""
        return sorted(name for name, table in self.tables.items() if name not in known and not table.view)

    def values(self, table: str, column: str) -> set[str]:
        """The different texts of a column; none where it is not there."""
        if not self.has(table, column):
            return set()
        query = sql.SQL("SELECT DISTINCT {}::text FROM {}").format(sql.Identifier(column), self.tables[table].quoted)
        return {text for (text,) in self._all(query) if text is not None}

    def unreadable(self, wanted: Sequence[str]) -> list[str]:
        """Those of the wanted tables that may not be read."""
        found = [self.tables[name] for name in wanted if name in self.tables]
        query = sql.SQL("SELECT has_table_privilege({}::text, 'SELECT')")
        names = [f'"{table.schema}"."{table.name}"' for table in found]
        allowed = [bool(self._all(query.format(sql.Literal(name)))[0][0]) for name in names]
        return [table.name for table, may in zip(found, allowed, strict=True) if not may]

    def _find_tables(self) -> dict[str, Table]:
        query = sql.SQL(
            "SELECT n.nspname, c.relname, c.relkind = 'r', c.relkind IN ('v', 'm'), "
            "  array(SELECT a.attname::text FROM pg_attribute a"
            "        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum), "
            "  array(SELECT a.attname::text FROM pg_index i JOIN pg_attribute a"
            "        ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)"
            "        WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY a.attnum) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition "
            "  AND n.nspname = ANY(current_schemas(false)) "
            "ORDER BY array_position(current_schemas(false), n.nspname) DESC"
        )
        return {
            name: Table(name, schema, tuple(columns), tuple(key), plain, view)
            for schema, name, plain, view, columns, key in self._all(query.format())
        }

    def _find_database(self) -> str:
        """The server's own number where it may be read, else its address; and that of the database."""
        try:
            with self._connection.transaction():
                told = self._connection.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone()
        except psycopg.Error:
            told = None
        info = self._connection.info
        (oid,) = self._all(sql.SQL("SELECT oid::text FROM pg_database WHERE datname = current_database()").format())[0]
        return f"{told[0] if told else f'{info.host}:{info.port}'}/{oid}"

    def _all(self, query: sql.Composed) -> list[tuple[Any, ...]]:
        with _said_plainly(), self._connection.cursor() as cursor:
            return cursor.execute(query).fetchall()


def _number(table: Table, keys: Collection[str]) -> sql.Composable:
    """Which of the rows of its id a row is: 1 where a primary key lets there be one only."""
    if set(keys) == set(table.key):
        return sql.SQL("1")
    own = sql.SQL(", ").join(sql.SQL("r.{}").format(sql.Identifier(name)) for name in keys)
    return sql.SQL("row_number() OVER (PARTITION BY {} ORDER BY md5(r::text))::int").format(own)


def _behind(repeat: int) -> str:
    return f" ({repeat})" if repeat > 1 else ""


def _length(values: tuple[Any, ...]) -> int:
    return sum(len(value) for value in values if isinstance(value, str | list))


@contextmanager
def _said_plainly() -> Iterator[None]:
    """What goes wrong at the source is an error that says so."""
    try:
        yield
    except psycopg.Error as exc:
        raise UnavailableError(f"The older database failed: {_without_secrets(exc)}") from exc


@contextmanager
def opened(url: str) -> Iterator[Source]:
    """A snapshot of the database at this address (`postgresql://...`, its options as libpq takes them).

    Raises InvalidInputError for an address that is none, UnavailableError where nobody answers there.
    """
    try:
        conninfo_to_dict(url)
        if not url.startswith(("postgres://", "postgresql://")):
            raise InvalidInputError("--from takes an address that begins with postgresql://.")
        connection = psycopg.connect(url, autocommit=True, application_name="smartbrain migrate_legacy")
    except psycopg.OperationalError as exc:
        raise UnavailableError(f"The older database cannot be reached: {_without_secrets(exc)}") from exc
    except psycopg.ProgrammingError as exc:
        raise InvalidInputError("--from is no address of a PostgreSQL database.") from exc
    try:
        _set_up(connection)
        yield Source(connection, _label(connection))
    finally:
        connection.close()


def _set_up(connection: psycopg.Connection[Any]) -> None:
    for statement in _SESSION:
        connection.execute(statement)
    if connection.info.parameter_status("server_encoding") == ANY_BYTES:
        connection.execute("SET client_encoding = 'SQL_ASCII'")
    connection.autocommit = False
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    for name in ("text", "varchar", "bpchar", "name"):
        connection.adapters.register_loader(connection.adapters.types[name].oid, _Text)


def _label(connection: psycopg.Connection[Any]) -> str:
    info = connection.info
    return f"{info.host}:{info.port}/{info.dbname}"[:300]


def _without_secrets(error: psycopg.Error) -> str:
    """What the server said, on one line; libpq never repeats a password."""
    return " ".join(str(error).split())[:500]
