"""For every action of media, an input for each state of a row."""

from __future__ import annotations

from tests.guards.inputs.memory import places
from tests.guards.world import KEY, MARK, Ids, Inputs, context
from tests.media.shelf import a_plan


def _retrieves(ids: Ids) -> dict[str, dict]:
    """A plan in every place but the task, to which nothing is shared, and one with its place inside."""
    plan = a_plan("What of Planboard?")
    found = {name: {**tree, "plan": plan} for name, tree in places(ids).items() if name != "task"}
    inside = {**plan, **context(f"project:{ids.project}"), "domain_id": ids.domain}
    return {**found, "plan of project": inside}


def _jobs(ids: Ids) -> dict[str, dict]:
    return {"own": {"id": ids.job}, "project": {"id": ids.project_job}}


def _job_lists(ids: Ids) -> dict[str, dict]:
    return {"domain": {"domain_id": ids.domain}, "all": {}}


def _imports(ids: Ids) -> dict[str, dict]:
    """An import into a scope of the team, of text and of what the team uploaded."""
    project = {"domain_id": ids.domain, "scopes": [{"type": "project", "id": ids.project}], **KEY}
    return {
        "text": {**project, "options": {"text": "words", "source_uri": f"https://example.org/{MARK}"}},
        "upload": {**project, "source": f"upload:{ids.document}"},
    }


def _documents(**fields: object) -> Inputs:
    return lambda ids: {"project": {"document_id": ids.document, **fields}}


def _shares(ids: Ids) -> dict[str, dict]:
    scopes = {"project": {"type": "project", "id": ids.project}, "task": {"type": "task", "id": "t"}}
    return {state: {**KEY, "document_id": ids.document, "scope": scope} for state, scope in scopes.items()}


def _topics(**fields: object) -> Inputs:
    return lambda ids: {"topic": {"topic_id": ids.topic, **fields}}


def _gathered(ids: Ids) -> dict[str, dict]:
    return {"topic": {**KEY, "topic_id": ids.topic, "document_id": ids.document}}


MEDIA: dict[str, Inputs] = {
    "add_document_to_topic": _gathered,
    "create_topic": lambda ids: {
        "document": {**KEY, "domain_id": ids.domain, "title": "mine", "document_ids": [ids.document]}
    },
    "delete_topic": _topics(**KEY),
    "get_topic": _topics(),
    "get_topic_recommendations": _topics(),
    "list_tags": lambda ids: {"domain": {"domain_id": ids.domain}},
    "list_topics": lambda ids: {"domain": {"domain_id": ids.domain}},
    "delete_tag": lambda ids: {"tag": {**KEY, "tag_id": ids.tag}},
    "move_tag": lambda ids: {"tag": {**KEY, "tag_id": ids.tag}},
    "remove_document_from_topic": _gathered,
    "tag_sections": _documents(**KEY, tags=["mine"]),
    "update_topic": _topics(**KEY, title="mine"),
    "add_audio": _imports,
    "add_document": _imports,
    "add_image": _imports,
    "add_media": _imports,
    "add_video": _imports,
    "get_document": lambda ids: {"document": {"document_id": ids.document}},
    "get_document_file": lambda ids: {"document": {"document_id": ids.document}},
    "list_documents": lambda ids: {"domain": {"domain_id": ids.domain}},
    "remove_document": _documents(**KEY, reason="because"),
    "share_document": _shares,
    "unshare_document": _shares,
    "enqueue_media": lambda ids: {
        state: {**tree, "operation": "add_document"} for state, tree in _imports(ids).items()
    },
    "run_media_job": lambda ids: {
        state: {**tree, "lease_token": "019abcde-0000-4000-8000-000000000000"} for state, tree in _jobs(ids).items()
    },
    "upload_media": lambda ids: {"domain": {"domain_id": ids.domain, "name": "plan.md", "data": "no base64"}},
    "acknowledge_media_job": _jobs,
    "cancel_media_job": _jobs,
    "get_media_job": _jobs,
    "list_media_jobs": _job_lists,
    "media_job_stats": _job_lists,
    "prune_media_jobs": lambda ids: {"all": {"days": 0}},
    "recover_media_jobs": lambda ids: {"all": {}},
    "retry_media_job": _jobs,
    "retry_media_jobs": lambda ids: {**_job_lists(ids), "named": {"ids": [ids.job]}},
    "retrieve": _retrieves,
    "check_media": lambda ids: {"store": {}},
    "garbage_collect_media_objects": lambda ids: {"store": {}},
}
