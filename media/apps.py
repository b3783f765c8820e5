from __future__ import annotations

from django.apps import AppConfig


class MediaConfig(AppConfig):
    name = "media"
