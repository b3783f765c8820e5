from __future__ import annotations

from django.apps import AppConfig


class GovernanceConfig(AppConfig):
    name = "governance"

    def ready(self) -> None:
        from governance import actions, policies  # noqa: F401  registers this app's actions and policy sections
        from kernel.queue import regularly

        regularly(1, "governance.jobs.seal_audit")
