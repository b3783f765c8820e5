"""The page of one proposal: what it shows, what each form does, and what it refuses."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from governance.admin.editing import edited
from governance.models import AuditEntry, Decision, Proposal, ProposalStep
from kernel import clock
from memory.models import MemoryItem, Turn
from scopes.models import Principal
from scopes.selectors import identify_principal
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, Player, make_person
from tests.governance.desk import decide, forms, item, make_desk, propose, queue, statements, text_of


@pytest.fixture
def desk(db):
    return make_desk()


def state(proposal: str) -> str:
    return Proposal.objects.get(pk=proposal).state


def test_it_works(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    page = text_of(desk.ann, item(proposal))
    for told in ("The port is 5432", "agent", "team / project:shop", "review.queue:projects", "Approve", "Reject"):
        assert told in page, told
    answer = decide(desk.ann, proposal, "approve_proposal")
    assert state(proposal) == "approved"
    assert "Approved, 0 left." in answer.content.decode()
    entry = AuditEntry.objects.get(action="approve_proposal")
    assert (entry.actor_name, entry.door) == ("ann", "admin")


def test_the_next_one_follows_with_the_same_filter(desk):
    first, second, third = (propose(desk.cast.agent, f"The port is 543{n}") for n in range(3))
    other = propose(desk.cast.agent, "Quite another thing", project="shed")
    answer = desk.ann.get(item(second, "?queue=open&scope=project:shop"))
    assert (str(answer.context["before"]), str(answer.context["after"])) == (first, third)
    sent = forms(answer.content.decode(), "approve_proposal")
    assert desk.ann.post(item(second), sent)["Location"] == item(third, "?queue=open&scope=project%3Ashop")
    sent = forms(text_of(desk.ann, item(third, "?queue=open&scope=project:shop")), "approve_proposal")
    assert desk.ann.post(item(third), sent)["Location"].startswith(item(first))
    sent = forms(text_of(desk.ann, item(first, "?queue=open&scope=project:shop")), "approve_proposal")
    assert desk.ann.post(item(first), sent)["Location"] == queue("?queue=open&scope=project%3Ashop")
    assert state(other) == "open"


@pytest.mark.parametrize("act", ["reject_proposal", "request_changes", "edit_and_approve"])
@pytest.mark.parametrize("reason", ["", "   ", "\u200b"])
def test_a_reason_is_required_by_the_service(desk, act, reason):
    proposal = propose(desk.cast.agent, "The port is 5432")
    answer = decide(desk.ann, proposal, act, reason=reason, input='{"domain_id": "team", "session_id": "x"}')
    assert answer.status_code == 422
    assert "Nothing was changed" in answer.content.decode()
    assert state(proposal) == "open"


def test_what_was_typed_is_still_there_after_a_refusal(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    page = decide(desk.ann, proposal, "edit_and_approve", reason="better so", input="{oops").content.decode()
    assert "not valid JSON" in page
    assert "better so" in page
    assert "{oops" in page


def test_reject_and_send_back_keep_the_reason(desk):
    for act, wanted in (("reject_proposal", "rejected"), ("request_changes", "changes_requested")):
        proposal = propose(desk.cast.agent, f"To {act}")
        decide(desk.ann, proposal, act, reason="say which project")
        assert state(proposal) == wanted
        assert desk.cast.agent.do("get_proposal", id=proposal)["decisions"][-1]["reason"] == "say which project"


def test_edit_and_approve_keeps_both_texts(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    page = text_of(desk.ann, item(proposal))
    name = 'field:["turn_events", "decisions", 0, "decision"]'
    sent = {**forms(page, "edit_and_approve"), name: "The port is 5433", "reason": "it moved"}
    desk.ann.post(item(proposal), sent)
    row = Proposal.objects.get(pk=proposal)
    assert (row.state, row.editor_name, row.proposer_name) == ("approved", "ann", "agent")
    assert row.proposed_input["turn_events"]["decisions"][0]["decision"] == "The port is 5432"
    assert row.input["turn_events"]["decisions"][0]["decision"] == "The port is 5433"
    shown = text_of(desk.ann, item(proposal))
    assert "edited by ann" in shown
    assert "As proposed" in shown


def test_a_stale_form_changes_nothing_and_says_who_was_first(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    old = forms(text_of(desk.ben, item(proposal)), "approve_proposal")
    decide(desk.ann, proposal, "reject_proposal", reason="not true")
    answer = desk.ben.post(item(proposal), old)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "rejected" in page
    assert "ann" in page
    assert state(proposal) == "rejected"
    assert 'data-key="a"' not in page, "what cannot be done has no button"


def test_a_form_sent_twice_is_one_decision(desk):
    first, second = propose(desk.cast.agent, "One"), propose(desk.cast.agent, "Two")
    sent = forms(text_of(desk.ann, item(first)), "approve_proposal")
    locations = {desk.ann.post(item(first), sent)["Location"] for _ in range(3)}
    assert len(locations) == 1
    assert Decision.objects.count() == 1
    assert state(second) == "open"


def test_a_claim_is_seen_by_others_and_given_back(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    decide(desk.ann, proposal, "claim_proposal")
    assert "ann is looking" in text_of(desk.ben, item(proposal))
    assert "ann is looking" in text_of(desk.ben, queue())
    assert "you are looking" in text_of(desk.ann, item(proposal))
    decide(desk.ann, proposal, "release_proposal")
    assert "ann is looking" not in text_of(desk.ben, item(proposal))


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({"until": "{day}T09:00"}, "{day} 09:00"),
        ({"until": "", "chosen": "", "seen_again": "3"}, "seen 4 times"),
    ],
)
def test_snoozing_puts_it_off(desk, fields, seen):
    day = f"{clock.now() + timedelta(days=30):%Y-%m-%d}"
    fields, seen = {name: value.format(day=day) for name, value in fields.items()}, seen.format(day=day)
    proposal = propose(desk.cast.agent, "The port is 5432")
    decide(desk.ann, proposal, "snooze_proposal", **fields)
    assert proposal not in text_of(desk.ann, queue())
    assert proposal in text_of(desk.ann, queue("?queue=snoozed"))
    assert seen in text_of(desk.ann, item(proposal))


@pytest.mark.parametrize(
    "fields",
    [{"until": "soon"}, {"seen_again": "x"}, {"seen_again": "0"}, {"seen_again": "²"}, {"until": "1999-01-01T00:00"}],
)
def test_a_bad_snooze_is_refused(desk, fields):
    proposal = propose(desk.cast.agent, "The port is 5432")
    assert decide(desk.ann, proposal, "snooze_proposal", **fields).status_code == 422
    assert Proposal.objects.get(pk=proposal).snoozed_until is None


def test_a_comment_stays_on_the_page(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    decide(desk.ann, proposal, "comment_on_proposal", text="<b>@ben</b> look")
    assert ProposalStep.objects.get(kind="comment").text == "<b>@ben</b> look"
    assert "&lt;b&gt;@ben&lt;/b&gt; look" in text_of(desk.ben, item(proposal))
    assert state(proposal) == "open"


def test_stored_text_is_content_and_never_interface(desk):
    nasty = "<script>alert(1)</script> [x](javascript:1) http://evil.example \u202egnp.exe a\u200bb"
    proposal = propose(desk.cast.agent, nasty)
    for query in ("", "?read=markdown", "?diff=unified"):
        page = text_of(desk.ann, item(proposal, query))
        assert "<script>alert" not in page
        assert 'href="javascript' not in page
        assert 'href="http://evil' not in page
        assert "⟦U+202E⟧" in page
        assert "⟦U+200B⟧" in page
        assert "hidden characters" in page


def test_a_stranger_and_a_ghost_look_alike(desk):
    make_person("cid", ELSEWHERE, is_staff=True)
    proposal = propose(desk.cast.agent, "The mascot is Zebulon")
    stranger, ghost = sign_in("cid"), str(uuid4())
    assert stranger.get(item(proposal))["Location"] == stranger.get(item(ghost))["Location"] == reverse("admin:index")
    sent = {"act": "approve_proposal", "revision": "1"}
    for address in (item(proposal), item(ghost)):
        answer = stranger.post(address, sent)
        assert answer.status_code == 404
        assert "Zebulon" not in answer.content.decode()
    assert state(proposal) == "open"


@pytest.mark.parametrize("act", ["", "set_policy", "decide_everything", "approve_proposal\x00"])
def test_only_the_forms_of_the_page_are_carried_out(desk, act):
    proposal = propose(desk.cast.agent, "The port is 5432")
    assert desk.ann.post(item(proposal), {"act": act}).status_code == 403


@pytest.mark.parametrize("revision", ["", "0", "-1", "99", "x", "9" * 40])
def test_a_mangled_revision_decides_nothing_wrong(desk, revision):
    proposal = propose(desk.cast.agent, "The port is 5432")
    answer = decide(desk.ann, proposal, "approve_proposal", revision=revision)
    assert answer.status_code in (200, 409, 422)
    assert (state(proposal) == "open") == (answer.status_code != 200)


def test_an_empty_revision_is_no_way_round_the_stale_guard(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    assert decide(desk.ann, proposal, "approve_proposal", revision="").status_code == 422
    assert state(proposal) == "open"


def test_a_decision_needs_its_token(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    client = Client(enforce_csrf_checks=True)
    client.cookies = desk.ann.cookies
    assert client.post(item(proposal), {"act": "approve_proposal", "revision": "1"}).status_code == 403
    assert state(proposal) == "open"


def test_context_stands_there_without_a_click(desk):
    propose(desk.cast.agent, "The stock is counted on Monday")
    rejected = propose(desk.cast.agent, "Customer 1 prefers e-mail")
    decide(desk.ann, rejected, "reject_proposal", reason="who is customer 1?")
    proposal = propose(desk.cast.agent, "Customer 2 prefers e-mail")
    page = text_of(desk.ann, item(proposal))
    for told in (
        "Try it out",
        "The stock is counted on Monday",
        "who is customer 1?",
        "1 rejected",
        "Only <strong>facts</strong>",
    ):
        assert told in page, told
    assert 'data-reason="2" data-text="not true any more"' in page
    assert "wait for a person" in page, "the rule in words"


def test_a_drafted_rule_shows_the_rule_and_its_replay(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    decide(desk.ann, proposal, "draft_rule", reason="it knows the shop")
    rule = Proposal.objects.get(action="set_policy")
    page = text_of(desk.ann, item(str(rule.pk)))
    shown = page.partition('id="change"')[2].partition("</section>")[0]
    assert "section review" in shown
    assert "commit_turn in project:shop" in shown, "the rule itself stands there, and is not folded away"
    assert "further row" not in page
    assert "like this" not in page, "it is no other like itself"
    assert "newest calls of the last 30 days" in page


def test_a_burst_is_said(db):
    desk = make_desk(burst_per_hour=3)
    for n in range(4):
        proposal = propose(desk.cast.agent, f"Thing {n}")
    assert "Burst" in text_of(desk.ann, item(proposal))


def test_nobody_finds_a_button_for_what_they_proposed(desk):
    desk.cast.operator.do("create_principal", name="anns-agent", domain_id="team", owner="ann")
    principal = Principal.objects.get(name="anns-agent")
    own = Player("anns-agent", identify_principal(principal))
    proposal = propose(own, "The port is 5432")
    mine, bens = text_of(desk.ann, item(proposal)), text_of(desk.ben, item(proposal))
    assert 'data-key="a"' not in mine
    assert 'data-key="e"' not in mine
    assert "ask another reviewer" in mine
    assert 'data-key="a"' in bens
    answer = desk.ann.post(item(proposal), forms(bens, "approve_proposal"))
    assert answer.status_code == 403
    assert state(proposal) == "open"


def test_a_text_that_begins_with_a_new_line_is_edited_by_nobody_who_leaves_it(desk):
    proposal = propose(desk.cast.agent, "\n\nThe port is 5432")
    given = Proposal.objects.get(pk=proposal).input
    page = text_of(desk.ann, item(proposal))
    boxes = dict(re.findall(r'<textarea name="(field:[^"]*)"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL))
    sent = {unescape(name): unescape(text).replace("\n", "\r\n") for name, text in boxes.items()}
    assert "\r\n\r\nThe port is 5432" in sent.values()
    assert edited(given, sent) == given


def test_the_notice_offers_undo_as_a_plain_form(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    page = decide(desk.ann, proposal, "reject_proposal", reason="no").content.decode()
    assert f'action="{reverse("admin:governance_undo")}"' in page
    answer = desk.ann.post(reverse("admin:governance_undo"), {"proposal_id": proposal}, follow=True)
    assert answer.redirect_chain[-1][0].startswith(item(proposal))
    assert state(proposal) == "open"
    assert [row.verdict for row in Decision.objects.order_by("created_at", "id")] == ["rejected", "reopened"]


def test_undoing_what_another_decided_asks_for_a_reason(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    decide(desk.ann, proposal, "reject_proposal", reason="no")
    undo = reverse("admin:governance_undo")
    answer = desk.ben.post(undo, {"proposal_id": proposal})
    assert answer.status_code == 422
    assert "Reason for taking it back" in answer.content.decode()
    assert state(proposal) == "rejected"
    desk.ben.post(undo, {"proposal_id": proposal, "reason": "it is true"})
    assert state(proposal) == "open"


# Statements of a page in a full house, where everything that it can show is there. The design's 15 are what the page asks
# by itself and for what it shows of memory; asking the index what is similar takes four more, and where another
# policy is in force than the one that held the call, one more. Every kind of proposal about memory is counted in
# tests/memory/test_review_pages.py.
STATEMENTS = {"commit_turn": 18, "write_memory_item": 17, "retract_item": 18, "correct_item": 18}


def busy_proposals(desk) -> dict[str, str]:
    """A proposal of each kind with neighbours, contradictions, comments, claims and earlier decisions around it."""
    agent, place = desk.cast.agent, {"type": "project", "id": "shop"}
    for n in range(8):
        ports = {"key": f"decision:shop:port-{n}", "decision": f"The port of the shop {n} is 543{n}"}
        agent.do("write_memory_item", domain_id=TEAM, scope=place, type="decisions", item=ports)
    rejected = propose(agent, "The port of the shop 8 is 5432")
    desk.cast.reviewer.do("reject_proposal", id=rejected, reason="which shop?")
    turn = propose(agent, "The port of the shop 7 is 5432")
    desk.cast.reviewer.do("comment_on_proposal", id=turn, text="see @ben")
    decide(desk.ben, turn, "claim_proposal")
    held = {"review": {"queue": [{"name": "all", "actions": ["write_memory_item", "retract_item", "correct_item"]}]}}
    desk.cast.operator.do("set_policy", domain_id=TEAM, document=held, reason="all is reviewed")
    first, second, third = MemoryItem.objects.filter(current_until=None).order_by("id")[:3]
    other = {"key": first.key, "decision": "The port of the shop 0 is 9999"}
    refs = [{"kind": "memory", "id": str(third.pk)}]
    calls = {
        "write_memory_item": {"domain_id": TEAM, "scope": place, "type": "decisions", "item": other},
        "retract_item": {"memory_item_id": str(first.pk), "reason": "no port"},
        "correct_item": {"memory_item_id": str(second.pk), "text": "It is 1", "reason": "no", "evidence_refs": refs},
    }
    waiting = {name: str(agent.do(name, given)["proposal"]["id"]) for name, given in calls.items()}
    return {"commit_turn": turn, **waiting}


def test_a_page_of_one_proposal_asks_few_questions(desk):
    busy = busy_proposals(desk)
    few = {name: statements(desk.ann, item(proposal, "?queue=open")) for name, proposal in busy.items()}
    for n in range(12):
        learned = {"key": f"decision:shop:further-{n}", "decision": f"The port of the shop {n} is {n}"}
        place = {"type": "project", "id": "shop"}
        desk.cast.agent.do("write_memory_item", domain_id=TEAM, scope=place, type="decisions", item=learned)
    assert {name: statements(desk.ann, item(proposal, "?queue=open")) for name, proposal in busy.items()} == few
    assert {name: n for name, n in few.items() if n > STATEMENTS[name]} == {}


def test_the_effect_is_tried_out_and_nothing_kept(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    before = MemoryItem.objects.count(), Turn.objects.count()
    page = text_of(desk.ann, reverse("admin:governance_effect", args=[proposal]))
    assert "</strong> new memory" in page
    assert (MemoryItem.objects.count(), Turn.objects.count()) == before
    make_person("cid", ELSEWHERE, is_staff=True)
    assert sign_in("cid").get(reverse("admin:governance_effect", args=[proposal])).status_code == 404


def test_a_claim_by_looking_says_nothing(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    sent = forms(text_of(desk.ann, item(proposal)), "claim_proposal")
    answer = desk.ann.post(item(proposal), {**sent, "quiet": "1"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert "Claimed." not in text_of(desk.ann, queue())
    assert desk.ben.post(item(proposal), {**sent, "quiet": "1"}).status_code == 204
    assert Proposal.objects.get(pk=proposal).claimed_name == "ann"
    assert desk.ann.post(item(proposal), {**sent, "act": "approve_proposal", "quiet": "1"}).status_code == 403
    assert state(proposal) == "open"
