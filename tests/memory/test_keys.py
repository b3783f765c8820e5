"""Keys: every type's grammar, refusals that help, and names made of any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.keys import GRAMMARS, KEY_MAX, SLUG_MAX, TYPES, check_key, conflict_class, slug


def test_it_works():
    assert check_key("preferences", "pref:writing:tone") == "pref:writing:tone"


@pytest.mark.parametrize("type_", TYPES)
def test_every_example_is_a_right_key(type_):
    assert check_key(type_, GRAMMARS[type_].example) == GRAMMARS[type_].example


@pytest.mark.parametrize(
    ("type_", "key"),
    [
        ("facts", "fact:默认数据库:是"),
        ("facts", "fact:base-de-données:est"),
        ("tasks", "task:проект:сделать отчёт"),
        ("goals", "goal:プロジェクト:公開"),
        ("facts", "fact:می\u200cخواهم:است"),
        ("entities", "entity:url:https://example.com:8080/a?b=c"),
        ("entities", "entity:repo:octo/smart_rag"),
        ("events", "event:smartbrain:2024-02-29:leap: the day"),
        ("profile", "profile:user:of:many"),
    ],
)
def test_any_script_and_a_colon_in_the_last_segment(type_, key):
    assert check_key(type_, key) == key


def test_a_key_is_brought_to_nfkc():
    assert check_key("preferences", "pref：writing：ｔｏｎｅ") == "pref:writing:tone"
    assert check_key("facts", "fact:cafe\u0301:is") == check_key("facts", "fact:caf\u00e9:is")


@pytest.mark.parametrize(
    ("type_", "key", "why"),
    [
        ("preferences", "pref:mood:tone", "scope 'mood' is not one of writing, coding"),
        ("preferences", "preference:writing:tone", "must start with `pref:`"),
        ("preferences", "Pref:writing:tone", "must start with `pref:`"),
        ("preferences", "pref:writing", "lacks `<name>`"),
        ("preferences", "pref:writing:", "`<name>` is empty"),
        ("preferences", "pref:writing:  ", "`<name>` is empty"),
        ("preferences", "", "must start with"),
        ("tasks", "task: a:b", "starts or ends with white space"),
        ("tasks", "task::b", "`<project>` is empty"),
        ("entities", "entity:planet:mars", "kind 'planet' is not one of"),
        ("events", "event:a:2026-13-01:x", "not a day written YYYY-MM-DD"),
        ("events", "event:a:20260101:x", "not a day written YYYY-MM-DD"),
        ("events", "event:a:2026-01-01", "lacks `<slug>`"),
        ("facts", "fact:a\u200bb:is", "invisible character U+200B"),
        ("facts", "fact:a\nb:is", "invisible character U+000A"),
        ("facts", "fact:a\x00b:is", "invisible character U+0000"),
        ("facts", "fact:a\ud800b:is", "invisible character U+D800"),
        ("facts", "fact:a:" + "x" * KEY_MAX, "at most 300"),
    ],
)
def test_a_wrong_key_says_why_and_shows_a_right_one(type_, key, why):
    with pytest.raises(ValueError, match="for example") as refused:
        check_key(type_, key)
    assert why in str(refused.value)
    assert GRAMMARS[type_].example in str(refused.value)


def test_an_unknown_type_is_refused_with_the_list():
    for call in (lambda: check_key("wishes", "wish:a:b"), lambda: conflict_class("wishes")):
        with pytest.raises(ValueError, match=r"unknown memory type 'wishes'.*profile, preferences"):
            call()


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("preferences", "overwrite"),
        ("tasks", "overwrite"),
        ("facts", "overwrite"),
        ("decisions", "versioned"),
        ("profile", "versioned"),
    ],
)
def test_conflict_class(type_, expected):
    assert conflict_class(type_) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The default DB!", "the-default-db"),
        ("smart_rag", "smart-rag"),
        ("用Redis做缓存", "用-redis-做缓存"),
        ("用 Redis 做缓存", "用-redis-做缓存"),
        ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full-width"),
        ("Straße", "strasse"),
        ("データベース", "データベース"),
    ],
)
def test_slugs_are_readable_in_any_script(text, expected):
    assert slug(text) == expected


def test_long_and_wordless_texts_keep_distinct_names():
    assert slug("a " * 100 + "x") != slug("a " * 100 + "y")
    assert slug("🙂") != slug("🙃")


@settings(max_examples=200)
@given(st.text(st.characters(), max_size=200))
def test_a_slug_always_fits_a_key_and_is_stable(text):
    name = slug(text)
    assert name
    assert len(name) <= SLUG_MAX
    assert slug(name) == name
    assert check_key("facts", f"fact:{name}:{name}")


@settings(max_examples=200)
@given(st.sampled_from(TYPES), st.text(st.characters(), max_size=60))
def test_checking_never_breaks_and_is_stable(type_, text):
    try:
        key = check_key(type_, f"{GRAMMARS[type_].prefix}:{text}")
    except ValueError as refused:
        assert "for example" in str(refused)  # noqa: PT017
    else:
        assert check_key(type_, key) == key
