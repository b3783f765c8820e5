"""Proposals about memory get the key of what they are like, made from their input."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import migrations

from memory.extensions.alike import alike

AT_ONCE = 200
ABOUT_ITEMS = (
    "promote_to_scope",
    "raise_tier",
    "retract_item",
    "correct_item",
    "narrow_item",
    "demote",
    "demote_from_scope",
)


def rekey(apps: Any, schema_editor: Any) -> None:
    """Decided ones too, for a new one shows what was decided on its like; not what was erased, which has no key."""
    using = schema_editor.connection.alias
    proposals = apps.get_model("governance", "Proposal").objects.using(using)
    actions = ["commit_turn", "write_memory_item", *ABOUT_ITEMS]
    items = apps.get_model("memory", "MemoryItem").objects.using(using).only("statement")
    ids = list(proposals.exclude(similar_key="").filter(action__in=actions).values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        rows = list(proposals.filter(pk__in=ids[start : start + AT_ONCE]).only("action", "input", "similar_key"))
        named = {row.pk: UUID(row.input["memory_item_id"]) for row in rows if row.action in ABOUT_ITEMS}
        found = items.in_bulk(set(named.values()))
        for row in rows:
            item = found.get(named.get(row.pk))
            row.similar_key = alike(row.action, row.input, item.statement if item is not None else "")
        proposals.bulk_update(rows, ["similar_key"])


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0009_recalled_parts"),
        ("governance", "0013_alike"),
    ]

    operations = [migrations.RunPython(rekey, migrations.RunPython.noop, elidable=True)]
