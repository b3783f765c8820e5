"""One memory by its id: its versions, its history, and where it comes from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from kernel import clock
from kernel.actions import all_actions
from kernel.contracts import PageInput
from kernel.errors import InvalidInputError, NotFoundError
from memory.models import MemoryItem, Message
from tests.conftest import TEAM, make_agent
from tests.memory.factories import made, scope_row
from tests.memory.talk import commit, context, decision, gone, only, pref, task

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def at(hours: int):
    return clock.use(lambda: NOW + timedelta(hours=hours))


def get(player, item_id: object) -> dict:
    found: dict = player.do("get_memory_item", id=str(item_id))
    return found


def test_it_works(cast):
    ids = []
    for number in range(3):
        with at(number):
            ids.append(only(commit(cast.agent, decisions=[decision(f"choice {number}")]))["id"])
    found = get(cast.agent, ids[1])
    assert (found["item"]["statement"], found["item"]["version"], found["item"]["current"]) == ("choice 1", 2, False)
    assert found["successor_id"] == ids[2]
    assert [row["id"] for row in found["versions"]] == [ids[2], ids[0]]
    assert [row["current"] for row in found["versions"]] == [True, False]
    steps = [(step["item_id"], step["kind"], step["actor"]) for step in found["history"]]
    assert sorted(steps) == sorted(
        [
            (ids[0], "created", "agent"),
            (ids[1], "created", "agent"),
            (ids[0], "superseded", "agent"),
            (ids[2], "created", "agent"),
            (ids[1], "superseded", "agent"),
        ]
    )
    assert [step["at"] for step in found["history"]] == sorted(step["at"] for step in found["history"])
    assert found["item"]["recorded_at"] == "2026-12-01T10:00:00Z"
    assert found["item"]["current_until"] == "2026-12-01T11:00:00Z"


def test_it_comes_from_a_turn_of_a_session(cast):
    answer = commit(cast.agent, decisions=[decision()])
    found = get(cast.agent, only(answer)["id"])
    assert found["provenance"] == {
        "origin": "structured",
        "session_id": "s1",
        "turn_id": answer["turn_id"],
        "message_id": None,
        "source_item_id": None,
        "promotion_event_id": None,
        "evidence": [{"kind": "turn", "id": answer["turn_id"], "role": "supporting"}],
    }
    assert (found["item"]["source_session_id"], found["item"]["author"]) == ("s1", "agent")
    assert found["item"]["scope"] == {"type": "session", "id": "s1"}


@pytest.mark.parametrize("own", ["m-1", None])
def test_it_names_its_message_by_the_callers_id_where_there_is_one(cast, own):
    message = {"role": "user", "content": "请记住：默认数据库是 Postgres", **({"id": own} if own else {})}
    answer = commit(cast.agent, messages=[{"role": "user", "content": "hi"}, message])
    provenance = get(cast.agent, only(answer)["id"])["provenance"]
    stored = Message.objects.get(position=1)
    assert provenance["message_id"] == (own or str(stored.id))
    assert provenance["origin"].startswith("text:")
    assert provenance["evidence"] == [{"kind": "message", "id": str(stored.id), "role": "supporting"}]


def test_it_names_the_evidence_that_was_given(cast):
    earlier = only(commit(cast.agent, tasks=[task()]))["id"]
    refs = [
        {"kind": "url", "id": "https://example.com/a"},
        earlier,
        {"kind": "url", "id": "https://example.com/a"},
        {"kind": "memory", "id": earlier.upper()},
    ]
    answer = commit(cast.agent, decisions=[decision(evidence_refs=refs)])
    evidence = get(cast.agent, only(answer)["id"])["provenance"]["evidence"]
    assert {(link["kind"], link["id"]) for link in evidence} == {
        ("turn", answer["turn_id"]),
        ("url", "https://example.com/a"),
        ("memory", earlier),
    }
    assert len(evidence) == 3


def test_what_was_superseded_or_retracted_is_there_by_id_and_says_so(cast):
    """Field report B1: by id and by query behave alike."""
    old = only(commit(cast.agent, preferences=[pref("a")]))["id"]
    new = only(commit(cast.agent, preferences=[pref("b")]))["id"]
    commit(cast.agent, retractions=[gone("preferences", "pref:writing:tone", "no longer")])
    first, second = get(cast.agent, old), get(cast.agent, new)
    assert (first["item"]["status"], first["item"]["current"], first["successor_id"]) == ("superseded", False, new)
    assert (second["item"]["status"], second["item"]["current"], second["successor_id"]) == ("retracted", False, None)
    assert second["history"][-1]["reason"] == "no longer"
    assert second["history"][-1]["to_status"] == "retracted/promoted"


def test_an_item_replaced_by_another_key_names_its_successor(cast):
    old = only(commit(cast.agent, tasks=[task()]))["id"]
    new = only(commit(cast.agent, decisions=[decision(supersedes=old)]))["id"]
    found = get(cast.agent, old)
    assert (found["successor_id"], found["versions"]) == (new, [])
    assert found["history"][-1]["reason"] == f"replaced by {new}"


@pytest.mark.parametrize("state", ["candidate", "demoted", "principle", "method"])
def test_every_state_is_shown_for_what_it_is(cast, state):
    row = made(scope_row("project:p"), **{state: True})
    found = get(cast.agent, row.pk)
    assert found["item"]["lifecycle_status"] == row.lifecycle_status
    assert (found["item"]["tier"], found["item"]["pinned"]) == (row.tier, row.pinned)
    assert found["provenance"]["session_id"] is None


def test_an_item_without_a_key_has_no_versions(cast):
    made(scope_row("project:p"), key=None)
    row = made(scope_row("project:p"), key=None)
    found = get(cast.agent, row.pk)
    assert (found["item"]["key"], found["versions"]) == (None, [])


def test_many_versions_are_cut_at_fifty_newest_first(cast):
    for number in range(60):
        with at(number):
            answer = commit(cast.agent, preferences=[pref(f"value {number}")])
    found = get(cast.agent, only(answer)["id"])
    assert [row["version"] for row in found["versions"]] == list(range(59, 9, -1))
    assert len(found["history"]) <= 200


def test_a_stranger_and_a_narrow_key_are_told_nothing(cast):
    """Field report D4: 404, the same as for an id that does not exist."""
    hidden = only(commit(cast.agent, scopes=context("project:p"), decisions=[decision()]))["id"]
    own = only(commit(cast.agent, decisions=[decision()]))["id"]
    narrow = make_agent("narrow", pattern="project:q")
    for player in (cast.stranger, narrow):
        for item_id in (hidden, own, str(uuid4())):
            with pytest.raises(NotFoundError) as caught:
                get(player, item_id)
            assert caught.value.message == f"No memory item {item_id!r} that you can see."


def test_an_id_of_another_domain_is_refused_and_counted(cast):
    """Case 54: domain and scope come from the record."""
    foreign = only(commit(cast.stranger, domain_id="elsewhere", decisions=[decision()]))["id"]
    before = cast.agent.do("diagnostics", domain_id=TEAM)["counters"]["validation_failures"]
    with pytest.raises(NotFoundError):
        get(cast.agent, foreign)
    assert cast.agent.do("diagnostics", domain_id=TEAM)["counters"]["validation_failures"] == before + 1


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ([{"type": "session", "id": "s1"}], True),
        ([{"type": "project", "id": "p"}, {"type": "session", "id": "s1", "domain_id": TEAM}], True),
        ([{"type": "project", "id": "p"}], False),
        ([{"type": "session", "id": "s1", "domain_id": "elsewhere"}], False),
    ],
)
def test_a_given_context_only_narrows(cast, read, found):
    """Decision 5 and case 54, for reading and for every act on a memory by its id."""
    known = only(commit(cast.agent, decisions=[decision()]))["id"]
    context = {"scope_context": {"read": read}}
    calls = [("get_memory_item", {"id": known}), ("lineage", {"memory_item_id": known})]
    calls.append(("correct_item", {"memory_item_id": known, "text": "Use Oracle", "reason": "moved"}))
    for name, given in calls:
        if found:
            assert cast.agent.do(name, **given, **context)
        else:
            with pytest.raises(NotFoundError, match="No memory item"):
                cast.agent.do(name, **given, **context)
    assert MemoryItem.objects.filter(statement="Use Oracle").exists() is found


def test_every_action_on_a_memory_by_its_id_takes_a_context():
    inputs = [each.input for each in all_actions()]
    named = [each for each in inputs if "memory_item_id" in each.model_fields and not issubclass(each, PageInput)]
    assert len(named) >= 8
    assert all("scope_context" in each.model_fields for each in named)


def test_a_session_of_another_principal_in_the_legacy_domain_is_private(cast):
    """Decision 2 and field report D5: write as one, read as another."""
    one, two = make_agent("one", "legacy"), make_agent("two", "legacy")
    mine = only(commit(one, "s", domain_id="legacy", decisions=[decision("mine")]))["id"]
    assert get(one, mine)["item"]["statement"] == "mine"
    with pytest.raises(NotFoundError):
        get(two, mine)
    assert get(cast.operator, mine)["item"]["statement"] == "mine"


@pytest.mark.parametrize("bad", ["", "7", "not-a-uuid", None, 7, ["x"], "0" * 1000])
def test_a_malformed_id_is_refused(cast, bad):
    with pytest.raises(InvalidInputError):
        cast.agent.do("get_memory_item", id=bad)


def test_looking_changes_nothing(cast):
    found = only(commit(cast.agent, decisions=[decision()]))["id"]
    before = list(MemoryItem.objects.values())
    get(cast.reader, found)
    assert list(MemoryItem.objects.values()) == before
