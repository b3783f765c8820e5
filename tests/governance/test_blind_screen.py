"""Second looks in the admin: who is asked about what, that nothing on the way tells the verdict, and what counts."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from governance.models import BlindReview, Proposal
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, make_person
from tests.governance.desk import item, make_desk, propose, queue, statements, text_of

LIST = "admin:governance_blind_list"
STATISTICS = "admin:governance_statistics"


@pytest.fixture
def desk(db):
    return make_desk(blind_sample=1)


def decided(desk, text: str, act: str = "approve_proposal", **fields: object) -> str:
    """A proposal that the reviewer decided on."""
    proposal = propose(desk.cast.agent, text)
    desk.cast.reviewer.do(act, id=proposal, reason="Verdict-giving words", **fields)
    return proposal


def look(proposal: str) -> str:
    return reverse("admin:governance_blind", args=[proposal])


def main(page: str) -> str:
    """The page without the navigation."""
    return page.partition('class="sb-detail')[2]


def answer(client: Client, proposal: str, verdict: str, reason: str = "as I see it"):
    """Fill in the form of the page and send it."""
    key = re.search(r'name="key" value="([^"]+)"', text_of(client, look(proposal)))
    assert key is not None
    return client.post(look(proposal), {"key": key[1], "verdict": verdict, "reason": reason}, follow=True)


def test_it_works(desk):
    first = decided(desk, "The port is 5432")
    second = decided(desk, "Customer 1 likes tea", "reject_proposal")
    page = text_of(desk.ann, reverse(LIST))
    assert page.index(look(second)) < page.index(look(first)), "newest first"
    shown = text_of(desk.ann, look(second))
    for told in (
        "Customer 1 likes tea",
        "agent",
        "team / project:shop",
        "Only <strong>facts</strong>",
        "wait for a person",
    ):
        assert told in shown, told
    sent = answer(desk.ann, second, "reject")
    assert sent.redirect_chain[-1][0] == look(first)
    assert "You agree: it was rejected because: Verdict-giving words" in sent.content.decode()
    sent = answer(desk.ann, first, "reject")
    assert sent.redirect_chain[-1][0] == reverse(LIST)
    assert "You do not agree: it was approved because: Verdict-giving words" in sent.content.decode()
    assert "No second look waits for you" in sent.content.decode()
    assert [row.state for row in Proposal.objects.order_by("id")] == ["approved", "rejected"]
    statistics = text_of(desk.ben, reverse(STATISTICS))
    assert "<td>2</td><td>1</td><td>50%</td>" in statistics


@pytest.mark.parametrize("act", ["approve_proposal", "reject_proposal", "edit_and_approve"])
def test_nothing_on_the_way_tells_the_verdict(desk, act):
    proposal = propose(desk.cast.agent, "The port is 5432")
    fields: dict[str, object] = {}
    if act == "edit_and_approve":
        given = Proposal.objects.get(pk=proposal).input
        given["turn_events"]["decisions"][0]["decision"] = "The harbour is closed"
        fields = {"input": given, "revision": 1}
    desk.cast.reviewer.do(act, id=proposal, reason="Verdict-giving words", **fields)
    for page in (text_of(desk.ann, reverse(LIST)), text_of(desk.ann, look(proposal))):
        assert "5432" in main(page)
        for tell in ("Verdict-giving", "reviewer</", "harbour", ">approved<", ">rejected<", "superseded"):
            assert tell not in main(page), tell
    pages = [
        re.sub(r'value="[^"]*"', "", main(text_of(desk.ann, look(each))).replace(each, ""))
        for each in (proposal, decided(desk, "The port is 5433", "reject_proposal"))
    ]
    assert ("It would be" in pages[0]) == ("It would be" in pages[1])


TELLS = ("Verdict-giving", "rejected by", "rejected</span>", "<code>reject_proposal")


def test_no_other_page_tells_it_before_the_look_is_given(desk):
    proposal = decided(desk, "Customer 1 prefers tea", "reject_proposal")
    beside = propose(desk.cast.agent, "Customer 2 prefers tea")
    page = desk.ann.get(item(proposal))
    assert (page.status_code, page["Location"]) == (302, look(proposal)), "the ordinary page leads to the second look"
    audit = reverse("admin:governance_auditentry_changelist")
    pages = [
        queue("?queue=rejected"),
        queue("?text=customer"),
        item(beside),
        reverse("admin:governance_proposal_changelist"),
        reverse("admin:governance_proposal_change", args=[proposal]),
        reverse("admin:index"),
        reverse("admin:governance_history"),
        f"{audit}?proposal={proposal}",
    ]
    for address in pages:
        text = main(desk.ann.get(address, follow=True).content.decode()) or text_of(desk.ann, address)
        for tell in (*TELLS, "Customer 1" if "queue" in address else TELLS[0]):
            assert tell not in text, (address, tell)
    late = desk.ann.post(item(proposal), {"act": "approve_proposal", "revision": "1"})
    said = late.content.decode()
    assert (late.status_code, "was decided by reviewer" in said) == (409, True), (
        "who pressed too late is told who was first"
    )
    assert [tell for tell in TELLS if tell in said] == []
    answer(desk.ann, proposal, "reject")
    assert "Verdict-giving words" in text_of(desk.ann, item(proposal))
    assert "Customer 1" in text_of(desk.ann, queue("?queue=rejected"))
    assert "reject_proposal" in text_of(desk.ann, f"{audit}?proposal={proposal}")


def test_only_others_are_asked(desk):
    proposal = decided(desk, "The mascot is Zebulon")
    make_person("cid", ELSEWHERE, is_staff=True)
    get_staff = sign_in("cid")
    assert "Zebulon" not in text_of(get_staff, reverse(LIST))
    ghost = str(uuid4())
    pages = [get_staff.get(look(each)) for each in (proposal, ghost)]
    assert [page.status_code for page in pages] == [404, 404]
    assert pages[0].content.decode().replace(proposal, ghost).count(ghost) == pages[1].content.decode().count(ghost)
    sent = {"verdict": "approve", "reason": "r"}
    assert [get_staff.post(look(each), sent).status_code for each in (proposal, ghost)] == [404, 404]
    assert not BlindReview.objects.exists()


def test_who_decided_or_was_second_is_not_asked_again(desk):
    proposal = propose(desk.cast.agent, "The mascot is Zebulon")
    desk.ann.post(
        reverse("admin:governance_item", args=[proposal]), {"act": "approve_proposal", "revision": "1", "reason": ""}
    )
    assert Proposal.objects.get(pk=proposal).state == "approved"
    assert "Zebulon" not in text_of(desk.ann, reverse(LIST))
    assert desk.ann.get(look(proposal)).status_code == 404
    assert desk.ann.post(look(proposal), {"verdict": "approve", "reason": "r"}).status_code == 403
    assert answer(desk.ben, proposal, "approve").status_code == 200
    late = desk.ben.post(look(proposal), {"verdict": "reject", "reason": "r"})
    assert late.status_code == 409
    assert "does not wait for a second look of yours" in late.content.decode()
    assert BlindReview.objects.get().verdict == "approved"


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [("approve", ""), ("approve", "\u200b"), ("", "r"), ("request_changes", "r"), ("x" * 99, "r")],
)
def test_half_an_answer_is_refused_and_stays_in_the_form(desk, verdict, reason):
    proposal = decided(desk, "The port is 5432")
    refused = answer(desk.ann, proposal, verdict, reason)
    assert refused.status_code == 422
    assert "Nothing was changed" in refused.content.decode()
    assert ("checked" in refused.content.decode().partition("<fieldset>")[2]) == (verdict == "approve")
    assert not BlindReview.objects.exists()


def test_a_double_click_is_one_answer(desk):
    proposal = decided(desk, "The port is 5432")
    sent = {"key": str(uuid4()), "verdict": "approve", "reason": "r"}
    for _click in range(2):
        assert desk.ann.post(look(proposal), sent).status_code == 302
    assert BlindReview.objects.count() == 1


def test_the_empty_page_teaches(db):
    desk = make_desk()
    decided(desk, "The mascot is Zebulon")
    page = text_of(desk.ann, reverse(LIST))
    assert "review.blind_sample" in page
    assert "Zebulon" not in main(page)
    assert f'href="{reverse(LIST)}"' in text_of(desk.ann, reverse("admin:index")), "it stands in the navigation"
    make_person("newcomer", is_staff=True)
    assert "Nothing is assigned to you yet" in text_of(sign_in("newcomer"), reverse(LIST))


def test_what_agents_wrote_is_content(desk):
    proposal = decided(desk, "<script>alert(1)</script> [x](javascript:1) \u202egnp.exe")
    for address in (reverse(LIST), look(proposal), look(proposal) + "?read=markdown"):
        page = text_of(desk.ann, address)
        assert "<script>alert" not in page
        assert 'href="javascript' not in page
        assert "⟦U+202E⟧" in page


def test_more_than_a_page_goes_on(desk, monkeypatch):
    monkeypatch.setattr("governance.admin.blind.PAGE", 2)
    ids = [decided(desk, f"Thing {n}") for n in range(3)]
    page = text_of(desk.ann, reverse(LIST))
    older = re.search(r'rel="next" href="(\?[^"]+)"', page)
    assert older is not None
    assert [look(each) in page for each in ids] == [False, True, True]
    assert look(ids[0]) in text_of(desk.ann, reverse(LIST) + older[1])
    assert desk.ann.get(reverse(LIST), {"cursor": "x"}).status_code == 422


def test_it_needs_its_token_and_few_questions(desk):
    proposal = decided(desk, "The port is 5432")
    client = Client(enforce_csrf_checks=True)
    client.cookies = desk.ann.cookies
    assert client.post(look(proposal), {"verdict": "approve", "reason": "r"}).status_code == 403
    few = statements(desk.ann, reverse(LIST)), statements(desk.ann, look(proposal))
    for n in range(6):
        decided(desk, f"Further thing {n}")
    assert (statements(desk.ann, reverse(LIST)), statements(desk.ann, look(proposal))) == few
    assert max(few) <= 15
