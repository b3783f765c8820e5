"""One decision holds for every way into a scope that many read: what policy lets wait there changes nothing there yet.

An action that is not named here fails the first test: say whether it writes memory of such a scope, and by which decision.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import pytest

from kernel.actions import Effect, all_actions, get
from kernel.errors import ForbiddenError
from media.models import DocumentShare
from memory.models import Entity, EntityAlias, KgEdge, MemoryItem
from memory.services.holding import ELEVATED
from search.models import IndexEntry
from tests.conftest import TEAM, Cast, a_turn
from tests.doors.examples import EXAMPLES
from tests.doors.examples.example import IN_PROJECT
from tests.doors.language_model import a_model

# They write memory, or change what a scope's memory says: a rule on `write_memory_item` holds them or that part of them.
LEARN = {"commit_turn", "extract_turn", "write_memory_item", "write_relation", "write_denial"}
JUDGE = {"retract_item", "correct_item", "narrow_item", "demote", "demote_from_scope"}
# They always wait for a person who decides in the place where they write.
REVIEWED = {"promote_to_scope", "raise_tier", "resolve_conflict", "reopen_conflict", "erase"}
# Documents and their filing are no memory: rules name them by themselves.
FILING = {
    "add_audio", "add_document", "add_document_to_topic", "add_image", "add_media", "add_video", "create_topic",
    "delete_tag", "delete_topic", "enqueue_media", "move_tag", "remove_document", "remove_document_from_topic",
    "share_document", "tag_sections", "unshare_document", "update_topic",
}  # fmt: skip
# Operators only, and no memory.
ADMINISTRATION = {
    "assign_reviewer", "create_principal", "grant_access", "issue_key", "reset_second_factor", "revoke_key", "set_policy",
    "unassign_reviewer",
}  # fmt: skip
GROUPS = (LEARN, JUDGE, REVIEWED, FILING, ADMINISTRATION)
EVERYBODY = ["agent", "person", "system"]

# An example that writes where many read, where that of the doors does not.
SHARED: dict[str, Callable[[Cast], dict[str, Any]]] = {
    "extract_turn": lambda cast: {
        "turn_id": cast.agent.do("commit_turn", a_turn("The port of the database is 5432.", **IN_PROJECT))["turn_id"]
    },
}


def hold(cast: Cast, action: str) -> None:
    rule = {"name": "shared", "actions": [action], "scope_types": list(ELEVATED), "actor_kinds": EVERYBODY}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look first")


def memory() -> list[Any]:
    """All that is remembered in scopes that many read."""
    there: Any = {"scope__scope_type__in": ELEVATED}
    return [
        list(MemoryItem.objects.filter(**there).order_by("id").values()),
        list(KgEdge.objects.filter(**there).order_by("id").values()),
        list(Entity.objects.filter(**there).order_by("id").values()),
        list(EntityAlias.objects.filter(entity__scope__scope_type__in=ELEVATED).order_by("id").values()),
    ]


def everything() -> list[Any]:
    """All that can be found or is filed there beside it."""
    there: Any = {"scope__scope_type__in": ELEVATED}
    found = IndexEntry.objects.filter(**there).order_by("pk").values("kind", "object_id", "state", "current_until")
    return [*memory(), list(found), list(DocumentShare.objects.filter(**there).order_by("pk").values())]


def call(cast: Cast, name: str, rule: str, looked_at: Callable[[], list[Any]]) -> tuple[list[Any], list[Any], Any]:
    """What was there before and after a call of the action under the rule, and its answer."""
    example = EXAMPLES[name]
    given = SHARED.get(name, example.given)(cast)
    hold(cast, rule)
    before = looked_at()
    answer = None
    with a_model() if example.model else nullcontext(), suppress(ForbiddenError):
        answer = getattr(cast, example.who).call(name, given)
    return before, looked_at(), answer


def test_every_action_that_writes_says_by_which_decision():
    writing = {action.name for action in all_actions() if action.effect is not Effect.READ and action.queueable}
    told = [name for group in GROUPS for name in group]
    assert len(told) == len(set(told))
    assert writing == set(told)
    assert {name for name in writing if get(name).reviewed} == REVIEWED


@pytest.mark.parametrize("name", sorted(LEARN | JUDGE))
def test_a_rule_on_new_memory_holds_whatever_else_would_change_it(cast, name):
    before, after, answer = call(cast, name, "write_memory_item", memory)
    assert after == before
    assert answer.queued or answer.body()["memory_written"]["queued"]


@pytest.mark.parametrize("name", sorted(LEARN | JUDGE))
def test_without_the_rule_the_same_call_changes_it(cast, name):
    before, after, answer = call(cast, name, "create_topic", memory)
    assert after != before
    assert answer.status == 200


@pytest.mark.parametrize("name", sorted(LEARN | JUDGE | REVIEWED | FILING))
def test_a_rule_on_everything_holds_everything(cast, name):
    before, after, _ = call(cast, name, "*", everything)
    assert after == before
