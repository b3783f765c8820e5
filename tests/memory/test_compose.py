"""A context through the action: the parts in their order, the budget, and what is refused (specification 7.2)."""

from __future__ import annotations

import json

import pytest

from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError, TooLargeError
from kernel.tokens import count_tokens
from memory.models import ContextRecord, MemoryItem, Turn
from tests.conftest import TEAM, make_agent
from tests.memory.composing import IN_P, P, left_out, policy
from tests.memory.talk import commit, compose, context, decision, entity, pref, shown, task

SLOTS = {
    "version", "context_id", "session_id", "created_at", "system_blocks", "developer_blocks",
    "working_summary", "recent_turns", "evidence", "user_message", "notices", "conflicts", "constraints",
    "debug", "messages",
}  # fmt: skip


def test_it_works(cast):
    """Cases 27 to 29: every slot, the message exact, the trace equal to the log's, the limits named."""
    commit(cast.agent, say="Remember that the default database is Postgres.")
    commit(cast.agent, preferences=[pref("concise")])
    message = "  Which default database do we use?\n"
    package = compose(cast.agent, message)
    assert set(package) == SLOTS
    assert package["user_message"] == {"role": "user", "content": message}
    assert [block["text"] for block in package["system_blocks"]] == ["writing tone: concise"]
    assert [turn["content"] for turn in package["recent_turns"]] == ["Remember that the default database is Postgres."]
    assert shown(package) == ["the default database is Postgres"]
    assert package["constraints"]["truncation"] == {"snippets_max_chars": 800, "recent_turns_max": 8}
    assert package["constraints"]["diversity"]["by_document"] == 3
    trace = package["debug"]["trace"]
    (log,) = cast.agent.do("diagnostics", domain_id=TEAM)["compose_logs"]
    assert (trace["context_id"], trace["request_id"], trace["plan_id"]) == (
        log["context_id"],
        log["request_id"],
        log["plan_id"],
    )
    assert all(trace.values())
    assert package["context_id"] == trace["context_id"]


def test_seven_memories_can_all_be_chosen(cast):
    """Case 31: diversity counts per item, not per URI scheme."""
    commit(cast.agent, decisions=[decision(f"zebra choice {number}", f"decision:z:d{number}") for number in range(7)])
    assert len(shown(compose(cast.agent, "zebra choice"))) == 7


def test_no_more_than_twelve_and_each_rest_has_a_reason(cast):
    """Case 29."""
    policy(cast, scopes={"max_items_per_scope": 100})
    commit(cast.agent, decisions=[decision(f"zebra choice {number}", f"decision:z:d{number}") for number in range(20)])
    package = compose(cast.agent, "zebra choice")
    assert len(package["evidence"]) == 12
    assert len(left_out(package, "max_items")) == 8


def test_a_long_text_is_cut_and_named(cast):
    """Case 29: 800 characters and three dots."""
    commit(cast.agent, decisions=[decision("zebra " * 400)])
    package = compose(cast.agent, "zebra")
    (text,) = shown(package)
    assert len(text) == 803
    assert text.endswith("...")
    assert [entry["reason"] for entry in package["debug"]["truncated"]] == ["snippet_limit"]


def test_the_newest_turns_are_kept_to_the_last_message(cast):
    """Case 32."""
    for number in range(10):
        commit(
            cast.agent,
            messages=[
                {"role": "user", "content": f"question {number}"},
                {"role": "assistant", "content": f"answer {number}"},
            ],
        )
    package = compose(cast.agent, "go on")
    expected = [text for number in range(2, 10) for text in (f"question {number}", f"answer {number}")]
    assert [turn["content"] for turn in package["recent_turns"]] == expected


@pytest.mark.parametrize("text", ["word " * 1000, "数据" * 2500])
def test_a_budget_holds_and_names_what_it_cost(cast, text):
    """Case 33, with tokens that are right for Chinese."""
    policy(cast, composition={"token_limit": 500})
    for _ in range(4):
        commit(cast.agent, say=text, decisions=[decision("zebra choice " + text[:100])])
    package = compose(cast.agent, "Which zebra choice?", render=True)
    budget = package["constraints"]["token_budget"]
    assert budget["used_estimate"] <= budget["limit"] == 500
    assert sum(count_tokens(message["content"]) for message in package["messages"]) <= 500
    assert left_out(package, "budget")
    assert package["user_message"]["content"] == "Which zebra choice?"


