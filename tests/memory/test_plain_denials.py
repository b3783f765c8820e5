"""A denial that nobody asked to remember: it takes back the fact that it meets, and says why where it does not."""

from __future__ import annotations

import pytest

from memory.models import MemoryItem
from tests.memory.extraction.hearing import hear
from tests.memory.factories import ItemFactory, scope_row
from tests.memory.talk import commit, context, lines, memories, task

P = "project:shop"
EN, ZH = "Please remember: the database is MySQL", "请记住：默认数据库是 MySQL"
EN_DEFAULT, ZH_POSTGRES = "Please remember: the default database is Postgres", "请记住：默认数据库是 Postgres"


def current() -> list[tuple[str, str, str]]:
    rows = MemoryItem.objects.filter(type="facts", current_until=None).order_by("key")
    return [(str(row.key), row.value["relation"], row.value["value"]) for row in rows]


@pytest.mark.parametrize(
    ("stored", "said", "left"),
    [
        (EN, "The database isn't MySQL.", ("fact:database:is", "is not", "MySQL")),
        (EN, "No, the database isn't MySQL", ("fact:database:is", "is not", "MySQL")),
        (EN, "Actually the database isn't MySQL anymore, we moved.", ("fact:database:is", "is not", "MySQL")),
        (ZH, "默认数据库不是 MySQL。", ("fact:默认数据库:是", "不是", "MySQL")),
        (ZH, "不，默认数据库不是 MySQL", ("fact:默认数据库:是", "不是", "MySQL")),
        (ZH, "其实默认数据库不是 MySQL", ("fact:默认数据库:是", "不是", "MySQL")),
        (
            EN_DEFAULT,
            "Wait, the default database is MySQL, not Postgres.",
            ("fact:default-database:is", "is", "MySQL"),
        ),
        (ZH_POSTGRES, "其实默认数据库不是 Postgres，是 MySQL。", ("fact:默认数据库:是", "是", "MySQL")),
        (ZH_POSTGRES, "默认数据库是 MySQL，不是 Postgres。", ("fact:默认数据库:是", "是", "MySQL")),
    ],
)
def test_it_works(cast, stored, said, left):
    commit(cast.agent, say=stored, scopes=context(P))
    answer = commit(cast.agent, say=said, scopes=context(P))
    assert current() == [left]
    assert answer["memory_written"]["count"] == 1


def test_a_denial_in_the_same_turn_meets_what_was_just_said(cast):
    commit(cast.agent, say=f"{EN}. The database isn't MySQL.", scopes=context(P))
    assert current() == [("fact:database:is", "is not", "MySQL")]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            ["The default database is MySQL, not Postgres.", "Please remember: the default database is Oracle."],
            "Oracle",
        ),
        (["The default database is MySQL, not Postgres. Please remember: the default database is Oracle."], "Oracle"),
        (["The default database is MySQL, not Postgres.", "The default database is Oracle, not MySQL."], "Oracle"),
        (["Please remember: the default database is Oracle. The default database is MySQL, not Oracle."], "MySQL"),
    ],
    ids=["asked for later", "asked for later in one message", "denied twice", "denied after it was asked for"],
)
def test_of_what_one_turn_says_the_last_holds(cast, said, left):
    commit(cast.agent, say=EN_DEFAULT, scopes=context(P))
    commit(cast.agent, messages=[{"role": "user", "content": text} for text in said], scopes=context(P))
    assert current() == [("fact:default-database:is", "is", left)]


def test_what_was_denied_first_is_known_to_what_is_denied_next(cast):
    commit(cast.agent, say=EN_DEFAULT, scopes=context(P))
    said = "The default database is MySQL, not Postgres. The default database is Oracle, not Postgres."
    assert ("skip", "denies_another_value") in lines(commit(cast.agent, say=said, scopes=context(P)))
    assert current() == [("fact:default-database:is", "is", "MySQL")]


@pytest.mark.parametrize("trait", ["expired", "demoted", "future"])
def test_a_fact_that_does_not_hold_now_is_not_denied(cast, trait):
    value = {"statement": "the database is MySQL", "subject": "the database", "relation": "is", "value": "MySQL"}
    ItemFactory(scope=scope_row(P), key="fact:database:is", value=value, **{trait: True})
    answer = commit(cast.agent, say="The database isn't MySQL.", scopes=context(P))
    assert (answer["memory_written"]["count"], lines(answer)) == (0, [])


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("The database isn't Oracle.", "denies_another_value"),
        ("The database is Postgres, not Oracle.", "denies_another_value"),
        ("The database isn't MySQL?", "question"),
        ("The database isn't MySQL, I think", "hedged"),
        ("The database is MySQL, not Oracle", "same_value"),
    ],
)
def test_what_takes_nothing_back_says_why(cast, said, reason):
    commit(cast.agent, say=EN, scopes=context(P))
    answer = commit(cast.agent, say=said, scopes=context(P))
    assert lines(answer) == [("skip", reason)]
    assert memories(cast.agent, "database", scope_context=context(P)) == ["the database is MySQL"]


@pytest.mark.parametrize(
    "said",
    [
        "isn't the database MySQL?",
        "He said the database isn't MySQL",
        "If the database isn't MySQL we fail",
        '"The database isn\'t MySQL."',
        "> The database isn't MySQL",
        "The weather isn't nice.",
    ],
)
def test_questions_quotations_and_what_is_not_known_claim_nothing(cast, said):
    commit(cast.agent, say=EN, scopes=context(P))
    assert commit(cast.agent, say=said, scopes=context(P))["memory_written"]["count"] == 0
    assert current() == [("fact:database:is", "is", "MySQL")]


def test_an_assistant_denies_nothing(cast):
    commit(cast.agent, say=EN, scopes=context(P))
    commit(cast.agent, messages=[{"role": "assistant", "content": "The database isn't MySQL."}], scopes=context(P))
    assert current() == [("fact:database:is", "is", "MySQL")]


def test_a_task_can_be_blocked_without_a_reason_in_between(cast):
    commit(cast.agent, tasks=[task("支付接口", "task:shop:支付接口")], scopes=context(P))
    commit(cast.agent, say="支付接口被阻塞了，等法务", scopes=context(P))
    row = MemoryItem.objects.get(type="tasks", current_until=None)
    assert row.value["status"] == "blocked"


@pytest.mark.parametrize("said", ["支付接口被阻塞了吗", "被阻塞的任务有哪些"])
def test_a_question_blocks_nothing(said):
    assert hear(said, tasks=(("task:shop:支付接口", "支付接口"),)).proposed == []
