"""What messages propose: every cue in both languages, with the key, the value and the words."""

from __future__ import annotations

import pytest

from memory.extraction import Said, extract
from memory.keys import check_key
from tests.memory.extraction.hearing import hear, keys, profile_of

pytestmark = pytest.mark.once  # rules over text


def test_it_works():
    [item] = hear("请记住：默认数据库是 Postgres").proposed
    assert (item.kind, item.type, item.key) == ("write", "facts", "fact:默认数据库:是")
    assert item.value["value"] == "Postgres"
    assert item.statement == "默认数据库是 Postgres"
    assert (item.confidence, item.explicit, item.message) == (0.8, True, 0)
    assert item.span == (0, 19)


EXPLICIT = [
    ("Remember that the default database is Postgres.", "fact:default-database:is"),
    ("Please remember: our default database is now Postgres", "fact:default-database:is"),
    ("Please remember that my name is Ann", "profile:user"),
    ("Could you please remember that I prefer tabs over spaces?", "pref:coding:indentation"),
    ("Can you remember that I'm allergic to peanuts?", "profile:user"),
    ("Keep in mind that the staging server lives in Tokyo", "fact:staging-server:lives-in"),
    ("The default port is 8080. Remember that.", "fact:default-port:is"),
    ("Remember: the support phone is 555-1000.", "fact:support-phone:is"),
    ("Remember that our host is db1.", "fact:host:is"),
    ("Remember that the Atlas host is db1.", "fact:atlas-host:is"),
    ("Remember that Atlas needs are met by April.", "fact:atlas-needs:is"),
    ("Remember that the Atlas host must be restarted each week.", "fact:atlas-host:must-be-restarted-each-week"),
    ("Don't forget to renew the certificate.", "task:general:renew-the-certificate"),
    ("Remember to always use metric units", "pref:other:units"),
    ("From now on, always reply in Chinese.", "pref:writing:language"),
    ("Please answer in English from now on.", "pref:writing:language"),
    ("Remind me to call mom tomorrow", "task:general:call-mom-tomorrow"),
    ("Remember I don't like spicy food", "pref:other:spicy-food"),
    ("记住我们决定用 Redis 做缓存", "decision:general:缓存"),
    ("帮我记一下，我们的上线时间是周五晚上八点", "fact:上线时间:是"),
    ("默认端口是 8080，记住了。", "fact:默认端口:是"),
    ("記住：預設資料庫是 Postgres", "fact:預設資料庫:是"),
    ("别忘了明天给客户发报告", "task:general:明天给客户发报告"),
    ("别忘了默认端口是 8080", "fact:默认端口:是"),
    ("记得明天提交周报", "task:general:明天提交周报"),
    ("以后都用中文回复", "pref:writing:language"),
    ("從現在起所有提交都要寫測試", "pref:coding:testing"),
    ("从现在起所有提交都要写测试", "pref:coding:testing"),
    ("请 remember 默认端口是 8080", "fact:默认端口:是"),
    ("Remember: the beta is no longer supported", "fact:beta:is"),
]


@pytest.mark.parametrize(("text", "key"), EXPLICIT)
def test_what_is_asked_to_be_remembered_is_explicit(text, key):
    [item] = hear(text).proposed
    assert (item.kind, item.key, item.explicit, item.confidence) == ("write", key, True, 0.8)


STATED = [
    ("We decided to use Postgres for storage because it is boring.", "decision:general:storage"),
    ("Let's go with Kafka for the event bus.", "decision:general:event-bus"),
    ("We've decided to switch from MySQL to Postgres.", "decision:general:postgres"),
    ("Decision: use uv instead of pip", "decision:general:uv"),
    ("我们决定缓存用 Redis", "decision:general:缓存"),
    ("我们开会后一致决定采用 Django 作为后端框架", "decision:general:后端框架"),
    ("我們決定用 Redis 做快取", "decision:general:快取"),
    ("我们决定不再使用 Redis 做缓存", "decision:general:缓存"),
    ("我们决定把部署时间改到周四", "decision:general:部署时间"),
    ("决定用 Vue 3 重写前端", "decision:general:前端"),
    ("那就用 Tailwind 吧", "decision:general:tailwind"),
    ("我们 decided to use Redis for caching", "decision:general:caching"),
    ("We decided not to use Kafka", "decision:general:kafka"),
    ("我们决定不用 Kafka", "decision:general:kafka"),
    ("Need to update the README", "task:general:update-the-readme"),
    ("- [ ] 写文档", "task:general:写文档"),
    ("I prefer tabs over spaces", "pref:coding:indentation"),
    ("I prefer window seats over aisle seats", "pref:other:aisle-seats-vs-window-seats"),
    ("我 prefer dark mode", "pref:ui:theme"),
    ("My favorite editor is vim", "pref:tools:editor"),
    ("我更喜欢深色主题", "pref:ui:theme"),
    ("我喜欢简洁的回答，不喜欢长篇大论", "pref:writing:length"),
    ("比起邮件，我更喜欢微信", "pref:other:contact"),
    ("My goal is to run a marathon this year.", "goal:general:run-a-marathon-this-year"),
    ("我的目标是今年通过 N1 考试", "goal:general:今年通过-n1-考试"),
    ("I need to fix the login bug", "task:general:fix-the-login-bug"),
    ("TODO: write the migration guide", "task:general:write-the-migration-guide"),
    ("- [ ] write docs", "task:general:write-docs"),
    ("We have to upgrade Django", "task:general:upgrade-django"),
    ("待办：整理会议纪要", "task:general:整理会议纪要"),
    ("下一步需要重构支付模块", "task:general:重构支付模块"),
]


