"""The pages on the record, on policies and on the second factor in a real browser: both schemes, no script, accessible."""

from __future__ import annotations

import json
import os
from base64 import b32decode
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import Browser, Page, expect

from governance.models import AuditEntry
from governance.services import devices
from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import TEAM, a_turn, make_cast, make_person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULE = {"review": {"queue": [{"name": "shared", "actions": ["commit_turn"], "scope_types": ["project"]}]}}
PROJECT = {"type": "project", "id": "shop"}


@pytest.fixture
def staff(transactional_db) -> None:
    """A team that did a little of everything, and a reviewer of it."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    for word in ("Postgres", "默认数据库 a\u200bb"):
        cast.agent.do("commit_turn", a_turn(word))
    for rights in (["read", "write"], ["read"]):
        cast.operator.do("grant_access", name="reader", domain_id=TEAM, rights=rights)
    cast.operator.do("set_policy", domain_id=TEAM, document=RULE, reason="two pairs of eyes")
    place = {"read": [PROJECT], "default_write": PROJECT}
    cast.agent.do("commit_turn", a_turn("Shared", session_id="s2", scope_context=place))


def shoot(page: Page, name: str) -> None:
    """A picture for whoever wants to look, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def addresses() -> dict[str, str]:
    entry = AuditEntry.objects.filter(action="grant_access").exclude(changes=[]).latest("id")
    held = AuditEntry.objects.filter(action="commit_turn", outcome="queued").latest("id")
    asked = f"name=agent&kind=agent&action=commit_turn&domain_id={TEAM}&scope=project:shop"
    return {
        "history": reverse("admin:governance_history"),
        "entry": reverse("admin:governance_auditentry_change", args=[entry.pk]),
        "why": f"{reverse('admin:governance_explain')}?audit_entry_id={held.pk}",
        "what-if": f"{reverse('admin:governance_explain')}?{asked}",
        "agents": reverse("admin:governance_agents"),
        "setup": reverse("second_factor_setup"),
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_quiet(browser: Browser, live_server, staff, scheme):
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        for name, address in addresses().items():
            page.goto(live_server.url + address)
            shoot(page, f"{name}-{scheme}")
            assert violations(page) == []
        assert faults == []


def test_a_draft_is_tried_without_a_script(browser: Browser, live_server, staff):
    with signed_in(browser, live_server.url, "ann", java_script_enabled=False) as (page, faults):
        page.goto(live_server.url + reverse("admin:governance_explain"))
        page.fill("#document", json.dumps({"review": {"queue": [{"name": "all", "actions": ["commit_turn"]}]}}))
        page.fill("#draft-domain", TEAM)
        page.get_by_role("button", name="Try it").click()
        told = page.locator("section[aria-labelledby=replay]")
        expect(told.locator("[role=status]")).to_contain_text("would be decided otherwise")
        expect(told.locator("[role=status]")).to_contain_text("review.queue:all")
        assert faults == []


def test_an_entry_leads_to_the_change_before_it(browser: Browser, live_server, staff):
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(f"{live_server.url}{reverse('admin:governance_history')}?action=grant_access")
        page.locator("tbody tr a").first.click()
        before = page.url
        page.get_by_role("link", name="Previous change").first.click()
        expect(page).not_to_have_url(before)
        assert (page.get_by_role("link", name="Next change").first.get_attribute("href") or "none") in before
        assert faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_second_factor_is_set_up_and_asked_for_without_a_script(
    browser: Browser, live_server, staff, held_time, scheme
):
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme, java_script_enabled=False) as (page, faults):
        page.goto(live_server.url + reverse("second_factor_setup"))
        key = b32decode(page.inner_text(".sb-secret"))
        page.fill("#code", f"{totp(key):06}")
        page.get_by_role("button", name="Turn it on").click()
        shown = page.locator(".sb-codes code")
        expect(shown).to_have_count(10)
        codes = shown.all_inner_texts()
        shoot(page, f"codes-{scheme}")
        assert faults == []
    user = get_user_model().objects.get(username="ann")
    assert devices.has_device(user)
    TOTPDevice.objects.update(last_t=-1)
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(live_server.url + reverse("admin:index"))
    page.fill("#id_username", "ann")
    page.fill("#id_password", "correct horse battery")
    page.press("#id_password", "Enter")
    page.wait_for_selector("#code")
    shoot(page, f"verify-{scheme}")
    assert violations(page) == []
    page.fill("#code", codes[0])
    page.press("#code", "Enter")
    page.wait_for_selector("#nav-sidebar-apps", state="attached")
    context.close()


def test_a_lockout_says_what_to_do(browser: Browser, live_server, staff):
    context = browser.new_context()
    page = context.new_page()
    for _ in range(5):
        page.goto(live_server.url + reverse("admin:login"))
        page.fill("#id_username", "ann")
        page.fill("#id_password", "wrong")
        with page.expect_navigation():
            page.press("#id_password", "Enter")
    expect(page.locator("[role=alert]")).to_contain_text("for 15 minutes")
    shoot(page, "locked-light")
    assert violations(page) == []
    context.close()
