"""When a person may decide on two texts alike: pairs that are one, and pairs that must never be."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.likeness import LONGEST, likeness, likeness_of

ALIKE = [
    # case, punctuation, quotes, spacing, width
    ("Use PostgreSQL.", "use postgresql"),
    ("Deploys happen on Tuesday!", "deploys happen on tuesday"),
    ("The port of the shop is `5432`", "The port of the shop is “5432”."),
    ("API keys expire after 90 days", "api keys expire after 90 days;"),
    ("Ｔｈｅ ｐｏｒｔ ｉｓ ５４３２", "The port is 5432"),
    ("The cache   lives\nin Redis", "the cache lives in redis."),
    # empty words, contractions, other names, plurals
    ("We use PostgreSQL for the shop", "Use Postgres for shop"),
    ("Please note that the database is in Berlin", "The DB is in Berlin"),
    ("The cache isn't used", "The cache is not used."),
    ("Agents can't write to production", "agents cannot write to prod"),
    ("Secrets are kept in the repository", "Secrets are kept in our repo"),
    ("Backups run at night", "Backup runs at night"),
    ("It's stored in the config", "It is stored in the configuration"),
    ("Our Kubernetes cluster runs in Frankfurt", "The k8s cluster runs in Frankfurt"),
    ("Invoices go out by e-mail", "Invoices go out by email"),
    ("A customer is in Berlin. A shop too.", "a customer is in berlin; the shop too"),
    ("- A cache is used", "The cache is used"),
    # the order of one list
    ("We support Redis, Kafka and Postgres", "We support Postgres, Redis, and Kafka"),
    ("Ports 80, 443 and 8080 are open", "Ports 443, 8080 and 80 are open"),
    ("Ann and Ben review the shop", "Ann and Ben review the shop."),
    ("The service talks to redis and kafka", "The service talks to Kafka and Redis"),
    ("Allow eu-west-1 or eu-central-1", "Allow eu-central-1 or eu-west-1"),
    # the number of a run that ended
    ("Build 1234 failed", "build 1235 failed"),
    ("Build #77 failed with a timeout in the shop tests", "Build #78 failed with a timeout in the shop tests."),
    ("Pipeline 9 timed out", "Pipeline 10 timed out"),
    ("The nightly run 41 was cancelled", "the nightly run 42 was canceled"),
    # Chinese
    ("数据库使用 PostgreSQL。", "数据库用PostgreSQL"),
    ("我们采用 PostgreSQL", "采用postgresql。"),
    ("请记住：端口是 5432", "端口是５４３２"),
    ("目前数据库在柏林", "数据库在柏林呢"),
    ("缓存已经放在 Redis", "缓存放在redis"),
    ("支持 Redis、Kafka 和 Postgres", "支持Postgres、Kafka与Redis"),
    ("构建 1234 失败", "构建1235失败"),
    ("第 12 次构建失败", "第13次构建失败。"),
    ("资料库每天备份", "数据库每天备份"),
]
APART = [
    # a denial and its positive
    ("The cache is used", "The cache is not used"),
    ("Agents can write to production", "Agents cannot write to production"),
    ("Deploy on Fridays", "Never deploy on Fridays"),
    ("The shop has backups", "The shop has no backups"),
    ("Use Redis, not Kafka", "Use Kafka, not Redis"),
    ("Release without a review", "Release with a review"),
    ("数据库用 PostgreSQL", "数据库不用 PostgreSQL"),
    ("可以在周五发布", "不可以在周五发布"),
    ("还没有备份", "有备份"),
    # another number, version, date, unit, sign
    ("We run Postgres 15", "We run Postgres 16"),
    ("The port is 5432", "The port is 5433"),
    ("Keys expire after 30 days", "Keys expire after 90 days"),
    ("Latency must stay < 50 ms", "Latency must stay > 50 ms"),
    ("The budget is 5 %", "The budget is 5"),
    ("The offset is -3", "The offset is 3"),
    ("The launch is on 3 May", "The launch is on 4 May"),
    ("The server has 16 GB", "The server has 16 TB"),
    ("Node v18 is used", "Node v20 is used"),
    ("端口是 5432", "端口是 5433"),
    ("每天备份两次", "每天备份三次"),
    ("版本 1.2 已发布", "版本 1.3 已发布"),
    # runs of which the number is the point
    ("Deploy build 1234", "Deploy build 1235"),
    ("Build 1234 passed, release it", "Build 1235 passed, release it"),
    ("The release 15 failed the audit", "The release 16 failed the audit"),
    ("Ticket 1234 failed review", "Ticket 1235 failed review"),
    ("Build 1234 failed", "Build 1235 passed"),
    ("Build 1234 failed after 3 tests", "Build 1234 failed after 4 tests"),
    ("构建 1234 失败", "构建 1235 成功"),
    ("请部署构建 1234 成功", "请部署构建 1235 成功"),
    # another name, role, direction, time, strength, question
    ("Ann reports to Ben", "Ben reports to Ann"),
    ("Migrate from MySQL to Postgres", "Migrate from Postgres to MySQL"),
    ("The primary is in Berlin", "The primary is in Paris"),
    ("We used Redis", "We use Redis"),
    ("Reviews must be signed", "Reviews may be signed"),
    ("Is the port 5432?", "The port is 5432"),
    ("Allow Redis and Kafka", "Allow Redis or Kafka"),
    ("Stop and start the server", "Start and stop the server"),
    ("Always build, test and deploy", "Always test, build and deploy"),
    ("Prefer Redis, Kafka and NATS", "Prefer Kafka, Redis and NATS"),
    ("Ports of Ann and Ben are 80 and 443", "Ports of Ben and Ann are 80 and 443"),
    ("Data moves from Redis, Kafka and NATS in this order", "Data moves from Kafka, Redis and NATS in this order"),
    ("Ask Ann and Ben", "Ask Ann and Cid"),
    ("Deploy to US and EU", "Deploy to EU"),
    ("Use C", "Use C++"),
    ("The team hired Ann only", "The team hired Ann"),
    # having is not being, nor is it past; hours of the morning; an A that is no article
    ("The shop has a customer in Berlin", "The shop is a customer in Berlin"),
    ("The shops have customers in Berlin", "The shops are customers in Berlin"),
    ("Bob has left", "Bob left"),
    ("The backup runs at 9 am", "The backup runs at 9"),
    ("Plan A is approved", "The plan is approved"),
    ("Plan A is approved", "A plan is approved"),
    ("We chose plan A.", "We chose the plan."),
    ("We chose plan a.", "We chose the plan."),
    ("方案 A 已批准", "方案已批准"),
    ("A 方案已批准", "方案已批准"),
    ("小明向小红汇报", "小红向小明汇报"),
    ("先备份，再升级", "先升级，再备份"),
    ("应该用 Redis 和 Kafka", "应该用 Redis 或 Kafka"),
    ("他喜欢用 Redis", "她喜欢用 Redis"),
]


def test_it_works():
    assert likeness("We use PostgreSQL for the shop.") == ("use", "postgres", "for", "shop")


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_one_decision_does_for_both(one, other):
    assert likeness(one) == likeness(other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_each_needs_its_own_decision(one, other):
    assert likeness(one) != likeness(other)


def test_the_pairs_are_enough_in_both_languages():
    for pairs in (ALIKE, APART):
        assert sum(not (one + other).isascii() for one, other in pairs) >= 9
    assert len(ALIKE) + len(APART) >= 80


@given(st.text(max_size=60), st.integers(0, 9), st.integers(0, 9))
def test_a_digit_never_drops_out(text, one, two):
    if one != two:
        assert likeness(f"{text} port {one}") != likeness(f"{text} port {two}")


@given(st.text(max_size=200))
def test_any_text_has_a_likeness_and_is_alike_itself_in_capitals_of_ascii(text):
    found = likeness(text)
    assert all(isinstance(piece, str) for piece in found)
    assert likeness(text) == found


@pytest.mark.parametrize(
    "text", ["", " ", "的", "...", "()", "n't", "can't", "a, and and, b", "and " * 900, "a, " * 900]
)
def test_odd_texts_are_no_error(text):
    assert isinstance(likeness(text), tuple)


def test_a_long_text_is_alike_to_its_equals_only():
    long = "word " * LONGEST
    assert likeness(long) == likeness(long) != likeness(long.upper())


@pytest.mark.parametrize(
    "text",
    [
        "build " * 600,
        "1" * LONGEST,
        "build 1 " * 490,
        "的" * LONGEST,
        "a-" * 1900,
        "n't" * 1300,
        "A " * 2000,
        ". " * 2000,
        "A." * 2000,
    ],
)
def test_a_hostile_text_takes_no_time(text):
    started = time.process_time()
    likeness(text)
    assert time.process_time() - started < 5, "of the processor's time"


def test_a_tree_keeps_everything_but_its_texts():
    tree = {"document": {"daily_cap": 5, "note": "The Port is 5432."}, "on": [True, None]}
    alike = {"document": {"daily_cap": 5, "note": "the port is 5432"}, "on": [True, None]}
    other = {"document": {"daily_cap": 6, "note": "the port is 5432"}, "on": [True, None]}
    assert likeness_of(tree) == likeness_of(alike) != likeness_of(other)
