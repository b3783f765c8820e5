from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from governance.models import AuditEntry
from kernel.actions import all_actions
from memory.models import Message, Turn
from tests.conftest import TEAM, a_turn
from tests.doors.callers import PASSWORD
from tests.doors.mcp_clients import command, environment


@pytest.fixture
def act(cast, settings, tmp_path):
    """`act` in the thread and transaction of the test: exit code, standard output, standard error."""

    def run(*args: str, key: str = cast.agent.key, password: str | bytes = PASSWORD) -> tuple[int, str, str]:
        path = tmp_path / "password"
        path.write_bytes(password if isinstance(password, bytes) else f"{password}\n".encode())
        settings.SMARTBRAIN = replace(settings.SMARTBRAIN, api_key=key, password_file=str(path))
        out, err = StringIO(), StringIO()
        try:
            call_command("act", *args, stdout=out, stderr=err)
        except SystemExit as exc:
            return int(exc.code or 0), out.getvalue(), err.getvalue()
        except CommandError as exc:
            return exc.returncode, out.getvalue(), str(exc)
        return 0, out.getvalue(), err.getvalue()

    return run


def shell(*args: str, stdin: bytes = b"", **env: Any) -> subprocess.CompletedProcess[bytes]:
    """A command as a process of its own."""
    return subprocess.run(
        [sys.executable, *command(*args)], env=environment(**env), input=stdin, capture_output=True, check=False
    )


def test_it_works(cast, act):
    code, out, err = act("commit_turn", json.dumps(a_turn("默认数据库是 Postgres")))
    assert (code, err, json.loads(out)["seq"]) == (0, "", 1)
    code, out, err = act("list_turns", json.dumps({"domain_id": TEAM, "session_id": "s1"}))
    assert (code, err) == (0, "")
    assert "默认数据库是 Postgres" in out
    assert AuditEntry.objects.get(action="list_turns").door == "cli"


def test_what_waits_for_a_person_ends_with_0(cast, act):
    rule = {"name": "all", "actions": ["commit_turn"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="look first")
    code, out, _ = act("commit_turn", json.dumps(a_turn()))
    assert (code, json.loads(out)["status"]) == (0, "queued")
    assert not Turn.objects.exists()


def test_a_person_acts_with_their_password(cast, act):
    code, out, _ = act("whoami", "--user", "reviewer", key="")
    assert (code, json.loads(out)["name"], json.loads(out)["kind"]) == (0, "reviewer", "person")


@pytest.mark.parametrize("password", ["wrong", "", PASSWORD[:-1]])
@pytest.mark.parametrize("user", ["reviewer", "nobody-of-that-name"])
def test_a_wrong_password_is_refused_like_an_unknown_person(act, user, password):
    code, out, err = act("whoami", "--user", user, password=password)
    assert (code, out) == (1, "")
    problem = json.loads(err)
    assert (problem["code"], problem["detail"]) == (
        "unauthenticated",
        "No active person has this user name and password.",
    )


@pytest.mark.parametrize(("user", "password"), [("a\x00b", PASSWORD), ("reviewer", "a\x00b"), ("a\udcffb", PASSWORD)])
def test_a_name_or_password_that_nobody_can_have_is_refused(act, user, password):
    code, _, err = act("whoami", "--user", user, password=password)
    assert (code, json.loads(err)["code"]) == (1, "invalid_input")


def test_a_password_file_that_is_no_text_ends_with_2(act):
    code, _, err = act("whoami", "--user", "reviewer", password=b"\xff\xfe")
    assert (code, "SMARTBRAIN_PASSWORD_FILE" in err) == (2, True)


def test_no_action_ends_with_2(act):
    assert act()[0] == 2


def test_an_unknown_action_ends_with_2(act):
    code, out, err = act("no_such_action")
    assert (code, out) == (2, "")
    assert "no_such_action" in err


def test_no_key_ends_with_2(act):
    code, out, err = act("whoami", key="")
    assert (code, out) == (2, "")
    assert "SMARTBRAIN_API_KEY" in err


@pytest.mark.parametrize("key", ["sb_0123456789ab_wrong", "nonsense", "sb_钥_匙", "sb_\udcff_x"])
def test_a_wrong_key_ends_with_1(act, key):
    code, out, err = act("whoami", key=key)
    assert (code, out, json.loads(err)["code"]) == (1, "", "unauthenticated")


def test_a_revoked_key_ends_with_1(cast, act):
    cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1])
    assert act("commit_turn", json.dumps(a_turn()))[0] == 1
    assert not Turn.objects.exists()


