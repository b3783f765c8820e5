"""Recovery codes: what a person signs in with when the authenticator is lost. Only their hashes are kept."""

from __future__ import annotations

import hashlib

from django.db import models
from django_otp.models import Device, ThrottlingMixin


class RecoveryDevice(ThrottlingMixin, Device):  # type: ignore[misc]
    """The recovery codes of one person, as django-otp knows a second factor; wrong codes make the next one wait."""

    class Meta:
        db_table = "recovery_devices"

    def get_throttle_factor(self) -> int:
        """Seconds to wait after the first wrong code; each further one doubles them."""
        return 1

    def verify_token(self, token: str) -> bool:
        """Whether the code is one of these and unused; from then on it is used. Of two at once one is told yes."""
        if not self.verify_is_allowed()[0]:
            return False
        used = bool(self.codes.filter(hash=hash_code(token)).delete()[0])
        if used:
            self.throttle_reset()
        else:
            self.throttle_increment()
        return used


class RecoveryCode(models.Model):
    """One unused code, as its hash; the row goes when the code is used."""

    device = models.ForeignKey(RecoveryDevice, on_delete=models.CASCADE, related_name="codes")
    hash = models.CharField(max_length=64, help_text="SHA-256 of the code, 64 hexadecimal digits.")

    class Meta:
        db_table = "recovery_codes"
        constraints = [models.UniqueConstraint(fields=["device", "hash"], name="recovery_code_once")]

    def __str__(self) -> str:
        return f"a recovery code of device {self.device_id}"


def hash_code(code: str) -> str:
    """SHA-256 of a recovery code: as random as a key, so no slow hash is needed to keep it from being guessed."""
    return hashlib.sha256(code.encode("ascii")).hexdigest()
