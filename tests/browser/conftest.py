"""A real Chromium: the one that CHROMIUM names, else the one found on the PATH."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

PATIENCE = 180_000  # milliseconds for what a page shall come to: longer than any takes, however busy the machine

expect.set_options(timeout=PATIENCE)


def find_chromium() -> str:
    """The browser's path. A machine without one fails these tests; it does not skip them."""
    found = os.environ.get("CHROMIUM") or next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    assert found, "No Chromium on the PATH: install Debian's package chromium, or set CHROMIUM to a path."
    return found


@pytest.fixture(scope="module")
def browser(django_db_setup: None) -> Iterator[Browser]:
    """One browser for a module and no longer: Playwright's event loop stays in this thread while it runs, and there
    the ORM asks for permission."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=args, timeout=PATIENCE)
        patch.setattr(browser, "new_context", _patient(browser.new_context))
        patch.setattr(browser, "new_page", _patient(browser.new_page))
        yield browser
        connections.close_all()  # those that this thread opened while the event loop stood in it
        browser.close()


def _patient(opens: Callable[..., BrowserContext | Page]) -> Callable[..., BrowserContext | Page]:
    """What opens contexts or pages, each of which waits that long."""

    @wraps(opens)
    def opened(**options: Any) -> BrowserContext | Page:
        made = opens(**options)
        made.set_default_timeout(PATIENCE)
        return made

    return opened
