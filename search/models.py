"""Tables of the index: entries and their postings. Both are derived and can be rebuilt from what they point to."""

from __future__ import annotations

from django.db import models

from scopes.models import Domain, MemoryScope


class IndexEntry(models.Model):
    """One text findable in one scope; an object findable in two scopes has two entries."""

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=8)
    object_id = models.UUIDField()
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT)
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT)
    session_key = models.BigIntegerField(null=True)
    sequence = models.PositiveBigIntegerField(default=0)
    author = models.CharField(max_length=200, blank=True, default="")
    event_time = models.DateTimeField()
    recorded_at = models.DateTimeField()
    state = models.CharField(max_length=8)
    tokeniser = models.PositiveSmallIntegerField()
    length = models.PositiveIntegerField()

    class Meta:
        db_table = "index_entries"
        constraints = [
            models.UniqueConstraint(fields=["kind", "object_id", "scope"], name="index_entries_unique"),
        ]
        indexes = [
            models.Index(fields=["scope", "session_key", "sequence"], name="index_entries_neighbours"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id} in scope {self.scope_id}"


class Posting(models.Model):
    """How often a term of one scope occurs in an entry. `term` is a 64-bit hash of scope and term, so a look-up in a
    scope touches no row of another."""

    pk = models.CompositePrimaryKey("term", "entry")
    term = models.BigIntegerField()
    entry = models.ForeignKey(IndexEntry, on_delete=models.CASCADE)
    count = models.PositiveSmallIntegerField()

    class Meta:
        db_table = "index_postings"

    def __str__(self) -> str:
        return f"{self.term} ×{self.count} in {self.entry_id}"
