"""From a message to a plan, in Chinese and English."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.contracts.retrieval import Purpose, QueryMode, RetrievalPlan
from memory.compose.policy import ExpansionPolicy
from memory.compose.windows import time_window
from memory.compose.words import core_names
from scopes.contracts import ScopeContext
from tests.memory.compose.made import NOW, REQUEST_ID, a_plan, a_request, said

SHANGHAI = timezone(timedelta(hours=8))


def test_it_works():
    context = ScopeContext.parse({"read": [{"type": "project", "id": "p"}]})
    plan = a_plan(
        "How does Alice deploy it?",
        request=a_request(scope_context=context, agent_state={"step": 3}),
        recent=[said("x")],
    )
    assert plan.version == "0.1"
    assert plan.request_id == REQUEST_ID
    assert plan.scope_context == context
    assert plan.debug.caller.model_dump() == {"app": "smart_brain", "domain_id": "team", "session_id": "s1"}
    assert plan.debug.agent_state == {"step": 3}
    assert plan.debug.recent_turns_count == 1
    assert (plan.queries[0].text, plan.queries[0].mode) == ("How does Alice deploy it?", QueryMode.HYBRID)
    assert (plan.budget.diversity.by_document, plan.budget.diversity.by_source) == (3, 2)


def test_case_19_asking_for_sources_turns_documents_on():
    plan = a_plan("请查资料并给引用")
    assert plan.resource_retrieval.enabled
    assert "user asked" in plan.resource_retrieval.reason
    assert plan.budget.top_k == 30
    assert len(plan.queries) >= 1


@pytest.mark.parametrize(
    ("message", "purpose"),
    [
        ("请给出引用", Purpose.RESEARCH),  # case 20
        ("Please compare both engines", Purpose.RESEARCH),
        ("部署时报错了", Purpose.DEBUG),
        ("Why does the build crash?", Purpose.DEBUG),
        ("总结一下今天的讨论", Purpose.SUMMARIZE),
        ("Summarise? No: summarize it", Purpose.SUMMARIZE),
        ("继续上次的工作", Purpose.CONTINUE_TASK),
        ("let us continue", Purpose.CONTINUE_TASK),
        ("hello there", Purpose.OTHER),
        ("谢谢！", Purpose.OTHER),
        ("", Purpose.OTHER),
        ("默认数据库是什么", Purpose.QA),
        ("What is our default port?", Purpose.QA),
        ("Where is the terrorist film archive?", Purpose.QA),  # "error" inside a word is no error
    ],
)
def test_case_20_purposes(message, purpose):
    assert a_plan(message).purpose is purpose


def test_case_21_small_talk_needs_no_documents():
    decision = a_plan("hello there").resource_retrieval
    assert (decision.enabled, decision.reason) == (False, "not needed")


@pytest.mark.parametrize("earlier", ["see https://example.org/a", "open a.md please", "看一下a.md吧"])
def test_case_22_a_recent_url_or_file_turns_them_on_and_is_the_reason(earlier):
    decision = a_plan("hello there", recent=[said(earlier)]).resource_retrieval
    assert decision.enabled
    assert "recent URLs or files" in decision.reason


def test_case_22_recent_refs_are_the_reason():
    decision = a_plan("hello there", refs=["file:///a"]).resource_retrieval
    assert decision.enabled
    assert "recent refs" in decision.reason


def test_case_23_policy_forces():
    decision = a_plan("hello there", enable_resource_retrieval=True).resource_retrieval
    assert decision.enabled
    assert "forced" in decision.reason


def test_policy_switches_off_whatever_the_message_says():
    decision = a_plan("请查资料", refs=["x"], enable_resource_retrieval=False).resource_retrieval
    assert (decision.enabled, decision.reason) == (False, "disabled by policy")


def test_case_25_expansion():
    plan = a_plan("alpha beta gamma delta")
    assert [query.weight for query in plan.queries] == [1.0, 0.8, 0.75]
    assert [query.text for query in plan.queries[1:]] == ["alpha beta gamma", "beta gamma delta"]
    assert {query.mode for query in plan.queries[1:]} == {QueryMode.ASSOCIATIVE}
    assert all(query.hints == {"expanded": True} for query in plan.queries[1:])


def test_case_25_at_most_max_queries():
    plan = a_plan("what did Alice say about the user_service", query_expansion=ExpansionPolicy(max_queries=3))
    assert len(plan.queries) == 3
    assert len(a_plan("alpha beta gamma", query_expansion=ExpansionPolicy(enabled=False)).queries) == 1


def test_expansion_looks_at_what_was_just_spoken_of():
    plan = a_plan("Who owns it now?", recent=[said("The billing_service moved to Berlin.")])
    assert any("billing_service" in query.text for query in plan.queries[1:])


def test_case_36_a_chinese_question_is_asked_without_its_question_words():
    assert "数据库" in [query.text for query in a_plan("数据库用什么").queries[1:]]


@given(st.text(max_size=200), st.integers(1, 8))
def test_any_message_makes_a_valid_plan_without_duplicate_queries(message, most):
    plan = a_plan(message, query_expansion=ExpansionPolicy(max_queries=most))
    assert RetrievalPlan.parse(plan.model_dump(mode="json")) == plan
    assert len(plan.queries) <= most
    bags = [tuple(sorted(query.text.casefold().split())) for query in plan.queries]
    assert len(set(bags)) == len(bags)


def test_case_26_recent_means_seven_days_of_the_injected_clock():
    span = a_plan("最近 smart_brain 进展").global_filters.time_range
    assert span
    assert (span.from_, span.to) == (NOW - timedelta(days=7), NOW)


# 2026-12-01 is a Tuesday; in Shanghai it is 01:30 of that day, in UTC still Monday evening.
AT = datetime(2026, 12, 1, 1, 30, tzinfo=SHANGHAI)


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, tzinfo=SHANGHAI)


@pytest.mark.parametrize(
    ("message", "since", "until"),
    [
        ("昨天说了什么", day(11, 30), day(12, 1)),
        ("what did we say yesterday?", day(11, 30), day(12, 1)),
        ("the day before yesterday", day(11, 29), day(11, 30)),
        ("上周的决定", day(11, 23), day(11, 30)),
        ("decisions of last week", day(11, 23), day(11, 30)),
        ("今天做了什么", day(12, 1), AT),
        ("本月进展", day(12, 1), AT),
        ("this month", day(12, 1), AT),
        ("上个月", day(11, 1), day(12, 1)),
        ("last month's bugs", day(11, 1), day(12, 1)),
        ("去年", day(1, 1, 2025), day(1, 1)),
        ("last 3 days", AT - timedelta(days=3), AT),
        ("过去两周的会议", AT - timedelta(days=14), AT),
        ("最近三天", AT - timedelta(days=3), AT),
        ("yesterday or last week", day(11, 23), day(12, 1)),
        ("recently", AT - timedelta(days=7), AT),
    ],
)
def test_time_words_are_of_the_callers_own_days(message, since, until):
    found = time_window(message, AT)
    assert found
    assert found[0] == (since, until)
    assert found[1]


@pytest.mark.parametrize("message", ["", "a recentering matrix", "todayish", "the database", "last words"])
def test_other_words_are_no_time(message):
    assert time_window(message, AT) is None


def test_days_keep_their_length_where_the_clocks_change():
    berlin = ZoneInfo("Europe/Berlin")
    found = time_window("yesterday", datetime(2026, 10, 26, 9, tzinfo=berlin))
    assert found
    assert [instant.astimezone(UTC).hour for instant in found[0]] == [22, 23]


@pytest.mark.parametrize(
    ("message", "languages"),
    [
        ("请 summarize the design 文档", ["zh", "en"]),
        ("数据库用 Postgres 吗", []),
        ("数据库用什么", []),
        ("Which database?", []),
        ("これは what is it ですか", ["ja", "en"]),
        ("这是什么 где это the thing", []),
    ],
)
def test_a_message_in_two_languages_asks_for_both(message, languages):
    assert a_plan(message).global_filters.language == languages


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("What does Alice think of user_service.py?", ["user_service.py", "Alice"]),
        ("Where is it?", []),
        ("Postgres 的端口", ["Postgres"]),
        ("Deploying the service", []),
        ("MySQL 的端口", ["MySQL"]),
        ("谁负责“星火项目”", ["星火项目"]),
        ("Did Bob Smith call?", ["Bob Smith"]),
    ],
)
def test_core_names(message, names):
    assert core_names(message) == names
