"""The rules of scopes: what a call may name, what it gets by default, and where a message can be found."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from memory.models import Message, Session, SessionScopeLink, Turn
from scopes.models import MemoryScope
from tests.conftest import TEAM, Player, a_turn, make_agent

P1 = {"type": "project", "id": "p1"}
T1 = {"type": "task", "id": "t1"}
T2 = {"type": "task", "id": "t2"}
GLOBAL = {"type": "global", "id": "default"}


def context(*read: object, **fields: object) -> dict:
    return {"scope_context": {"read": list(read), **fields}}


def nothing_stored() -> bool:
    return not (Turn.objects.exists() or Session.objects.exists() or MemoryScope.objects.exists())


def found(player: Player, query: str, **fields: object) -> list[str]:
    return [row["text"] for row in player.do("search_memory", {"domain_id": TEAM, **fields}, query=query)["results"]]


def test_it_works(cast):
    answer = cast.agent.do(
        "commit_turn", a_turn("Ship on Friday", **context(P1, T1, write=[P1, T1], default_write=T1))
    )
    assert answer["default_write"] == T1
    assert found(cast.agent, "Friday", **context(T1)) == ["Ship on Friday"]
    links = SessionScopeLink.objects.order_by("priority").values_list("scope__external_id", "access_mode", "priority")
    assert list(links) == [("p1", "read_write", 0), ("t1", "read_write", 1)]


@pytest.mark.parametrize(
    "given",
    [
        context({"type": "galaxy", "id": "g"}),  # unknown type
        context(P1, default_write={"type": "galaxy", "id": "g"}),
        context(P1, P1),  # twice
        context(P1, write=[P1, P1]),
        context(P1, write=[T1]),  # write beyond read
        context(P1, T1, write=[P1], default_write=T1),  # default_write beyond write
        context(P1, default_write=T1),  # default_write beyond read, write left out
        context({**P1, "domain_id": "elsewhere"}),  # another domain
        context(P1, {**T1, "domain_id": "elsewhere"}, default_write=P1),
        context({**P1, "domain_id": ""}),
        context({"type": "Project", "id": "p"}),
        context({"type": "project", "id": ""}),
        context({"type": "project", "id": " p"}),
        context({"type": "project", "id": "p\u200b"}),
        context({"type": "project", "id": "p\u202e"}),
        context({"type": "project", "id": "p\x00"}),
        context({"type": "project", "id": 7}),
        context({"type": "project"}),
        context({"id": "p"}),
        context("project:p1"),
        context({**P1, "colour": "red"}),
        context(),
        {"scope_context": {}},
        {"scope_context": []},
        {"scope_context": {"read": [P1], "extra": 1}},
        context(*({"type": "task", "id": f"t{n}"} for n in range(101))),
        {"session_id": ""},
        {"session_id": " s"},
        {"session_id": "s\u200b1"},
        {"session_id": "x" * 201},
        {"session_id": None},
        {"domain_id": ""},
        {"domain_id": "a b"},
        {"domain_id": "../team"},
        {"domain_id": "*"},
        {"domain_id": "x" * 65},
        {"domain_id": None},
    ],
)
def test_case_43_a_wrong_scope_is_refused_before_any_write(cast, given):
    with pytest.raises(InvalidInputError):
        cast.agent.call("commit_turn", a_turn(**given))
    assert nothing_stored()
    assert AuditEntry.objects.latest("id").outcome == "invalid"


def test_a_type_that_the_policy_does_not_allow_is_refused(cast):
    document = {"scopes": {"allowed_types": ["project", "session"]}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    with pytest.raises(InvalidInputError, match="project, session"):
        cast.agent.call("commit_turn", a_turn(**context(T1)))
    assert cast.agent.do("commit_turn", a_turn(**context(P1)))["ok"]


def test_the_own_domain_may_be_named(cast):
    assert cast.agent.do("commit_turn", a_turn(**context({**P1, "domain_id": TEAM})))["ok"]


def test_case_44_without_write_only_default_write_is_writable(cast):
    cast.agent.do("commit_turn", a_turn(**context(P1, T1, default_write=T1)))
    links = SessionScopeLink.objects.values_list("scope__external_id", "access_mode")
    assert dict(links) == {"t1": "read_write"}
    assert not MemoryScope.objects.filter(external_id="p1").exists(), "reading a scope does not make it"
    cast.agent.do("commit_turn", a_turn(session_id="other", **context(P1, default_write=P1)))
    cast.agent.do("commit_turn", a_turn(**context(P1, T1, default_write=T1)))
    assert dict(links.filter(session__external_id="s1")) == {"p1": "read", "t1": "read_write"}


@pytest.mark.parametrize("kind", ["messages", "tool_calls", "refs"])
def test_case_46_a_scope_ref_on_an_event_is_ignored_and_named(cast, kind):
    event = {
        "messages": {"role": "user", "content": "wombat"},
        "tool_calls": {"name": "wombat"},
        "refs": {"ref_type": "url", "ref_uri": "wombat"},
    }[kind]
    answer = cast.agent.do("commit_turn", a_turn(turn_events={kind: [{**event, "scope_ref": P1}]}))
    assert answer["ignored"] == [
        {"path": f"turn_events.{kind}.0.scope_ref", "reason": "events_belong_to_their_session"}
    ]
    assert found(cast.agent, "wombat", **context(P1)) == []
    assert len(found(cast.agent, "wombat", session_id="s1")) == 1


def test_decision_1_outside_the_grants_is_404_and_without_the_right_403(cast):
    narrow = make_agent("narrow", pattern="project:p1", rights=["read"])
    for where in (context(T1), context(P1, T1), {"session_id": "s1", **context(GLOBAL)}):
        with pytest.raises(NotFoundError):
            narrow.call("search_memory", {"domain_id": TEAM, "query": "x", **where})
    with pytest.raises(NotFoundError):
        narrow.call("commit_turn", a_turn(domain_id="elsewhere"))
    with pytest.raises(ForbiddenError):
        narrow.call("commit_turn", a_turn(**context(P1, default_write=P1)))
    assert found(narrow, "x", **context(P1)) == []
    assert nothing_stored()


def test_decision_1_a_right_must_hold_on_every_scope_that_is_written(cast):
    mixed = make_agent("mixed", pattern="task:*")
    cast.operator.do("grant_access", name="mixed", domain_id=TEAM, pattern="project:p1", rights=["read"])
    from scopes.selectors import authenticate_key

    mixed = Player("mixed", authenticate_key(mixed.key), mixed.key)
    with pytest.raises(ForbiddenError):
        mixed.call("commit_turn", a_turn(**context(P1, T1, write=[P1, T1], default_write=T1)))
    assert nothing_stored()
    assert mixed.do("commit_turn", a_turn(**context(P1, T1, write=[T1], default_write=T1)))["ok"]


def test_decision_2_no_domain_means_legacy_and_needs_a_grant_there(cast):
    tree = {key: value for key, value in a_turn().items() if key != "domain_id"}
    with pytest.raises(NotFoundError):
        cast.agent.call("commit_turn", tree)
    old = make_agent("old", "legacy")
    assert old.do("commit_turn", tree)["domain_id"] == "legacy"


def test_decision_2_no_context_reads_and_writes_the_own_session(cast):
    answer = cast.agent.do("commit_turn", a_turn("hello wombat"))
    assert answer["default_write"] == {"type": "session", "id": "s1"}
    assert found(cast.agent, "wombat", session_id="s1") == ["hello wombat"]
    assert found(cast.agent, "wombat", session_id="s2") == []


def test_decision_2_a_context_without_default_write_writes_nothing_beyond_the_session(cast):
    answer = cast.agent.do("commit_turn", a_turn("hello wombat", **context(P1)))
    assert answer["default_write"] is None
    assert found(cast.agent, "wombat", **context(P1)) == []
    assert found(cast.agent, "wombat", session_id="s1") == ["hello wombat"]


def test_decision_2_neither_context_nor_session_is_422(cast):
    with pytest.raises(InvalidInputError, match="session_id or a scope_context"):
        cast.agent.call("search_memory", domain_id=TEAM, query="x")


def test_decision_2_legacy_sessions_are_per_principal(cast):
    one, two = make_agent("one", "legacy"), make_agent("two", "legacy")
    first = one.do("commit_turn", a_turn("the first wombat", domain_id="legacy"))
    second = two.do("commit_turn", a_turn("the second wombat", domain_id="legacy"))
    assert (first["seq"], second["seq"]) == (1, 1)
    for player, text in ((one, "the first wombat"), (two, "the second wombat")):
        rows = player.do("search_memory", session_id="s1", query="wombat")["results"]
        assert [row["text"] for row in rows] == [text]
        turns = player.do("list_turns", session_id="s1")["turns"]
        assert [turn["messages"][0]["content"] for turn in turns] == [text]
        assert len(player.do("list_sessions")["sessions"]) == 1
        assert len(player.do("list_scopes")["scopes"]) == 1
    theirs = two.do("list_sessions")["sessions"][0]["id"]
    with pytest.raises(NotFoundError):
        one.call("get_session", id=theirs)
    with pytest.raises(NotFoundError):
        one.call("get_turn", turn_id=second["turn_id"])
    with pytest.raises(NotFoundError):
        make_agent("three", "legacy").call("list_turns", session_id="s1")


def test_decision_2_a_legacy_scope_of_another_kind_is_shared(cast):
    one, two = make_agent("one", "legacy"), make_agent("two", "legacy")
    one.do("commit_turn", a_turn("a shared wombat", domain_id="legacy", **context(P1, default_write=P1)))
    rows = two.do("search_memory", query="wombat", **context(P1))["results"]
    assert [row["text"] for row in rows] == ["a shared wombat"]
    assert two.do("list_sessions")["sessions"] == []


def test_decision_2_naming_another_principals_legacy_session_scope_finds_ones_own(cast):
    one, two = make_agent("one", "legacy"), make_agent("two", "legacy")
    one.do("commit_turn", a_turn("the first wombat", domain_id="legacy"))
    rows = two.do("search_memory", query="wombat", **context({"type": "session", "id": "s1"}))["results"]
    assert rows == []


def test_decision_3_a_malformed_ref_on_an_event_rejects_the_whole_commit(cast):
    events = {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "user", "content": "y", "scope_ref": {"type": "project"}},
        ]
    }
    with pytest.raises(InvalidInputError):
        cast.agent.call("commit_turn", a_turn(turn_events=events))
    assert nothing_stored()


def test_decision_4_a_message_is_found_in_its_session_and_its_default_write_only(cast):
    cast.agent.do(
        "commit_turn", a_turn("secret of wombat", **context(P1, T1, GLOBAL, write=[P1, T1], default_write=T1))
    )
    assert found(cast.agent, "wombat", session_id="s1") == ["secret of wombat"]
    assert found(cast.agent, "wombat", **context(T1)) == ["secret of wombat"]
    for elsewhere in (context(P1), context(GLOBAL), context(T2), {"session_id": "s2"}):
        assert found(cast.agent, "wombat", **elsewhere) == []


def test_decision_4_sibling_tasks_share_nothing(cast):
    for task, session in ((T1, "s1"), (T2, "s2")):
        text = f"wombat of {task['id']}"
        cast.agent.do("commit_turn", a_turn(text, session_id=session, **context(P1, task, default_write=task)))
    assert found(cast.agent, "wombat", **context(P1, T1)) == ["wombat of t1"]
    assert found(cast.agent, "wombat", **context(P1, T2)) == ["wombat of t2"]
    assert sorted(found(cast.agent, "wombat", **context(T1, T2))) == ["wombat of t1", "wombat of t2"]


def test_decision_4_a_link_grants_no_messages(cast):
    """Reading a session that once linked the project shows the project's readers nothing of it."""
    cast.agent.do("commit_turn", a_turn("private wombat", **context(P1)))
    cast.agent.do("commit_turn", a_turn("shared wombat", **context(P1, default_write=P1)))
    narrow = make_agent("narrow", pattern="project:p1")
    assert found(narrow, "wombat", **context(P1)) == ["shared wombat"]
    for action, tree in (
        ("list_turns", {"session_id": "s1"}),
        ("search_memory", {"session_id": "s1", "query": "wombat"}),
    ):
        with pytest.raises(NotFoundError):
            narrow.call(action, {"domain_id": TEAM, **tree})
    assert narrow.do("list_sessions", domain_id=TEAM)["sessions"] == []


