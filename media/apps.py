from __future__ import annotations

from django.apps import AppConfig


class MediaConfig(AppConfig):
    name = "media"

    def ready(self) -> None:
        from kernel.queue import regularly
        from media import actions, extensions  # noqa: F401  registers actions and extensions

        regularly(1, "media.jobs.resume_media_jobs")
        regularly(60, "media.jobs.prune_media_jobs")
        regularly(60, "media.jobs.collect_media_objects")
