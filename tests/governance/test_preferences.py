"""What a person chooses about the screens: kept for them alone, through the gate."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from governance.models import AuditEntry
from kernel.errors import ForbiddenError, InvalidInputError
from tests.clients import sign_in
from tests.conftest import TEAM, make_person


@pytest.fixture
def ann(cast) -> Client:
    make_person("ann", TEAM, is_staff=True)
    return sign_in("ann")


def test_it_works(ann):
    address = reverse("admin:governance_preferences")
    assert 'data-on="true"' in ann.get(address).content.decode()
    kept = ann.post(address, {"diff": "unified"}, follow=True).content.decode()
    assert "Kept." in kept
    assert 'data-on="false"' in kept
    assert 'value="unified" checked' in kept
    entry = AuditEntry.objects.get(action="set_preferences")
    assert (entry.actor_name, entry.door, entry.domain_id) == ("ann", "admin", None)
    assert entry.changes[0]["after"] == {"shortcuts": False, "diff": "unified"}


def test_they_are_one_persons_own(ann):
    make_person("ben", TEAM, is_staff=True)
    ann.post(reverse("admin:governance_preferences"), {"diff": "unified"})
    assert 'data-on="true"' in sign_in("ben").get(reverse("admin:index")).content.decode()


def test_what_is_left_out_stays(cast):
    cast.reviewer.do("set_preferences", diff="unified")
    assert cast.reviewer.do("set_preferences", shortcuts=False)["diff"] == "unified"
    assert cast.reviewer.do("set_preferences")["shortcuts"] is False


def test_an_agent_has_none(cast):
    with pytest.raises(ForbiddenError):
        cast.agent.do("set_preferences", shortcuts=False)


@pytest.mark.parametrize("diff", ["", "SIDE", "x" * 5000, "side\x00", None])
def test_bad_choices_are_refused(ann, cast, diff):
    with pytest.raises(InvalidInputError):
        cast.reviewer.do("set_preferences", diff=diff if diff is not None else ["side"])
    if diff is not None:
        answer = ann.post(reverse("admin:governance_preferences"), {"diff": diff})
        assert answer.status_code == 422
        assert "Nothing was changed" in answer.content.decode()


def test_a_form_needs_its_token(cast):
    make_person("ann", TEAM, is_staff=True)
    client = Client(enforce_csrf_checks=True)
    client.force_login(get_user_model().objects.get(username="ann"))
    assert client.post(reverse("admin:governance_preferences"), {"diff": "side"}).status_code == 403


def test_next_never_leads_elsewhere(ann):
    for bad in ("https://example.org/", "//example.org/", "/\\example.org", "javascript:x", "\n//example.org"):
        answer = ann.post(reverse("admin:governance_preferences"), {"diff": "side", "next": bad})
        assert answer["Location"] == reverse("admin:governance_preferences")
