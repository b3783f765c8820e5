"""Signing in: guessing is slowed down, sessions end, and all of it is on record."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client, override_settings
from django.utils import timezone

from governance.models import AuditEntry
from tests.conftest import make_person

PASSWORD = "correct horse battery"
LOGIN = "/admin/login/"


@pytest.fixture
def ann(db):
    make_person("ann", is_staff=True)
    return get_user_model().objects.get(username="ann")


def sign_in(client: Client, name: str = "ann", password: str = PASSWORD, **extra: Any):
    return client.post(f"{LOGIN}?next=/admin/", {"username": name, "password": password}, **extra)


def noted(event: str) -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(action=event).order_by("id")
    return [(row.outcome, row.actor_name, row.reason) for row in rows]


def test_it_works(ann, client):
    answer = sign_in(client)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert client.get("/admin/").status_code == 200
    client.post("/admin/logout/")
    assert client.get("/admin/").status_code == 302
    assert noted("sign_in") == [("allowed", "ann", " from 127.0.0.1")]
    assert noted("sign_out") == [("allowed", "ann", " from 127.0.0.1")]


def test_a_sign_in_page_opened_by_itself_leads_to_the_overview(ann, client):
    answer = client.post(LOGIN, {"username": "ann", "password": PASSWORD}, follow=True)
    assert (answer.redirect_chain, answer.status_code) == ([("/admin/", 302)], 200)


def test_a_wrong_password_is_on_record_and_names_nobody_for_sure(ann, client):
    assert sign_in(client, password="wrong").status_code == 200
    assert sign_in(client, name="nobody\u202e", password="wrong").status_code == 200
    first, second = noted("sign_in")
    assert first == ("denied", "sign-in", "'ann' from 127.0.0.1: wrong name or password")
    assert second[0] == "denied"
    assert "\u202e" not in second[2]
    assert PASSWORD not in str(noted("sign_in"))


def test_too_many_failures_lock_the_name_at_that_address(ann, client):
    for _ in range(4):
        assert sign_in(client, password="wrong").status_code == 200
    answer = sign_in(client, password="wrong")
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    page = answer.content.decode()
    assert "cannot sign in from your address for 15 minutes" in page
    assert sign_in(client).status_code == 429, "the right password does not open a locked name"
    assert "locked after too many failures" in noted("sign_in")[-1][2]


def test_another_address_and_another_name_are_not_locked(ann, client):
    make_person("ben", is_staff=True)
    for _ in range(6):
        sign_in(client, password="wrong")
    assert sign_in(Client(), REMOTE_ADDR="10.0.0.9").status_code == 302
    assert sign_in(Client(), name="ben").status_code == 302


def test_the_lock_ends_by_itself(ann, client):
    for _ in range(6):
        sign_in(client, password="wrong")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert sign_in(client).status_code == 302


def test_a_right_password_forgets_the_failures_before(ann, client):
    for _ in range(3):
        for _ in range(3):
            sign_in(client, password="wrong")
        assert sign_in(client).status_code == 302
        client.post("/admin/logout/")


@pytest.mark.parametrize("unknown", ["nobody", "ann "])
def test_an_unknown_name_is_locked_alike(ann, client, unknown):
    answers = [sign_in(client, name=unknown, password="wrong").status_code for _ in range(5)]
    assert answers == [200, 200, 200, 200, 429]


def test_behind_a_proxy_the_address_it_saw_counts(ann):
    made_up = {"REMOTE_ADDR": "10.0.0.1"}
    with override_settings(SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https")):
        for number in range(6):
            sign_in(Client(), password="wrong", HTTP_X_FORWARDED_FOR=f"1.1.1.{number}, 203.0.113.7", **made_up)
        locked = sign_in(Client(), HTTP_X_FORWARDED_FOR="9.9.9.9, 203.0.113.7", **made_up)
        free = sign_in(Client(), HTTP_X_FORWARDED_FOR="203.0.113.7, 203.0.113.8", **made_up)
    assert (locked.status_code, free.status_code) == (429, 302)
    assert "from 203.0.113.7" in noted("sign_in")[0][2]


def test_without_a_proxy_nobody_chooses_their_address(ann):
    for number in range(6):
        sign_in(Client(), password="wrong", HTTP_X_FORWARDED_FOR=f"1.1.1.{number}")
    assert sign_in(Client(), HTTP_X_FORWARDED_FOR="9.9.9.9").status_code == 429


def test_the_command_line_respects_the_lock_and_adds_to_it(ann, tmp_path, settings, capsys):
    file = tmp_path / "password"
    file.write_text("wrong")
    settings.SMARTBRAIN = replace(settings.SMARTBRAIN, password_file=str(file))
    for _ in range(5):
        with pytest.raises(SystemExit):
            call_command("act", "whoami", "--user", "ann")
    file.write_text(PASSWORD)
    with pytest.raises(SystemExit):
        call_command("act", "whoami", "--user", "ann")
    assert "Too many failed attempts" in capsys.readouterr().err
    assert AuditEntry.objects.filter(action="sign_in", door="cli", outcome="denied").count() == 6


def test_the_session_key_changes_at_the_sign_in(ann, client):
    client.get(LOGIN)
    session = client.session
    session["before"] = True
    session.save()
    before = session.session_key
    client.cookies["sessionid"] = before
    sign_in(client)
    assert client.session.session_key != before
    assert not Session.objects.filter(session_key=before).exists()


def test_a_session_ends_after_its_time(ann, client, settings):
    sign_in(client)
    assert client.get("/admin/").status_code == 200
    assert client.session.get_expire_at_browser_close()
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert client.get("/admin/").status_code == 302
    assert settings.SESSION_COOKIE_AGE == 8 * 3600


def test_after_a_change_of_password_other_sessions_sign_in_again(ann, client):
    other = Client()
    sign_in(client)
    sign_in(other)
    new = "another battery horse"
    given = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post("/admin/password_change/", given).status_code == 302
    assert other.get("/admin/").status_code == 302
    assert sign_in(other, password=PASSWORD).status_code == 200
    assert sign_in(other, password=new).status_code == 302


def test_a_switched_off_account_does_not_sign_in_and_loses_its_session(ann, client):
    sign_in(client)
    get_user_model().objects.filter(pk=ann.pk).update(is_active=False)
    assert client.get("/admin/").status_code == 302
    assert sign_in(Client()).status_code == 200


def test_every_change_of_an_account_is_on_record(ann, client):
    make_person("boss", is_staff=True, is_superuser=True)
    sign_in(client, name="boss")
    given = {
        "username": "new",
        "usable_password": "true",
        "password1": "battery staple horse",
        "password2": "battery staple horse",
    }
    assert client.post("/admin/auth/user/add/", given).status_code == 302
    address = f"/admin/auth/user/{ann.pk}/change/"
    assert client.post(address, {"username": "ann", "is_active": "on", "email": "ann@example.org"}).status_code == 302
    assert noted("add_account") == [("allowed", "boss", "user 'new'")]
    (changed,) = noted("change_account")
    assert changed[:2] == ("allowed", "boss")
    assert changed[2].startswith("user 'ann': ")
    assert "Email address" in changed[2]
