from __future__ import annotations

import pytest
from pydantic import Field

from kernel.contracts import Contract
from kernel.errors import InvalidInputError
from smartbrain_site.http.query import field_schemas, pairs, tree


class Everything(Contract):
    """One field of each kind."""

    text: str = "x"
    count: int | None = Field(default=None, description="How many.")
    share: float = 0.5
    flag: bool = False
    names: list[str] = []
    counts: list[int] | None = None


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("", {}),
        ("text=a%20b+c", {"text": "a b c"}),
        ("text=%E6%95%B0", {"text": "数"}),
        ("text=1", {"text": "1"}),
        ("text=true", {"text": "true"}),
        ("text=a,b", {"text": "a,b"}),
        ("text=", {"text": ""}),
        ("text=a&text=b", {"text": ["a", "b"]}),
        ("count=12", {"count": 12}),
        ("count=-12", {"count": -12}),
        ("count=1e3", {"count": "1e3"}),
        ("count=1_000", {"count": "1_000"}),
        ("count=%201", {"count": " 1"}),
        ("share=0.25", {"share": 0.25}),
        ("share=1", {"share": 1.0}),
        ("share=nan", {"share": "nan"}),
        ("share=inf", {"share": "inf"}),
        ("flag=true", {"flag": True}),
        ("flag=false", {"flag": False}),
        ("flag=1", {"flag": "1"}),
        ("names=a", {"names": ["a"]}),
        ("names=a,b&names=c", {"names": ["a", "b", "c"]}),
        ("counts=1,2&counts=3", {"counts": [1, 2, 3]}),
        ("counts=1,x", {"counts": [1, "x"]}),
        ("unknown=1", {"unknown": "1"}),
    ],
)
def test_it_works(given, wanted):
    found = tree(pairs(given), Everything)
    assert found == wanted
    assert [type(value) for value in found.values()] == [type(value) for value in wanted.values()]


def test_a_field_that_may_be_null_has_the_schema_of_its_values():
    assert field_schemas(Everything)["count"] == {"type": "integer", "description": "How many."}


@pytest.mark.parametrize("given", ["text=%FF", "text=%ED%A0%80", "&".join("a=1" for _ in range(201))])
def test_what_cannot_be_read_is_refused(given):
    with pytest.raises(InvalidInputError):
        pairs(given)
