"""Characters that nobody can see, and that the quick way past plain texts changes no answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernel.text import has_invisible, is_invisible, show_invisible


def test_it_works():
    assert show_invisible("pay\u200b Bob\u202e") == "pay⟦U+200B⟧ Bob⟦U+202E⟧"
    assert show_invisible("数据库\n\tis　Postgres\xa0é") == "数据库\n\tis　Postgres\xa0é"
    assert [has_invisible(text) for text in ("a b", "a\u3164b", "\u2800", "\x00", "a\r\n")] == [
        False,
        True,
        True,
        True,
        False,
    ]


@given(st.text())
def test_the_quick_way_changes_nothing(text):
    assert has_invisible(text) == any(is_invisible(char) for char in text)
    assert (show_invisible(text) == text) == (not has_invisible(text))
