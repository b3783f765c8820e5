"""Proposals about memory that one decision may do for, and what was waiting before they were told apart by number."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from governance.models import Proposal
from kernel.ids import new_id
from memory.extensions.alike import alike
from tests.governance.desk import HELD, make_desk, propose
from tests.guards.write_guard import unguarded
from tests.memory.talk import commit, context, decision, only


def written(text: str, key: str = "decision:shop:a", **item: object) -> str:
    given = {"type": "decisions", "scope": {"type": "project", "id": "shop"}, "turn_id": key}
    return alike("write_memory_item", {**given, "item": {"key": key, "decision": text, **item}})


def learned(*texts: str, said: str = "") -> str:
    events = {"decisions": [{"key": f"decision:shop:{text}", "decision": text} for text in texts]}
    messages = [{"role": "user", "content": said}] if said else []
    return alike("commit_turn", {"session_id": said, "turn_events": {**events, "messages": messages}})


def denied(key: str, reason: str = "", **more: object) -> str:
    gone = {"type": "decisions", "key": key, "reason": reason, **more}
    return alike("commit_turn", {"session_id": "s1", "turn_events": {"retractions": [gone], "messages": []}})


def test_it_works():
    one = written("Build 1234 failed.", "decision:shop:build-1234-failed")
    assert one == written("build 1235 failed", "decision:shop:build-1235-failed")
    assert one != written("Build 1235 passed", "decision:shop:build-1235-passed")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (written("Use Postgres 15"), written("Use Postgres 16")),
        (written("5432", "decision:shop:port"), written("5432", "decision:shop:redis-port")),
        (written("Use it", "decision:shop:redis"), written("Use it", "decision:shop:kafka")),
        (written("Use Redis", confidence=0.9), written("Use Redis", confidence=0.2)),
        (written("Use Redis", valid_from="2026-01-01"), written("Use Redis", valid_from="2026-02-01")),
        (written("Use it", value={"scope": "read"}), written("Use it", value={"scope": "write"})),
        (written("Use it", value={"reason": "a", "key": "k"}), written("Use it", value={"reason": "b", "key": "k"})),
        (written("Use it", value={"key": "a"}), written("Use it", value={"key": "b"})),
        (alike("correct_item", {"value": {"scope": "read"}}, "Token"), alike("correct_item", {"value": {"scope": "write"}}, "Token")),
        (alike("correct_item", {"value": {"notes": []}}, "Token"), alike("correct_item", {"value": {"due": None}}, "Token")),
        (denied("decision:shop:a"), denied("decision:shop:b")),
        (learned("Use Redis"), learned("Use Redis", "Drop Kafka")),
        (learned("Use Redis", "Drop Kafka"), learned("Use Redis", "Keep Kafka")),
        (learned(said="Use Redis"), learned(said="Use Kafka")),
        (alike("retract_item", {}, "Use Redis"), alike("promote_to_scope", {}, "Use Redis")),
        (alike("retract_item", {}, "Use Redis 6"), alike("retract_item", {}, "Use Redis 7")),
        (alike("demote", {"status": "demoted"}, "Redis"), alike("demote", {"status": "retired"}, "Redis")),
        (alike("correct_item", {"text": "6"}, "Redis 5"), alike("correct_item", {"text": "7"}, "Redis 5")),
        (alike("narrow_item", {"target_scope": {"id": "a"}}, "Redis"), alike("narrow_item", {"target_scope": {"id": "b"}}, "Redis")),
    ],
)  # fmt: skip
def test_what_differs_in_a_fact_is_decided_apart(one, other):
    assert one != other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (denied("decision:shop:a", "wrong"), denied("decision:shop:a", "never said", scope_ref={"type": "task", "id": "t"})),
        (written("Use it", evidence_refs=[{"kind": "url", "id": "https://a.example"}]), written("Use it", valid_from=None)),
        (learned("Use Redis.", said="hello"), learned("use redis", said="good morning")),
        (learned(said="Please use Redis"), learned(said="use redis.")),
        (alike("retract_item", {"reason": "a", "memory_item_id": "1"}, "Use it"), alike("retract_item", {"reason": "b"}, "use it.")),
        (written("The shop runs Redis", "decision:shop:redis"), written("the shop runs redis", "decision:shop:runs-redis")),
    ],
)  # fmt: skip
def test_what_differs_around_it_is_decided_together(one, other):
    assert one == other


@pytest.mark.parametrize("name", ["0010_alike", "0011_alike_by_whole_values"])
def test_what_was_waiting_is_told_apart_too(db, name):
    """Of turns, and of acts on an item; also where that is gone by now."""
    gone = {"name": "gone", "actions": ["retract_item"], "scope_types": ["task"]}
    agent = make_desk(queue=[*HELD["review"]["queue"], gone]).cast.agent
    ids = [propose(agent, text) for text in ("Use Redis 6", "use redis 6.", "Use Redis 7")]
    for text in ("Use Kafka 2", "Use Kafka 3"):
        known = only(commit(agent, scopes=context("task:t"), decisions=[decision(text, f"decision:t:{text[-1]}")]))[
            "id"
        ]
        answer = agent.do("retract_item", memory_item_id=known, reason="it was wrong")
        ids.append(answer["proposal"]["id"])
    right = {str(pk): key for pk, key in Proposal.objects.values_list("pk", "similar_key")}
    lost = Proposal.objects.get(pk=ids[-1])
    lost.input["memory_item_id"] = str(new_id())
    right[ids[-1]] = alike("retract_item", lost.input)
    with unguarded():
        lost.save()
        Proposal.objects.update(similar_key="as before")
        import_module(f"memory.migrations.{name}").rekey(apps, SimpleNamespace(connection=connection))
    assert {str(pk): key for pk, key in Proposal.objects.values_list("pk", "similar_key")} == right
    same, also, *apart = (right[each] for each in ids)
    assert same == also
    assert len({same, *apart}) == 4
