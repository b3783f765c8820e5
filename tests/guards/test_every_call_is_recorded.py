"""Every registered action leaves its entry: done or refused, and with what it changed. All doors leave the same one, as
`tests/doors/test_parity.py` shows for each action."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from governance.models import AuditEntry, AuditObject
from kernel.actions import Effect, all_actions, get
from kernel.errors import DomainError
from tests.doors.examples import EXAMPLES
from tests.doors.language_model import a_model

ACTIONS = [action.name for action in all_actions()]


def entries_of(before: set, name: str) -> list[AuditEntry]:
    """The entries since then of that action, and proof that all of the call share its request id."""
    rows = [row for row in AuditEntry.objects.order_by("id") if row.pk not in before]
    mine = [row for row in rows if row.action == name]
    assert mine, f"{name} left no entry"
    assert {row.request_id for row in rows if row.action != "register_policy_file"} == {mine[-1].request_id}
    return mine


def known() -> set:
    return set(AuditEntry.objects.values_list("pk", flat=True))


def test_it_works():
    assert set(ACTIONS) == set(EXAMPLES)


@pytest.mark.parametrize("name", ACTIONS)
def test_what_is_done_is_recorded_with_what_it_changed(cast, name):
    example = EXAMPLES[name]
    player, given = getattr(cast, example.who), example.given(cast)
    before = known()
    with a_model() if example.model else nullcontext():
        answer = player.call(name, given)
    entry = entries_of(before, name)[-1]
    assert (entry.outcome, entry.actor_id) == ("queued" if answer.queued else "allowed", player.identity.actor.id)
    assert entry.rule
    assert entry.policy_version
    assert entry.input_digest
    assert entry.facts["action"] == name
    touched = AuditObject.objects.filter(entry=entry)
    if get(name).effect is Effect.READ:
        assert not touched.exists()
    else:
        noted = {(each.table, each.object_id) for each in touched}
        assert noted == {(change["table"], change["id"]) for change in entry.changes}


@pytest.mark.parametrize("name", [name for name in ACTIONS if EXAMPLES[name].refused])
def test_what_is_refused_is_recorded_once_and_changes_nothing(cast, name):
    example = EXAMPLES[name]
    player, given = getattr(cast, example.refused or ""), example.given(cast)
    before = known()
    with pytest.raises(DomainError) as refused:
        player.call(name, given)
    (entry,) = entries_of(before, name)
    assert (entry.outcome, entry.code) == ("denied", refused.value.code)
    assert entry.actor_id == player.identity.actor.id
    assert entry.reason == refused.value.message


@pytest.mark.parametrize("name", ACTIONS)
def test_input_that_is_none_is_recorded_once(cast, name):
    before = known()
    with pytest.raises(DomainError):
        cast.agent.call(name, {"surprise": 1})
    (entry,) = entries_of(before, name)
    assert (entry.outcome, entry.code, entry.rule) == ("invalid", "invalid_input", "input")
