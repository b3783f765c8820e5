"""What happens between the preparation of a call and its application counts: it is looked at again under the lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kernel import actions
from kernel.errors import ConflictError
from memory.models import EvidenceLink, MemoryItem
from tests.guards.write_guard import unguarded
from tests.memory.acting import SHOP, TASK, demote, known, retract
from tests.memory.factories import made, scope_row
from tests.memory.talk import VERIFIED, item, ref

URL = {"kind": "url", "id": "https://example.org/measured"}
MEASURED = {"supporting_refs": [URL], **VERIFIED}
CALLS: dict[str, dict[str, Any]] = {
    "promote_to_scope": {"target_scope": ref("global:all"), "reason": "for all", **VERIFIED},
    "narrow_item": {"target_scope": ref(TASK), "reason": "only here"},
    "raise_tier": {"tier": "qi", "reason": "it works", **MEASURED},
}


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Let something happen once an action has prepared its call, and before it applies it."""

    def let(name: str, happen: Callable[[], object]) -> None:
        action = actions.get(name)

        def prepare(given: Any, ctx: Any) -> Any:
            ready = action.prepare(given, ctx)
            happen()
            return ready

        monkeypatch.setitem(actions._registry, name, replace(action, prepare=prepare))

    return let


@pytest.mark.parametrize("status", ["demoted", "retired"])
@pytest.mark.parametrize("name", sorted(CALLS))
def test_what_was_demoted_meanwhile_is_used_for_nothing(cast, meanwhile, name, status):
    row = known(cast.agent)
    meanwhile(name, lambda: demote(cast.reviewer, row, status=status))
    with pytest.raises(ConflictError):
        cast.reviewer.do(name, memory_item_id=row, **CALLS[name])
    assert (MemoryItem.objects.count(), item(row).lifecycle_status, item(row).status) == (1, status, "active")


@pytest.mark.parametrize("name", sorted(CALLS))
def test_what_is_demoted_is_used_for_nothing(cast, name):
    """Also where no counterexample is on record."""
    row = str(made(scope_row(SHOP), demoted=True).id)
    with pytest.raises(ConflictError, match="is demoted: nobody is shown it"):
        cast.reviewer.do(name, memory_item_id=row, **CALLS[name])


def test_a_counterexample_given_meanwhile_counts(cast, meanwhile):
    row = known(cast.agent)

    def speak_against() -> None:
        with unguarded():
            fields = {"domain_id": item(row).domain_id, "item_id": row, "role": "counterexample"}
            EvidenceLink.objects.create(kind="url", ref="https://example.org/slow", **fields)

    meanwhile("raise_tier", speak_against)
    with pytest.raises(ConflictError, match="1 counterexamples"):
        cast.reviewer.do("raise_tier", memory_item_id=row, **CALLS["raise_tier"])
    assert MemoryItem.objects.count() == 1


@pytest.mark.parametrize("name", ["promote_to_scope", "raise_tier"])
def test_proof_that_was_taken_back_meanwhile_proves_nothing(cast, meanwhile, name):
    row, proof = known(cast.agent), known(cast.agent, "It was measured", key="decision:shop:measured")
    meanwhile(name, lambda: retract(cast.agent, proof))
    given = {**CALLS[name], "verification_refs": [proof]}
    with pytest.raises(ConflictError, match="confirms nothing"):
        cast.reviewer.do(name, memory_item_id=row, **given)
