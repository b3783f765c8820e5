"""Deciding conflicts and inspecting shadows in a real browser: by mouse, by keyboard, without JavaScript, accessible."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from memory.models import Conflict, ConflictDecision, MemoryItem
from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import TEAM, Cast, make_cast, make_person
from tests.memory.conflicts.test_deciding import in_force
from tests.memory.conflicts.test_finding import tell
from tests.memory.talk import commit, compose, context, pref, ref
from tests.memory.test_shadows import SCOPES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHOTS = os.environ.get("SCREENSHOTS", "")  # a folder to keep pictures in; none are kept where it is not given
SHADOWS = f"?domain_id={TEAM}&scopes={'%20'.join(SCOPES)}"


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """A team with two conflicts, copies of one side, and a key in three scopes."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    tell(cast, "We keep 37 snapshots of the shop for 30 days.", "one")
    tell(cast, "We keep 15 snapshots of the shop for 30 days.", "two")
    url = {"kind": "url", "id": "https://example.org/why"}
    tell(cast, "默认数据库是 Postgres。", "db", evidence_refs=[url])
    tell(cast, "默认数据库是postgres", "db-copy")
    tell(cast, "默认数据库是 MySQL a\u200bb。", "default-db")
    both = context(*SCOPES, write=SCOPES)
    for scope, value in (("global:g", "formal"), ("project:p", "concise"), ("task:t", "playful <b>now</b>")):
        commit(cast.agent, scopes=both, preferences=[pref(value, scope_ref=ref(scope))])
    compose(cast.agent, "Which tone?", scope_context=context(*SCOPES))
    return cast


@pytest.fixture
def pictures() -> Any:
    """Takes a picture of a whole page where a folder for them is given."""

    def take(page: Page, name: str) -> None:
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)

    return take


def pages() -> dict[str, str]:
    conflict = Conflict.objects.filter(rule="other_object").order_by("id")[0]
    task = MemoryItem.objects.get(scope__external_id="t")
    shadows = reverse("admin:memory_shadows") + SHADOWS
    return {
        "conflicts": reverse("admin:memory_conflict_changelist"),
        "conflict": reverse("admin:memory_conflict_change", args=[conflict.pk]),
        "shadows-form": reverse("admin:memory_shadows"),
        "shadows": shadows,
        "shadows-what-if": f"{shadows}&act=retract&item={task.pk}",
        "overview": reverse("admin:index"),
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works(browser: Browser, live_server: Any, cast: Cast, pictures: Any, scheme: str) -> None:
    barriers: list[str] = []
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        for name, address in pages().items():
            page.goto(live_server.url + address)
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            pictures(page, f"{name}-{scheme}")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
            barriers += violations(page)
        assert faults == []
    assert barriers == []


@pytest.mark.parametrize("script", [True, False])
def test_a_conflict_is_decided_with_its_copies_and_taken_back(
    browser: Browser, live_server: Any, cast: Cast, pictures: Any, script: bool
) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=script) as (page, faults):
        page.goto(live_server.url + pages()["conflict"])
        page.click("summary:text-is('Keep B…')")
        page.check("details[open] input[name=apply_to]")
        page.fill("details[open] textarea[name=reason]", "decided on Monday")
        pictures(page, f"deciding-{'script' if script else 'plain'}")
        page.click("button:text-is('Keep B')")
        page.wait_for_selector("text=Decided: Keep B")
        pictures(page, f"decided-{'script' if script else 'plain'}")
        assert "默认数据库是 MySQL a\u200bb。" in in_force(cast)
        assert not any("ostgres" in text for text in in_force(cast))
        page.goto(live_server.url + pages()["conflict"])
        page.click("summary:text-is('Open it again…')")
        page.fill("textarea[name=reason]", "too early")
        page.click("button:text-is('Open it again')")
        page.wait_for_selector("text=The conflict is open again.")
        assert sum("ostgres" in text for text in in_force(cast)) == 2
        assert faults == []


def test_two_are_merged_from_a_text_that_is_there_already(
    browser: Browser, live_server: Any, cast: Cast, pictures: Any
) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + pages()["conflict"])
        page.click("summary:text-is('Merge both into a new text…')")
        box = page.locator("details[open] textarea[name=text]")
        assert box.input_value() == "默认数据库是 MySQL ab。"
        pictures(page, "merging")
        box.fill("默认数据库是 MySQL，测试用 Postgres。")
        page.click("details[open] button[data-reason='1']")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Decided: Merge both")
        assert "默认数据库是 MySQL，测试用 Postgres。" in in_force(cast)
        assert faults == []


