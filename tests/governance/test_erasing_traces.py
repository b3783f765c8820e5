"""How what quotes a thing that is erased is found: by an index where a transaction waits for it, and though it is older."""

from __future__ import annotations

import json
import re
from uuid import UUID, uuid4

import pytest
import uuid6

from governance.contracts.erasing import is_mark, mark
from governance.models import IdempotencyRecord, Proposal
from governance.selectors import erasing as selectors
from governance.services import Trail, earlier_removal
from kernel import ids
from kernel.errors import ConflictError, TransitionError
from kernel.ids import new_id
from legacy.services.scrubbing import scrub_moved_rows
from memory.models import MemoryItem
from tests.asked import plan_of
from tests.conftest import TEAM, Cast
from tests.governance.erasing import PLAN, SECRET, erase, holding, learned, refused, session_of
from tests.guards.write_guard import unguarded
from tests.memory.promoting import known, promote, promoter
from tests.memory.talk import commit

pytestmark = pytest.mark.django_db

THREE_DAYS = 3 * 86_400_000
AN_ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


def earlier() -> UUID:
    """An id as it was made three days ago."""
    return UUID(int=uuid6.uuid7().int - (THREE_DAYS << 80))


def queued(cast: Cast, **fields: object) -> str:
    """A turn for all that tells the secret and waits for a person; the id of its proposal."""
    everyone = {"type": "global", "id": "all"}
    rule = {"name": "globals", "actions": ["commit_turn"], "scope_types": ["global"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="shared by all")
    scopes = {"read": [everyone], "default_write": everyone}
    answer = commit(cast.agent, "s2", scopes=scopes, decisions=[PLAN], say=f"so {SECRET}", **fields)
    return str(answer["proposal"]["id"])


def test_it_works(cast):
    """What waited for days before it was approved leaves the answer that its proposer got then, and every digest of its
    input but the one in the audit log."""
    with ids.use(earlier):
        proposal = queued(cast, idempotency_key="k")
    answer = IdempotencyRecord.objects.get(key="k")
    assert answer.pk < earlier()
    assert proposal in json.dumps(answer.answer)
    before = Proposal.objects.get(pk=proposal)
    cast.reviewer.do("approve_proposal", id=proposal, revision=1, reason="yes", idempotency_key="a")
    told = erase(cast.operator, "session", session_of(cast.agent, "s2"), along=True)
    assert holding(SECRET) == set()
    for guess in (answer.fingerprint, before.digest, before.subject_key):
        assert {found.split(":")[0] for found in holding(guess)} <= {"audit_entries"}
    after = Proposal.objects.get(pk=proposal)
    assert (after.digest, after.subject_key) == ("", f"erased:{told['receipt_id']}")
    answer.refresh_from_db()
    assert (answer.fingerprint, answer.answer) == ("", {"erased_by_receipt": told["receipt_id"]})


def test_a_rejection_of_what_was_erased_stays(cast):
    ids = []
    for text in ("Use Postgres", "Use MySQL"):
        item = known(cast.agent, text)
        ids.append(promote(promoter(cast), item)["proposal"]["id"])
    chosen = [{"id": each, "revision": 1} for each in ids]
    bulk = cast.reviewer.do("decide_proposals", verdict="reject", proposals=chosen, reason="no")
    erase(cast.operator, "memory", *map(str, MemoryItem.objects.values_list("pk", flat=True)), along=True)
    with pytest.raises(TransitionError, match="erased since: there is nothing to decide"):
        cast.reviewer.do("undo_decision", proposal_id=ids[0], reason="back")
    answer = cast.reviewer.do("undo_decision", request_id=bulk["request_id"], reason="back")
    assert answer["summary"] == "2 cannot be taken back"
    assert set(Proposal.objects.values_list("state", flat=True)) == {"rejected"}


@pytest.mark.parametrize("say", ["so", "another text"])
def test_a_key_whose_call_was_erased_is_used_up_whatever_comes_under_it(cast, say):
    commit(cast.agent, "s1", say="so", idempotency_key="k")
    erase(cast.operator, "session", session_of(cast.agent))
    with pytest.raises(ConflictError, match="erased since"):
        commit(cast.agent, "s1", say=say, idempotency_key="k")


@pytest.mark.parametrize(
    "said", [None, {}, [], "erased", {"erased": str(AN_ID)}, {**mark(AN_ID), "deduplicated": True}]
)
def test_what_an_action_says_is_never_taken_for_the_mark(said):
    assert is_mark(mark(AN_ID))
    assert not is_mark(said)


def test_answers_given_before_anything_of_it_was_there_are_not_read(cast):
    name = str(new_id())
    with unguarded(), ids.use(earlier):
        row = IdempotencyRecord.objects.create(domain=TEAM, actor="x", action="y", key="z", answer={"id": name})
    assert selectors.traces_of(frozenset({name}), TEAM).answers == frozenset()
    assert selectors.traces_of(frozenset({name, str(uuid4())}), TEAM).answers == {row.pk}
    assert selectors.traces_of(frozenset({name, str(earlier())}), TEAM).answers == {row.pk}


def test_more_rows_than_can_be_looked_for_are_refused(cast, monkeypatch):
    item = learned(cast)
    monkeypatch.setattr(selectors, "MOST_NAMES", 0)
    assert "name fewer" in refused(cast.operator, "memory", item["id"]).message
    assert MemoryItem.objects.exists()


@pytest.mark.parametrize(
    ("asked", "table", "index"),
    [
        (lambda ctx: selectors.entries_about(frozenset({str(AN_ID)})), "audit_objects", "audit_objects_object"),
        (lambda ctx: scrub_moved_rows([AN_ID], TEAM, AN_ID), "migrated_rows", "migrated_rows_target"),
        (
            lambda ctx: earlier_removal(Trail("erase", input_digest="0"), "k", ctx),
            "idempotency_records",
            "idempotency_records_actor_key",
        ),
    ],
)
def test_what_the_transaction_looks_up_it_finds_by_an_index(cast, asked, table, index):
    ctx = cast.operator.ctx()
    with unguarded():
        found = plan_of(lambda: asked(ctx), table)
    assert re.search(rf"{index}.*(object_id|target_id|actor)", found), found
