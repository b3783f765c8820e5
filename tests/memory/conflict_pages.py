"""The pages of conflicts in the browser of a reviewer: where they are, and decisions sent from them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.clients import new_reviewer
from tests.conftest import TEAM, Cast

LIST = "admin:memory_conflict_changelist"
NASTY = "<script>alert(1)</script> a\u200bb"


@pytest.fixture
def client(cast: Cast) -> Client:
    """The browser of the reviewer `ann`."""
    return new_reviewer("ann", TEAM)


def address(conflict: str) -> str:
    """The address of the page of a conflict."""
    return reverse("admin:memory_conflict_change", args=[conflict])


def send(client: Client, conflict: str, outcome: str, **fields: Any) -> Any:
    """Decide it, as the form of its page does."""
    return client.post(address(conflict), {"outcome": outcome, "reason": "because", "revision": "1", **fields})
