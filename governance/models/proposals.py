"""Proposals, and what people decided and said about them."""

from __future__ import annotations

from django.db import models

from governance.contracts import ProposalState, Risk, StepKind, Verdict
from kernel import clock
from kernel.context import Actor, ActorKind
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.models import Domain

OPEN_STATES = [ProposalState.OPEN.value, ProposalState.CHANGES_REQUESTED.value]
RISKS = [Risk.LOW, Risk.NORMAL, Risk.HIGH]  # their places are what the column holds, so that it orders


class Proposal(models.Model):
    """A validated call that waits for a person: the action, its input and the digest of what it would change.

    A claim is a lease until `claimed_until`; a snooze lasts until `snoozed_until`, or until the same call was `seen`
    `snoozed_to_seen` times. `approvals` counts those that stand at this revision. A `drafted` call is carried out with the
    rights of the one who decides. `evidence` is a digest of all that it rests on, `rests_on` one of each piece that was
    told under its subject. `proposed_input` is the input as the proposer sent it, where a person edited it since.
    `told_before` and `told_after` are what stands and what would stand in the words of its app, for lists; cut.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    action = models.CharField(max_length=80)
    input = JSONField()
    domain = models.ForeignKey(Domain, null=True, blank=True, on_delete=models.PROTECT)
    scope = models.CharField(max_length=240, default="*")
    subject_key = models.CharField(max_length=320)
    evidence = models.CharField(max_length=64, blank=True, default="")
    rests_on = JSONField(default=list)
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
    moved_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True, blank=True)

    subject = models.CharField(max_length=300, blank=True, default="")
    summary = models.CharField(max_length=500, blank=True, default="")
    told_before = models.CharField(max_length=400, blank=True, default="")
    told_after = models.CharField(max_length=400, blank=True, default="")
    search_text = models.TextField(blank=True, default="")
    similar_key = models.CharField(max_length=64, blank=True, default="")
    source_key = models.CharField(max_length=64, blank=True, default="")
    has_conflict = models.BooleanField(default=False)
    risk = models.PositiveSmallIntegerField(default=1)
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    approvals = models.PositiveSmallIntegerField(default=0)
    drafted = models.BooleanField(default=False)
    seen = models.PositiveIntegerField(default=1)

    claimed_by = models.CharField(max_length=64, blank=True, default="")
    claimed_name = models.CharField(max_length=150, blank=True, default="")
    claimed_until = models.DateTimeField(null=True, blank=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)
    snoozed_to_seen = models.PositiveIntegerField(null=True, blank=True)
    snoozed_name = models.CharField(max_length=150, blank=True, default="")
    editor_id = models.CharField(max_length=64, blank=True, default="")
    editor_name = models.CharField(max_length=150, blank=True, default="")
    proposed_input = JSONField(null=True, blank=True)
    blind = models.BooleanField(default=False)

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
            models.Index(fields=["state", "-risk", "id"], name="proposals_by_risk"),
            models.Index(fields=["domain", "state", "-risk", "id"], name="proposals_domain_by_risk"),
            models.Index(fields=["subject_key", "-id"], name="proposals_subject"),
            models.Index(fields=["similar_key", "state"], name="proposals_similar"),
            models.Index(fields=["source_key", "-id"], name="proposals_source"),
            models.Index(fields=["claimed_by", "state"], name="proposals_claimed"),
            models.Index(fields=["state", "moved_at"], name="proposals_moved"),
            models.Index(fields=["domain"], name="proposals_sampled", condition=models.Q(blind=True)),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.proposer_name} ({self.state})"

    @property
    def proposer(self) -> Actor:
        """Who proposed it."""
        return Actor(ActorKind(self.proposer_kind), self.proposer_id, self.proposer_name, self.proposer_owner)


class Decision(models.Model):
    """What a person decided on a proposal; append-only. `input` is what they made of it, where they edited it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions")
    verdict = models.CharField(max_length=20, choices=[(v.value, v.value) for v in Verdict])
    revision = models.PositiveIntegerField()
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    reason = models.TextField(blank=True, default="")
    input = JSONField(null=True, blank=True)
    request_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "decisions"
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(fields=["by_id", "-created_at"], name="decisions_reviewer"),
            models.Index(fields=["created_at"], name="decisions_time"),
            models.Index(fields=["request_id"], name="decisions_request"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.by_name}"


class ProposalStep(models.Model):
    """What else happened to a proposal: claims, snoozes, revisions, comments, recommendations; append-only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="steps")
    kind = models.CharField(max_length=20, choices=[(k.value, k.value) for k in StepKind])
    by_kind = models.CharField(max_length=10)
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    text = models.TextField(blank=True, default="")
    data = JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "proposal_steps"
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.kind} by {self.by_name}"


class Mention(models.Model):
    """A person who was named with @ in a comment."""

    id = models.BigAutoField(primary_key=True)
    step = models.ForeignKey(ProposalStep, on_delete=models.CASCADE, related_name="mentions")
    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="mentions")
    person_id = models.CharField(max_length=64)

    class Meta:
        db_table = "proposal_mentions"
        constraints = [models.UniqueConstraint(fields=["step", "person_id"], name="proposal_mentions_once")]
        indexes = [models.Index(fields=["person_id", "proposal"], name="proposal_mentions_person")]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.step_id}"


class BlindReview(models.Model):
    """A second look at a decided proposal by someone who was not told the verdict; it changes nothing."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="second_look")
    verdict = models.CharField(max_length=20, choices=[(v.value, v.value) for v in Verdict])
    agrees = models.BooleanField()
    by_id = models.CharField(max_length=64)
    by_name = models.CharField(max_length=150)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "blind_reviews"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.by_name}"


class SavedFilter(models.Model):
    """Filters of the review queue under a name, private to their owner or shared; at most one default for each."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner_id = models.CharField(max_length=64)
    owner_name = models.CharField(max_length=150)
    name = models.CharField(max_length=80)
    filters = JSONField(default=dict)
    domain = models.ForeignKey(Domain, null=True, blank=True, on_delete=models.CASCADE)
    shared = models.BooleanField(default=False)
    weight = models.PositiveSmallIntegerField(default=100)
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "saved_filters"
        ordering = ["weight", "name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner_id", "name"], name="saved_filters_name"),
            models.UniqueConstraint(
                fields=["owner_id"], name="saved_filters_one_default", condition=models.Q(is_default=True)
            ),
        ]

    def __str__(self) -> str:
        return self.name
