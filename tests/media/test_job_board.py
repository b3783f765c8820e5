"""What the job board costs: as many statements however many jobs there are."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from tests.clients import sign_in
from tests.conftest import TEAM, make_person
from tests.governance.desk import statements
from tests.media.jobbing import a_job

MOST = 19
STATES = ("queued", "processing", "completed", "partial", "failed", "canceled")


@pytest.mark.parametrize("who", ["ann", "root"])
def test_it_works(cast, who):
    make_person("ann", TEAM, is_staff=True)
    get_user_model().objects.create_superuser("root", None, "correct horse battery")
    client, board = sign_in(who), reverse("admin:media_board")
    for status in STATES:
        a_job(cast.agent, status)
    few = statements(client, board)
    for _ in range(4):
        for status in STATES:
            a_job(cast.agent, status, scopes=["project:shop"])
    many = statements(client, board)
    assert (few, many) == (few, few)
    assert many <= MOST
