"""The pages of conflicts in the browser of a reviewer: where they are, and decisions sent from them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from tests.conftest import TEAM, Cast, make_person

LIST = "admin:memory_conflict_changelist"
NASTY = "<script>alert(1)</script> a\u200bb"


@pytest.fixture
def client(cast: Cast) -> Client:
    """The browser of the reviewer `ann`."""
    return signed_in("ann", TEAM)


def signed_in(name: str, *where: str) -> Client:
    """A browser of a new reviewer."""
    make_person(name, *where, is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username=name))
    return client


def address(conflict: str) -> str:
    """The address of the page of a conflict."""
    return reverse("admin:memory_conflict_change", args=[conflict])


def send(client: Client, conflict: str, outcome: str, **fields: Any) -> Any:
    """Decide it, as the form of its page does."""
    return client.post(address(conflict), {"outcome": outcome, "reason": "because", "revision": "1", **fields})