@pytest.mark.parametrize(("text", "key"), STATED)
def test_what_is_stated_is_a_candidate(text, key):
    [item] = hear(text).proposed
    assert (item.kind, item.key, item.explicit, item.confidence) == ("write", key, False, 0.8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My name is Ann", {"name": "Ann"}),
        ("I work at Google as a designer", {"employer": "Google", "role": "designer"}),
        ("I am a backend engineer at Acme.", {"role": "backend engineer", "employer": "Acme"}),
        ("I live in Berlin", {"location": "Berlin"}),
        ("我叫王小明", {"name": "王小明"}),
        ("我在字节跳动工作", {"employer": "字节跳动"}),
        ("我在字节跳动做前端工程师", {"employer": "字节跳动", "role": "前端工程师"}),
        ("我是一名后端工程师", {"role": "后端工程师"}),
        ("我的生日是5月5日", {"birthday": "5月5日"}),
        ("你可以叫我小李", {"name": "小李"}),
    ],
)
def test_profile_facts(text, expected):
    [item] = hear(text).proposed
    assert item.key == "profile:user"
    assert profile_of(item) == expected


def test_a_named_speaker_has_a_profile_of_their_own():
    [item] = extract([Said("user", "Lin Wanyu", "I live in Berlin")]).proposed
    assert item.key == "profile:lin-wanyu"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Remember that the default database is Postgres", "Remember: our default database is MySQL"),
        ("请记住：默认数据库是 Postgres", "记住默认数据库为 MySQL"),
        ("We decided to use Redis for caching", "Let's go with Memcached for caching"),
        ("我们决定用 Redis 做缓存", "我们决定缓存用 Memcached"),
        ("I prefer tabs over spaces", "I prefer spaces over tabs"),
        ("I prefer tea over coffee", "I prefer coffee over tea"),
        ("我更喜欢深色主题", "我更喜欢浅色主题"),
    ],
)
def test_a_later_value_has_the_same_key(first, second):
    before, after = hear(first).proposed, hear(second).proposed
    assert [item.key for item in before] == [item.key for item in after]
    assert before[0].value != after[0].value


def test_several_cues_in_one_message_of_two_languages():
    assert keys("We decided to use Postgres. 另外请记住，部署窗口是周四。TODO: update docs") == [
        "decision:general:postgres",
        "fact:部署窗口:是",
        "task:general:update-docs",
    ]


def test_one_order_covers_all_that_it_joins():
    found = hear("Please remember that my name is Ann, I work at Acme and I prefer tabs over spaces.").proposed
    assert [item.type for item in found] == ["profile", "profile", "preferences"]
    assert all(item.explicit for item in found)


def test_clauses_with_subjects_of_their_own_are_facts_of_their_own():
    assert keys("请记住：默认数据库是 Postgres，端口是 5433。") == ["fact:默认数据库:是", "fact:端口:是"]
    assert len(keys("Remember: if the build fails, the owner is paged")) == 1


def test_a_list_after_the_order_is_remembered_line_by_line():
    found = hear("Remember:\n- the staging server is s1\n- the release day is Friday\nThanks!").proposed
    assert [item.key for item in found] == ["fact:staging-server:is", "fact:release-day:is"]
    assert all(item.explicit for item in found)


def test_a_statement_without_subject_is_still_kept():
    [item] = hear("Remember: red means stop here, green means go").proposed
    assert item.type == "facts"
    assert item.statement == "red means stop here, green means go"


def test_the_same_said_twice_is_proposed_once():
    [item] = hear("I prefer dark mode", "I prefer dark mode, remember that").proposed
    assert item.explicit


@pytest.mark.parametrize("text", [text for text, _ in EXPLICIT + STATED])
def test_keys_are_right_spans_are_in_the_text_and_words_are_the_users_own(text):
    for item in hear(text).proposed:
        assert check_key(item.type, item.key) == item.key
        start, end = item.span
        assert 0 <= start < end <= len(text)
        assert item.statement in text
