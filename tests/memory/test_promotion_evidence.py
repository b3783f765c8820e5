"""What verifies a promotion, what does not, and what a rejection of the same evidence means."""

from __future__ import annotations

from typing import Any

import pytest

from governance.models import Proposal
from kernel.errors import ConflictError, InvalidInputError
from memory.models import MemoryItem, Message
from tests.conftest import Cast, Player
from tests.memory.factories import made, scope_row
from tests.memory.promoting import ALL, NOBODY, SHOP, WHY, approve, known, promote, promoted, promoter
from tests.memory.talk import VERIFIED, commit, context, decision, only, ref


@pytest.mark.parametrize("refs", [[NOBODY], [{"kind": "card", "id": "x"}], [{"kind": "url", "id": "x"}], ["x"]])
def test_a_verification_that_leads_nowhere_is_refused(cast, refs):
    with pytest.raises(InvalidInputError):
        promote(promoter(cast), known(cast.agent), verification_refs=refs)


@pytest.mark.parametrize("given", [{}, {"verification_refs": []}])
def test_nothing_is_promoted_without_what_verifies_it(cast, given):
    """Case 58, whoever asks and whatever it is."""
    source = known(cast.agent)
    for player in (promoter(cast), cast.reviewer):
        with pytest.raises(InvalidInputError, match="verification_refs"):
            player.do("promote_to_scope", memory_item_id=source, target_scope=ref(SHOP), reason="agreed", **given)
    assert not Proposal.objects.exists()
    assert MemoryItem.objects.count() == 1


def test_a_memory_does_not_verify_itself(cast):
    source = known(cast.agent)
    with pytest.raises(InvalidInputError, match="itself"):
        promote(promoter(cast), source, verification_refs=[source])


def proof_of(player: Player) -> str:
    return known(player, "Postgres was measured", key="decision:db:measured")


@pytest.mark.parametrize("state", ["retracted", "superseded", "demoted", "retired"])
def test_what_does_not_hold_any_more_verifies_nothing(cast, state):
    agent = promoter(cast)
    proof = known(agent, "It was not measured", key="decision:db:measured") if state == "superseded" else ""
    left = state in ("demoted", "retired")
    row = str(made(scope_row("task:t"), lifecycle_status=state).id) if left else proof_of(agent)
    if state == "retracted":
        agent.do("retract_item", memory_item_id=row, reason="never")
    with pytest.raises(ConflictError, match=f"verification_refs: memory .* is {state} and confirms nothing") as told:
        promote(agent, known(agent), verification_refs=[WHY, proof or row])
    assert row in str(told.value)
    assert not Proposal.objects.exists()


def test_what_verified_it_must_hold_when_it_is_approved_too(cast):
    agent = promoter(cast)
    proof = proof_of(agent)
    queued = promote(agent, known(agent), verification_refs=[proof])
    agent.do("retract_item", memory_item_id=proof, reason="never")
    page = cast.reviewer.do("review_proposal", id=queued["proposal"]["id"])["presentation"]
    assert [each["source"].endswith(", by now retracted") for each in page["evidence"] if each["id"] == proof] == [
        True
    ]
    with pytest.raises(ConflictError, match="is retracted and confirms nothing"):
        approve(cast, queued)
    row = Proposal.objects.get()
    assert (row.state, "confirms nothing" in row.last_error) == ("open", True)


def test_nothing_of_its_own_line_verifies_a_memory(cast):
    agent = promoter(cast)
    source = known(agent)
    copy, other = (promoted(cast, source, target)["item"]["id"] for target in (SHOP, "project:other"))
    for item_id, proof in ((source, copy), (copy, source), (copy, other)):
        with pytest.raises(InvalidInputError, match="comes from the memory itself"):
            promote(agent, item_id, ALL, verification_refs=[proof])
    corrected = agent.do("correct_item", memory_item_id=source, text="Use Postgres 17", reason="newer")["item"]["id"]
    with pytest.raises(InvalidInputError, match="comes from the memory itself"):
        promote(agent, corrected, ALL, verification_refs=[copy])
    assert promote(agent, corrected, ALL, verification_refs=[proof_of(agent)])["status"] == "queued"


