"""Whose memory counts in a context: scopes, winners of a key, caps, and what is never shown (specification 7.3)."""

from __future__ import annotations

import itertools

import pytest

from kernel.errors import NotFoundError
from tests.conftest import TEAM, make_agent
from tests.memory.factories import made, scope_row
from tests.memory.talk import commit, compose, context, decision, pref, ref, shown, task

SCOPES = ("task:t", "project:p", "expert:e", "global:g", "session:s")
KEY = "decision:shop:database"


def reading(*names: str) -> dict:
    return {"scope_context": context(*names, default=None)}


def tell(cast, *names: str) -> None:
    """Every scope its own word on one key."""
    scopes = context(*names, write=names)
    commit(
        cast.agent,
        "s",
        scopes=scopes,
        decisions=[decision(f"zebra says {name}", scope_ref=ref(name)) for name in names],
    )


def shadows(package: dict) -> list[tuple[str, str, str]]:
    return [(entry["loser_scope"], entry["winner_scope"], entry["rule"]) for entry in package["debug"]["shadowed"]]


def test_it_works(cast):
    """Case 48: the task wins; the others are named with the reason."""
    tell(cast, *SCOPES)
    package = compose(cast.agent, "What says zebra?", "x", **reading(*SCOPES))
    assert shown(package) == ["zebra says task:t"]
    assert shadows(package) == [(name, "task:t", "scope_priority") for name in SCOPES[1:]]
    assert "task counts before project" in package["debug"]["shadowed"][0]["reason"]


@pytest.mark.parametrize("number", range(1, 5))
def test_without_the_narrower_scope_the_next_one_wins(cast, number):
    """Case 48, for each scope in turn and whatever order they are read in."""
    names = SCOPES[number:]
    tell(cast, *SCOPES)
    for order in (names, names[::-1]):
        package = compose(cast.agent, "What says zebra?", "x", **reading(*order))
        assert shown(package) == [f"zebra says {names[0]}"]
        assert {loser for loser, _, _ in shadows(package)} == set(names[1:])


def test_the_winner_counts_though_only_the_loser_matches_the_question(cast):
    """Decision 12: chosen among all current rows of the key, matched or not; caps come after."""
    scopes = context("project:p", "global:g", write=("project:p", "global:g"))
    commit(
        cast.agent,
        "s",
        scopes=scopes,
        decisions=[decision("Postgres it is"), decision("The zebra said MySQL", scope_ref=ref("global:g"))],
    )
    package = compose(cast.agent, "What said the zebra?", "x", **reading("global:g", "project:p"))
    assert shown(package) == ["Postgres it is"]
    assert shadows(package) == [("global:g", "project:p", "scope_priority")]


def test_standing_memory_follows_the_same_rule(cast):
    scopes = context("project:p", "global:g", write=("project:p", "global:g"))
    commit(cast.agent, "s", scopes=scopes, preferences=[pref("tabs"), pref("spaces", scope_ref=ref("global:g"))])
    package = compose(cast.agent, "hello", "x", **reading("global:g", "project:p"))
    assert [block["text"] for block in package["system_blocks"]] == ["writing tone: tabs"]
    assert shadows(package) == [("global:g", "project:p", "scope_priority")]


def test_the_winner_among_very_many_standing_memories_is_still_the_winner(cast):
    """Decision 12: caps come after. The row that counts is the oldest of more than any cap."""
    commit(cast.agent, "s", scopes=context("task:t"), preferences=[pref("the task's word", "pref:writing:voice")])
    many = [pref(f"value {number}", f"pref:other:n{number}") for number in range(230)]
    scopes = context("project:p")
    commit(cast.agent, "s", scopes=scopes, preferences=[*many, pref("the project's word", "pref:writing:voice")])
    package = compose(cast.agent, "hello", "x", **reading("project:p", "task:t"))
    assert "the project's word" not in str(package["system_blocks"])
    assert ("project:p", "task:t", "scope_priority") in shadows(package)


def test_of_two_scopes_of_one_rank_the_newer_row_counts(cast):
    """Decision 12: same_rank."""
    tell(cast, "project:a")
    tell(cast, "project:b")
    for names in itertools.permutations(["project:a", "project:b"]):
        package = compose(cast.agent, "What says zebra?", "x", **reading(*names))
        assert shown(package) == ["zebra says project:b"]
        assert shadows(package) == [("project:a", "project:b", "same_rank")]


