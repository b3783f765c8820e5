"""Tables of what a compose showed, and to whom."""

from __future__ import annotations

from django.db import models

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from memory.models.events import Session
from scopes.models import Domain


class ContextRecord(models.Model):
    """One composed context as the agent got it, with the figures that diagnostics need. Pruned by policy."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.CASCADE)
    actor_id = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    request_id = models.UUIDField()
    package = JSONField()
    plan_id = models.CharField(max_length=200)
    ignored_fields = JSONField(default=list)
    recalls = JSONField(default=dict)
    scope_filter_failed = models.BooleanField(default=False)
    tokens_used = models.PositiveIntegerField()
    token_limit = models.PositiveIntegerField()
    memories = models.PositiveIntegerField()
    resources = models.PositiveIntegerField()
    shadowed = models.PositiveIntegerField()
    took_ms = models.FloatField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "context_records"
        ordering = ["-id"]
        verbose_name = "recorded context"
        indexes = [
            models.Index(fields=["domain", "-id"], name="context_records_domain"),
            models.Index(fields=["domain", "created_at"], name="context_records_age"),
        ]

    def __str__(self) -> str:
        return f"context {self.id} for {self.actor_name}"


class ContextShown(models.Model):
    """One text of a recorded context; `text_hash` recognises it when it comes back as if it were new."""

    id = models.BigAutoField(primary_key=True)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    record = models.ForeignKey(ContextRecord, on_delete=models.CASCADE, related_name="shown")
    actor_id = models.CharField(max_length=64)
    object_id = models.UUIDField(null=True, db_index=True)
    text_hash = models.CharField(max_length=64)

    class Meta:
        db_table = "context_shown"
        indexes = [models.Index(fields=["domain", "actor_id", "text_hash"], name="context_shown_text")]

    def __str__(self) -> str:
        return f"{self.object_id} in {self.record_id}"
