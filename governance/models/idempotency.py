"""First answers to idempotency keys."""

from __future__ import annotations

from django.db import models

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id


class IdempotencyRecord(models.Model):
    """The first answer to an idempotency key. `domain` and `actor` are text, so the key needs no row elsewhere.
    `fingerprint` is the SHA-256 of the input, empty where what the call did was erased since."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.CharField(max_length=64, blank=True, default="")
    actor = models.CharField(max_length=64)
    action = models.CharField(max_length=80)
    key = models.CharField(max_length=128)
    fingerprint = models.CharField(max_length=64)
    answer = JSONField(null=True)
    queued = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "idempotency_records"
        constraints = [
            models.UniqueConstraint(fields=["domain", "actor", "action", "key"], name="idempotency_records_unique"),
        ]
        indexes = [models.Index(fields=["actor", "key"], name="idempotency_records_actor_key")]

    def __str__(self) -> str:
        return f"{self.action} {self.key}"
