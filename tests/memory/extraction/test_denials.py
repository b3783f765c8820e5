"""A denial has the key of what it denies, so that it takes the place of it and of nothing else."""

from __future__ import annotations

import pytest

from memory.extraction.denials import affirmed, denies
from memory.extraction.facts import parse
from memory.models import MemoryItem
from tests.conftest import Cast
from tests.memory.talk import commit, context, memories

P = "project:shop"


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("The default database is Postgres", "The default database isn't Postgres"),
        ("The default database is Postgres", "Our default database is not Postgres."),
        ("The servers are in Berlin", "The servers aren’t in Berlin"),
        ("The API supports IPv6", "The API doesn't support IPv6"),
        ("The API runs on port 8080", "The API does not run on port 8080"),
        ("The archive has a mirror", "The archive does not have a mirror"),
        ("Guests can upload photos", "Guests can't upload photos"),
        ("Guests can upload photos", "Guests cannot upload photos"),
        ("Release notes must name the author", "Release notes must not name the author"),
        ("默认数据库是 Postgres", "默认数据库不是 Postgres"),
        ("默认数据库是 Postgres", "默认数据库并不是 Postgres。"),
        ("网关支持 IPv6", "网关不支持 IPv6"),
        ("登录服务有缓存", "登录服务没有缓存"),
        ("访客可以上传照片", "访客不能上传照片"),
        ("支付服务需要登录", "支付服务不需要登录"),
        ("服务器在北京", "服务器不在北京"),
    ],
)
def test_it_works(said, denied):
    first, second = parse(said), parse(denied)
    assert first is not None
    assert second is not None
    assert first.key == second.key
    assert first.draft(said).value["relation"] != second.draft(denied).value["relation"]
    assert not denies(str(first.draft(said).value["relation"]))
    assert denies(str(second.draft(denied).value["relation"]))


@pytest.mark.parametrize(
    "words",
    ["端口是不是 3000", "我们有没有缓存", "The lesson isn't only about keys", "Notes live in the cellar", "不"],
)
def test_what_asks_or_says_more_is_no_denial(words):
    found = affirmed(words)
    fact = parse(words)
    assert found is None or fact is None or not fact.denial


def test_a_denial_deeper_in_a_sentence_denies_nothing_of_its_subject():
    fact = parse("The rule is that you can't deploy on Friday")
    assert fact is not None
    assert (fact.relation, fact.denial) == ("is", "")


@pytest.mark.parametrize(
    ("said", "denied", "asked"),
    [
        ("Remember: the default database is Postgres", "Remember: the default database isn't Postgres", "database"),
        ("请记住：默认数据库是 Postgres", "请记住：默认数据库不是 Postgres", "数据库"),
        ("请记住：网关支持 IPv6", "请记住：网关不支持 IPv6", "网关"),
    ],
)
def test_a_denial_takes_the_place_of_the_fact_and_the_fact_of_the_denial(cast: Cast, said, denied, asked):
    for words in (said, denied, said):
        commit(cast.agent, say=words, scopes=context(P))
        (found,) = memories(cast.agent, asked, scope_context=context(P))
        assert found == words.split(": ", 1)[-1].split("：", 1)[-1]
    assert MemoryItem.objects.filter(type="facts").count() == 3


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Remember: the default database is Postgres", "Remember: the default database isn't MySQL"),
        ("请记住：默认数据库是 Postgres", "请记住：默认数据库不是 MySQL"),
        ("Remember: the default database is not Oracle", "Remember: the default database is not MySQL"),
    ],
)
def test_the_denial_of_another_value_leaves_the_fact_alone(cast: Cast, said, denied):
    """Field report B3: what was not meant is not touched."""
    commit(cast.agent, say=said, scopes=context(P))
    before = MemoryItem.objects.filter(type="facts").values().get()
    commit(cast.agent, say=denied, scopes=context(P))
    assert MemoryItem.objects.filter(pk=before["id"]).values().get() == before
    assert MemoryItem.objects.filter(type="facts", current_until=None).count() == 2
    again = commit(cast.agent, say=denied, scopes=context(P), extract=True)
    assert again["memory_written"]["count"] == 0


def test_what_corrects_a_denial_affirms(cast: Cast):
    commit(cast.agent, say="Remember: the default port is not 8080. Correction: it's 9090", scopes=context(P))
    assert "The default port is not 9090" not in memories(cast.agent, "default port", scope_context=context(P))
