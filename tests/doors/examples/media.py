"""An example of every action of media."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from kernel import clock
from media.services.leases import claim
from tests.conftest import TEAM, Cast
from tests.doors.examples.example import PROJECT, SHARED, Example, in_team
from tests.media.jobbing import a_job
from tests.media.shelf import a_plan, put


def _to_retrieve(cast: Cast) -> dict:
    put(cast.agent, "Zebra 斑马 stripes", "more of them", metadata={"page": 2}, shared=("project:shop",))
    plan = a_plan("斑马 stripes", budget={"top_k": 5000}, later=1, filters={"media_type": "document"})
    return {"domain_id": TEAM, "plan": plan, "scope_context": {"read": [PROJECT]}}


def _job(status: str) -> Callable[[Cast], dict]:
    """A media job in that state."""
    return lambda cast: {"id": str(a_job(cast.agent, status, result={"warnings": ["不可读"]}).pk)}


def _failed_jobs(cast: Cast) -> dict:
    failed = [a_job(cast.agent, "failed", error="too_large: 超过上限", scopes=["project:shop"]) for _ in range(2)]
    return {"domain_id": TEAM, "ids": [str(row.pk) for row in failed]}


def _stale_job(cast: Cast) -> dict:
    a_job(cast.agent, "processing", heartbeat_at=clock.now() - timedelta(days=1))
    return {}


def _importing(cast: Cast, **options: object) -> dict:
    """Every field of an import."""
    given = {
        "name": "plan.md",
        "title": "The plan",
        "description": "What we do",
        "author": "李梅",
        "publication_date": "2026-01-02",
        "language": "zh",
        "tags": ["Plans"],
        "source_uri": "https://example.org/plan",
        "metadata": {"mine": [1, "二"]},
        "generate_tags": True,
        **options,
    }
    return {"domain_id": TEAM, "options": given, "scopes": [PROJECT]}


def _text(cast: Cast) -> dict:
    return _importing(cast, text="# 计划\n\nWords.\n\n## 数据库\n\n默认数据库是西瓜。\n")


def _media(cast: Cast) -> dict:
    return _importing(cast, name="melon.png", data=PICTURE)


def a_document(cast: Cast) -> dict:
    return {"document_id": cast.agent.do("add_document", _text(cast))["document_id"]}


def _to_enqueue(cast: Cast) -> dict:
    return {**_text(cast), "operation": "add_document", "idempotency_key": "计划-1"}


def _claimed_job(cast: Cast) -> dict:
    """A job that a worker holds."""
    lease = claim(UUID(cast.agent.do("enqueue_media", _to_enqueue(cast))["job_id"]), clock.now())
    assert lease is not None
    return {"id": str(lease.job_id), "lease_token": str(lease.token)}


PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="  # one pixel
)


def _topic(cast: Cast) -> dict:
    document = a_document(cast)["document_id"]
    for title in ("Near", "计划"):
        given = {"domain_id": TEAM, "title": title, "tags": ["a", "b"], "description": "x", "document_ids": [document]}
        made = cast.agent.do("create_topic", given)
    return {"topic_id": made["topic"]["id"]}


def _tag(cast: Cast) -> dict:
    a_document(cast)
    return {"tag_id": cast.agent.do("list_tags", domain_id=TEAM)["tags"][0]["id"]}


MEDIA: dict[str, Example] = {
    "add_document_to_topic": Example("agent", lambda cast: {**_topic(cast), **a_document(cast)}, "stranger"),
    "create_topic": Example(
        "agent",
        lambda cast: {
            "domain_id": TEAM,
            "title": "Fruit",
            "description": "水果",
            "tags": ["melons"],
            "document_ids": [a_document(cast)["document_id"]],
        },
        "stranger",
    ),
    "delete_topic": Example("agent", _topic, "stranger"),
    "get_topic": Example("agent", _topic, "stranger"),
    "get_topic_recommendations": Example("agent", _topic, "stranger"),
    "list_tags": Example("agent", lambda cast: in_team(_tag(cast)), "stranger"),
    "list_topics": Example("agent", lambda cast: in_team(_topic(cast)), "stranger"),
    "delete_tag": Example("agent", _tag, "stranger"),
    "move_tag": Example("agent", lambda cast: {**_tag(cast), "parent": "Above", "create_parent": True}, "stranger"),
    "remove_document_from_topic": Example("agent", lambda cast: {**_topic(cast), **a_document(cast)}, "stranger"),
    "tag_sections": Example("agent", lambda cast: {**a_document(cast), "tags": ["新"], "replace": True}, "stranger"),
    "update_topic": Example("agent", lambda cast: {**_topic(cast), "title": "New", "tags": ["c"]}, "stranger"),
    "acknowledge_media_job": Example("agent", _job("failed"), "stranger"),
    "cancel_media_job": Example("agent", _job("queued"), "stranger"),
    "enqueue_media": Example("agent", _to_enqueue, "stranger"),
    "run_media_job": Example("agent", _claimed_job, "stranger"),
    "upload_media": Example("agent", lambda cast: {"domain_id": TEAM, "name": "图.png", "data": PICTURE}, "stranger"),
    "get_media_job": Example("agent", _job("partial"), "stranger"),
    "list_media_jobs": Example(
        "agent",
        lambda cast: {**in_team(_failed_jobs(cast)), "status": ["failed", "partial"], "unacknowledged": True},
        "stranger",
    ),
    "media_job_stats": Example("agent", lambda cast: in_team(_failed_jobs(cast)), "stranger"),
    "prune_media_jobs": Example(
        "operator", lambda cast: {"days": 0, "limit": len(_failed_jobs(cast)["ids"])}, "agent"
    ),
    "recover_media_jobs": Example("operator", _stale_job, "agent"),
    "retry_media_job": Example("agent", _job("failed"), "stranger"),
    "retry_media_jobs": Example("agent", _failed_jobs, "stranger"),
    "add_audio": Example("agent", lambda cast: _importing(cast, name="song.mp3", data="SUQzBAAAAAAAAA=="), "stranger"),
    "add_document": Example("agent", _text, "stranger"),
    "add_image": Example("agent", _media, "stranger"),
    "add_media": Example("agent", lambda cast: _importing(cast, data=PICTURE, media_type="auto"), "stranger"),
    "add_video": Example(
        "agent", lambda cast: _importing(cast, name="clip.avi", data="UklGRiQAAABBVkkgTElTVA=="), "stranger"
    ),
    "get_document": Example("agent", lambda cast: {**a_document(cast), "limit": 1}, "stranger"),
    "get_document_file": Example("agent", a_document, "stranger"),
    "list_documents": Example("agent", lambda cast: {**in_team(a_document(cast)), "tag": "plans"}, "stranger"),
    "remove_document": Example("agent", lambda cast: {**a_document(cast), "reason": "old"}, "stranger"),
    "share_document": Example("agent", lambda cast: {**a_document(cast), "scope": SHARED}, "stranger"),
    "unshare_document": Example("agent", lambda cast: {**a_document(cast), "scope": PROJECT}, "stranger"),
    "retrieve": Example("agent", _to_retrieve, "stranger"),
    "check_media": Example("operator", lambda cast: {}, "agent"),
    "garbage_collect_media_objects": Example("operator", lambda cast: {"limit": 10, "min_age_hours": 0}, "agent"),
}