BAD = {
    "no JSON": ("hello", "invalid_json"),
    "a list": ("[]", "invalid_input"),
    "NaN": ('{"limit": NaN}', "invalid_json"),
    "a name twice": ('{"session_id": "a", "session_id": "b"}', "invalid_json"),
    "an unknown field": (json.dumps(a_turn(surprise=1)), "invalid_input"),
    "NUL": (json.dumps(a_turn("a\x00b")), "invalid_input"),
    "half of a surrogate pair": (json.dumps(a_turn("a\ud800b")), "invalid_input"),
    "5 MB in one message": (json.dumps(a_turn("x" * 5_000_000)), "too_large"),
    "10,000 messages": (
        json.dumps(a_turn(turn_events={"messages": [{"role": "user", "content": "x"}] * 10_000})),
        "too_large",
    ),
    "over the limit of a body": (" " * 9_000_000, "too_large"),
    "100,000 brackets": ("[" * 100_000, "invalid_json"),
    "another domain": (json.dumps(a_turn(domain_id="elsewhere")), "not_found"),
    "a time without its offset": (
        json.dumps(
            a_turn(turn_events={"messages": [{"role": "user", "content": "x", "created_at": "2026-12-01T09:30:00"}]})
        ),
        "invalid_input",
    ),
}


@pytest.mark.parametrize(("text", "code"), BAD.values(), ids=BAD)
def test_bad_input_ends_with_1_and_is_recorded(act, text, code):
    left, out, err = act("commit_turn", text)
    problem = json.loads(err)
    assert (left, out, problem["code"]) == (1, "", code)
    entry = AuditEntry.objects.get(action="commit_turn")
    assert (entry.door, entry.code, str(entry.request_id)) == ("cli", code, problem["request_id"])
    assert not Turn.objects.exists()


def test_a_bug_is_shown_as_a_number_only(act, a_bug, settings):
    with a_bug:
        code, out, err = act("whoami")
    assert (code, out, json.loads(err)["code"]) == (1, "", "internal")
    assert "secret detail" not in err


def test_a_database_that_is_away_ends_with_2(act, no_database):
    with no_database:
        code, out, err = act("whoami")
    assert (code, out) == (2, "")
    assert "/secret/" not in err


def test_the_list_names_every_action(act):
    code, out, _ = act("--list", key="")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [action.name for action in all_actions()]


@pytest.mark.django_db(transaction=True)
def test_from_the_shell_standard_input_is_read_and_every_language_kept(cast, tmp_path):
    key = tmp_path / "key"
    key.write_text(f"{cast.agent.key}\n")
    env: dict[str, Any] = {"SMARTBRAIN_API_KEY_FILE": str(key), "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    turn = json.dumps(a_turn("默认 héllo"), ensure_ascii=False).encode()
    assert shell("act", "commit_turn", "-", stdin=turn, **env).returncode == 0
    assert Message.objects.get().content == "默认 héllo"
    listed = shell("act", "list_turns", json.dumps({"domain_id": TEAM, "session_id": "s1"}), **env)
    assert (listed.returncode, listed.stderr) == (0, b"")
    assert "默认 héllo" in listed.stdout.decode("utf-8")
    latin = shell("act", "commit_turn", "-", stdin='{"session_id": "é"}'.encode("latin-1"), **env)
    assert (latin.returncode, json.loads(latin.stderr)["code"]) == (1, "invalid_json")


@pytest.mark.django_db(transaction=True)
def test_from_the_shell_wrong_use_ends_with_2_and_no_traceback(cast, tmp_path):
    wrong = {
        "unknown flag": shell("act", "whoami", "--nonsense", SMARTBRAIN_API_KEY=cast.agent.key),
        "unknown action": shell("act", "nonsense", SMARTBRAIN_API_KEY=cast.agent.key),
        "no key": shell("act", "whoami"),
        "no key file": shell("act", "whoami", SMARTBRAIN_API_KEY_FILE=str(tmp_path / "none")),
        "no terminal": shell("act", "whoami", "--user", "reviewer"),
        "no password file": shell(
            "act", "whoami", "--user", "reviewer", SMARTBRAIN_PASSWORD_FILE=str(tmp_path / "none")
        ),
    }
    for name, done in wrong.items():
        assert (done.returncode, done.stdout) == (2, b""), name
        assert b"Traceback" not in done.stderr, name


def test_from_the_shell_a_database_without_tables_ends_with_2(tmp_path):
    env = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'empty.sqlite3'}"}
    for args in (["act", "whoami"], ["mcp"]):
        done = subprocess.run(
            [sys.executable, str(Path(command()[0])), *args],
            env={**env, "SMARTBRAIN_API_KEY": "sb_0123456789ab_x"},
            input=b"",
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, b""), args
        assert b"migrate" in done.stderr
        assert b"Traceback" not in done.stderr
