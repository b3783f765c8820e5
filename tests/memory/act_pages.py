"""The pages of acts on a memory as a browser without a script fills them in: form, effect, deed and way back."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from memory.models import MemoryItem
from tests.conftest import TEAM, make_person

ALL = ("retract_item", "correct_item", "narrow_item", "promote_to_scope", "demote", "demote_from_scope")
REASON = {"reason": "it was wrong"}
URL = "https://example.org/why"


def signed(name: str, domain_id: str = TEAM, pattern: str = "*") -> Client:
    """A browser of a new reviewer."""
    make_person(name, domain_id, pattern, is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username=name))
    return client


@pytest.fixture
def client(cast) -> Client:
    """The browser of the reviewer `ann`."""
    return signed("ann")


def address(item_id: Any, act: str) -> str:
    """The address of the page of an act."""
    return reverse("admin:memory_item_act", args=[item_id, act])


def page(client: Client, item_id: Any) -> str:
    """The page of a memory."""
    return client.get(reverse("admin:memory_memoryitem_change", args=[item_id])).content.decode()


def fields_of(text: str, form: str) -> dict[str, list[str]]:
    """What a browser would send of a form: hidden and typed fields, ticked boxes."""
    (inside,) = re.findall(rf'<form[^>]*id="{form}".*?</form>', text, re.DOTALL)
    found: dict[str, list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", inside):
        kind, name, value = (re.search(rf'\b{each}="([^"]*)"', tag) for each in ("type", "name", "value"))
        if kind and kind[1] in ("checkbox", "radio") and "checked" not in tag:
            continue
        if name:
            found.setdefault(name[1], []).append(unescape(value[1]) if value else "")
    for name, value in re.findall(r'<textarea name="([^"]*)"[^>]*>\n?(.*?)</textarea>', inside, re.DOTALL):
        found.setdefault(name, []).append(unescape(value))
    return found


def look(client: Client, item_id: Any, act: str, **typed: Any) -> Any:
    """Fill the form in and ask what it would do."""
    blank = client.get(address(item_id, act))
    assert blank.status_code == 200, blank.content.decode()
    return client.post(address(item_id, act), {**fields_of(blank.content.decode(), "form"), **typed})


def confirm(client: Client, item_id: Any, act: str, shown: Any) -> Any:
    """Press the button under the effect."""
    assert shown.status_code == 200, unescape(re.sub(r"<[^>]+>", " ", shown.content.decode()))[-1500:]
    return client.post(address(item_id, act), fields_of(shown.content.decode(), "confirm"))


def done(client: Client, item_id: Any, act: str, **typed: Any) -> MemoryItem:
    """The whole way; the memory on whose page it ends."""
    answer = confirm(client, item_id, act, look(client, item_id, act, **{**REASON, **typed}))
    assert answer.status_code == 302, answer.content.decode()
    return MemoryItem.objects.get(pk=answer["Location"].split("/")[-3])


def undone(client: Client, item_id: Any) -> str:
    """Press Undo on the notice of the next page; gives that page."""
    text = page(client, item_id)
    *_, form = re.findall(r'<form method="post" action="([^"]*)" class="sb-undo">(.*?)</form>', text, re.DOTALL)
    sent = dict(re.findall(r'name="([^"]*)" value="([^"]*)"', form[1]))
    answer = client.post(form[0], sent)
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])
