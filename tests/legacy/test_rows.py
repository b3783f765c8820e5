"""A row of the source gives values, or says why not."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from legacy.contracts import REASONS, Quarantined, Reason, SourceRow

OWN = "0f1e2d3c-4b5a-4697-8899-aabbccddeeff"


def a_row(row_id: str = OWN, **columns: str | None) -> SourceRow:
    return SourceRow("messages", row_id, {"id": row_id, **columns})


def reason_of(read) -> Reason:
    with pytest.raises(Quarantined) as caught:
        read()
    return caught.value.reason


def test_it_works():
    row = a_row(content="hello", at="2026-02-20 10:00:00.5+08", data='{"a": [1, 2.5]}', seq="7", more="x")
    assert row.text("content") == "hello"
    assert row.moment("at") == datetime(2026, 2, 20, 2, 0, 0, 500_000, tzinfo=UTC)
    assert row.json_object("data") == {"a": [1, 2.5]}
    assert row.integer("seq") == 7
    assert row.beside(frozenset({"id", "content", "at", "data", "seq"})) == {"more": "x"}
    assert row.target_id() == UUID(OWN)


def test_every_reason_is_explained():
    assert set(REASONS) == set(Reason)
    assert all(len(text) > 20 for text in REASONS.values())


def test_what_is_null_or_not_there_is_empty():
    row = a_row(content=None)
    assert (row.text("content"), row.text("nowhere"), row.optional("content")) == ("", "", None)
    assert (row.json("nowhere"), row.json_object("nowhere"), row.json_data("nowhere")) == (None, {}, {})
    assert (row.moment("nowhere"), row.number("nowhere")) == (None, None)


def test_the_digest_follows_every_column():
    plain = a_row(content="a", model=None)
    assert plain.digest == SourceRow("messages", OWN, {"model": None, "content": "a", "id": OWN}).digest
    assert len({plain.digest, a_row(content="b", model=None).digest, a_row(content="a", model="").digest}) == 3
    assert a_row(content="\udcff").digest != a_row(content="\udcfe").digest


@pytest.mark.parametrize("row_id", ["conv-1", "", OWN.upper(), "12:34", "日本", "x" * 5_000, "\udcff"])
def test_an_id_that_is_no_uuid_gets_one_that_is_always_the_same(row_id):
    row = a_row(row_id)
    assert row.target_id() == a_row(row_id).target_id()
    assert row.target_id() != SourceRow("refs", row_id, {}).target_id()
    assert row.target_id(part="b") != row.target_id()
    assert len(row.key) <= 200
    row.key.encode()


def test_two_long_ids_are_two_keys():
    assert a_row("x" * 300 + "a").key != a_row("x" * 300 + "b").key


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", Reason.BAD_JSON),
        ("NaN", Reason.BAD_JSON),
        ("1e999", Reason.BAD_JSON),
        ("9" * 5_000, Reason.BAD_JSON),
        ("[" * 100_000, Reason.BAD_JSON),
        (r'{"a": "\u0000"}', Reason.NUL),
        (r'{"\u0000": 1}', Reason.NUL),
        (r'["\ud800"]', Reason.BAD_ENCODING),
        ('"\udcff"', Reason.BAD_ENCODING),
    ],
)
def test_bad_json_is_no_crash(text, reason):
    assert reason_of(lambda: a_row(data=text).json("data")) is reason


def test_a_written_escape_is_no_nul():
    assert a_row(data=r'["\\u0000", "\u00e9"]').json("data") == ["\\u0000", "é"]


@pytest.mark.parametrize("text", ["infinity", "-infinity", "0044-03-15 00:00:00+00 BC", "12026-01-01 00:00:00+00", ""])
def test_an_odd_time_is_refused(text):
    assert reason_of(lambda: a_row(at=text).moment("at")) is Reason.BAD_TIME


def test_a_moment_at_the_edge_that_utc_cannot_say_is_refused():
    assert reason_of(lambda: a_row(at="0001-01-01 00:00:00+14").moment("at")) is Reason.BAD_TIME


@pytest.mark.parametrize("text", [None, "", "x", "1.5", "-1", "2147483648"])
def test_a_number_that_is_none_is_refused(text):
    assert reason_of(lambda: a_row(seq=text).integer("seq")) is Reason.BAD_NUMBER


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "x"])
def test_a_number_without_end_is_refused(text):
    assert reason_of(lambda: a_row(confidence=text).number("confidence")) is Reason.BAD_NUMBER


def test_texts_are_refused_that_no_column_takes():
    assert reason_of(lambda: a_row(content="a\x00b").text("content")) is Reason.NUL
    assert reason_of(lambda: a_row(content="\udcff").text("content")) is Reason.BAD_ENCODING
    assert reason_of(lambda: a_row(content="abc").text("content", 2)) is Reason.TEXT_TOO_LONG
    assert reason_of(lambda: a_row(content=" \n").required("content")) is Reason.MISSING_VALUE
    assert reason_of(lambda: a_row(data="[1]").json_object("data")) is Reason.NOT_AN_OBJECT


def test_what_goes_to_the_quarantine_can_be_stored_anywhere():
    shown = a_row(content="a\x00\udcffb", model=None).shown()
    assert shown["model"] is None
    assert shown["content"] is not None
    assert "\x00" not in shown["content"]
    shown["content"].encode()
