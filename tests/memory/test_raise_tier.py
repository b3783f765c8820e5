"""Making tiered knowledge of a memory: on enough distinct evidence, as a new row, never without a person."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import ConflictError, ForbiddenError, InvalidInputError
from memory.models import EvidenceLink, MemoryItem
from tests.conftest import Player
from tests.memory.factories import made, scope_row
from tests.memory.promoting import approve, promoter
from tests.memory.talk import commit, compose, context, decision, item, only

SHOP = "project:shop"
TIERS = {"qi": (1, 1, 0), "shu": (1, 1, 0), "dao_ren": (2, 1, 0), "dao_tian": (3, 2, 1)}


def urls(role: str, number: int) -> list[dict]:
    return [{"kind": "url", "id": f"https://{role}.example/{n}"} for n in range(number)]


def refs(tier: str, **fewer: int) -> dict:
    roles = ("supporting", "verification", "teaching")
    wanted = {role: count - fewer.get(role, 0) for role, count in zip(roles, TIERS[tier], strict=True)}
    return {f"{role}_refs": urls(role, count) for role, count in wanted.items()}


def rise(player: Player, item_id: str, tier: str = "shu", **fields: Any) -> dict:
    body = {"memory_item_id": item_id, "tier": tier, "reason": "it has proved itself", **refs(tier), **fields}
    return player.do("raise_tier", body)


def known(player: Player, text: str = "Index what you filter by") -> str:
    return str(only(commit(player, scopes=context(SHOP), decisions=[decision(text)]))["id"])


@pytest.mark.parametrize("tier", TIERS)
def test_it_works(cast, tier):
    """Specification cases 114 and 115."""
    source = known(cast.agent)
    queued = rise(promoter(cast), source, tier)
    assert queued["status"] == "queued"
    assert MemoryItem.objects.filter(tier=tier).count() == 0, "the row exists only after approval"
    raised = item(approve(cast, queued)["item"]["id"])
    law = tier == "dao_tian"
    assert (raised.tier, raised.lifecycle_status, raised.pinned) == (tier, "canonical" if law else "promoted", law)
    assert (raised.memory_kind, raised.statement) == ("knowledge", "Index what you filter by")
    assert (str(raised.source_item_id), raised.version) == (source, 2)
    assert item(source).current_until is not None
    assert EvidenceLink.objects.filter(item=raised, role="verification").count() == TIERS[tier][1]
    package = compose(cast.agent, "What do we index?", "s9", scope_context=context(SHOP))
    assert [each["group"] for each in package["evidence"]] == [tier]


@pytest.mark.parametrize(
    ("tier", "role"),
    [("qi", "supporting"), ("shu", "verification"), ("dao_ren", "supporting"), ("dao_tian", "teaching"), ("dao_tian", "verification")],
)  # fmt: skip
def test_too_little_evidence_is_refused_and_names_what_is_missing(cast, tier, role):
    with pytest.raises(InvalidInputError, match=f"{role}_refs: {tier} needs"):
        rise(promoter(cast), known(cast.agent), tier, **refs(tier, **{role: 1}))


def test_one_reference_counts_once_and_in_one_role(cast):
    """Specification case 117."""
    source = known(cast.agent)
    one = urls("x", 1)
    with pytest.raises(InvalidInputError, match="supporting_refs"):
        rise(promoter(cast), source, "dao_ren", supporting_refs=one * 2)
    with pytest.raises(InvalidInputError, match="another role"):
        rise(promoter(cast), source, supporting_refs=one, verification_refs=one)


def test_a_memory_is_no_evidence_of_itself(cast):
    source = known(cast.agent)
    with pytest.raises(InvalidInputError, match="supporting_refs: shu needs 1 distinct references, 0 given"):
        rise(promoter(cast), source, supporting_refs=[source])


@pytest.mark.parametrize("role", ["supporting", "verification", "teaching"])
def test_what_was_taken_back_supports_nothing(cast, role):
    agent = promoter(cast)
    measured = decision("It was measured", key="decision:db:measured")
    proof = only(commit(agent, scopes=context(SHOP), decisions=[measured]))["id"]
    agent.do("retract_item", memory_item_id=proof, reason="never")
    given = refs("dao_tian")
    given[f"{role}_refs"] = [*given[f"{role}_refs"], proof]
    with pytest.raises(ConflictError, match=f"{role}_refs: memory .* is retracted"):
        rise(agent, known(agent), "dao_tian", **given)


def test_counterexamples_block(cast):
    """Specification case 116."""
    source = known(cast.agent)
    cast.reviewer.do(
        "demote", memory_item_id=source, evidence_refs=urls("c", 1), reason_type="contradicted", reason="it was slow"
    )
    with pytest.raises(ConflictError, match="1 counterexamples"):
        rise(promoter(cast), source)


def test_what_stands_there_already_is_not_raised(cast):
    row = made(scope_row(SHOP), method=True, text="Write tests first.")
    with pytest.raises(ConflictError, match="already"):
        rise(promoter(cast), str(row.id))
    assert rise(cast.reviewer, str(row.id), "dao_ren")["item"]["tier"] == "dao_ren"


def test_trust_is_no_more_than_that_of_the_least_trusted_memory_it_rests_on(cast):
    """Field report M1."""
    weak = made(scope_row(SHOP), text="Somebody said so.", confidence=0.2)
    raised = rise(cast.reviewer, known(cast.agent), supporting_refs=[str(weak.id)])
    assert raised["item"]["confidence"] == 0.2


def test_the_right_to_promote_is_needed(cast):
    with pytest.raises(ForbiddenError):
        rise(cast.agent, known(cast.agent))
