"""The queue: tabs whose counts are the lists, an address that is the filter, lines that say what would change."""

from __future__ import annotations

import re

import pytest

from governance.models import Proposal
from tests.conftest import ELSEWHERE, make_person
from tests.governance.desk import forms, item, make_desk, propose, queue, sign_in, statements, text_of
from tests.guards.write_guard import unguarded


@pytest.fixture
def desk(db):
    return make_desk()


def listed(client, query: str = "") -> list[str]:
    return [str(line.view.id) for line in client.get(queue(query)).context["lines"]]


def counts(client) -> dict[str, str]:
    return {tab.label: tab.count for tab in client.get(queue()).context["tabs"]}


def test_it_works(desk):
    first, second = propose(desk.cast.agent, "The port is 5432"), propose(desk.cast.agent, "端口是五千")
    assert listed(desk.ann) == [first, second]
    page = text_of(desk.ann, queue())
    for told in (
        "端口是五千",
        "The port is 5432",
        "commit_turn",
        "team / project:shop",
        "review.queue:projects",
        "agent",
    ):
        assert told in page, told
    assert item(first, "?queue=open") in page


def test_the_counts_are_the_lists(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(5)]
    for proposal, act in ((ids[0], "reject_proposal"), (ids[1], "approve_proposal"), (ids[2], "request_changes")):
        sent = {**forms(text_of(desk.ann, item(proposal)), act), "reason": "because"}
        desk.ann.post(item(proposal), sent)
    desk.ann.post(item(ids[3]), forms(text_of(desk.ann, item(ids[3])), "claim_proposal"))
    queues = {
        "Open": "open", "Claimed by me": "mine", "Snoozed": "snoozed", "Changes requested": "changes_requested",
        "Approved": "approved", "Rejected": "rejected",
    }  # fmt: skip
    assert counts(desk.ann) == {label: str(len(listed(desk.ann, f"?queue={name}"))) for label, name in queues.items()}
    assert counts(desk.ann)["Claimed by me"] == "1"
    assert counts(desk.ben)["Claimed by me"] == "0"
    progress = desk.ann.get(queue()).context["progress"]
    assert (progress.decided_today, progress.remaining) == (3, 2)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("?text=PORT", {"The Port is 5432"}),
        ("?text=端口", {"端口是五千"}),
        ("?scope=project:shed", {"Something of the shed"}),
        ("?scope=project:*", {"The Port is 5432", "端口是五千", "Something of the shed"}),
        ("?proposer=agent&action=commit_turn", {"The Port is 5432", "端口是五千", "Something of the shed"}),
        ("?proposer=nobody", set()),
        ("?rule=review.queue:projects&text=shed", {"Something of the shed"}),
        ("?min_age_hours=1", set()),
        ("?has_conflict=true", set()),
    ],
)
def test_the_address_is_the_filter(desk, query, wanted):
    ids = {propose(desk.cast.agent, text): text for text in ("The Port is 5432", "端口是五千")}
    ids[propose(desk.cast.agent, "Something of the shed", project="shed")] = "Something of the shed"
    found = listed(desk.ann, query)
    assert {ids[proposal] for proposal in found} == wanted
    assert listed(desk.ben, query) == found, "a copied address shows the same rows"


def test_the_form_keeps_what_it_filters_by(desk):
    page = text_of(desk.ann, queue("?queue=open&text=%22%3E%3Cb%3E&risk=high"))
    assert 'value="&quot;&gt;&lt;b&gt;"' in page
    assert re.search(r"<option selected>\s*high", page)
    assert "Nothing fits" in page


@pytest.mark.parametrize(
    "query",
    ["?queue=all", "?risk=huge", "?min_age_hours=x", "?cursor=zzz", "?similar_to=1", "?domain_id=%00", "?scope=::"],
)
def test_a_mangled_address_says_what_is_wrong(desk, query):
    answer = desk.ann.get(queue(query))
    assert answer.status_code in (404, 422), answer.content.decode()[:300]
    assert "Nothing was changed" in answer.content.decode()


def test_pages_follow_each_other_without_gaps(desk):
    made = [propose(desk.cast.agent, f"Thing number {n}") for n in range(45)]
    found, query = [], ""
    while True:
        answer = desk.ann.get(queue(query))
        found += [str(line.view.id) for line in answer.context["lines"]]
        if not answer.context["next"]:
            break
        query = f"?{answer.context['next']}"
    assert found == made


def test_high_risk_and_old_come_first(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(3)]
    with unguarded():
        Proposal.objects.filter(pk=ids[2]).update(risk=2)
    assert listed(desk.ann) == [ids[2], ids[0], ids[1]]


def test_a_reviewer_of_another_domain_sees_nothing(desk):
    make_person("cid", ELSEWHERE, is_staff=True)
    propose(desk.cast.agent, "The port is 5432")
    page = text_of(sign_in("cid"), queue())
    assert "5432" not in page
    assert set(counts(sign_in("cid")).values()) == {"0"}


def test_empty_queues_teach(desk):
    for query, told in (("", "Nothing waits for you"), ("?queue=mine", "What you claim"), ("?text=x", "Nothing fits")):
        assert told in text_of(desk.ann, queue(query))
    make_person("new", is_staff=True)
    assert "Nothing is assigned to you yet" in text_of(sign_in("new"), queue())


def save(client, query: str, name: str, **fields: str):
    return client.post(queue(), {"query": query, "name": name, **fields}, follow=True)


def test_saved_filters_are_tabs_with_counts(desk):
    for text in ("The port is 5432", "The stock is full"):
        propose(desk.cast.agent, text)
    page = save(desk.ann, "queue=open&text=port", "Ports").content.decode()
    assert "Saved as a tab" in page
    tab = desk.ann.get(queue("?queue=open&text=port")).context["saved"][0]
    assert (tab.label, tab.count, tab.current) == ("Ports", "1", True)
    assert desk.ben.get(queue()).context["saved"] == []
    save(desk.ann, "queue=open&domain_id=team&risk=normal", "Normal ones", shared="on")
    shared = desk.ben.get(queue()).context["saved"]
    assert [(tab.label, tab.count, tab.note) for tab in shared] == [("Normal ones", "2", "shared by ann")]
    own = desk.ann.get(queue("?queue=open")).context["own"]
    desk.ann.post(queue(), {"query": "queue=open", "forget": str(own[0].id)})
    assert len(desk.ann.get(queue("?queue=open")).context["own"]) == 1


def test_the_default_filter_opens_the_queue(desk):
    propose(desk.cast.agent, "The port is 5432")
    save(desk.ann, "queue=open&text=port", "Ports", is_default="on")
    assert desk.ann.get(queue())["Location"] == queue("?queue=open&text=port")
    assert desk.ben.get(queue()).status_code == 200


@pytest.mark.parametrize("name", ["", " ", "x" * 500])
def test_a_filter_needs_a_name(desk, name):
    answer = save(desk.ann, "queue=open", name)
    assert answer.status_code == 422
    assert desk.ann.get(queue("?queue=open")).context["saved"] == []


def test_the_queue_asks_few_questions_however_long_it_is(desk):
    for n in range(3):
        propose(desk.cast.agent, f"Thing {n}")
        save(desk.ann, f"queue=open&text=thing+{n}", f"Tab {n}")
    few = statements(desk.ann, queue("?queue=open"))
    for n in range(25):
        propose(desk.cast.agent, f"Further thing {n}")
    for n in range(3):
        save(desk.ann, f"queue=open&text=further+{n}", f"Further tab {n}")
    assert statements(desk.ann, queue("?queue=open")) == few
    assert few <= 20
