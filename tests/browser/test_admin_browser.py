"""Every admin page in a real browser: both colour schemes, with and without JavaScript, by keyboard, accessible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from governance.adminbase import ReadOnlyAdmin
from kernel.context import Ctx, Door
from memory.models import ExtractionRun
from scopes.selectors import identify_person
from tests.conftest import TEAM, a_turn, make_cast, make_person
from tests.guards.write_guard import unguarded
from tests.media.jobbing import a_job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"
READ_ONLY: list[Any] = [
    model
    for model in admin.site._registry
    if isinstance(admin.site.get_model_admin(model), ReadOnlyAdmin) and model._meta.app_label != "legacy"
]  # what was moved in is for operators of the installation only: tests/legacy/test_migration_page.py
QUEUE_EXPERTS = {
    "review": {
        "queue": [{"name": "experts", "actions": ["commit_turn"], "actor_kinds": ["agent"], "scope_types": ["expert"]}]
    }
}


@pytest.fixture
def staff(transactional_db) -> None:
    """A little of everything, a reviewer of it, and an operator."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    events = {
        "messages": [
            {"role": "user", "content": "<script>document.title = 'owned'</script> 默认数据库? a\u200bb"},
            {"role": "assistant", "content": "SQLite. " * 800, "model": "m"},
        ],
        "tool_calls": [{"name": "grep", "args": {"pattern": "db"}, "result": ["x"], "status": "ok"}],
        "refs": [{"ref_type": "url", "ref_uri": "https://example.org/x"}],
    }
    learned = {
        "decisions": [
            {"key": "decision:shop:database", "decision": "Use <b>Postgres</b> 数据库 a\u200bb"},
            {"key": "decision:shop:owner", "decision": "The owner of <b>the shop</b> a\u200bb is Ann."},
            {"key": "decision:shop:boss", "decision": "The owner of <b>the shop</b> a\u200bb is Bea."},
        ],
        "entities": [{"key": "entity:repo:smart_rag", "aliases": ["rag"], "remember": True}],
        "edges": [{"subject": "smart_rag", "predicate": "uses", "object": "Postgres"}],
    }
    project = {"type": "project", "id": "shop"}
    here = {"read": [project, {"type": "session", "id": "s1"}], "default_write": project}
    turn_id = cast.agent.do("commit_turn", a_turn(turn_events={**events, **learned}, scope_context=here))["turn_id"]
    asked = {"domain_id": TEAM, "session_id": "s1", "user_message": "Which 数据库 does smart_rag use?"}
    cast.agent.do("compose_context", asked, scope_context=here)
    with unguarded():
        reply = "Sure! <script>document.title = 'owned'</script>"
        ExtractionRun.objects.create(
            domain_id=TEAM, turn_id=turn_id, state="failed", model="m", error="not JSON", raw_reply=reply
        )
    written = {"text": "# Plan <b>x</b>\n\n数据库 a\u200bb", "title": "Plan <b>x</b>"}
    cast.agent.do("add_document", domain_id=TEAM, options=written, scopes=[project])
    a_job(cast.agent, "failed", source="https://example.org/<b>x</b>", error="too_large: a\u200bb")
    removed = cast.agent.do("add_document", domain_id=TEAM, options={"text": "old"}, scopes=[project])["document_id"]
    gone = {"objects": [{"kind": "document", "id": removed}], "reason": "<b>asked</b> to a\u200bb"}
    cast.operator.do("erase", domain_id=TEAM, **gone)
    cast.operator.do("place_hold", domain_id=TEAM, scope="project:shop", reason="a <b>lawsuit</b> a\u200bb")
    cast.operator.do("set_policy", domain_id=TEAM, document=QUEUE_EXPERTS, reason="two pairs of eyes")
    expert = {"type": "expert", "id": "sre"}
    cast.agent.do("commit_turn", a_turn(scope_context={"read": [expert], "default_write": expert}))


@contextmanager
def signed_in(browser: Browser, base: str, name: str, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page of that person, and what went wrong on it so far."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda line: faults.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda call: faults.append(call.url) if not call.url.startswith((base, "data:")) else None)
    page.on(
        "response", lambda answer: faults.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
    )
    page.goto(base + reverse("admin:index"))
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.press("#id_password", "Enter")
    page.wait_for_selector("#nav-sidebar-apps", state="attached")
    yield page, faults
    context.close()


def addresses(name: str) -> list[str]:
    """The front page, every list that the person may open, and the first row of each."""
    person = get_user_model().objects.get(username=name)
    identity = identify_person(person)
    found = [reverse("admin:index")]
    for model in READ_ONLY:
        base = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        page: Any = admin.site.get_model_admin(model)
        rows = page.visible(Ctx(identity.actor, Door.ADMIN, identity.reach))
        assert rows, model
        found += [reverse(f"{base}_changelist"), reverse(f"{base}_change", args=[rows.order_by("-pk")[0].pk])]
    accounts = [reverse("admin:auth_user_changelist"), reverse("admin:auth_group_changelist")]
    return found + (accounts if person.is_superuser else [])


def violations(page: Page) -> list[str]:
    """What axe calls serious or critical."""
    told = Axe().run(page).response
    assert told["passes"], "axe did not look"
    return [
        f"{page.url} {rule['id']}: {rule['nodes'][0]['html'][:200]} {rule['nodes'][0]['failureSummary'][:200]}"
        for rule in told["violations"]
        if rule["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works(browser, live_server, staff, scheme):
    barriers: list[str] = []
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        for address in addresses("ann"):
            page.goto(live_server.url + address)
            assert page.url == live_server.url + address
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            assert "owned" not in page.title()
            assert page.evaluate("document.documentElement.classList.contains('dark')") is (scheme == "dark")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
            barriers += violations(page)
        assert faults == []
    assert barriers == []


def test_signing_in_is_accessible(browser, live_server, staff):
    page = browser.new_page()
    page.goto(live_server.url + reverse("admin:index"))
    assert violations(page) == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works_without_javascript(browser, live_server, staff, scheme):
    with signed_in(browser, live_server.url, "operator", color_scheme=scheme, java_script_enabled=False) as (
        page,
        faults,
    ):
        for address in addresses("operator"):
            page.goto(live_server.url + address)
            assert page.locator("h1").is_visible(), address
            assert page.locator("#nav-sidebar-apps a").first.is_visible()
        page.goto(live_server.url + reverse("admin:governance_auditentry_changelist"))
        page.click("nav[aria-label='Filter by outcome'] >> text=queued")
        expect(page.locator("#result_list tbody")).to_have_count(1)
        page.click("summary:has(.sb-who)")
        page.click("text=Log out")
        page.wait_for_selector("text=Logged out")
        assert faults == []


def test_the_keyboard_reaches_everything(browser, live_server, staff):
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.goto(live_server.url + reverse("admin:governance_auditentry_changelist"))
        reached = set()
        for _step in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.textContent.trim() || document.activeElement.id"))
        assert {"searchbar", "Search", "denied", "commit_turn"} <= reached
        assert any(text.endswith("Sessions") for text in reached)
        page.focus("summary:has(.sb-who)")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_function("document.documentElement.classList.contains('dark')")


def test_a_small_screen_has_its_navigation(browser, live_server, staff):
    with signed_in(browser, live_server.url, "ann") as (page, _):
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto(live_server.url + reverse("admin:memory_session_changelist"))
        navigation = page.locator("#nav-sidebar-apps")
        expect(navigation).to_be_hidden()
        page.click("button[aria-label='Show or hide the navigation']")
        expect(navigation).to_be_visible()
        page.click("button[aria-label='Close the navigation']")
        expect(navigation).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
