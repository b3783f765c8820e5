"""Cutting Markdown into sections."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.tokens import count_tokens
from media.chunking import SIZE, chunk

SENTENCE = "The default database of the shop is Postgres. "
TABLE = "| id | name |\n| --- | --- |\n"


def titles(markdown: str) -> list[str]:
    return [section.title for section in chunk(markdown)]


def test_it_works():
    first, second = chunk("# Guide\n\nAn introduction.\n\n## Install\n\nRun it.\n\n## Use\n\nAsk it.\n")
    assert (first.title, second.title) == ("Install", "Use")
    assert "An introduction." in first.text
    assert "An introduction." not in second.text
    assert first.page is None


@pytest.mark.parametrize("nothing", ["", " ", "\n\n\n", "\t\n \n"])
def test_nothing_gives_no_section(nothing):
    assert chunk(nothing) == []


def test_a_large_section_is_split_into_numbered_parts():
    found = chunk("## History\n\n" + SENTENCE * 110)
    assert [section.title for section in found[:2]] == ["History", "History (Part 2)"]
    assert all(len(section.text) <= 3000 for section in found)
    assert all(section.text.endswith(".") for section in found)


@pytest.mark.parametrize(
    ("sentence", "end"), [(SENTENCE, "."), ("默认数据库是西瓜。", "。"), ("Это очень короткое предложение! ", "!")]
)
def test_a_text_without_headings_ends_its_sections_where_sentences_end(sentence, end):
    found = chunk(sentence * 400)
    assert len(found) > 3
    assert sum(section.text.endswith(end) for section in found) >= 0.7 * len(found)
    assert all(count_tokens(section.text) <= SIZE for section in found)


def test_its_title_is_its_first_sentence_or_a_number():
    assert titles("One small thing. And more of it.") == ["One small thing."]
    assert titles("word " * 60 + ".") == ["Section 1"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_comment_in_code_is_no_heading(fence):
    assert titles(f"# Setup\n\n{fence}sh\n# comment\n## another\n{fence}\n\nDone.\n") == ["Setup"]


def test_a_shorter_fence_does_not_close_a_longer_one():
    assert titles("# Setup\n\n````md\n```\n# inner\n```\n## inner too\n````\n") == ["Setup"]


def test_text_before_the_first_heading_is_kept():
    (only,) = chunk("Before all.\n\n# Title\n\nText.")
    assert only.text.startswith("Before all.")
    first, *_ = chunk("Before all. " * 150 + "\n\n# Title\n\n" + "Text. " * 300)
    assert first.text.startswith("Before all.")
    assert "Title" not in first.text


def test_plain_text_has_a_section():
    assert [section.text for section in chunk("just words")] == ["just words"]


def test_a_heading_alone_goes_with_the_deeper_one_below_it():
    found = chunk("# Book\n\n## Part\n\n### Chapter\n\nText.\n\n## Empty\n\n## End\n\nBye.")
    assert [section.title for section in found] == ["Chapter", "Empty", "End"]
    assert found[0].text.startswith("# Book")


def test_headings_by_underlines_and_closed_ones():
    assert titles("Title\n=====\n\nIntro.\n\nFirst\n-----\n\nA.\n\n## Second ##\n\nB. C#\n") == ["First", "Second"]


def test_front_matter_is_no_heading():
    assert titles("---\ntitle: x\ntags: [a]\n---\n\n# Real\n\nText.\n") == ["Real"]


def test_deep_headings_stay_in_their_section_and_with_their_text():
    found = chunk("## Top\n\n" + SENTENCE * 40 + "\n\n#### Deep\n\n" + SENTENCE * 40)
    assert [section.title for section in found] == ["Top", "Top (Part 2)"]
    assert found[1].text.startswith("#### Deep\n\nThe default")


def test_a_table_that_fits_is_never_torn():
    rows = "".join(f"| {n} | name {n} |\n" for n in range(60))
    found = chunk("## Data\n\n" + SENTENCE * 40 + "\n\n" + TABLE + rows + "\n" + SENTENCE * 40)
    assert sum(TABLE + rows.rstrip() in section.text for section in found) == 1


def test_a_large_table_repeats_its_head():
    rows = [f"| {n} | name {n} |" for n in range(400)]
    found = chunk("## Data\n\n" + TABLE + "\n".join(rows))
    assert len(found) > 2
    assert all(TABLE in section.text for section in found)
    kept = [line for section in found for line in section.text.splitlines() if line in rows]
    assert kept == rows


def test_large_code_keeps_its_fences():
    lines = [f"x_{n} = {n}" for n in range(900)]
    found = chunk("## Code\n\n```py\n" + "\n".join(lines) + "\n```\n\nAfter.")
    code = [section.text for section in found if "```" in section.text]
    assert len(code) > 2
    assert all(text.count("```") == 2 and "```py\n" in text and text.endswith("\n```") for text in code)
    assert [line for text in code for line in text.splitlines() if line.startswith("x_")] == lines


def test_a_list_is_split_between_its_items():
    items = "".join(f"- point {n}\n  goes on here\n" for n in range(200))
    found = chunk("## List\n\n" + items)
    assert len(found) > 2
    assert all(section.text.endswith("goes on here") for section in found)
    assert all(section.text.startswith(("- point", "## List")) for section in found)


def test_a_section_knows_its_page_and_its_place():
    pages = ["# Report\n\nFirst page.\n\n", "## Money\n\nSecond page.\n\n", "## People\n\nThird page.\n"]
    text = "".join(pages)
    starts = [0, len(pages[0]), len(pages[0] + pages[1])]
    money, people = chunk(text, starts)
    assert (money.page, people.page) == (1, 3)
    assert text[people.offset_start : people.offset_end] == people.text
    assert money.text[money.page_starts[0] :] == "## Money\n\nSecond page."
    assert people.page_starts == ()


def test_a_section_knows_where_each_of_its_pages_begins():
    pages = ["\n\nFirst page.\n\n", "Second page.\n\n", "", "Fourth page.\n\n", "\n"]
    starts = [len("".join(pages[:n])) for n in range(len(pages))]
    (found,) = chunk("".join(pages), starts)
    begins = [0, *found.page_starts]
    assert (found.page, len(found.page_starts)) == (1, 3), "the fifth page holds nothing"
    assert [found.text[a:b].strip() for a, b in zip(begins, [*begins[1:], None], strict=True)] == [
        *("First page.", "Second page.", "", "Fourth page.")
    ]


def test_the_head_of_a_table_that_is_repeated_moves_the_pages():
    rows = [f"| melon {n} | {n} |\n" for n in range(300)]
    head = "| item | price |\n| --- | --- |\n"
    starts = [0, *(len(head) + sum(map(len, rows[:n])) for n in (100, 200))]
    found = chunk(head + "".join(rows), starts)
    for section in found:
        for place in section.page_starts:
            assert section.text[place:].startswith(("| melon 100 ", "| melon 200 "))
    assert (
        sum(len(section.page_starts) for section in found)
        + sum(section.text.removeprefix(head).startswith(("| melon 100 ", "| melon 200 ")) for section in found)
        == 2
    )


HOSTILE = [
    "#" * 200_000, "# x" + " " * 50_000 + "y", "!" * 100_000 + "x", "> " * 100_000, "- a\n" * 50_000, "`~" * 100_000,
    "|-" * 50_000 + "x\n" + "|-" * 50_000 + "x", "a |" + "\n -" * 50_000, "* " * 50_000 + "y", "。" * 100_000,
    "x" * 200_000, "e\u0301" * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_is_cut_like_any_other(text):
    """An effort that grows faster than the text would never come to an end here."""
    found = chunk(text)
    assert found
    assert all(count_tokens(section.text) <= 2 * SIZE for section in found)


def test_no_mark_is_torn_from_its_character():
    found = chunk("e\u0301" * 3000)
    assert len(found) > 1
    assert not any(section.text.startswith("\u0301") for section in found)


MARKDOWN = st.lists(
    st.sampled_from(
        ["# A", "## B", "### C", "#### D", "```", "~~~", "| a | b |", "|---|---|", "- item", "  more", "words here.", "",
         "1. one", "---", "===", "中文句子。", "> quote", "x" * 40]
    ),
    max_size=60,
)  # fmt: skip


@settings(max_examples=150)
@given(MARKDOWN, st.integers(5, 60))
def test_no_word_is_lost_or_out_of_order(lines, size):
    text = "\n".join(lines)
    found = chunk(text, size=size)
    covered = [(section.offset_start, section.offset_end) for section in found]
    assert covered == sorted(covered)
    left = text
    for start, end in reversed(covered):
        left = left[:start] + left[end:]
    assert not re.sub(r"[\s|`~:-]", "", left)
