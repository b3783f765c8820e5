"""Choosing the evidence."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.contracts.retrieval import RetrievalPlan
from memory.compose.fusion import candidates_from, fuse, ratio_of
from memory.compose.values import TIERS, UNIT
from tests.memory.compose.made import NOW, a_pack, a_plan, a_policy, an_evidence, memory, section, uid

PLAN = a_plan("thing")


def ids(fused) -> list[str]:
    return [item.candidate.id for item in fused.selected]


def reasons(fused) -> dict[str, str]:
    return {entry.id: entry.reason for entry in fused.dropped}


def run(memories=(), resources=(), recent=(), plan=PLAN, policy=None, cap=10):
    return fuse(memories, resources, recent, plan, policy or a_policy(), cap)


def test_it_works():
    fused = run([memory(1, "A thing of memory")], [section(2, "A thing of a document")])
    assert set(ids(fused)) == {str(uid(1)), "section:2"}
    assert fused.dropped == ()
    assert fused.selected[0].signals["relevance"] == 1.0
    assert run() == fuse([], [], [], PLAN, a_policy())


def test_case_29_twelve_items():
    fused = run([memory(n) for n in range(10)], [section(n) for n in range(20, 30)])
    assert len(fused.selected) == 12
    assert set(reasons(fused).values()) == {"max_items"}


def test_case_30_one_of_two_hits_on_a_section():
    """Spec case 30: the better one stays."""
    weaker = section(1, "first text", 0.1, "d", id="a", section_id="s")
    better = section(2, "second text", 0.9, "d", id="b", section_id="s")
    fused = run(resources=[weaker, better])
    assert ids(fused) == ["b"]
    assert [(entry.id, entry.reason, entry.of) for entry in fused.dropped] == [("a", "duplicate", "b")]


def test_one_message_found_twice_is_one():
    fused = run([memory(n, f"text {n}", item_id=None, turn_id=uid(5), message_id="m") for n in (1, 2)])
    assert reasons(fused) == {str(uid(2)): "duplicate"}


def test_case_31_seven_memories_of_one_uri_scheme_are_not_two():
    fused = run([memory(n) for n in range(7)])
    assert len(fused.selected) == 7


def test_case_34_one_ranking_over_both_sources():
    fused = run(
        [memory(1, score=9.0), memory(2, score=1.0)],
        [section(3, score=0.016), section(4, score=0.012)],
    )
    assert ids(fused) == [str(uid(1)), "section:3", "section:4", str(uid(2))]


def test_scales_of_a_store_are_kept_apart():
    fused = run(resources=[section(1, score=0.9, scale="rerank_score"), section(2, score=0.016, scale="rrf_score")])
    assert [item.signals["relevance"] for item in fused.selected] == [1.0, 1.0]


def test_a_score_on_the_unit_scale_counts_as_it_is():
    fused = run([memory(1, score=0.25, scale=UNIT), memory(2, score=7.0, scale=UNIT)])
    assert [item.signals["relevance"] for item in fused.selected] == [1.0, 0.25]
    unscored = candidates_from(a_pack(PLAN, [an_evidence(1, signals={})]))
    assert run(resources=unscored).selected[0].signals["relevance"] == 0.4


def test_negative_and_endless_scores_keep_their_order():
    fused = run(
        resources=[
            section(1, score=-4.0, scale="s"),
            section(2, score=2.0, scale="s"),
            section(3, score=float("nan"), scale="s"),
        ]
    )
    assert [(i.candidate.id, round(i.signals["relevance"], 2)) for i in fused.selected] == [
        ("section:2", 1.0),
        ("section:3", 0.67),
        ("section:1", 0.0),
    ]


def test_each_word_of_the_question_counts_five_hundredths():
    plan = a_plan("blue whale")
    fused = run([memory(1, "a blue whale"), memory(2, "a blue bird"), memory(3, "a bird of prey")], plan=plan)
    assert [item.signals["overlap"] for item in fused.selected] == [0.1, 0.05, 0.0]


def test_case_36_the_overlap_reads_chinese():
    fused = run([memory(1, "默认数据库是 Postgres"), memory(2, "默认端口是 80")], plan=a_plan("数据库用什么"))
    assert ids(fused)[0] == str(uid(1))
    assert fused.selected[0].signals["overlap"] > 0


def test_case_35_a_recent_message_is_not_evidence_too():
    message = memory(1, item_id=None, turn_id=uid(9), message_id="m9")
    from_it = memory(2, message_id="m9")
    elsewhere = memory(3, item_id=None, turn_id=uid(8), message_id="m9")
    fused = run([message, from_it, elsewhere], recent=[(uid(9), "m9")])
    assert reasons(fused) == {str(uid(1)): "recent_turn"}
    assert ids(fused) == [str(uid(2)), str(uid(3))]


def test_weak_results_are_left_out_unless_pinned():
    fused = run([memory(1, weak=True), memory(2, weak=True, pinned=True)])
    assert (ids(fused), reasons(fused)) == ([str(uid(2))], {str(uid(1)): "weak"})


def test_restatements_collapse_across_sources():
    """Field report A3."""
    fused = run(
        [memory(1, "The port is 80.", 2.0), memory(2, "port is 80", 1.0)], [section(3, "the Port is 80!", 0.5)]
    )
    assert len(fused.selected) == 1
    assert {entry.reason for entry in fused.dropped} == {"restatement"}
    assert {entry.of for entry in fused.dropped} == set(ids(fused))


def test_a_text_that_a_cap_shuts_out_does_not_shut_out_its_repetition():
    found = [memory(1, "another", 9.0, scope="global:x"), memory(2, "The port is 80", 8.0, scope="global:x")]
    fused = run([*found, memory(3, "port is 80", 1.0, scope="task:t")], cap=1)
    assert ids(fused) == [str(uid(1)), str(uid(3))]
    assert reasons(fused) == {str(uid(2)): "scope_cap"}


def test_a_changed_number_is_never_collapsed():
    assert len(run([memory(1, "The port is 80."), memory(2, "The port is 81.")]).selected) == 2


def test_diversity_of_documents_and_of_real_uris():
    of_document = [section(n, document="d", source_uri=f"https://docs.example/d/{n}") for n in range(5)]
    assert sorted(reasons(run(resources=of_document)).values()) == ["diversity"] * 2
    of_uri = [section(n, source_uri=f"https://docs.example/same#part-{n}") for n in range(5)]
    assert sorted(reasons(run(resources=of_uri)).values()) == ["diversity"] * 3
    of_host = [section(n, source_uri=f"https://docs.example/{n}") for n in range(5)]
    assert reasons(run(resources=of_host)) == {}


def test_diversity_of_a_lineage():
    """Field report A11."""
    fused = run([memory(n, lineage="root") for n in range(5)])
    assert sorted(reasons(fused).values()) == ["diversity"] * 3


def test_case_52_a_scope_is_capped():
    fused = run(
        [memory(n, scope="global:all") for n in range(50)], policy=a_policy(evidence_max_items=40, ratio="100/0")
    )
    assert len(fused.selected) == 10
    assert set(reasons(fused).values()) == {"scope_cap"}
    assert (fused.found, fused.capped) == ({"global:all": 50}, {"global:all": 40})


def test_what_is_kept_current_comes_before_what_was_once_said():
    """Field report C4: an old message must not stand above the memory that it became."""
    once = memory(1, "The port is 80", 1.0, item_id=None, turn_id=uid(9), message_id="m")
    fused = run([once, memory(2, "The port is 81", 0.95)])
    assert ids(fused) == [str(uid(2)), str(uid(1))]
    assert [item.signals["memory"] for item in fused.selected] == [0.1, 0.0]


def test_a_narrower_scope_settles_a_tie_and_no_more():
    tie = run([memory(1, scope="global:x"), memory(2, scope="task:x")])
    assert ids(tie) == [str(uid(2)), str(uid(1))]
    clear = run([memory(1, scope="global:x", score=1.0), memory(2, scope="task:x", score=0.9)])
    assert ids(clear) == [str(uid(1)), str(uid(2))]


def test_tiered_knowledge_comes_first_in_its_order():
    """Decision 12."""
    tiers = ["", "qi", "shu", "dao_ren", "dao_tian"]
    fused = run([memory(n, score=10 - n, tier=tier) for n, tier in enumerate(tiers)])
    assert [item.candidate.tier for item in fused.selected] == [*TIERS, ""]


@pytest.mark.parametrize(
    ("tie_breaker", "first"), [("recency", "section:1"), ("source_priority", "section:2"), ("none", "section:0")]
)
def test_equal_scores(tie_breaker, first):
    tree = PLAN.model_dump(mode="json")
    plan = RetrievalPlan.parse({**tree, "ranking": {"tie_breaker": tie_breaker}})
    found = [
        section(0, event_time=NOW - timedelta(days=2)),
        section(1, event_time=NOW),
        section(2, event_time=NOW - timedelta(days=1), source_type="file"),
    ]
    assert ids(run(resources=found, plan=plan))[0] == first


def test_a_newer_text_of_a_lower_score_stays_below():
    old, new = memory(1, event_time=NOW - timedelta(days=9)), memory(2, score=0.9, event_time=NOW)
    assert ids(run([new, old])) == [str(uid(1)), str(uid(2))]


def test_shares_and_their_leftovers():
    memories, documents = [memory(n) for n in range(20)], [section(n) for n in range(30, 50)]
    policy = a_policy(evidence_max_items=10)
    assert sum(item.candidate.source == "memory" for item in run(memories, documents, policy=policy).selected) == 4
    assert len(run(memories, documents[:1], policy=policy).selected) == 10
    assert len(run(memories[:1], documents, policy=policy).selected) == 10


@pytest.mark.parametrize(
    ("text", "shares"), [("40/60", (40, 60)), ("1/0", (1, 0)), ("0/0", (40, 60)), ("a/b", (40, 60)), ("", (40, 60))]
)
def test_ratio(text, shares):
    assert ratio_of(text) == shares


def test_coverage_of_the_name_that_is_asked_about():
    plan = a_plan("What about Zanzibar?")
    found = [memory(n, f"what about thing {n}", 9.0) for n in range(4)] + [memory(9, "Zanzibar is an island", 0.1)]
    fused = run(found, plan=plan, policy=a_policy(evidence_max_items=3, ratio="100/0"))
    assert str(uid(9)) in ids(fused)
    assert [item.covers for item in fused.selected if item.covers] == [("Zanzibar",)]
    assert sorted(reasons(fused).values()) == ["max_items", "max_items"]


def test_coverage_breaks_no_cap():
    plan = a_plan("What about Zanzibar?")
    found = [memory(n, f"thing {n}", 9.0, scope="global:x") for n in range(2)]
    found += [memory(5, "another", 8.0), memory(9, "Zanzibar is an island", 0.1, scope="global:x")]
    fused = run(found, plan=plan, cap=2)
    assert reasons(fused) == {str(uid(1)): "max_items"}
    assert str(uid(9)) in ids(fused)


def test_one_id_in_two_sources_is_two_texts():
    fused = run([memory(1, "from memory", id="x")], [section(2, "from a document", id="x")])
    assert len(fused.selected) == 2


def test_a_pack_becomes_candidates():
    pack = a_pack(PLAN, [an_evidence(3, scope={"type": "project", "id": "p"}, event_time="2026-11-01T00:00:00Z")])
    found = candidates_from(pack)[0]
    assert (found.id, found.score, found.scale, found.document_id) == ("section:3", 0.016, "rrf_score", "5")
    assert (found.scope, found.mode, found.signals) == ("project:p", "hybrid", {"rrf_score": 0.016})


TEXTS = st.sampled_from(["The port is 80.", "port is 80", "port is 81", "a thing", "Zanzibar", "数据库", ""])
SCORES = st.sampled_from([0.0, 0.2, 0.5, 1.0, -1.0])
RECENT = [(uid(7), "m1")]
MEMORIES = st.lists(
    st.builds(
        memory,
        st.integers(0, 40),
        TEXTS,
        SCORES,
        scope=st.sampled_from(["", "task:t", "global:g"]),
        tier=st.sampled_from(["", *TIERS]),
        lineage=st.sampled_from(["", "l"]),
        weak=st.booleans(),
        pinned=st.booleans(),
        message_id=st.sampled_from([None, "m1"]),
        turn_id=st.sampled_from([None, uid(7)]),
        item_id=st.sampled_from([None, uid(1)]),
    ),
    max_size=25,
)
SECTIONS = st.lists(
    st.builds(section, st.integers(0, 40), TEXTS, SCORES, st.sampled_from([None, "d"]), scale=st.sampled_from("ab")),
    max_size=25,
)


@given(MEMORIES, SECTIONS, st.randoms(), st.integers(0, 12))
def test_everything_is_chosen_or_left_out_once_and_the_order_is_stable(memories, sections, random, most):
    plan, policy = a_plan("thing of Zanzibar"), a_policy(evidence_max_items=most)
    fused = fuse(memories, sections, RECENT, plan, policy, 3)
    given_ids = {(item.source, item.id) for item in [*memories, *sections]}
    out: list[tuple[str, str]] = [(item.candidate.source, item.candidate.id) for item in fused.selected]
    out += [(entry.source, entry.id) for entry in fused.dropped]
    assert sorted(out) == sorted(given_ids)
    assert len(fused.selected) <= most
    assert (
        fuse(random.sample(memories, len(memories)), random.sample(sections, len(sections)), RECENT, plan, policy, 3)
        == fused
    )
    assert all(entry.of for entry in fused.dropped if entry.reason in ("duplicate", "restatement"))
    scopes = [item.candidate.scope for item in fused.selected if item.candidate.scope]
    assert all(scopes.count(scope) <= 3 for scope in scopes)


def a_message(number: int, text: str, score: float = 2.0, scope: str = "project:shop"):
    return memory(
        number, text, score, item_id=None, turn_id=uid(100 + number), message_id=f"m{number}", kind="message", scope=scope
    )  # fmt: skip


def test_ten_near_identical_messages_do_not_shut_out_the_memory_that_answers():
    """Field reports A3 and A11."""
    asked = [a_message(n, f"Which thing, {word}, was it?") for n, word in enumerate("abcdefghijkl")]
    answer = memory(50, "The thing is a whale.", 0.5, scope="project:shop")
    fused = run([*asked, answer])
    assert str(uid(50)) in ids(fused)
    assert len(fused.selected) == 10
    assert set(reasons(fused).values()) <= {"scope_cap", "max_items"}
    crowded = run([*asked, answer], [section(n) for n in range(60, 80)])
    assert str(uid(50)) in ids(crowded)


def test_memories_of_each_scope_keep_a_share_and_no_more():
    said = [a_message(n, f"Message {n} about a thing.") for n in range(9)]
    learned = [memory(n, score=0.2, scope="project:shop") for n in range(20, 29)]
    elsewhere = [a_message(40, "Another thing.", scope="task:t")]
    chosen = ids(run([*said, *learned, *elsewhere], cap=8))
    shop = [each for each in chosen if each != str(uid(40))]
    assert len(shop) == 8
    assert len([each for each in shop if each in {str(uid(n)) for n in range(20, 29)}]) == 2
    assert str(uid(40)) in chosen


def test_final_order_is_by_rank_whatever_was_chosen_first():
    fused = run([*(a_message(n, f"Message {n} about a thing.") for n in range(5)), memory(50, score=0.1)])
    scores = [item.score for item in fused.selected]
    assert scores == sorted(scores, reverse=True)
    assert ids(fused)[-1] == str(uid(50))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Which port is it, 8080?", "Which port is it, 8081?"),
        ("The thing is ready.", "The thing is not ready."),
        ("The thing opens on 1 May.", "The thing opens on 2 May."),
        ("端口是 8080", "端口不是 8080"),
    ],
)
def test_messages_that_differ_in_a_number_date_or_negation_both_stay(first, second):
    assert len(run([a_message(1, first), a_message(2, second)]).selected) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [("Which port is it?", "Hmm, ok, which port is it?"), ("端口是多少？", "嗯，端口是多少呢？")],
)
def test_small_words_around_a_question_make_no_second_one(first, second):
    assert list(reasons(run([a_message(1, first), a_message(2, second)])).values()) == ["restatement"]
