"""One server as the document store of another: plan, evidence and imports over real HTTP."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import override_settings

from kernel.conf import conf
from memory.resources.http import HttpClient, HttpStore
from tests.conftest import TEAM, make_agent, make_cast
from tests.doors.http import Http, assert_problem
from tests.media.shelf import a_plan, put
from tests.memory.serving import PATIENCE
from tests.memory.talk import compose, context

ASK = "请查资料并给引用：zebra stripes?"


@pytest.fixture
def peer(live_server, transactional_db):
    cast = make_cast()
    put(cast.agent, "Zebra stripes keep flies away.", shared=("project:p",), metadata={"page": 2})
    put(cast.agent, "Zebra stripes of another project.", shared=("project:q",))
    url = f"{live_server.url}/v1/retrieve"
    told = replace(conf(), resource_url=url, resource_api_key=cast.agent.key, resource_timeout=PATIENCE)
    with override_settings(SMARTBRAIN=told):
        yield cast


def documents(package: dict) -> list[str]:
    return [item["snippet"] for item in package["evidence"] if item["source"] == "resource"]


def test_it_works(peer):
    other = make_agent("other")
    package = compose(other, ASK, scope_context=context("project:p", default=None))
    assert documents(package) == ["Zebra stripes keep flies away."]
    (found,) = [item for item in package["evidence"] if item["source"] == "resource"]
    assert found["position"]["page"] == 2
    assert package["debug"]["scope_filter_warnings"] == []
    assert documents(compose(other, ASK, scope_context=context("project:r", default=None))) == []


def test_a_wrong_key_leaves_memory(peer):
    with override_settings(SMARTBRAIN=replace(conf(), resource_api_key="sb_000000000000_x")):
        package = compose(peer.agent, ASK)
    assert documents(package) == []
    assert any("answered 401" in text for text in package["debug"]["ignored"])


def test_a_domain_that_the_store_does_not_know_brings_nothing(peer):
    stranger = compose(peer.stranger, ASK, domain_id="elsewhere")
    assert documents(stranger) == []
    assert any("answered 404" in text for text in stranger["debug"]["ignored"])


def test_an_older_client_posts_the_plan_itself(peer):
    client = Http(peer.agent.key)
    found = client.post("retrieve", a_plan("zebra stripes", debug={"caller": {"app": "old"}}))
    assert (found.status_code, len(found.json()["evidences"])) == (200, 2)
    assert client.post("retrieve", {"plan": a_plan("zebra stripes")}).json()["stats"]["returned"] == 2
    problem = assert_problem(client.post("retrieve", {"queries": [{"text": "a"}]}), 422, "invalid_input")
    assert {fault["loc"][-1] for fault in problem["errors"]} == {"version", "request_id", "purpose", "budget"}
    assert_problem(Http().post("retrieve", a_plan()), 401, "unauthenticated")


def test_imports_are_handed_on(peer, tmp_path):
    file = tmp_path / "lions.md"
    file.write_text("# Lions\n\nLions have manes.\n")
    settings = conf()
    client = HttpClient(HttpStore(settings.resource_url, settings.resource_api_key))
    made = client.add_document(file, {"title": "Lions"})
    assert (made["status"], made["media_type"], made["warnings"]) == ("success", "document", [])
    told = client.add_media("", {"text": "Moths fly at night.", "name": "moths.md"})
    assert told["status"] == "success"
    titles = {each["title"] for each in peer.agent.do("list_documents", domain_id=TEAM)["documents"]}
    assert "Lions" in titles
    refused = client.add_document("", {"text": "a", "data": "b"})
    assert (refused["status"], refused["document_id"]) == ("failed", None)
    assert "answered 422" in refused["warnings"][0]
