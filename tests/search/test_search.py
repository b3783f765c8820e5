"""Search: the scopes of the caller and nothing else, one order on both databases, any text as a query."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel import clock, ids
from kernel.errors import InvalidInputError, TooLargeError
from kernel.tokens import terms
from scopes.models import MemoryScope
from search import services as index
from search.contracts import Kind, State
from search.models import IndexEntry, Posting
from search.selectors import MAX_QUERY_TERMS
from search.terms import term_key
from tests.conftest import TEAM, Player, a_turn
from tests.guards.write_guard import unguarded

P1 = {"type": "project", "id": "p1"}
P2 = {"type": "project", "id": "p2"}


def in_project(*refs: dict, default: dict | None = None) -> dict:
    return {"scope_context": {"read": list(refs), **({"default_write": default} if default else {})}}


def say(player: Player, *texts: str, domain_id: str = TEAM, session_id: str = "s1", **fields: object) -> dict:
    events = {"messages": [{"role": "user", "content": text} for text in texts]}
    tree = {"domain_id": domain_id, "session_id": session_id, "turn_events": events, **fields}
    return player.do("commit_turn", tree)


def ask(player: Player, query: str, **fields: object) -> dict:
    where = {} if "scope_context" in fields else {"session_id": "s1"}
    return player.do("search_memory", {"domain_id": TEAM, **where, **fields}, query=query)


def say_apart(player: Player, *lines: str) -> None:
    """Each text in a session of its own, all findable in project p1: what stands around a text in its session counts."""
    for number, line in enumerate(lines):
        say(player, line, session_id=f"apart-{number}", **in_project(P1, default=P1))


def texts(player: Player, query: str, **fields: object) -> list[str]:
    return [row["text"] for row in ask(player, query, **fields)["results"]]


def test_it_works(cast):
    say(cast.agent, "The default database is Postgres", "Lunch is at noon", "我们用 Postgres 数据库")
    assert texts(cast.agent, "lunch") == ["Lunch is at noon"]
    assert set(texts(cast.agent, "which postgres")) == {"The default database is Postgres", "我们用 Postgres 数据库"}
    row = ask(cast.agent, "lunch noon")["results"][0]
    assert (row["kind"], row["confidence"], row["weak"], row["scope"]) == (
        "message",
        1.0,
        False,
        {"type": "session", "id": "s1"},
    )
    assert row["score"] > 0


def test_the_better_match_comes_first(cast):
    say(cast.agent, "red apple", "red apple pie with much more to say about it", "red wine", "green tea")
    assert texts(cast.agent, "red apple")[0] == "red apple"
    assert texts(cast.agent, "red apple")[-1] == "red wine"
    assert "green tea" not in texts(cast.agent, "red apple")


def test_a_rare_word_counts_more_than_a_common_one(cast):
    say(cast.agent, *["apple pie"] * 5, "wombat pie")
    assert texts(cast.agent, "apple wombat")[0] == "wombat pie"


def test_equal_scores_are_ordered_newest_first(cast):
    say_apart(cast.agent, *["same words"] * 4)
    answer = ask(cast.agent, "same words", **in_project(P1))
    assert len({row["score"] for row in answer["results"]}) == 1
    found = [row["id"] for row in answer["results"]]
    assert found == sorted(found, reverse=True)
    assert len(found) == 4


def bm25(query: list[str], text: str, everything: list[str]) -> float:
    """The textbook formula with our weights, written again: k1 = 1.2, b = 0.4, and 100 empty texts more."""
    counts = [terms(each) for each in everything]
    mean = sum(sum(count.values()) for count in counts) / len(counts)
    here, score = terms(text), 0.0
    for word in query:
        rows = sum(word in count for count in counts)
        norm = 1 - 0.4 + 0.4 * sum(here.values()) / mean
        score += math.log((len(counts) + 100) / (rows + 1)) * here[word] * 2.2 / (here[word] + 1.2 * norm)
    return score


def test_the_score_of_texts_apart_is_bm25_on_every_database(cast):
    everything = ["alpha beta", "alpha alpha gamma", "beta gamma delta epsilon", "delta"]
    say_apart(cast.agent, *everything)
    rows = ask(cast.agent, "alpha gamma", **in_project(P1))["results"]
    assert [row["text"] for row in rows] == ["alpha alpha gamma", "alpha beta", "beta gamma delta epsilon"]
    for row in rows:
        assert row["score"] == round(bm25(["alpha", "gamma"], row["text"], everything), 6)


def test_document_frequency_is_that_of_the_scope(cast):
    """What others say elsewhere changes nothing here, not even a score."""
    say(cast.agent, "wombat one", "apple two")
    before = ask(cast.agent, "wombat apple")["results"]
    say(cast.agent, *["wombat"] * 20, session_id="s2")
    say(cast.stranger, *["apple"] * 20, domain_id="elsewhere")
    assert ask(cast.agent, "wombat apple")["results"] == before


def test_the_same_term_has_another_key_in_each_scope():
    assert term_key(1, "wombat") != term_key(2, "wombat")
    assert term_key(1, "wombat") == term_key(1, "wombat")
    assert -(2**63) <= term_key(1, "wombat") < 2**63


@pytest.mark.parametrize("query", ["中文", "优先", "数据", "库", "Ｐostgres", "ポスト", "데이터"])
def test_two_characters_are_enough(cast, query):
    say(cast.agent, "中文优先", "数据库", "Postgres", "ポスト", "데이터베이스", "其他的话")
    assert len(texts(cast.agent, query)) == 1


def test_han_that_ocr_spaced_is_found_and_shown_as_it_was(cast):
    say(cast.agent, "请 万 东 立 刻 处理")
    assert texts(cast.agent, "万东立刻") == ["请 万 东 立 刻 处理"]


@pytest.mark.parametrize(
    "query",
    ["apple AND", "apple OR pear", "NOT apple", '"apple', "apple*", "app*", "(apple", "apple)", "apple:1", "NEAR(apple)", "-apple", "+apple",
     "apple^2", "apple & pear", "apple | pear", "!apple", "apple <-> pie", "' OR 1=1 --", "%apple%", "_pple apple", "apple\\", "apple; DROP TABLE turns",
     "apple \u202e", "apple\n\t\r", "{apple}", "apple@b", "apple/pear", "apple'"],
)  # fmt: skip
def test_operators_have_no_meaning(cast, query):
    say(cast.agent, "apple pie", "cherry cake")
    found = texts(cast.agent, query)
    assert "cherry cake" not in found
    assert found == (["apple pie"] if query not in {"app*", "' OR 1=1 --"} else [])


@pytest.mark.parametrize("query", [" ", "!?", "🙂", "\u200b", "---"])
def test_a_query_without_words_finds_nothing(cast, query):
    say(cast.agent, "apple 🙂 !?")
    assert ask(cast.agent, query)["results"] == []


@pytest.mark.parametrize("query", ["", None, 5, [], "a\x00b", "\ud800"])
def test_what_is_no_query_is_422(cast, query):
    with pytest.raises(InvalidInputError):
        cast.agent.call("search_memory", domain_id=TEAM, session_id="s1", query=query)


def test_a_query_over_the_limit_is_413(cast):
    assert ask(cast.agent, "x" * 4_000)["results"] == []
    with pytest.raises(TooLargeError):
        cast.agent.call("search_memory", domain_id=TEAM, session_id="s1", query="x" * 4_001)


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"limit": 101}, {"limit": -5}, {"limit": 10**30}, {"kinds": []}, {"kinds": ["galaxy"]}, {"kinds": "memory"},
     {"min_confidence": -0.1}, {"min_confidence": 1.1}, {"min_confidence": "0"}, {"time_range": {"since": "yesterday"}},
     {"time_range": {"since": "2026-12-01T00:00:00"}}, {"time_range": []}, {"unknown": 1}],
)  # fmt: skip
def test_a_wrong_field_is_422(cast, wrong):
    with pytest.raises(InvalidInputError):
        cast.agent.call("search_memory", {"domain_id": TEAM, "session_id": "s1", "query": "x", **wrong})


def test_words_beyond_the_limit_are_named(cast):
    say(cast.agent, "word0 and word99")
    words = [f"word{n}" for n in range(100)]
    answer = ask(cast.agent, " ".join(words))
    assert answer["warnings"] == [f"query_terms_cut:{100 - MAX_QUERY_TERMS}"]
    assert [row["text"] for row in answer["results"]] == ["word0 and word99"]
    assert ask(cast.agent, "word0")["warnings"] == []


def test_a_text_in_two_scopes_is_found_once(cast):
    say(cast.agent, "shared wombat", **in_project(P1, default=P1))
    both = in_project(P1, {"type": "session", "id": "s1"})
    assert IndexEntry.objects.count() == 2
    assert texts(cast.agent, "wombat", **both) == ["shared wombat"]


def test_scopes_are_read_only_where_they_are_named(cast):
    say(cast.agent, "wombat one", session_id="a", **in_project(P1, default=P1))
    say(cast.agent, "wombat two", session_id="b", **in_project(P2, default=P2))
    say(cast.agent, "wombat three")
    assert texts(cast.agent, "wombat", **in_project(P1)) == ["wombat one"]
    assert texts(cast.agent, "wombat", **in_project(P2)) == ["wombat two"]
    assert texts(cast.agent, "wombat") == ["wombat three"]
    assert sorted(texts(cast.agent, "wombat", **in_project(P1, P2))) == ["wombat one", "wombat two"]
    assert texts(cast.agent, "wombat", **in_project({"type": "project", "id": "p3"})) == []


def test_equal_ids_and_keys_in_two_domains_do_not_leak(cast):
    for player, domain in ((cast.agent, TEAM), (cast.stranger, "elsewhere")):
        say(player, f"wombat of {domain}", domain_id=domain, **in_project(P1, default=P1))
    assert texts(cast.agent, "wombat", **in_project(P1)) == [f"wombat of {TEAM}"]
    assert texts(cast.agent, "elsewhere", **in_project(P1)) == []
    assert texts(cast.stranger, "wombat", **in_project(P1, default=None), domain_id="elsewhere") == [
        "wombat of elsewhere"
    ]


def test_a_wrong_index_entry_leaks_nothing(cast):
    """The owner of a text checks again: an entry that points to a foreign text is no way in."""
    say(cast.stranger, "their wombat", domain_id="elsewhere")
    say(cast.agent, "our apple")
    ours = MemoryScope.objects.get(domain_id=TEAM)
    entry = IndexEntry.objects.get(domain_id="elsewhere")
    with unguarded():
        IndexEntry.objects.filter(pk=entry.pk).update(domain_id=TEAM, scope=ours)
        Posting.objects.bulk_create([Posting(term=term_key(ours.key, "wombat"), entry_id=entry.pk)])
    assert texts(cast.agent, "wombat") == []


def test_pages_make_up_the_whole(cast):
    say(cast.agent, *[f"wombat number {n}" for n in range(7)], *["wombat"] * 4)
    whole = [row["id"] for row in ask(cast.agent, "wombat number", limit=100)["results"]]
    for limit in (1, 2, 5, 11):
        seen, cursor = [], None
        for _ in range(12):
            answer = ask(cast.agent, "wombat number", limit=limit, cursor=cursor)
            seen += [row["id"] for row in answer["results"]]
            cursor = answer["next_cursor"]
            if cursor is None:
                break
        assert seen == whole, limit
    assert len(whole) == 11


def test_a_cursor_goes_on_where_its_hit_stood(cast):
    """The hit of a cursor may have left the index before the next page is asked for."""
    say_apart(cast.agent, *[f"wombat {'x ' * n}" for n in range(4)])
    first = ask(cast.agent, "wombat", limit=2, **in_project(P1))
    second = ask(cast.agent, "wombat", limit=2, cursor=first["next_cursor"], **in_project(P1))
    with unguarded():
        index.set_state(Kind.MESSAGE, [first["results"][1]["id"]], State.HISTORY)
    assert (
        ask(cast.agent, "wombat", limit=2, cursor=first["next_cursor"], **in_project(P1))["results"]
        == second["results"]
    )


def test_a_cursor_of_another_query_is_422(cast):
    say(cast.agent, "wombat one", "wombat two")
    cursor = ask(cast.agent, "wombat", limit=1)["next_cursor"]
    for fields in ({"query": "one"}, {"min_confidence": 0.1}, {"kinds": ["message"]}):
        with pytest.raises(InvalidInputError, match="other filters"):
            cast.agent.call(
                "search_memory", {"domain_id": TEAM, "session_id": "s1", "query": "wombat", "cursor": cursor, **fields}
            )


def test_the_time_range_includes_its_start_and_not_its_end(cast):
    days = [f"2026-01-0{n}T00:00:00Z" for n in (1, 2, 3)]
    events = {
        "messages": [{"role": "user", "content": f"wombat {n}", "created_at": day} for n, day in enumerate(days)]
    }
    cast.agent.do("commit_turn", a_turn(turn_events=events))
    for since, until, expected in (
        (None, None, {0, 1, 2}), (days[1], None, {1, 2}), (None, days[1], {0}), (days[0], days[2], {0, 1}), (days[2], days[0], set()),
        ("2026-01-02T08:00:00+08:00", "2026-01-02T08:00:01+08:00", {1}), ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", {0, 1, 2}),
    ):  # fmt: skip
        window = {"since": since, "until": until}
        assert set(texts(cast.agent, "wombat", time_range=window)) == {f"wombat {n}" for n in expected}


def test_results_below_the_wanted_confidence_are_left_out(cast):
    say(cast.agent, "apple pie", "apple", "cherry cake pie")
    rows = ask(cast.agent, "apple cherry cake")["results"]
    assert all(0 < row["confidence"] <= 1 for row in rows)
    bar = rows[0]["confidence"]
    assert {row["id"] for row in ask(cast.agent, "apple cherry cake", min_confidence=bar)["results"]} == {
        row["id"] for row in rows if row["confidence"] >= bar
    }
    assert all(row["weak"] == (row["confidence"] < 0.35) for row in rows)
    assert ask(cast.agent, "apple nowhere nothing never", min_confidence=1.0)["results"] == []


def test_history_is_not_in_ordinary_searches_and_what_is_removed_is_gone(cast):
    say(cast.agent, "wombat one", "wombat two")
    one, two = (row["id"] for row in ask(cast.agent, "wombat")["results"])
    with unguarded():
        assert index.set_state(Kind.MESSAGE, [one], State.HISTORY) == 1
        assert [row["id"] for row in ask(cast.agent, "wombat")["results"]] == [two]
        assert index.remove(Kind.MESSAGE, [two]) == 1
    assert ask(cast.agent, "wombat")["results"] == []
    assert not Posting.objects.exclude(entry__in=IndexEntry.objects.all()).exists()


def test_other_kinds_are_asked_for_by_name(cast):
    say(cast.agent, "wombat")
    assert len(texts(cast.agent, "wombat", kinds=["message"])) == 1
    assert texts(cast.agent, "wombat", kinds=["memory", "section", "card"]) == []


def test_the_number_of_queries_does_not_grow_with_the_index(cast, django_assert_max_num_queries):
    for n in range(5):
        say(cast.agent, *[f"wombat {n} {m}" for m in range(20)])
    with django_assert_max_num_queries(20):
        ask(cast.agent, "wombat 3 and more words", limit=100)


@settings(max_examples=150)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=80))
def test_any_text_can_be_asked_for(cast, query):
    if not IndexEntry.objects.exists():
        say(cast.agent, "The default database is Postgres 数据库")
    answer = ask(cast.agent, query)
    assert all(0 < row["confidence"] <= 1 for row in answer["results"])


@settings(max_examples=40)
@given(st.text(alphabet="ab中文é_-. Ａ1", min_size=1, max_size=30))
def test_any_text_is_found_by_itself(cast, text):
    session = f"h{IndexEntry.objects.count()}"
    say(cast.agent, text, session_id=session)
    found = ask(cast.agent, text, session_id=session)["results"]
    assert [row["text"] for row in found] == ([text] if terms(text) else [])


def test_two_runs_with_the_same_clock_and_ids_give_the_same_answer(cast):
    """What the two-database comparison rests on."""

    def run(session_id: str) -> list[tuple]:
        counter = iter(range(10_000))
        start = datetime(2026, 1, 1, tzinfo=UTC)
        base = ids.new_id().int >> 32 << 32
        with clock.use(lambda: start + timedelta(seconds=next(counter))), ids.use(lambda: _uuid(base + next(counter))):
            say(cast.agent, "wombat one", "wombat two", "one two", session_id=session_id)
            rows = ask(cast.agent, "wombat two", session_id=session_id)["results"]
        return [(row["text"], row["score"], row["confidence"]) for row in rows]

    assert run("x") == run("y")


def _uuid(number: int):
    from uuid import UUID

    return UUID(int=number)
