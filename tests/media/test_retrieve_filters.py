"""The filters of a retrieval: applied wherever they are written, or named (cases 76, 81 and 92)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from media.selectors import retrieving as reading
from tests.conftest import TEAM
from tests.media.shelf import WHEN, a_plan, a_tag, a_topic, documents, put, retrieve, snippets


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
