"""Tables of policies, proposals, decisions, the audit log and idempotency records."""

from __future__ import annotations

from django.db import models

from governance.contracts import Outcome, ProposalState
from kernel import clock
from kernel.context import Actor, ActorKind
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.models import Domain

OPEN_STATES = [ProposalState.OPEN.value, ProposalState.CHANGES_REQUESTED.value]


class PolicyVersion(models.Model):
    """One immutable version of the policy of a domain, or of the whole installation where the domain is NULL."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, null=True, blank=True, on_delete=models.PROTECT)
    number = models.PositiveIntegerField()
    source = models.CharField(max_length=8, choices=[("file", "file"), ("action", "action")])
    digest = models.CharField(max_length=64)
    document = JSONField(default=dict)
    reason = models.TextField(blank=True, default="")
    author_id = models.CharField(max_length=64)
    author_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "policy_versions"
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["domain", "source", "number"],
                name="policy_versions_unique_in_domain",
                condition=models.Q(domain__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["source", "number"],
                name="policy_versions_unique_overall",
                condition=models.Q(domain__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.domain_id or 'all'} {self.source} v{self.number}"


class Proposal(models.Model):
    """A validated call that waits for a person: the action, its input and the digest of what it would change."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    action = models.CharField(max_length=80)
    input = JSONField()
    domain = models.ForeignKey(Domain, null=True, blank=True, on_delete=models.PROTECT)
    scope = models.CharField(max_length=240, default="*")
    subject_key = models.CharField(max_length=320)
    revision = models.PositiveIntegerField(default=1)
    digest = models.CharField(max_length=64)
    changes = JSONField(default=list)
    rule = models.CharField(max_length=120)
    policy_version = models.CharField(max_length=200)
    state = models.CharField(
        max_length=20, default=ProposalState.OPEN.value, choices=[(s.value, s.value) for s in ProposalState]
    )
    proposer_kind = models.CharField(max_length=10)
    proposer_id = models.CharField(max_length=64)
    proposer_name = models.CharField(max_length=150)
    proposer_owner = models.CharField(max_length=64, blank=True, default="")
    request_id = models.UUIDField()
    last_error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "proposals"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["domain", "subject_key"],
                name="proposals_one_open_a_subject",
                condition=models.Q(state__in=OPEN_STATES, domain__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["subject_key"],
                name="proposals_one_open_overall",
                condition=models.Q(state__in=OPEN_STATES, domain__isnull=True),
            ),
        ]
        indexes = [
            models.Index(fields=["domain", "state", "-id"], name="proposals_queue"),
            models.Index(fields=["proposer_id", "-id"], name="proposals_proposer"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.proposer_name} ({self.state})"

    @property
    def proposer(self) -> Actor:
        """Who proposed it."""
        return Actor(ActorKind(self.proposer_kind), self.proposer_id, self.proposer_name, self.proposer_owner)


class Decision(models.Model):
    """What a person decided on a proposal; append-only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions")
    verdict = models.CharField(max_length=20, choices=[(s.value, s.value) for s in ProposalState])
    revision = models.PositiveIntegerField()
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "decisions"
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.by_name}"


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

    class Meta:
        db_table = "audit_entries"
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["domain", "-id"], name="audit_domain"),
            models.Index(fields=["actor_id", "-id"], name="audit_actor"),
            models.Index(fields=["action", "-id"], name="audit_action"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action}: {self.outcome}"


class IdempotencyRecord(models.Model):
    """The first answer to an idempotency key. `domain` and `actor` are text, so the key needs no row elsewhere."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.CharField(max_length=64, blank=True, default="")
    actor = models.CharField(max_length=64)
    action = models.CharField(max_length=80)
    key = models.CharField(max_length=128)
    fingerprint = models.CharField(max_length=64)
    answer = JSONField(null=True)
    queued = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "idempotency_records"
        constraints = [
            models.UniqueConstraint(fields=["domain", "actor", "action", "key"], name="idempotency_records_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.key}"
