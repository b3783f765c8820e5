"""People decide conflicts and take decisions back; agents propose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from governance.models import AuditEntry, Proposal
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, StaleError, TransitionError
from memory.models import Conflict, EvidenceLink, KgEdge, MemoryItem
from scopes.selectors import authenticate_key
from search.models import IndexEntry
from tests.conftest import TEAM, Cast, make_agent, make_person
from tests.memory.conflicts.test_finding import SHOP, listed, search_all, tell
from tests.memory.talk import commit, context, gone, item

POSTGRES, MYSQL = "The default database is Postgres.", "The default database is MySQL."


def disputed(cast: Cast) -> str:
    tell(cast, POSTGRES, "db")
    (found,) = tell(cast, MYSQL, "default-db")["memory_written"]["found"]
    return str(found["id"])


def decide(player, conflict: str, outcome: str, **fields: Any) -> dict:
    body: dict = player.do("resolve_conflict", id=conflict, outcome=outcome, reason="because", **fields)
    return body


def in_force(cast: Cast) -> list[str]:
    rows = MemoryItem.objects.filter(current_until=None, status="active").order_by("id")
    return list(rows.values_list("statement", flat=True))


@pytest.mark.parametrize(("outcome", "kept", "lost"), [("keep_a", POSTGRES, MYSQL), ("keep_b", MYSQL, POSTGRES)])
def test_it_works(cast, outcome, kept, lost):
    conflict = disputed(cast)
    answer = decide(cast.reviewer, conflict, outcome)
    assert (answer["conflict"]["state"], answer["conflict"]["outcome"]) == ("resolved", outcome)
    assert answer["conflict"]["decided_by"] == "reviewer"
    assert in_force(cast) == [kept]
    gone_row = MemoryItem.objects.get(statement=lost)
    assert (gone_row.status, gone_row.successor and gone_row.successor.statement) == ("superseded", kept)
    assert IndexEntry.objects.get(object_id=gone_row.pk).state == "history"
    found = search_all(cast)
    assert [row["text"] for row in found["results"] if row["kind"] == "memory"] == [kept]
    assert found["conflicts"] == []
    entry = AuditEntry.objects.filter(action="resolve_conflict").get()
    assert {change["table"] for change in entry.changes} == {"conflicts", "memory_items"}
    assert entry.actor_name == "reviewer"


def test_merging_makes_a_version_that_stands_in_place_of_both(cast):
    url = {"kind": "url", "id": "https://example.com/why"}
    tell(cast, POSTGRES, "db", evidence_refs=[url])
    (found,) = tell(cast, MYSQL, "default-db", importance=3)["memory_written"]["found"]
    answer = decide(cast.reviewer, found["id"], "merge", text="Postgres by default, MySQL for reports.")
    merged = item(answer["result_id"])
    assert in_force(cast) == ["Postgres by default, MySQL for reports."]
    assert (merged.key, merged.version, merged.importance, merged.origin) == (
        "decision:shop:default-db",
        2,
        3,
        "merge",
    )
    assert merged.value["decision"] == merged.statement
    assert {row.statement for row in MemoryItem.objects.filter(successor=merged)} == {POSTGRES, MYSQL}
    links = set(EvidenceLink.objects.filter(item=merged).values_list("kind", "ref"))
    assert {("url", url["id"]), ("memory", found["a_id"]), ("memory", found["b_id"])} <= links


def test_both_may_stand_under_a_condition_that_agents_are_told(cast):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "both_valid", condition="MySQL for the shop in China only.")
    assert in_force(cast) == [POSTGRES, MYSQL]
    (told,) = search_all(cast)["conflicts"]
    assert (told["state"], told["condition"]) == ("resolved", "MySQL for the shop in China only.")
    assert listed(cast.agent) == []


@pytest.mark.parametrize(("outcome", "fields"), [("not_a_conflict", {}), ("both_valid", {"condition": "Per region."})])
def test_a_judged_pair_does_not_come_back_while_both_say_the_same(cast, outcome, fields):
    decide(cast.reviewer, disputed(cast), outcome, **fields)
    commit(cast.agent, scopes=SHOP, retractions=[gone("decisions", "decision:shop:default-db")])
    assert tell(cast, MYSQL, "default-db")["memory_written"]["found"] == []
    (found,) = tell(cast, "The default database is Oracle.", "default-db")["memory_written"]["found"]
    assert found["b_statement"] == "The default database is Oracle."


def test_a_kept_side_does_not_bar_what_is_said_anew(cast):
    decide(cast.reviewer, disputed(cast), "keep_a")
    assert tell(cast, MYSQL, "default-db")["memory_written"]["found"][0]["rule"] == "other_object"


def test_taking_a_decision_back_appends_what_was(cast):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "keep_a")
    answer = cast.reviewer.do("reopen_conflict", id=conflict, reason="too early")
    (restored,) = answer["restored"]
    assert in_force(cast) == [POSTGRES, MYSQL]
    assert (item(restored).version, item(restored).key) == (2, "decision:shop:default-db")
    assert MemoryItem.objects.filter(statement=MYSQL).count() == 2, "the past stays as it was"
    assert answer["conflict"]["state"] == "open"
    assert answer["conflict"]["b"]["id"] == restored
    assert [row["id"] for row in listed(cast.agent)] == [conflict]
    steps = cast.agent.do("get_conflict", id=conflict)["history"]
    assert [(step["verdict"], step["by"]) for step in steps] == [("keep_a", "reviewer"), ("reopened", "reviewer")]
    shown = {row["text"] for row in search_all(cast)["results"] if row["kind"] == "memory"}
    assert shown == {MYSQL, POSTGRES}
    decide(cast.reviewer, conflict, "keep_b")
    assert in_force(cast) == [MYSQL]


def test_a_merge_taken_back_brings_both_back(cast):
    conflict = disputed(cast)
    merged = decide(cast.reviewer, conflict, "merge", text="Both.")["result_id"]
    cast.reviewer.do("reopen_conflict", id=conflict, reason="no")
    assert sorted(in_force(cast)) == [MYSQL, POSTGRES]
    assert item(merged).status == "retracted"


def test_a_merge_changed_since_is_not_taken_back(cast):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "merge", text="Both.")
    tell(cast, "Neither.", "default-db")
    with pytest.raises(StaleError, match="changed since"):
        cast.reviewer.call("reopen_conflict", id=conflict, reason="no")


def test_the_key_given_anew_bars_the_way_back(cast):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "keep_a")
    tell(cast, "Let us use DuckDB.", "default-db")
    with pytest.raises(ConflictError, match="another value by now"):
        cast.reviewer.call("reopen_conflict", id=conflict, reason="no")
    assert Conflict.objects.get(pk=conflict).state == "resolved"


@pytest.mark.parametrize("undoing", [False, True])
def test_the_same_two_at_odds_again_bar_the_way_back(cast, undoing):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "keep_a")
    (again,) = tell(cast, MYSQL, "default-db")["memory_written"]["found"]
    before = [*MemoryItem.objects.order_by("id").values(), *Conflict.objects.order_by("id").values()]
    entry = str(AuditEntry.objects.get(action="resolve_conflict").pk)
    act = {"audit_entry_id": entry} if undoing else {"id": conflict}
    with pytest.raises(ConflictError, match=again["id"]):
        cast.reviewer.call("revert_change" if undoing else "reopen_conflict", reason="no", **act)
    assert [*MemoryItem.objects.order_by("id").values(), *Conflict.objects.order_by("id").values()] == before


def test_an_agent_proposes_and_a_person_decides(cast):
    conflict = disputed(cast)
    curator = make_agent("curator", rights=["read", "write", "promote"])
    answer = curator.call("resolve_conflict", id=conflict, outcome="keep_b", reason="newer")
    assert answer.status == 202
    assert in_force(cast) == [POSTGRES, MYSQL]
    cast.reviewer.do("approve_proposal", id=str(Proposal.objects.get().pk))
    assert in_force(cast) == [MYSQL]
    assert Conflict.objects.get().decided_by == "reviewer"


def test_a_rejected_decision_bars_itself_and_neither_another_nor_one_about_changed_sides(cast):
    conflict = disputed(cast)
    curator = make_agent("curator", rights=["read", "write", "promote"])

    def propose(outcome: str) -> Any:
        return curator.call("resolve_conflict", id=conflict, outcome=outcome, reason="newer")

    def reject(answer: Any) -> None:
        cast.reviewer.do("reject_proposal", id=str(Proposal.objects.latest("id").pk), reason="not so")

    reject(propose("keep_b"))
    with pytest.raises(ConflictError, match="rejected this"):
        propose("keep_b")
    assert propose("keep_a").status == 202
    with pytest.raises(ConflictError, match="same subject"):
        propose("not_a_conflict")
    reject(None)
    decide(cast.reviewer, conflict, "keep_a")
    cast.reviewer.do("reopen_conflict", id=conflict, reason="too early")
    assert propose("keep_b").status == 202, "the conflict was decided and reopened since"


def test_of_two_reviewers_one_decides_and_the_other_is_told_who(cast):
    conflict = disputed(cast)
    other = make_person("other", TEAM)
    decide(cast.reviewer, conflict, "keep_a", revision=1)
    with pytest.raises(TransitionError, match=r"resolved by reviewer on .*keep_a"):
        decide(other, conflict, "keep_b", revision=1)
    cast.reviewer.do("reopen_conflict", id=conflict, reason="again")
    with pytest.raises(StaleError, match="revision 3"):
        decide(other, conflict, "keep_b", revision=1)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"outcome": "merge"}, "text is missing"),
        ({"outcome": "merge", "text": "  "}, "text is missing"),
        ({"outcome": "both_valid"}, "condition is missing"),
        ({"outcome": "keep_a", "text": "x"}, "text means nothing"),
        ({"outcome": "not_a_conflict", "condition": "x"}, "condition means nothing"),
        ({"outcome": "neither"}, "outcome"),
        ({"outcome": "keep_a", "reason": " "}, "reason"),
    ],
)
def test_an_incomplete_decision_is_refused(cast, fields, fault):
    conflict = disputed(cast)
    with pytest.raises(InvalidInputError, match=fault):
        cast.reviewer.call("resolve_conflict", {"id": conflict, "reason": "because", **fields})
    assert Conflict.objects.get().state == "open"


def test_only_who_may_decide_on_both_scopes_sees_and_decides(cast):
    conflict = disputed(cast)
    elsewhere = make_person("elsewhere", TEAM, "project:other")
    writer = make_agent("writer", pattern="project:shop", rights=["read", "write"])
    for player in (elsewhere, cast.stranger):
        with pytest.raises(NotFoundError):
            decide(player, conflict, "keep_a")
    with pytest.raises(ForbiddenError):
        decide(writer, conflict, "keep_a")
    assert listed(elsewhere) == []


def test_the_decision_is_offered_to_near_duplicates(cast):
    """Field report C5: the correction reaches every copy that the reviewer names."""
    tell(cast, MYSQL, "copy")
    tell(cast, "the default database is: mysql", "copy-two")
    tell(cast, POSTGRES, "db")
    copies = {row.key: str(row.pk) for row in MemoryItem.objects.filter(key__contains="copy")}
    conflict = next(
        row for row in listed(cast.agent) if row["rule"] == "other_object" and row["a"]["key"].endswith("copy")
    )
    shown = cast.reviewer.do("get_conflict", id=conflict["id"])
    assert [each["memory_item_id"] for each in shown["also"]] == [copies["decision:shop:copy-two"]]
    apply_to = [copies["decision:shop:copy-two"], "01890a5d-ac96-774b-bcce-b302099a8057"]
    answer = decide(cast.reviewer, conflict["id"], "keep_b", apply_to=apply_to)
    assert [each["result"] for each in answer["applied"]] == ["superseded", "not_a_neighbour"]
    assert in_force(cast) == [POSTGRES]
    assert listed(cast.agent) == []
    cast.reviewer.do("reopen_conflict", id=conflict["id"], reason="no")
    assert len(in_force(cast)) == 3


def test_what_is_settled_along_is_on_record_and_can_be_taken_back(cast):
    for text, key in ((MYSQL, "copy"), ("the default database is: mysql", "copy-two"), (POSTGRES, "db")):
        tell(cast, text, key)
    first = next(
        row for row in listed(cast.agent) if row["rule"] == "other_object" and row["a"]["key"].endswith("copy")
    )
    copy = str(MemoryItem.objects.get(key="decision:shop:copy-two").pk)
    opened = Conflict.objects.filter(state="open").count()
    decide(cast.reviewer, first["id"], "not_a_conflict", apply_to=[copy])
    assert listed(cast.agent) == []
    entry = AuditEntry.objects.get(action="resolve_conflict")
    assert len([change for change in entry.changes if change["table"] == "conflicts"]) == opened
    along = Conflict.objects.exclude(pk=first["id"]).latest("id")
    (step,) = cast.reviewer.do("get_conflict", id=str(along.pk))["history"]
    assert (step["verdict"], step["by"], along.revision) == ("not_a_conflict", "reviewer", 2)
    cast.reviewer.do("reopen_conflict", id=str(along.pk), reason="that one is")
    assert Conflict.objects.get(pk=along.pk).state == "open"
    with pytest.raises(StaleError, match="decided again"):
        cast.reviewer.call("revert_change", audit_entry_id=str(entry.pk), reason="all of them are")


def test_undoing_the_call_reopens_what_was_settled_along(cast):
    for text, key in ((MYSQL, "copy"), ("the default database is: mysql", "copy-two"), (POSTGRES, "db")):
        tell(cast, text, key)
    first = next(
        row for row in listed(cast.agent) if row["rule"] == "other_object" and row["a"]["key"].endswith("copy")
    )
    before = {row["id"] for row in listed(cast.agent)}
    copy = str(MemoryItem.objects.get(key="decision:shop:copy-two").pk)
    decide(cast.reviewer, first["id"], "not_a_conflict", apply_to=[copy])
    entry = AuditEntry.objects.get(action="resolve_conflict")
    cast.reviewer.do("revert_change", audit_entry_id=str(entry.pk), reason="a slip")
    assert {row["id"] for row in listed(cast.agent)} == before


def test_a_side_that_leaves_settles_the_conflict(cast):
    conflict = disputed(cast)
    commit(cast.agent, scopes=SHOP, retractions=[gone("decisions", "decision:shop:db")])
    row = Conflict.objects.get(pk=conflict)
    assert (row.state, row.outcome) == ("resolved", "")
    (step,) = cast.agent.do("get_conflict", id=conflict)["history"]
    assert (step["verdict"], step["reason"]) == ("followed", "One side is no longer in force.")
    with pytest.raises(TransitionError, match="no decision"):
        cast.reviewer.call("reopen_conflict", id=conflict, reason="no")


def test_relations_are_decided_too(cast):
    commit(cast.agent, scopes=SHOP, edges=[{"subject": "Ann", "predicate": "lives_in", "object": "Berlin"}])
    commit(cast.agent, scopes=SHOP, edges=[{"subject": "Ann", "predicate": "lives_in", "object": "Paris"}])
    (row,) = listed(cast.agent)
    assert (row["a"]["kind"], row["a"]["statement"]) == ("relation", "Ann lives_in Berlin")
    decide(cast.reviewer, row["id"], "keep_b")
    assert [edge.object for edge in KgEdge.objects.filter(current_until=None)] == ["Paris"]
    cast.reviewer.do("reopen_conflict", id=row["id"], reason="no")
    assert {edge.object for edge in KgEdge.objects.filter(current_until=None)} == {"Paris", "Berlin"}
    with pytest.raises(InvalidInputError, match="Relations cannot be merged"):
        decide(cast.reviewer, row["id"], "merge", text="both")


def test_a_decision_of_a_merge_across_scopes_is_refused(cast):
    both = context("project:shop", "global:all", write=("project:shop", "global:all"))
    tell(cast, POSTGRES, "db")
    row = {"key": "decision:shop:db", "decision": MYSQL, "scope_ref": {"type": "global", "id": "all"}}
    (found,) = commit(cast.agent, scopes=both, decisions=[row])["memory_written"]["found"]
    assert (found["rule"], found["severity"]) == ("same_key", "low")
    with pytest.raises(InvalidInputError, match="different scopes"):
        decide(cast.reviewer, found["id"], "merge", text="both")
    decide(cast.reviewer, found["id"], "keep_a")
    assert in_force(cast) == [POSTGRES]


def test_undoing_the_call_reopens_the_conflict(cast):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "keep_a")
    entry = AuditEntry.objects.get(action="resolve_conflict")
    cast.reviewer.do("revert_change", audit_entry_id=str(entry.pk), reason="a slip")
    assert Conflict.objects.get(pk=conflict).state == "open"
    assert sorted(in_force(cast)) == [MYSQL, POSTGRES]


def across(cast: Cast) -> str:
    """A conflict between an older memory of the shop and a newer one of the whole team."""
    both = context("project:shop", "global:all", write=("project:shop", "global:all"))
    tell(cast, POSTGRES, "db")
    row = {"key": "decision:shop:db", "decision": MYSQL, "scope_ref": {"type": "global", "id": "all"}}
    (found,) = commit(cast.agent, scopes=both, decisions=[row])["memory_written"]["found"]
    return str(found["id"])


def proposed(cast: Cast, action: str, **fields: Any) -> str:
    """An agent that may promote everywhere asks for a decision: the id of its proposal."""
    cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read", "write", "promote"])
    agent = replace(cast.agent, identity=authenticate_key(cast.agent.key))
    return str(agent.do(action, reason="because", **fields)["proposal"]["id"])


def test_an_edit_does_not_let_the_side_go_where_the_editor_may_not_decide(cast):
    conflict = across(cast)
    proposal = proposed(cast, "resolve_conflict", id=conflict, outcome="keep_a")
    part = make_person("everyone", TEAM, "global:*")
    cast.operator.do("assign_reviewer", user="everyone", domain_id=TEAM, pattern="global:*")
    other = {"id": conflict, "outcome": "keep_b", "reason": "the other way round"}
    with pytest.raises(ForbiddenError, match="may not decide"):
        part.call("edit_and_approve", id=proposal, revision=1, input=other, reason="no")
    assert in_force(cast) == [POSTGRES, MYSQL]


def test_a_decision_is_taken_back_where_the_side_lies_that_comes_back(cast):
    conflict = across(cast)
    decide(cast.reviewer, conflict, "keep_b")
    proposal = proposed(cast, "reopen_conflict", id=conflict)
    assert Proposal.objects.get(pk=proposal).scope == "project:shop"
    with pytest.raises(NotFoundError):
        make_person("everyone", TEAM, "global:*").call("approve_proposal", id=proposal)
