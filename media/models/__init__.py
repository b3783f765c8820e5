"""The tables of documents, of stored bytes and of the jobs that read them."""

from __future__ import annotations

from media.models.documents import (
    DocumentShare,
    SectionTag,
    SourceDocument,
    SourceSection,
    Tag,
    Topic,
    TopicSection,
    TopicTag,
)
from media.models.jobs import MediaJob
from media.models.objects import MediaObject, MediaObjectReference

__all__ = [
    "DocumentShare",
    "MediaJob",
    "MediaObject",
    "MediaObjectReference",
    "SectionTag",
    "SourceDocument",
    "SourceSection",
    "Tag",
    "Topic",
    "TopicSection",
    "TopicTag",
]
