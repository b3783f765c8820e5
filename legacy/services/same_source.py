"""Rows are remembered by table and id: a table is taken from one database and for one owner, or the run is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kernel.context import Actor
from kernel.errors import ConflictError
from legacy.models import MigratedRow, MigrationRun
from legacy.source import Source


def origins(source: Source, tables: Collection[str]) -> dict[str, str]:
    """The database and schema of each of these tables that has rows there."""
    return {table: source.origin(table) for table in tables if source.any(table)}


def refuse_another(read: Mapping[str, str], owner: Actor, *, same_source: bool) -> None:
    """Raise ConflictError where rows of one of these tables came from another database, unless this is `same_source`, or
    were taken for another owner. Runs that did not note where they read are not held against anything."""
    for table, (origin, owner_id, name) in _before(read).items():
        if owner_id != owner.id:
            raise ConflictError(
                f"An earlier run took rows of {table} for another principal than {owner.name!r}: name the same --owner, "
                "or move in to an installation that is empty."
            )
        if origin != read[table] and not same_source:
            raise ConflictError(
                f"Rows of {table} came from another database before ({name}): rows of this one with the same ids would "
                "be taken for those. Move it in to an installation of its own; where this is a restored copy of that "
                "database, say --same-source."
            )


def taken_from(source: Source) -> set[str]:
    """The tables of which rows were last taken from this database."""
    tables = set(MigratedRow.objects.order_by().values_list("source_table", flat=True).distinct())
    return {table for table, (origin, _, _) in _before(tables).items() if source.is_of(origin)}


def _before(tables: Collection[str]) -> dict[str, tuple[str, str, str]]:
    """Of tables with remembered rows the last run that read them: where it read, its owner, and how its source is called."""
    found: dict[str, tuple[str, str, str]] = {}
    for run in MigrationRun.objects.order_by("pk").only("origins", "owner_id", "source"):
        found |= {table: (run.origins[table], run.owner_id, run.source) for table in run.origins if table in tables}
    return {table: told for table, told in found.items() if MigratedRow.objects.filter(source_table=table).exists()}
