"""Relations between names: stored by the same scope rules, each once for one time (specification 5.13 as far as commits go)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel import clock
from kernel.errors import InvalidInputError
from memory.models import KgEdge
from tests.conftest import TEAM
from tests.memory.talk import commit, compose, context, entity, lines, ref, search, shown

P, Q = "project:p", "project:q"
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def edge(subject: str = "checkout", predicate: str = "depends_on", obj: str = "ledger", **fields: object) -> dict:
    return {"subject": subject, "predicate": predicate, "object": obj, **fields}


def related(player, question: str = "What about checkout?", session: str = "s1") -> list[str]:
    return [text for text in shown(compose(player, question, session)) if "depends_on" in text]


def test_it_works(cast):
    answer = commit(cast.agent, edges=[edge(confidence=0.9)])
    assert lines(answer) == [("edge", "edge_added")]
    row = KgEdge.objects.select_related("scope", "source_session").get()
    assert (row.subject, row.predicate, row.object, row.confidence) == ("checkout", "depends_on", "ledger", 0.9)
    assert (row.scope.name, row.source_session and row.source_session.external_id, str(row.source_turn_id)) == (
        "session:s1",
        "s1",
        answer["turn_id"],
    )
    assert row.valid_from is not None
    assert related(cast.agent) == ["checkout depends_on ledger"]
    assert related(cast.agent, "和 ledger 有什么关系？") == ["checkout depends_on ledger"]


def test_the_same_relation_is_stored_once_whatever_its_spelling(cast):
    commit(cast.agent, edges=[edge()])
    answer = commit(cast.agent, edges=[edge("Checkout", "DEPENDS_ON", "ｌｅｄｇｅｒ"), edge()])
    assert lines(answer) == [("deduplicate", "same_edge")] * 2
    assert KgEdge.objects.count() == 1


def test_the_other_way_round_is_another_relation(cast):
    commit(cast.agent, edges=[edge(), edge("ledger", "depends_on", "checkout"), edge(predicate="calls")])
    assert KgEdge.objects.count() == 3


def test_a_relation_that_ended_and_is_told_again_is_a_new_row(cast):
    """Case 130."""
    with clock.use(lambda: NOW):
        commit(cast.agent, edges=[edge(valid_to="2026-12-02T00:00:00Z")])
        assert related(cast.agent) == ["checkout depends_on ledger"]
    with clock.use(lambda: NOW + timedelta(days=3)):
        assert related(cast.agent) == []
        assert lines(commit(cast.agent, edges=[edge()])) == [("edge", "edge_added")]
        assert related(cast.agent) == ["checkout depends_on ledger"]
    rows = list(KgEdge.objects.order_by("id"))
    assert [row.current_until is None for row in rows] == [False, True]


def test_a_relation_that_is_told_to_end_ends_and_keeps_its_beginning(cast):
    with clock.use(lambda: NOW):
        commit(cast.agent, edges=[edge()])
    later = NOW + timedelta(days=1)
    with clock.use(lambda: later):
        assert lines(commit(cast.agent, edges=[edge(valid_to=later.isoformat())])) == [("edge", "edge_added")]
        assert related(cast.agent) == []
    row = KgEdge.objects.get(current_until=None)
    assert (row.valid_from, row.valid_to) == (NOW, later)


def test_a_relation_of_the_past_is_history_and_stored_once(cast):
    past = edge(valid_from="2020-01-01T00:00:00Z", valid_to="2021-01-01T00:00:00Z")
    assert lines(commit(cast.agent, edges=[past])) == [("edge", "edge_added")]
    assert lines(commit(cast.agent, edges=[past])) == [("deduplicate", "same_edge")]
    assert related(cast.agent) == []


def test_a_relation_of_the_future_is_not_shown_yet(cast):
    with clock.use(lambda: NOW):
        commit(cast.agent, edges=[edge(valid_from="2026-12-24T00:00:00Z")])
        assert related(cast.agent) == []
    with clock.use(lambda: NOW + timedelta(days=40)):
        assert related(cast.agent) == ["checkout depends_on ledger"]


def test_relations_follow_default_write_unless_they_name_a_scope(cast):
    scopes = context("session:s1", P, write=("session:s1", P))
    commit(cast.agent, scopes=scopes, edges=[edge(), edge("a", "depends_on", "b", scope_ref=ref(P))])
    assert [row.scope.name for row in KgEdge.objects.select_related("scope").order_by("id")] == ["session:s1", P]


def test_a_relation_is_seen_in_its_own_scope_only(cast):
    """Field report D6: relations never cross scopes or domains."""
    commit(cast.agent, scopes=context(P), edges=[edge()])
    commit(cast.agent, scopes=context(Q), entities=[entity("ledger", "other", aliases=["das Buch"], remember=True)])
    commit(cast.stranger, domain_id="elsewhere", edges=[edge("checkout", "depends_on", "secret")])
    ask = {"scope_context": context(Q, default=None)}
    assert not any("depends_on" in text for text in shown(compose(cast.agent, "What about checkout?", "s9", **ask)))
    found = search(cast.agent, "das Buch", mode="relational", scope_context=context(Q, default=None))
    assert not any("checkout" in row["text"] for row in found)
    both = {"scope_context": context(P, Q, default=None)}
    assert "checkout depends_on ledger" in shown(compose(cast.agent, "What about checkout?", "s9", **both))
    assert "secret" not in str(compose(cast.agent, "What about checkout?", "s9", **both))


def test_a_relational_search_takes_one_step(cast):
    commit(cast.agent, edges=[edge("checkout", "depends_on", "ledger"), edge("ledger", "owned_by", "Ann")])
    commit(
        cast.agent,
        messages=[
            {"role": "user", "content": "The ledger was down on Monday."},
            {"role": "user", "content": "Ann was on holiday on Monday."},
        ],
        extract=False,
    )
    texts = [row["text"] for row in search(cast.agent, "checkout", mode="relational")]
    assert "The ledger was down on Monday." in texts
    assert "Ann was on holiday on Monday." not in texts


@pytest.mark.parametrize(
    "fields",
    [
        {"subject": " "},
        {"object": ""},
        {"predicate": "\t"},
        {"subject": "x" * 301},
        {"predicate": "x" * 101},
        {"confidence": 1.01},
        {"confidence": -1},
        {"confidence": "high"},
        {"valid_from": "2026-01-02T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"},
        {"valid_from": "2026-01-02T00:00:00"},
        {"valid_from": "2026-01-02"},
        {"weight": 1},
    ],
)
def test_a_bad_field_is_refused_and_nothing_is_stored(cast, fields):
    with pytest.raises(InvalidInputError, match=r"turn_events\.edges\.0"):
        commit(cast.agent, say="hello", edges=[edge() | fields])
    assert not KgEdge.objects.exists()
    assert cast.agent.do("list_sessions", domain_id=TEAM)["sessions"] == []
