"""Folding, sort keys and hidden characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.text import fold, has_invisible, is_invisible, join_spaced_cjk, one_line, show_invisible, sort_key


def test_it_works():
    assert fold("  Ｐｏｓｔｇｒｅｓ \n 数据库 ") == "postgres 数据库"


@pytest.mark.parametrize(
    ("one", "two"),
    [("Straße", "STRASSE"), ("ﬁ", "FI"), ("cafe\u0301", "CAFÉ"), ("①", "1"), ("a\u00a0b", "a b"), ("ΑΣ", "ας")],
)
def test_equal_after_folding(one, two):
    assert fold(one) == fold(two)


@pytest.mark.parametrize(("one", "two"), [("a", "b"), ("a1", "a2"), ("not so", "so"), ("é", "e")])
def test_different_after_folding(one, two):
    assert fold(one) != fold(two)


@given(st.text())
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    st.text(alphabet=st.characters(exclude_categories=["Cs"])),
)
def test_sort_keys_order_by_code_points_of_the_folded_text(one, two):
    assert (sort_key(one) < sort_key(two)) == (fold(one) < fold(two))


@pytest.mark.parametrize(
    "char",
    ["\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u00ad", "\x00", "\x1b", "\x7f", "\u2028", "\u3164", "\u2800",
     "\U000e0041", "\U000e0100", "\ufe00", "\u034f", "\u115f", "\ue000", "\u180e"],
)  # fmt: skip
def test_a_hidden_character_is_shown(char):
    assert is_invisible(char)
    assert show_invisible(f"a{char}b") == f"a⟦U+{ord(char):04X}⟧b"


@pytest.mark.parametrize(
    "text", ["abc", "数据库", "né\u0301", "🙂", "❤\ufe0f", "a\tb\nc\r", "שלום", "हिन्दी", " ", "　"]
)
def test_ordinary_text_is_left_alone(text):
    assert not has_invisible(text)
    assert show_invisible(text) == text


@given(st.text())
def test_what_is_shown_can_be_seen(text):
    assert not has_invisible(show_invisible(text))


@pytest.mark.parametrize(
    ("spaced", "joined"),
    [
        ("万 东 立 刻", "万东立刻"),
        ("万　东", "万东"),
        ("a b", "a b"),
        ("用 SQL 查", "用 SQL 查"),
        ("あ い", "あい"),
        ("万\n东", "万\n东"),
    ],
)
def test_spaces_between_han_go(spaced, joined):
    assert join_spaced_cjk(spaced) == joined


@pytest.mark.parametrize(
    ("text", "told"),
    [("", ""), ("  a\n b ", "a b"), ("x" * 80, "x" * 80), ("x" * 81, "x" * 79 + "…"), ("字" * 90, "字" * 79 + "…")],
)
def test_a_text_in_one_line_has_at_most_so_many_characters(text, told):
    assert one_line(text, 80) == told
