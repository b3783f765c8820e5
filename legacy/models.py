"""Tables of moving in: runs of the migration, what became of each row of the source, and what validations found."""

from __future__ import annotations

from django.db import models

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from legacy.contracts import Fate


class MigrationRun(models.Model):
    """One run. `source` is `host:port/database`, never with a password; `origins` say of each table with rows in which
    database, whatever its address, and schema it was read; `figures` are the counts by source table, the rate and the
    most memory that it took, as they were last known. `place` is the machine and folder where it began, `heartbeat_at` when
    it last showed that it goes on; of those that do there is one at most."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.CharField(max_length=300)
    origins = JSONField(default=dict)
    owner_id = models.CharField(max_length=64, blank=True, default="")
    options = JSONField(default=dict)
    state = models.CharField(
        max_length=12, choices=[(s, s) for s in ("running", "finished", "failed", "interrupted")], default="running"
    )
    figures = JSONField(default=dict)
    started_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    place = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        db_table = "migration_runs"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["state"], name="migration_runs_one", condition=models.Q(state="running")),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.state}"


class MigratedRow(models.Model):
    """What became of one row of the source. It is stored in the transaction of what it became, so a run that was killed
    goes on where the last whole batch ended.

    `digest` is the SHA-256 of the canonical JSON of the source row's columns. `content` is kept of rows in the quarantine,
    and where the note is too short for what has no other place here: their columns as text. `stored` has, of a row with a
    note, a mark of each compared value as it was stored, so that what was adjusted then is told from what was changed
    afterwards. `part_of` is the document here that it is a part of. `receipt_id` is that of the erasure with which the row
    that it became went, or the one to which it belonged.
    """

    id = models.BigAutoField(primary_key=True)
    source_table = models.CharField(max_length=64)
    source_id = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    outcome = models.CharField(max_length=12, choices=[(fate.value, fate.value) for fate in Fate])
    target_table = models.CharField(max_length=64, blank=True, default="")
    target_id = models.CharField(max_length=64, blank=True, default="")
    reason = models.CharField(max_length=40, blank=True, default="")
    note = models.TextField(blank=True, default="")
    content = JSONField(null=True, blank=True)
    stored = JSONField(null=True, blank=True)
    part_of = models.CharField(max_length=64, blank=True, default="")
    receipt_id = models.UUIDField(null=True, blank=True)
    run = models.ForeignKey(MigrationRun, on_delete=models.PROTECT, related_name="rows", db_index=False)

    class Meta:
        db_table = "migrated_rows"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["source_table", "source_id"], name="migrated_rows_unique"),
        ]
        indexes = [
            models.Index(fields=["target_id", "target_table"], name="migrated_rows_target"),
            models.Index(
                fields=["source_table", "reason"],
                name="migrated_rows_quarantine",
                condition=models.Q(outcome="quarantined"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source_table} {self.source_id[:60]}: {self.outcome}"


class MigrationCheck(models.Model):
    """What one validation found. `source` is `host:port/database`, empty where it looked at this side alone; `report` has
    the shape of `legacy.contracts.validating.MigrationReport`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.CharField(max_length=300, blank=True, default="")
    whole = models.BooleanField()
    report = JSONField()
    finished_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "migration_checks"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.source or 'this side'} {'whole' if self.whole else 'wrong'}"
