"""The keys of the review pages: where they rest, what their table promises, and that they can be turned off."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Route, expect

from governance.models import Decision, Preference
from tests.browser.reviewing import desk, has_focus, ready, states
from tests.browser.test_admin_browser import signed_in
from tests.governance.desk import item, make_desk, propose, queue

__all__ = ["desk"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_key_repeat_and_double_click_make_one_decision(browser: Browser, live_server, desk):
    for n in range(6):
        propose(desk.cast.agent, f"Thing {n}")
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + queue())
        page.click("[data-main] >> nth=0")
        ready(page)
        for _repeat in range(12):
            page.keyboard.down("a")
            page.wait_for_timeout(30)
        page.keyboard.up("a")
        expect(page.locator(".sb-toast")).to_contain_text("Approved, 5 left.")
        assert Decision.objects.count() == 1
        ready(page)
        page.dblclick("button:text-is('Approve')", no_wait_after=True)
        expect(page.locator(".sb-toast")).to_contain_text("Approved, 4 left.")
        page.wait_for_timeout(300)
        assert Decision.objects.count() == 2
        ready(page)
        page.keyboard.type("aa")
        expect(page.locator(".sb-toast")).to_contain_text("Approved, 3 left.")
        page.wait_for_timeout(300)
        assert Decision.objects.count() == 3


def test_what_wants_the_focus_has_it_however_late_a_page_is_shown(browser: Browser, live_server, desk):
    """The field for a reason, or a refusal. A page is hidden until its last script ran, and a browser gives up on what
    wants the focus meanwhile."""
    first, _ = (propose(desk.cast.agent, f"Thing {n}") for n in range(2))
    with signed_in(browser, live_server.url, "ann") as (page, _):

        def late(route: Route) -> None:
            page.wait_for_timeout(1000)
            route.continue_()

        page.route("**/alpine.js*", late)
        page.goto(live_server.url + queue())
        ready(page)
        page.click("#sb-select-all")
        page.keyboard.press("Shift+A")
        page.wait_for_url("**/bulk/**")
        ready(page)
        has_focus(page, "TEXTAREA")
        page.goto(live_server.url + item(first))
        ready(page)
        desk.cast.reviewer.do("approve_proposal", id=first)
        page.keyboard.press("a")
        expect(page.locator("#problem")).to_be_focused()


def test_a_double_click_without_javascript_is_one_decision(browser: Browser, live_server, desk):
    for n in range(3):
        propose(desk.cast.agent, f"Thing {n}")
    with signed_in(browser, live_server.url, "ann", java_script_enabled=False) as (page, _):
        page.goto(live_server.url + queue())
        page.click("[data-main] >> nth=0")
        page.click("button:text-is('Approve')", click_count=2, no_wait_after=True)
        page.wait_for_selector(".sb-toast")
        page.wait_for_timeout(500)
    first, *others = states()
    assert first == "approved"
    assert Decision.objects.filter(proposal__state="approved").count() == 1, others


def test_keys_rest_in_fields_dialogs_and_while_composing(browser: Browser, live_server, desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + item(proposal))
        ready(page)
        page.keyboard.press("m")
        page.keyboard.type("a r c u s e")
        composing = "(keys) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', keys))"
        page.evaluate(composing, {"key": "Enter", "ctrlKey": True, "isComposing": True, "bubbles": True})
        page.keyboard.press("Escape")
        page.wait_for_timeout(100)
        page.evaluate(composing, {"key": "a", "isComposing": True, "bubbles": True})
        for combination in ("Control+a", "Alt+a", "Meta+a"):
            page.keyboard.press(combination)
        page.wait_for_timeout(300)
        assert page.url == live_server.url + item(proposal)
    assert states() == ["open"]


@pytest.mark.parametrize("reasons", [{"*": ["not true any more"]}, {}], ids=["some", "none"])
def test_the_table_of_keys_promises_ready_reasons_where_there_are_any(browser: Browser, live_server, db, reasons):
    proposal = propose(make_desk(canned_reasons=reasons).cast.agent, "The port is 5432")
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + item(proposal))
        ready(page)
        page.keyboard.press("?")
        row = page.locator("#sb-help tr", has_text="Reject, or retract")
        expect(row).to_have_text(
            "rReject, or retract: then 1–9 for a ready reason, or text" if reasons else "rReject, or retract"
        )
        assert faults == []


def test_keys_can_be_turned_off(browser: Browser, live_server, desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + reverse("admin:governance_preferences"))
        page.uncheck("input[name=shortcuts]")
        page.click("button:has-text('Keep')")
        expect(page.locator(".sb-toast")).to_contain_text("Kept.")
        page.goto(live_server.url + item(proposal))
        ready(page)
        page.keyboard.press("a")
        page.keyboard.press("?")
        page.wait_for_timeout(300)
        assert not page.locator("#sb-help").is_visible()
        assert faults == []
    assert states() == ["open"]
    assert Preference.objects.get(user__username="ann").shortcuts is False
