"""Tables of long-term memory: items with their versions, their index text, evidence and history."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from memory.contracts.items import LEGAL_LIFECYCLES, Lifecycle, Status, Tier
from memory.models.events import Message, Session, Turn
from scopes.models import Domain, MemoryScope


def _legal_pairs() -> Q:
    legal = Q(pk__in=[])
    for tier, lifecycles in LEGAL_LIFECYCLES.items():
        legal |= Q(tier=tier.value, lifecycle_status__in=[lifecycle.value for lifecycle in lifecycles])
    return legal


class MemoryItem(models.Model):
    """One version of one memory. `current_until` NULL is the current version of its key; older versions stay.

    `valid_from` and `valid_to` are the time in the world for which it holds; `recorded_at` and `current_until` are the
    time for which the system held it. `key` is NULL where there is none. `source_item` is the item that this one was
    made from by promotion, narrowing or raising. `narrowed_to` is the scope outside which the item is no longer shown,
    not even as history.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT, db_index=False)
    type = models.CharField(max_length=20)
    key = models.CharField(max_length=500, null=True, blank=True)  # noqa: DJ001  NULL is "no key"
    value = JSONField(default=dict)
    statement = models.TextField()
    confidence = models.FloatField()
    status = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Status])
    lifecycle_status = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Lifecycle])
    memory_kind = models.CharField(max_length=10, default="evidence")
    tier = models.CharField(max_length=10, choices=[(t.value, t.value) for t in Tier], default=Tier.NONE.value)
    field = models.CharField(max_length=80, default="general")
    audience = models.CharField(max_length=20, default="project")
    importance = models.PositiveSmallIntegerField(default=0)
    pinned = models.BooleanField(default=False)
    origin = models.CharField(max_length=60)
    source_session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.PROTECT, db_index=False)
    source_turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.PROTECT)
    source_message = models.ForeignKey(Message, null=True, blank=True, on_delete=models.PROTECT)
    source_item = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="promoted_copies"
    )
    successor = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="predecessors")
    promotion_event = models.UUIDField(null=True, blank=True)
    narrowed_to = models.ForeignKey(
        MemoryScope, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    recorded_at = models.DateTimeField(default=clock.now)
    current_until = models.DateTimeField(null=True, blank=True)
    review_by = models.DateTimeField(null=True, blank=True)
    author_id = models.CharField(max_length=64)
    author_name = models.CharField(max_length=150)
    version = models.PositiveIntegerField(default=1)
    content_hash = models.CharField(max_length=64)

    class Meta:
        db_table = "memory_items"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "type", "key"], name="memory_items_current_key", condition=Q(current_until=None)
            ),
            models.UniqueConstraint(
                fields=["scope", "content_hash"], name="memory_items_current_content", condition=Q(current_until=None)
            ),
            models.CheckConstraint(condition=_legal_pairs(), name="memory_items_legal_lifecycle"),
            models.CheckConstraint(condition=~Q(key=""), name="memory_items_key_or_null"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0) & Q(confidence__lte=1), name="memory_items_confidence"
            ),
        ]
        indexes = [
            models.Index(fields=["scope", "status", "lifecycle_status"], name="memory_items_scope_state"),
            models.Index(fields=["scope", "type", "key"], name="memory_items_scope_key"),
            models.Index(fields=["source_session", "type", "-id"], name="memory_items_source"),
            models.Index(fields=["domain", "-id"], name="memory_items_domain"),
        ]

    def __str__(self) -> str:
        return self.key or f"{self.type} {self.id}"

    @property
    def standing(self) -> str:
        """Its status and how far it is trusted, `active/promoted`, as steps and changes tell them."""
        return f"{self.status}/{self.lifecycle_status}"


class MemoryChunk(models.Model):
    """The text under which an item is indexed; derived from the item and rebuildable."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    item = models.OneToOneField(MemoryItem, on_delete=models.CASCADE, related_name="chunk")
    text = models.TextField()
    meta = JSONField(default=dict)

    class Meta:
        db_table = "memory_chunks"

    def __str__(self) -> str:
        return self.text.partition("\n")[0]


class EvidenceLink(models.Model):
    """What an item rests on: a message, turn, item, document section, card or address in one role."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    item = models.ForeignKey(MemoryItem, on_delete=models.CASCADE, related_name="evidence")
    kind = models.CharField(max_length=10)
    ref = models.CharField(max_length=2000)
    role = models.CharField(max_length=16)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "evidence_links"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["item", "kind", "ref", "role"], name="evidence_links_unique"),
        ]
        indexes = [models.Index(fields=["ref", "kind"], name="evidence_links_ref")]

    def __str__(self) -> str:
        return f"{self.role} {self.kind} {self.ref[:60]}"


class KnowledgeEvent(models.Model):
    """One step in the life of an item; append-only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    item = models.ForeignKey(MemoryItem, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=64)
    from_status = models.CharField(max_length=30, blank=True, default="")
    to_status = models.CharField(max_length=30)
    reason = models.TextField(blank=True, default="")
    actor_id = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    metadata = JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "knowledge_events"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.item_id}"
