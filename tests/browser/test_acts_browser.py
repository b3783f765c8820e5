"""Acting on a memory in a real browser: by mouse, by keyboard, without JavaScript, in both schemes, accessible."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from memory.models import MemoryItem
from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import TEAM, Cast, make_cast, make_person
from tests.memory.acting import SHOP, TASK, known
from tests.memory.talk import compose, context

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CANNED = {"review": {"canned_reasons": {"*": ["Out of date", "Belongs to another project"]}}}
URL = "https://example.org/why"


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """A team with a memory that an agent was shown, one that says nearly the same, and ready reasons."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    cast.operator.do("set_policy", domain_id=TEAM, document=CANNED, reason="the usual ones")
    rest: dict[str, Any] = {"evidence_refs": [{"kind": "url", "id": URL}]}
    known(cast.agent, "The shop uses Postgres 15 <b>now</b> 数据库 a\u200bb", **rest)
    known(cast.agent, "The shop uses Postgres 15 now", session="s2", key="decision:shop:db")
    known(cast.agent, "Ship on Fridays", scope=TASK, session="s3", key="decision:shop:ship")
    compose(cast.agent, "Which database does the shop use, Postgres?", "s1", scope_context=context(SHOP))
    return cast


def shoot(page: Page, name: str) -> None:
    """A picture for whoever wants to look, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.wait_for_load_state()
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def item(**where: Any) -> MemoryItem:
    row: MemoryItem = MemoryItem.objects.filter(current_until=None, status="active", **where).latest("id")
    return row


def shop() -> MemoryItem:
    return item(scope__external_id="shop", key="decision:shop:database")


def open_item(page: Page, url: str, row: MemoryItem) -> None:
    page.goto(url + reverse("admin:memory_memoryitem_change", args=[row.pk]))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def take_back(page: Page, script: bool) -> None:
    """By the notice's button; where a script hides that after a while, by the key, which works then too."""
    if not script:
        press(page, "Undo")
        return
    page.wait_for_selector("html[data-settled]", state="attached")
    page.keyboard.press("u")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_form_is_accessible_and_quiet(browser: Browser, live_server: Any, cast: Cast, scheme: str) -> None:
    row = shop()
    forms = ("retract_item", "correct_item", "narrow_item", "promote_to_scope", "demote")
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        open_item(page, live_server.url, row)
        shoot(page, f"item-{scheme}")
        barriers = violations(page)
        for act in forms:
            page.goto(live_server.url + reverse("admin:memory_item_act", args=[row.pk, act]))
            shoot(page, f"act-{act}-{scheme}")
            barriers += violations(page)
        page.goto(live_server.url + reverse("admin:memory_item_act", args=[row.pk, "correct_item"]))
        page.fill("textarea[name=text]", "The shop uses Postgres 16 数据库")
        page.fill("#form textarea[name=reason]", "upgraded")
        press(page, "Show what it would do")
        page.wait_for_selector("#confirm")
        shoot(page, f"act-effect-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        barriers += violations(page)
        page.set_viewport_size({"width": 800, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert faults == []
    assert barriers == []


@pytest.mark.parametrize("script", [True, False])
def test_a_memory_is_retracted_with_another_taken_back_and_corrected(
    browser: Browser, live_server: Any, cast: Cast, script: bool
) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=script) as (page, faults):
        open_item(page, live_server.url, shop())
        page.get_by_role("link", name="Retract…").click()
        page.check("input[name=also]")
        if script:
            press(page, "1 Out of date")
        else:
            page.fill("textarea[name=reason]", "Out of date")
        press(page, "Show what it would do")
        expect(page.locator("#confirm >> xpath=..")).to_contain_text("principals lose sight")
        press(page, "Retract")
        page.wait_for_selector("text=Retracted.")
        shoot(page, f"act-done-{'script' if script else 'plain'}")
        assert not MemoryItem.objects.filter(current_until=None, scope__external_id="shop").exists()
        take_back(page, script)
        page.wait_for_selector("text=Nothing was erased.")
        assert MemoryItem.objects.filter(current_until=None, scope__external_id="shop").count() == 2

        open_item(page, live_server.url, shop())
        page.get_by_role("link", name="Correct…").click()
        page.fill("#form textarea[name=text]", "The shop uses Postgres 16")
        page.fill("#form textarea[name=reason]", "upgraded")
        press(page, "Show what it would do")
        press(page, "Correct")
        page.wait_for_selector("text=Corrected.")
        assert shop().statement == "The shop uses Postgres 16"
        assert faults == []


@pytest.mark.parametrize("script", [True, False])
def test_a_memory_is_narrowed_with_another_that_says_the_same(
    browser: Browser, live_server: Any, cast: Cast, script: bool
) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=script) as (page, faults):
        open_item(page, live_server.url, shop())
        page.get_by_role("link", name="Narrow…").click()
        assert not page.is_checked("input[name=also]")
        page.fill("input[name=target]", TASK)
        page.focus("input[name=also]")
        page.keyboard.press("Space")
        page.fill("#form textarea[name=reason]", "it is a secret of that task")
        press(page, "Show what it would do")
        page.wait_for_selector("#confirm")
        assert page.is_checked("input[name=also]")
        shoot(page, f"act-narrow-effect-{'script' if script else 'plain'}")
        press(page, "Narrow")
        page.wait_for_selector("text=Narrowed.")
        assert not MemoryItem.objects.filter(current_until=None, scope__external_id="shop").exists()
        assert MemoryItem.objects.filter(narrowed_to__external_id="t").count() == 2
        take_back(page, script)
        page.wait_for_selector("text=Nothing was erased.")
        assert MemoryItem.objects.filter(current_until=None, scope__external_id="shop").count() == 2
        assert faults == []


@pytest.mark.parametrize("script", [True, False])
def test_a_memory_is_promoted_and_its_copy_demoted(
    browser: Browser, live_server: Any, cast: Cast, script: bool
) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=script) as (page, faults):
        open_item(page, live_server.url, shop())
        page.get_by_role("link", name="Promote…").click()
        page.fill("input[name=target]", "global:all")
        page.fill("textarea[name=refs]", URL)
        page.fill("#form textarea[name=reason]", "it holds everywhere")
        press(page, "Show what it would do")
        press(page, "Promote")
        page.wait_for_selector("text=Promoted.")
        assert item(scope__external_id="all").source_item_id == shop().pk

        page.get_by_role("link", name="Demote…").click()
        page.select_option("select[name=reason_type]", "contradicted")
        page.locator("input[name=ref]").first.check()
        page.fill("#form textarea[name=reason]", "not everywhere")
        press(page, "Show what it would do")
        press(page, "Demote")
        page.wait_for_selector("text=Demoted.")
        assert item(scope__external_id="all").lifecycle_status == "demoted"
        assert faults == []


