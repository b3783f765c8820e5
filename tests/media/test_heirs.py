"""Which section of a document that is imported again stands in the place of one that goes."""

from __future__ import annotations

import pytest

from media.models import SourceSection
from media.services.refiling import heirs


def row(title: str, content: str) -> SourceSection:
    return SourceSection(title=title, content=content)


def told(old: list[str], new: list[str]) -> dict[str, str]:
    """What stands in the place of what, of sections written `heading:text`; equal ones are the same row."""
    rows = {each: row(*each.split(":")) for each in dict.fromkeys([*old, *new])}
    names = {section.pk: each for each, section in rows.items()}
    found = heirs([rows[each] for each in old], [rows[each] for each in new])
    return {names[pk]: names[heir.pk] for pk, heir in found.items()}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["A:1", "B:1"], ["A:2", "B:1"], {"A:1": "A:2"}),
        (["A:1"], ["A:1", "B:1"], {}),
        (["A:1", "B:1"], ["B:1"], {}),
        (["A:1"], ["B:2"], {}),
        (["A:1"], ["B:1"], {"A:1": "B:1"}),
        (["A:1", "A:2"], ["A:3", "A:4"], {"A:1": "A:3", "A:2": "A:4"}),
        (["A:1", "A:2", "A:3"], ["A:0", "A:1", "A:5", "A:3"], {"A:2": "A:5"}),
        (["A:1", "A:2"], ["A:3"], {"A:1": "A:3"}),
        (["A:1", "B:1", "C:1"], ["C:2", "B:1", "A:2"], {"A:1": "A:2", "C:1": "C:2"}),
        (["A:1", "B:2"], ["B:1", "A:2"], {"A:1": "B:1", "B:2": "A:2"}),
        ([], ["A:1"], {}),
        (["A:1"], [], {}),
    ],
)
def test_what_stands_in_the_place_of_what(old, new, expected):
    assert told(old, new) == expected
