"""What holds for any text: a search never fails, and nothing depends on the order in which scopes are named."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from kernel import tokens
from search.selectors.asking import MAX_QUERY_TERMS, read
from search.terms import pack, pick, unpack

ANY_TIME = datetime(2024, 2, 29, tzinfo=UTC)
texts = st.text(max_size=200) | st.sampled_from(
    [
        "in 0000",
        "2024-13-45",
        "99 days ago",
        "31 February 2023",
        "Feb 29",
        "2月30日",
        "0月",
        "999 years ago",
        "1900年2月29日",
        "什么",
        "’s",
        "...",
    ]
)
shared = settings(max_examples=60)


def test_it_works(shelf):
    shelf.put("kumquat")
    assert shelf.found("kumquat") == ["kumquat"]


@shared
@given(query=texts)
def test_a_search_never_fails(shelf, query):
    if not shelf.texts:
        shelf.talk(("Ann", "kumquat, harbour, 数据库 in May"), ("...", "yes"), ("  ", "no"))
    for hit in shelf.ask(query):
        assert 0 <= hit.confidence <= 1
        assert hit.score == round(hit.score, 6)


@shared
@given(text=st.text(max_size=300))
def test_a_text_is_found_by_itself(text):
    assert set(tokens.query_terms(text)) <= set(tokens.terms(text))


@given(text=texts, at=st.datetimes(timezones=st.just(UTC)))
def test_any_question_can_be_read_at_any_time(text, at):
    asked = read(text, at)
    assert len(asked.terms) <= MAX_QUERY_TERMS
    assert all(span.first <= span.last for span in asked.spans)


@given(counts=st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.integers(1, 400), max_size=50))
def test_packed_terms_come_back(counts):
    packed = pack(counts)
    assert dict(unpack(packed)) == {key: min(count, 255) for key, count in counts.items()}
    wanted = {key: str(key) for key in [*counts, 7]}
    assert pick(packed, wanted) == {str(key): count for key, count in unpack(packed)}


def test_the_order_of_scopes_says_nothing(shelf):
    for scope in "abc":
        shelf.put(f"kumquat {scope}", "kumquat", scope=scope)
    orders = [[(hit.object_id, hit.score) for hit in shelf.ask("kumquat", *names)] for names in ("abc", "cab", "bca")]
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) == 6


def test_the_order_of_indexing_says_nothing_of_scores(shelf):
    texts = ["kumquat jam", "kumquat tree in the harbour", "a harbour", "数据库 kumquat"]
    shelf.put(*texts, scope="a")
    shelf.put(*reversed(texts), scope="b")
    first, second = (
        {shelf.texts[hit.object_id]: hit.score for hit in shelf.ask("kumquat harbour 数据库", name)} for name in "ab"
    )
    assert first == second
