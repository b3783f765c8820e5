"""The table of model extractions: one for each turn, with its failures."""

from __future__ import annotations

from django.db import models

from kernel import clock
from kernel.ids import new_id
from memory.models.events import Turn
from scopes.models import Domain


class ExtractionRun(models.Model):
    """What a language model made of one turn; the raw reply of a failure is kept for the one who looks into it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="extraction")
    state = models.CharField(max_length=8, default="pending")
    attempts = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=200, blank=True, default="")
    error = models.TextField(blank=True, default="")
    raw_reply = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "extraction_runs"
        ordering = ["-id"]
        verbose_name = "model extraction"
        indexes = [models.Index(fields=["domain", "-id"], name="extraction_runs_domain")]

    def __str__(self) -> str:
        return f"extraction of {self.turn_id} ({self.state})"
