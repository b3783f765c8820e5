"""From an import to evidence: what `add_document` took in is retrieved and composed, and clients hand imports on."""

from __future__ import annotations

import pytest

from kernel.errors import IdempotencyConflictError
from memory.resources import DirectClient
from tests.conftest import TEAM, make_agent
from tests.media.shelf import a_plan, reads, retrieve, snippets
from tests.memory.talk import compose

HANDBOOK = "# Zoo\n\nAll of it.\n\n## Zebras\n\nZebra stripes keep flies away.\n\n## 斑马\n\n斑马的条纹是黑白的。\n"
PROJECT = {"type": "project", "id": "p"}


def add(player, **fields) -> dict:
    given = {"domain_id": TEAM, "options": {"text": HANDBOOK, "title": "Handbook", "tags": ["zoo"]}, **fields}
    made: dict = player.do("add_document", given)
    return made


def test_it_works(cast):
    made = add(cast.agent, scopes=[PROJECT])
    other = make_agent("other")
    for player, beside in ((cast.agent, {}), (other, {}), (other, reads("project:p"))):
        (evidence,) = retrieve(player, a_plan("zebra stripes"), **beside)["evidences"]
        assert "Zebra stripes keep flies away." in evidence["snippet"]
        assert (evidence["document_id"], evidence["title"]) == (made["document_id"], "Handbook")
        assert evidence["metadata"]["section_title"] == "Zebras"
        assert evidence["metadata"]["media_type"] == "document"
    assert "条纹是黑白" in snippets(retrieve(other, a_plan("斑马的条纹")))[0]
    tags = cast.agent.do("get_document", document_id=made["document_id"])["sections"][0]["tags"]
    assert tags == ["zoo"]


def test_importing_again_finds_nothing_twice(cast):
    """Case 72."""
    add(cast.agent)
    add(cast.agent)
    assert len(retrieve(cast.agent, a_plan("zebra stripes"))["evidences"]) == 1


def test_what_is_taken_away_is_found_no_more(cast):
    made = add(cast.agent, scopes=[PROJECT])
    other = make_agent("other")
    cast.agent.do("unshare_document", document_id=made["document_id"], scope=PROJECT)
    assert snippets(retrieve(other, a_plan("zebra stripes"))) == []
    cast.agent.do("remove_document", document_id=made["document_id"], reason="old")
    found = retrieve(cast.agent, a_plan("zebra stripes"))
    assert (found["evidences"], found["stats"]["candidates"]) == ([], 0)


def test_a_context_shows_it(cast):
    add(cast.agent, scopes=[PROJECT])
    package = compose(cast.agent, "请查资料并给引用：zebra stripes?", scope_context={"read": [PROJECT]})
    (found,) = [item for item in package["evidence"] if item["source"] == "resource"]
    assert (found["title"], found["position"]["section_title"]) == ("Handbook", "Zebras")
    assert found["scope"] == PROJECT


def test_the_direct_client_imports_as_the_caller(cast, tmp_path):
    file = tmp_path / "zoo.md"
    file.write_text(HANDBOOK)
    client = DirectClient(None, cast.agent.ctx(), TEAM)
    made = client.add_document(file, {"tags": ["zoo"]})
    assert (made["status"], made["media_type"]) == ("success", "document")
    assert len(retrieve(cast.agent, a_plan("zebra stripes"))["evidences"]) == 1
    assert client.has_documents()


def test_the_direct_client_lets_a_conflict_through(cast):
    client = DirectClient(None, cast.agent.ctx(), TEAM)
    client.add("add_document", "", {"text": HANDBOOK}, idempotency_key="k")
    assert client.add("add_document", "", {"text": HANDBOOK}, idempotency_key="k")["deduplicated"]
    with pytest.raises(IdempotencyConflictError):
        client.add("add_document", "", {"text": "Another"}, idempotency_key="k")
