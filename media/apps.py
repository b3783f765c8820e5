from __future__ import annotations

from django.apps import AppConfig


class MediaConfig(AppConfig):
    name = "media"

    def ready(self) -> None:
        from media import actions  # noqa: F401  registers actions
