"""Editing a stored input: its texts one by one, or all of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from governance.admin.editing import MOST_FIELDS, edited, text_fields
from kernel.errors import InvalidInputError

GIVEN: dict[str, Any] = {
    "domain_id": "team",
    "turn_events": {"messages": [{"role": "user", "content": "The port\nis 5432"}], "decisions": []},
}


def test_it_works():
    (field,) = text_fields(GIVEN)
    assert (field.label, field.text) == ("turn_events.messages.0.content", "The port\nis 5432")
    changed = edited(GIVEN, {field.name: "The port is 5433"})
    assert changed["turn_events"]["messages"][0] == {"role": "user", "content": "The port is 5433"}
    assert GIVEN["turn_events"]["messages"][0]["content"] == "The port\nis 5432"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_browsers_line_ends_are_no_change(end):
    given = {"text": f"The port{end}is 5432"}
    (field,) = text_fields(given)
    assert edited(given, {field.name: "The port\r\nis 5432"}) == given


def test_the_whole_input_wins_where_it_was_changed():
    assert edited(GIVEN, {"input": '{"domain_id": "x"}'}) == {"domain_id": "x"}
    (field,) = text_fields(GIVEN)
    assert edited(GIVEN, {"input": json.dumps(GIVEN), field.name: "new"}) != GIVEN


@pytest.mark.parametrize("bad", ["{", "[1]", "null", '"x"', "[" * 100_000])
def test_what_is_no_object_is_refused(bad):
    with pytest.raises(InvalidInputError):
        edited(GIVEN, {"input": bad})


def test_fields_that_the_input_does_not_have_are_ignored():
    assert edited(GIVEN, {'field:["domain_id"]': "elsewhere", 'field:["x", 0]': "y"}) == GIVEN


def test_the_number_of_fields_is_bounded():
    assert len(text_fields({"items": [{"text": str(n)} for n in range(500)]})) == MOST_FIELDS
