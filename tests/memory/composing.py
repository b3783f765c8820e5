"""The moment, the place and the policy of a composed context, and what was left out of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kernel import clock
from tests.conftest import TEAM
from tests.memory.talk import context

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
P = context("project:p")
IN_P = {"scope_context": P}


def at(hours: float):
    """The clock, so many hours after NOW."""
    return clock.use(lambda: NOW + timedelta(hours=hours))


def policy(cast, **sections: dict) -> None:
    """Put a policy of these sections into force."""
    cast.operator.do("set_policy", domain_id=TEAM, document=sections, reason="tests")


def left_out(package: dict, reason: str) -> list[str]:
    """The ids of what was left out for that reason."""
    return [entry["id"] for entry in package["debug"]["dropped"] if entry["reason"] == reason]
