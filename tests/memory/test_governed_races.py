"""Promotion, retraction and correction by several at once, on real connections of both databases."""

from __future__ import annotations

from threading import Event
from typing import Any
from uuid import UUID

import pytest
from django.db.models import Count

from kernel.errors import ConflictError, DomainError, UnavailableError
from memory.contracts.items import TRUSTED
from memory.models import KnowledgeEvent, MemoryItem
from memory.services.copies import make
from search.models import IndexEntry
from tests.conftest import Cast, make_cast
from tests.memory.talk import VERIFIED, commit, context, decision, item, only, ref
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

TASK, SHOP = "task:t", "project:shop"
URL = {"kind": "url", "id": "https://example.org/measured"}


def known(cast: Cast, text: str = "Use Postgres", scope: str = TASK, **fields: str) -> str:
    return str(only(commit(cast.agent, scopes=context(scope), decisions=[decision(text, **fields)]))["id"])


def promote(cast: Cast, item_id: str) -> dict:
    body = {"memory_item_id": item_id, "target_scope": ref(SHOP), "reason": "for all", **VERIFIED}
    return cast.reviewer.do("promote_to_scope", body)


def sound() -> None:
    """One current row a key, and the index as the trusted rows are."""
    doubled = MemoryItem.objects.filter(current_until=None).values("scope", "type", "key").annotate(n=Count("pk"))
    assert not doubled.filter(n__gt=1).exists()
    held = MemoryItem.objects.filter(current_until=None, status="active", lifecycle_status__in=TRUSTED)
    current = set(held.values_list("pk", flat=True))
    entries = IndexEntry.objects.filter(kind="memory", state="current")
    assert set(entries.values_list("object_id", flat=True)) == current


def test_one_memory_promoted_by_six_at_once_is_one_copy():
    """Field report A6."""
    cast = make_cast()
    source = known(cast)
    outcomes = at_once([lambda: promote(cast, source)] * 6)
    answers = [each for each in outcomes if not isinstance(each, DomainError)]
    assert answers
    assert [
        each for each in outcomes if isinstance(each, DomainError) and not isinstance(each, UnavailableError)
    ] == []
    assert len({each["item"]["id"] for each in answers}) == 1
    assert MemoryItem.objects.filter(scope__external_id="shop").count() == 1
    assert len([each for each in answers if not each["deduplicated"]]) == 1
    kinds = list(KnowledgeEvent.objects.filter(kind__in=("promoted", "copied")).values_list("kind", flat=True))
    assert sorted(kinds) == ["copied", "promoted"]
    assert len({each["promotion"]["event_id"] for each in answers}) == 1
    sound()


def test_retracted_by_four_at_once_it_is_taken_back_once():
    cast = make_cast()
    row = known(cast)
    works = [lambda: cast.agent.do("retract_item", memory_item_id=row, reason="wrong")] * 4
    answers = [each for each in at_once(works) if not isinstance(each, DomainError)]
    assert len([each for each in answers if not each["deduplicated"]]) == 1
    assert KnowledgeEvent.objects.filter(item_id=UUID(row), kind="retracted").count() == 1
    sound()


def test_of_two_corrections_one_wins_and_the_other_learns_what_holds_now():
    cast = make_cast()
    row = known(cast)
    works = [
        lambda n=n: cast.agent.do("correct_item", memory_item_id=row, text=f"Use database {n}", reason="wrong")
        for n in range(4)
    ]
    outcomes = at_once(works)
    won = [each for each in outcomes if not isinstance(each, DomainError)]
    lost = [each for each in outcomes if isinstance(each, DomainError) and not isinstance(each, UnavailableError)]
    assert len(won) == 1
    assert all(isinstance(each, ConflictError) and won[0]["item"]["id"] in each.message for each in lost)
    sound()


def test_promoted_while_it_is_corrected_the_copy_is_of_one_or_of_none():
    cast = make_cast()
    for number in range(3):
        row = known(cast, f"Use version {number}")
        outcomes = at_once(
            [
                lambda row=row: promote(cast, row),
                lambda row=row: cast.agent.do("correct_item", memory_item_id=row, text=f"Use {row}", reason="x"),
            ]
        )
        for refused in (each for each in outcomes if isinstance(each, DomainError)):
            assert isinstance(refused, ConflictError | UnavailableError), refused
        sound()


def test_demoted_while_it_is_committed_again_it_stays_demoted():
    cast = make_cast()
    row = known(cast, scope=SHOP)
    why = [{"kind": "url", "id": "https://e.example"}]
    at_once(
        [
            lambda: cast.reviewer.do(
                "demote", memory_item_id=row, evidence_refs=why, reason_type="unsafe", reason="no"
            ),
            *([lambda: commit(cast.agent, scopes=context(SHOP), decisions=[decision()])] * 3),
        ]
    )
    assert item(row).lifecycle_status == "demoted"
    assert MemoryItem.objects.filter(scope__external_id="shop").count() == 1


MADE_FROM: dict[str, dict[str, Any]] = {
    "promote_to_scope": {"target_scope": ref("global:all"), **VERIFIED},
    "narrow_item": {"target_scope": ref(TASK)},
    "raise_tier": {"tier": "qi", "supporting_refs": [{"kind": "url", "id": "https://e.example/measured"}], **VERIFIED},
}


@pytest.mark.parametrize("name", sorted(MADE_FROM))
def test_demoted_while_another_row_is_made_of_it_it_is_made_before_or_not_at_all(name):
    cast = make_cast()
    why = {"evidence_refs": [{"kind": "url", "id": "https://e.example"}], "reason_type": "unsafe", "reason": "no"}
    for number in range(4):
        row = known(cast, f"Use version {number}", SHOP, key=f"decision:shop:{number}")
        outcomes = at_once(
            [
                lambda row=row: cast.reviewer.do(name, memory_item_id=row, reason="for all", **MADE_FROM[name]),
                lambda row=row: cast.reviewer.do("demote", memory_item_id=row, **why),
            ]
        )
        for refused in (each for each in outcomes if isinstance(each, DomainError)):
            assert isinstance(refused, ConflictError | UnavailableError), refused
        steps = list(KnowledgeEvent.objects.filter(item_id=UUID(row)).order_by("id").values_list("kind", flat=True))
        assert "demoted" not in steps or "copied" not in steps[steps.index("demoted") :]
        sound()


@pytest.mark.parametrize("name", ["promote_to_scope", "raise_tier"])
def test_proof_in_another_scope_stands_until_what_rests_on_it_is_made(monkeypatch, name):
    cast = make_cast()
    proof = known(cast, "It was measured", "expert:bench", key="decision:shop:measured")
    given = {
        "memory_item_id": known(cast),
        "reason": "measured",
        "verification_refs": [{"kind": "memory", "id": proof}],
    }
    to: dict[str, Any] = {"target_scope": ref(SHOP)}
    given |= to if name == "promote_to_scope" else {"tier": "qi", "supporting_refs": [URL]}
    making, fallen, fell_before = Event(), Event(), []

    def make_late(*args: Any) -> Any:
        making.set()
        fell_before.append(fallen.wait(1))
        return make(*args)

    def retract() -> None:
        assert making.wait(600)
        cast.reviewer.do("retract_item", memory_item_id=proof, reason="measured wrongly")
        fallen.set()

    monkeypatch.setattr("memory.actions.promotion.make", make_late)
    at_once([lambda: cast.reviewer.do(name, given), retract])
    assert fell_before == [False]
    assert item(proof).status == "retracted"
