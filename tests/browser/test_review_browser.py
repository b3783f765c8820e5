"""Whole review sessions in a real browser: by mouse, by keyboard, without JavaScript, two people at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from governance.models import Decision, Proposal
from tests.browser.reviewing import desk, has_focus, ready, states
from tests.browser.test_admin_browser import signed_in
from tests.conftest import TEAM
from tests.governance.desk import item, make_desk, propose, queue

__all__ = ["desk"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_queue(page: Page, base: str) -> None:
    page.goto(base + queue())
    ready(page)


def test_it_works_by_mouse(browser: Browser, live_server, desk):
    for n in range(6):
        propose(desk.cast.agent, f"The port of shop {n} is 543{n}")
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.click("#nav-sidebar-apps >> text=Queue")
        page.fill("input[name=text]", "port of shop")
        page.click("button:has-text('Filter')")
        page.click("[data-main] >> nth=0")
        ready(page)
        page.click("button:text-is('Approve')")
        expect(page.locator(".sb-toast")).to_contain_text("Approved, 5 left.")
        assert "text=port" in page.url, "the filter stays"
        ready(page)
        page.click("summary:has-text('Reject…')")
        page.click("button:has-text('say which project')")
        page.click("details[open] button[type=submit]")
        expect(page.locator(".sb-toast")).to_contain_text("Rejected, 4 left.")
        ready(page)
        page.keyboard.press("u")  # its button is gone after ten seconds; without a script it is clicked below
        expect(page.locator(".sb-toast")).to_contain_text("1 undone")
        assert states() == ["approved", "open", "open", "open", "open", "open"]
        open_queue(page, live_server.url)
        page.check("[data-row] input >> nth=0")
        page.check("[data-row] input >> nth=1")
        page.click("button:has-text('Reject selected')")
        page.fill("textarea[name=reason]", "both are noise")
        page.click("button:has-text('Decide on 2')")
        expect(page.locator("h2.sb-title")).to_contain_text("2 rejected")
        page.click("button:has-text('Undo these 2')")
        expect(page.locator(".sb-toast")).to_contain_text("2 undone")
        assert faults == []
    assert states() == ["approved", "open", "open", "open", "open", "open"]


def test_a_session_by_keyboard_only(browser: Browser, live_server, desk):
    for n in range(8):
        propose(desk.cast.agent, f"Thing {n}")
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        _open_the_first(page)
        _decide_by_keys(page)
        _look_around(page)
        _decide_on_two(page)
        assert faults == []
    assert states() == ["approved", "rejected", "changes_requested", "open", "approved", "approved", "open", "open"]


def _open_the_first(page: Page) -> None:
    """To the queue, down, down, up, in."""
    ready(page)
    page.keyboard.type("gq")  # one soon after the other
    page.wait_for_url("**/queue/**")
    ready(page)
    for key in "jjk":
        page.keyboard.press(key)
    assert "Thing 0" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_url("**/change/**")


def _decide_by_keys(page: Page) -> None:
    """Approve, reject with a ready reason, reject with a typed one, undo that, send it back, snooze the next."""
    press = page.keyboard.press
    for keys, text, told in (
        (["a"], "", "Approved, 7 left."),
        (["r", "1", "Enter"], "", "Rejected, 6 left."),
        (["r"], "already known, no a and no r acts here", "Rejected, 5 left."),
        (["u"], "", "1 undone."),
        (["c"], "说明是哪个项目", "Sent back, 5 left."),
        (["s", "Control+Enter"], "", "Snoozed, 4 left."),
    ):
        ready(page)
        for key in keys:
            press(key)
        if text:
            has_focus(page, "TEXTAREA")  # an input method needs a field
            page.keyboard.type(text)
            press("Control+Enter")
        expect(page.locator("#sb-live")).to_have_text(told)


def _look_around(page: Page) -> None:
    """One column, the table of keys, back to the queue."""
    ready(page)
    page.keyboard.press("d")
    page.wait_for_url("**diff=unified**")
    ready(page)
    page.keyboard.press("?")
    assert page.locator("#sb-help").is_visible()
    assert page.locator("#sb-help tbody tr").count() > 20
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.locator("#sb-help")).to_be_hidden()
    page.keyboard.press("Escape")
    page.wait_for_url("**/queue/**")


def _decide_on_two(page: Page) -> None:
    """Select a range, approve it on the page that asks."""
    ready(page)
    for key in ("j", "x", "j", "Shift+X"):
        page.keyboard.press(key)
    expect(page.locator("#sb-live")).to_have_text("2 selected")
    page.keyboard.press("Shift+A")
    page.wait_for_url("**/bulk/**")
    ready(page)
    has_focus(page, "TEXTAREA")
    page.keyboard.type("both are fine")
    page.keyboard.press("Control+Enter")
    expect(page.locator("h2.sb-title")).to_contain_text("2 approved")
    page.keyboard.press("Escape")
    page.wait_for_url("**/queue/**")


def test_a_session_without_javascript(browser: Browser, live_server, desk):
    for n in range(5):
        propose(desk.cast.agent, f"Thing {n}")
    with signed_in(browser, live_server.url, "ann", java_script_enabled=False) as (page, faults):
        page.goto(live_server.url + queue())
        expect(page.locator("[data-row]")).to_have_count(5)
        page.click("[data-main] >> nth=0")
        page.click("button:text-is('Approve')")
        expect(page.locator(".sb-toast")).to_contain_text("Approved, 4 left.")
        page.click("summary:has-text('Reject…')")
        page.fill("details[open] textarea", "not true")
        page.click("details[open] button[type=submit]")
        expect(page.locator(".sb-toast")).to_contain_text("Rejected, 3 left.")
        page.click(".sb-toast button:has-text('Undo')")
        expect(page.locator(".sb-toast")).to_contain_text("1 undone")
        assert states()[:2] == ["approved", "open"]
        page.click("summary:has-text('Request changes…')")
        page.fill("details[open] textarea", "which shop?")
        page.click("details[open] button[type=submit]")
        expect(page.locator(".sb-toast")).to_contain_text("Sent back")
        page.click("text=Try it out and show the effect")
        expect(page.locator("#loaded")).to_contain_text("new memory")
        page.goto(live_server.url + queue())
        page.check("input[name=all]")
        page.click("button:has-text('Approve selected')")
        page.fill("textarea[name=reason]", "all known")
        page.click("button:has-text('Decide on 3')")
        expect(page.locator("h2.sb-title")).to_contain_text("3 approved")
        assert faults == []
    assert states() == ["approved", "changes_requested", "approved", "approved", "approved"]


def test_two_reviewers_race(browser: Browser, live_server, transactional_db):
    desk = make_desk()  # nobody is asked for a second look, which would hide who decided
    proposal = propose(desk.cast.agent, "The port is 5432")
    with (
        signed_in(browser, live_server.url, "ann") as (ann, _),
        signed_in(browser, live_server.url, "ben") as (ben, faults),
    ):
        for page in (ann, ben):
            page.goto(live_server.url + item(proposal, "?queue=open"))
            ready(page)
        ann.keyboard.press("a")
        expect(ann.locator(".sb-toast")).to_contain_text("Approved")
        ben.click("summary:has-text('Reject…')")
        ben.fill("details[open] textarea", "no")
        ben.click("details[open] button[type=submit]")
        expect(ben.locator("[role=alert]")).to_contain_text("approved by ann")
        expect(ben.locator("[data-key=a]")).to_have_count(0)
        assert [fault for fault in faults if "409" not in fault] == []
    assert states() == ["approved"]
    assert Decision.objects.count() == 1


def test_a_form_left_open_is_stale(browser: Browser, live_server, desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + item(proposal))
        ready(page)
        desk.cast.reviewer.do("request_changes", id=proposal, reason="which?")
        given = Proposal.objects.get(pk=proposal).input
        given["turn_events"]["decisions"][0]["decision"] = "The port of the shop is 5432"
        desk.cast.agent.do("revise_proposal", id=proposal, revision=1, input=given)
        page.keyboard.press("a")
        expect(page.locator("[role=alert]")).to_contain_text("revision")
    assert states() == ["open"]


def test_forty_clear_decisions_by_keyboard_take_a_page_each(browser: Browser, live_server, desk):
    for n in range(41):
        propose(desk.cast.agent, f"Clear thing {n}")
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + queue())
        page.focus("[data-main] >> nth=0")
        page.keyboard.press("Enter")
        came: list[str] = []
        for n in range(40):
            ready(page)
            if not n:
                page.on("domcontentloaded", lambda loaded: came.append(loaded.url))
            if n % 4:
                page.keyboard.press("a")
            else:
                page.keyboard.press("r")
                page.keyboard.press("2")
                page.keyboard.press("Enter")
            expect(page.locator(".sb-toast")).to_contain_text(f", {40 - n} left.")
        ready(page)
    assert Decision.objects.count() == len(came) == 40


def test_what_the_dry_run_finds_in_the_way_is_said_at_the_top(browser: Browser, live_server, desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    desk.cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read"])
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + item(proposal))
        expect(page.locator("#sb-atop")).to_contain_text("It cannot be carried out now: Its proposer")
        assert faults == []


def test_looking_claims_and_the_effect_comes_by_itself(browser: Browser, live_server, desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.goto(live_server.url + item(proposal))
            expect(page.locator("[data-load]")).to_contain_text("new memory")
        assert Proposal.objects.get(pk=proposal).claimed_name == "ann"
        assert faults == []
    assert states() == ["open"]
