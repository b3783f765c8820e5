"""Second looks and reverts in a real browser, by keyboard and without JavaScript, and every screen of a review in both schemes."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, expect

from governance.models import BlindReview, Reversal
from tests.browser.reviewing import desk, ready, written_and_approved
from tests.browser.test_admin_browser import signed_in, violations
from tests.governance.desk import item, propose, queue

__all__ = ["desk"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
        expect(page.locator(".sb-toast")).to_contain_text("You agree: it was rejected because: noise")
        expect(page.locator("input[name=verdict]"), "the next one follows").to_have_count(2)
        page.goto(live_server.url + reverse("admin:governance_statistics"))
        expect(page.locator("section[aria-label='Second looks']")).to_contain_text("100%")
        page.goto(live_server.url + reverse("admin:governance_auditentry_change", args=[entry.pk]))
        page.click("summary:has-text('Revert…')")
        page.fill("textarea[name=reason]", "another owner")
        page.click("button:text-is('Revert')")
        expect(page.locator(".sb-toast")).to_contain_text("Taken back: 1 row restored.")
        expect(page.locator("article.sb-detail")).to_contain_text("ann took that back at")
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
