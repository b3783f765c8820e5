"""What SmartBrain 0.2 added: domains, scopes, links, relations and the life of knowledge, beside rows older than it."""

from __future__ import annotations

from typing import Any

from tests.legacy.sources.brain import Talk, item
from tests.legacy.sources.rows import Row, Rows

TEAM = "team-a"


def widen(rows: Rows, talks: list[Talk]) -> None:
    """Make the rows those of a 0.2 that migrated its own 0.1 data, and give the last conversation project memory."""
    domain(rows, "legacy")
    domain(rows, TEAM)
    scopes = {talk.session: scope(rows, "legacy", "session", talk.session) for talk in talks[:-1]}
    project = scope(rows, TEAM, "project", "shop")
    own = scope(rows, TEAM, "session", talks[-1].session, parent_scope_id=project["id"])
    scopes[talks[-1].session] = own
    for row in rows["sessions"]:
        row["domain_id"] = TEAM if row["id"] == talks[-1].session else "legacy"
    for row in rows["memory_items"]:
        row |= {"scope_id": scopes[row["session_id"]]["id"], "source_session_id": row["session_id"]}
        row["lifecycle_status"] = "promoted"
    owners = {entity: talk.session for talk in talks for entity in talk.entities.values()}
    for row in rows["entities"]:
        row |= {"scope_id": scopes[owners[row["id"]]]["id"], "source_session_id": owners[row["id"]]}
    for session, held in scopes.items():
        link(rows, session, held, 0)
    link(rows, talks[-1].session, project, 10)
    for talk in talks:
        relate(rows, talk, scopes[talk.session])
    _share(rows, talks[-1], project)


def _share(rows: Rows, talk: Talk, project: Row) -> None:
    value = {"project": "shop", "topic": "currency", "decision": "The shop sells in kronor 店铺用克朗"}
    given: dict[str, Any] = {"scope_id": project["id"], "source_session_id": talk.session}
    for lifecycle, topic in (
        ("promoted", "currency"),
        ("candidate", "vat"),
        ("demoted", "coins"),
        ("retired", "checks"),
    ):
        told = {**value, "topic": topic, "decision": f"{value['decision']} {topic}"}
        row = item(
            rows, talk.session, "decisions", f"decision:shop:{topic}", told, lifecycle_status=lifecycle, **given
        )
        rows.add(
            "knowledge_events", id=rows.id(), memory_item_id=row["id"], event_type="promote", from_status="candidate",
            to_status=lifecycle, reason="asked for 已确认", reviewer="ada", metadata_json={"refs": []}, created_at=rows.tick(1),
        )  # fmt: skip


def domain(rows: Rows, name: str) -> Row:
    at = rows.tick(1)
    return rows.add("domains", id=name, metadata={"owner": "ops"}, created_at=at, updated_at=at)


def scope(rows: Rows, domain_id: str, scope_type: str, external_id: str, **columns: Any) -> Row:
    at = rows.tick(1)
    given = {"parent_scope_id": None, "metadata_json": {}, "created_at": at, "updated_at": at, **columns}
    return rows.add(
        "memory_scopes", id=rows.id(), domain_id=domain_id, scope_type=scope_type, external_id=external_id, **given
    )


def link(rows: Rows, session: str, held: Row, priority: int, access_mode: str = "read_write") -> Row:
    return rows.add(
        "session_scope_links", session_id=session, scope_id=held["id"], access_mode=access_mode, priority=priority,
        created_at=rows.tick(1),
    )  # fmt: skip


def relate(rows: Rows, talk: Talk, held: Row, **columns: Any) -> Row:
    at = rows.tick(1)
    given = {
        "subject": talk.project, "predicate": "stored_in", "object": f"octo/{talk.project}", "status": "active",
        "valid_from": at, "valid_to": None, "scope_id": held["id"], "source_session_id": talk.session,
        "created_at": at, "updated_at": at, **columns,
    }  # fmt: skip
    return rows.add("kg_edges", id=rows.id(), session_id=talk.session, **given)
