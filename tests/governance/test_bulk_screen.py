"""Deciding on several: a page always asks first, each is decided by itself, and every outcome is told."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from governance.admin import bulk
from governance.admin.bulk import HIGH
from governance.models import AuditEntry, Proposal
from kernel.ids import new_id
from tests.governance.desk import make_desk, propose, queue, statements, text_of
from tests.guards.write_guard import unguarded

BULK = "admin:governance_bulk"


@pytest.fixture
def desk(db):
    return make_desk()


def states() -> list[str]:
    return list(Proposal.objects.order_by("id").values_list("state", flat=True))


def ask(client, picks: list[str], verdict: str = "approve", **fields: str):
    """What the queue's form sends: the page that asks."""
    sent = {
        "step": "look",
        "query": "queue=open",
        "verdict": verdict,
        "pick": [f"{pick}:1" for pick in picks],
        **fields,
    }
    answer = client.post(reverse(BULK), sent)
    assert answer.status_code == 200, answer.content.decode()[:500]
    return answer


def confirm(client, asked, **fields):
    """Send the page that asks."""
    page = asked.content.decode()
    form = next(
        form for form in re.findall(r'<form method="post".*?</form>', page, re.DOTALL) if 'value="decide"' in form
    )
    sent: dict = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form):
        sent.setdefault(name, []).append(value.replace("&amp;", "&"))
    verdict = re.search(r'name="verdict" value="(\w+)" checked', form)
    assert verdict
    return client.post(reverse(BULK), {**sent, "verdict": verdict[1], **fields})


def test_it_works(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(3)]
    asked = ask(desk.ann, ids)
    assert states() == ["open"] * 3, "asking decides nothing"
    page = asked.content.decode()
    assert "Approve 3 proposals?" in page
    assert "Thing 2" in page
    done = confirm(desk.ann, asked, reason="all well known")
    assert "3 approved" in done.content.decode()
    assert states() == ["approved"] * 3
    entries = AuditEntry.objects.filter(action="approve_proposal")
    assert len({entry.request_id for entry in entries}) == 1
    assert entries.count() == 3


@pytest.mark.parametrize("reason", ["", "  ", "\u200b"])
def test_a_reason_is_always_needed(desk, reason):
    asked = ask(desk.ann, [propose(desk.cast.agent, "Thing")])
    answer = confirm(desk.ann, asked, reason=reason)
    assert answer.status_code == 422
    assert "Approve 1 proposal?" in answer.content.decode()
    assert states() == ["open"]


def test_what_changed_meanwhile_is_skipped_and_told(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(3)]
    asked = ask(desk.ann, ids)
    desk.cast.reviewer.do("reject_proposal", id=ids[1], reason="not this one")
    page = confirm(desk.ann, asked, reason="fine").content.decode()
    assert "2 approved, 1 decided before" in page
    assert "reviewer" in page
    assert states() == ["approved", "rejected", "approved"]


def test_high_risk_is_left_out_and_says_why(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(2)]
    with unguarded():
        Proposal.objects.filter(pk=ids[0]).update(risk=2)
    page = ask(desk.ann, ids).content.decode()
    assert "Approve 1 proposal?" in page
    assert "It is of high risk" in page


def test_all_that_match_are_counted_again(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(3)]
    asked = ask(desk.ann, ids[:1], all="yes", verdict="reject")
    assert "3 match the filter now" in asked.content.decode()
    late = propose(desk.cast.agent, "A late thing")
    page = confirm(desk.ann, asked, reason="noise").content.decode()
    assert "3 rejected" in page
    assert "1 more match" in page
    assert Proposal.objects.get(pk=late).state == "open"


def test_over_the_cap_the_rest_stays(db):
    desk = make_desk()
    desk.cast.operator.do("set_policy", document={"review": {"bulk_cap": 2}}, reason="few at a time")
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(4)]
    asked = ask(desk.ann, ids)
    page = asked.content.decode()
    assert "Approve 2 proposals?" in page
    assert "Policy allows 2 in one call" in page
    confirm(desk.ann, asked, reason="fine")
    assert states() == ["approved", "approved", "open", "open"]


def test_of_all_that_match_those_left_out_are_counted_however_many(desk, monkeypatch):
    monkeypatch.setattr(bulk, "PAGE", 3)
    desk.cast.operator.do("set_policy", document={"review": {"bulk_cap": 2}}, reason="few at a time")
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(9)]
    with unguarded():
        Proposal.objects.filter(pk=ids[8]).update(risk=2)
    asked = ask(desk.ann, [], all="yes")
    page = asked.content.decode()
    assert "9 match the filter now" in page
    assert "Approve 2 proposals?" in page
    assert "7 will not be decided" in page
    assert [(each.size, each.more) for each in asked.context["left_out"]] == [(6, 5), (1, 0)]
    narrow = ask(desk.ann, [], all="yes", query="queue=open&risk=normal")
    assert "6 will not be decided" in narrow.content.decode()


def test_what_was_not_looked_at_is_told_where_the_first_may_not_be_decided(desk, monkeypatch):
    monkeypatch.setattr(bulk, "PAGE", 3)
    monkeypatch.setattr(bulk, "why_not", lambda view, ctx: "You may see it and not decide on it.")
    desk.cast.operator.do("set_policy", document={"review": {"bulk_cap": 2}}, reason="few at a time")
    for n in range(5):
        propose(desk.cast.agent, f"Thing {n}")
    page = ask(desk.ann, [], all="yes").content.decode()
    assert "5 will not be decided" in page
    assert "looks at the first 3 only" in page