def test_decision_4_a_later_default_write_does_not_reach_back(cast):
    cast.agent.do("commit_turn", a_turn("early wombat"))
    cast.agent.do("commit_turn", a_turn("late wombat", **context(P1, default_write=P1)))
    assert found(cast.agent, "wombat", **context(P1)) == ["late wombat"]


def test_decision_5_by_id_the_record_says_where_it_is(cast):
    turn = cast.agent.do("commit_turn", a_turn("wombat"))["turn_id"]
    session = cast.agent.do("list_sessions", domain_id=TEAM)["sessions"][0]["id"]
    assert cast.agent.do("get_turn", turn_id=turn)["session"]["domain_id"] == TEAM
    narrow = make_agent("narrow", pattern="project:p1")
    for player in (cast.stranger, narrow):
        for action, tree in (("get_turn", {"turn_id": turn}), ("get_session", {"id": session})):
            with pytest.raises(NotFoundError):
                player.call(action, tree)
    with pytest.raises(InvalidInputError):
        cast.agent.call("get_turn", turn_id=turn, domain_id="elsewhere")


def test_a_session_belongs_to_who_opened_it(cast):
    first, second = make_agent("first", pattern="project:p1"), make_agent("second", pattern="project:p1")
    first.do("commit_turn", a_turn("mine"))
    for fields in ({}, context(P1, default_write=P1)):
        with pytest.raises(NotFoundError):
            second.call("commit_turn", a_turn("theirs", **fields))
    with pytest.raises(NotFoundError):
        second.call("commit_turn", a_turn("theirs", session_id="s2", **context({"type": "session", "id": "s1"})))
    assert Message.objects.count() == 1


def test_a_read_only_key_opens_no_session(cast):
    with pytest.raises(ForbiddenError):
        cast.reader.call("commit_turn", a_turn())
    assert nothing_stored()


def test_two_domains_with_equal_names_stay_apart(cast):
    cast.agent.do("commit_turn", a_turn("our wombat", **context(P1, default_write=P1)))
    cast.stranger.do("commit_turn", a_turn("their wombat", domain_id="elsewhere", **context(P1, default_write=P1)))
    for where in (context(P1), {"session_id": "s1"}):
        assert found(cast.agent, "wombat", **where) == ["our wombat"]
        theirs = cast.stranger.do("search_memory", {"domain_id": "elsewhere", **where}, query="wombat")["results"]
        assert [row["text"] for row in theirs] == ["their wombat"]


def test_a_link_only_widens(cast):
    cast.agent.do("commit_turn", a_turn(**context(P1, default_write=P1)))
    cast.agent.do("commit_turn", a_turn(**context(P1)))
    assert SessionScopeLink.objects.get().access_mode == "read_write"
