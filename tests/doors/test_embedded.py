from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from django.conf import settings

from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from smartbrain_site import embedded
from tests.conftest import TEAM, a_turn

pytestmark = pytest.mark.once  # each example is a program of its own on a SQLite file of its own

OPENING = """
import json, os, sys
from smartbrain_site import embedded
"""


def program(text: str, *args: str, **env: str) -> subprocess.Popen[str]:
    """A Python program of its own, that knows nothing but where SmartBrain is."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", OPENING + textwrap.dedent(text), *args],
        env={**kept, "PYTHONPATH": str(settings.BASE_DIR), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(running: subprocess.Popen[str]) -> Any:
    """What the program printed as JSON."""
    out, err = running.communicate()
    assert (running.returncode, err) == (0, ""), err
    return json.loads(out)


def test_it_works(tmp_path):
    path = tmp_path / "new folder" / "my brain #1?50%25 脑.sqlite3"
    text = """
    with embedded.open(sys.argv[1], domain="demo") as brain:
        brain.commit_turn(session_id="s1", turn_events={"messages": [{"role": "user", "content": "默认数据库是 Postgres"}]})
        found = brain.search_memory(session_id="s1", query="数据库")["results"]
        turns = len(brain.list_turns(session_id="s1")["turns"])
    print(json.dumps({"found": [row["text"] for row in found], "turns": turns, "who": brain.call("whoami")["name"]}))
    """
    first = told(program(text, str(path)))
    assert first == {"found": ["默认数据库是 Postgres"], "turns": 1, "who": "embedded:demo"}
    assert path.is_file()
    assert told(program(text, str(path)))["turns"] == 2


def test_the_process_of_the_host_is_left_alone(tmp_path):
    text = """
    import logging, time
    before = dict(os.environ), time.tzname, logging.getLogger().handlers[:], logging.getLogger().level
    embedded.open(sys.argv[1], domain="demo").close()
    after = dict(os.environ), time.tzname, logging.getLogger().handlers[:], logging.getLogger().level
    print(json.dumps({"same": before == after}))
    """
    assert told(program(text, str(tmp_path / "b.sqlite3"), TZ="Asia/Shanghai"))["same"]


def test_the_environment_does_not_choose_the_file(tmp_path):
    text = 'print(json.dumps(embedded.open(sys.argv[1], domain="demo").call("whoami")["name"]))'
    other = tmp_path / "other.sqlite3"
    env = {"DATABASE_URL": f"sqlite:///{other}", "DATA_DIR": str(tmp_path / "else")}
    assert told(program(text, str(tmp_path / "b.sqlite3"), **env)) == "embedded:demo"
    assert not other.exists()


def test_three_programs_open_a_new_file_at_once(tmp_path):
    text = """
    with embedded.open(sys.argv[1], domain="demo") as brain:
        events = {"messages": [{"role": "user", "content": "hello"}]}
        print(json.dumps([brain.commit_turn(session_id="s1", turn_events=events)["seq"] for _ in range(5)]))
    """
    running = [program(text, str(tmp_path / "b.sqlite3")) for _ in range(3)]
    assert sorted(seq for each in running for seq in told(each)) == list(range(1, 16))


def test_another_file_in_the_same_process_is_refused(tmp_path):
    text = """
    from kernel.errors import ConflictError
    embedded.open(sys.argv[1], domain="demo")
    again = embedded.open(sys.argv[1], domain="second").call("whoami")["name"]
    try:
        embedded.open(sys.argv[2], domain="demo")
    except ConflictError as exc:
        print(json.dumps({"again": again, "code": exc.code, "detail": exc.message}))
    """
    answer = told(program(text, str(tmp_path / "one.sqlite3"), str(tmp_path / "two.sqlite3")))
    assert (answer["again"], answer["code"]) == ("embedded:second", "conflict")
    assert "one.sqlite3" in answer["detail"]
    assert "two.sqlite3" in answer["detail"]
    assert not (tmp_path / "two.sqlite3").exists()


def test_a_process_that_uses_django_for_something_else_is_refused(tmp_path):
    with pytest.raises(ConflictError):
        embedded.open(tmp_path / "b.sqlite3", domain="demo")
    assert not (tmp_path / "b.sqlite3").exists()


def test_a_bad_domain_is_refused(tmp_path):
    text = """
    from kernel.errors import InvalidInputError
    try:
        embedded.open(sys.argv[1], domain="no spaces")
    except InvalidInputError as exc:
        print(json.dumps(exc.code))
    """
    assert told(program(text, str(tmp_path / "b.sqlite3"))) == "invalid_input"


def test_refusals_are_domain_errors(cast):
    brain = embedded.Brain(TEAM, "agent")
    with pytest.raises(InvalidInputError):
        brain.commit_turn(**a_turn(surprise=1))
    with pytest.raises(NotFoundError):
        brain.commit_turn(**a_turn(domain_id="elsewhere"))
    with pytest.raises(NotFoundError):
        brain.call("no_such_action")
    with pytest.raises(AttributeError):
        brain.no_such_action()


def test_a_principal_that_is_not_there_is_refused(cast):
    with pytest.raises(ForbiddenError):
        embedded.Brain(TEAM, "nobody").call("whoami")


def test_the_domain_is_filled_in_only_where_none_is_named(cast):
    assert embedded.Brain(TEAM, "agent").commit_turn(session_id="s", turn_events=a_turn()["turn_events"])["seq"] == 1
    assert "commit_turn" in dir(embedded.Brain(TEAM, "agent"))


def test_documents_are_handed_in_and_retrieved(tmp_path):
    (tmp_path / "zoo.md").write_text("# Zoo\n\nZebra stripes keep flies away.\n")
    text = """
    plan = {"version": "0.1", "request_id": "01a22ffd-c3f2-7c9a-9451-3528953149e0", "purpose": "qa", "budget": {},
            "queries": [{"text": "zebra stripes"}]}
    with embedded.open(sys.argv[1], domain="demo") as brain:
        made = brain.add_document(sys.argv[2], {"title": "Handbook"})
        again = brain.add_media(source="", options={"text": "A lion.", "name": "lion.md"})
        found = brain.retrieve(plan)["evidences"]
        try:
            brain.add_image("no such file.png")
        except embedded.DomainError as refused:
            code = refused.code
    print(json.dumps({"status": [made["status"], again["status"]], "titles": [e["title"] for e in found], "code": code}))
    """
    answer = told(program(text, str(tmp_path / "b.sqlite3"), str(tmp_path / "zoo.md")))
    assert answer == {"status": ["success", "success"], "titles": ["Handbook"], "code": "invalid_input"}


def test_programs_that_start_at_once_read_one_whole_secret_key(tmp_path):
    text = """
    from smartbrain_site import host
    host.given.update(DATA_DIR=sys.argv[1])
    from smartbrain_site import settings
    print(json.dumps(settings.SECRET_KEY))
    """
    keys = {told(each) for each in [program(text, str(tmp_path)) for _ in range(4)]}
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert [path.name for path in tmp_path.glob("secret*")] == ["secret-key"]
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600
