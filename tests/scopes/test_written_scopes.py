"""Scopes that a person writes in one line, whatever their ids hold."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.errors import InvalidInputError
from scopes.contracts import join_scopes, split_scopes

IDS = st.text(alphabet="ab\"',: 任", min_size=1, max_size=12).filter(lambda text: text == text.strip())
NAMES = st.lists(st.builds("{}:{}".format, st.sampled_from(["task", "project"]), IDS), max_size=4)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        (" , ", ()),
        ("task:t project:p", ("task:t", "project:p")),
        ("task:t,project:p , session:first talk", ("task:t", "project:p", "session:first talk")),
        ('"project:plan task:t" task:t', ("project:plan task:t", "task:t")),
        ('task:t, "project:plan task:t",', ("task:t", "project:plan task:t")),
        ('"session:the ""big"" talk"', ('session:the "big" talk',)),
        ('project:my "big" shop task:t', ('project:my "big" shop', "task:t")),
        ("shop", ("shop",)),
        ('""', ()),
    ],
)
def test_it_works(text, names):
    assert split_scopes(text, "scopes") == names


@pytest.mark.parametrize("text", ['"', '"task:t', 'task:t "project:p', '"task:t"x', '"a"" task:t', '"' * 3])
def test_a_mark_that_is_not_closed_is_told(text):
    with pytest.raises(InvalidInputError, match="not closed") as refused:
        split_scopes(text, "scopes")
    assert refused.value.errors[0]["loc"] == ["scopes"]


@given(NAMES)
def test_what_is_joined_is_split_into_the_same(names):
    assert split_scopes(join_scopes(names), "scopes") == tuple(names)


LONG = ["a:b " * 5_000, '"' * 99_999, "x " * 50_000, '""' * 50_000 + "x", "," * 100_000, f"a:{' ' * 100_000}b"]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_a_long_line_is_read_in_one_go(text):
    """Rules that looked at a run of spaces again and again would not end here."""
    with suppress(InvalidInputError):
        assert len(split_scopes(text, "scopes")) in (0, 1, 5_000)
