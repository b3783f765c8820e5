"""What speaks for a text: one small shelf for each feature, in English and Chinese."""

from __future__ import annotations

from datetime import timedelta

import pytest

from search import selectors, services
from search.contracts import Kind, State
from tests.guards.write_guard import unguarded
from tests.search.conftest import NOW


def test_it_works(shelf):
    shelf.put("The default database is Postgres.", "Lunch is at noon.")
    assert shelf.found("Which database do we use?") == ["The default database is Postgres."]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("请记住：默认数据库是 Postgres", "数据库用什么"),
        ("默认数据库是 Postgres", "我们的数据库是哪个？"),
        ("The default database is Postgres.", "What is the default database?"),
        ("小明住在杭州", "小明住在哪里"),
    ],
)
def test_an_answer_in_a_tiny_scope_is_not_weak(shelf, text, query):
    shelf.put(text, "周五下午开会", "The office closes at six.")
    best = shelf.ask(query)[0]
    assert shelf.texts[best.object_id] == text
    assert best.confidence >= selectors.WEAK_BELOW


@pytest.mark.parametrize("query", ["kangaroo submarine database trombone", "袋鼠潜艇长号和数据库"])
def test_a_match_of_little_of_the_question_is_weak(shelf, query):
    shelf.put("默认数据库 database 是 Postgres", "周五下午开会")
    assert shelf.ask(query)[0].confidence < selectors.WEAK_BELOW


def test_a_rare_word_says_more_than_a_common_one(shelf):
    shelf.put(*(f"the project meeting number {n}" for n in range(20)), "the kumquat project")
    assert shelf.found("kumquat meeting")[0] == "the kumquat project"


def test_a_short_text_beats_a_long_one(shelf):
    shelf.put("kumquat " + "and many other words " * 30, "kumquat jam")
    assert shelf.found("kumquat") == ["kumquat jam", "kumquat " + "and many other words " * 30]


@pytest.mark.parametrize(
    ("before", "question", "answer", "asked"),
    [
        (
            "Nice day.",
            "What did you study at the observatory?",
            "Mostly old star maps.",
            "What did you study at the observatory?",
        ),
        ("今天天气不错", "你在天文台研究了什么？", "主要是古代星图", "在天文台研究什么"),
    ],
)
def test_the_answer_beside_the_question_is_found(shelf, before, question, answer, asked):
    shelf.talk(("ann", "Hello."), ("bob", before), ("ann", question), ("bob", answer))
    shelf.talk(("ann", "Something else"), ("bob", "altogether"), session=2)
    found = {shelf.texts[hit.object_id]: hit for hit in shelf.ask(asked)}
    assert answer in found
    assert found[answer].signals["context"] == 1.0
    assert found[answer].confidence < found[question].confidence
    assert "altogether" not in found


def test_one_word_finds_only_texts_that_hold_it(shelf):
    shelf.talk(("ann", "We saw a kumquat."), ("bob", "Lovely."))
    assert shelf.found("kumquat") == ["We saw a kumquat."]
    assert shelf.found("What is a kumquat?") == ["We saw a kumquat."]


def test_key_words_find_only_texts_that_hold_one(shelf):
    shelf.talk(("ann", "We saw a red kumquat."), ("bob", "Lovely."))
    assert shelf.found("red kumquat") == ["We saw a red kumquat."]
    assert shelf.found("Who saw a red kumquat?") == ["We saw a red kumquat.", "Lovely."]


def test_neighbours_of_another_session_or_scope_say_nothing(shelf):
    shelf.talk(("ann", "We study kumquat trees"), session=1)
    shelf.talk(("bob", "Of another session"), session=2)
    shelf.talk(("bob", "Of another scope"), session=1, scope="b")
    assert shelf.found("Who does study kumquat trees?") == ["We study kumquat trees"]