def test_a_candidate_becomes_trusted_by_what_verifies_it(cast):
    row = made(scope_row("task:t"), candidate=True, text="The cache is cold.")
    answer = promoted(cast, str(row.id), verification_refs=[WHY])
    assert (answer["item"]["lifecycle_status"], answer["item"]["confidence"]) == ("promoted", 0.6)


def test_rejected_stays_rejected_unless_the_evidence_changed(cast):
    agent = promoter(cast)
    source = known(agent)
    queued = promote(agent, source)
    cast.reviewer.do("reject_proposal", id=queued["proposal"]["id"], revision=1, reason="not for all")
    with pytest.raises(ConflictError):
        promote(agent, source)
    other = {"kind": "url", "id": "https://example.org/measured"}
    assert promote(agent, source, verification_refs=[WHY, other])["status"] == "queued"


MEASURED = {"kind": "url", "id": "https://example.org/measured"}


def rejected(cast: Cast, agent: Player, source: str, *refs: Any) -> None:
    queued = promote(agent, source, verification_refs=list(refs))["proposal"]
    cast.reviewer.do("reject_proposal", id=queued["id"], revision=1, reason="not for all")


def test_every_rejection_of_the_same_evidence_counts_whatever_came_in_between(cast):
    agent = promoter(cast)
    source = known(agent)
    rejected(cast, agent, source, WHY)
    rejected(cast, agent, source, MEASURED)
    for again in ([WHY], [MEASURED], [WHY, MEASURED], [MEASURED, WHY, MEASURED]):
        with pytest.raises(ConflictError, match="not for all"):
            promote(agent, source, verification_refs=again)
    rejected(cast, agent, source, WHY, {"kind": "url", "id": "https://example.org/new"})
    with pytest.raises(ConflictError, match="not for all"):
        promote(agent, source, verification_refs=[{"kind": "url", "id": "https://example.org/new"}, MEASURED])


def test_what_was_approved_since_an_earlier_rejection_may_be_proposed_again(cast):
    agent = promoter(cast)
    source = known(agent)
    rejected(cast, agent, source, WHY)
    copy = approve(cast, promote(agent, source, verification_refs=[MEASURED]))["item"]
    reason = {"reason_type": "obsolete", "reason": "no longer"}
    cast.reviewer.do("demote_from_scope", memory_item_id=copy["id"], evidence_refs=[WHY], **reason)
    assert promote(agent, source, verification_refs=[WHY])["status"] == "queued"


def test_another_spelling_of_rejected_evidence_is_the_same_evidence(cast):
    agent = promoter(cast)
    source = known(agent)
    commit(agent, "s2", messages=[{"role": "user", "content": "Yes.", "id": "m1"}], extract=False)
    proof = known(agent, "Postgres was measured", key="decision:db:measured")
    rejected(cast, agent, source, proof, {"kind": "message", "id": "m1"}, WHY)
    said = {"kind": "message", "id": str(Message.objects.get(external_id="m1").pk).upper()}
    address = {"kind": "url", "id": "HTTPS://Example.org:443/why/#again"}
    with pytest.raises(ConflictError, match="not for all"):
        promote(agent, source, verification_refs=[address, {"kind": "memory", "id": proof.upper()}, said, WHY])


def test_the_same_evidence_spelt_twice_is_the_same_call_while_it_waits(cast):
    agent = promoter(cast)
    source, proof = known(agent), known(agent, "Postgres was measured", key="decision:db:measured")
    first = promote(agent, source, verification_refs=[proof])["proposal"]["id"]
    spelt = [proof, {"kind": "memory", "id": proof.upper()}, proof.replace("-", "")]
    again = promote(agent, source, verification_refs=spelt)
    assert (again["proposal"]["id"], again["deduplicated"]) == (first, True)


def test_it_tells_what_the_copy_rests_on(cast):
    said = commit(cast.agent, scopes=context("task:t"), decisions=[decision("Use Redis", "decision:shop:cache")])
    source = str(only(said)["id"])
    body = {"memory_item_id": source, "target_scope": ref(SHOP), "reason": "for all", **VERIFIED}
    promotion = cast.reviewer.do("promote_to_scope", body)["promotion"]
    assert promotion["supporting"] == [{"kind": "memory", "id": source}, {"kind": "turn", "id": said["turn_id"]}]
    assert promotion["verification"] == VERIFIED["verification_refs"]
