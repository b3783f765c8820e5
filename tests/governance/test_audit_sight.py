"""What an auditor of one scope sees of a call that touched two: the changes in theirs, and of the rest only how many."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from governance.contracts import ListAuditInput
from governance.models import AuditEntry, AuditPlace
from governance.selectors import page_of_audit, shown_facts, sighted, view_audit
from kernel import clock
from kernel.context import Actor, ActorKind, Ctx, Door, Reach, Right
from kernel.errors import NotFoundError
from tests.asked import plan_of
from tests.conftest import ELSEWHERE, TEAM, Player, make_person
from tests.memory.talk import commit, context, decision

HERE, THERE = "project:here", "global:there"


def reader(*reach: tuple[str, str]) -> Ctx:
    """Someone who audits these patterns of domains."""
    rights = frozenset({Right.AUDIT})
    actor = Actor(ActorKind.PERSON, "user:1", "ann")
    return Ctx(actor, Door.PYTHON, tuple(Reach(domain, pattern, rights) for domain, pattern in reach))


def recorded(*changes: tuple[str, list[str] | None], place: str = HERE, about: tuple[str, ...] = ()) -> AuditEntry:
    """An entry with changes of rows, each by its id and scopes; None where nobody said where it lies."""
    told = [
        {
            "table": "memory_items",
            "id": row_id,
            "before": None,
            "after": {"of": "b"},
            **({"scopes": scopes} if scopes else {}),
        }
        for row_id, scopes in changes
    ]
    facts = {"action": "x", "scopes": [{"name": name, "held": ["write"]} for name in about or (place,)]}
    return AuditEntry(domain_id=TEAM, scope=place, changes=told, facts=facts)


@pytest.mark.parametrize(
    ("reach", "seen", "withheld"),
    [
        ([("*", "*")], ["a", "b", "both", "unsaid"], 0),
        ([(TEAM, "*")], ["a", "b", "both", "unsaid"], 0),
        ([(TEAM, HERE)], ["a"], 3),
        ([(TEAM, THERE)], ["b"], 3),
        ([(TEAM, "project:*")], ["a"], 3),
        ([(TEAM, HERE), (TEAM, THERE)], ["a", "b", "both", "unsaid"], 0),
        ([(ELSEWHERE, "*"), (TEAM, "project:other")], [], 4),
    ],
)
def test_it_works(reach, seen, withheld):
    """A row that lies in two scopes is for who audits both; one of which nothing was said, for who audits all that the
    call was about."""
    row = recorded(("a", [HERE]), ("b", [THERE]), ("both", [HERE, THERE]), ("unsaid", None), about=(HERE, THERE))
    found = sighted(row, reader(*reach))
    assert [change["id"] for change in found.changes] == seen
    assert found.withheld == withheld


def test_what_names_a_withheld_row_is_masked():
    row = recorded(("a", [HERE]), ("b", [THERE]))
    (change,) = sighted(row, reader((TEAM, HERE))).changes
    assert change["after"] == {"of": "(withheld)"}
    assert sighted(row, reader((TEAM, "*"))).changes[0]["after"] == {"of": "b"}


@pytest.mark.parametrize(("reach", "told"), [((TEAM, "*"), "why"), ((TEAM, THERE), "why"), ((TEAM, HERE), "")])
def test_the_reason_is_for_who_sees_where_it_was_decided(reach, told):
    row = recorded(("a", [HERE]), ("b", [THERE]), place=THERE)
    row.reason, row.outcome, row.actor_kind, row.door = "why", "allowed", "person", "http"
    row.actor_name, row.action, row.request_id = "ann", "x", row.pk
    assert view_audit(row, reader(reach)).reason == told


def test_neither_place_nor_facts_name_a_scope_out_of_sight():
    row = recorded(("a", [HERE]), ("b", [THERE]), about=(HERE, THERE))
    found = sighted(row, reader((TEAM, THERE)))
    assert (found.scope, found.placed) == (THERE, False)
    assert [scope["name"] for scope in shown_facts(row, reader((TEAM, THERE)))["scopes"]] == ["(withheld)", THERE]
    assert HERE not in json.dumps([*found.changes, found.facts])


@pytest.fixture
def both(cast) -> tuple[Player, Player, dict]:
    """An auditor of each scope, and the entry of a commit in `here` that found a conflict with a memory in `there`."""
    here, there = make_person("here", TEAM, HERE, is_staff=True), make_person("there", TEAM, THERE)
    commit(cast.agent, scopes=context(THERE), decisions=[decision("Use Postgres")])
    commit(cast.agent, scopes=context(HERE), decisions=[decision("Use MySQL")])
    entry = cast.operator.do("list_audit", domain_id=TEAM, action="commit_turn")["entries"][0]
    return here, there, entry


def by_table(entry: dict) -> dict[str, dict]:
    return {change["table"]: change for change in entry["changes"]}


def test_a_conflict_between_two_scopes_is_withheld_from_who_audits_one(cast, both):
    here, there, whole = both
    conflict = by_table(whole)["conflicts"]
    assert conflict["scopes"] == [THERE, HERE]
    item = conflict["after"]["a"]
    for auditor in (here, there):
        listed = auditor.do("list_audit", domain_id=TEAM, action="commit_turn")["entries"]
        entry = next(each for each in listed if each["id"] == whole["id"])
        assert "conflicts" not in by_table(entry)
        assert entry["withheld"] >= 1
        detail = auditor.do("get_audit_entry", id=whole["id"])
        assert detail["withheld"] == entry["withheld"]
        assert {each["table"] for each in detail["objects"]} <= set(by_table(entry))
        exported = "".join(
            auditor.do("export_audit", domain_id=TEAM, action="commit_turn", format=how)["content"]
            for how in ("csv", "json")
        )
        assert whole["id"] in exported
        assert conflict["id"] not in exported + json.dumps([entry, detail])
        if auditor is here:
            assert item not in exported + json.dumps([entry, detail])
        assert auditor.do("list_audit", table="conflicts", object_id=conflict["id"])["entries"] == []
    listed = here.do("list_audit", table="memory_items", object_id=by_table(whole)["memory_items"]["id"])["entries"]
    assert [each["id"] for each in listed] == [whole["id"]]


def test_who_audits_the_other_scope_finds_the_entry_and_not_its_place(both):
    _, there, whole = both
    found = there.do("list_audit", domain_id=TEAM, scope=THERE)["entries"]
    (entry,) = [each for each in found if each["id"] == whole["id"]]
    assert (entry["scope"], entry["changes"], entry["withheld"]) == ("(withheld)", [], len(whole["changes"]))
    assert there.do("list_audit", domain_id=TEAM, scope=HERE)["entries"] == []
    assert HERE not in json.dumps(there.do("get_audit_entry", id=whole["id"]))
    assert not there.do("get_audit_entry", id=whole["id"])["revertible"]
    with pytest.raises(NotFoundError):
        there.call("revert_change", audit_entry_id=whole["id"], reason="r")
    with pytest.raises(NotFoundError):
        there.call("explain_policy", audit_entry_id=whole["id"])


def test_an_object_that_changed_in_a_call_decided_elsewhere_is_found_in_its_own_scope(cast, both):
    """Promotion: decided in the target, and the source is narrowed away in its own scope."""
    here, there, _ = both
    item = by_table(here.do("list_audit", domain_id=TEAM, action="commit_turn")["entries"][0])["memory_items"]["id"]
    (conflict,) = cast.operator.do("list_conflicts", domain_id=TEAM)["conflicts"]
    cast.reviewer.do("resolve_conflict", id=conflict["id"], outcome="keep_b", reason="r")
    for auditor, kept in ((here, conflict["b"]["id"]), (there, conflict["a"]["id"])):
        listed = auditor.do("list_audit", domain_id=TEAM, action="resolve_conflict")["entries"]
        assert len(listed) == 1
        assert {change["id"] for change in listed[0]["changes"]} <= {kept}
        assert listed[0]["withheld"] > 0
    assert item == conflict["b"]["id"]
    gone = there.do("list_audit", table="memory_items", object_id=conflict["a"]["id"])["entries"]
    assert [each["action"] for each in gone] == ["resolve_conflict", "commit_turn"]
    newest = there.do("get_audit_entry", id=gone[0]["id"])
    assert [each["previous"] for each in newest["objects"]] == [gone[1]["id"]]


def test_the_pages_name_what_is_withheld_and_show_nothing_of_it(both, client):
    here, _, whole = both
    client.force_login(get_user_model().objects.get(username=here.name))
    conflict = by_table(whole)["conflicts"]
    for address in (
        reverse("admin:governance_history"),
        reverse("admin:governance_auditentry_change", args=[whole["id"]]),
    ):
        answer = client.get(address)
        page = answer.content.decode()
        assert answer.status_code == 200
        assert "withheld" in page
        assert conflict["id"] not in page
        assert conflict["after"]["a"] not in page


def test_reads_and_calls_in_one_scope_note_no_further_place(cast):
    commit(cast.agent, scopes=context(HERE), decisions=[decision("Use Postgres")])
    before = AuditPlace.objects.count()
    commit(cast.agent, scopes=context(HERE), decisions=[decision("Use cheese", key="decision:shop:cheese")])
    cast.agent.do("compose_context", domain_id=TEAM, session_id="s1", user_message="database?")
    assert AuditPlace.objects.count() == before


def test_pages_follow_time_without_a_gap_or_a_double_whoever_looks(db):
    """Entries of one instant too, and of a scope that some were decided in and others only reached."""
    now = clock.now()
    entries = [
        AuditEntry(
            at=now, request_id=reader().request_id, action="a", actor_kind="agent", actor_id="1", actor_name="x",
            door="http", domain_id=None, scope=HERE if number % 2 else THERE, outcome="allowed",
        )
        for number in range(9)
    ]  # fmt: skip
    from scopes.models import Domain
    from tests.guards.write_guard import unguarded

    with unguarded():
        Domain.objects.create(pk=TEAM)
        for entry in entries:
            entry.domain_id = TEAM
        AuditEntry.objects.bulk_create(entries)
        AuditPlace.objects.bulk_create(
            AuditPlace(domain_id=TEAM, scope=HERE, at=entry.at, entry=entry) for entry in entries[:4]
        )
    for reach, wanted in (
        ([("*", "*")], entries),
        ([(TEAM, HERE)], [entry for place, entry in enumerate(entries) if place % 2 or place < 4]),
        ([(TEAM, HERE), (TEAM, THERE), (TEAM, "*")], entries),
        ([(TEAM, f"project:{n}") for n in range(20)], []),
    ):
        found: list[AuditEntry] = []
        cursor = None
        while True:
            rows, cursor = page_of_audit(ListAuditInput(limit=2, cursor=cursor, actor="x"), reader(*reach))
            found += rows
            if cursor is None:
                break
        assert [row.pk for row in found] == sorted((row.pk for row in wanted), reverse=True)


@pytest.mark.parametrize("reach", [("*", "*"), (TEAM, "*")], ids=["everywhere", "a domain"])
@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, "audit_(domain_)?time"),
        ({"since": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}, "audit_(domain_)?time"),
        ({"actor": "ann"}, "audit_name_time"),
        ({"actor_id": "user:1"}, "audit_actor_time"),
        ({"action": "erase"}, "audit_action_time"),
        ({"scope": HERE}, "audit_scope_time"),
        ({"door": "job"}, "audit_door_time"),
        ({"outcome": "failed"}, "audit_outcome_time"),
        ({"outcome": "failed", "until": "2026-02-01T00:00:00Z", "domain_id": TEAM}, "audit_outcome_time"),
    ],
)
def test_every_filter_reads_its_page_from_an_index_in_order(db, reach, filters, index):
    """No sort and no scan, so that a page costs what it shows."""
    given = ListAuditInput.model_validate(filters)
    plan = plan_of(
        lambda: page_of_audit(given, reader(reach)), "audit_entries", without=("seqscan", "sort", "bitmapscan")
    )
    assert re.search(index, plan)
    assert not re.search("Sort|TEMP B-TREE", plan)
