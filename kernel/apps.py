from __future__ import annotations

from django.apps import AppConfig


class KernelConfig(AppConfig):
    name = "kernel"
