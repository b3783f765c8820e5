"""A reviewer's pages in a real browser: when they take keys, and what became of the proposals."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from governance.models import AuditEntry, Proposal
from tests.conftest import TEAM
from tests.governance.desk import make_desk, propose


@pytest.fixture
def desk(transactional_db):
    """A desk where every decision is looked at twice."""
    return make_desk(blind_sample=1)


def states() -> list[str]:
    """The state of every proposal, oldest first."""
    return list(Proposal.objects.order_by("id").values_list("state", flat=True))


def ready(page: Page) -> None:
    """The page has loaded and takes decisions."""
    page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")
    page.wait_for_selector("html[data-settled]", state="attached")


def has_focus(page: Page, tag: str) -> None:
    """Wait until an element of that kind takes what is typed."""
    page.wait_for_function("tag => document.activeElement.tagName === tag", arg=tag)


def written_and_approved(desk) -> tuple[AuditEntry, AuditEntry]:
    """The entries of a call that can be taken back, and of one that cannot."""
    item_of = {"key": "decision:shop:owner", "decision": "The owner of <b>the shop</b> a\u200bb is Ann."}
    place = {"type": "project", "id": "shop"}
    desk.cast.agent.do("write_memory_item", domain_id=TEAM, scope=place, type="decisions", item=item_of)
    desk.cast.reviewer.do("approve_proposal", id=propose(desk.cast.agent, "The port is 5432"))
    done = AuditEntry.objects.filter(outcome="allowed").order_by("-id")
    return done.filter(action="write_memory_item")[0], done.filter(action="commit_turn")[0]
