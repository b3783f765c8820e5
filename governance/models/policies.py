"""Versions of policies."""

from __future__ import annotations

from django.db import models

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.models import Domain


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
