from __future__ import annotations

from django.apps import AppConfig


class KernelConfig(AppConfig):
    name = "kernel"

    def ready(self) -> None:
        from kernel.queue import keep_loaded_in_workers, schedule_after_migrate

        keep_loaded_in_workers()
        schedule_after_migrate()
