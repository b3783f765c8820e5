"""How memory is doing in one domain: logs, figures and counts, and nothing of another domain (specification 1.7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel import clock
from kernel.errors import DomainError, InvalidInputError, NotFoundError
from memory.selectors.diagnostics import percentile_95
from scopes.selectors import identify_named
from search.models import IndexEntry
from tests.conftest import TEAM, Player, make_agent
from tests.guards.write_guard import unguarded
from tests.memory.factories import made, scope_row
from tests.memory.talk import commit, compose, context, decision, gone, only, pref, ref, task

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def diagnose(player, **fields: object) -> dict:
    found: dict = player.do("diagnostics", {"domain_id": TEAM, **fields})
    return found


def test_it_works(cast):
    """Case 40: three composes."""
    commit(cast.agent, decisions=[decision("zebra choice")])
    contexts = [compose(cast.agent, "zebra choice?")["context_id"] for _ in range(3)]
    found = diagnose(cast.agent)
    assert [log["context_id"] for log in found["compose_logs"]] == contexts[::-1]
    assert found["metrics"]["compose_p95_ms"] > 0
    assert found["metrics"]["memory_resource_ratio"] == "3/0"
    assert found["metrics"]["token_over_budget_rate"] == 0.0
    log = found["compose_logs"][0]
    assert (log["session_id"], log["selected_evidence"], log["token_limit"]) == ("s1", 1, 8192)
    assert 0 < log["token_used"] <= log["token_limit"]
    assert log["took_ms"] > 0


def test_an_empty_domain_says_so(cast):
    """Case 42."""
    found = diagnose(cast.agent)
    assert found["metrics"] == {
        "compose_p95_ms": 0.0,
        "memory_resource_ratio": "0/0",
        "token_over_budget_rate": 0.0,
    }
    assert (found["compose_logs"], found["commit_logs"], found["turns"]) == ([], [], 0)
    assert {name: count for name, count in found["counters"].items() if count} == {}


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], 0.0), ([7.0], 7.0), ([3.0, 1.0], 3.0), (list(range(1, 101)), 95.0), (list(range(1, 21)), 19.0)],
)
def test_the_95th_percentile_is_at_its_place(values, expected):
    """Specification 1.7: the value at ceil(0.95 n) - 1."""
    assert percentile_95([float(value) for value in values]) == expected


def test_commits_are_logged_with_what_they_did(cast):
    commit(cast.agent, say="hello")
    commit(cast.agent, preferences=[pref("a"), pref("x", "pref:ui:theme")])
    last = commit(cast.agent, preferences=[pref("b")], decisions=[decision()], tasks=[task(status="done")])
    logs = diagnose(cast.agent)["commit_logs"]
    assert [(log["memory_items"], log["conflicts"], log["summary_triggered"]) for log in logs] == [
        (3, 1, True),
        (2, 0, False),
        (0, 0, False),
    ]
    assert (logs[0]["commit_id"], logs[0]["turn_id"], logs[0]["session_id"]) == (
        last["commit_id"],
        last["turn_id"],
        "s1",
    )
    assert diagnose(cast.agent)["turns"] == 3


def test_logs_are_as_long_as_asked_for_and_figures_are_over_all(cast):
    """Field report J3: counts are counted, not capped with the log."""
    for number in range(5):
        commit(cast.agent, tasks=[task(f"zebra {number}", f"task:z:t{number}")])
        compose(cast.agent, "zebra")
    found = diagnose(cast.agent, limit=2)
    assert (len(found["compose_logs"]), len(found["commit_logs"])) == (2, 2)
    assert found["turns"] == 5
    assert found["counters"]["writes_by_scope_type"] == {"session": 5}


def test_a_domain_shows_nothing_of_another(cast):
    """Case 41."""
    make_agent("both")
    grant = {"name": "both", "domain_id": "elsewhere", "pattern": "*", "rights": ["read", "write"]}
    cast.operator.do("grant_access", grant)
    identity = identify_named("both")
    assert identity is not None
    both = Player("both", identity)
    for domain_id, count in ((TEAM, 1), ("elsewhere", 3)):
        for number in range(count):
            commit(both, f"{domain_id}-s", domain_id=domain_id, preferences=[pref(f"v {number}")])
            compose(both, "which tone?", f"{domain_id}-s", domain_id=domain_id)
        with pytest.raises(InvalidInputError):
            commit(both, domain_id=domain_id, preferences=[pref(key="nonsense")])
    ours, theirs = diagnose(both), diagnose(both, domain_id="elsewhere")
    assert (len(ours["compose_logs"]), len(theirs["compose_logs"])) == (1, 3)
    assert (ours["turns"], theirs["turns"]) == (1, 3)
    assert {log["session_id"] for log in ours["commit_logs"]} == {"team-s"}
    assert ours["counters"]["writes_by_scope_type"] == {"session": 1}
    assert (ours["counters"]["conflicts"], theirs["counters"]["conflicts"]) == (0, 2)
    assert (ours["counters"]["validation_failures"], theirs["counters"]["validation_failures"]) == (1, 1)
    assert "elsewhere" not in str(ours)


def test_writes_and_recalls_are_counted_by_scope_type(cast):
    scopes = context("session:s1", "project:p", "global:g", write=("session:s1", "project:p", "global:g"))
    commit(
        cast.agent,
        scopes=scopes,
        decisions=[
            decision("zebra one", "decision:z:one"),
            decision("zebra two", "decision:z:two", scope_ref=ref("project:p")),
            decision("zebra three", "decision:z:three", scope_ref=ref("project:p")),
        ],
    )
    compose(cast.agent, "zebra", "s2", scope_context=scopes)
    counters = diagnose(cast.agent)["counters"]
    assert counters["writes_by_scope_type"] == {"project": 2, "session": 1}
    assert counters["recalls_by_scope_type"] == {"project": 2, "session": 1}


def test_shadows_conflicts_and_promotions_are_counted(cast):
    scopes = context("project:p", "global:g", write=("project:p", "global:g"))
    commit(cast.agent, scopes=scopes, preferences=[pref("a"), pref("b", scope_ref=ref("global:g"))])
    commit(cast.agent, scopes=scopes, preferences=[pref("c")])
    commit(cast.agent, scopes=scopes, retractions=[gone("preferences", "pref:writing:tone")])
    commit(cast.agent, scopes=scopes, preferences=[pref("d")])
    for _ in range(2):
        compose(cast.agent, "hello", "s2", scope_context=scopes)
    source = only(commit(cast.agent, scopes=scopes, tasks=[task()]))["id"]
    made(scope_row("global:g"), source_item_id=source)
    counters = diagnose(cast.agent)["counters"]
    assert (counters["shadowed"], counters["conflicts"], counters["promotions"]) == (2, 2, 1)


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("commit_turn", {"session_id": "s1", "turn_events": {}}),
        ("commit_turn", {"session_id": "s1", "turn_events": {"tasks": [{"title": "no key"}]}}),
        ("commit_turn", {"session_id": "s1", "turn_events": {"tasks": [{"key": "nonsense"}]}}),
        (
            "commit_turn",
            {
                "session_id": "s1",
                "turn_events": {"messages": [{"role": "user", "content": "x"}]},
                "scope_context": {"read": [{"type": "galaxy", "id": "x"}]},
            },
        ),
        ("compose_context", {"session_id": "s1", "user_message": ""}),
        ("search_memory", {"session_id": "s1", "query": "x", "mode": "psychic"}),
        ("list_memory_items", {"type": "dreams"}),
    ],
)
def test_a_refused_call_is_counted_though_nothing_else_is_stored(cast, action, body):
    """Decision 17."""
    with pytest.raises(DomainError):
        cast.agent.do(action, {"domain_id": TEAM, **body})
    assert diagnose(cast.agent)["counters"]["validation_failures"] == 1
    assert diagnose(cast.agent)["turns"] == 0


def test_who_has_a_part_of_the_domain_sees_no_hidden_conversation(cast):
    """Field report D4: counts and logs name nothing that may not be read."""
    commit(cast.agent, "secret-session", scopes=context("project:p"), tasks=[task()])
    compose(cast.agent, "hello", "secret-session", scope_context=context("project:p"))
    narrow = make_agent("narrow", pattern="project:q")
    with pytest.raises(NotFoundError):
        diagnose(narrow)
    assert "secret-session" in str(diagnose(cast.agent))


def test_a_stranger_is_told_nothing(cast):
    for player, domain_id in ((cast.stranger, TEAM), (cast.agent, "elsewhere"), (cast.operator, "nowhere")):
        with pytest.raises(NotFoundError):
            diagnose(player, domain_id=domain_id)


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 101}, {"limit": "5"}, {"since": "x"}, {"domain_id": ""}])
def test_bad_input_is_refused(cast, bad):
    with pytest.raises(InvalidInputError):
        diagnose(cast.agent, **bad)


def test_figures_are_of_what_is_kept(cast):
    document = {"retention": {"context_days": 1}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tests")
    with clock.use(lambda: NOW):
        compose(cast.agent, "hello")
    with clock.use(lambda: NOW + timedelta(days=2)):
        compose(cast.agent, "hello")
    assert len(diagnose(cast.agent)["compose_logs"]) == 1


def test_documents_are_counted_too(cast):
    """The figures are of the whole domain, and of no other."""
    cast.stranger.do("add_document", domain_id="elsewhere", options={"text": "Not here."})
    cast.agent.do("add_document", domain_id=TEAM, options={"text": "Stripes of a zebra."})
    cast.agent.do("enqueue_media", domain_id=TEAM, operation="add_document", options={"text": "Later."})
    (part,) = diagnose(cast.agent)["parts"]
    counted = {name: count for name, count in part["figures"].items() if count}
    assert (part["name"], counted) == (
        "media",
        {"documents": 1, "documents_completed": 1, "sections": 1, "stored_bytes": 19, "jobs": 1, "jobs_queued": 1},
    )
    with unguarded():
        IndexEntry.objects.filter(kind="section", domain_id=TEAM).delete()
    (part,) = diagnose(cast.agent)["parts"]
    assert part["figures"]["lost_sections"] == 1
