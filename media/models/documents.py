"""Tables of documents: what was imported, its sections, who else may see it, and the words they are filed under."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from kernel import clock
from kernel.db import JSONField
from kernel.ids import new_id
from media.contracts.kinds import DocumentState, SourceType
from scopes.models import Domain, MemoryScope


class SourceDocument(models.Model):
    """One imported document of one owner; importing its source again replaces its sections.

    `metadata` has the shape of `media.contracts.metadata`. `owner_id` is the id of the actor who imported it; others
    see it only through a share. What has no `source_uri` is known again by its bytes.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    owner_id = models.CharField(max_length=64)
    owner_name = models.CharField(max_length=150)
    title = models.CharField(max_length=255)
    author = models.CharField(max_length=255, blank=True, default="")
    description = models.TextField(blank=True, default="")
    publication_date = models.DateField(null=True, blank=True)
    language = models.CharField(max_length=10, default="en")
    media_type = models.CharField(max_length=10)
    source_type = models.CharField(max_length=16, choices=[(s.value, s.value) for s in SourceType])
    source_uri = models.CharField(max_length=2000, blank=True, default="")
    content_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=[(s.value, s.value) for s in DocumentState])
    metadata = JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "source_documents"
        verbose_name = "document"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["domain", "owner_id", "source_uri"],
                name="source_documents_source",
                condition=~Q(source_uri=""),
            ),
            models.UniqueConstraint(
                fields=["domain", "owner_id", "content_hash"],
                name="source_documents_content",
                condition=Q(source_uri=""),
            ),
        ]
        indexes = [models.Index(fields=["domain", "owner_id", "created_at"], name="source_documents_owner")]

    def __str__(self) -> str:
        return self.title


class SourceSection(models.Model):
    """One searchable part of a document, numbered from 1. `metadata` says where it is: page, time, place in the text."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    document = models.ForeignKey(SourceDocument, on_delete=models.CASCADE, related_name="sections", db_index=False)
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=500, blank=True, default="")
    content = models.TextField()
    metadata = JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "source_sections"
        ordering = ["document", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="source_sections_number")]

    def __str__(self) -> str:
        return f"{self.document_id} §{self.number}"


class DocumentShare(models.Model):
    """A document may be seen by whoever may read this scope."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    document = models.ForeignKey(SourceDocument, on_delete=models.CASCADE, related_name="shares", db_index=False)
    scope = models.ForeignKey(MemoryScope, on_delete=models.PROTECT)
    shared_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "document_shares"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["document", "scope"], name="document_shares_unique")]

    def __str__(self) -> str:
        return f"{self.document_id} in {self.scope_id}"


class Tag(models.Model):
    """A word that sections of a domain are filed under; tags form a tree. `folded` is the name as it is compared."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    name = models.CharField(max_length=255)
    folded = models.CharField(max_length=255)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children")

    class Meta:
        db_table = "tags"
        ordering = ["folded", "id"]
        constraints = [models.UniqueConstraint(fields=["domain", "folded"], name="tags_unique")]

    def __str__(self) -> str:
        return self.name


class Topic(models.Model):
    """A subject of one owner that sections are gathered under; others see it through sections that they may see."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, db_index=False)
    owner_id = models.CharField(max_length=64)
    owner_name = models.CharField(max_length=150)
    name = models.CharField(max_length=255)
    folded = models.CharField(max_length=255)
    description = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "research_topics"
        ordering = ["folded", "id"]
        constraints = [models.UniqueConstraint(fields=["domain", "owner_id", "folded"], name="research_topics_unique")]

    def __str__(self) -> str:
        return self.name


class SectionTag(models.Model):
    """A section is filed under a tag."""

    pk = models.CompositePrimaryKey("section", "tag")
    section = models.ForeignKey(SourceSection, on_delete=models.CASCADE, db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE)

    class Meta:
        db_table = "section_tags"

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.section_id}"


class TopicSection(models.Model):
    """A section is gathered under a topic."""

    pk = models.CompositePrimaryKey("topic", "section")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, db_index=False)
    section = models.ForeignKey(SourceSection, on_delete=models.CASCADE)

    class Meta:
        db_table = "research_topic_sections"

    def __str__(self) -> str:
        return f"{self.section_id} in {self.topic_id}"


class TopicTag(models.Model):
    """A topic is about a tag."""

    pk = models.CompositePrimaryKey("topic", "tag")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE)

    class Meta:
        db_table = "research_topic_tags"

    def __str__(self) -> str:
        return f"{self.tag_id} of {self.topic_id}"
