"""The page that imports files: scopes are written there as everywhere in the admin."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from governance.models import Proposal
from media.models import MediaJob
from tests.clients import sign_in
from tests.conftest import TEAM

PLAN = "project:the big plan"
SHOP = "task:shop, old"
BY_TWO = {"two_person": [{"name": "two", "actions": ["enqueue_media"]}]}
OF_PEOPLE = {"queue": [{"name": "all", "actions": ["enqueue_media"], "actor_kinds": ["person"]}]}


def bring(scope: str, names: tuple[str, ...] = ("a.md",), **how):
    """The answer to files that are imported into the scopes that are written so."""
    get_user_model().objects.create_superuser("root", None, "correct horse battery")
    files = [SimpleUploadedFile(name, f"# Plan\n\nWords of {name}.\n".encode()) for name in names]
    given = {"file": files, "domain_id": TEAM, "scope": scope}
    return sign_in("root").post(reverse("admin:media_upload"), given, **how)


def hold(cast, review: dict) -> None:
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": review}, reason="two pairs of eyes")


@pytest.mark.parametrize(
    ("written", "scopes"),
    [
        ("", []),
        ("project:the big plan", [PLAN]),
        ("project:the big plan task:shop, old", [PLAN, SHOP]),
        ('"project:the big plan","task:shop, old"', [PLAN, SHOP]),
    ],
)
def test_scopes_are_written_as_everywhere(cast, written, scopes):
    assert bring(written).status_code == 302
    assert MediaJob.objects.get().scopes == scopes


@pytest.mark.parametrize("written", ["shop", '"project:shop', "nothing:shop"])
def test_a_slip_imports_nothing_and_keeps_what_was_typed(cast, written):
    page = bring(written)
    assert page.status_code == 422
    assert written.replace('"', "&quot;") in page.content.decode()
    assert not MediaJob.objects.exists()


@pytest.mark.parametrize("review", [BY_TWO, OF_PEOPLE])
@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("a.md",), "It waits for someone else who may decide on it."),
        (("a.md", "b.md"), "2 files wait for someone else who may decide on them."),
    ],
)
def test_what_policy_holds_waits_and_says_so(cast, review, names, told):
    hold(cast, review)
    page = bring("", names, follow=True)
    assert page.status_code == 200
    assert told in page.content.decode()
    assert "for a worker." not in page.content.decode()
    assert list(Proposal.objects.values_list("action", flat=True)) == ["enqueue_media"] * len(names)
    assert not MediaJob.objects.exists()


def test_a_script_is_told_which_files_became_jobs(cast):
    answer = bring("", headers={"accept": "application/json"})
    assert answer.status_code == 202
    assert answer.json() == {"jobs": [str(MediaJob.objects.get().pk)], "proposals": []}


def test_a_script_is_told_which_files_wait_for_a_decision(cast):
    hold(cast, OF_PEOPLE)
    answer = bring("", headers={"accept": "application/json"})
    assert answer.status_code == 202
    assert answer.json() == {"jobs": [], "proposals": [str(Proposal.objects.get().pk)]}
