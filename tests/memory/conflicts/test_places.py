"""Which places may lie in one another, on places as statements name them."""

from __future__ import annotations

import pytest

from memory.conflicts.places import lie_apart

pytestmark = pytest.mark.once  # rules over text


def test_it_works():
    assert lie_apart("the kitchen", "the entrance hall")
    assert not lie_apart("the kitchen", "the drawer")


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        ("the drawer", "the safe", True), ("the top drawer", "the bottom drawer", True), ("the red bag", "the blue bag", True),
        ("the bag", "the box", False), ("the envelope", "the drawer", False), ("the park", "the city centre", False),
        ("the kitchen drawer", "the garage", True), ("the kitchen drawer", "the top drawer", False),
        ("the fridge of room two", "the pharmacy cellar", True), ("the shelf", "the vestry", True),
        ("the kitchen", "the school", False), ("the kitchen", "the garden", True), ("the garden", "the shed", False),
        ("the basement", "the third floor", True), ("the drawer", "the cupboard", True), ("the library", "the sports hall", True), ("the second floor", "the lobby", False),
        ("抽屉里", "保险柜里", True), ("抽屉里", "厨房里", False), ("厨房的抽屉里", "车库里", True), ("袋子里", "盒子里", False),
        ("图书馆", "体育馆", True), ("公园", "市中心", False), ("bergen", "trondheim", True), ("", "the kitchen", True),
    ],
)  # fmt: skip
def test_of_another_sort_one_may_lie_in_the_other(one, two, apart):
    assert lie_apart(one, two) is apart
    assert lie_apart(two, one) is apart
