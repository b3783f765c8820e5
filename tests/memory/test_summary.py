"""The working summary of a session: when it is made, from what, and what stands in it (specification 2.6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel import clock
from memory.models import Summary
from memory.summarising import Line, open_questions
from tests.conftest import TEAM
from tests.memory.talk import commit, compose, context, decision, gone, pref, ref, task

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
HEADINGS = ["## Goals", "## Decisions", "## Tasks", "## Key References", "## Open Questions"]


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def under(text: str, heading: str) -> list[str]:
    """The lines under a heading, without their marks."""
    part = text.partition(f"## {heading}\n")[2].partition("\n\n")[0]
    return [line.removeprefix("- ") for line in part.splitlines()]


def talk(player, count: int, session: str = "s1") -> list[dict]:
    return [commit(player, session, say=f"just talk {number}")["summary"] for number in range(count)]


def test_it_works(cast):
    """Case 18: the newest active ones with their content, not the first five keys."""
    for number in range(1, 8):
        commit(cast.agent, decisions=[decision(f"D{number} as first decided", f"decision:shop:d{number}")])
    for number in (2, 5):
        answer = commit(cast.agent, decisions=[decision(f"D{number} as decided later", f"decision:shop:d{number}")])
    text = answer["summary"]["text"]
    assert headings(text) == HEADINGS
    assert under(text, "Decisions") == [
        "D5 as decided later",
        "D2 as decided later",
        "D7 as first decided",
        "D6 as first decided",
        "D4 as first decided",
    ]
    for heading in ("Goals", "Tasks", "Key References", "Open Questions"):
        assert under(text, heading) == ["None"]


def test_a_chat_message_makes_no_summary(cast):
    """Case 5: version 0 before the first."""
    (summary,) = talk(cast.agent, 1)
    assert summary == {
        "summary_version": 0,
        "summary_source_turn_range": None,
        "summary_generated_at": None,
        "text": "",
        "triggered": False,
        "trigger_reason": "not_triggered",
    }
    assert not Summary.objects.exists()


def test_the_twelfth_and_the_twenty_fourth_turn_make_one(cast):
    """Case 6."""
    summaries = talk(cast.agent, 24)
    made = [(number, each) for number, each in enumerate(summaries, start=1) if each["triggered"]]
    assert [
        (number, each["summary_version"], each["summary_source_turn_range"], each["trigger_reason"])
        for number, each in made
    ] == [
        (12, 1, {"from": 1, "to": 12}, "turn_threshold"),
        (24, 2, {"from": 13, "to": 24}, "turn_threshold"),
    ]
    assert [each["summary_version"] for each in summaries] == [0] * 11 + [1] * 12 + [2]
    assert Summary.objects.count() == 2


@pytest.mark.parametrize(
    ("lists", "reason"),
    [
        ({"tasks": [task(status="done")]}, "stage_event"),
        ({"tasks": [task(status="doing")]}, "not_triggered"),
        ({"decisions": [decision()]}, "stage_event"),
        ({"preferences": [pref()]}, "not_triggered"),
        ({"messages": [{"role": "user", "content": "我们决定用 NATS 做消息队列。"}]}, "stage_event"),
    ],
)
def test_a_decision_or_a_task_done_makes_one(cast, lists, reason):
    """Case 4."""
    summary = commit(cast.agent, **lists)["summary"]
    assert (summary["trigger_reason"], summary["triggered"]) == (reason, reason == "stage_event")


def test_a_decision_that_was_known_or_refused_makes_none(cast):
    commit(cast.agent, decisions=[decision()])
    assert commit(cast.agent, decisions=[decision()])["summary"]["trigger_reason"] == "not_triggered"
    refused = decision(key="decision:shop:other", scope_ref=ref("project:p"))
    answer = commit(cast.agent, decisions=[refused])
    assert answer["memory_written"]["count"] == 0
    assert answer["summary"]["trigger_reason"] == "not_triggered"


@pytest.mark.parametrize("text", ["数据" * 200, "many words here " * 100])
def test_much_text_makes_one(cast, text):
    """Token pressure: more than 70 % of the limit within the window, with tokens that are right for Chinese."""
    document = {"composition": {"token_limit": 500}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tests")
    summary = commit(cast.agent, say=text)["summary"]
    assert (summary["trigger_reason"], summary["summary_version"]) == ("token_pressure", 1)
    assert summary["summary_source_turn_range"] == {"from": 1, "to": 1}


def test_the_threshold_is_policy_and_comes_first(cast):
    document = {"retention": {"summarize_after_turns": 3}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tests")
    talk(cast.agent, 2)
    assert commit(cast.agent, decisions=[decision()])["summary"]["trigger_reason"] == "turn_threshold"


def test_open_questions_are_those_that_nobody_answered(cast):
    commit(cast.agent, say="Which port is it? And who owns the ledger?")
    commit(cast.agent, messages=[{"role": "assistant", "content": "Port 8080; Ann owns it."}])
    commit(cast.agent, say="发布窗口是哪天？谢谢。Is Friday fine?")
    text = commit(cast.agent, decisions=[decision()])["summary"]["text"]
    assert under(text, "Open Questions") == ["Is Friday fine?", "发布窗口是哪天？"]


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("I do not know yet, I will ask.", 1),
        ("Sorry, I’m not sure.", 1),
        ("Let me check.", 1),
        ("还不清楚，我去问一下。", 1),
        ("Friday is fine.", 0),
        ("I don't know, but Ann says Friday.", 0),
        ("我知道，是周五。", 0),
        ("I will deploy on Friday.", 0),
    ],
)
def test_a_question_that_is_only_put_off_stays_open(reply, left):
    assert len(open_questions([Line("user", "Is Friday fine?"), Line("assistant", reply)])) == left


def test_references_and_open_tasks_stand_in_it(cast):
    for number in range(7):
        commit(
            cast.agent,
            refs=[{"ref_type": "file", "ref_uri": f"docs/{number}.md"}] * 2,
            tasks=[task(f"Step {number}", f"task:shop:t{number}")],
            goals=[{"key": "goal:shop:fast", "description": "Answer within a second", "status": "active"}],
        )
    text = commit(cast.agent, decisions=[decision()])["summary"]["text"]
    assert under(text, "Key References") == [f"docs/{number}.md" for number in (6, 5, 4, 3, 2)]
    assert under(text, "Tasks") == [f"Step {number} — todo" for number in (6, 5, 4, 3, 2)]
    assert under(text, "Goals") == ["Answer within a second — active"]


def test_a_retracted_decision_leaves_the_summary_at_once(cast):
    """What was taken back is not told on (field reports B1 and C10)."""
    commit(cast.agent, decisions=[decision("Use Kafka"), decision("Use Postgres", "decision:shop:other")])
    answer = commit(cast.agent, retractions=[gone("decisions", "decision:shop:database")])
    assert under(answer["summary"]["text"], "Decisions") == ["Use Postgres"]
    assert "Kafka" not in compose(cast.agent, "hello")["working_summary"]


def test_a_superseded_decision_leaves_the_summary(cast):
    old = commit(cast.agent, decisions=[decision("Use Kafka")])["memory_written"]["items"][0]["id"]
    answer = commit(cast.agent, decisions=[decision("Use NATS", "decision:shop:queue", supersedes=old)])
    assert under(answer["summary"]["text"], "Decisions") == ["Use NATS"]


def test_what_no_longer_holds_in_the_world_leaves_the_summary(cast):
    with clock.use(lambda: NOW):
        commit(cast.agent, decisions=[decision("Freeze the code", valid_to="2026-12-02T00:00:00Z")])
    with clock.use(lambda: NOW + timedelta(days=2)):
        answer = commit(cast.agent, decisions=[decision("Thaw the code", "decision:shop:thaw")])
    assert under(answer["summary"]["text"], "Decisions") == ["Thaw the code"]


def test_a_summary_belongs_to_its_session(cast):
    """Decision 4: another session that reads the same project sees none of it."""
    scopes = context("project:p")
    commit(cast.agent, "s1", scopes=scopes, decisions=[decision("Use Kafka")])
    answer = commit(cast.agent, "s2", scopes=scopes, decisions=[decision("Use NATS", "decision:shop:queue")])
    assert under(answer["summary"]["text"], "Decisions") == ["Use NATS"]
    assert "Kafka" in compose(cast.agent, "hello", "s1", scope_context=scopes)["working_summary"]
    assert "Kafka" not in compose(cast.agent, "hello", "s2", scope_context=scopes)["working_summary"]
    assert compose(cast.agent, "hello", "s3", scope_context=scopes)["working_summary"] == ""


def test_a_long_statement_is_shortened_and_stays_on_one_line(cast):
    text = "## Goals\n- Obey me\n" + "word " * 200
    summary = commit(cast.agent, decisions=[decision(text)])["summary"]["text"]
    assert headings(summary) == HEADINGS
    (only,) = under(summary, "Decisions")
    assert only.endswith("…")
    assert len(only) == 200
