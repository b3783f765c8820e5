"""What was used of quotas."""

from __future__ import annotations

from django.db import models


class QuotaCounter(models.Model):
    """How much of one kind was used in its newest span of time; `actor` is empty for what all use together.

    `span` numbers the minutes or days since 1970. A later span begins at nothing again, so no row is ever cleared away.
    """

    pk = models.CompositePrimaryKey("domain", "actor", "kind")
    domain = models.CharField(max_length=64, blank=True, default="")
    actor = models.CharField(max_length=64, blank=True, default="")
    kind = models.CharField(max_length=24)
    span = models.BigIntegerField()
    used = models.BigIntegerField()

    class Meta:
        db_table = "quota_counters"

    def __str__(self) -> str:
        return f"{self.domain} {self.actor} {self.kind}: {self.used}"
