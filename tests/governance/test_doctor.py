"""The doctor: each check says what is wrong and what to do, and the command ends with a code that scripts can read."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django_q.models import Schedule

from governance import hooks
from governance.audit import chain
from governance.hooks import Checked
from governance.models import AuditEntry
from kernel import clock
from kernel.conf import conf
from kernel.errors import ForbiddenError, InvalidInputError, UnavailableError
from media.models import MediaJob
from memory.models import Message
from search.models import IndexEntry
from tests.conftest import TEAM, a_turn
from tests.guards.write_guard import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_store(settings, tmp_path):
    settings.SMARTBRAIN = dataclasses.replace(conf(), data_dir=tmp_path)


@pytest.fixture
def worker(cast) -> None:
    """A worker has been at it until just now: what was written is sealed, and every schedule is due again soon."""
    Schedule.objects.update(next_run=clock.now())
    while chain.seal_next():
        pass


def add(player) -> None:
    player.do("add_document", domain_id=TEAM, options={"text": "Stripes of a zebra.", "title": "Zebra"})


def wrong(cast) -> dict[str, str]:
    """What is wrong, by check, with what to do."""
    return {each["check"]: each["advice"] for each in cast.operator.do("doctor")["findings"] if not each["well"]}


def run(*args: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("doctor", *args, stdout=out)
    except SystemExit as exc:
        return int(exc.code or 0), out.getvalue()
    return 0, out.getvalue()


@pytest.mark.usefixtures("worker")
def test_it_works(cast):
    cast.agent.do("commit_turn", a_turn())
    add(cast.agent)
    found = cast.operator.do("doctor")
    assert (found["well"], wrong(cast)) == (True, {})
    assert [each["check"] for each in found["findings"]] == [
        "audit", "media index", "media jobs", "media parsers", "media store", "memory index", "migrations", "policy", "queue",
    ]  # fmt: skip
    code, said = run()
    assert (code, said.splitlines()[-1]) == (0, "All is well.")


def test_only_an_operator_is_told(cast):
    for player in (cast.agent, cast.reviewer, cast.stranger):
        with pytest.raises(ForbiddenError):
            player.do("doctor")
    with pytest.raises(InvalidInputError):
        cast.operator.do("doctor", deep=True)


def test_what_the_probe_stored_is_gone_again(cast):
    cast.operator.do("doctor")
    assert [path for path in (conf().data_dir / "media").rglob("*") if path.is_file()] == []


def test_a_store_that_cannot_be_written_is_told(cast, tmp_path):
    (tmp_path / "media").write_text("no folder")
    assert "media store" in wrong(cast)
    code, said = run()
    assert (code, "WRONG media store" in said) == (1, True)


def test_texts_that_no_search_finds_are_told(cast):
    cast.agent.do("commit_turn", a_turn())
    add(cast.agent)
    with unguarded():
        IndexEntry.objects.all().delete()
    found = wrong(cast)
    assert "rebuild_index" in found["memory index"]
    assert "check_media" in found["media index"]


@pytest.mark.usefixtures("worker")
def test_entries_of_an_earlier_tokeniser_are_told(cast):
    cast.agent.do("commit_turn", a_turn())
    with unguarded():
        IndexEntry.objects.update(tokeniser=0)
    assert list(wrong(cast)) == ["memory index"]
    assert Message.objects.exists()


def test_stuck_jobs_are_told(cast):
    cast.agent.do("enqueue_media", domain_id=TEAM, operation="add_document", options={"text": "Stripes."})
    assert "media jobs" not in wrong(cast)
    with unguarded():
        MediaJob.objects.update(available_at=clock.now() - timedelta(hours=1))
    assert "worker" in wrong(cast)["media jobs"]


@pytest.mark.usefixtures("worker")
def test_a_queue_that_nobody_works_on_is_told(cast):
    assert "queue" not in wrong(cast)
    Schedule.objects.create(name="x", func="x", next_run=clock.now() - timedelta(hours=1))
    assert "qcluster" in wrong(cast)["queue"]


@pytest.mark.usefixtures("worker")
def test_entries_that_nobody_seals_are_told(cast):
    assert "audit" not in wrong(cast)
    with unguarded():
        AuditEntry.objects.update(at=clock.now() - timedelta(hours=1))
    assert "audit" in wrong(cast)
    while chain.seal_next():
        pass
    assert "audit" not in wrong(cast)


def test_a_policy_that_cannot_be_used_is_told(cast, tmp_path):
    (tmp_path / "brain.yml").write_text("policies: [")
    assert "policy" in wrong(cast)


def test_a_database_without_a_migration_is_told_and_nothing_else_is_tried(cast):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'media'")
    code, said = run("--json")
    found = json.loads(said)
    assert (code, [each["check"] for each in found["findings"]]) == (1, ["migrations"])
    assert found["findings"][0]["advice"] == "Run `manage.py migrate`."


@pytest.mark.parametrize(
    "fault", [UnavailableError("The moon is away."), OSError("secret path"), PermissionError("x")]
)
def test_a_check_that_cannot_be_made_is_wrong_and_says_nothing_internal(cast, monkeypatch, fault):
    def fail(now):
        raise fault

    monkeypatch.setitem(hooks._checks, "moon", fail)
    found = next(each for each in cast.operator.do("doctor")["findings"] if each["check"] == "moon")
    assert (found["well"], bool(found["advice"]), "secret" in found["what"]) == (False, True, False)


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="already"):
        hooks.register_doctor_check("queue", lambda now: Checked("fine"))
    with pytest.raises(ValueError, match="already"):
        hooks.register_diagnostics("media", lambda domain_id, now: {})
