"""The page that imports files: scopes are written there as everywhere in the admin."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from media.models import MediaJob
from tests.conftest import TEAM
from tests.governance.desk import sign_in

PLAN = "project:the big plan"
SHOP = "task:shop, old"


def bring(scope: str):
    """The answer to a file that is imported into the scopes that are written so."""
    get_user_model().objects.create_superuser("root", None, "correct horse battery")
    file = SimpleUploadedFile("a.md", b"# Plan\n\nWords.\n")
    return sign_in("root").post(reverse("admin:media_upload"), {"file": file, "domain_id": TEAM, "scope": scope})


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
