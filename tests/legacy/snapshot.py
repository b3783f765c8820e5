"""The whole content of the target in one comparable value."""

from __future__ import annotations

import hashlib
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Sum

from legacy.models import MigratedRow
from memory.models import MemoryItem, Turn
from search.models import ScopeSize

# What says that a run took place, and what is queued for later: these may grow by a run that changes nothing.
OF_RUNS = frozenset(
    {
        "migration_runs",
        "audit_objects",
        "audit_entries",
        "audit_seals",
        "django_q_ormq",
        "django_q_schedule",
        "django_q_task",
    }
)
FIRST_PARTY = ("scopes", "governance", "search", "media", "memory", "legacy")


def snapshot(without: frozenset[str] = frozenset()) -> dict[str, tuple[int, str]]:
    """Rows and a digest of every table of ours that a run could change; `without` are columns to leave out."""
    found = {}
    with connection.cursor() as cursor:
        for name in _tables():
            cursor.execute(f'SELECT * FROM "{name}"')
            columns = [column[0] for column in cursor.description]
            keep = [at for at, column in enumerate(columns) if column not in without]
            lines = sorted(repr([row[at] for at in keep]) for row in cursor.fetchall())
            found[name] = (len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest())
    return found


def _tables() -> list[str]:
    models: list[Any] = [m for app in apps.get_app_configs() if app.name in FIRST_PARTY for m in app.get_models()]
    return sorted({model._meta.db_table for model in models} - OF_RUNS)


def shape() -> dict[str, object]:
    """What the target holds, without ids and times that every run makes anew: rows of each table, and what became of each
    row of the source."""
    told = MigratedRow.objects.order_by("source_table", "source_id")
    items = MemoryItem.objects.order_by("type", "key", "content_hash", "status")
    sizes = ScopeSize.objects.values("scope__scope_type", "scope__external_id").annotate(
        n=Sum("entries"), long=Sum("length")
    )
    return {
        # Sizes of scopes are changes to be added up, and how many rows tell them is chance.
        "rows": {table: count for table, (count, _) in snapshot().items() if table != ScopeSize._meta.db_table},
        "sizes": sorted(map(tuple, sizes.values_list("scope__scope_type", "scope__external_id", "n", "long"))),
        "told": list(told.values_list("source_table", "source_id", "digest", "outcome", "reason", "target_id")),
        "items": list(items.values_list("type", "key", "status", "lifecycle_status", "content_hash", "version")),
        "turns": list(Turn.objects.order_by("session__external_id", "seq").values_list("session__external_id", "seq")),
    }
