from __future__ import annotations

from django.apps import AppConfig


class GovernanceConfig(AppConfig):
    name = "governance"

    def ready(self) -> None:
        from governance import actions, extensions, policies  # noqa: F401  registers actions, checks, policy sections
        from governance.signin import events  # noqa: F401  enters sign-ins into the audit log
        from kernel.queue import regularly

        regularly(1, "governance.jobs.seal_audit")
        regularly(60, "governance.jobs.expire_proposals")
