"""The time that Django and the second factors read by themselves, held still: how long a test takes changes nothing in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest


class HeldTime:
    """A present moment that passes only when a test says so."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        """Hold what `timezone.now()` gives (sessions, sign-in locks, waits after wrong codes) and the codes of authenticators."""
        self.moment = datetime.now(UTC)
        patch.setattr("django.utils.timezone.now", self.now)
        patch.setattr("django_otp.oath.time", self.seconds)
        patch.setattr("django_otp.plugins.otp_totp.models.time", SimpleNamespace(time=self.seconds))

    def now(self) -> datetime:
        return self.moment

    def seconds(self) -> float:
        return self.moment.timestamp()

    def passes(self, **of: float) -> None:
        """Let this much time pass, in the words of a timedelta."""
        self.moment += timedelta(**of)
