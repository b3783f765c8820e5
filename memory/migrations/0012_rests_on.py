"""Rejected proposals about memory get the pieces of what they rested on, made from their input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import migrations

from memory.contracts.refs import identity_of
from memory.selectors.refs import pieces_of

AT_ONCE = 200
FIELDS = {
    "promote_to_scope": ("verification_refs",),
    "raise_tier": ("supporting_refs", "verification_refs", "teaching_refs"),
    "write_memory_item": ("evidence_refs",),
}


def refs_of(action: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What an input names as evidence; nothing of one that was erased."""
    told = given.get("item", {}) if action == "write_memory_item" else given
    for field in FIELDS[action]:
        for ref in told.get(field) or ():
            identity = identity_of(ref)
            if identity is not None:
                yield identity


def fill(apps: Any, schema_editor: Any) -> None:
    """Of those that wait too, for they may be rejected yet."""
    using = schema_editor.connection.alias
    proposals = apps.get_model("governance", "Proposal").objects.using(using)
    wanted = proposals.filter(action__in=FIELDS, state__in=["rejected", "open", "changes_requested"])
    ids = list(wanted.values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        rows = list(proposals.filter(pk__in=ids[start : start + AT_ONCE]).only("action", "input", "rests_on"))
        for row in rows:
            row.rests_on = list(pieces_of(refs_of(row.action, row.input)))
        proposals.bulk_update(rows, ["rests_on"])


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0011_alike_by_whole_values"),
        ("governance", "0017_rests_on"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