def test_like_ones_open_as_a_set(desk):
    told = (
        "Customers prefer e-mail",
        "customers prefer email.",
        "Our customers prefer email",
        "Customers prefer E-Mail!",
    )
    for n, text in enumerate(told):
        propose(desk.cast.agent, text, session=f"s{n}")
    for apart in ("Something else entirely", "Customers do not prefer e-mail"):
        propose(desk.cast.agent, apart)
    propose(desk.cast.agent, told[0], project="another")
    page = text_of(desk.ann, queue())
    link = re.search(r'href="([^"]+)">4 like this', page)
    assert link
    asked = desk.ann.get(link[1].replace("&amp;", "&"))
    assert "Approve 4 proposals?" in asked.content.decode()
    (group,) = asked.context["groups"]
    beside = [[(each.kind, each.text.strip()) for each in part.beside] for part in group.parts]
    assert beside[0] == [], "the first is what the others are compared with"
    assert ("removed", "Customers") in beside[1]
    assert ("added", "customers") in beside[1]
    assert all(beside[1:])


def test_equal_differences_stand_together(desk):
    ids = [propose(desk.cast.agent, "The port is 5432", session=f"s{n}") for n in range(2)]
    ids.append(propose(desk.cast.agent, "The port is 5433"))
    asked = ask(desk.ann, ids)
    (group,) = asked.context["groups"]
    assert [len(part.lines) for part in group.parts] == [2, 1]
    assert "2 times the same" in asked.content.decode()
    assert len(asked.context["picks"]) == 3


def test_what_would_be_replaced_is_compared_word_by_word(desk):
    first = propose(desk.cast.agent, "The port is 5432")
    desk.cast.reviewer.do("approve_proposal", id=first)
    row = Proposal.objects.get(pk=first)
    turn = {**row.input, "session_id": "s2", "idempotency_key": None}
    turn["turn_events"]["decisions"][0]["decision"] = "The port is 5433"
    proposal = desk.cast.agent.do("commit_turn", turn)
    second = (proposal.get("proposal") or proposal["queued"][0])["id"]
    for page in (ask(desk.ann, [second]).content.decode(), text_of(desk.ann, queue())):
        assert re.search(r"<del[^>]*>.*?5432", page, re.DOTALL), page[-3000:]
        assert re.search(r"<ins[^>]*>.*?5433", page, re.DOTALL)
    item = str(row.changes and Proposal.objects.get(pk=second).told_before)
    assert item == "The port is 5432"


def test_a_full_queue_asks_in_few_statements_and_counts_what_is_of_high_risk(desk):
    first = Proposal.objects.get(pk=propose(desk.cast.agent, "The port is 5432"))
    more = []
    for n in range(300):
        copy = Proposal.objects.get(pk=first.pk)
        copy.pk, copy.subject_key, copy.risk = new_id(), f"copy:{n}", 2 if n % 2 else n % 4 // 2
        more.append(copy)
    with unguarded():
        Proposal.objects.bulk_create(more)
    answer = desk.ann.get(reverse(BULK) + "?queue=open")
    assert len(answer.context["picks"]) == 50
    told = {each.why: len(each.views) + each.more for each in answer.context["left_out"]}
    assert sorted(told.values()) == [101, 150]
    assert told[HIGH] == 150
    assert "and 130 more" in answer.content.decode()
    assert statements(desk.ann, reverse(BULK) + "?queue=open") < 20
    only = desk.ann.get(reverse(BULK) + "?queue=open&risk=high")
    assert only.context["picks"] == []
    assert "Nothing of this can be decided here" in only.content.decode()


def test_a_batch_is_undone_at_once(desk):
    ids = [propose(desk.cast.agent, f"Thing {n}") for n in range(3)]
    done = confirm(desk.ann, ask(desk.ann, ids, verdict="reject"), reason="noise")
    request_id = re.search(r'name="request_id" value="([^"]+)"', done.content.decode())
    assert request_id
    page = desk.ann.post(reverse("admin:governance_undo"), {"request_id": request_id[1]}, follow=True).content.decode()
    assert "3 undone" in page
    assert states() == ["open"] * 3


def test_sending_it_twice_is_one_batch(desk):
    asked = ask(desk.ann, [propose(desk.cast.agent, "Thing")], verdict="reject")
    first, second = (confirm(desk.ann, asked, reason="noise").content.decode() for _ in range(2))
    assert "1 rejected" in first
    assert "1 rejected" in second
    assert AuditEntry.objects.filter(action="reject_proposal").count() == 1


@pytest.mark.parametrize(
    "picks",
    [
        ["x"],
        ["x:1"],
        [":"],
        ["00000000-0000-0000-0000-000000000000:1"],
        ["\x00:1"],
        ["00000000-0000-0000-0000-000000000000:²"],
    ],
)
def test_mangled_picks_decide_nothing(desk, picks):
    propose(desk.cast.agent, "Thing")
    sent = {"step": "look", "verdict": "approve", "pick": picks}
    assert "Nothing of this can be decided here" in desk.ann.post(reverse(BULK), sent).content.decode()
    answer = desk.ann.post(reverse(BULK), {**sent, "step": "decide", "reason": "r", "count": "²"})
    assert answer.status_code in (200, 422)
    assert states() == ["open"]


@pytest.mark.parametrize("verdict", ["approve", "reject", "request_changes"])
def test_where_nothing_was_picked_the_page_says_so(desk, verdict):
    propose(desk.cast.agent, "Thing")
    page = ask(desk.ann, [], verdict).content.decode()
    assert "Nothing was picked" in page
    assert "0 proposals" not in page
    assert 'name="reason"' not in page
    assert states() == ["open"]


def test_an_unknown_verdict_is_refused(desk):
    assert desk.ann.post(reverse(BULK), {"step": "look", "verdict": "explode"}).status_code == 422
    assert desk.ann.get(reverse(BULK) + "?verdict=explode").status_code == 422
