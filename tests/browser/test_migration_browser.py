"""The page of moving in, in a real browser: empty, wrong and whole, accessible, in both schemes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, expect

from governance.gate import system_ctx
from kernel.context import Door
from legacy.contracts.validating import MigrationReport, TableFigures
from legacy.services import recording
from legacy.services.validating import validate
from memory.models import MemoryItem
from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import a_turn, make_cast
from tests.guards.write_guard import unguarded
from tests.legacy.moving import aside, came

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHOTS = os.environ.get("SCREENSHOTS", "")
# What sticks out to the right and lies in nothing that scrolls.
WIDE = """() => [...document.querySelectorAll('.sb-screen *')]
  .filter(node => !node.closest('.sb-scroll') && node.getBoundingClientRect().right > window.innerWidth)
  .map(node => node.outerHTML.slice(0, 120))"""
HOSTILE = "<script>document.title = 'owned'</script> 会议 a\u200bb"
COUNTED = ("sessions", "turns", "messages", "tool_calls", "refs", "memory_items", "entities", "summaries")


def looked_at() -> MigrationReport:
    """A validation as it is with a source: what is here, and figures of both sides."""
    report = validate(None, lambda *told: None)
    tables = [
        TableFigures(
            source_table=name,
            target_tables=[name],
            in_source=1200 * number + 3,
            migrated=1200 * number,
            adjusted=number,
            quarantined=3,
            left_out=0,
            compared=1200 * number,
            source_digest="a" * 64,
            target_digest=("a" if name != "messages" else "b") * 64,
        )
        for number, name in enumerate(COUNTED, 1)
    ]
    checks = [check.model_copy(update={"made": True}) for check in report.checks]
    return report.model_copy(
        update={"source": "older.example:5432/brain", "tables": tables, "checks": checks, "not_made": []}
    )


def wrong() -> None:
    """A migration with something wrong, and rows in the quarantine."""
    cast = make_cast()
    cast.agent.do("commit_turn", a_turn(turn_events={"decisions": [{"key": "decision:shop:db", "decision": HOSTILE}]}))
    came("memory_items", MemoryItem.objects.get().pk, HOSTILE)
    came("messages", "0199aaaa-0000-7000-8000-000000000000", "m-1")
    with unguarded():
        MemoryItem.objects.update(source_session=None)
    for number in range(25):
        reason = ("orphan", "bad_json", "text_too_long")[number % 3]
        aside("messages", f"m-{number}-{'long' * 20}", reason, note=HOSTILE, content={"id": str(number), "x": HOSTILE})
    recording.keep(looked_at(), system_ctx("tests", Door.CLI))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", ["empty", "wrong"])
def test_it_works(browser: Browser, live_server: Any, transactional_db: None, scheme: str, state: str) -> None:
    if state == "wrong":
        wrong()
    else:
        make_cast()
    with signed_in(browser, live_server.url, "operator", color_scheme=scheme) as (page, faults):
        page.click("#nav-sidebar-apps >> text=Moving in")
        page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
        assert "owned" not in page.title()
        for details in page.locator("details").all():
            details.evaluate("node => node.open = true")
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / f"moving-in-{state}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert violations(page) == []
        page.set_viewport_size({"width": 400, "height": 800})
        wide = page.evaluate(WIDE)
        assert wide == []
        assert faults == []


def test_the_quarantine_is_narrowed_without_a_script(
    browser: Browser, live_server: Any, transactional_db: None
) -> None:
    wrong()
    with signed_in(browser, live_server.url, "operator", java_script_enabled=False) as (page, faults):
        page.goto(live_server.url + reverse("admin:legacy_migration"))
        rows = page.locator(".sb-queue > li")
        expect(rows).to_have_count(10)
        page.click("text=Next page")
        page.click("text=Next page")
        expect(rows).to_have_count(5)
        page.fill("input[name=reason]", "orphan")
        page.press("input[name=reason]", "Enter")
        expect(rows).to_have_count(9)
        assert faults == []
