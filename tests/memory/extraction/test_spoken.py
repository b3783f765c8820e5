"""What people type, as they type it: each message proposes what it should, and small talk proposes nothing."""

from __future__ import annotations

import pytest

from memory.extraction import Proposed
from memory.keys import check_key
from tests.memory.extraction import said_en, said_zh, silent_en, silent_zh
from tests.memory.extraction.hearing import hear, keys, reasons

pytestmark = pytest.mark.once  # rules over text

TASKS = (
    ("task:app:pay", "支付接口联调"),
    ("task:app:move", "数据迁移脚本"),
    ("task:me:report", "写周报"),
    ("task:web:login", "Build the login page"),
    ("task:web:docs", "Write the docs"),
)


def fits(item: Proposed, wanted: str) -> bool:
    """Whether a proposal is of one of the kinds named, and holds the words named after them."""
    kinds, words = wanted.split(" ", 1)
    if item.kind == "task_status":
        return item.value["status"] == kinds and item.key == words
    kind = item.type if item.kind == "write" else item.kind
    return kind in kinds.split("|") and words.casefold() in f"{item.statement} {item.key} {item.value}".casefold()


def assert_proposes(text: str, wanted: list[str], tasks: tuple = ()) -> None:
    found = hear(text, tasks=tasks).proposed
    assert len(found) == len(wanted)
    for each in wanted:
        assert any(fits(item, each) for item in found), each
    for item in found:
        assert check_key(item.type, item.key) == item.key
        assert 0 <= item.span[0] < item.span[1] <= len(text)


def test_it_works():
    assert_proposes("前端框架就用 React 吧，就这么定了", ["decisions React"])


@pytest.mark.parametrize(("text", "wanted"), said_zh.WORTH_KEEPING + said_en.WORTH_KEEPING)
def test_worth_keeping(text, wanted):
    assert_proposes(text, wanted)


@pytest.mark.parametrize(("text", "wanted"), said_zh.STATUS + said_en.STATUS)
def test_the_status_of_an_open_task(text, wanted):
    assert_proposes(text, wanted, TASKS)


@pytest.mark.parametrize("text", silent_zh.NOT_WORTH_KEEPING + silent_en.NOT_WORTH_KEEPING)
def test_not_worth_keeping(text):
    assert keys(text) == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("请记住：发布负责人是陈静", "fact:发布负责人:是"),
        ("记住：需求对接人是老王", "fact:需求对接人:是"),
        ("记住使用者手册在 wiki", "fact:使用者手册:在"),
        ("记住：支持团队邮箱是 a@b.cn", "fact:支持团队邮箱:是"),
        ("记住：会员价是 99", "fact:会员价:是"),
        ("记住：对外域名是 x.cn", "fact:对外域名:是"),
        ("记住：团队每周例会是周三", "fact:团队每周例会:是"),
        ("记住生产库只读账号叫 reader01", "fact:生产库只读账号:叫"),
        ("记住：默认用户是 admin", "fact:默认用户:是"),
        ("记住：客户端要求版本是 8", "fact:客户端要求版本:是"),
        ("记住：A 组负责人是王五", "fact:a-组负责人:是"),
        ("记住：项目预算是 5 万", "fact:项目预算:是"),
        ("记住：陈静负责发布", "fact:陈静:负责-发布"),
        ("记住：小李会法语", "fact:小李:会-法语"),
    ],
)
def test_a_noun_that_contains_a_verb_stays_whole(text, key):
    assert keys(text) == [key]


@pytest.mark.parametrize("text", ["其实负责人是李雷", "不对，负责人是李雷", "其实发布负责人是李雷"])
def test_a_correction_by_the_last_words_of_a_subject_updates_it(text):
    *_, item = hear("请记住：发布负责人是陈静", text).proposed
    assert (item.key, item.value["value"], item.message) == ("fact:发布负责人:是", "李雷", 1)


@pytest.mark.parametrize("text", ["其实问题是你没测", "其实这个方法是可行的", "其实默认端口是可以改的"])
def test_an_opinion_is_no_correction(text):
    assert keys("请记住：发布负责人是陈静", text) == ["fact:发布负责人:是"]


def test_a_city_is_where_one_lives_and_not_an_employer():
    [item] = hear("我在杭州做后端开发").proposed
    assert item.value["facts"] == [{"k": "location", "v": "杭州"}, {"k": "role", "v": "后端开发"}]


def test_a_password_of_digits_is_a_secret():
    assert reasons("请记住银行卡密码 998877") == {"looks_like_secret"}
