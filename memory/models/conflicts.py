"""Tables of memories at odds with each other: the pairs found, what was decided, and the signatures by which they meet."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from memory.conflicts import Severity
from memory.contracts.conflicts import ConflictState
from memory.models.graph import KgEdge
from memory.models.items import MemoryItem
from scopes.models import Domain, MemoryScope


class Conflict(models.Model):
    """Two memories, or two relations, that do not go together. Side `a` was there before side `b`.

    `scope` is the one of `b`, `other_scope` that of `a`: whoever sees the conflict sees both. `pair` names the two by
    what they say, so that a pair that was judged does not come back while both say the same. `outcome` is empty while
    it is open, and where it was resolved because one side left.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT, db_index=False, related_name="+")
    other_scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT, db_index=False, related_name="+")
    item_a = models.ForeignKey(MemoryItem, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    item_b = models.ForeignKey(MemoryItem, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    edge_a = models.ForeignKey(KgEdge, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    edge_b = models.ForeignKey(KgEdge, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=16)  # one of memory.conflicts.Rule
    severity = models.CharField(max_length=8, choices=[(each.value, each.value) for each in Severity])
    explanation = models.TextField()
    differences = JSONField(default=list)
    pair = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=[(s.value, s.value) for s in ConflictState], default="open")
    outcome = models.CharField(max_length=16, blank=True, default="")
    condition = models.TextField(blank=True, default="")
    revision = models.PositiveIntegerField(default=1)
    found_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=150, blank=True, default="")

    class Meta:
        db_table = "conflicts"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["domain", "pair"], name="conflicts_open", condition=Q(state="open")),
            models.CheckConstraint(
                condition=Q(item_a__isnull=False, item_b__isnull=False, edge_a=None, edge_b=None)
                | Q(item_a=None, item_b=None, edge_a__isnull=False, edge_b__isnull=False),
                name="conflicts_two_of_a_kind",
            ),
        ]
        indexes = [
            models.Index(fields=["domain", "state", "-id"], name="conflicts_domain"),
            models.Index(fields=["domain", "pair"], name="conflicts_pair"),
        ]

    def __str__(self) -> str:
        return f"{self.rule} between {self.item_a_id or self.edge_a_id} and {self.item_b_id or self.edge_b_id}"


class ConflictDecision(models.Model):
    """One step in the life of a conflict: decided, reopened, or over because one side left. Append-only.

    `changed` are the rows that the step moved, as they were, so that it can be undone.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    conflict = models.ForeignKey(Conflict, on_delete=models.CASCADE, related_name="decisions")
    verdict = models.CharField(max_length=16)
    reason = models.TextField(blank=True, default="")
    condition = models.TextField(blank=True, default="")
    result = models.ForeignKey(MemoryItem, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    changed = JSONField(default=list)
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "conflict_decisions"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.by_name}"


class ConflictSignature(models.Model):
    """A memory has a signature: it may be about the same thing as others that have it. Derived and rebuildable.

    The key is all there is, so that the database answers from one small index; a memory knows its own signatures.
    """

    pk = models.CompositePrimaryKey("signature", "item")
    signature = models.BigIntegerField()
    item = models.ForeignKey(MemoryItem, on_delete=models.DO_NOTHING, db_index=False, db_constraint=False)

    class Meta:
        db_table = "conflict_signatures"

    def __str__(self) -> str:
        return f"{self.signature} of {self.item_id}"
