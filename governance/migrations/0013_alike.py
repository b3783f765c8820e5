"""Proposals get the key of what they are like, where nothing but the old rule, which left out every number, had made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import migrations

from kernel.canonical import digest
from kernel.likeness import likeness_of
from kernel.text import fold

AT_ONCE = 200
_NAMES = frozenset({"idempotency_key", "domain_id", "session_id", "id", "type", "role"})


def words_of(tree: Any, name: str = "") -> Iterator[str]:
    """The texts of an input, as the old rule read them."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from words_of(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from words_of(value, name)
    elif isinstance(tree, str) and name not in _NAMES and tree.strip():
        yield tree


def rekey(apps: Any, schema_editor: Any) -> None:
    """Decided ones too, for a new one shows what was decided on its like; not what was erased, which has no key."""
    proposals = apps.get_model("governance", "Proposal").objects.using(schema_editor.connection.alias)
    ids = list(proposals.exclude(similar_key="").values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        changed = []
        for row in proposals.filter(pk__in=ids[start : start + AT_ONCE]).only("action", "input", "similar_key"):
            words = fold(" ".join(words_of(row.input)))
            if row.similar_key == digest([row.action, "".join(filter(str.isalpha, words))]):
                said = {name: value for name, value in row.input.items() if name != "idempotency_key"}
                row.similar_key = digest([row.action, likeness_of(said)])
                changed.append(row)
        proposals.bulk_update(changed, ["similar_key"])


class Migration(migrations.Migration):
    dependencies = [
        ("governance", "0012_receipts_of_erasure"),
    ]

    operations = [migrations.RunPython(rekey, migrations.RunPython.noop, elidable=True)]
