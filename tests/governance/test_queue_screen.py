"""The queue: tabs whose counts are the lists, an address that is the filter, lines that say what would change."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from governance.models import Proposal
from governance.selectors import choices
from scopes.selectors import authenticate_key
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, Player, make_person
from tests.governance.desk import decide, forms, item, make_desk, propose, queue, statements, text_of
from tests.guards.write_guard import unguarded

pytestmark = pytest.mark.usefixtures("midday")


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
    propose(desk.cast.agent, "The mascot is Zebulon")
    page = text_of(sign_in("cid"), queue())
    assert "Zebulon" not in page
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


NARROWINGS = [
    "text=port",
    "text=端口",
    "scope=project:shed",
    "scope=project:*",
    "mentions_me=true",
    "risk=normal",
    "rule=x",
]


@pytest.mark.parametrize("narrowing", NARROWINGS)
def test_the_counts_follow_every_filter(desk, narrowing):
    texts = ("The port is 5432", "端口是五千", "A port of the shed")
    ids = [propose(desk.cast.agent, text, project="shed" if "shed" in text else "shop") for text in texts]
    desk.cast.reviewer.do("comment_on_proposal", id=ids[0], text="@ann look")
    decide(desk.ann, ids[2], "reject_proposal", reason="no")
    tabs = desk.ann.get(queue(f"?queue=open&{narrowing}")).context["tabs"]
    assert {tab.label: tab.count for tab in tabs} == {
        tab.label: str(len(listed(desk.ann, f"?{tab.query}"))) for tab in tabs
    }
    assert all(narrowing.split("=")[0] in tab.query for tab in tabs), "a tab keeps the filter"


def test_filters_choose_among_what_is_there(desk):
    for text, project in (("One", "shop"), ("Two", "shop"), ("Three", "shed")):
        propose(desk.cast.agent, text, project=project)
    pickers = {each.name: each for each in desk.ann.get(queue("?queue=open")).context["pickers"]}
    told = {name: [(one.value, one.count) for one in each.choices] for name, each in pickers.items()}
    assert told["scope"] == [("project:*", 3), ("project:shop", 2), ("project:shed", 1)]
    assert told["proposer"] == [("agent", 3)]
    assert not pickers["scope"].open
    shed = {each.name: each for each in desk.ann.get(queue("?queue=open&scope=project:shed")).context["pickers"]}
    assert [(one.value, one.count) for one in shed["proposer"].choices] == [("agent", 1)], "the other filters hold"
    assert [(one.value, one.count) for one in shed["scope"].choices] == told["scope"], "one can go to another scope"


def test_only_a_field_with_more_values_than_are_listed_is_typed_in(desk, monkeypatch):
    monkeypatch.setattr(choices, "SHOWN", 2)
    for text, project in (("One", "shop"), ("Two", "shop"), ("Three", "shed")):
        propose(desk.cast.agent, text, project=project)
    told = desk.cast.reviewer.do("proposal_counts", choices_of="open")["choices"]
    assert (told["cut"], told["at_least"]) == (["scope"], False)
    pickers = {each.name: each.open for each in desk.ann.get(queue("?queue=open")).context["pickers"]}
    assert {name for name, is_open in pickers.items() if is_open} == {"scope"}
    monkeypatch.setattr(choices, "COUNTED_TO", 2)
    told = desk.cast.reviewer.do("proposal_counts", choices_of="open")["choices"]
    assert (told["cut"], told["at_least"]) == ([], True)
    assert all(each.open for each in desk.ann.get(queue("?queue=open")).context["pickers"])


def test_a_chosen_value_that_is_gone_stays_chosen(desk):
    page = text_of(desk.ann, queue("?queue=open&proposer=%3Cb%3E"))
    assert re.search(r'<option value="&lt;b&gt;" selected>', page)


def test_choices_tell_nothing_of_another_domain(desk):
    propose(desk.cast.agent, "One")
    make_person("cid", ELSEWHERE, is_staff=True)
    assert all(not each.choices for each in sign_in("cid").get(queue()).context["pickers"])


def offered(page: str) -> dict[str, str]:
    """What the first form that undoes on a page would send."""
    form = page.partition(f'action="{reverse("admin:governance_undo")}"')[2].partition("</form>")[0]
    found = re.findall(r'name="([^"]+)" value="([^"]*)"', form)
    return {name: value.replace("&amp;", "&") for name, value in found}


def test_undo_keeps_the_filter(desk):
    first, _ = propose(desk.cast.agent, "The port is 5432"), propose(desk.cast.agent, "Another port")
    sent = {**forms(text_of(desk.ann, item(first, "?queue=open&text=port")), "reject_proposal"), "reason": "no"}
    toast = desk.ann.post(item(first), sent, follow=True).content.decode()
    answer = desk.ann.post(reverse("admin:governance_undo"), offered(toast))
    assert answer["Location"] == item(first, "?queue=open&text=port")


def test_a_bulk_undone_comes_back_to_its_filter(desk):
    ids = [propose(desk.cast.agent, text) for text in ("One port", "Two ports")]
    sent = {"step": "decide", "verdict": "reject", "reason": "no", "pick": [f"{each}:1" for each in ids]}
    done = desk.ann.post(reverse("admin:governance_bulk"), {**sent, "query": "queue=open&text=port"}).content.decode()
    assert desk.ann.post(reverse("admin:governance_undo"), offered(done))["Location"] == queue("?queue=open&text=port")


def test_a_promotion_shows_what_would_be_promoted(desk):
    agent = desk.cast.agent
    scope = {"type": "task", "id": "t"}
    said = {"key": "decision:t:port", "decision": "The port is 5432"}
    known = agent.do("write_memory_item", domain_id=TEAM, scope=scope, type="decisions", item=said)
    desk.cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read", "write", "promote"])
    promotion = {
        "memory_item_id": known["item"]["id"],
        "target_scope": {"type": "project", "id": "shop"},
        "reason": "the team agreed",
        "verification_refs": [{"kind": "url", "id": "https://example.org/why"}],
    }
    promoter = Player("agent", authenticate_key(agent.key), agent.key)
    promoter.do("promote_to_scope", promotion)
    (line,) = desk.ann.get(queue("?queue=open")).context["lines"]
    assert [(each.kind, each.text) for each in line.difference] == [("added", "The port is 5432")]
    assert "1 new, 0 changed" not in text_of(desk.ann, queue("?queue=open"))
