"""What memories said before they were narrowed is hidden too, where they were narrowed before that was done along with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import migrations
from django.db.models import F, Q

AT_ONCE = 200
STEP = "line_hidden"


def hide(apps: Any, schema_editor: Any) -> None:
    """Of each narrowed row the earlier versions of its key in its scope, and what any of these took the place of, as they
    stood when it was narrowed. Its history names them, so that undoing the narrowing, or this, shows them again."""
    using = schema_editor.connection.alias
    items = apps.get_model("memory", "MemoryItem").objects.using(using)
    steps = apps.get_model("memory", "KnowledgeEvent").objects.using(using)
    # after an undoing the wide scope holds what took the place of the row
    undone = Q(successor__scope=F("scope"))
    narrowed = (
        items.exclude(narrowed_to=None)
        .exclude(current_until=None)
        .exclude(undone)
        .select_related("narrowed_to")
        .order_by("current_until", "pk")
    )
    for row in list(narrowed.only("pk", "scope", "type", "key", "current_until", "status", "lifecycle_status", "domain",
                                  "narrowed_to__scope_type", "narrowed_to__external_id")):  # fmt: skip
        ids = _before(items, row)
        for batch in _batches(ids):
            items.filter(pk__in=batch).update(narrowed_to=row.narrowed_to_id)
        if ids:
            scope = f"{row.narrowed_to.scope_type}:{row.narrowed_to.external_id}"
            steps.create(
                domain_id=row.domain_id,
                item_id=row.pk,
                kind=STEP,
                to_status=f"{row.status}/{row.lifecycle_status}",
                reason="What it said before is hidden like itself.",
                actor_id="system:migrate",
                actor_name="migrate",
                metadata={"item_ids": [str(pk) for pk in ids], "scope": scope},
            )


def show(apps: Any, schema_editor: Any) -> None:
    """Show again what was hidden so, where it is hidden still."""
    using = schema_editor.connection.alias
    items = apps.get_model("memory", "MemoryItem").objects.using(using)
    steps = apps.get_model("memory", "KnowledgeEvent").objects.using(using).filter(kind=STEP)
    for step in list(steps.select_related("item")):
        for batch in _batches(step.metadata["item_ids"]):
            items.filter(pk__in=batch, narrowed_to=step.item.narrowed_to_id).update(narrowed_to=None)
    steps.delete()


def _before(items: Any, row: Any) -> list[Any]:
    """The rows in sight that came before a narrowed one in its line: closed, of its scope, and recorded before it was
    narrowed."""
    here = items.filter(scope_id=row.scope_id, narrowed_to=None, recorded_at__lt=row.current_until).order_by()
    here = here.exclude(current_until=None).exclude(pk=row.pk)
    line = Q(successor_id=row.pk) | (Q(type=row.type, key=row.key) if row.key is not None else Q(pk__in=[]))
    found = set(here.filter(line).values_list("pk", flat=True))
    fresh = sorted(found)
    while fresh:
        more = {
            pk for batch in _batches(fresh) for pk in here.filter(successor__in=batch).values_list("pk", flat=True)
        }
        fresh = sorted(more - found)
        found |= more
    return sorted(found)


def _batches(ids: list[Any]) -> Iterable[list[Any]]:
    return (ids[first : first + AT_ONCE] for first in range(0, len(ids), AT_ONCE))


class Migration(migrations.Migration):
    dependencies = [("memory", "0012_rests_on")]

    operations = [migrations.RunPython(hide, show, elidable=True)]
