"""The table of media jobs: long imports that survive whatever dies."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from media.contracts.kinds import FINAL, JobStatus
from media.models.objects import MediaObject
from scopes.models import Domain


class MediaJob(models.Model):
    """One import to be done by a worker, for the owner and scopes that the row names.

    A worker holds it by `lease_token` and shows that it lives by `heartbeat_at`; only the holder of the lease writes.
    `scopes` are written `type:id`; `place` is the first of them, or `*` where only the owner shall see the document.
    It waits from `waits_since` on: since it was asked for, brought here from elsewhere, or retried.
    `staging_object` is kept until the row is pruned. `request_fingerprint` is the SHA-256, in hex, of what was asked,
    so that an `idempotency_key` that comes again is known to ask the same; empty where what came of it was erased.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    owner_id = models.CharField(max_length=64)
    owner_name = models.CharField(max_length=150)
    operation = models.CharField(max_length=20)
    source = models.CharField(max_length=2000, blank=True, default="")
    options = JSONField(default=dict)
    scopes = JSONField(default=list)
    place = models.CharField(max_length=240, default="*")
    status = models.CharField(
        max_length=10, choices=[(s.value, s.value) for s in JobStatus], default=JobStatus.QUEUED.value
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    result = JSONField(null=True, blank=True)
    error = models.TextField(blank=True, default="")
    note = models.TextField(blank=True, default="")
    available_at = models.DateTimeField(default=clock.now)
    created_at = models.DateTimeField(default=clock.now)
    waits_since = models.DateTimeField(default=clock.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    lease_token = models.UUIDField(null=True, blank=True)
    idempotency_key = models.CharField(max_length=128, blank=True, default="")
    request_fingerprint = models.CharField(max_length=64)
    staging_object = models.ForeignKey(
        MediaObject, null=True, blank=True, on_delete=models.PROTECT, related_name="staged_for"
    )

    class Meta:
        db_table = "media_jobs"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner_id", "idempotency_key"],
                name="media_jobs_idempotency",
                condition=~Q(idempotency_key=""),
            ),
        ]
        indexes = [
            models.Index(fields=["status", "available_at", "id"], name="media_jobs_claim"),
            models.Index(
                fields=["heartbeat_at"], name="media_jobs_recover", condition=Q(status=JobStatus.PROCESSING.value)
            ),
            models.Index(fields=["finished_at"], name="media_jobs_prune", condition=Q(status__in=sorted(FINAL))),
            models.Index(fields=["domain", "owner_id", "id"], name="media_jobs_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.status}"