def test_a_message_that_alone_is_over_the_limit_is_kept_and_said_so(cast):
    policy(cast, composition={"token_limit": 100})
    commit(cast.agent, decisions=[decision("zebra choice")])
    package = compose(cast.agent, "zebra " * 200)
    assert package["constraints"]["token_budget"]["over_limit"]
    assert package["evidence"] == []
    assert package["user_message"]["content"] == "zebra " * 200


def test_a_recent_message_is_not_repeated_as_evidence(cast):
    """Case 35, though its memory may be."""
    commit(cast.agent, say="The zebra ran away.", extract=False)
    package = compose(cast.agent, "Where is the zebra?")
    assert shown(package) == []
    assert left_out(package, "recent_turn")
    other = compose(cast.agent, "Where is the zebra?", "s2", scope_context=context("session:s1"))
    assert shown(other) == ["The zebra ran away."]


def test_memory_answers_across_languages_of_one_text(cast):
    """Case 36."""
    commit(cast.agent, say="请记住：默认数据库是 Postgres")
    assert shown(compose(cast.agent, "数据库用什么", "s2", scope_context=context("session:s1"))) == [
        "默认数据库是 Postgres"
    ]


def test_a_common_topic_asked_in_other_words_is_not_dropped_as_weak(cast):
    """A word that no text holds outweighs every common one; the best that there is is shown all the same."""
    commit(cast.agent, "s1", scopes=P, say="Remember that the shop's database is Postgres.")
    talk = [f"The database migration number {number} went fine." for number in range(8)]
    talk += [f"Lunch number {number} was good." for number in range(40)]
    commit(cast.agent, "s1", scopes=P, messages=[{"role": "user", "content": text} for text in talk])
    assert "the shop's database is Postgres" in shown(compose(cast.agent, "What database do we use?", "s2", **IN_P))


def test_what_contradicts_nothing_is_not_shown_for_an_unrelated_question(cast):
    """Case 75 in its own way: no forced neighbours."""
    commit(cast.agent, decisions=[decision("zebra choice")])
    assert shown(compose(cast.agent, "How is the weather in Lisbon?")) == []


def test_evidence_is_in_rank_order_with_its_reasons(cast):
    """Case 34."""
    commit(
        cast.agent,
        decisions=[decision("zebra crossing paint is white", "decision:z:a"), decision("zebra food", "decision:z:b")],
        tasks=[task("paint the zebra crossing white", "task:z:c")],
    )
    package = compose(
        cast.agent, "Which paint for the zebra crossing, white?", "s2", scope_context=context("session:s1")
    )
    scores = [item["score"] for item in package["evidence"]]
    assert scores == sorted(scores, reverse=True)
    assert [why["id"] for why in package["debug"]["why_selected"]] == [item["id"] for item in package["evidence"]]


def test_evidence_says_where_it_comes_from(cast):
    answer = commit(cast.agent, scopes=P, decisions=[decision("zebra choice")])
    (item,) = compose(cast.agent, "zebra choice", "s2", **IN_P)["evidence"]
    assert (item["scope"], item["source_session_id"]) == ({"type": "project", "id": "p"}, "s1")
    assert item["ref"]["turn_id"] == answer["turn_id"]
    assert item["ref"]["memory_item_id"] == answer["memory_written"]["items"][0]["id"]
    assert item["source_uri"] == f"smartbrain://memory/{item['ref']['memory_item_id']}"
    assert item["provenance"]["request_id"]


def test_at_least_one_evidence_speaks_of_the_name_that_is_asked_about(cast):
    """002 chapter 10: coverage."""
    commit(
        cast.agent,
        decisions=[decision(f"release zebra step {number} plan", f"decision:z:d{number}") for number in range(30)],
    )
    commit(cast.agent, entities=[entity("octo/shop")], decisions=[decision("octo/shop release", "decision:z:shop")])
    policy(cast, composition={"evidence_max_items": 5})
    package = compose(cast.agent, "What is the release plan of octo/shop?")
    assert any("octo/shop" in item["covers"] for item in package["evidence"])


