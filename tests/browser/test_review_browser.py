"""Whole review sessions in a real browser: by mouse, by keyboard, without JavaScript, two people at once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from governance.models import AuditEntry, BlindReview, Decision, Preference, Proposal, Reversal
from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import TEAM
from tests.governance.desk import item, make_desk, propose, queue

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=20_000)


@pytest.fixture
def desk(transactional_db):
    return make_desk(blind_sample=1)


def states() -> list[str]:
    return list(Proposal.objects.order_by("id").values_list("state", flat=True))


def ready(page: Page) -> None:
    """The page has loaded and takes decisions."""
    page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
    page.wait_for_selector("html[data-settled]", state="attached")


def has_focus(page: Page, tag: str) -> None:
    """Wait until an element of that kind takes what is typed."""
    page.wait_for_function("tag => document.activeElement.tagName === tag", arg=tag)


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
        page.click(".sb-toast button:has-text('Undo')")
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
    page.keyboard.press("g")
    page.keyboard.press("q")
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
        assert page.locator("[data-row]").count() == 5
        page.click("[data-main] >> nth=0")
        page.click("button:text-is('Approve')")
        assert page.locator(".sb-toast").inner_text().startswith("Approved, 4 left.")
        page.click("summary:has-text('Reject…')")
        page.fill("details[open] textarea", "not true")
        page.click("details[open] button[type=submit]")
        assert page.locator(".sb-toast").inner_text().startswith("Rejected, 3 left.")
        page.click(".sb-toast button:has-text('Undo')")
        assert states()[:2] == ["approved", "open"]
        page.click("summary:has-text('Request changes…')")
        page.fill("details[open] textarea", "which shop?")
        page.click("details[open] button[type=submit]")
        page.click("text=Try it out and show the effect")
        assert "added to memory items" in page.locator("#loaded").inner_text()
        page.goto(live_server.url + queue())
        page.check("input[name=all]")
        page.click("button:has-text('Approve selected')")
        page.fill("textarea[name=reason]", "all known")
        page.click("button:has-text('Decide on 3')")
        assert "3 approved" in page.locator("h2.sb-title").inner_text()
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
        assert ben.locator("[data-key=a]").count() == 0
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
        page.keyboard.press("a")
        page.keyboard.press("a")
        expect(page.locator(".sb-toast")).to_contain_text("Approved, 3 left.")
        page.wait_for_timeout(300)
        assert Decision.objects.count() == 3


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


def test_forty_clear_decisions_by_keyboard_take_far_less_than_five_minutes(browser: Browser, live_server, desk):
    for n in range(41):
        propose(desk.cast.agent, f"Clear thing {n}")
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + queue())
        page.focus("[data-main] >> nth=0")
        page.keyboard.press("Enter")
        started = time.perf_counter()
        for n in range(40):
            ready(page)
            if n % 4:
                page.keyboard.press("a")
            else:
                page.keyboard.press("r")
                page.keyboard.press("2")
                page.keyboard.press("Enter")
            expect(page.locator(".sb-toast")).to_contain_text(f", {40 - n} left.")
        took = time.perf_counter() - started
    assert Decision.objects.count() == 40
    assert took < 240, took


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


def test_looking_claims_and_the_effect_comes_by_itself(browser: Browser, live_server, desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + item(proposal))
        expect(page.locator("[data-load]")).to_contain_text("added to memory items")
        page.wait_for_timeout(500)
        assert Proposal.objects.get(pk=proposal).claimed_name == "ann"
        assert faults == []
    assert states() == ["open"]


def written_and_approved(desk) -> tuple[AuditEntry, AuditEntry]:
    """The entries of a call that can be taken back, and of one that cannot."""
    item_of = {"key": "decision:shop:owner", "decision": "The owner of <b>the shop</b> a\u200bb is Ann."}
    place = {"type": "project", "id": "shop"}
    desk.cast.agent.do("write_memory_item", domain_id=TEAM, scope=place, type="decisions", item=item_of)
    desk.cast.reviewer.do("approve_proposal", id=propose(desk.cast.agent, "The port is 5432"))
    done = AuditEntry.objects.filter(outcome="allowed").order_by("-id")
    return done.filter(action="write_memory_item")[0], done.filter(action="commit_turn")[0]


def test_a_second_look_and_a_revert_without_javascript(browser: Browser, live_server, desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(2)]
    for proposal in ids:
        desk.cast.reviewer.do("reject_proposal", id=proposal, reason="noise")
    entry, _ = written_and_approved(desk)
    with signed_in(browser, live_server.url, "ann", java_script_enabled=False) as (page, faults):
        page.goto(live_server.url + reverse("admin:index"))
        page.click("#nav-sidebar-apps >> text=Second looks")
        page.click(f"a[href*='{ids[1]}']")
        page.check("input[value=reject]")
        page.fill("textarea[name=reason]", "says nothing")
        page.click("button:has-text('Keep my answer')")
        assert "You agree: it was rejected because: noise" in page.locator(".sb-toast").inner_text()
        assert page.locator("input[name=verdict]").count() == 2, "the next one follows"
        page.goto(live_server.url + reverse("admin:governance_statistics"))
        assert "100%" in page.locator("section[aria-label='Second looks']").inner_text()
        page.goto(live_server.url + reverse("admin:governance_auditentry_change", args=[entry.pk]))
        page.click("summary:has-text('Revert…')")
        page.fill("textarea[name=reason]", "another owner")
        page.click("button:text-is('Revert')")
        assert "Taken back: 1 row restored." in page.locator(".sb-toast").inner_text()
        assert "ann took that back at" in page.locator("article.sb-detail").inner_text()
        assert faults == []
    assert BlindReview.objects.get().agrees
    assert Reversal.objects.get().reason == "another owner"


def test_a_second_look_by_keyboard(browser: Browser, live_server, desk):
    proposal = propose(desk.cast.agent, "Thing 0")
    desk.cast.reviewer.do("reject_proposal", id=proposal, reason="noise")
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + reverse("admin:governance_blind_list"))
        ready(page)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/{proposal}/")
        ready(page)
        page.keyboard.press("r")
        page.focus("textarea[name=reason]")
        page.keyboard.type("a and r are letters here")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#sb-live")).to_contain_text("You agree")
        assert faults == []
    assert BlindReview.objects.get().reason == "a and r are letters here"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_screen_is_accessible_in_both_schemes(browser: Browser, live_server, desk, scheme, tmp_path: Path):
    ids = [propose(desk.cast.agent, f"Customer {n} prefers <b>e-mail</b> a\u200bb") for n in range(4)]
    desk.cast.reviewer.do("reject_proposal", id=ids[3], reason="which customer?")
    entry, final = written_and_approved(desk)
    bulk = reverse("admin:governance_bulk")
    pages = {
        "front": reverse("admin:index"),
        "queue": queue(),
        "rejected": queue("?queue=rejected"),
        "nothing": queue("?text=zzz"),
        "item": item(ids[0]),
        "item-unified": item(ids[0], "?diff=unified"),
        "item-markdown": item(ids[0], "?read=markdown"),
        "item-decided": item(ids[3]),
        "effect": reverse("admin:governance_effect", args=[ids[0]]),
        "bulk": f"{bulk}?queue=open",
        "undo": f"{reverse('admin:governance_undo')}?proposal_id={ids[3]}",
        "preferences": reverse("admin:governance_preferences"),
        "statistics": reverse("admin:governance_statistics"),
        "looks": reverse("admin:governance_blind_list"),
        "look": reverse("admin:governance_blind", args=[ids[3]]),
        "entry": reverse("admin:governance_auditentry_change", args=[entry.pk]),
        "revert": reverse("admin:governance_revert", args=[entry.pk]),
        "entry-final": reverse("admin:governance_auditentry_change", args=[final.pk]),
    }
    barriers: list[str] = []
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        for name, address in pages.items():
            page.goto(live_server.url + address)
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            for panel in page.locator("details > summary").all():
                if panel.is_visible() and name in ("item", "queue", "look", "entry"):
                    panel.click()
            page.screenshot(path=tmp_path / f"{name}-{scheme}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            barriers += violations(page)
        assert faults == []
    assert barriers == []
