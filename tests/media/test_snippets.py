"""Cutting snippets: just so long, around the words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.services.retrieving.snippets import snippet

LONG = "Nothing of it stands here. " * 20


def test_it_works():
    text = LONG + "The zebra has stripes. " + LONG
    found = snippet(text, "zebra stripes?", 60, "auto")
    assert len(found) == 60
    assert "zebra has stripes" in found


@pytest.mark.parametrize(
    ("text", "query", "policy"),
    [(LONG, "zebra", "auto"), (LONG + "zebra", "zebra", "head"), ("İ" + LONG + "zebra", "zebra", "auto")],
    ids=["no such word", "head", "a letter that grows"],
)
def test_it_begins_at_the_start(text, query, policy):
    assert snippet(text, query, 30, policy) == text[:30]


def test_words_at_the_end_are_within():
    assert snippet(LONG + "zebra", "zebra", 20, "auto").endswith("zebra")
    assert "斑马" in snippet("没有" * 100 + "斑马的条纹" + "没有" * 100, "斑马", 12, "auto")


def test_a_short_text_is_whole():
    assert snippet("zebra", "zebra", 5, "auto") == "zebra"


@given(text=st.text(max_size=200), query=st.text(max_size=30), length=st.integers(1, 60))
def test_it_is_always_a_piece_of_the_text_of_just_that_length(text, query, length):
    found = snippet(text, query, length, "auto")
    assert found in text
    assert len(found) == min(length, len(text))
