"""Ids that stand in plain data, and values cut into what a statement takes."""

from __future__ import annotations

import pytest

from kernel.ids import names_any
from kernel.rows import batches

ONE = "0190a1b2-0000-7000-8000-00000000000a"
OTHER = "0190a1b2-0000-7000-8000-00000000000b"


@pytest.mark.parametrize(
    "said", [ONE, {"a": [{"id": ONE}]}, {ONE: 1}, [None, f"see memory:{ONE}."], (OTHER, ONE), f"{OTHER}{ONE}"]
)
def test_it_works(said):
    assert names_any(said, {ONE})
    assert not names_any(said, {"0190a1b2-0000-7000-8000-00000000000c"})


@pytest.mark.parametrize("said", [None, "", {}, ONE[:-1], ONE.replace("-", ""), OTHER])
def test_what_names_none_of_them(said):
    assert not names_any(said, {ONE})


def test_no_names_are_named_nowhere():
    assert not names_any(ONE, frozenset())


@pytest.mark.parametrize(("many", "lengths"), [(0, []), (1, [1]), (3, [3]), (4, [3, 1]), (7, [3, 3, 1])])
def test_batches_hold_all_in_the_order_given(many, lengths):
    values = list(range(many, 0, -1))
    cut = list(batches(values, 3))
    assert [len(each) for each in cut] == lengths
    assert [each for batch in cut for each in batch] == values
