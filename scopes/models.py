"""Tables of domains, scopes, principals, keys, grants and reviewer assignments."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.contracts import Role


class Domain(models.Model):
    """The outermost isolation boundary: a user, tenant or application."""

    id = models.CharField(primary_key=True, max_length=64)
    metadata = JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "domains"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.id


class MemoryScope(models.Model):
    """Where long-term memory belongs. `key` is the small number that indexes use; `id` is what leaves the process.

    `owner` is the id of the actor who opened a session scope. `partition` is empty but for sessions of the legacy
    domain, whose ids are per principal: there it is that principal's id.
    """

    key = models.BigAutoField(primary_key=True)
    id = models.UUIDField(unique=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, related_name="scopes")
    scope_type = models.CharField(max_length=32)
    external_id = models.CharField(max_length=200)
    partition = models.CharField(max_length=64, default="", blank=True)
    owner = models.CharField(max_length=64, default="", blank=True)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT)
    metadata = JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "memory_scopes"
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(
                fields=["domain", "scope_type", "external_id", "partition"], name="memory_scopes_unique"
            ),
        ]
        indexes = [models.Index(fields=["owner"], name="memory_scopes_owner")]

    def __str__(self) -> str:
        return f"{self.domain_id}/{self.name}"

    @property
    def name(self) -> str:
        """The written form, `type:id`."""
        return f"{self.scope_type}:{self.external_id}"


class Principal(models.Model):
    """Someone who carries a key: an agent or a service, answered for by a person."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=16, default="agent")
    active = models.BooleanField(default=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "principals"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """One secret of a principal: only its prefix and SHA-256 are kept. The secret has 256 random bits, so a fast hash
    is enough."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    principal = models.ForeignKey(Principal, on_delete=models.CASCADE, related_name="keys")
    prefix = models.CharField(max_length=16, unique=True)
    hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=clock.now)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "api_keys"
        ordering = ["-created_at", "id"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.prefix}…"


class Grant(models.Model):
    """Rights of a principal on the scopes that a pattern names in one domain."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    principal = models.ForeignKey(Principal, on_delete=models.CASCADE, related_name="grants")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT)
    pattern = models.CharField(max_length=240, default="*")
    rights = JSONField(default=list)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "grants"
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["principal", "domain", "pattern"], name="grants_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.principal} on {self.domain_id}/{self.pattern}"


class ReviewerAssignment(models.Model):
    """The scopes of one domain in which a signed-in person acts in a role. It counts only while the person is in the
    group of that role."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="assignments")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT)
    pattern = models.CharField(max_length=240, default="*")
    role = models.CharField(
        max_length=10, default=Role.REVIEWER.value, choices=[(role.value, role.value) for role in Role]
    )
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "reviewer_assignments"
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "domain", "pattern", "role"], name="reviewer_assignments_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.role} of {self.domain_id}/{self.pattern}"
