"""How each person likes the review screens."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from governance.contracts import DiffMode


class Preference(models.Model):
    """The choices of one person; there is no row for someone who never chose."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE)
    shortcuts = models.BooleanField(default=True)
    diff = models.CharField(max_length=8, default=DiffMode.SIDE.value, choices=[(m.value, m.value) for m in DiffMode])

    class Meta:
        db_table = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"
