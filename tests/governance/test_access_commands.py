from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from governance.management.base import operator_name
from governance.models import AuditEntry
from kernel.context import Door, Right
from kernel.errors import UnauthenticatedError
from scopes.models import ApiKey, Principal
from scopes.selectors import authenticate_key, identify_person
from tests.conftest import TEAM


def run(*args: str) -> tuple[int, dict]:
    """Exit code, and the JSON that was printed: the answer, or the problem."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*args, stdout=out, stderr=err)
    except SystemExit as exc:
        assert out.getvalue() == ""
        return int(exc.code or 0), json.loads(err.getvalue())
    assert err.getvalue() == ""
    return 0, json.loads(out.getvalue())


def grants(secret: str) -> list[tuple[str, str, list[str]]]:
    """What the key may do."""
    return [(row.domain_id, row.pattern, sorted(row.rights)) for row in authenticate_key(secret).reach]


def test_it_works(db):
    code, answer = run("create_principal", "bot", "--domain", "demo", "--rights", "read,promote")
    assert (code, answer["principal"]["name"]) == (0, "bot")
    assert grants(answer["api_key"]) == [("demo", "*", ["promote", "read"])]
    entry = AuditEntry.objects.get(action="create_principal")
    assert (entry.door, entry.actor_kind, entry.actor_name) == (Door.CLI, "system", operator_name())
    assert answer["api_key"] not in repr(entry.changes)


def test_without_a_domain_it_is_legacy(db):
    _, answer = run("create_principal", "old client")
    assert grants(answer["api_key"]) == [("legacy", "*", ["read", "write"])]


def test_a_pattern_and_an_owner(cast):
    _, answer = run("create_principal", "bot", "--domain", "demo", "--pattern", "project:*", "--owner", "reviewer")
    assert grants(answer["api_key"]) == [("demo", "project:*", ["read", "write"])]
    assert answer["principal"]["owner"] == "reviewer"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["agent"], "conflict"),
        (["bot", "--owner", "nobody"], "not_found"),
        (["bot", "--rights", "read,fly"], "invalid_input"),
        (["bot", "--rights", ""], "invalid_input"),
        (["bot", "--rights", "operate"], "invalid_input"),
        (["bot", "--domain", "no spaces"], "invalid_input"),
        (["bot", "--pattern", "nonsense"], "invalid_input"),
        (["a\x00b"], "invalid_input"),
        (["a\udcffb"], "invalid_input"),
    ],
)
def test_a_principal_that_cannot_be_is_refused(cast, args, code):
    before = Principal.objects.count()
    left, problem = run("create_principal", *args)
    assert (left, problem["code"]) == (1, code)
    assert Principal.objects.count() == before


@pytest.mark.parametrize("command", ["create_principal", "issue_key", "revoke_key", "grant_access", "assign_reviewer"])
def test_nobody_named_is_wrong_use(db, command):
    with pytest.raises(CommandError):
        call_command(command)


def test_one_more_key_works_beside_the_first(cast):
    code, answer = run("issue_key", "agent")
    assert code == 0
    assert authenticate_key(answer["api_key"]).actor == authenticate_key(cast.agent.key).actor


@pytest.mark.parametrize("form", [lambda key: key, lambda key: key.split("_")[1]], ids=["the key", "its prefix"])
def test_a_revoked_key_stops_working(cast, form):
    code, answer = run("revoke_key", form(cast.agent.key))
    assert (code, answer["principal"]) == (0, "agent")
    with pytest.raises(UnauthenticatedError):
        authenticate_key(cast.agent.key)
    entry = AuditEntry.objects.get(action="revoke_key")
    assert (entry.door, entry.outcome) == ("cli", "allowed")


@pytest.mark.parametrize("key", ["ffffffffffff", "sb_ffffffffffff_x", "sb_", "_", "钥匙"])
def test_an_unknown_key_is_refused(cast, key):
    left, problem = run("revoke_key", key)
    assert (left, problem["status"] in {404, 422}) == (1, True)
    assert not ApiKey.objects.exclude(revoked_at=None).exists()


def test_a_grant_is_set_and_taken_away(cast):
    run("grant_access", "reader", "--domain", TEAM, "--pattern", "project:p1", "--rights", "read,write")
    assert (TEAM, "project:p1", ["read", "write"]) in grants(cast.reader.key)
    run("grant_access", "reader", "--domain", TEAM, "--rights", "")
    assert grants(cast.reader.key) == [(TEAM, "project:p1", ["read", "write"])]


def test_a_grant_in_a_domain_that_is_not_there_is_refused(cast):
    left, problem = run("grant_access", "reader", "--domain", "nowhere", "--rights", "read")
    assert (left, problem["code"]) == (1, "not_found")


def test_a_reviewer_is_assigned(cast, django_user_model):
    user = django_user_model.objects.create_user("new", None, "correct horse battery")
    code, answer = run("assign_reviewer", "new", "--domain", TEAM, "--pattern", "project:*")
    assert (code, answer["pattern"]) == (0, "project:*")
    assert [(row.pattern, Right.DECIDE in row.rights) for row in identify_person(user).reach] == [("project:*", True)]
