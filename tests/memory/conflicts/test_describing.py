"""What is told of two descriptions ("X is Y"), on pairs written by who made the rules, so they prove nothing of quality.

A row of `described.txt` is the kind, what must be told (c: conflict, u: update, n: near-duplicate, -: nothing) and the two
statements; `?` marks what the rules do not get right yet.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.conflicts import Told, judge, signatures
from memory.conflicts.beings import being_of
from memory.conflicts.kinds import exclude, kind_at_end
from memory.conflicts.reading import read

pytestmark = pytest.mark.once  # rules over text

LABELS = {"c": "conflict", "u": "update", "n": "near_duplicate", "-": "none"}
ROWS = [line.split("|") for line in (Path(__file__).parent / "described.txt").read_text("utf-8").splitlines()]
KINDS = sorted({kind for kind, _, _, _ in ROWS})


def label(first: str, second: str) -> str:
    found = judge(Told("facts", None, first), Told("facts", None, second))
    return found.label.value if found is not None else "none"


def signs(text: str) -> set[int]:
    return set(signatures(Told("facts", None, text), 1))


def test_it_works():
    found = judge(
        Told("facts", None, "The treasurer of the club is Vera."), Told("facts", None, "Ines is the club's treasurer.")
    )
    assert found is not None
    assert found.explanation == "Of “The treasurer of the club” one holds at a time, but they say “Vera” and “Ines”."
    assert [place.kind for place in found.differences] == ["words", "words"]


def is_right(wanted: str, first: str, second: str) -> bool:
    """Whichever came first, something is told or nothing; only the later may say of itself that it is a change."""
    met = wanted == "none" or signs(first) & signs(second)
    return bool(met) and label(first, second) == wanted and (label(second, first) == "none") is (wanted == "none")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_told_of_two_descriptions(kind):
    reached = [row for row in ROWS if row[0] == kind and not row[1].endswith("?")]
    assert [row for row in reached if not is_right(LABELS[row[1]], row[2], row[3])] == []
    assert len(reached) > 5


def test_what_is_marked_as_not_right_yet_is_not():
    assert [row for row in ROWS if row[1].endswith("?") and is_right(LABELS[row[1][0]], row[2], row[3])] == []


def test_the_record_says_how_many_are_told_of_those_that_should_be():
    wanted = [each for _, each, _, _ in ROWS if each[0] != "-"]
    told = [each for each in wanted if not each.endswith("?")]
    (record,) = (Path(__file__).parents[3] / "docs" / "decisions").glob("0018-*.md")
    assert f"{len(told)} of {len(wanted)} things that should be told are" in " ".join(
        record.read_text("utf-8").split()
    )


def test_hardly_anything_is_told_of_what_may_both_stand():
    assert len([each for _, each, _, _ in ROWS if each == "-?"]) <= 5


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("The code name of the release is Heron.", ("the code name of the release", "heron", "is")),
        ("Dr. Ames isn't the vet.", ("dr. ames", "the vet", "is")),
        ("On weekends the desk is closed; ask Bo.", ("the desk", "closed", "is")),
        ("Bo leads the choir.", ("bo", "the choir", "holds")),
        ("厨房由老张负责。", ("厨房", "老张", "by")),
        ("诺拉最喜欢的汤是豌豆汤。", ("诺拉最喜欢的汤", "豌豆汤", "is")),
        ("签证有效", ("签证", "有效", "is")),
    ],
)
def test_a_description_has_two_sides(text, sides):
    being = being_of(read(text))
    assert being is not None
    assert (being.left.text, being.right.text, being.link) == sides


@pytest.mark.parametrize(
    "text", ["", "is", ": :", "Run the tests.", "There is a printer.", "是", "的", "is " * 400, "a" * 5000, "由" * 500]
)
def test_what_describes_nothing_has_none(text):
    assert being_of(read(text)) is None


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        ("a queue", "a relational database", True), ("a queue", "a message queue", False), ("a queue", "a gift", False),
        ("止痛药", "抗生素", True), ("", "", False), ("queues", "databases", True),
    ],
)  # fmt: skip
def test_kinds_that_exclude_each_other(one, two, apart):
    kinds = kind_at_end(one), kind_at_end(two)
    assert exclude(kinds[0] or "", kinds[1] or "") is apart
