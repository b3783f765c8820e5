"""The retrieve action: what a plan asks for is done or named as not done (cases 61, 73 to 82, 92 and 105)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.errors import InvalidInputError, NotFoundError
from media.selectors import retrieving as reading
from search.models import IndexEntry
from tests.conftest import ELSEWHERE, TEAM, make_agent
from tests.guards.write_guard import unguarded
from tests.media.shelf import WHEN, a_plan, a_tag, a_topic, documents, put, reads, retrieve, snippets


def test_it_works(cast):
    media = {"format": "pdf", "width": None}
    row = put(
        cast.agent,
        "Zebra stripes are black.",
        "Lions have none.",
        metadata={"page": 3, "offset_start": 10, "offset_end": 34, "start_ms": 500},
        document={"media_type": "document", "media": media, "semantic": {"tags": ["zoo"]}, "content": "..."},
    )
    found = retrieve(cast.agent, a_plan("zebra stripes"))
    (evidence,) = found["evidences"]
    section = row.sections.get(number=1)
    assert evidence["id"] == f"section:{section.id}"
    assert evidence["kind"] == "resource_section"
    assert (evidence["document_id"], evidence["section_id"]) == (str(row.id), str(section.id))
    assert (evidence["title"], evidence["source_uri"], evidence["source_type"]) == (row.title, row.source_uri, "url")
    assert (evidence["snippet"], evidence["snippet_policy"]) == ("Zebra stripes are black.", "auto")
    assert evidence["metadata"]["page"] == 3
    assert (evidence["metadata"]["offset_start"], evidence["metadata"]["offset_end"]) == (10, 34)
    assert (evidence["metadata"]["start_ms"], evidence["metadata"]["section_title"]) == (500, "Part 1")
    assert evidence["metadata"]["media"] == media
    assert evidence["metadata"]["semantic"] == {"tags": ["zoo"]}
    assert evidence["provenance"]["mode"] == "hybrid"
    assert (evidence["provenance"]["query_text"], evidence["provenance"]["query_index"]) == ("zebra stripes", 0)
    assert evidence["signals"]["rrf_score"] == pytest.approx(1 / 61)
    assert (evidence["signals"]["fts_rank"], evidence["signals"]["vector_score"]) == (1, None)
    assert evidence["raw"] is None
    assert found["request_id"] == a_plan()["request_id"]
    assert found["stats"]["candidates"] == found["stats"]["returned"] == 1
    assert found["stats"]["by_mode"] == {"hybrid": {"candidates": 1, "returned": 1}}
    assert found["explain"]["filters_applied"] == {"domain_id": TEAM}
    assert found["explain"]["ignored_fields"] == []
    assert found["warnings"] == []
    assert found["supports_scope_filter"] is found["supports_language_filter"] is True


def test_a_plan_may_be_the_body_itself(cast):
    put(cast.agent, "zebra")
    plan = a_plan(debug={"caller": {"app": "old", "domain_id": TEAM}}, unknown=1)
    found = cast.agent.do("retrieve", plan)
    assert snippets(found) == ["zebra"]
    assert found["explain"]["ignored_fields"] == ["unknown"]
    assert snippets(cast.agent.do("retrieve", {**plan, **reads("project:p")})) == ["zebra"]


def test_a_body_that_is_neither_is_refused(cast):
    with pytest.raises(InvalidInputError) as refused:
        cast.agent.do("retrieve", {"domain_id": TEAM})
    assert refused.value.errors[0]["loc"] == ["plan"]
    with pytest.raises(InvalidInputError) as refused:
        cast.agent.do("retrieve", {"queries": [{"text": "a"}]})
    assert {fault["loc"][-1] for fault in refused.value.errors} == {"version", "request_id", "purpose", "budget"}


def shelf(cast) -> dict[str, Any]:
    """A document of each sort; all hold the word zebra."""
    tag, topic = a_tag("zoo"), a_topic("animals")
    return {
        "plain": put(cast.agent, "zebra plain"),
        "file": put(cast.agent, "zebra file", source_type="file", source_uri="file:a/b_c.md"),
        "like": put(cast.agent, "zebra like", source_type="file", source_uri="FILE:a/bxc.md"),
        "zh": put(cast.agent, "zebra 斑马", language="zh"),
        "tw": put(cast.agent, "zebra 斑馬", language="zh_tw"),
        "tagged": put(cast.agent, "zebra tagged", tag=tag),
        "topical": put(cast.agent, "zebra topical", topic=topic),
        "image": put(cast.agent, "zebra image", media_type="image"),
        "audio": put(cast.agent, "zebra audio", media_type="audio"),
        "old": put(cast.agent, "zebra old", at=WHEN - timedelta(days=900)),
        "tag": tag,
        "topic": topic,
    }


FILTERS: dict[str, tuple[Any, set[str]]] = {
    "document": (lambda rows: {"document_ids": [str(rows["plain"].id), str(rows["old"].id)]}, {"plain", "old"}),
    "strange document": (lambda rows: {"document_ids": [7, "abc"]}, set()),
    "tag": (lambda rows: {"tag_ids": str(rows["tag"].id)}, {"tagged"}),
    "topic": (lambda rows: {"topic_ids": [str(rows["topic"].id)]}, {"topical"}),
    "source": (lambda _: {"source_type": "file"}, {"file", "like"}),
    "prefix": (lambda _: {"source_uri_prefix": ["file:a/b_c"]}, {"file"}),
    "prefix is no pattern": (lambda _: {"source_uri_prefix": ["file:a/%"]}, set()),
    "language": (lambda _: {"language": "ZH"}, {"zh", "tw"}),
    "media": (lambda _: {"media_type": "image"}, {"image"}),
    "several media": (lambda _: {"media_type": ["image", "audio"]}, {"image", "audio"}),
    "before": (lambda _: {"time_range": {"to": "2025-01-01T00:00:00Z"}}, {"old"}),
    "all at once": (
        lambda _: {"source_type": ["file", "url"], "source_uri_prefix": "FILE", "language": "en"},
        {"like"},
    ),
}


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_filters_are_applied_in_all_three_places(cast, monkeypatch, many):
    """Cases 81 and 92, for few sections and for many."""
    if many:
        monkeypatch.setattr(reading, "FEW", 1)
    rows = shelf(cast)
    names = {row.id: name for name, row in rows.items()}
    everything = set(names.values()) - {"tag", "topic"}
    caps = {"budget": {"per_mode_k": {"hybrid": 50}}}
    assert {names[found] for found in documents(retrieve(cast.agent, a_plan(**caps)))} == everything
    for name, (make, expected) in FILTERS.items():
        filters = make(rows)
        for plan in (
            a_plan(global_filters=filters, **caps),
            a_plan(filters=filters, **caps),
            a_plan(queries=[{"text": "zebra", "filters": filters}], **caps),
        ):
            found = retrieve(cast.agent, plan)
            assert {names[each] for each in documents(found)} == expected, (name, plan)
            applied = found["explain"]["filters_applied"]
            assert filters.keys() <= applied.keys(), name


def test_a_filter_of_a_query_counts_instead_of_that_of_the_plan(cast):
    rows = shelf(cast)
    queries = [{"text": "zebra", "filters": {"media_type": "audio"}}, {"text": "zebra", "filters": {"media_type": []}}]
    found = retrieve(cast.agent, a_plan(queries=queries, global_filters={"media_type": "image"}))
    assert set(documents(found)) == {rows["image"].id, rows["audio"].id}
    applied = found["explain"]["filters_applied"]
    assert applied == {
        "domain_id": TEAM,
        "queries": {"0": {"media_type": ["audio"]}, "1": {"media_type": ["image"]}},
    }


def test_a_filter_of_the_plan_that_no_query_used_is_not_told_as_applied(cast):
    shelf(cast)
    queries = [
        {"text": "zebra", "filters": {"media_type": "audio"}},
        {"text": "lion", "filters": {"media_type": "audio"}},
    ]
    found = retrieve(cast.agent, a_plan(queries=queries, global_filters={"media_type": "image"}))
    assert found["explain"]["filters_applied"] == {"domain_id": TEAM, "media_type": ["audio"]}


def test_what_an_older_client_writes_as_null_is_left_out(cast):
    put(cast.agent, "zebra")
    nothing = dict.fromkeys(("global_filters", "filters", "ranking", "diversity", "hints"))
    found = retrieve(
        cast.agent, {**a_plan(), **nothing, "queries": [{"text": "zebra", "mode": None, "filters": None}]}
    )
    assert len(found["evidences"]) == 1


def test_ids_that_are_none_of_ours_are_named(cast):
    put(cast.agent, "zebra")
    found = retrieve(cast.agent, a_plan(global_filters={"document_ids": ["7"]}))
    assert (snippets(found), found["warnings"]) == ([], ["document_ids: '7' is no id of this store"])


def test_words_that_are_on_no_list_are_named(cast):
    put(cast.agent, "zebra")
    found = retrieve(cast.agent, a_plan(global_filters={"media_type": ["documents", "image"], "source_type": "web"}))
    assert snippets(found) == []
    assert found["warnings"] == [
        "media_type: 'documents' is none of image, audio, video, document, other",
        "source_type: 'web' is none of url, file, manual, memory_snapshot, other",
    ]


@pytest.mark.parametrize("few", [reading.FEW, 1], ids=["few", "many"])
def test_case_76_the_worst_of_many_is_found_when_it_is_asked_for(cast, monkeypatch, few):
    monkeypatch.setattr(reading, "FEW", few)
    for _ in range(5):
        put(cast.agent, *("zebra stripes" for _ in range(100)))
    last = put(cast.agent, "a zebra in a text of many other words", "and another part", "zebra")
    plan = a_plan("zebra stripes")
    assert last.id not in documents(retrieve(cast.agent, plan))
    found = retrieve(cast.agent, {**plan, "global_filters": {"document_ids": [str(last.id)]}})
    assert snippets(found) == ["zebra", "a zebra in a text of many other words"]


def test_two_queries_are_one_list(cast):
    """Cases 73 and 78: one section found twice is one result, and rrf_k and weights are used."""
    put(cast.agent, "zebra stripes", "lion mane")
    plan = a_plan(
        queries=[{"text": "zebra", "weight": 2}, {"text": "stripes zebra", "mode": "associative"}, {"text": "lion"}],
        ranking={"fusion": {"rrf_k": 10, "weights": {"fts": 0.5, "associative": 0.1, "vector": 0.5}}},
    )
    found = retrieve(cast.agent, plan)
    assert [each["signals"]["rrf_score"] for each in found["evidences"]] == [
        pytest.approx(0.5 * 2 / 11 + 0.5 * 0.1 / 11),
        pytest.approx(0.5 / 11),
    ]
    assert found["explain"]["fusion"] == {
        "method": "rrf",
        "rrf_k": 10,
        "weights": {"fts": 0.5, "associative": 0.1},
        "arms": ["fts"],
    }
    assert found["explain"]["ignored_fields"] == ["ranking.fusion.weights.vector"]
    assert found["stats"]["by_mode"]["associative"] == {"candidates": 1, "returned": 0}


@pytest.mark.parametrize("method", ["weighted_sum", "none"])
def test_other_fusions(cast, method):
    put(cast.agent, "zebra stripes and lions", "zebra zebra")
    plan = a_plan(queries=[{"text": "zebra"}, {"text": "lions", "weight": 3}], ranking={"fusion": {"method": method}})
    found = retrieve(cast.agent, plan)
    assert snippets(found) == ["zebra stripes and lions", "zebra zebra"]
    assert found["explain"]["fusion"]["method"] == method
    assert all(each["signals"]["rrf_score"] is None and each["score"] is not None for each in found["evidences"])


def test_case_74_two_sections_of_one_document(cast):
    put(cast.agent, "zebra one", "zebra two", "zebra three")
    assert len(retrieve(cast.agent, a_plan())["evidences"]) == 2  # by_source


def test_case_75_what_answers_nothing_is_not_forced(cast):
    put(cast.agent, "zebra stripes")
    found = retrieve(cast.agent, a_plan("quantum chromodynamics"))
    assert (found["evidences"], found["stats"]["candidates"], found["stats"]["by_mode"]) == ([], 0, {})
    long = "which stripes has a moon lander of nineteen sixty nine with seven wheels and four pilots from Idaho"
    found = retrieve(cast.agent, a_plan(long))
    assert (found["evidences"], found["warnings"]) == ([], ["queries[0] weak_left_out:1"])
    asked = a_plan(queries=[{"text": long, "hints": {"weak": True}}])
    assert snippets(retrieve(cast.agent, asked)) == ["zebra stripes"]


def test_case_79_diversity(cast):
    put(cast.agent, "zebra one", "zebra two", source_uri="https://a.example/")
    put(cast.agent, "zebra three", source_uri="https://b.example/")
    for caps in ({"by_document": 1}, {"by_source": 1, "by_document": 5}):
        found = retrieve(cast.agent, a_plan(budget={"diversity": caps}))
        assert len(found["evidences"]) == 2
        assert found["explain"]["diversity"]["applied"] is True
        assert found["explain"]["ignored_fields"] == ["budget.top_k: diversity left 2 of 3 candidates"]
    found = retrieve(cast.agent, a_plan(budget={"diversity": {"by_document": 5, "by_source": 5}}))
    assert (len(found["evidences"]), found["explain"]["diversity"]["applied"]) == (3, False)


def test_documents_without_an_address_are_sources_of_their_own(cast):
    rows = [put(cast.agent, f"zebra {n}", source_uri="", source_type="manual") for n in range(4)]
    found = retrieve(cast.agent, a_plan(budget={"diversity": {"by_source": 1}}))
    assert {each["source_uri"] for each in found["evidences"]} == {f"smartbrain://document/{row.id}" for row in rows}


def test_case_80_snippets_and_raw(cast):
    row = put(cast.agent, "many words that stand before what is looked for: zebra stripes, and many after it")
    plan = a_plan("zebra stripes", output={"max_snippet_chars": 20, "include_raw": True})
    (evidence,) = retrieve(cast.agent, plan)["evidences"]
    assert len(evidence["snippet"]) == 20
    assert "zebra stripes" in evidence["snippet"]
    assert evidence["raw"]["content_ref"] == f"smartbrain://{evidence['id'].replace(':', '/')}"
    assert evidence["raw"]["content_hash"] == row.content_hash
    bare = {"include_snippets": False, "include_signals": False, "include_provenance": False}
    (evidence,) = retrieve(cast.agent, a_plan(output=bare))["evidences"]
    assert evidence["snippet"] == ""
    assert {name for name, value in evidence["signals"].items() if value is not None} == {"rrf_score"}
    assert {name for name, value in evidence["provenance"].items() if value} == {"mode"}
    (evidence,) = retrieve(cast.agent, a_plan(output={"snippet_policy": "head", "max_snippet_chars": 10}))["evidences"]
    assert (evidence["snippet"], evidence["snippet_policy"]) == ("many words", "head")


def test_case_82_modes_are_what_the_index_has(cast):
    put(cast.agent, "zebra stripes are black", "stripes of a zebra")
    modes = {mode: retrieve(cast.agent, a_plan(queries=[{"text": "zebra stripes", "mode": mode}])) for mode in MODES}
    assert snippets(modes["exact"]) == ["zebra stripes are black"]
    for mode in ("hybrid", "associative", "semantic", "relational"):
        assert len(modes[mode]["evidences"]) == 2, mode
    ignored = {mode: found["explain"]["ignored_fields"] for mode, found in modes.items()}
    assert ignored["exact"] == ignored["hybrid"] == ignored["associative"] == []
    assert "no vectors" in ignored["semantic"][0]
    assert ignored["relational"][0].startswith("queries[0].mode relational")
    assert {each["provenance"]["mode"] for each in modes["semantic"]["evidences"]} == {"hybrid"}


MODES = ("exact", "semantic", "hybrid", "relational", "associative")


def test_per_mode_limits_and_the_budget_hold(cast):
    for n in range(12):
        put(cast.agent, f"zebra {n}")
    found = retrieve(cast.agent, a_plan(queries=[{"text": "zebra", "mode": "associative"}]))
    assert len(found["evidences"]) == 8
    assert len(retrieve(cast.agent, a_plan(budget={"top_k": 3}))["evidences"]) == 3
    found = retrieve(cast.agent, a_plan(budget={"candidate_k": 2}))
    assert (len(found["evidences"]), found["stats"]["candidates"]) == (2, 2)


def test_ties_are_broken_as_asked(cast):
    """Two queries that each find one document first give both the same score."""
    old = put(cast.agent, "zebra", at=WHEN - timedelta(days=9), source_type="file")
    new = put(cast.agent, "lion", source_type="url")
    plan = a_plan(queries=[{"text": "zebra"}, {"text": "lion"}])
    assert documents(retrieve(cast.agent, plan)) == [new.id, old.id]
    ranking = {"tie_breaker": "source_priority", "source_priority": {"file": 1, "url": 0.5}}
    assert documents(retrieve(cast.agent, {**plan, "ranking": ranking})) == [old.id, new.id]
    found = retrieve(cast.agent, {**plan, "ranking": {"tie_breaker": "none", "source_priority": {"file": 1}}})
    assert set(documents(found)) == {old.id, new.id}
    assert found["explain"]["ignored_fields"] == ["ranking.source_priority: the tie-breaker is another"]


def test_what_is_not_there_is_named(cast):
    put(cast.agent, "zebra")
    plan = a_plan(
        queries=[{"text": "zebra", "hints": {"magic": 1, "expanded": True}}, *({"text": f"q{n}"} for n in range(14))],
        ranking={"rerank": {"enabled": True, "model": "x", "top_n": 5}},
        output={"snippet_policy": "smart"},
        budget={"top_k": 5000},
    )
    found = retrieve(cast.agent, plan)
    assert found["explain"]["rerank"] == {"enabled": False, "model": None, "top_n": 0}
    assert found["explain"]["ignored_fields"] == [
        "queries[0].hints.magic",
        "queries[12:]: 3 queries beyond the 12 that are asked",
        "ranking.rerank: there is no rerank model",
        "output.snippet_policy smart: used auto",
    ]
    assert found["warnings"] == ["clamped budget.top_k: 5000 -> 100"]
    assert found["plan"]["budget"]["top_k"] == 100


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


@pytest.mark.parametrize("mode", ["hybrid", "exact"])
def test_case_65_phrases_and_operators_keep_their_places(cast, mode):
    put(cast.agent, "Machine learning with neural networks.")
    put(cast.agent, "A machine with networks of neural cells.")
    found = {
        query: snippets(retrieve(cast.agent, a_plan(queries=[{"text": query, "mode": mode}])))
        for query in (
            "machine NOT learning",
            '"neural networks"',
            '"neural networks" OR "neural cells"',
            "NOT machine",
        )
    }
    assert [len(each) for each in found.values()] == [1, 1, 2, 0]
    assert "cells" in found["machine NOT learning"][0]
    assert "learning" in found['"neural networks"'][0]
    only = retrieve(cast.agent, a_plan(queries=[{"text": "NOT machine", "mode": mode}]))
    assert only["warnings"][0].startswith("queries[0] nothing_wanted")


def test_a_quoted_phrase_that_no_text_holds_counts_by_its_words(cast):
    put(cast.agent, "A machine with networks of neural cells.")
    query = 'what are "neural networks"?'
    found = retrieve(cast.agent, a_plan(queries=[{"text": query}]))
    assert (len(found["evidences"]), found["warnings"]) == (
        1,
        ["queries[0] phrase_not_found: matched by its words"],
    )
    for strict in ({"text": query, "mode": "exact"}, {"text": '"neural networks" NOT zebra'}):
        assert not retrieve(cast.agent, a_plan(queries=[strict]))["evidences"]
