from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from governance import gate
from kernel.conf import conf
from kernel.context import Ctx, Door
from kernel.errors import NotFoundError
from media.models import MediaJob, SourceDocument
from scopes.selectors import authenticate_key, identify_person
from smartbrain_site import demo


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.SMARTBRAIN = replace(conf(), data_dir=tmp_path)


def made() -> demo.Credentials:
    """The demo of a database that had none."""
    credentials = demo.set_up()
    assert credentials is not None
    return credentials


def agent(key: str) -> Ctx:
    identity = authenticate_key(key)
    return Ctx(identity.actor, Door.PYTHON, identity.reach)


def sessions(key: str) -> dict[str, int]:
    found = gate.call("list_sessions", {"domain_id": demo.DOMAIN}, ctx=agent(key)).body()["sessions"]
    return {row["session_id"]: row["turns"] for row in found}


def test_it_works(db):
    key = made().api_key
    assert sessions(key) == {"choosing-a-database": 5, "数据库选型跟进": 4}
    atlas = {"read": [{"type": "project", "id": "atlas"}]}
    for query, author in (("Which database was decided?", "Mira"), ("备份策略", "李伟")):
        given = {"domain_id": demo.DOMAIN, "scope_context": atlas, "query": query}
        found = gate.call("search_memory", given, ctx=agent(key)).body()["results"]
        assert author in {row["author"] for row in found}


def test_it_shows_documents_and_a_job_in_each_of_two_ends(db):
    ctx = agent(made().api_key)
    documents = gate.call("list_documents", {"domain_id": demo.DOMAIN}, ctx=ctx).body()["documents"]
    assert {(each["title"], each["media_type"]) for each in documents} == {
        ("On-call handbook", "document"),
        ("Pages of the pager, by quarter", "image"),
    }
    failed, done = gate.call("list_media_jobs", {}, ctx=ctx).body()["jobs"]
    assert (done["status"], failed["status"]) == ("completed", "failed")
    assert "SMARTBRAIN_MEDIA_ALLOWED_HOSTS" in failed["error"]
    here = {"domain_id": demo.DOMAIN, "scope_context": {"read": [{"type": "project", "id": "atlas"}]}}
    found = gate.call("search_memory", {**here, "query": "交接", "kinds": ["section"]}, ctx=ctx).body()
    assert found["results"]


def test_the_people_can_sign_in_and_reach_what_is_theirs(db, client):
    shown = made()
    for name, password in (
        (shown.reviewer, shown.reviewer_password),
        (shown.operator, shown.operator_password),
    ):
        answer = client.post("/admin/login/?next=/admin/", {"username": name, "password": password})
        assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    reviewer = get_user_model().objects.get(username=shown.reviewer)
    assert (reviewer.is_staff, reviewer.is_superuser) == (True, False)
    assert {grant.domain_id for grant in identify_person(reviewer).reach} == {demo.DOMAIN}
    assert get_user_model().objects.get(username=shown.operator).is_superuser


def test_the_agent_reaches_no_other_domain(db):
    key = made().api_key
    with pytest.raises(NotFoundError):
        gate.call("list_sessions", {"domain_id": "legacy"}, ctx=agent(key))


def test_the_file_is_for_its_owner_only(db):
    key = made().api_key
    path = demo.credentials_path()
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text("utf-8"))["api_key"] == key
    assert [other.name for other in path.parent.iterdir() if other.is_file()] == [path.name]


def test_a_second_time_changes_nothing(db, capsys):
    call_command("setup_demo")
    before = demo.credentials_path().read_bytes()
    call_command("setup_demo")
    assert demo.set_up() is None
    assert demo.credentials_path().read_bytes() == before
    path = demo.credentials_path()
    assert capsys.readouterr().out == f"Demo set up: {path}\nThe demo was there: {path}\n"


def test_a_start_that_was_cut_short_is_taken_up_again(db):
    first = made()
    demo.credentials_path().unlink()
    again = made()
    assert again.api_key != first.api_key
    assert sessions(again.api_key) == sessions(first.api_key), "no turn is stored twice"
    assert (SourceDocument.objects.count(), MediaJob.objects.count()) == (2, 2), "and no file"


def test_a_file_of_another_database_does_not_count(db):
    demo.credentials_path().write_text("{}", "utf-8")
    key = made().api_key
    assert json.loads(demo.credentials_path().read_text("utf-8"))["api_key"] == key
