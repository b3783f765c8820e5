"""The front page: what happened last without the looks of people, and plain names of pages."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.urls import reverse

from governance.admin import front
from governance.adminbase import ReadOnlyAdmin
from governance.models import AuditEntry
from kernel.errors import InvalidInputError
from scopes.selectors import identify_person
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, Player
from tests.governance.desk import item, make_desk, propose, text_of

pytestmark = pytest.mark.usefixtures("midday")


@pytest.fixture
def desk(db):
    return make_desk()


def happened(client, query: str = "") -> list[tuple[str, str]]:
    rows = client.get(reverse("admin:index") + query).context["newest"]
    return [(each["row"].actor_kind, each["row"].action) for each in rows]


def test_it_works(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    for _ in range(front.NEWEST):
        text_of(desk.ann, item(proposal))
    assert ("person", "review_proposal") not in happened(desk.ann)
    assert happened(desk.ann)[0] == ("agent", "commit_turn")
    assert set(happened(desk.ann, "?looks=yes")) == {("person", "review_proposal")}


def test_what_agents_read_stays(desk):
    desk.cast.agent.do("list_memory_items", domain_id="team")
    assert happened(desk.ann)[0] == ("agent", "list_memory_items")


def test_a_refused_look_of_a_person_stays(desk):
    as_ann().do("list_memory_items", domain_id="team")
    assert happened(desk.ann)[0] != ("person", "list_memory_items")
    with pytest.raises(InvalidInputError):
        as_ann().call("list_memory_items", domain_id="team", limit=-1)
    assert happened(desk.ann)[0] == ("person", "list_memory_items")


def test_where_there_are_only_looks_the_page_says_so(desk, monkeypatch):
    monkeypatch.setattr(front, "LOOKED_AT", 3)
    proposal = propose(desk.cast.agent, "The port is 5432")
    text_of(desk.ann, item(proposal))
    assert AuditEntry.objects.order_by("-at", "-id")[0].actor_kind == "person"
    for _ in range(3):
        text_of(desk.ann, item(proposal))
    page = text_of(desk.ann, reverse("admin:index"))
    assert "Nothing but looks of people is among the newest 3 entries" in page
    assert "?looks=yes" in page


def test_the_rate_is_one_on_every_page(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(6)]
    for n, proposal in enumerate(ids[:5]):
        desk.cast.reviewer.do("reject_proposal" if n == 4 else "approve_proposal", id=proposal, reason="because")
    desk.cast.reviewer.do("undo_decision", proposal_id=ids[4], reason="a slip")
    desk.cast.reviewer.do("reject_proposal", id=ids[5], reason="because")
    (of_stats,) = [each for each in desk.cast.reviewer.do("review_stats")["agents"] if each["name"] == "agent"]
    (of_activity,) = [each for each in desk.cast.reviewer.do("agent_activity")["actors"] if each["name"] == "agent"]
    for name in ("approved", "rejected", "approve_rate"):
        assert of_activity[name] == of_stats[name], name
    assert of_stats["approve_rate"] == 0.8
    for name in ("governance_statistics", "governance_agents"):
        page = text_of(desk.ann, reverse(f"admin:{name}"))
        assert "80%" in page
        assert "Approve rate: approvals among the approvals and rejections" in page


def test_pages_are_called_what_they_hold(desk):
    titles = {}
    for model in admin.site._registry:
        if isinstance(admin.site.get_model_admin(model), ReadOnlyAdmin):
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
            titles[model.__name__] = sign_in("ann").get(reverse(name)).context["title"]
    assert titles["ApiKey"] == "API keys"
    assert titles["MemoryItem"] == "Memory items"
    assert not [title for title in titles.values() if title.startswith("Select") or title[0].islower()]


def test_what_was_decided_today_is_counted_alike_on_the_queue_and_here(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(5)]
    choices = [{"id": proposal, "revision": 1} for proposal in ids[:4]]
    bulk = as_ann().do("decide_proposals", verdict="reject", proposals=choices, reason="noise")
    as_ann().do("reject_proposal", id=ids[4], reason="noise")
    as_ann().do("undo_decision", request_id=bulk["request_id"])
    assert "<strong>1</strong> decided by you today" in text_of(desk.ann, reverse("admin:governance_queue"))
    own = desk.ann.get(reverse("admin:index")).context["own"]
    assert list(own.counts) == [("rejected", 1), ("undone", 4)]
    assert len(own.latest) == 8, "what was taken back is told, and not counted"


def test_who_only_took_back_decided_nothing(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    desk.cast.reviewer.do("reject_proposal", id=proposal, reason="noise")
    as_ann().do("undo_decision", proposal_id=proposal, reason="too soon")
    assert "<strong>0</strong> decided by you today" in text_of(desk.ann, reverse("admin:governance_queue"))
    assert "<strong>0</strong> decided</p>" in text_of(desk.ann, reverse("admin:index"))


def as_ann() -> Player:
    """Ann, who calls by herself."""
    return Player("ann", identify_person(get_user_model().objects.get(username="ann")))


def test_what_was_decided_today_is_told_only_where_the_person_still_reviews(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    as_ann().do("reject_proposal", id=proposal, reason="noise")
    assert item_page(proposal) in text_of(desk.ann, reverse("admin:index"))
    desk.cast.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE)
    desk.cast.operator.do("unassign_reviewer", user="ann", domain_id=TEAM)
    page = text_of(sign_in("ann"), reverse("admin:index"))
    assert "5432" not in page
    assert item_page(proposal) not in page
    assert "<strong>1</strong> rejected</p>" in page


def item_page(proposal: str) -> str:
    return reverse("admin:governance_proposal_change", args=[proposal])
