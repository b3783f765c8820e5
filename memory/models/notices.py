"""The table of notices: what agents are to be told of memories that they were shown."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from kernel import clock
from kernel.ids import new_id
from memory.models.items import MemoryItem
from scopes.models import Domain


class Notice(models.Model):
    """Something happened to a memory that an actor was shown; told once, on the actor's next compose in the domain.

    `context` is the id of the context that told it; it outlives the record of that context.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    actor_id = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    item = models.ForeignKey(MemoryItem, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=16)
    reason = models.TextField(blank=True, default="")
    replacement = models.ForeignKey(
        MemoryItem, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(default=clock.now)
    told_at = models.DateTimeField(null=True, blank=True)
    context = models.UUIDField(null=True, blank=True)

    class Meta:
        db_table = "notices"
        ordering = ["id"]
        indexes = [
            models.Index(fields=["domain", "actor_id"], name="notices_waiting", condition=Q(told_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.item_id} for {self.actor_name}"
