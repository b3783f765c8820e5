"""Proposals about memory get their key again: of values that an item holds everything counts."""

from __future__ import annotations

from importlib import import_module

from django.db import migrations

rekey = import_module("memory.migrations.0010_alike").rekey


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0010_alike"),
    ]

    operations = [migrations.RunPython(rekey, migrations.RunPython.noop, elidable=True)]
