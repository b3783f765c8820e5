"""What was undone, so that nothing is undone twice."""

from __future__ import annotations

from django.db import models

from governance.models.audit import AuditEntry
from kernel import clock
from kernel.ids import new_id


class Reversal(models.Model):
    """The change of one audit entry, taken back by a later call; one row for each entry at most."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    entry = models.OneToOneField(AuditEntry, on_delete=models.PROTECT, related_name="reversal")
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    reason = models.TextField(blank=True, default="")
    request_id = models.UUIDField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "reversals"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.entry_id} taken back by {self.by_name}"