def test_the_keyboard_alone_finds_decides_and_takes_back(browser: Browser, live_server: Any, cast: Cast) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + pages()["conflicts"])
        page.wait_for_function("document.documentElement.dataset.settled")
        page.keyboard.press("/")
        page.keyboard.type("snapshots 37")
        page.keyboard.press("Enter")
        page.wait_for_url("**q=snapshots*")
        page.wait_for_function("document.documentElement.dataset.settled")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.matches('[data-main]')")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=What holds?")
        page.wait_for_function("document.documentElement.dataset.settled")
        page.keyboard.press("n")
        assert page.evaluate("document.activeElement.name") == "reason"
        page.keyboard.press("Escape")
        expect(page.locator("details[data-key][open]")).to_have_count(0)
        page.keyboard.press("o")
        page.keyboard.type("The shop until May, the warehouse from then on.")
        page.keyboard.press("Escape")
        page.keyboard.press("n")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Decided: Not a conflict")
        assert "q=snapshots" in page.url, "the filter stays"
        assert Conflict.objects.filter(outcome="not_a_conflict").count() == 1
        page.wait_for_function("document.documentElement.dataset.settled")
        page.keyboard.press("u")
        page.wait_for_selector("text=The conflict is open again.")
        page.wait_for_function("document.documentElement.dataset.settled")
        page.keyboard.press("Escape")
        page.wait_for_selector("nav[aria-label=Severity]")
        assert not Conflict.objects.filter(outcome="not_a_conflict").exists()
        assert faults == []


def test_a_double_click_makes_one_decision(browser: Browser, live_server: Any, cast: Cast) -> None:
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + pages()["conflict"])
        page.click("summary:text-is('Keep A…')")
        page.fill("details[open] textarea[name=reason]", "mine")
        page.dblclick("button:text-is('Keep A')")
        page.wait_for_selector("text=Decided: Keep A")
        assert ConflictDecision.objects.filter(verdict="keep_a").count() == 1
        assert faults == []


@pytest.mark.parametrize("width", [800, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_statements_are_read_in_the_list_and_nothing_is_clipped(
    browser: Browser, live_server: Any, cast: Cast, pictures: Any, width: int, scheme: str
) -> None:
    clipped = """[...document.querySelectorAll(".sb-queue *, #result_list td *")]
        .filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline" && !node.closest(".sb-sr"))
        .map((node) => node.outerHTML.slice(0, 80))"""
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        page.set_viewport_size({"width": width, "height": 900})
        for name, address in {
            "conflicts": pages()["conflicts"],
            "conflicts-none": pages()["conflicts"] + "?q=zebra",
            "memories": reverse("admin:memory_memoryitem_changelist"),
            "memories-found": reverse("admin:memory_memoryitem_changelist") + "?q=数据库+postgres+zebra",
            "conflict": pages()["conflict"],
        }.items():
            page.goto(live_server.url + address)
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            pictures(page, f"{name}-{width}-{scheme}")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
            if name != "memories" or width > 800:
                assert page.evaluate(clipped) == [], address
            assert violations(page) == []
        assert faults == []


def test_two_reviewers_race_and_the_second_is_told_who_was_first(
    browser: Browser, live_server: Any, cast: Cast
) -> None:
    make_person("bob", TEAM, is_staff=True)
    with (
        signed_in(browser, live_server.url, "ann") as (first, _),
        signed_in(browser, live_server.url, "bob") as (second, _),
    ):
        for page in (first, second):
            page.goto(live_server.url + pages()["conflict"])
        for page, outcome in ((first, "Keep A"), (second, "Keep B")):
            page.click(f"summary:text-is('{outcome}…')")
            page.fill("details[open] textarea[name=reason]", "mine")
            page.click(f"button:text-is('{outcome}')")
        second.wait_for_selector("text=resolved by ann")
        assert Conflict.objects.filter(outcome="keep_a").count() == 1
        assert Conflict.objects.filter(outcome="keep_b").count() == 0


def test_what_if_is_asked_by_a_link(browser: Browser, live_server: Any, cast: Cast) -> None:
    with signed_in(browser, live_server.url, "ann", java_script_enabled=False) as (page, faults):
        page.goto(live_server.url + pages()["shadows"])
        before = in_force(cast)
        page.click(".sb-wins >> text=retract")
        page.wait_for_selector("text=another row would count")
        assert in_force(cast) == before
        page.click("text=Back to how it is")
        expect(page.locator("text=another row would count")).to_have_count(0)
        expect(page.locator(".sb-ladder")).to_have_count(1)
        assert faults == []
