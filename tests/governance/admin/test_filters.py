"""The address of the queue is its filter."""

from __future__ import annotations

import pytest

from governance.admin.filters import Address
from governance.contracts import ProposalFilters
from kernel.errors import InvalidInputError


def test_it_works():
    address = Address.of(
        {"risk": "high", "min_age_hours": "24", "has_conflict": "true", "text": " 端口 ", "page": "2"}
    )
    given = {"queue": "open", "risk": "high", "min_age_hours": 24, "has_conflict": True, "text": "端口"}
    assert address.given() == given
    assert ProposalFilters.parse(address.given()).min_age_hours == 24
    assert Address.read(address.query) == address


def test_what_is_left_empty_narrows_nothing():
    assert Address.of({"risk": "", "text": "  ", "queue": ""}).fields == {"queue": "open"}


def test_one_filter_can_be_taken_away():
    address = Address.of({"risk": "high", "text": "a&b=c"})
    assert [(value, Address.read(rest).fields) for _, value, rest in address.narrowed] == [
        ("high", {"queue": "open", "text": "a&b=c"}),
        ("a&b=c", {"queue": "open", "risk": "high"}),
    ]


@pytest.mark.parametrize(
    "bad", [{"queue": "all"}, {"risk": "huge"}, {"min_age_hours": "-1"}, {"min_age_hours": "٣"}, {"similar_to": "x"}]
)
def test_what_the_contract_does_not_know_is_refused(bad):
    with pytest.raises(InvalidInputError):
        ProposalFilters.parse(Address.of(bad).given())


@pytest.mark.parametrize("query", ["a" * 100_000, "queue=%00", "&&&==", "%ff%fe", "queue=open&" * 20])
def test_a_mangled_query_is_no_error(query):
    assert Address.read(query).given()["queue"]
