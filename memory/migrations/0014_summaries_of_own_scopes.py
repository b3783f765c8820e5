"""Stored summaries no longer tell what was made of a conversation for scopes that the conversation does not use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import migrations
from django.db.models import Case, Exists, F, OuterRef, Q, When

FIRST, LAST = "## Goals", "## Key References"  # between them stand the lines that tell memories
TYPES = ("goals", "decisions", "tasks")
MAX_LINE = 200
NOTHING = "- None"


def put_right(apps: Any, schema_editor: Any) -> None:
    """Take out of the summaries of each conversation the words of rows of other scopes, but where a row of its own says
    the same."""
    using = schema_editor.connection.alias
    items = apps.get_model("memory", "MemoryItem").objects.using(using).filter(type__in=TYPES)
    links = apps.get_model("memory", "SessionScopeLink").objects.using(using)
    summaries = apps.get_model("memory", "Summary").objects.using(using)
    linked = Exists(links.filter(session=OuterRef("source_session"), scope=OuterRef("scope")))
    is_own = Case(When(Q(scope=F("source_session__scope")) | linked, then=True), default=False)
    learned = items.exclude(source_session=None).annotate(is_own=is_own).order_by()
    for session in list(learned.filter(is_own=False).values_list("source_session", flat=True).distinct()):
        told = list(learned.filter(source_session=session).values_list("is_own", "statement"))
        foreign = _lines(said for own, said in told if not own) - _lines(said for own, said in told if own)
        for row in list(summaries.filter(session=session).only("pk", "text")) if foreign else ():
            text = _without(row.text, foreign)
            if text != row.text:
                summaries.filter(pk=row.pk).update(text=text)


def _lines(statements: Iterable[str]) -> set[str]:
    """Statements as a summary tells them."""
    told = (" ".join(said.split()) for said in statements)
    return {f"- {said if len(said) <= MAX_LINE else said[: MAX_LINE - 1] + '…'}" for said in told}


def _without(text: str, foreign: set[str]) -> str:
    """A summary without these lines of memories."""
    head, mark, rest = text.partition(LAST)
    if not head.startswith(FIRST) or not mark:
        return text  # not of the form in which summaries are written here
    parts = []
    for part in head.strip().split("\n\n"):
        heading, *told = part.split("\n")
        kept = [line for line in told if line not in foreign]
        parts.append("\n".join([heading, *(kept or [NOTHING])]))
    return "\n\n".join([*parts, mark + rest])


class Migration(migrations.Migration):
    dependencies = [("memory", "0013_narrowed_lines")]

    operations = [migrations.RunPython(put_right, migrations.RunPython.noop, elidable=True)]
