"""Tables of the event store: sessions, turns, messages, tool calls, references and summaries. Events never change."""

from __future__ import annotations

from django.db import models

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from scopes.models import Domain, MemoryScope


class Session(models.Model):
    """One conversation. `external_id` is the caller's own id; `scope` is its private session scope."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    external_id = models.CharField(max_length=200)
    scope = models.OneToOneField(MemoryScope, on_delete=models.PROTECT)
    last_seq = models.PositiveIntegerField(default=0)
    metadata = JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "sessions"
        ordering = ["-id"]
        indexes = [models.Index(fields=["domain", "-id"], name="sessions_domain")]

    def __str__(self) -> str:
        return self.external_id


class SessionScopeLink(models.Model):
    """A scope that a session has used. `priority` gives a stable order and diagnostics, never precedence."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="links")
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT)
    access_mode = models.CharField(max_length=10, choices=[("read", "read"), ("read_write", "read and write")])
    priority = models.IntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "session_scope_links"
        ordering = ["priority", "id"]
        constraints = [
            models.UniqueConstraint(fields=["session", "scope"], name="session_scope_links_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.session} {self.access_mode} {self.scope}"


class Turn(models.Model):
    """One commit to a session. `seq` counts from 1 without gaps; `entity_names` are the folded names of the entities
    that it mentioned, for counting how often they come up."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="turns")
    seq = models.PositiveIntegerField()
    default_write = models.ForeignKey(MemoryScope, null=True, on_delete=models.PROTECT)
    author_id = models.CharField(max_length=64)
    author_name = models.CharField(max_length=150)
    entity_names = JSONField(default=list)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "turns"
        ordering = ["session", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="turns_unique"),
        ]
        indexes = [models.Index(fields=["domain", "-id"], name="turns_domain")]

    def __str__(self) -> str:
        return f"{self.session} #{self.seq}"


class Message(models.Model):
    """One message of a turn; `created_at` is its own time as given, else the commit's.

    `recalled` are the parts of `content`, as (from, to) in characters, that are rendered memory: they stay in it, and
    are neither evidence nor found.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="messages")
    position = models.PositiveIntegerField()
    external_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001  NULL is "none given"
    role = models.CharField(max_length=32)
    name = models.CharField(max_length=200, blank=True, default="")
    content = models.TextField()
    model = models.CharField(max_length=200, blank=True, default="")
    meta = JSONField(default=dict, blank=True)
    recalled = JSONField(default=list, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    recorded_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "messages"
        ordering = ["turn", "position"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "position"], name="messages_unique"),
        ]
        indexes = [
            models.Index(
                fields=["domain", "external_id"],
                name="messages_external",
                condition=models.Q(external_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name or self.role}: {self.content[:60]}"


class ToolCall(models.Model):
    """One tool call of a turn with its result."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="tool_calls")
    position = models.PositiveIntegerField()
    external_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001  NULL is "none given"
    name = models.CharField(max_length=200)
    args = JSONField(null=True, blank=True)
    result = JSONField(null=True, blank=True)
    status = models.CharField(max_length=32, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "tool_calls"
        ordering = ["turn", "position"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "position"], name="tool_calls_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.status})"


class Ref(models.Model):
    """A file, address or artifact that a turn refers to."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="refs")
    position = models.PositiveIntegerField()
    external_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001  NULL is "none given"
    ref_type = models.CharField(max_length=16)
    ref_uri = models.CharField(max_length=2000)
    ref_meta = JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "refs"
        ordering = ["turn", "position"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "position"], name="refs_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.ref_type} {self.ref_uri}"


class Summary(models.Model):
    """One version of a session's working summary, made from turns `source_from` to `source_to`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="summaries")
    version = models.PositiveIntegerField()
    text = models.TextField()
    source_from = models.PositiveIntegerField()
    source_to = models.PositiveIntegerField()
    trigger = models.CharField(max_length=20)
    generated_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "summaries"
        ordering = ["session", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["session", "version"], name="summaries_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.session} summary v{self.version}"
