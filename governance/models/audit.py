"""The audit log: its entries, which objects each of them changed, and the seals that chain them."""

from __future__ import annotations

from django.db import models

from governance.contracts import Outcome
from governance.models.proposals import Proposal
from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.models import Domain

# Pages of the log are read in the order of time under each of these filters, at a cost that grows with what is shown.
FILTERED = {
    "domain": "domain",
    "scope": "scope",
    "actor": "actor_id",
    "name": "actor_name",
    "action": "action",
    "door": "door",
    "outcome": "outcome",
}


class AuditEntry(models.Model):
    """One call and what became of it; append-only. Names are copied, so they outlive the accounts."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(default=clock.now)
    request_id = models.UUIDField(db_index=True)
    action = models.CharField(max_length=80)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    on_behalf_of = models.CharField(max_length=150, blank=True, default="")
    door = models.CharField(max_length=10)
    domain = models.ForeignKey(Domain, null=True, blank=True, on_delete=models.PROTECT)
    scope = models.CharField(max_length=240, default="*")
    outcome = models.CharField(max_length=10, choices=[(o.value, o.value) for o in Outcome])
    rule = models.CharField(max_length=120, blank=True, default="")
    policy_version = models.CharField(max_length=200, blank=True, default="")
    code = models.CharField(max_length=32, blank=True, default="")
    reason = models.TextField(blank=True, default="")
    facts = JSONField(default=dict)
    input_digest = models.CharField(max_length=64, blank=True, default="")
    changes = JSONField(default=list)
    proposal = models.ForeignKey(Proposal, null=True, blank=True, on_delete=models.PROTECT)
    sealed = models.BooleanField(default=False, editable=False)

    class Meta:
        db_table = "audit_entries"
        ordering = ["-at", "-id"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_time"),
            *(
                models.Index(fields=[column, "-at", "-id"], name=f"audit_{name}_time")
                for name, column in FILTERED.items()
            ),
            models.Index(fields=["id"], name="audit_unsealed", condition=models.Q(sealed=False)),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action}: {self.outcome}"


class AuditObject(models.Model):
    """One object that an entry says was changed: by it the entries of one object are found."""

    pk = models.CompositePrimaryKey("table", "object_id", "entry_id")
    table = models.CharField(max_length=63)
    object_id = models.CharField(max_length=200)
    entry = models.ForeignKey(AuditEntry, on_delete=models.PROTECT, db_index=False, related_name="touched")

    class Meta:
        db_table = "audit_objects"
        indexes = [models.Index(fields=["object_id", "entry"], name="audit_objects_object")]

    def __str__(self) -> str:
        return f"{self.table} {self.object_id}"


class AuditPlace(models.Model):
    """A scope beside its own that an entry changed something in: by it who audits that scope finds the entry."""

    pk = models.CompositePrimaryKey("domain", "scope", "at", "entry")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    scope = models.CharField(max_length=240)
    at = models.DateTimeField()
    entry = models.ForeignKey(AuditEntry, on_delete=models.PROTECT, related_name="beyond")

    class Meta:
        db_table = "audit_places"

    def __str__(self) -> str:
        return f"{self.domain_id}/{self.scope}"


class AuditSeal(models.Model):
    """The seal of one entry: its place in the chain, what it was when sealed, and the hash of all that up to there.

    `entry_id` is no foreign key: a seal outlives an entry that someone removes, and so tells of it.
    """

    number = models.BigIntegerField(primary_key=True)
    entry_id = models.UUIDField(unique=True)
    salts = JSONField()
    digests = JSONField()
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    sealed_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "audit_seals"
        ordering = ["number"]

    def __str__(self) -> str:
        return f"{self.number} {self.hash[:12]}"
