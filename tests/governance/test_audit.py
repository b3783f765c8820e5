"""The audit log as people use it: one object's history, exports, and names that outlive their accounts."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from governance.models import AuditEntry, AuditObject
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from tests.conftest import ELSEWHERE, TEAM, a_turn, make_person
from tests.governance.desk import make_desk, propose


def entry(player, **filters):
    return player.do("list_audit", **filters)["entries"][0]


def test_it_works(cast):
    for reason in ("first", "second", "third"):
        cast.operator.do(
            "grant_access", name="reader", domain_id=TEAM, rights=["read", "write"][: len(reason) % 2 + 1]
        )
    first, second, third = AuditEntry.objects.filter(action="grant_access").exclude(changes=[]).order_by("id")[:3]
    changed = first.changes[0]
    listed = cast.operator.do("list_audit", table=changed["table"], object_id=changed["id"])["entries"]
    assert [row["id"] for row in listed][:2] == [str(third.pk), str(second.pk)]
    (middle,) = cast.operator.do("get_audit_entry", id=str(second.pk))["objects"]
    assert (middle["previous"], middle["next"]) == (str(first.pk), str(third.pk))


def test_reads_note_no_objects(cast):
    cast.agent.do("commit_turn", a_turn())
    before = AuditObject.objects.count()
    cast.agent.do("compose_context", domain_id=TEAM, session_id="s1", user_message="database?")
    assert AuditEntry.objects.latest("id").changes
    assert AuditObject.objects.count() == before


def test_every_changed_object_of_a_commit_is_noted_by_one_statement(cast, django_assert_num_queries):
    cast.agent.do("commit_turn", a_turn())
    row = AuditEntry.objects.get(action="commit_turn")
    noted = set(AuditObject.objects.filter(entry=row).values_list("table", "object_id"))
    assert noted == {(change["table"], change["id"]) for change in row.changes}
    assert len(noted) > 3


def test_the_entries_of_one_call_are_joined_by_its_request_id(cast):
    rule = {"name": "all", "actions": ["commit_turn"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="reviewed")
    proposal = cast.agent.do("commit_turn", a_turn())["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    joined = cast.operator.do("list_audit", request_id=entry(cast.operator, action="approve_proposal")["request_id"])
    assert {row["action"] for row in joined["entries"]} == {"approve_proposal", "commit_turn"}
    assert {row["actor"] for row in joined["entries"]} == {"reviewer"}


def test_an_entry_holds_the_reason_that_was_given_and_a_refused_one_why(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="自由 of will")
    assert entry(cast.operator, action="set_policy")["reason"] == "自由 of will"
    exported = cast.operator.do("export_audit", action="set_policy", format="json")["content"]
    assert json.loads(exported.splitlines()[0])["reason"] == "自由 of will"
    with pytest.raises(ForbiddenError):
        cast.agent.do("set_policy", domain_id=TEAM, document={}, reason="not mine")
    assert "which you do not hold" in entry(cast.operator, action="set_policy", outcome="denied")["reason"]


@pytest.mark.parametrize("long", ["x" * 2000, "长" * 2000])
def test_decisions_hold_their_reasons_however_long(db, long):
    desk = make_desk()
    ann = desk.cast.reviewer
    waiting = propose(desk.cast.agent, "Herons")
    ann.do("reject_proposal", id=waiting, revision=1, reason=long)
    assert entry(ann, action="reject_proposal")["reason"] == long
    ann.do("undo_decision", proposal_id=waiting, reason="There is one")
    assert entry(ann, action="undo_decision")["reason"] == "There is one"


@pytest.mark.parametrize("gone", ["switched off", "deleted"])
def test_the_name_of_the_actor_outlives_the_account(cast, gone):
    ann = make_person("ann", TEAM)
    ann.do("list_proposals", domain_id=TEAM)
    user = get_user_model().objects.get(username="ann")
    if gone == "deleted":
        from tests.guards.write_guard import unguarded

        with unguarded():
            user.delete()
    else:
        user.is_active = False
        user.save()
    assert entry(cast.operator, actor="ann", action="list_proposals")["actor"] == "ann"


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"actor": "agent"}, {"agent"}),
        ({"actor_kind": "person"}, {"operator", "reviewer"}),
        ({"door": "python", "action": "commit_turn"}, {"agent"}),
        ({"scope": "session:s1"}, {"agent"}),
        ({"outcome": "denied"}, {"stranger"}),
        ({"since": "2100-01-01T00:00:00Z"}, set()),
        ({"until": "2001-01-01T00:00:00Z"}, set()),
        ({"door": "http"}, set()),
    ],
)
def test_filters(cast, filters, wanted):
    cast.agent.do("commit_turn", a_turn())
    cast.reviewer.do("list_proposals", domain_id=TEAM)
    cast.operator.do("get_policy", domain_id=TEAM)
    with pytest.raises(NotFoundError):
        cast.stranger.do("list_sessions", domain_id=TEAM)
    rows = cast.operator.do("list_audit", **filters, limit=100)["entries"]
    assert {row["actor"] for row in rows} == wanted


@pytest.mark.parametrize("half", [{"table": "turns"}, {"object_id": "x"}])
def test_half_an_object_is_refused(cast, half):
    with pytest.raises(InvalidInputError, match="together"):
        cast.operator.do("list_audit", **half)


def test_an_entry_of_another_domain_is_not_found(cast):
    cast.stranger.do("commit_turn", a_turn(domain_id=ELSEWHERE))
    row = AuditEntry.objects.get(action="commit_turn")
    with pytest.raises(NotFoundError, match="No audit entry"):
        cast.reviewer.do("get_audit_entry", id=str(row.pk))
    with pytest.raises(NotFoundError, match="No audit entry"):
        cast.agent.do("get_audit_entry", id=str(row.pk))


def exported(player, written: str, **filters):
    """All pages put together."""
    text, cursor = "", None
    while True:
        page = player.do("export_audit", format=written, limit=2, cursor=cursor, **filters)
        text, cursor = text + page["content"], page["next_cursor"]
        if cursor is None:
            return text


def test_csv_and_json_hold_the_same_entries_as_the_list(cast):
    for number in range(3):
        cast.agent.do("commit_turn", a_turn(f'Text {number}, with "quotes"\nand lines'))
    listed = cast.operator.do("list_audit", domain_id=TEAM, action="commit_turn")["entries"]
    rows = list(csv.DictReader(StringIO(exported(cast.operator, "csv", domain_id=TEAM, action="commit_turn"))))
    lines = exported(cast.operator, "json", domain_id=TEAM, action="commit_turn").splitlines()
    assert [row["id"] for row in rows] == [row["id"] for row in listed]
    assert [json.loads(line) for line in lines] == listed
    assert [json.loads(row["changes"]) for row in rows] == [row["changes"] for row in listed]


@pytest.mark.parametrize("reason", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", '=HYPERLINK("http://x","y")'])
def test_no_cell_is_a_formula(cast, reason):
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason=reason)
    from tests.guards.write_guard import unguarded

    with unguarded():
        AuditEntry.objects.filter(action="set_policy").update(reason=reason)
    (row,) = csv.DictReader(StringIO(exported(cast.operator, "csv", action="set_policy")))
    assert row["reason"] == f"'{reason}"


def test_only_who_may_read_the_log_exports_it(cast):
    with pytest.raises(ForbiddenError, match="Only reviewers"):
        cast.agent.do("export_audit")
    with pytest.raises(NotFoundError):
        cast.reviewer.do("export_audit", domain_id=ELSEWHERE)
    assert "stranger" not in exported(cast.reviewer, "csv")


@pytest.mark.parametrize("limit", [0, 1001, -1, "many"])
def test_a_page_of_an_export_is_bounded(cast, limit):
    with pytest.raises(InvalidInputError):
        cast.operator.do("export_audit", limit=limit)


def test_an_export_is_itself_on_record(cast):
    cast.operator.do("export_audit", domain_id=TEAM)
    assert entry(cast.operator, action="export_audit")["actor"] == "operator"


@pytest.mark.parametrize("written", ["csv", "json"])
def test_the_command_writes_one_document(cast, written):
    for number in range(3):
        cast.agent.do("commit_turn", a_turn(f"Text {number}"))
    out = StringIO()
    call_command("export_audit", "--format", written, "--domain", TEAM, "--action", "commit_turn", stdout=out)
    text = out.getvalue()
    rows = json.loads(text) if written == "json" else list(csv.DictReader(StringIO(text)))
    assert len(rows) == 3
    assert {row["actor"] for row in rows} == {"agent"}
