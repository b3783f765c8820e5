"""Several rankings as one (case 61)."""

from __future__ import annotations

import pytest

from media.fusing import Ranking, fuse

TEXT = [("a", 9.0), ("b", 5.0), ("c", 1.0)]
VECTOR = [("b", 0.9), ("d", 0.4)]


def scores(text: list, vector: list, method: str = "rrf", k: int = 60, alpha: float = 0.5) -> dict[str, float]:
    lists = [Ranking(1 - alpha, text), Ranking(alpha, vector)]
    return {name: found.score for name, found in fuse(lists, method, k).items()}  # type: ignore[arg-type]


def test_it_works():
    """Case 61."""
    found = scores(TEXT, VECTOR)
    assert found["a"] == pytest.approx(0.5 / 61)
    assert found["b"] == pytest.approx(0.5 / 61 + 0.5 / 62)
    assert sorted(found, key=lambda name: -found[name])[0] == "b"


def test_an_empty_list_on_either_side_changes_nothing():
    assert scores(TEXT, []).keys() == {"a", "b", "c"}
    assert scores([], VECTOR)["b"] == pytest.approx(0.5 / 61)
    assert scores([], []) == {}
    assert scores([], [], "weighted_sum") == {}


def test_k_counts():
    assert scores(TEXT, [], k=10)["a"] == pytest.approx(0.5 / 11)


def test_weighted_sum_brings_each_list_to_one():
    found = scores(TEXT, VECTOR, "weighted_sum")
    assert found == {"a": 0.5, "b": pytest.approx(0.25 + 0.5), "c": 0.0, "d": 0.0}


@pytest.mark.parametrize(("score", "expected"), [(3.0, 0.5), (0.0, 0.0)])
def test_a_list_of_equal_scores_is_all_or_nothing(score, expected):
    assert scores([("a", score), ("b", score)], [], "weighted_sum") == {"a": expected, "b": expected}


def test_none_takes_the_best_single_score():
    assert scores(TEXT, VECTOR, "none") == {"a": 4.5, "b": 2.5, "c": 0.5, "d": 0.2}


def test_the_list_that_brings_most_is_told():
    found = fuse([Ranking(1.0, [("a", 1.0)]), Ranking(3.0, [("b", 1.0), ("a", 1.0)])], "rrf", 60)
    assert found["a"].best == 1
