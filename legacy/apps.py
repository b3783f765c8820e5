from __future__ import annotations

from django.apps import AppConfig


class LegacyConfig(AppConfig):
    name = "legacy"
