"""Tags in a tree, and topics: the words under which sections are filed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from kernel.contracts import Contract, KeyedInput, KeyedResult, PageInput, PageResult
from media.contracts.documents import KnownTag, OptionalDomain, TagName, one_tag

TopicTitle = Annotated[
    str, Field(min_length=1, max_length=255, pattern=r"^\S(.*\S)?$", description="Its title; yours are unique.")
]
Description = Annotated[str, Field(max_length=10_000, description="What it is about.")]
Tags = Annotated[list[TagName], Field(max_length=50, description="Tags by name; new ones are made.")]


class TagView(Contract):
    """A tag that sections you may see are filed under."""

    id: UUID = Field(description="Tag id.")
    name: str = Field(description="Its name.")
    path: str = Field(description="Its place in the tree, such as `food > fruit > melon`.")
    parent_id: UUID | None = Field(description="The tag above it.")
    section_count: int = Field(description="Sections that you may see under it.")


class ListTagsInput(PageInput):
    """Tags of one domain."""

    domain_id: OptionalDomain = None


class ListTagsResult(PageResult):
    """A page of tags."""

    tags: list[TagView] = Field(description="Tags, in the order in which they were made.")


class TagSectionsInput(KeyedInput):
    """Tags for a document of yours, or for some of its sections."""

    document_id: UUID = Field(description="Document id.")
    section_ids: list[UUID] = Field(default=[], max_length=1000, description="Only these sections; empty: all.")
    tags: Tags = Field(default=[])
    replace: bool = Field(default=False, description="True: take away all other tags; with no tags, every one.")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.tags and not self.replace:
            raise ValueError("give tags, or set replace to take all of them away")
        return self


class TagSectionsResult(KeyedResult):
    """What changed."""

    added: int = Field(description="Filings that are new.")
    removed: int = Field(description="Filings that went.")


class MoveTagInput(KeyedInput):
    """A tag and the place in the tree to put it."""

    tag_id: UUID = Field(description="Tag id.")
    parent: KnownTag | None = Field(default=None, description="The tag above it by name; null: it stands at the top.")
    create_parent: bool = Field(
        default=False, description="True: make the tag above it where there is none that you see."
    )

    @model_validator(mode="after")
    def _nameable(self) -> Self:
        if self.create_parent and self.parent:
            one_tag(self.parent)
        return self


class MoveTagResult(KeyedResult):
    """Where the tag is now."""

    tag: TagView = Field(description="The tag.")


class DeleteTagInput(KeyedInput):
    """A tag to take away."""

    tag_id: UUID = Field(description="Tag id.")
    everywhere: bool = Field(
        default=False,
        description="False: off your own sections and topics. True: off all of the domain, hidden ones included, which "
        "takes the rights to write and to erase in the whole domain.",
    )


class DeleteTagResult(KeyedResult):
    """What went."""

    tag_id: UUID = Field(description="Tag id.")
    removed: int = Field(description="Sections that it was taken off.")
    still_seen: bool = Field(description="Whether you still see it, on sections that others filed under it.")


class TopicView(Contract):
    """A topic."""

    id: UUID = Field(description="Topic id.")
    title: str = Field(description="Its title.")
    description: str = Field(description="What it is about.")
    tags: list[str] = Field(description="Its tags.")
    own: bool = Field(description="Whether it is yours.")
    owner: str = Field(description="Name of its owner.")
    created_at: datetime = Field(description="When it was made.")


class TopicDocument(Contract):
    """A document with sections in a topic."""

    document_id: UUID = Field(description="Document id.")
    title: str = Field(description="Its title.")
    section_count: int = Field(description="Its sections in the topic.")


class CreateTopicInput(KeyedInput):
    """A new topic."""

    domain_id: OptionalDomain = None
    title: TopicTitle
    description: Description = ""
    tags: Tags = []
    document_ids: list[UUID] = Field(
        default=[], max_length=100, description="Documents that you see, to gather in it."
    )


class TopicResult(KeyedResult):
    """A topic as it is now."""

    topic: TopicView = Field(description="The topic.")


class TopicRef(Contract):
    """A topic by its id."""

    topic_id: UUID = Field(description="Topic id.")


class GetTopicInput(PageInput, TopicRef):
    """A topic by its id."""


class GetTopicResult(PageResult):
    """A topic and a page of its documents."""

    topic: TopicView = Field(description="The topic.")
    documents: list[TopicDocument] = Field(description="Its documents that you may see, newest first.")


class ListTopicsInput(PageInput):
    """Topics that you may see: your own, and those that hold sections which you may see."""

    domain_id: OptionalDomain = None


class ListTopicsResult(PageResult):
    """A page of topics."""

    topics: list[TopicView] = Field(description="Topics, newest first.")


class UpdateTopicInput(KeyedInput, TopicRef):
    """What becomes different of a topic of yours; what is left out stays."""

    title: TopicTitle | None = Field(default=None, description="Another title.")
    description: Description | None = Field(default=None, description="What it is about.")
    tags: Tags | None = Field(default=None, description="These in the place of its tags.")


class DeleteTopicInput(KeyedInput, TopicRef):
    """A topic of yours to take away; its documents stay."""


class DeleteTopicResult(KeyedResult):
    """What went."""

    topic_id: UUID = Field(description="Topic id.")


class TopicDocumentInput(KeyedInput, TopicRef):
    """A topic of yours and a document that you may see."""

    document_id: UUID = Field(description="Document id.")


class AddDocumentToTopicResult(KeyedResult):
    """What changed; adding again adds nothing."""

    added_sections: int = Field(description="Sections that are new in the topic.")


class RemoveDocumentFromTopicResult(KeyedResult):
    """What changed; removing again removes nothing."""

    deleted_sections: int = Field(description="Sections that left the topic.")


class TopicRecommendation(Contract):
    """Another topic that shares tags."""

    topic_id: UUID = Field(description="Topic id.")
    title: str = Field(description="Its title.")
    score: float = Field(description="Share of the tags of both that both have, 0 to 1.")


class TopicRecommendationsInput(TopicRef):
    """A topic by its id."""

    limit: int = Field(default=10, ge=1, le=100, description="Topics at most.")


class TopicRecommendationsResult(Contract):
    """Topics that share tags with it."""

    recommendations: list[TopicRecommendation] = Field(description="Topics, those that share most first.")
