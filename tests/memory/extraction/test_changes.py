"""Corrections, retractions and task status: each names its target, or proposes nothing."""

from __future__ import annotations

import pytest

from memory.extraction import Said, extract
from tests.memory.extraction.hearing import hear, keys, reasons

pytestmark = pytest.mark.once  # rules over text

TASKS = (
    ("task:web:login", "Build the login page"),
    ("task:web:docs", "Write the docs"),
    ("task:app:pay", "支付接口联调"),
)


def test_it_works():
    [item] = hear("I'm done with the login page", tasks=TASKS).proposed
    assert (item.kind, item.type, item.key) == ("task_status", "tasks", "task:web:login")
    assert item.value == {"status": "done", "title": "Build the login page"}


@pytest.mark.parametrize(
    ("text", "key", "status"),
    [
        ("The login page is finished.", "task:web:login", "done"),
        ("I've written the docs", "task:web:docs", "done"),
        ("[x] docs", "task:web:docs", "done"),
        ("支付接口做完了", "task:app:pay", "done"),
        ("已完成支付接口联调", "task:app:pay", "done"),
        ("支付接口被第三方审核阻塞了", "task:app:pay", "blocked"),
        ("支付接口卡住了", "task:app:pay", "blocked"),
        ("We're blocked on the login page", "task:web:login", "blocked"),
        ("The login page is blocked by the security review", "task:web:login", "blocked"),
    ],
)
def test_status_of_an_open_task(text, key, status):
    [item] = hear(text, tasks=TASKS).proposed
    assert (item.kind, item.key, item.value["status"]) == ("task_status", key, status)


def test_a_blocked_task_keeps_its_reason():
    assert hear("支付接口被第三方审核阻塞了", tasks=TASKS).proposed[0].value["reason"] == "第三方审核"
    assert hear("The docs are blocked by legal", tasks=TASKS).proposed[0].value["reason"] == "legal"


def test_a_task_proposed_before_can_be_done_later():
    found = hear("I need to fix the login bug", "The login bug is done").proposed
    assert [item.kind for item in found] == ["write", "task_status"]
    assert found[0].key == found[1].key


def test_no_status_without_its_task():
    assert reasons("The garden is finished", tasks=TASKS) == {"no_open_task"}
    assert reasons("Docs are done", tasks=(("task:a:x", "User docs"), ("task:a:y", "Admin docs"))) == {
        "ambiguous_task"
    }


@pytest.mark.parametrize(
    "text",
    [
        "The login page isn't done",
        "登录页面还没做完",
        "登录页面快做完了",
        "Once the login page is done we can deploy",
        "The docs should be done by Friday",
        "Is the login page done?",
        "等支付接口做完了再说",
        "I'm done with this nonsense",
    ],
)
def test_not_done_yet(text):
    assert keys(text, tasks=TASKS) == []


def test_an_assistant_reports_at_most_the_status_of_an_open_task():
    [item] = hear("I've finished the login page. We decided to use Go.", role="assistant", tasks=TASKS).proposed
    assert (item.kind, item.key, item.confidence, item.explicit) == ("task_status", "task:web:login", 0.6, False)
    assert keys("I've finished the login page", role="assistant") == []


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("That's wrong, the default database is MySQL.", "fact:default-database:is", "MySQL"),
        ("No, that's incorrect. The deadline is June 3.", "fact:deadline:is", "June 3"),
        ("The default database is not Postgres but MySQL", "fact:default-database:is", "MySQL"),
        ("The default port isn't 8080, it's 9090", "fact:default-port:is", "9090"),
        ("默认数据库不是 Postgres，而是 MySQL", "fact:默认数据库:是", "MySQL"),
        ("不对，默认端口应该是 9090", "fact:默认端口:是", "9090"),
        ("默认数据库其实是 MySQL", "fact:默认数据库:是", "MySQL"),
        ("默认端口是 8080。不对，应该是 9090。", "fact:默认端口:是", "9090"),
    ],
)
def test_a_correction_writes_the_right_value_under_the_same_key(text, key, value):
    [item] = hear(text).proposed
    assert (item.kind, item.key, item.value["value"]) == ("write", key, value)


@pytest.mark.parametrize(
    ("earlier", "text", "key"),
    [
        ("The default database is Postgres.", "That's wrong, it's MySQL", "fact:default-database:is"),
        ("The default database is Postgres.", "Actually it's MySQL", "fact:default-database:is"),
        ("好的，默认数据库是 Postgres。", "不对，应该是 MySQL", "fact:默认数据库:是"),
        ("默认数据库是 Postgres。", "不是 Postgres，是 MySQL", "fact:默认数据库:是"),
    ],
)
def test_it_means_what_was_said_just_before(earlier, text, key):
    [item] = extract([Said("assistant", "", earlier), Said("user", "", text)]).proposed
    assert (item.key, item.value["value"], item.message) == (key, "MySQL", 1)


def test_a_name_can_be_corrected():
    *_, item = hear("My name is Ann. Sorry, I mean Anna.", "No, that's wrong, it's Anne.").proposed
    assert item.value["facts"] == [{"k": "name", "v": "Anne"}]


@pytest.mark.parametrize(
    "text",
    [
        "不对，应该是 MySQL",
        "Actually it's MySQL",
        "That's wrong.",
        "不对",
        "forget it",
        "算了，忘了吧",
        "我不再吃肉了",
    ],
)
def test_without_a_target_nothing_is_hit(text):
    assert keys(text) == []
    assert reasons(text) == {"no_target"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("We no longer use Redis for caching", "decision:general:caching"),
        ("我们不再使用 Redis 做缓存", "decision:general:缓存"),
        ("I don't use vim anymore", "pref:tools:editor"),
        ("我不再喜欢深色主题", "pref:ui:theme"),
        ("The default database is no longer MySQL", "fact:default-database:is"),
        ("默认数据库不再是 MySQL", "fact:默认数据库:是"),
        ("Forget that the default port is 8080", "fact:default-port:is"),
        ("忘掉默认端口是 8080 这件事", "fact:默认端口:是"),
        ("忘掉我喜欢深色主题这件事", "pref:ui:theme"),
        ("请忘掉关于 Redis 的决定", "decision:general:redis"),
        ("Forget that I prefer tabs", "pref:coding:indentation"),
    ],
)
def test_a_retraction_names_its_key(text, key):
    [item] = hear(text).proposed
    assert (item.kind, item.key) == ("retract", key)
    assert item.value["reason"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I no longer work at Acme", {"k": "employer", "v": "Acme"}),
        ("我不再在字节跳动工作了", {"k": "employer", "v": "字节跳动"}),
        ("Please forget my phone number", {"k": "phone", "v": None}),
        ("忘记我的生日", {"k": "birthday", "v": None}),
    ],
)
def test_a_retraction_of_a_profile_names_the_fact(text, fact):
    [item] = hear(text).proposed
    assert (item.kind, item.key, item.value["facts"]) == ("retract", "profile:user", [fact])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("I stopped using vim", "pref:tools:editor"),
        ("We won't use Redis for caching anymore", "decision:general:caching"),
        ("Forget what I said about dark mode", "pref:ui:theme"),
    ],
)
def test_what_was_given_up_is_retracted(text, key):
    [item] = hear(text).proposed
    assert (item.kind, item.key) == ("retract", key)
