"""Keys and grants: hashed, shown once, revoked for good, and never more than a key may hold."""

from __future__ import annotations

import hashlib
import json

import pytest
from django.apps import apps
from django.db import connection

from governance.models import AuditEntry
from kernel.context import Right
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, UnauthenticatedError
from scopes.models import ApiKey, Grant, Principal
from scopes.selectors import authenticate_key, identify_again
from tests.conftest import TEAM, a_turn, make_agent, make_person
from tests.guards.write_guard import unguarded


def everything_stored() -> str:
    """Every value of every row of every table, as text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            found += [repr(row) for row in cursor.fetchall()]
    return "\n".join(found)


def test_it_works(cast):
    answer = cast.operator.do("create_principal", name="new", domain_id=TEAM, rights=["read"])
    identity = authenticate_key(answer["api_key"])
    assert identity.actor.name == "new"
    assert [(grant.domain_id, grant.pattern, set(grant.rights)) for grant in identity.reach] == [
        (TEAM, "*", {Right.READ})
    ]
    assert answer["api_key"].split("_")[1] == answer["key_prefix"]


def test_the_secret_is_nowhere_in_the_database(cast):
    first = cast.operator.do("create_principal", name="new", domain_id=TEAM)
    second = cast.operator.do("issue_key", name="new")
    stored = everything_stored()
    assert len(apps.get_models()) > 20
    for answer in (first, second):
        secret = answer["api_key"].split("_", 2)[2]
        assert len(secret) >= 43
        assert answer["key_prefix"] in stored
        assert secret not in stored
        assert hashlib.sha256(answer["api_key"].encode()).hexdigest() in stored


def test_no_answer_shows_a_key_again(cast):
    cast.operator.do("create_principal", name="new", domain_id=TEAM)
    for action in ("list_principals", "list_audit", "whoami"):
        assert "sb_" not in json.dumps(cast.operator.do(action))


def test_a_revoked_key_stops_at_once_and_others_go_on(cast):
    second = cast.operator.do("issue_key", name="agent")["api_key"]
    answer = cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1])
    assert answer["principal"] == "agent"
    with pytest.raises(UnauthenticatedError):
        authenticate_key(cast.agent.key)
    assert authenticate_key(second).actor == cast.agent.identity.actor


def test_revoking_twice_changes_nothing(cast):
    prefix = cast.agent.key.split("_")[1]
    first = cast.operator.do("revoke_key", key_prefix=prefix)
    again = cast.operator.do("revoke_key", key_prefix=prefix)
    assert again["revoked_at"] == first["revoked_at"]
    assert AuditEntry.objects.latest("id").changes == []


def test_both_are_audited_without_the_secret(cast):
    made = AuditEntry.objects.filter(action="create_principal").earliest("id")
    assert {change["table"] for change in made.changes} >= {"principals", "grants", "api_keys"}
    cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1])
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.outcome, entry.actor_name) == ("revoke_key", "allowed", "operator")
    assert cast.agent.key.split("_", 2)[2] not in json.dumps([e.changes for e in AuditEntry.objects.all()])


def test_an_unknown_prefix_is_404(cast):
    with pytest.raises(NotFoundError):
        cast.operator.call("revoke_key", key_prefix="ffffffffffff")


def test_a_key_for_nobody_is_404(cast):
    for action, more in (("issue_key", {}), ("grant_access", {"domain_id": TEAM, "rights": ["read"]})):
        with pytest.raises(NotFoundError):
            cast.operator.call(action, name="nobody", **more)


def test_a_name_is_given_once(cast):
    with pytest.raises(ConflictError):
        cast.operator.call("create_principal", name="agent", domain_id=TEAM)
    assert Principal.objects.filter(name="agent").count() == 1


def test_an_owner_must_exist(cast):
    with pytest.raises(NotFoundError):
        cast.operator.call("create_principal", name="new", owner="nobody")
    assert not Principal.objects.filter(name="new").exists()


@pytest.mark.parametrize("rights", [["decide"], ["operate"], ["read", "decide"], ["fly"], [], "read", ["read"] * 5])
def test_a_key_is_never_given_a_right_of_people(cast, rights):
    with pytest.raises(InvalidInputError):
        cast.operator.call("create_principal", name="new", domain_id=TEAM, rights=rights)
    assert not Principal.objects.filter(name="new").exists()


@pytest.mark.parametrize("right", ["decide", "operate"])
def test_a_grant_is_never_given_a_right_of_people(cast, right):
    with pytest.raises(InvalidInputError):
        cast.operator.call("grant_access", name="agent", domain_id=TEAM, rights=["read", right])


def test_a_row_that_claims_a_right_of_people_gives_it_to_no_key(cast):
    with unguarded():
        Grant.objects.filter(principal__name="agent").update(rights=["read", "decide", "operate", "fly"])
    identity = authenticate_key(cast.agent.key)
    assert [set(grant.rights) for grant in identity.reach] == [{Right.READ}]
    assert [set(grant.rights) for grant in identify_again(identity.actor).reach] == [{Right.READ}]


def test_a_grant_is_replaced_and_not_added_to(cast):
    cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read", "promote"])
    answer = cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["write", "read"])
    assert answer["principal"]["grants"] == [{"domain_id": TEAM, "pattern": "*", "rights": ["read", "write"]}]
    assert Grant.objects.filter(principal__name="agent").count() == 1
    before, after = (
        AuditEntry.objects.latest("id").changes[0]["before"],
        AuditEntry.objects.latest("id").changes[0]["after"],
    )
    assert (before["rights"], after["rights"]) == (["promote", "read"], ["read", "write"])


def test_a_grant_without_rights_is_taken_away(cast):
    cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=[])
    assert not Grant.objects.filter(principal__name="agent").exists()
    with pytest.raises(NotFoundError):
        make_again(cast.agent.key).call("commit_turn", a_turn())


def make_again(key: str):
    from tests.conftest import Player

    identity = authenticate_key(key)
    return Player(identity.actor.name, identity, key)


def test_a_principal_that_was_switched_off_is_nobody(cast):
    with unguarded():
        Principal.objects.filter(name="agent").update(active=False)
    with pytest.raises(UnauthenticatedError):
        authenticate_key(cast.agent.key)
    assert identify_again(cast.agent.identity.actor).reach == ()


@pytest.mark.parametrize(
    ("action", "tree"),
    [
        ("create_principal", {"name": "x"}),
        ("issue_key", {"name": "agent"}),
        ("revoke_key", {"key_prefix": "x"}),
        ("list_principals", {}),
    ],
)
def test_only_operators_hand_out_keys(cast, action, tree):
    for player in (cast.agent, cast.reader, cast.reviewer, cast.stranger, make_person("someone")):
        with pytest.raises(ForbiddenError):
            player.call(action, tree)
    assert ApiKey.objects.count() == 3


def test_without_a_domain_a_principal_lives_in_legacy(cast):
    answer = cast.operator.do("create_principal", name="old")
    assert answer["principal"]["grants"] == [{"domain_id": "legacy", "pattern": "*", "rights": ["read", "write"]}]
    assert (
        make_again(answer["api_key"]).do("commit_turn", {k: v for k, v in a_turn().items() if k != "domain_id"})["seq"]
        == 1
    )


def test_a_reviewer_assignment_is_kept_once(cast):
    cast.operator.do("assign_reviewer", user="reviewer", domain_id=TEAM)
    assert AuditEntry.objects.latest("id").changes == []


def test_lists_are_in_byte_order_on_every_database(cast):
    names = ["b", "B", "a", "Z", "a-b", "aa", "a.c", "é", "中", "10", "9"]
    for name in names:
        make_agent(name, f"d{name}" if name.isascii() else "dx")
    rows, cursor = [], None
    while True:
        answer = cast.operator.do("list_principals", limit=3, cursor=cursor)
        rows += [row["name"] for row in answer["principals"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert rows == sorted([*names, "agent", "reader", "stranger"], key=str.encode)
    domains = [row["id"] for row in cast.operator.do("list_domains", limit=100)["domains"]]
    assert domains == sorted(domains, key=str.encode)
    assert len(domains) == 12
