"""What holds for any text: it is signed and judged, however its links, verbs and breaks stand together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.conflicts import Told, judge, judge_key, signatures, wide_signatures
from memory.conflicts.reading import MAX_CHARS

pytestmark = pytest.mark.once  # rules over text


def _pieces(text: str) -> list[str]:
    return text.split()


LINKS = _pieces(
    "由 归 是 在 为 即 就是 属于 担任 负责 主持 管理 所有 位于 指的是 有效 is are isn't has as leads holds chairs means short belongs"
)
BREAKS = _pieces("。 ， ； ： 但 因为 若 时 的 不 . , ; : ( ' ’s - and of when in by with that not to")
WORDS = _pieces(
    "厨房 抽屉里 老张 妈妈 林老师 数学老师 代号 默认 之一 三 5 号 the a Ann DR mother sister queue drawer default boss bald 12 3pm Monday"
)
pieces = st.sampled_from(LINKS) | st.sampled_from(BREAKS) | st.sampled_from(WORDS) | st.text(max_size=2)
# Of few pieces, a verb stands behind its link and a break far more often than of many.
close = st.sampled_from(_pieces("由 归 在 是 负责 管理 所有 老张 厨房 的 。 但"))
texts = st.builds(str.join, st.sampled_from(["", " "]), st.lists(pieces, max_size=16)) | st.lists(close).map("".join)
known = st.sampled_from(["厨房由老陈负责。", "The boss is Ann.", "DR means disaster recovery.", "钥匙在抽屉里。"])


def told(text: str) -> Told:
    return Told("facts", "fact:any:text", text)


def test_it_works():
    assert judge(told("厨房由老张负责。"), told("厨房由老陈负责。")) is not None


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("厨房由老张但大厅由老李负责", True),
        ("厨房由老张。大厅老李负责", False),
        ("由由。负责", False),
    ],
)
def test_a_verb_behind_a_break_belongs_to_another_sentence(text, apart):
    assert signatures(told(text), 1)
    assert (judge(told(text), told("厨房由老陈负责。")) is not None) is apart


@settings(max_examples=200)
@given(one=texts, two=texts | known)
def test_any_two_texts_are_signed_and_judged(one, two):
    for text in (one, two):
        assert len(signatures(told(text), 1)) <= 16
        assert len(wide_signatures(told(text), "team", "project")) <= 6
    judge(told(one), told(two))
    judge(told(two), told(one))
    judge_key(told(one), told(two), "here", "there")


@pytest.mark.parametrize("piece", LINKS + BREAKS)
def test_one_piece_over_and_over_stays_small_work(piece):
    """A pattern whose work grew without bounds would not end here: no more than `MAX_CHARS` are read of any text."""
    for between in ("", " "):
        text = between.join([piece] * MAX_CHARS)
        assert len(signatures(told(text), 1)) <= 16
        judge(told(text), told(f"{text[1:MAX_CHARS]}。"))
