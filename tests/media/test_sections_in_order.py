"""Sections stand in the index as they stand in their document: neighbours count, and equal ones come in its order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from media.models import SourceSection
from search.models import IndexEntry
from search.terms import LAST_PLACE
from tests.conftest import TEAM, Cast, Player
from tests.guards.write_guard import unguarded

PROJECT = {"type": "project", "id": "p"}
EQUAL = tuple(f"zebra number{n}" for n in range(7))


def add(cast: Cast, texts: Sequence[str], **options: object) -> str:
    text = "".join(f"## Part of it\n\n{each}.\n\n" for each in texts)
    given = {"text": text, "title": "Zoo", "source_uri": "x:zoo", **options}
    made = cast.agent.do("add_document", domain_id=TEAM, options=given, scopes=[PROJECT])
    assert made["section_count"] == len(texts)
    return str(made["document_id"])


def placed() -> dict[str, list[tuple[int, int, int]]]:
    """Number, sequence and step from the first of every entry of a section, by scope, in the order of places."""
    numbers = dict(SourceSection.objects.values_list("pk", "number"))
    found: dict[str, list[tuple[int, int, int]]] = {}
    for row in IndexEntry.objects.filter(kind="section").select_related("scope").order_by("place"):
        assert row.place is not None
        rows = found.setdefault(row.scope.name, [])
        rows.append((numbers[row.object_id], row.sequence, row.place))
    return {name: [(n, seq, place - rows[0][2] + 1) for n, seq, place in rows] for name, rows in found.items()}


def in_order(count: int) -> list[list[tuple[int, int, int]]]:
    return [[(n, n, n) for n in range(1, count + 1)]] * 2


def search(player: Player, query: str, **fields: object) -> dict:
    given = {"domain_id": TEAM, "query": query, "kinds": ["section"], "scope_context": {"read": [PROJECT]}}
    return player.do("search_memory", {**given, **fields})


def texts(answer: dict) -> list[str]:
    return [each["text"].split("\n\n")[1].rstrip(".") for each in answer["results"]]


def test_it_works(cast):
    add(cast, EQUAL)
    assert list(placed().values()) == in_order(len(EQUAL))
    keys = set(IndexEntry.objects.filter(kind="section").values_list("session_key", flat=True))
    assert len(keys) == 1


def test_equally_good_sections_come_in_the_order_of_their_document(cast):
    apart = [text for each in EQUAL for text in ("gnu graze", "okapi graze", each, "okapi graze", "gnu graze")]
    add(cast, apart)
    assert texts(search(cast.agent, "zebra")) == list(EQUAL)


@pytest.mark.parametrize(
    "after",
    [
        ("okapi", *EQUAL),
        EQUAL[2:],
        (*EQUAL[:3], "okapi", *EQUAL[3:]),
        EQUAL[::-1],
        ("okapi", "gnu"),
        EQUAL,
        (*EQUAL, *EQUAL),
    ],
    ids=["first", "fewer", "between", "turned", "others", "same", "twice"],
)
@pytest.mark.parametrize("title", ["Zoo", "Savanna"])
def test_another_text_of_the_source_puts_all_in_its_order(cast, after, title):
    add(cast, EQUAL)
    add(cast, after, title=title)
    assert list(placed().values()) == in_order(len(after))


def test_an_index_made_before_places_is_put_in_order(cast):
    add(cast, EQUAL)
    with unguarded():
        IndexEntry.objects.filter(kind="section").update(place=None, sequence=0, session_key=None)
    done = cast.operator.do("rebuild_index", domain_id=TEAM, full=True, cursor="sections:")
    assert done["changed"] == 2 * len(EQUAL)
    assert list(placed().values()) == in_order(len(EQUAL))


def test_two_documents_are_no_neighbours(cast):
    add(cast, EQUAL)
    first = {row.place for row in IndexEntry.objects.filter(kind="section")}
    add(cast, EQUAL, source_uri="x:other")
    second = {row.place for row in IndexEntry.objects.filter(kind="section")} - first
    assert min(abs(a - b) for a in first for b in second if a is not None and b is not None) > 2
    assert len(second) == 2 * len(EQUAL) < LAST_PLACE


def test_words_around_a_section_count_for_a_sentence(cast):
    add(cast, ("The enclosure of the zebra", "It measures forty metres", "Gnus graze", "Lions roar", "Okapis hide"))
    answer = search(cast.agent, "What does the enclosure of the zebra measure?")
    assert texts(answer)[:2] == ["The enclosure of the zebra", "It measures forty metres"]
    near = search(cast.agent, "How large is the enclosure of the zebra?")
    assert "It measures forty metres" in texts(near)
    assert near["results"][texts(near).index("It measures forty metres")]["signals"]["context"] == 1.0
    assert texts(search(cast.agent, "zebra")) == ["The enclosure of the zebra"], "key words want what holds them"


@pytest.mark.parametrize("limit", [1, 2, 5, 50])
@pytest.mark.parametrize("query", ["zebra", "What is the number of the zebra?"])
def test_pages_follow_one_order_without_a_gap_or_a_double(cast, limit, query):
    add(cast, EQUAL)
    add(cast, EQUAL[::-1], source_uri="x:other")
    whole = [each["id"] for each in search(cast.agent, query, limit=50)["results"]]
    assert len(whole) == 2 * len(EQUAL)
    found: list[str] = []
    cursor = None
    while True:
        answer = search(cast.agent, query, limit=limit, **({"cursor": cursor} if cursor else {}))
        found += [each["id"] for each in answer["results"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert found == whole


def test_a_page_goes_on_after_a_section_that_is_gone(cast):
    add(cast, EQUAL)
    first = search(cast.agent, "zebra", limit=3)
    add(cast, [text for text in EQUAL if text not in texts(first)])
    rest = search(cast.agent, "zebra", limit=50, cursor=first["next_cursor"])
    assert set(texts(rest)) <= set(EQUAL) - set(texts(first))
