"""The second factor: set up, asked for on every way in, recovered from, and reset by an operator."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from io import StringIO
from urllib.parse import unquote

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from governance.models import AuditEntry, RecoveryCode, RecoveryDevice
from governance.services import devices
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError, QuotaExceededError
from tests.conftest import make_person
from tests.governance.test_signin import PASSWORD, noted, sign_in
from tests.guards.write_guard import unguarded
from tests.threads import at_once

VERIFY, SETUP = "/admin/second-factor/", "/admin/second-factor/setup/"
pytestmark = pytest.mark.usefixtures("held_time")  # codes last half a minute, the wait after a wrong one a second
SHOWN = re.compile(r"<li><code>((?:[a-z2-7]{4}-){3}[a-z2-7]{4})</code>")


@pytest.fixture
def ann(db):
    make_person("ann", is_staff=True)
    return get_user_model().objects.get(username="ann")


def code(device: TOTPDevice, later: int = 0) -> str:
    """What the authenticator shows, `later` steps from now."""
    return f"{totp(device.bin_key, device.step, device.t0 - later * device.step, device.digits):06}"


def enrolled(user) -> tuple[TOTPDevice, list[str]]:
    """An authenticator whose present code is still unused, and recovery codes."""
    key = devices.new_key()
    codes = devices.enrol(user, key, f"{totp(bytes.fromhex(key)):06}")
    TOTPDevice.objects.update(last_t=-1)
    return TOTPDevice.objects.get(user=user), codes


def test_it_works(ann, client):
    sign_in(client)
    page = client.get(SETUP).content.decode()
    assert "<svg" in page
    secret = re.search(r'sb-secret">([A-Z2-7]{32})<', page)
    assert secret
    key = client.session["second_factor_key"]
    assert devices.secret_of(key) == secret[1]
    answer = client.post(SETUP, {"wish": "enrol", "code": f"{totp(bytes.fromhex(key)):06}"})
    codes = SHOWN.findall(answer.content.decode())
    assert len(set(codes)) == 10
    assert client.get("/admin/").status_code == 200

    other = Client()
    assert sign_in(other)["Location"] == "/admin/"
    sent = other.get("/admin/governance/auditentry/")
    assert (sent.status_code, unquote(sent["Location"])) == (302, f"{VERIFY}?next=/admin/governance/auditentry/")
    before = other.session.session_key
    done = other.post(VERIFY, {"code": codes[0], "next": "/admin/governance/auditentry/"})
    assert (done.status_code, done["Location"]) == (302, "/admin/governance/auditentry/")
    assert other.session.session_key != before
    assert other.get("/admin/governance/auditentry/").status_code == 200
    assert [row[0] for row in noted("second_factor")] == ["allowed"]
    assert noted("second_factor_set_up")


def test_the_code_of_the_authenticator_lets_in_once(ann, client):
    device, _ = enrolled(ann)
    sign_in(client)
    shown = code(device)
    assert client.post(VERIFY, {"code": f"{shown[:3]} {shown[3:]}"}).status_code == 302
    again = Client()
    sign_in(again)
    assert again.post(VERIFY, {"code": shown}).status_code == 422, "a code that was seen is no code any more"


def test_a_recovery_code_works_once(ann):
    _, codes = enrolled(ann)
    for wanted in (302, 422):
        client = Client()
        sign_in(client)
        assert client.post(VERIFY, {"code": codes[3].upper()}).status_code == wanted
    assert devices.codes_left(ann) == 9


@pytest.mark.parametrize(
    "typed", [str.upper, lambda code: code.replace("-", ""), lambda code: f" {code[:9]} {code[9:]} "]
)
def test_a_recovery_code_may_be_typed_as_people_type(ann, typed):
    _, codes = enrolled(ann)
    assert devices.verify(ann, typed(codes[0])).name == "recovery codes"


def test_recovery_codes_are_shown_once_and_kept_as_hashes_alone(ann, client):
    sign_in(client)
    client.get(SETUP)
    key = client.session["second_factor_key"]
    answer = client.post(SETUP, {"wish": "enrol", "code": f"{totp(bytes.fromhex(key)):06}"})
    codes = SHOWN.findall(answer.content.decode())
    assert len(codes) == 10
    assert not SHOWN.search(client.get(SETUP).content.decode())
    assert "10 recovery codes left" in client.get(SETUP).content.decode()
    kept = " ".join(str(row) for model in apps.get_models() for row in model._default_manager.values_list())
    assert all(re.fullmatch(r"[0-9a-f]{64}", row.hash) for row in RecoveryCode.objects.all())
    for each in codes:
        assert each not in kept
        assert each.replace("-", "") not in kept


def test_guessing_recovery_codes_is_slowed_down(ann, held_time):
    _, codes = enrolled(ann)
    with pytest.raises(InvalidInputError):
        devices.verify(ann, "abcd-efgh-ijkl-mnop")
    held_time.passes(seconds=0.9)
    with pytest.raises(QuotaExceededError, match="Too many wrong codes"):
        devices.verify(ann, codes[0])
    assert devices.codes_left(ann) == 10
    held_time.passes(seconds=0.1)
    assert devices.verify(ann, codes[0]).name == "recovery codes"


def test_a_recovery_code_is_its_owners_alone(ann):
    make_person("bob", is_staff=True)
    bob = get_user_model().objects.get(username="bob")
    _, codes = enrolled(ann)
    devices.renew_codes(bob)
    with pytest.raises(InvalidInputError):
        devices.verify(bob, codes[0])
    assert (devices.codes_left(ann), devices.codes_left(bob)) == (10, 10)


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_with_one_recovery_code_one_gets_in(ann):
    _, codes = enrolled(ann)
    outcomes = at_once([partial(devices.verify, ann, codes[0]) for _ in range(4)])
    assert [type(outcome) for outcome in outcomes].count(RecoveryDevice) == 1
    assert devices.codes_left(ann) == 9
    RecoveryDevice.objects.update(throttling_failure_count=0)
    loaded = [RecoveryDevice.objects.get() for _ in range(4)]
    plain = codes[1].replace("-", "")
    assert sorted(at_once([partial(device.verify_token, plain) for device in loaded])) == [False, False, False, True]
    assert devices.codes_left(ann) == 8


@pytest.mark.django_db(transaction=True)
def test_plain_codes_of_an_earlier_version_are_gone_after_migrating(ann):
    """Those of other apps that rest on what is taken back go with it, and all come again."""
    after = MigrationExecutor(connection).loader.graph.leaf_nodes()
    with unguarded():
        MigrationExecutor(connection).migrate([("governance", "0006_quotas")])
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE otp_static_staticdevice (id integer PRIMARY KEY, user_id integer NOT NULL)")
            cursor.execute(
                "CREATE TABLE otp_static_statictoken (id integer PRIMARY KEY, token varchar(16) NOT NULL,"
                " device_id integer NOT NULL REFERENCES otp_static_staticdevice (id))"
            )
            cursor.execute("INSERT INTO otp_static_staticdevice VALUES (1, %s)", [ann.pk])
            cursor.execute("INSERT INTO otp_static_statictoken VALUES (1, 'abcdefgh', 1)")
    finally:
        with unguarded():
            MigrationExecutor(connection).migrate(after)
    assert MigrationExecutor(connection).migration_plan(after) == []
    assert not [name for name in connection.introspection.table_names() if name.startswith("otp_static")]
    assert devices.codes_left(ann) == 0
    assert len(devices.renew_codes(ann)) == 10


@pytest.mark.parametrize(
    "given", ["", "000000", "abcdefgh", "abcd-efgh-ijkl-mnop", "1" * 500, "一二三四五六", "12345\x00", "' OR 1=1 --"]
)
def test_a_wrong_code_lets_nobody_in(ann, client, given):
    enrolled(ann)
    sign_in(client)
    answer = client.post(VERIFY, {"code": given})
    assert answer.status_code == 422
    assert "This code is not right" in answer.content.decode()
    assert client.get("/admin/").status_code == 302
    assert noted("second_factor")[-1][0] == "denied"


def test_guessing_codes_is_slowed_down(ann, client, held_time):
    device, _ = enrolled(ann)
    sign_in(client)
    client.post(VERIFY, {"code": "000000"})
    held_time.passes(seconds=0.9)
    answer = client.post(VERIFY, {"code": code(device)})
    assert answer.status_code == 429
    assert "Too many wrong codes: try again in 1 seconds" in answer.content.decode()
    with pytest.raises(QuotaExceededError):
        devices.verify(ann, code(device))
    held_time.passes(seconds=0.1)
    assert client.post(VERIFY, {"code": code(device)}).status_code == 302


@pytest.mark.parametrize(
    "next_page", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_nobody_is_sent_elsewhere(ann, client, next_page):
    device, _ = enrolled(ann)
    sign_in(client)
    assert client.post(VERIFY, {"code": code(device), "next": next_page})["Location"] == "/admin/"


def test_without_the_second_factor_no_page_of_the_admin_opens(ann, client):
    enrolled(ann)
    sign_in(client)
    for path in ("/admin/", "/admin/password_change/", "/admin/memory/memoryitem/", SETUP, "/admin/none/such/"):
        assert client.get(path)["Location"].startswith(VERIFY), path
    assert client.get(VERIFY).status_code == 200
    assert client.post("/admin/logout/").status_code == 200


def test_where_it_is_required_it_is_set_up_first(ann, client, settings):
    settings.SECOND_FACTOR_REQUIRED = True
    sign_in(client)
    assert unquote(client.get("/admin/")["Location"]) == f"{SETUP}?next=/admin/"
    assert "asks everyone who signs in for a second factor" in client.get(SETUP).content.decode()
    client.post(SETUP, {"wish": "enrol", "code": f"{totp(bytes.fromhex(client.session['second_factor_key'])):06}"})
    assert client.get("/admin/").status_code == 200
    page = client.get(SETUP).content.decode()
    assert "Remove my second factor" not in page
    device = TOTPDevice.objects.get(user=ann)
    TOTPDevice.objects.update(last_t=-1)
    refused = client.post(SETUP, {"wish": "remove", "code": code(device)})
    assert refused.status_code == 403
    assert devices.has_device(ann)


def test_a_wrong_code_sets_nothing_up(ann, client):
    sign_in(client)
    client.get(SETUP)
    for given in ("000000", "²²²²²²", "1" * 5000):
        assert client.post(SETUP, {"wish": "enrol", "code": given}).status_code == 422
    assert not TOTPDevice.objects.exists()
    with pytest.raises(InvalidInputError):
        devices.enrol(ann, devices.new_key(), "x")


def test_one_who_is_signed_in_changes_nothing_without_a_code(ann, client):
    device, codes = enrolled(ann)
    sign_in(client)
    client.post(VERIFY, {"code": codes[0]})
    for wish in ("remove", "renew", "enrol"):
        assert client.post(SETUP, {"wish": wish, "code": "000000"}).status_code in (422, 429)
    assert TOTPDevice.objects.get(user=ann).pk == device.pk
    renewed = client.post(SETUP, {"wish": "renew", "code": codes[1]})
    assert renewed.status_code == 200
    fresh = SHOWN.findall(renewed.content.decode())
    assert len(fresh) == 10
    assert not set(fresh) & set(codes)
    assert client.post(SETUP, {"wish": "remove", "code": fresh[0]}).status_code == 200
    assert not TOTPDevice.objects.exists()
    assert not RecoveryDevice.objects.exists()
    assert [noted(event)[0][0] for event in ("recovery_codes_renewed", "second_factor_removed")] == ["allowed"] * 2


def test_someone_not_signed_in_sees_neither_page(db, client):
    for path in (VERIFY, SETUP):
        assert client.get(path)["Location"] == "/admin/login/"


def test_the_pages_are_not_kept_and_ask_no_other_host(ann, client):
    sign_in(client)
    answer = client.get(SETUP)
    assert "no-store" in answer["Cache-Control"]
    assert not re.findall(r'(?:src|href)="https?://', answer.content.decode())


def test_an_operator_resets_a_lost_device(cast, client):
    make_person("ann", is_staff=True)
    ann = get_user_model().objects.get(username="ann")
    enrolled(ann)
    for player in (cast.reviewer, cast.agent):
        with pytest.raises(ForbiddenError):
            player.do("reset_second_factor", user="ann", reason="phone lost")
    with pytest.raises(InvalidInputError):
        cast.operator.do("reset_second_factor", user="ann", reason=" ")
    with pytest.raises(NotFoundError):
        cast.operator.do("reset_second_factor", user="nobody", reason="phone lost")
    done = cast.operator.do("reset_second_factor", user="ann", reason="phone lost")
    assert done["removed"] == ["authenticator", "recovery codes"]
    entry = AuditEntry.objects.latest("id")
    assert (entry.actor_name, entry.changes[0]["after"]["reason"]) == ("operator", "phone lost")
    sign_in(client)
    assert client.get("/admin/").status_code == 200
    assert cast.operator.do("reset_second_factor", user="ann", reason="again")["removed"] == []


def act(*arguments: str) -> tuple[int, str]:
    out, err = StringIO(), StringIO()
    try:
        call_command("act", "whoami", "--user", "ann", *arguments, stdout=out, stderr=err)
    except SystemExit as exc:
        return int(str(exc.code)), err.getvalue()
    return 0, out.getvalue()


def test_the_command_line_asks_for_it_too(ann, tmp_path, settings):
    file = tmp_path / "password"
    file.write_text(PASSWORD)
    settings.SMARTBRAIN = replace(settings.SMARTBRAIN, password_file=str(file))
    assert act()[0] == 0
    settings.SECOND_FACTOR_REQUIRED = True
    left, said = act()
    assert (left, "set yours up first" in said) == (1, True)
    device, codes = enrolled(ann)
    assert act("--code", codes[0])[0] == 0
    assert act("--code", codes[0])[0] == 1
    assert act("--code", code(device))[0] == 0
    with pytest.raises(CommandError, match="say --code CODE"):
        act()


def test_no_page_shows_what_devices_hold(ann, client):
    make_person("boss", is_staff=True, is_superuser=True)
    sign_in(client, name="boss")
    for path in ("/admin/otp_totp/totpdevice/", "/admin/governance/recoverydevice/", "/admin/axes/accessattempt/"):
        assert client.get(path).status_code == 404
