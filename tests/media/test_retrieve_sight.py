"""A retrieval finds what its caller may see, in the scopes that it reads, and nothing else (case 105)."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.errors import InvalidInputError, NotFoundError
from media.selectors import retrieving as reading
from search.models import IndexEntry
from tests.conftest import ELSEWHERE, TEAM, make_agent
from tests.guards.write_guard import unguarded
from tests.media.shelf import a_plan, put, reads, retrieve, snippets


def test_case_105_a_document_is_its_owners(cast):
    wanda, other = make_agent("wanda"), make_agent("other")
    row = put(wanda, "zebra stripes")
    plan = a_plan(
        global_filters={"document_ids": [str(row.id)], "principal": "wanda"},
        debug={"caller": {"domain_id": TEAM}},
    )
    found = retrieve(other, plan)
    assert (found["evidences"], found["stats"]["candidates"]) == ([], 0)
    assert found["explain"]["ignored_fields"] == ["global_filters.principal"]
    assert "wanda" not in str(found)
    found = retrieve(wanda, plan)
    assert snippets(found) == ["zebra stripes"]
    assert "wanda" not in str(found)
    assert wanda.identity.actor.id not in str(found)


def test_a_stranger_learns_nothing_of_the_domain(cast):
    put(cast.agent, "zebra", shared=("project:p",))
    for beside in ({}, reads("project:p"), {"session_id": "s1"}):
        with pytest.raises(NotFoundError):
            retrieve(cast.stranger, a_plan(), **beside)
    assert cast.stranger.do("retrieve", plan=a_plan(), domain_id=ELSEWHERE)["evidences"] == []


def test_an_index_that_is_wrong_leaks_nothing(cast, monkeypatch):
    """The second check: what the index finds is read again through what the caller may see."""
    other = make_agent("other")
    put(other, "zebra mine")
    secret = put(cast.agent, "zebra secret")
    monkeypatch.setattr(
        "media.services.retrieving.executing.few_sections",
        lambda *_: tuple(secret.sections.values_list("pk", flat=True)),
    )
    mine = IndexEntry.objects.exclude(object_id__in=secret.sections.values("pk")).get()
    with unguarded():
        IndexEntry.objects.filter(object_id__in=secret.sections.values("pk")).update(scope_id=mine.scope_id)
    assert retrieve(other, a_plan())["evidences"] == []


def test_scopes_are_mapped(cast):
    other = make_agent("other")
    put(cast.agent, "zebra p", shared=("project:p",))
    put(cast.agent, "zebra q", shared=("project:q",))
    put(cast.agent, "zebra alone")
    assert set(snippets(retrieve(other, a_plan()))) == {"zebra p", "zebra q"}
    found = retrieve(other, a_plan(), **reads("project:p"))
    assert snippets(found) == ["zebra p"]
    assert found["evidences"][0]["scope"]["id"] == "p"
    assert found["explain"]["filters_applied"] == {"domain_id": TEAM, "scopes": ["project:p"]}
    assert snippets(retrieve(other, a_plan(**reads("project:p")))) == ["zebra p"]
    assert set(snippets(retrieve(cast.agent, a_plan(), **reads("project:p")))) == {"zebra p", "zebra alone"}
    assert snippets(retrieve(cast.agent, a_plan(), session_id="s1")) == ["zebra alone"]
    assert retrieve(other, a_plan(), **reads("project:nowhere"))["evidences"] == []


def test_documents_that_stand_elsewhere_are_mentioned(cast):
    put(cast.agent, "zebra q", shared=("project:q",))
    found = retrieve(cast.agent, a_plan(), **reads("project:p"))
    assert found["evidences"] == []
    assert found["warnings"][0].startswith("own_documents_elsewhere")


def test_a_scope_that_may_not_be_read_closes_the_call(cast):
    narrow = make_agent("narrow", pattern="project:p")
    put(cast.agent, "zebra q", shared=("project:q",))
    put(cast.agent, "zebra p", shared=("project:p",))
    assert snippets(retrieve(narrow, a_plan())) == ["zebra p"]
    with pytest.raises(NotFoundError):
        retrieve(narrow, a_plan(), **reads("project:p", "project:q"))


def test_two_contexts_that_differ_are_refused(cast):
    with pytest.raises(InvalidInputError, match="differ"):
        retrieve(cast.agent, a_plan(**reads("project:p")), **reads("project:q"))


@pytest.mark.parametrize("few", [reading.FEW, 1], ids=["few", "many"])
def test_as_many_queries_however_many_documents_others_have(cast, monkeypatch, few):
    monkeypatch.setattr(reading, "FEW", few)
    other = make_agent("other")
    for n in range(3):
        put(cast.agent, f"zebra {n}", shared=("project:p",))
    counts = []
    for _ in range(2):
        for player in (cast.agent, cast.reader):
            with CaptureQueriesContext(connection) as captured:
                assert len(retrieve(player, a_plan())["evidences"]) == 3
            counts.append(len(captured))
        for n in range(40):
            put(other, f"zebra of others {n}")
    assert counts[:2] == counts[2:]
    assert max(counts) <= 15


def test_a_domain_or_session_in_any_words_is_refused_in_ours(cast):
    strange = a_plan(debug={"caller": {"domain_id": "no such / domain"}})
    with pytest.raises(NotFoundError, match="No domain"):
        cast.agent.do("retrieve", {"plan": strange, "session_id": "s"})
    with pytest.raises(InvalidInputError, match="nobody can see"):
        cast.agent.do("retrieve", {"plan": a_plan(), "domain_id": TEAM, "session_id": "s\u200b1"})