def test_the_keyboard_alone_retracts_and_takes_back(browser: Browser, live_server: Any, cast: Cast) -> None:
    row = shop()
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        open_item(page, live_server.url, row)
        page.keyboard.press("r")
        page.wait_for_url("**/act/retract_item/")
        page.wait_for_selector("html[data-settled]")
        page.keyboard.press("2")
        assert page.input_value("#form textarea[name=reason]") == "Belongs to another project"
        assert page.evaluate("document.activeElement.textContent.trim()") == "Show what it would do"
        page.keyboard.press("Enter")
        page.wait_for_selector("#confirm")
        page.wait_for_selector("html[data-settled]")
        page.keyboard.press("a")
        page.wait_for_selector("text=Retracted.")
        assert MemoryItem.objects.get(pk=row.pk).status == "retracted"
        page.wait_for_selector("html[data-settled]")
        page.keyboard.press("u")
        page.wait_for_selector("text=Nothing was erased.")
        assert shop().statement == row.statement
        open_item(page, live_server.url, shop())
        page.keyboard.press("e")
        page.wait_for_url("**/act/correct_item/")
        page.wait_for_selector("html[data-settled]")
        page.keyboard.press("Escape")
        page.wait_for_url("**/change/")
        assert faults == []


@pytest.mark.parametrize("script", [True, False])
def test_what_would_be_is_done_from_the_ladder(browser: Browser, live_server: Any, cast: Cast, script: bool) -> None:
    known(cast.agent, "The shop uses SQLite for this task", scope=TASK, session="s4")
    with signed_in(browser, live_server.url, "ann", java_script_enabled=script) as (page, faults):
        page.goto(live_server.url + reverse("admin:memory_shadows"))
        page.check("input[name=scope][value='task:t']")
        page.check("input[name=scope][value='project:shop']")
        press(page, "Inspect")
        page.click(".sb-wins >> text=retract")
        page.wait_for_selector("text=another row would count")
        shoot(page, f"ladder-{'script' if script else 'plain'}")
        page.click("text=Do it: retract…")
        page.fill("#form textarea[name=reason]", "the task is over")
        press(page, "Show what it would do")
        press(page, "Retract")
        page.wait_for_selector("text=Retracted.")
        row = MemoryItem.objects.get(scope__external_id="t", key="decision:shop:database")
        assert row.status == "retracted"
        assert faults == []


def test_a_double_click_acts_once(browser: Browser, live_server: Any, cast: Cast) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=False) as (page, _):
        page.goto(live_server.url + reverse("admin:memory_item_act", args=[shop().pk, "correct_item"]))
        page.fill("#form textarea[name=text]", "The shop uses Postgres 16")
        page.fill("#form textarea[name=reason]", "upgraded")
        press(page, "Show what it would do")
        page.get_by_role("button", name="Correct", exact=True).dblclick()
        page.wait_for_selector("text=Corrected.")
        assert MemoryItem.objects.filter(key="decision:shop:database").count() == 2


def test_the_list_fits_its_frame_whatever_the_keys(browser: Browser, live_server: Any, cast: Cast) -> None:
    long = "decision:" + "a-subject-with-a-long-name:" + "and-a-part-of-a-key-that-does-not-end-" * 4
    known(cast.agent, "Long keys wrap", session="s5", key=long.rstrip("-"))
    wider = """[...document.querySelectorAll("#result_list, #result_list *")]
        .map((node) => node.closest("#result_list").parentElement)
        .filter((frame) => frame.scrollWidth > frame.clientWidth + 1).length"""
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(live_server.url + reverse("admin:memory_memoryitem_changelist"))
        page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
        shoot(page, "long-keys")
        assert "does-not-end" in page.locator("#result_list .sb-wraps").first.inner_text()
        assert page.evaluate(wider) == 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert faults == []
