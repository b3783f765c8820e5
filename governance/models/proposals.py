"""Proposals, and what people decided and said about them."""

from __future__ import annotations

from django.db import models

from governance.contracts import ProposalState
from kernel import clock
from kernel.context import Actor, ActorKind
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.models import Domain

OPEN_STATES = [ProposalState.OPEN.value, ProposalState.CHANGES_REQUESTED.value]


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