def test_what_the_named_speaker_said_comes_first(shelf):
    shelf.talk(("Ann", "I painted the harbour"), ("Bob", "Fine"), ("Ann", "Yes"), ("Bob", "ok"), ("Ann", "so"))
    shelf.talk(("Bob", "I painted the harbour"), session=2)
    for name in ("Ann", "Bob"):
        best = shelf.ask(f"What did {name} paint?")[0]
        assert best.signals["author"] > 0
    first = [shelf.ask(f"What did {name} paint?")[0].object_id for name in ("Ann", "Bob")]
    assert first[0] != first[1]


def test_a_named_speaker_in_chinese(shelf):
    shelf.talk(("王小明", "我喜欢吃苹果"), session=1)
    shelf.talk(("李大山", "我喜欢吃苹果"), session=2)
    hits = shelf.ask("王小明喜欢吃什么")
    assert "author" in hits[0].signals
    assert "author" not in hits[1].signals


def test_a_memory_that_tells_of_the_person_counts_as_theirs(shelf):
    shelf.put("Ann paints harbours", "Bob paints harbours")
    shelf.talk(("Ann", "hello"), ("Bob", "hello"))
    assert shelf.found("What does Ann paint?")[0] == "Ann paints harbours"


@pytest.mark.parametrize(
    "query", ["meeting on 3 May 2026", "meeting on May 3rd", "meeting in May", "5月3日 meeting", "meeting 2026-05-03"]
)
def test_a_date_in_the_question(shelf, query):
    right, _ = shelf.put("meeting minutes", event_time=NOW.replace(month=5, day=3)), shelf.put("meeting minutes")
    assert shelf.ask(query)[0].object_id == right[0]
    assert "date" in shelf.ask(query)[0].signals


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("yesterday", 1),
        ("昨天", 1),
        ("last week", 8),
        ("上周", 8),
        ("3 days ago", 3),
        ("两周前", 14),
        ("last month", 33),
    ],
)
def test_days_counted_from_the_question(shelf, words, days):
    (right,) = shelf.put("meeting minutes", event_time=NOW - timedelta(days=days))
    shelf.put("meeting minutes", event_time=NOW - timedelta(days=90))
    shelf.put("meeting minutes", event_time=NOW + timedelta(days=30))
    assert shelf.ask(f"meeting {words}")[0].object_id == right


@pytest.mark.parametrize("query", ["What is the current port?", "latest port", "现在的 port 是多少", "目前 port"])
def test_now_asks_for_the_newest(shelf, query):
    shelf.put("port 8080", event_time=NOW - timedelta(days=2))
    (newest,) = shelf.put("port 8080", event_time=NOW - timedelta(days=1))
    shelf.put("port 8080", event_time=NOW - timedelta(days=3))
    assert shelf.ask(query)[0].object_id == newest


def test_what_is_no_longer_current_comes_after(shelf):
    (old,) = shelf.put("the port of the api is 8080, the port")
    (new,) = shelf.put("the api uses port 8443")
    with unguarded():
        services.close(Kind.MEMORY, [old], NOW)
    assert [hit.object_id for hit in shelf.ask("api port")] == [new]
    assert [hit.object_id for hit in shelf.ask("api port", history=True)] == [new, old]


def test_doubtful_and_far_scopes_count_less(shelf):
    shelf.put("the port is 1", trust=0.2)
    shelf.put("the port is 2")
    assert shelf.found("port") == ["the port is 2", "the port is 1"]
    shelf.put("the port is 3", scope="b")
    assert shelf.found("port", scope_weights={shelf.scope("b"): 2.0})[0] == "the port is 3"


def test_equal_scores_put_the_newest_id_first(shelf):
    shelf.put("same text", "same text", "same text")
    assert [hit.object_id.int for hit in shelf.ask("same text")] == [3, 2, 1]


def test_candidates_and_other_kinds_are_left_out(shelf):
    shelf.put("port one", state=State.CANDIDATE)
    shelf.put("port two", kind=Kind.SECTION)
    assert shelf.found("port") == []
    assert shelf.found("port", kinds=(Kind.SECTION,)) == ["port two"]
