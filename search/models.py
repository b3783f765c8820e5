"""Tables of the index: entries, their postings and the size of each scope. All are derived and can be rebuilt from
what they point to."""

from __future__ import annotations

from django.db import models

from scopes.models import Domain, MemoryScope


class IndexEntry(models.Model):
    """One text findable in one scope; an object findable in two scopes has two entries.

    `place` puts the texts of a session one after the other (see `search.terms.chain_start`), so that those around one
    are found by number. There is no index on the scope alone, or SQLite would read a whole scope for every search: its
    terms lead to its entries. `terms` holds every term of the text with its count: what the second stage scores from.
    """

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=8)
    object_id = models.UUIDField()
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT, db_index=False)
    session_key = models.BigIntegerField(null=True)
    sequence = models.PositiveBigIntegerField(default=0)
    place = models.BigIntegerField(null=True)
    author = models.CharField(max_length=200, blank=True, default="")
    label = models.CharField(max_length=20, blank=True, default="")
    trust = models.FloatField(default=1.0)
    event_time = models.DateTimeField()
    recorded_at = models.DateTimeField()
    current_until = models.DateTimeField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    state = models.CharField(max_length=10)
    tokeniser = models.PositiveSmallIntegerField()
    length = models.PositiveIntegerField()
    terms = models.BinaryField()

    class Meta:
        db_table = "index_entries"
        constraints = [
            models.UniqueConstraint(fields=["object_id", "kind", "scope"], name="index_entries_unique"),
        ]
        indexes = [
            models.Index(fields=["place"], name="index_entries_place", condition=models.Q(place__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id} in scope {self.scope_id}"


class Posting(models.Model):
    """A term of one scope occurs in an entry. `term` is a 64-bit hash of scope and term, so a look-up in a scope
    touches no row of another. The key is all there is, so that the database answers from one small index; an entry
    knows its own terms, so nothing is ever looked up by entry."""

    pk = models.CompositePrimaryKey("term", "entry")
    term = models.BigIntegerField()
    entry = models.ForeignKey(IndexEntry, on_delete=models.DO_NOTHING, db_index=False, db_constraint=False)

    class Meta:
        db_table = "index_postings"

    def __str__(self) -> str:
        return f"{self.term} in {self.entry_id}"


class ScopeSize(models.Model):
    """A change of the number of entries of a scope and of their length together; the sum of its rows is its size.

    Writers only append, so no two of them wait for one row; now and then the rows of a scope are folded into one.
    """

    id = models.BigAutoField(primary_key=True)
    scope = models.ForeignKey(MemoryScope, on_delete=models.CASCADE)
    entries = models.IntegerField()
    length = models.BigIntegerField()

    class Meta:
        db_table = "index_sizes"

    def __str__(self) -> str:
        return f"{self.entries:+} entries in scope {self.scope_id}"
