"""Contracts: strict, closed, and every refusal is a DomainError that says where."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import Field, ValidationError
from pydantic_core import InitErrorDetails

from kernel.contracts import Contract, Identifier, Instant, PageInput, invalid
from kernel.errors import InvalidInputError


class Sample(Contract):
    """A sample."""

    at: Instant | None = Field(default=None)
    id: Identifier | None = Field(default=None)
    number: int = Field(default=0)
    flag: bool = Field(default=False)
    inner: dict[str, int] = Field(default={})


def test_it_works():
    given = Sample.parse({"at": "2026-12-01T09:30:00+08:00", "id": "会话 1", "number": 3})
    assert given.at == datetime(2026, 12, 1, 1, 30, tzinfo=UTC)
    assert given.at.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    ["2026-12-01T09:30:00Z", "2026-12-01T09:30:00.123456-11:30", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
     "2024-02-29T12:00:00+00:00"],
)  # fmt: skip
def test_an_instant_keeps_its_moment(text):
    at = Sample.parse({"at": text}).at
    assert at is not None
    assert at == datetime.fromisoformat(text)


@pytest.mark.parametrize(
    "text",
    ["2026-12-01T09:30:00", "2026-12-01", "yesterday", "", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
     "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "10000-01-01T00:00:00Z", "2026-12-01T25:00:00Z", 0, 1.5, True, [], {}],
)  # fmt: skip
def test_what_is_no_instant_is_refused(text):
    with pytest.raises(InvalidInputError) as caught:
        Sample.parse({"at": text})
    assert caught.value.errors[0]["loc"][0] == "at"


@pytest.mark.parametrize(
    "tree",
    [{"unknown": 1}, {"number": "3"}, {"number": 1.5}, {"number": True}, {"flag": 1}, {"flag": "true"}, {"id": 7}, {"id": ""},
     {"id": " a"}, {"id": "a "}, {"id": "a\nb"}, {"id": "x" * 201}, {"inner": []}, {"inner": {"a": "1"}}],
)  # fmt: skip
def test_types_are_not_guessed(tree):
    with pytest.raises(InvalidInputError):
        Sample.parse(tree)


@pytest.mark.parametrize("value", [object(), b"\xff", {1, 2, object()}, float])
def test_a_value_that_json_cannot_say_is_refused(value):
    with pytest.raises(InvalidInputError):
        Sample.parse({"inner": {"a": value}})


@pytest.mark.parametrize("limit", [0, -1, 101, 10**18, "20", None, 1.5])
def test_a_page_has_1_to_100_rows(limit):
    with pytest.raises(InvalidInputError):
        PageInput.parse({"limit": limit})


def test_faults_are_told_in_plain_words():
    faults: list[InitErrorDetails] = [
        {"type": "string_too_short", "loc": ("reason",), "input": "", "ctx": {"min_length": 1}},
        {"type": "value_error", "loc": ("scope",), "input": "x", "ctx": {"error": ValueError("write it as type:id")}},
    ]
    told = invalid(ValidationError.from_exception_data("Sample", faults))
    assert str(told) == "reason: must not be empty (1 more)"
    assert [fault["msg"] for fault in told.problem("r")["errors"]] == ["must not be empty", "write it as type:id"]


def test_the_input_is_not_repeated_in_the_error():
    with pytest.raises(InvalidInputError) as caught:
        Sample.parse({"number": "my secret"})
    assert "my secret" not in str(caught.value.problem("r"))


def test_a_contract_does_not_change():
    with pytest.raises(ValueError, match="frozen"):
        Sample.parse({}).number = 3  # type: ignore[misc]
