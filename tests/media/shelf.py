"""Documents put on a shelf by hand: rows and index entries, without an import."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from media.models import DocumentShare, SectionTag, SourceDocument, SourceSection, Tag, Topic, TopicSection
from media.selectors.sight import private_scope
from scopes.models import MemoryScope
from search import services
from search.contracts import Kind, NewEntry
from tests.conftest import TEAM, Player
from tests.guards.write_guard import unguarded

WHEN = datetime(2026, 3, 1, tzinfo=UTC)
PLAN = {
    "version": "0.1",
    "request_id": "01a22ffd-c3f2-7c9a-9451-3528953149e0",
    "purpose": "qa",
    "budget": {},
}
_numbers = itertools.count(1)


def a_plan(text: str = "zebra", /, **fields: Any) -> dict:
    return {**PLAN, "queries": [{"text": text}], **fields}


def scope(name: str, domain: str = TEAM) -> MemoryScope:
    scope_type, _, external_id = name.partition(":")
    row, _ = MemoryScope.objects.get_or_create(
        domain_id=domain, scope_type=scope_type, external_id=external_id, partition=""
    )
    return row


def put(owner: Player, *texts: str, shared: tuple[str, ...] = (), domain: str = TEAM, **fields: Any) -> SourceDocument:
    """A document with a section for each text, findable by its owner and through the scopes it is shared to.

    `tag` and `topic` file every section; `metadata` is that of every section, `document` that of the document.
    """
    number = next(_numbers)
    tag, topic, place = fields.pop("tag", None), fields.pop("topic", None), fields.pop("metadata", {})
    at = fields.pop("at", WHEN)
    with unguarded(), transaction.atomic():
        row = SourceDocument.objects.create(
            domain_id=domain,
            owner_id=owner.identity.actor.id,
            owner_name=owner.name,
            metadata=fields.pop("document", {}),
            created_at=at,
            content_hash=f"{number:064}",
            state="completed",
            **{
                "title": f"Document {number}",
                "media_type": "document",
                "source_type": "url",
                "source_uri": f"https://docs.example/{number}",
                **fields,
            },
        )
        sections = [
            SourceSection.objects.create(
                domain_id=domain,
                document=row,
                number=at_number,
                title=f"Part {at_number}",
                content=text,
                metadata=place,
            )
            for at_number, text in enumerate(texts, 1)
        ]
        scopes = [scope(private_scope(row.owner_id), domain), *(scope(name, domain) for name in shared)]
        for each in scopes[1:]:
            DocumentShare.objects.create(domain_id=domain, document=row, scope=each, shared_by=owner.name)
        for section in sections:
            if tag:
                SectionTag.objects.create(section=section, tag=tag)
            if topic:
                TopicSection.objects.create(section=section, topic=topic)
        services.add(
            NewEntry(Kind.SECTION, section.id, domain, each.key, f"{section.title} {section.content}", at, at)
            for each in scopes
            for section in sections
        )
    return row


def a_tag(name: str, domain: str = TEAM) -> Tag:
    with unguarded():
        return Tag.objects.create(domain_id=domain, name=name, folded=name)


def a_topic(name: str, domain: str = TEAM) -> Topic:
    with unguarded():
        return Topic.objects.create(domain_id=domain, name=name, folded=name)


def retrieve(player: Player, plan: dict, /, **beside: Any) -> dict:
    return player.do("retrieve", {"plan": plan, "domain_id": TEAM, **beside})


def snippets(pack: dict) -> list[str]:
    return [evidence["snippet"] for evidence in pack["evidences"]]


def documents(pack: dict) -> list[UUID]:
    return [UUID(evidence["document_id"]) for evidence in pack["evidences"]]


def reads(*names: str) -> dict:
    """A scope context that reads these."""
    refs = [dict(zip(("type", "id"), name.split(":", 1), strict=True)) for name in names]
    return {"scope_context": {"read": refs}}
