"""A real Chromium: the one that CHROMIUM names, else the one found on the PATH."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright


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
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=args)
        yield browser
        browser.close()
