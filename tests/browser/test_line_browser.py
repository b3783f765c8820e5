"""The line of a memory in a real browser: readable in both colour schemes, without JavaScript, accessible."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, expect

from tests.conftest import TEAM, make_cast, make_person
from tests.memory.talk import VERIFIED, commit, compose, context, decision, only, ref

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"
SCHEMES: list[Any] = ["light", "dark"]


@pytest.fixture
def copy(transactional_db) -> str:
    """A memory that went from a task to a project and on to all, was shown to an agent, and was taken back."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    told = commit(
        cast.agent, say="Ann: 默认数据库 should be Postgres. a\u200bb", extract=False, scopes=context("task:t"),
        decisions=[decision("Use <b>Postgres</b> 数据库, says Ann")],
    )  # fmt: skip
    last = only(told)["id"]
    for target, text in (("project:shop", "We use Postgres."), ("global:all", None)):
        body = {
            "memory_item_id": last,
            "target_scope": ref(target),
            "reason": "the team agreed",
            "text": text,
            **VERIFIED,
        }
        last = cast.reviewer.do("promote_to_scope", body)["item"]["id"]
    compose(cast.agent, "Which database, Postgres?", "s9", scope_context=context("global:all"))
    cast.reviewer.do(
        "demote", memory_item_id=last, reason="not for all", reason_type="out_of_scope",
        evidence_refs=[{"kind": "url", "id": "https://e.example"}],
    )  # fmt: skip
    return str(last)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_the_line_is_there_for_everyone(browser: Browser, live_server, copy, scheme, script, tmp_path):
    opened = browser.new_context(color_scheme=scheme, java_script_enabled=script)
    page = opened.new_page()
    try:
        page.goto(f"{live_server.url}{reverse('admin:login')}")
        page.fill("input[name=username]", "ann")
        page.fill("input[name=password]", PASSWORD)
        page.click("[type=submit]")
        page.goto(f"{live_server.url}{reverse('admin:memory_memoryitem_change', args=[copy])}")
        steps = page.locator(".sb-lineage > .sb-copy")
        current = page.locator(".sb-lineage [aria-current=true]")
        expect(steps).to_have_count(3)
        expect(current).to_have_count(1)
        expect(steps.nth(0)).to_contain_text("Use <b>Postgres</b>")
        expect(steps.nth(1)).to_contain_text("promoted in other words for reviewer, decided by reviewer")
        assert page.get_by_text("waits for the next compose").is_visible()
        steps.nth(1).get_by_role("link").click()
        expect(current).to_contain_text("We use Postgres.")
        if script:
            found = Axe().run(page).response["violations"]
            assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
        page.screenshot(path=str(tmp_path / f"line-{scheme}.png"), full_page=True)
    finally:
        opened.close()
