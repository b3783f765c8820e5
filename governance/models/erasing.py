"""What was erased, and what must not be."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.models import Domain


class Tombstone(models.Model):
    """The receipt of one thing that was erased; append-only. `scope` is where it lay, `*` for more than one.

    `sha256` is over all of its rows, with the random ids that went with them: nobody finds the text by hashing guesses.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    receipt_id = models.UUIDField(db_index=True)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    kind = models.CharField(max_length=20)
    object_id = models.UUIDField(db_index=True)
    scope = models.CharField(max_length=240)
    scopes = JSONField(default=list)
    sha256 = models.CharField(max_length=64)
    counts = JSONField(default=dict)
    reason = models.TextField()
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    on_behalf_of = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "tombstones"
        ordering = ["-id"]
        verbose_name = "receipt of erasure"
        verbose_name_plural = "receipts of erasure"
        indexes = [models.Index(fields=["domain", "-id"], name="tombstones_domain")]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"


class LegalHold(models.Model):
    """What must not be erased while it is not lifted: one thing, or where `object_id` is NULL all in the scopes of the
    pattern `scope`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    kind = models.CharField(max_length=20, blank=True, default="")
    object_id = models.UUIDField(null=True, blank=True)
    scope = models.CharField(max_length=240)
    reason = models.TextField()
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=clock.now)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.CharField(max_length=150, blank=True, default="")
    lift_reason = models.TextField(blank=True, default="")

    class Meta:
        db_table = "legal_holds"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["domain", "-id"], name="legal_holds_domain"),
            models.Index(fields=["domain"], name="legal_holds_in_force", condition=Q(lifted_at=None)),
        ]

    def __str__(self) -> str:
        return f"hold on {f'{self.kind} {self.object_id}' if self.object_id else self.scope}"
