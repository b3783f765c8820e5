"""Tables of stored bytes: one row for each content, and which documents refer to it."""

from __future__ import annotations

from django.db import models

from kernel import clock
from kernel.ids import new_id
from media.models.documents import SourceDocument
from scopes.models import Domain


class MediaObject(models.Model):
    """Bytes that are stored once, whoever brought them: installation-wide, so it has no domain; its references do.

    `reference_count` is the number of its references. At zero it is garbage, unless a kept job still needs it.
    `touched_at` is when someone last meant to use it. While it has a `collector` its bytes are being removed, and
    nobody may use it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    content_hash = models.CharField(max_length=64, unique=True)
    storage_uri = models.CharField(max_length=500)
    byte_size = models.BigIntegerField()
    mime = models.CharField(max_length=100, blank=True, default="")
    reference_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    touched_at = models.DateTimeField(default=clock.now)
    collector = models.UUIDField(null=True, blank=True)
    collecting_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "media_objects"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["touched_at"], name="media_objects_unused", condition=models.Q(reference_count=0))
        ]

    def __str__(self) -> str:
        return self.content_hash[:12]


class MediaObjectReference(models.Model):
    """A document's bytes are this object's."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    media_object = models.ForeignKey(MediaObject, on_delete=models.PROTECT, related_name="references", db_index=False)
    document = models.ForeignKey(SourceDocument, on_delete=models.CASCADE, related_name="references")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "media_object_references"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["media_object", "document"], name="media_object_references_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.media_object_id} of {self.document_id}"
