"""The tokeniser: every language and every identifier is found by what people type."""

from __future__ import annotations

import sys
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.tokens import count_tokens, query_terms, terms


def finds(query: str, text: str) -> bool:
    """Whether the text has every term of a query in Han, kana or hangul, or any term of another query."""
    wanted, there = set(query_terms(query)), set(terms(text))
    return wanted <= there if not query.isascii() else bool(wanted & there)


def test_it_works():
    assert terms("The default database is Postgres")["database"] == 1


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("中文", "中文优先"),
        ("优先", "中文优先"),
        ("文优", "中文优先"),
        ("数据库", "默认数据库是 Postgres"),
        ("万东立刻", "万 东 立 刻"),
        ("万 东 立 刻", "请万东立刻处理"),
        ("万东立刻", "万　东　立　刻"),
        ("データベース", "既定のデータベースはPostgresです"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
        ("東京", "東京都に住む"),
        ("데이터베이스", "기본 데이터베이스는 포스트그레스"),
        ("데이터 베이스", "데이터베이스"),
        ("Postgres", "用Postgres数据库"),
        ("数据库", "用Postgres数据库"),
        ("GPT4", "我们用GPT4写代码"),
        ("々木", "佐々木さん"),
        ("𠮷野", "𠮷野家"),
        ("库", "默认数据库"),
        ("getUserName", "call getUserName() first"),
        ("user name", "call getUserName() first"),
        ("http response", "class HTTPResponse:"),
        ("max_body_bytes", "set max_body_bytes = 8"),
        ("body bytes", "set max_body_bytes = 8"),
        ("init", "def __init__(self)"),
        ("private", "self._private = 1"),
        ("kernel/tokens.py", "see kernel/tokens.py for more"),
        ("tokens", "see kernel/tokens.py for more"),
        ("example.com", "mail bob@example.com now"),
        ("bob", "mail bob@example.com now"),
        ("192.168.0.1", "host 192.168.0.1 is down"),
        ("2026-12-01", "due 2026-12-01, at noon"),
        ("2026", "due 2026-12-01"),
        ("3.14", "pi is 3.14."),
        ("42", "the answer is 42!"),
        ("４２", "the answer is 42!"),
        ("databases", "one database"),
        ("database", "two databases"),
        ("running", "we run"),
        ("STRASSE", "Straße"),
        ("café", "CAFÉ"),
        ("cafe\u0301", "café"),
        ("Москва", "москва"),
        ("don't", "we don’t know"),
        ("alice", "Alice's key"),
        ("Postgres", "“Postgres”"),
        ("ﬁle", "the file"),
    ],
)
def test_the_query_finds_the_text(query, text):
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [("文中", "中文优先"), ("优中", "中文优先"), ("post", "Postgres"), ("2025", "due 2026-12-01"), ("库据", "数据库")],
)
def test_the_query_does_not_find_the_text(query, text):
    assert not finds(query, text)


@pytest.mark.parametrize("text", ["", " ", "!?", "…", "\u200b", "🙂", "---", "' ' '", "()[]{}"])
def test_a_text_without_words_has_no_terms(text):
    assert not terms(text)
    assert query_terms(text) == []


def test_common_words_are_left_out_unless_alone():
    assert query_terms("what is the database") == ["database", "databas"]
    assert query_terms("to be or") == ["to", "be", "or"]
    assert query_terms("的") == ["的"]


def test_a_term_occurs_as_often_as_it_is_said():
    assert terms("red blue red")["red"] == 2
    assert terms("数据数据")["数据"] == 2


def test_a_word_without_end_is_cut_alike_in_text_and_query():
    assert finds("x" * 1_000, "y " + "x" * 1_000)
    assert max(map(len, terms("x" * 1_000))) <= 64


def test_threads_stem_alike():
    """A stemmer keeps the word that it works on in itself, so two threads must not share one."""
    words = [f"{stem}{ending}" for stem in ("nation", "relat", "condit", "organ", "hope") for ending in
             ("al", "ional", "ization", "fulness", "ing", "ed", "s")]  # fmt: skip
    texts = [f"{word}{chr(97 + a)}{chr(97 + b)}ing" for word in words for a in range(26) for b in range(4)]
    alone = {text: terms(text) for text in texts}
    from kernel.tokens import _with_stem

    wrong: list[str] = []

    def stem() -> None:
        for text in texts:
            _with_stem.cache_clear()
            if terms(text) != alone[text]:
                wrong.append(text)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=stem) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("数据库", 3), ("用SQL", 2), ("é", 1)]
)
def test_tokens_are_counted(text, tokens):
    assert count_tokens(text) == tokens


@given(st.text(), st.text())
def test_counting_never_falls_when_text_grows(one, two):
    assert (
        max(count_tokens(one), count_tokens(two)) <= count_tokens(one + two) <= count_tokens(one) + count_tokens(two)
    )


@given(st.text())
def test_any_text_is_found_by_itself(text):
    assert set(query_terms(text)) <= set(terms(text))
    assert all(terms(text).values())


@given(st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf", "Mn", "Mc", "Lo", "So"])))
def test_any_character_at_all_is_read(text):
    terms(text)
    query_terms(text)
