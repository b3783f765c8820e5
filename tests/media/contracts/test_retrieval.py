"""The protocol of retrieval: what is required, ignored, clamped and kept."""

from __future__ import annotations

import pytest

from kernel.errors import InvalidInputError
from media.contracts.retrieval import EvidencePack, PackEvidence, RetrievalPlan, resource_score
from memory.contracts.search import TimeRange
from tests.memory.compose.made import REQUEST_ID, a_plan, an_evidence


def tree(**fields) -> dict:
    return {
        "version": "0.1",
        "request_id": str(REQUEST_ID),
        "purpose": "qa",
        "queries": [{"text": "Which database?"}],
        "budget": {},
        **fields,
    }


def test_it_works():
    plan = RetrievalPlan.parse(tree())
    assert plan.budget.top_k == 30
    assert plan.budget.candidate_k == 200
    assert plan.budget.per_mode_k.model_dump() == {
        "exact": 10,
        "semantic": 10,
        "hybrid": None,
        "relational": 10,
        "associative": 8,
    }
    assert plan.output.max_snippet_chars == 800
    assert plan.ranking.source_priority == {"url": 0.9, "file": 1.0, "manual": 0.8, "memory_snapshot": 0.7}
    assert (plan.debug.ignored_fields, plan.debug.clamped) == ([], [])


@pytest.mark.parametrize("missing", ["version", "request_id", "purpose", "queries", "budget"])
def test_case_24_a_required_key_is_named(missing):
    """Spec case 24."""
    given = tree()
    del given[missing]
    with pytest.raises(InvalidInputError) as refused:
        RetrievalPlan.parse(given)
    assert refused.value.errors[0]["loc"] == [missing]


def test_case_24_queries_may_not_be_empty():
    with pytest.raises(InvalidInputError, match="queries"):
        RetrievalPlan.parse(tree(queries=[]))


def test_numbers_are_clamped_and_the_clamp_is_named():
    plan = RetrievalPlan.parse(
        tree(budget={"top_k": 5000, "candidate_k": -3, "per_mode_k": {"hybrid": 0}}, output={"max_snippet_chars": 0})
    )
    assert (plan.budget.top_k, plan.budget.candidate_k, plan.budget.per_mode_k.hybrid) == (100, 1, 1)
    assert plan.debug.clamped == [
        "budget.top_k: 5000 -> 100",
        "budget.candidate_k: -3 -> 1",
        "budget.per_mode_k.hybrid: 0 -> 1",
        "output.max_snippet_chars: 0 -> 1",
    ]


@pytest.mark.parametrize("weight", [0, -1, -0.5])
def test_a_weight_of_nothing_counts_as_one(weight):
    plan = RetrievalPlan.parse(tree(queries=[{"text": "a"}, {"text": "b", "weight": weight}]))
    assert plan.queries[1].weight == 1.0
    assert plan.debug.clamped == [f"queries[1].weight: {weight} -> 1.0"]


def test_unknown_fields_are_ignored_and_declared_at_every_depth():
    plan = RetrievalPlan.parse(
        tree(
            later=1,
            budget={"speed": 3},
            queries=[{"text": "a", "filters": {"colour": "red"}}],
            global_filters={"time_range": {"from": "2026-11-01T00:00:00+08:00", "about": 1}},
            debug={"ignored_fields": ["earlier"]},
        )
    )
    assert sorted(plan.debug.ignored_fields) == [
        "budget.speed",
        "earlier",
        "global_filters.time_range.about",
        "later",
        "queries[0].filters.colour",
    ]


def test_single_filters_and_integer_ids_are_lists_of_text():
    plan = RetrievalPlan.parse(tree(global_filters={"media_type": "image", "document_ids": [7, "x"]}))
    assert plan.global_filters.media_type == ["image"]
    assert plan.global_filters.document_ids == ["7", "x"]


