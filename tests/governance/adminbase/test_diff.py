"""Comparing texts and rows: every script, nothing lost, bounded work."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from governance.adminbase.diff import MOST_WORDS, Kind, brief, compare_texts, compare_values, folded

BEFORE, AFTER = "The default database is Postgres 14.", "The default database is SQLite 3."


def marked(before: str, after: str) -> list[tuple[str, str]]:
    return [(each.kind.value, each.text) for each in compare_texts(before, after)]


def rendered(template: str, **given) -> str:
    return Template("{% load smartbrain %}" + template).render(Context(given))


def test_it_works():
    assert marked(BEFORE, AFTER) == [
        ("same", "The default database is "),
        ("removed", "Postgres 14"),
        ("added", "SQLite 3"),
        ("same", "."),
    ]


def test_chinese_differs_by_the_character():
    assert marked("默认端口是五千。", "默认端口是六千。") == [
        ("same", "默认端口是"), ("removed", "五"), ("added", "六"), ("same", "千。"),
    ]  # fmt: skip


def test_kana_and_hangul_differ_by_the_character_and_glued_words_part():
    assert ("removed", "ト") in marked("ポート", "ポーを")
    assert ("removed", "트") in marked("포트", "포도")
    assert marked("用Postgres库", "用SQLite库") == [
        ("same", "用"), ("removed", "Postgres"), ("added", "SQLite"), ("same", "库"),
    ]  # fmt: skip


@given(st.text("ab \n中\u200b", max_size=60), st.text("ab \n中\u200b", max_size=60))
def test_each_side_is_given_back_whole(before, after):
    found = folded(compare_texts(before, after))
    assert "".join(each.text for each in found if each.kind is not Kind.ADDED) == before
    assert "".join(each.text for each in found if each.kind is not Kind.REMOVED) == after


def test_a_long_unchanged_middle_is_folded_and_kept():
    text = "word " * 400
    found = compare_values("text", f"a {text} b", f"x {text} y").passages
    hidden = [each for each in found if each.folded]
    assert len(hidden) == 1
    assert 1500 < len(hidden[0].text) < len(text)
    assert not any(each.folded for each in compare_values("text", text, text).passages)


def test_huge_texts_are_not_compared_word_by_word():
    words = " ".join(f"w{n}" for n in range(MOST_WORDS * 3))
    found = marked(words, words.replace("w1", "v1"))
    lines = marked("a\n" * 30_000, "b\n" * 30_000)
    assert [kind for kind, _ in found] == ["removed", "added"]
    assert [kind for kind, _ in lines] == ["removed", "added"]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (1, 1, "same"), (None, None, "same"), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "same"), ("x", None, "removed"),
        ("old", "new", "changed"), (None, {"k": [1]}, "added"), (1, "1", "changed"), (True, "true", "changed"),
        ([1], [True], "changed"), ("null", None, "removed"),
    ],
)  # fmt: skip
def test_a_field_is_added_removed_changed_or_the_same(before, after, kind):
    assert compare_values("a", before, after).kind.value == kind


@pytest.mark.parametrize(("before", "after"), [(1, "1"), (True, "true"), ([1], "[\n  1\n]")])
def test_values_that_differ_never_read_alike(before, after):
    told = compare_values("a", before, after)
    assert told.before != told.after
    assert any(each.kind is not Kind.SAME for each in told.passages)


def test_one_line_shows_the_difference_and_not_the_beginning():
    found = brief("far away " * 100 + "port 5432 now", "far away " * 100 + "port 5433 now")
    text = "".join(each.text for each in found)
    assert "5432" in text
    assert "5433" in text
    assert len(text) < 200


def test_marks_are_said_and_not_only_coloured():
    page = rendered("{% field_diffs fields %}", fields=[compare_values("text", BEFORE, AFTER)])
    assert '<del><span class="sb-sr">[removed: </span>Postgres 14' in page
    assert '<ins><span class="sb-sr">[added: </span>SQLite 3' in page


def test_stored_text_is_escaped_and_hidden_characters_show():
    fields = [compare_values("<b>", "plain", "<script>x</script> a\u200bb\u202e")]
    for mode in ("side", "unified"):
        page = rendered("{% field_diffs fields mode %}", fields=fields, mode=mode)
        assert "<script>" not in page
        assert "<b>" not in page
        assert "⟦U+200B⟧" in page
        assert "⟦U+202E⟧" in page
        assert "hidden characters" in page


def test_unchanged_fields_are_folded():
    page = rendered("{% field_diffs fields %}", fields=[compare_values("a", 1, 1), compare_values("b", 2, 3)])
    assert "1 unchanged field<" in page
