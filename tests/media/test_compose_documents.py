"""Our own documents in a context: where they stand, whose they are, and the room that they share with memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import override_settings

from kernel.conf import conf
from tests.conftest import TEAM, make_agent
from tests.media.shelf import put
from tests.memory.talk import commit, compose, context, decision, shown

ASK = "请查资料并给引用：zebra stripes?"
P = context("project:p", default=None)


def documents(package: dict) -> list[str]:
    return [item["snippet"] for item in package["evidence"] if item["source"] == "resource"]


def test_it_works(cast):
    commit(cast.agent, decisions=[decision("zebra stripes are black")])
    row = put(
        cast.agent,
        "Zebra stripes keep flies away.",
        metadata={"page": 7, "start_ms": 5_000, "end_ms": 65_000, "speaker": "Ann\n[E9] x"},
    )
    package = compose(cast.agent, ASK, render=True)
    (found,) = [item for item in package["evidence"] if item["source"] == "resource"]
    assert found["snippet"] == "Zebra stripes keep flies away."
    assert found["ref"]["document_id"] == str(row.id)
    assert (found["title"], found["source_uri"], found["kind"]) == (row.title, row.source_uri, "resource_section")
    position = {key: value for key, value in found["position"].items() if value is not None}
    assert position == {
        "page": 7,
        "section_title": "Part 1",
        "start_ms": 5_000,
        "end_ms": 65_000,
        "speaker": "Ann\n[E9] x",
        "media_type": "document",
    }
    assert "zebra stripes are black" in shown(package)
    block = package["messages"][-2]["content"]
    assert "page 7, Part 1, 00:00:05–00:01:05, Ann [E9] x" in block
    assert sum(line.startswith("[E") for line in block.splitlines()) == len(package["evidence"])
    assert cast.agent.do("diagnostics", domain_id=TEAM)["metrics"]["memory_resource_ratio"] == "1/1"


def test_who_needs_no_documents_reads_none(cast):
    put(cast.agent, "zebra stripes")
    assert documents(compose(cast.agent, "Which zebra?")) == []


def test_without_documents_memory_stands_alone(cast):
    package = compose(cast.agent, ASK)
    assert documents(package) == []
    assert "no document store is configured: memory only" in package["debug"]["ignored"]


def test_what_is_named_elsewhere_is_asked_instead(cast):
    put(cast.agent, "zebra stripes")
    nobody = replace(conf(), resource_url="http://127.0.0.1:9/v1/retrieve", resource_timeout=60.0)
    with override_settings(SMARTBRAIN=nobody):
        package = compose(cast.agent, ASK)
    assert documents(package) == []
    assert any("not reachable" in text for text in package["debug"]["ignored"])


def test_memory_and_documents_share_the_room(cast):
    """40/60 of twelve, and no more than two of a source."""
    document = {"scopes": {"max_items_per_scope": 50}, "retrieval": {"enable_resource_retrieval": True}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tests")
    commit(cast.agent, decisions=[decision(f"zebra stripes {n}", f"decision:z:d{n}") for n in range(20)])
    for n in range(20):
        put(cast.agent, f"zebra stripes of kind {n}", f"zebra stripes once more {n}", f"stripes of a zebra {n}")
    package = compose(cast.agent, "zebra stripes?")
    assert (len(documents(package)), len(package["evidence"])) == (8, 12)
    uris = [item["source_uri"] for item in package["evidence"] if item["source"] == "resource"]
    assert max(uris.count(uri) for uri in uris) <= 2


@pytest.mark.parametrize("few", [300, 1], ids=["few", "many"])
def test_only_what_is_read_through_the_scopes_is_shown(cast, monkeypatch, few):
    monkeypatch.setattr("media.selectors.retrieving.FEW", few)
    other = make_agent("other")
    put(cast.agent, "zebra stripes of p", shared=("project:p",))
    put(cast.agent, "zebra stripes of q", shared=("project:q",))
    put(cast.agent, "zebra stripes of nobody else")
    put(other, "zebra stripes of another")
    assert set(documents(compose(cast.agent, ASK, scope_context=P))) == {
        "zebra stripes of p",
        "zebra stripes of nobody else",
    }
    package = compose(other, ASK, scope_context=P, session_id="s9")
    assert set(documents(package)) == {"zebra stripes of p", "zebra stripes of another"}
    assert package["debug"]["scope_filter_warnings"] == []
    assert documents(compose(other, ASK, session_id="s9")) == ["zebra stripes of another"]


def test_a_session_alone_reads_what_it_reads_when_it_is_named(cast):
    """Decision 17."""
    put(cast.agent, "zebra stripes of nobody else")
    put(cast.agent, "zebra stripes of p", shared=("project:p",))
    alone = compose(cast.agent, ASK)
    named = compose(cast.agent, ASK, scope_context=context("session:s1"))
    assert documents(alone) == documents(named) == ["zebra stripes of nobody else"]
