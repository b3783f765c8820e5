"""The steps of SmartRAG's library, in order of dependency."""

from __future__ import annotations

from legacy.steps.base import Step
from legacy.steps.documents import Documents
from legacy.steps.filing import SECTION_TAGS, TOPIC_SECTIONS, TOPIC_TAGS
from legacy.steps.jobs import Jobs
from legacy.steps.objects import Objects
from legacy.steps.references import References
from legacy.steps.sections import Sections
from legacy.steps.tags import Tags
from legacy.steps.topics import Topics

LIBRARY: tuple[Step, ...] = (
    Objects(),
    Documents(),
    Sections(),
    Tags(),
    Topics(),
    SECTION_TAGS,
    TOPIC_SECTIONS,
    TOPIC_TAGS,
    References(),
    Jobs(),
)
