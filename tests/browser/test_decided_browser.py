"""Proposals about memory in a real browser: before and after the decision, in both schemes, and where their links lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_admin_browser import signed_in, violations
from tests.conftest import TEAM, Cast, make_cast, make_person
from tests.governance.desk import item
from tests.memory.promoting import promote, promoter
from tests.memory.talk import commit, context, decision, only

SHOTS = os.environ.get("SCREENSHOTS", "")  # a folder to keep pictures in; none are kept where it is not given
SHOP, TASK = "project:shop", "task:t"
LONG = (
    "The nightly job copies the orders of the day to the archive at two o'clock, waits until the checksums of both sides "
    "agree, and only then lets the retention job remove what is older than ninety days from the live tables."
)
REWORDED = (
    "Every night the orders of the day are copied to the archive; nothing is removed before both checksums agree."
)


@pytest.fixture
def found(transactional_db) -> dict[str, str]:
    """The address of a proposal of each kind, by what it is."""
    cast = make_cast()
    make_person("ann", TEAM, is_staff=True)
    agent = promoter(cast)
    source = only(commit(agent, "s1", say=LONG, extract=False, scopes=context(TASK), decisions=[decision(LONG)]))["id"]
    open_one = promote(agent, source, text=REWORDED)["proposal"]["id"]
    rule = {"name": "look", "actions": ["write_memory_item", "retract_item", "correct_item"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look first")
    return {"reworded": item(open_one), **held(cast), **decided(cast, source)}


def held(cast: Cast) -> dict[str, str]:
    """An item that waits by itself, learned from a message that says more."""
    said = "We talked a while. Use Postgres, it is what everybody here knows. See you on Monday!"
    new = decision("Use Postgres", "decision:shop:store", valid_to="2099-03-01T00:00:00Z", importance=3)
    answer = commit(cast.agent, "s7", say=said, extract=False, scopes=context(SHOP), decisions=[new])
    return {"written": item(answer["memory_written"]["queued"][0]["proposal_id"])}


def decided(cast: Cast, source: str) -> dict[str, str]:
    """One that was approved and one that was rejected, with the world changed since and nobody asking any more."""
    agent = promoter(cast)
    corrected = agent.do("correct_item", memory_item_id=source, text=f"{LONG} On Sundays it rests.", reason="it rests")
    cast.reviewer.do("approve_proposal", id=corrected["proposal"]["id"])
    other = only(
        commit(agent, "s2", scopes=context(TASK), decisions=[decision("Ship on Friday", "decision:shop:day")])
    )
    gone = agent.do("retract_item", memory_item_id=other["id"], reason="wrong")["proposal"]["id"]
    cast.reviewer.do("reject_proposal", id=gone, reason="it is right")
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="nobody looks any more")
    commit(agent, "s3", scopes=context(TASK), decisions=[decision("Ship on Monday", "decision:shop:day")])
    return {"approved": item(corrected["proposal"]["id"]), "rejected": item(gone)}


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"decided-{name}.png"), full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works(browser: Browser, live_server, found, scheme):
    with signed_in(browser, live_server.url, "ann", color_scheme=scheme) as (page, faults):
        for name, address in found.items():
            page.goto(live_server.url + address)
            page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
            shoot(page, f"{name}-{scheme}")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            assert violations(page) == [], name
        assert faults == []


def test_the_page_says_what_was_and_leads_to_what_is(browser: Browser, live_server, found):
    with signed_in(browser, live_server.url, "ann") as (page, faults):
        page.goto(live_server.url + found["rejected"])
        change = page.get_by_role("region", name="What it would have changed")
        expect(change).to_contain_text("Ship on Friday")
        expect(page.get_by_role("article")).not_to_contain_text("Ship on Monday")
        expect(page.get_by_role("article")).to_contain_text("Today it would be allowed")
        change.get_by_role("link", name="memory").first.click()
        expect(page.locator(".sb-states")).to_contain_text("no longer in force")
        page.goto(live_server.url + found["written"])
        expect(page.locator(".sb-text mark")).to_have_text("Use Postgres")
        page.get_by_role("link", name="open the conversation").click()
        expect(page.get_by_role("heading", name="Turn 1")).to_be_visible()
        page.goto(live_server.url + found["reworded"])
        wording = page.get_by_role("region", name="In other words than its source")
        expect(wording.locator("ins")).not_to_have_count(0)
        expect(wording.locator("del")).not_to_have_count(0)
        wording.get_by_role("link", name="open the source").click()
        expect(page.locator(".sb-states")).to_contain_text("version 1")
        assert faults == []
