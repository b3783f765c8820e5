"""Tables of the graph: entities with their aliases and mentions, and edges between names."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from memory.models.events import Session, Turn
from memory.models.items import MemoryItem
from scopes.models import Domain, MemoryScope


class Entity(models.Model):
    """Someone or something that texts name; one row for each folded canonical name and kind in a scope."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT, db_index=False)
    kind = models.CharField(max_length=16)
    canonical = models.CharField(max_length=300)
    canonical_folded = models.CharField(max_length=300)
    name = models.CharField(max_length=300)
    source_session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.PROTECT)
    item = models.ForeignKey(MemoryItem, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "entities"
        ordering = ["id"]
        verbose_name_plural = "entities"
        constraints = [
            models.UniqueConstraint(fields=["scope", "kind", "canonical_folded"], name="entities_unique"),
        ]
        indexes = [
            models.Index(fields=["scope", "canonical", "kind"], name="entities_scope_canonical"),
            models.Index(fields=["scope", "canonical_folded"], name="entities_scope_folded"),
            models.Index(fields=["domain", "-id"], name="entities_domain"),
        ]

    def __str__(self) -> str:
        return self.canonical

    @property
    def state(self) -> str:
        """What its memory is now: `active`, `superseded` or `retracted`; `active` too where it has none."""
        return self.item.status if self.item else "active"


class EntityAlias(models.Model):
    """Another name of an entity, compared after folding."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="aliases")
    alias = models.CharField(max_length=300)
    alias_folded = models.CharField(max_length=300, db_index=True)

    class Meta:
        db_table = "entity_aliases"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["entity", "alias_folded"], name="entity_aliases_unique"),
        ]

    def __str__(self) -> str:
        return self.alias


class EntityMention(models.Model):
    """A turn that named an entity. `metadata` may say where: `message_id`, and the `span` as whoever noted it gave it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="mentions")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE)
    metadata = JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "entity_mentions"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["entity", "turn"], name="entity_mentions_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.entity} in {self.turn}"


class KgEdge(models.Model):
    """Subject, predicate, object; ended edges stay, and the same edge added again is a new row."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT, db_index=False)
    subject = models.CharField(max_length=300)
    predicate = models.CharField(max_length=100)
    object = models.CharField(max_length=300)
    subject_folded = models.CharField(max_length=300)
    object_folded = models.CharField(max_length=300)
    content_hash = models.CharField(max_length=64)
    status = models.CharField(max_length=12, default="active")
    confidence = models.FloatField(default=1.0)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    recorded_at = models.DateTimeField(default=clock.now)
    current_until = models.DateTimeField(null=True, blank=True)
    source_session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.PROTECT)
    source_turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.PROTECT)

    class Meta:
        db_table = "kg_edges"
        ordering = ["-id"]
        verbose_name = "relation"
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "content_hash"], name="kg_edges_current", condition=Q(current_until=None)
            ),
        ]
        indexes = [
            models.Index(fields=["scope", "status"], name="kg_edges_scope_status"),
            models.Index(fields=["scope", "subject_folded"], name="kg_edges_subject"),
            models.Index(fields=["scope", "object_folded"], name="kg_edges_object"),
            models.Index(fields=["domain", "-id"], name="kg_edges_domain"),
            models.Index(fields=["domain", "subject_folded"], name="kg_edges_domain_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"

    @property
    def state(self) -> str:
        """`ended` once another row took its place, else its status."""
        return "ended" if self.current_until else self.status
