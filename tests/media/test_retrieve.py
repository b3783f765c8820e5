"""The retrieve action: what a plan asks for is done or named as not done (cases 61, 65, 73 to 75, 78 to 80 and 82)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kernel.errors import InvalidInputError
from tests.conftest import TEAM
from tests.media.shelf import WHEN, a_plan, documents, put, reads, retrieve, snippets


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
