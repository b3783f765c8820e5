from __future__ import annotations

from django.apps import AppConfig


class LegacyConfig(AppConfig):
    name = "legacy"

    def ready(self) -> None:
        from legacy import actions  # noqa: F401  registers actions