def test_the_priority_is_policy(cast):
    document = {"scopes": {"conflict_priority": ["global", "session", "expert", "project", "task"]}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tests")
    tell(cast, *SCOPES)
    assert shown(compose(cast.agent, "What says zebra?", "x", **reading(*SCOPES))) == ["zebra says global:g"]


def test_a_key_of_another_type_is_another_key(cast):
    commit(cast.agent, "s", scopes=context("project:p"), decisions=[decision("zebra choice", "decision:shop:x")])
    commit(cast.agent, "s", scopes=context("task:t"), tasks=[task("zebra task", "task:shop:x")])
    package = compose(cast.agent, "zebra", "x", **reading("project:p", "task:t"))
    assert len(shown(package)) == 2
    assert shadows(package) == []


def test_a_pinned_principle_stands_over_the_memory_of_a_task(cast):
    """Case 49."""
    law = made(scope_row("global:g"), principle=True, type="decisions", key=KEY, text="zebra law holds")
    tell(cast, "task:t", "project:p")
    package = compose(cast.agent, "What says zebra?", "x", **reading("task:t", "project:p", "global:g"))
    (item,) = package["evidence"]
    assert (item["snippet"], item["group"]) == ("zebra law holds", "dao_tian")
    assert item["ref"]["memory_item_id"] == str(law.pk)
    assert {(loser, rule) for loser, _, rule in shadows(package)} == {
        ("task:t", "pinned_principle"),
        ("project:p", "pinned_principle"),
    }


def test_tiered_knowledge_comes_first_in_the_order_of_its_tiers(cast):
    """Decision 12: tier decides, then rank."""
    made(scope_row("project:p"), method=True, text="The zebra method.")
    made(scope_row("project:p"), principle=True, text="The law of zebras.")
    commit(cast.agent, "s", scopes=context("project:p"), decisions=[decision("zebra zebra zebra choice")])
    package = compose(cast.agent, "zebra zebra choice", "x", **reading("project:p"))
    assert [item["group"] for item in package["evidence"]] == ["dao_tian", "shu", None]


def test_what_has_no_key_is_never_shadowed(cast):
    """Case 50."""
    for name in SCOPES[:4]:
        made(scope_row(name), key=None, text=f"The zebra of {name}.")
    package = compose(cast.agent, "zebra", "x", **reading(*SCOPES[:4]))
    assert sorted(shown(package)) == sorted(f"The zebra of {name}." for name in SCOPES[:4])
    assert shadows(package) == []


@pytest.mark.parametrize("state", ["candidate", "demoted", "expired", "future"])
@pytest.mark.parametrize("item_type", ["facts", "preferences"])
def test_what_is_not_trusted_or_does_not_hold_is_absent(cast, state, item_type):
    """Case 51, as evidence and as standing memory."""
    key = "fact:z:z" if item_type == "facts" else "pref:other:zebra"
    made(
        scope_row("project:p"),
        **{state: True},
        type=item_type,
        key=key,
        value={"statement": "zebra words", "value": 1},
    )
    package = compose(cast.agent, "zebra words", "x", **reading("project:p"))
    assert (shown(package), package["system_blocks"]) == ([], [])


def test_what_is_not_trusted_shadows_nothing(cast):
    """A candidate of the task does not silence the project."""
    made(scope_row("task:t"), candidate=True, type="decisions", key=KEY, text="zebra rumour")
    made(scope_row("task:t"), expired=True, type="decisions", key="decision:shop:other", text="zebra past")
    tell(cast, "project:p")
    commit(cast.agent, "s", scopes=context("project:p"), decisions=[decision("zebra other", "decision:shop:other")])
    package = compose(cast.agent, "zebra says other", "x", **reading("task:t", "project:p"))
    assert sorted(shown(package)) == ["zebra other", "zebra says project:p"]
    assert shadows(package) == []


def test_one_scope_brings_no_more_than_its_cap(cast):
    """Case 52: 50 hits in global, at most 10 of them."""
    scope = scope_row("global:g")
    for number in range(50):
        made(scope, text=f"The zebra number {number} ran far.", key=f"fact:z:n{number}")
    commit(cast.agent, "s", scopes=context("project:p"), decisions=[decision("zebra choice")])
    package = compose(cast.agent, "zebra", "x", **reading("global:g", "project:p"))
    assert package["debug"]["scope_budget"]["used"] == {"global:g": 10, "project:p": 1}
    assert package["debug"]["scope_budget"]["max_items_per_scope"] == 10
    stats = {f"{stat['scope']['type']}:{stat['scope']['id']}": stat for stat in package["debug"]["scope_stats"]}
    assert (stats["global:g"]["selected"], stats["project:p"]["selected"]) == (10, 1)
    assert stats["global:g"]["capped"] > 0
    capped = [entry for entry in package["debug"]["dropped"] if entry["reason"] == "scope_cap"]
    assert len(capped) == stats["global:g"]["capped"]


def test_a_scope_with_very_many_matches_shuts_out_no_scope_with_one(cast):
    """Case 123 for our scopes: in searching and in composing."""
    scope = scope_row("global:g")
    for number in range(200):
        made(scope, text=f"zebra {number}", key=f"fact:z:n{number}")
    words = "The committee chose after long debate that the zebra enclosure moves to the south of the park next spring"
    commit(cast.agent, "s", scopes=context("project:p"), decisions=[decision(words)])
    read = reading("global:g", "project:p")
    assert words in shown(compose(cast.agent, "zebra", "x", **read))
    found: list[str] = []
    cursor = None
    while cursor is not None or not found:
        answer = cast.agent.do("search_memory", domain_id=TEAM, query="zebra", limit=100, cursor=cursor, **read)
        found += [row["text"] for row in answer["results"]]
        cursor = answer["next_cursor"]
    assert words in found


def test_two_sessions_of_a_project_share_it_and_two_tasks_do_not(cast):
    """Case 47, and decision 4 for siblings."""
    commit(cast.agent, "s1", scopes=context("project:p"), decisions=[decision("zebra for all")])
    one = context("task:one", "project:p")
    commit(
        cast.agent, "s1", scopes=one, say="zebra of task one", decisions=[decision("zebra of one", "decision:z:one")]
    )
    for session in ("s2", "s3"):
        assert shown(compose(cast.agent, "zebra for all", session, **reading("project:p"))) == ["zebra for all"]
    package = compose(cast.agent, "zebra of task one", "s2", **reading("task:two", "project:p"))
    assert shown(package) == ["zebra for all"]
    assert package["recent_turns"] == []
    assert "zebra of one" not in str(package)


def test_scopes_read_are_named_in_their_order(cast):
    package = compose(cast.agent, "zebra", "x", **reading("task:t", "global:g", "project:p"))
    assert package["debug"]["scopes_read"] == [ref(name) for name in ("task:t", "global:g", "project:p")]


def test_two_domains_with_the_same_scopes_and_keys_leak_nothing(cast):
    """Case 53: memory, standing memory, relations, recent turns, summary."""
    for player, domain_id, word in ((cast.agent, TEAM, "ours"), (cast.stranger, "elsewhere", "theirs")):
        commit(
            player,
            "s",
            domain_id=domain_id,
            scopes=context("project:p"),
            say=f"zebra message {word}",
            decisions=[decision(f"zebra choice {word}")],
            preferences=[pref(word)],
            edges=[{"subject": "zebra", "predicate": "is", "object": word}],
        )
    package = compose(cast.agent, "zebra", "s", **reading("project:p"))
    assert "ours" in str(package)
    assert "theirs" not in str(package)


def test_old_callers_get_the_legacy_session_scope(cast):
    """Case 55: two old sessions stay apart, and the answer equals that with everything said."""
    old = make_agent("old", "legacy")
    for session in ("a", "b"):
        commit(
            old, session, domain_id="legacy", say=f"zebra talk {session}", decisions=[decision(f"zebra of {session}")]
        )
    implicit = old.do("compose_context", session_id="a", user_message="zebra")
    explicit = old.do(
        "compose_context",
        domain_id="legacy",
        session_id="a",
        scope_context=context("session:a"),
        user_message="zebra",
    )
    assert "zebra of a" in str(implicit)
    assert "zebra of b" not in str(implicit)
    for package in (implicit, explicit):
        for name in ("context_id", "created_at"):
            package.pop(name)
        for item in package["evidence"]:
            item["provenance"] = {}
        package["debug"]["trace"] = package["debug"]["planner"]["request_id"] = {}
    assert implicit == explicit


def test_the_legacy_session_of_another_principal_is_not_seen(cast):
    """Decision 2."""
    one, two = make_agent("one", "legacy"), make_agent("two", "legacy")
    commit(one, "s", domain_id="legacy", say="zebra secret", decisions=[decision("zebra secret choice")])
    assert "secret" not in str(two.do("compose_context", session_id="s", user_message="zebra")["evidence"])
    assert two.do("compose_context", session_id="s", user_message="zebra")["recent_turns"] == []


def test_recent_turns_and_summary_are_those_of_a_session_that_may_be_read(cast):
    """Decision 4: reading a scope is not reading the conversation in it."""
    narrow = make_agent("narrow", pattern="project:p")
    commit(cast.agent, "s1", scopes=context("project:p"), say="zebra talk", decisions=[decision("zebra choice")])
    package = compose(narrow, "zebra", "s1", **reading("project:p"))
    assert "zebra choice" in shown(package)
    assert (package["recent_turns"], package["working_summary"]) == ([], "")


def test_a_scope_outside_the_grants_is_not_found(cast):
    narrow = make_agent("narrow", pattern="project:p")
    with pytest.raises(NotFoundError):
        compose(narrow, "zebra", "x", **reading("project:p", "global:g"))


def test_a_question_asked_again_and_again_does_not_shut_out_the_memory_that_answers_it(cast):
    """Field report A3: what was learned once stands beside what was said often."""
    everyone = context("project:shop")
    commit(cast.agent, "learned", scopes=everyone, decisions=[decision("The staging proxy listens on port 7443")])
    for number, word in enumerate(
        ("tell me", "I forgot", "quick", "sorry", "still", "pray", "hm", "please", "well", "so")
    ):
        said = f"{word}: which port does the staging proxy listen on?"
        commit(cast.agent, f"asked-{number}", say=said, extract=False, scopes=everyone)
    package = compose(cast.agent, "Which port does the staging proxy listen on?", "new", scope_context=everyone)
    assert "The staging proxy listens on port 7443" in shown(package)
    assert len(package["evidence"]) <= 10