@pytest.mark.parametrize(
    ("first", "last", "since", "until"),
    [
        ("2026-11-01", "2026-11-01", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"),
        ("2024-02-28", "2024-02-28", "2024-02-28T00:00:00Z", "2024-02-29T00:00:00Z"),
        ("2026-11-01T08:00:00+08:00", "9999-12-31", "2026-11-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_date_is_the_whole_day_in_utc(first, last, since, until):
    plan = RetrievalPlan.parse(tree(global_filters={"time_range": {"from": first, "to": last}}))
    assert plan.model_dump(mode="json")["global_filters"]["time_range"] == {"from": since, "to": until}
    window = TimeRange.parse({"since": first, "until": last})
    assert window.model_dump(mode="json") == {"since": since, "until": until}


def test_a_plan_survives_the_wire():
    plan = a_plan("最近 what did we decide about smart_brain 的数据库?")
    assert RetrievalPlan.parse(plan.model_dump(mode="json")) == plan
    assert "from" in plan.model_dump(mode="json")["global_filters"]["time_range"]


@pytest.mark.parametrize(
    "fields",
    [
        {"budget": 5},
        {"budget": {"top_k": "30"}},
        {"budget": {"top_k": True}},
        {"queries": [{"text": "  "}]},
        {"queries": [{"text": "a", "mode": "magic"}]},
        {"queries": "a"},
        {"request_id": "r1"},
        {"version": "7"},
        {"debug": 3, "later": 1},
        {"global_filters": {"time_range": {"from": "yesterday"}}},
        {"global_filters": {"time_range": {"from": "2026-11-01T00:00:00"}}},
        {"global_filters": {"time_range": {"from": "2026-02-30"}}},
        {"global_filters": {"time_range": {"to": "2026-11"}}},
        {"scope_context": {"read": [{"type": "project", "id": "p"}, {"type": "project", "id": "p"}]}},
    ],
)
def test_wrong_shapes_are_refused(fields):
    with pytest.raises(InvalidInputError):
        RetrievalPlan.parse(tree(**fields))


def test_a_pack_needs_its_ids_and_may_be_empty():
    pack = EvidencePack.parse(
        {
            "version": "0.1",
            "plan_id": 9,
            "request_id": str(REQUEST_ID),
            "generated_at": "2026-12-01T00:00:00Z",
            "evidences": [],
            "unknown": 1,
        }
    )
    assert pack.plan_id == "9"
    with pytest.raises(InvalidInputError) as refused:
        EvidencePack.parse({"version": "0.1", "plan_id": "p", "request_id": str(REQUEST_ID)})
    assert [fault["loc"] for fault in refused.value.errors] == [["generated_at"], ["evidences"]]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"score": 0.9}, ("score", 0.9)),
        ({"signals": {"rerank_score": 0.7, "rrf_score": 0.01}}, ("rerank_score", 0.7)),
        ({"signals": {"rrf_score": 0.01}}, ("rrf_score", 0.01)),
        ({"signals": {"fts_score": 3.0}}, ("unit", 0.4)),
    ],
)
def test_the_score_of_a_document(fields, expected):
    assert resource_score(PackEvidence.parse(an_evidence(1, **fields))) == expected


def test_every_missing_key_is_named():
    with pytest.raises(InvalidInputError) as refused:
        RetrievalPlan.parse({"queries": []})
    named = {fault["loc"][0] for fault in refused.value.errors}
    assert named == {"version", "request_id", "purpose", "queries", "budget"}


def test_filters_are_taken_in_all_three_places():
    filters = {"media_type": "image"}
    plan = RetrievalPlan.parse(
        tree(filters=filters, global_filters=filters, queries=[{"text": "a", "filters": filters}])
    )
    given = [plan.filters, plan.global_filters, plan.queries[0].filters]
    assert [each.media_type for each in given] == [["image"]] * 3
    assert plan.debug.ignored_fields == []
