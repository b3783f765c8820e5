"""Charts: drawn on the server, and every figure also in a table."""

from __future__ import annotations

from governance.adminbase.charts import Series, bars


def test_it_works():
    page = bars(
        "Decisions",
        ["1 Dec", "2 Dec"],
        [Series("approved", [3, 0], "good"), Series("rejected", [1, 2], "bad")],
        "None",
    )
    assert page.count("<rect") == 3
    assert "<td>3</td><td>1</td>" in page
    assert 'aria-hidden="true"' in page


def test_no_figures_say_so():
    page = bars("Decisions", ["1 Dec"], [Series("approved", [0])], "Nothing was decided.")
    assert "Nothing was decided." in page
    assert "<svg" not in page


def test_names_are_escaped():
    assert "<b>" not in bars("<b>", ["<b>"], [Series("<b>", [1])], "")


def test_the_table_says_what_its_rows_are():
    assert '<th scope="col">When</th>' in bars("Decisions", ["1 Dec"], [Series("approved", [1])], "")
    assert '<th scope="col">Table</th>' in bars("Rows", ["turns"], [Series("moved", [1])], "", "Table")
