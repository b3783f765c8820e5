"""A proposal's changes in one line and in fields."""

from __future__ import annotations

from governance.adminbase.briefs import MOST_ROWS, one_line, rows_of


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
