"""A review desk made for tests: an agent whose commits into projects wait, two reviewers who sign in, and their pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.asked import texts
from tests.clients import sign_in
from tests.conftest import TEAM, Cast, Player, a_turn, make_cast, make_person

HELD = {"review": {"queue": [{"name": "projects", "actions": ["commit_turn"], "scope_types": ["project"]}]}}
REASONS = {"canned_reasons": {"*": ["say which project", "not true any more"]}, "guidelines": {"*": "Only **facts**."}}
BRACKETS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")


@dataclass(frozen=True)
class Desk:
    """The cast, and the browsers of the reviewers `ann` and `ben`."""

    cast: Cast
    ann: Client
    ben: Client


def make_desk(**review: Any) -> Desk:
    """A desk with `review` as further fields of the review policy."""
    cast = make_cast()
    document = {"review": {**HELD["review"], **REASONS, **review}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="projects are reviewed")
    for name in ("ann", "ben"):
        make_person(name, TEAM, is_staff=True)
    return Desk(cast, sign_in("ann"), sign_in("ben"))


def propose(agent: Player, text: str, project: str = "shop", session: str = "s1") -> str:
    """The id of a proposal to learn that text as a decision of the project."""
    place = {"type": "project", "id": project}
    scopes = {"read": [place], "default_write": place}
    slug = re.sub(r"\W+", "-", text.casefold()).strip("-")[:40] or "x"
    learned = {"decisions": [{"key": f"decision:{project}:{slug}", "decision": text}]}
    turn = a_turn(session_id=session, turn_events=learned, scope_context=scopes)
    answer = agent.do("commit_turn", turn)
    proposal: str = (answer.get("proposal") or answer["queued"][0])["id"]
    return proposal


def item(proposal: str, query: str = "") -> str:
    """The address of a proposal's page."""
    return reverse("admin:governance_item", args=[proposal]) + query


def queue(query: str = "") -> str:
    """The address of the queue."""
    return reverse("admin:governance_queue") + query


def forms(page: str, act: str) -> dict[str, str]:
    """The hidden fields of the first form of a page that does `act`: what a browser without JavaScript would send."""
    for form in re.findall(r'<form method="post".*?</form>', page, re.DOTALL):
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
        if fields.get("act") == act:
            return {name: value.replace("&amp;", "&") for name, value in fields.items()}
    raise AssertionError(f"the page has no form for {act}")


def text_of(client: Client, address: str) -> str:
    """The page at an address."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.content.decode()[:2000]
    text: str = answer.content.decode()
    return text


def decide(client: Client, proposal: str, act: str, **fields: str) -> Any:
    """Fill in a form of the page and send it."""
    sent = {**forms(text_of(client, item(proposal)), act), **fields}
    return client.post(item(proposal), sent, follow=True)


def statements(client: Client, address: str) -> int:
    """How many statements a page takes, brackets of transactions aside."""
    client.get(address)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len([sql for sql in texts(asked) if not sql.startswith(BRACKETS)])
