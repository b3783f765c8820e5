"""The pages of documents in a real browser: light and dark, accessible, nothing wider than the window."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser

from media.models import SourceDocument
from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import TEAM, Cast, make_cast, make_person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHOTS = os.environ.get("SCREENSHOTS", "")  # a folder to keep pictures in; none are kept where it is not given
LIST = "admin:media_sourcedocument_changelist"
TEXT = """# The plan of the shop

We sell fruit.

## Database

| what | which |
| --- | --- |
| default | Postgres |
| tests | SQLite |

## 水果

我们喜欢西瓜，而不是苹果。 <b>bold</b> a\u200bb
"""


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """A team with a document of each kind of source."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    make_person("bob", TEAM, "task:none", is_staff=True)
    for options in (
        {
            "text": TEXT,
            "tags": ["plans", "水果"],
            "author": "李梅",
            "description": "What we do and why",
            "metadata": {"mine": {"a": 1}},
        },
        {"text": "# Notes\n\n" + "A long line of words. " * 300, "source_uri": "https://example.org/" + "long/" * 40},
    ):
        cast.agent.do("add_document", domain_id=TEAM, options=options, scopes=[{"type": "project", "id": "shop"}])
    return cast


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works(browser: Browser, live_server: Any, cast: Cast, scheme: str) -> None:
    first = SourceDocument.objects.order_by("id")[0]
    addresses = {"documents": reverse(LIST), "document": reverse("admin:media_sourcedocument_change", args=[first.pk])}
    barriers: list[str] = []
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        for name, address in addresses.items():
            page.goto(live_server.url + address)
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            if SHOTS:
                page.screenshot(path=Path(SHOTS) / f"{name}-{scheme}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
            barriers += violations(page)
        assert page.get_by_role("link", name="Documents").first.is_visible()
        assert faults == []
    assert barriers == []


def test_who_sees_none_is_told_how_one_comes_there(browser: Browser, live_server: Any, cast: Cast) -> None:
    with signed_in(browser, live_server.url, "bob") as (page, faults):
        page.goto(live_server.url + reverse(LIST))
        assert "No documents that you may see" in page.inner_text("main, body")
        assert "add_document" in page.inner_text("pre")
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / "documents-empty.png", full_page=True)
        assert faults == []
