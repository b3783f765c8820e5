from __future__ import annotations

from django.apps import AppConfig


class KernelConfig(AppConfig):
    name = "kernel"

    def ready(self) -> None:
        from kernel.queue import schedule_after_migrate

        schedule_after_migrate()
