"""What a person rejected comes back only with evidence that no rejection of it has seen, however it is put."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from governance.models import Proposal
from governance.services import Evidence
from governance.services.proposals import _seen_in
from kernel.errors import ConflictError
from tests.conftest import TEAM, Cast
from tests.guards.write_guard import unguarded
from tests.memory.talk import commit, context, decision, ref
from tests.memory.test_queued_items import SHOP, approve, hold, write


def url(name: str) -> dict[str, str]:
    return {"kind": "url", "id": f"https://example.org/{name}"}


A, B, C = url("a"), url("b"), url("c")


def propose(cast: Cast, *refs: dict, text: str = "Use Postgres", **given: Any) -> dict:
    return write(cast.agent, decision(text, evidence_refs=list(refs)), **given)


def reject(cast: Cast, queued: dict, reason: str = "we did not") -> str:
    proposal: str = queued["proposal"]["id"]
    cast.reviewer.do("reject_proposal", id=proposal, revision=queued["proposal"]["revision"], reason=reason)
    return proposal


@pytest.fixture
def desk(cast: Cast) -> Cast:
    hold(cast, "project")
    return cast


def test_it_works(desk):
    reject(desk, propose(desk, A))
    second = reject(desk, propose(desk, B), "nor did that show it")
    for again in ((A,), (B,), (A, B), (B, A), (A, A, B), ()):
        with pytest.raises(ConflictError, match="once its evidence has changed") as refused:
            propose(desk, *again)
    assert refused.value.extra["rejected"]["proposal_id"] == second, "of what says nothing new, the newest is named"
    assert propose(desk, A, B, C)["status"] == "queued"


def test_the_rejection_that_saw_it_is_named(desk):
    first = reject(desk, propose(desk, A), "not by a")
    reject(desk, propose(desk, B), "not by b")
    with pytest.raises(ConflictError, match="not by a") as refused:
        propose(desk, A)
    assert refused.value.extra["rejected"]["proposal_id"] == first


@pytest.mark.parametrize("text", ["use postgres", "Use  Postgres.", "We use PostgreSQL", "Ｕｓｅ Postgres!"])
def test_nearly_the_same_words_are_the_same_subject(desk, text):
    reject(desk, propose(desk, A))
    with pytest.raises(ConflictError, match="we did not"):
        propose(desk, A, text=text)
    assert propose(desk, A, B, text=text)["status"] == "queued"


@pytest.mark.parametrize("text", ["Use MySQL", "Do not use Postgres", "Use Postgres 16"])
def test_other_words_are_another_subject(desk, text):
    reject(desk, propose(desk, A))
    assert propose(desk, A, text=text)["status"] == "queued"


def test_another_scope_is_another_subject(desk):
    reject(desk, propose(desk, A))
    assert propose(desk, A, scope=ref("project:atlas"))["status"] == "queued"


def test_another_key_is_another_subject(desk):
    reject(desk, propose(desk, A))
    fields = decision("Use Postgres", "decision:shop:archive", evidence_refs=[A])
    assert write(desk.agent, fields)["status"] == "queued"


def test_a_rejection_that_was_undone_bars_nothing(desk):
    first = reject(desk, propose(desk, A))
    desk.reviewer.do("undo_decision", proposal_id=first, reason="by mistake")
    again = propose(desk, A)
    assert (again["proposal"]["id"], again["deduplicated"]) == (first, True)
    desk.reviewer.do("approve_proposal", id=first)


def test_an_approval_of_the_same_ends_what_was_rejected_before(desk):
    reject(desk, propose(desk, A))
    approve(desk, propose(desk, B)["proposal"]["id"])
    assert propose(desk, A)["status"] == "queued"


def test_a_revision_does_not_bring_back_what_was_rejected_and_what_it_told_before_was_seen(desk):
    reject(desk, propose(desk, A))
    queued = propose(desk, B)["proposal"]
    given = {**queued["input"], "item": decision(evidence_refs=[A])} if "input" in queued else None
    given = given or {
        **desk.agent.do("get_proposal", id=queued["id"])["input"],
        "item": decision(evidence_refs=[A]),
    }
    with pytest.raises(ConflictError, match="we did not"):
        desk.agent.do("revise_proposal", id=queued["id"], input=given)
    given["item"] = decision(evidence_refs=[C])
    revised = desk.agent.do("revise_proposal", id=queued["id"], input=given)
    reject(desk, revised)
    for again in ((B,), (C,), (C, B, A)):
        with pytest.raises(ConflictError, match="we did not"):
            propose(desk, *again)


def test_a_person_may_propose_it_again(desk):
    reject(desk, propose(desk, A))
    body = {"domain_id": TEAM, "scope": ref(SHOP), "type": "decisions", "item": decision(evidence_refs=[A])}
    assert desk.operator.do("write_memory_item", body)["item"]["statement"] == "Use Postgres"


def test_turns_that_say_the_same_are_each_their_own(cast):
    """Else a turn would be lost because another conversation said `yes` too."""
    hold(cast, "project", actions=("commit_turn",))
    reject(cast, commit(cast.agent, "one", say="Yes.", scopes=context(SHOP)))
    assert commit(cast.agent, "two", say="Yes.", scopes=context(SHOP))["status"] == "queued"


def test_rejections_from_before_pieces_were_kept_hold(desk):
    old = reject(desk, propose(desk, A, B))
    with unguarded():
        Proposal.objects.filter(pk=old).update(rests_on=[])
    for again in ((A, B), ()):
        with pytest.raises(ConflictError, match="we did not"):
            propose(desk, *again)
    with unguarded():
        import_module("memory.migrations.0012_rests_on").fill(apps, connection.schema_editor())
    with pytest.raises(ConflictError, match="we did not"):
        propose(desk, A)


@pytest.mark.parametrize(
    ("rejected", "given", "barred"),
    [
        ([], ["a"], False),
        ([["a"]], ["a"], True),
        ([["a"]], ["b"], False),
        ([["a"], ["b"]], ["b", "a"], True),
        ([["a"], ["b"]], ["b", "c"], False),
        ([["a", "b"]], ["a"], True),
        ([["a", "b"]], [], True),
        ([[]], [], True),
        ([[]], ["a"], False),
    ],
)
def test_the_rule_as_a_table(rejected, given, barred):
    rows = [Proposal(evidence="+".join(pieces), rests_on=pieces) for pieces in rejected]
    assert (_seen_in(rows, Evidence("+".join(given), tuple(given))) is not None) is barred
