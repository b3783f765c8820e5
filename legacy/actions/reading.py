"""The actions that tell what moving in did."""

from __future__ import annotations

from kernel.actions import Action, Target, register
from kernel.context import Right
from legacy.contracts.reading import (
    GetMigrationInput,
    GetMigrationResult,
    ListMigratedRowsInput,
    ListMigratedRowsResult,
)
from legacy.selectors.reading import migrated_rows, migration

GET_MIGRATION = register(
    Action(
        "get_migration",
        "The last runs that moved the older system's data in, and what the last validation found.",
        GetMigrationInput,
        GetMigrationResult,
        Right.OPERATE,
        lambda given, ctx: Target(None),
        lambda given, ctx: migration(),
    )
)

LIST_MIGRATED_ROWS = register(
    Action(
        "list_migrated_rows",
        "What became of each row of the older system: moved, quarantined with its content and reason, or left out.",
        ListMigratedRowsInput,
        ListMigratedRowsResult,
        Right.OPERATE,
        lambda given, ctx: Target(None),
        lambda given, ctx: migrated_rows(given),
        resource="migrated_rows",
    )
)
