"""Django's test client as the browser of someone who is signed in."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.test import Client

from tests.conftest import make_person


def sign_in(name: str) -> Client:
    """A browser of that person."""
    client = Client()
    client.force_login(get_user_model().objects.get(username=name))
    return client


def new_reviewer(name: str, *where: str) -> Client:
    """A browser of a person made for it: a member of staff who reviews a domain, or the scopes there that match a pattern."""
    make_person(name, *where, is_staff=True)
    return sign_in(name)