def test_standing_memory_comes_first_and_once(cast):
    commit(
        cast.agent,
        scopes=P,
        profile=[{"key": "profile:user", "facts": [{"k": "name", "v": "Ann"}]}],
        preferences=[pref("concise", priority=0.2), pref("dark", "pref:ui:theme", priority=0.9)],
        goals=[
            {"key": "goal:shop:fast", "description": "Answer within a second", "status": "active"},
            {"key": "goal:shop:done", "description": "Ship", "status": "done"},
        ],
    )
    package = compose(cast.agent, "Which writing tone, concise?", "s2", **IN_P)
    assert [(block["type"], block["text"]) for block in package["system_blocks"]] == [
        ("core_profile", "user — name: Ann"),
        ("preferences", "ui theme: dark"),
        ("preferences", "writing tone: concise"),
        ("goals", "Answer within a second — active"),
    ]
    assert shown(package) == []
    source = package["system_blocks"][0]["source"]
    assert source["memory_item_id"] == str(MemoryItem.objects.get(type="profile").pk)


def test_the_same_question_gives_the_same_answer(cast):
    """Case 28: a stable package but for ids and times."""
    commit(cast.agent, decisions=[decision(f"zebra choice {number}", f"decision:z:d{number}") for number in range(9)])
    first, second = (compose(cast.agent, "zebra choice") for _ in range(2))
    assert shown(first) == shown(second)
    assert [item["score"] for item in first["evidence"]] == [item["score"] for item in second["evidence"]]
    assert first["debug"]["dropped"] == second["debug"]["dropped"]


def test_composing_writes_nothing_but_its_record(cast):
    commit(cast.agent, decisions=[decision("zebra choice")])
    before = list(MemoryItem.objects.values()), Turn.objects.count()
    package = compose(cast.reader, "zebra choice")
    assert before == (list(MemoryItem.objects.values()), Turn.objects.count())
    assert ContextRecord.objects.get().pk.hex == package["context_id"].replace("-", "")


@pytest.mark.parametrize(
    "bad",
    [
        {"user_message": ""},
        {"user_message": None},
        {"user_message": "x", "agent_state": []},
        {"user_message": "x", "developer_blocks": [{"type": "policies", "text": "x"}]},
        {"user_message": "x", "developer_blocks": [{"type": "other", "text": ""}]},
        {"user_message": "x", "developer_blocks": [{"type": "other", "text": "x"}] * 21},
        {"user_message": "x", "utc_offset_minutes": 841},
        {"user_message": "x", "utc_offset_minutes": 60.5},
        {"user_message": "x", "render": "yes"},
        {"user_message": "x", "token_limit": 5},
        {"user_message": "x", "scope_context": {"read": []}},
        {"user_message": "x\x00"},
    ],
)
def test_bad_input_is_refused(cast, bad):
    with pytest.raises(InvalidInputError):
        cast.agent.do("compose_context", {"domain_id": TEAM, "session_id": "s1", **bad})
    assert not ContextRecord.objects.exists()


def test_a_message_over_the_limit_is_too_large(cast):
    with pytest.raises(TooLargeError):
        compose(cast.agent, "x" * 200_001)


@pytest.mark.parametrize(
    "message", [" ", "\n", "🦓", "的", "?", "‮", "a" * 100_000, "zebra " * 3000, '{"a": 1}', "%s %d {x}"]
)
def test_an_odd_message_is_answered(cast, message):
    commit(cast.agent, decisions=[decision("zebra choice")])
    assert compose(cast.agent, message)["user_message"]["content"] == message


def test_the_state_of_the_agent_comes_back_as_it_was(cast):
    state = {"step": 3, "notes": ["é", None, {"a": [1.5, True]}]}
    assert compose(cast.agent, "hi", agent_state=state)["debug"]["agent_state"] == state


def test_nobody_composes_from_what_they_may_not_read(cast):
    narrow = make_agent("narrow", pattern="project:q")
    with pytest.raises(NotFoundError):
        compose(narrow, "zebra", "mine", **IN_P)
    with pytest.raises((NotFoundError, ForbiddenError)):
        compose(cast.stranger, "zebra")
    assert not ContextRecord.objects.exists()


def test_the_package_is_plain_json(cast):
    commit(cast.agent, decisions=[decision("zebra choice")])
    package = compose(cast.agent, "zebra choice")
    assert json.loads(json.dumps(package)) == package
