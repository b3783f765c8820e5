"""A proposal's changes in one line and in fields."""

from __future__ import annotations

import pytest

from governance.adminbase.briefs import MOST_ROWS, counted, legible, one_line, row_of, rows_of
from governance.contracts import FieldChange, RowChange


def said(changes: list[dict]) -> str:
    return "".join(each.text for each in one_line(changes))


def change(before: dict | None, after: dict | None, table: str = "memory_items") -> dict:
    return {"table": table, "id": "1", "before": before, "after": after}


def test_it_works():
    line = said([change({"statement": "The port is 5432"}, {"statement": "The port is 5433"})])
    assert "5432" in line
    assert "5433" in line


def test_the_row_that_says_something_comes_first():
    turn = change(None, {"seq": 4}, "turns")
    assert said([turn, change(None, {"statement": "端口是五千"})]) == "端口是五千"


def test_rows_without_texts_name_the_field():
    assert said([change({"rights": ["read"]}, {"rights": ["read", "write"]}, "grants")]).startswith("rights: ")


def test_a_new_row_that_only_holds_things_together_says_nothing():
    assert said([change(None, {"domain_id": "team", "scope": "project:shop"}, "memory_scopes")]) == ""


def test_nothing_changed_says_nothing():
    assert said([]) == ""
    assert said([change({"a": 1}, {"a": 1})]) == ""


def test_rows_are_added_changed_or_removed_and_bounded():
    kinds = [row.kind.value for row in rows_of([change(None, {"a": 1}), change({"a": 1}, None), change({}, {"a": 1})])]
    assert kinds == ["added", "removed", "changed"]
    assert len(rows_of([change(None, {"a": 1})] * 500)) == MOST_ROWS


def presented(title: str = "", kind: str = "changed", **fields: tuple[object, object]) -> RowChange:
    told = [
        FieldChange(name=name.replace("__", "."), before=before, after=after, differs=before != after)
        for name, (before, after) in fields.items()
    ]
    return RowChange.model_validate(
        {
            "table": "memory_items",
            "id": "1",
            "kind": kind,
            "title": title,
            "fields": [each.model_dump() for each in told],
        }
    )


class TestWords:
    """What people read, in place of the names of tables and columns."""

    def test_it_works(self):
        row = row_of(
            presented(valid_from=(None, "2026-12-24T08:00:00+00:00"), value__is_done=(False, True), type=("a", "b"))
        )
        assert row.called == "memory"
        told = {each.label: (each.name, each.before, each.after) for each in row.fields}
        assert told == {
            "Valid from": ("valid_from", None, "2026-12-24 08:00:00 UTC"),
            "Value: is done": ("value.is_done", "no", "yes"),
            "Type": ("type", "a", "b"),
        }

    def test_recorded_rows_have_them_too_and_an_unknown_table_its_plain_name(self):
        (known,) = rows_of([change(None, {"sha256": "ab"})])
        (other,) = rows_of([change(None, {"some_name": 1}, "odd_things")])
        assert (known.called, known.fields[0].label) == ("memory", "Digest")
        assert (other.called, other.fields[0].label) == ("odd things", "Some name")

    @pytest.mark.parametrize(
        ("value", "read"),
        [
            (True, "yes"), (False, "no"), ("", "–"), ([], "–"), ({}, "–"), (None, None), (0, 0), ("2026-01-01", "2026-01-01"),
            (["by hand", 2], "by hand\n2"), ([{"a": 1}], [{"a": 1}]), ({"a": 1}, {"a": 1}),
        ],
    )  # fmt: skip
    def test_values_are_read_as_people_read_them(self, value, read):
        assert legible(value) == read

    @pytest.mark.parametrize(
        ("text", "read"),
        [
            ("2026-12-24T09:00:00.5+01:00", "2026-12-24 08:00:00.500000 UTC"),
            ("soon", "soon"),
            ("", "–"),
            ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ],
    )
    def test_instants_are_told_in_utc_and_never_rounded(self, text, read):
        assert legible(text, instant=True) == read

    @pytest.mark.parametrize(
        ("before", "after", "read"),
        [
            ("yes", True, ("yes", "true")),
            (False, "no", ("false", "no")),
            (["a", "b"], ["a\nb"], ('[\n  "a",\n  "b"\n]', '[\n  "a\\nb"\n]')),
            ("", [], ("", "[]")),
            ({}, "–", ("{}", "–")),
            (True, "true", ("yes", "true")),
            (1, "1", ("1", '"1"')),
        ],
    )
    def test_values_that_differ_are_never_shown_as_unchanged(self, before, after, read):
        (field,) = row_of(presented(value__done=(before, after))).fields
        assert (field.kind.value, field.before, field.after) == ("changed", *read)
        assert any(each.kind.value != "same" for each in field.passages)
        assert said([change({"text": before}, {"text": after})])
        assert any(each.kind.value != "same" for each in one_line([change({"text": before}, {"text": after})]))

    def test_a_text_of_the_user_that_looks_like_an_instant_stays_as_it_is(self):
        row = row_of(presented(value__due=(None, "2026-12-24T08:00:00+00:00")))
        assert row.fields[0].after == "2026-12-24T08:00:00+00:00"

    def test_a_title_that_a_field_in_sight_says_is_left_out(self):
        assert row_of(presented("Use Postgres", "added", statement=(None, "Use Postgres"))).title == ""
        assert row_of(presented("Use Post…", "added", statement=(None, "Use  Postgres"))).title == ""
        assert (
            row_of(presented("Use Postgres", statement=("Use Postgres",) * 2, status=("a", "b"))).title
            == "Use Postgres"
        )

    def test_what_the_value_says_like_the_statement_is_told_once(self):
        row = row_of(
            presented(statement=("a", "b"), value__decision=("a", "b"), value__why=(None, "b"), status=("b", "b"))
        )
        assert [each.label for each in row.fields] == ["Statement, Value: decision", "Value: why", "Status"]

    @pytest.mark.parametrize(
        ("what", "count", "said"),
        [
            ("added to memory_items", 1, "memory added"),
            ("changed in memory_items", 2, "memories changed"),
            ("removed from odd_things", 2, "odd things removed"),
            ("principals gain sight", 2, "principals gain sight"),
            ("principals gain sight", 1, "principal gains sight"),
            ("new memories", 1, "new memory"),
            ("memories changed", 1, "memory changed"),
            ("index lines", 1, "index line"),
            ("recorded contexts that showed these memories", 1, "recorded context that showed these memories"),
            ("cards", 1, "cards"),
        ],
    )
    def test_effects_are_counted_in_words(self, what, count, said):
        assert counted(what, count) == said
