"""What is learned with a secret in it, erased for good and looked for, in every table and in the sealed log."""

from __future__ import annotations

import json

import pytest
from django.apps import apps

from governance.audit import chain
from kernel.errors import DomainError
from tests.conftest import TEAM, Cast, Player, make_agent
from tests.guards.write_guard import guarded_tables
from tests.memory.talk import commit, context, only, ref

SECRET = "zebra-7315"
PLAN = {"key": "decision:zoo:food", "decision": f"The code is {SECRET}."}


@pytest.fixture
def eraser(cast: Cast) -> Player:
    """An agent that may erase in the whole domain."""
    return make_agent("eraser", TEAM, rights=["read", "write", "erase"])


def erase(player: Player, kind: str, *ids: str, **fields: object) -> dict:
    """Erase these things of that kind; the answer."""
    objects = [{"kind": kind, "id": each} for each in ids]
    return player.do("erase", {"domain_id": TEAM, "objects": objects, "reason": "asked to", **fields})


def refused(player: Player, kind: str, *ids: str, **fields: object) -> DomainError:
    """The error with which that is refused."""
    with pytest.raises(DomainError) as told:
        erase(player, kind, *ids, **fields)
    return told.value


def holding(text: str) -> set[str]:
    """The tables in which a text stands, anywhere in any row, with the row."""
    found = set()
    for model in apps.get_models():
        if model._meta.db_table in guarded_tables():
            for row in model._default_manager.values():
                if text in json.dumps(row, default=str, ensure_ascii=False):
                    found.add(f"{model._meta.db_table}: {json.dumps(row, default=str, ensure_ascii=False)[:3000]}")
    return found


def learned(cast: Cast, scope: str = "project:p", session: str = "s1") -> dict:
    """An item of a scope that holds the secret."""
    answer = commit(
        cast.agent, session, scopes=context(scope, write=(scope,)), decisions=[{**PLAN, "scope_ref": ref(scope)}]
    )
    return only(answer)


def session_of(player: Player, name: str = "s1") -> str:
    """The id of a session."""
    rows = player.do("list_sessions", domain_id=TEAM)["sessions"]
    return next(str(row["id"]) for row in rows if row["session_id"] == name)


def sealed() -> None:
    """Seal every entry of the audit log."""
    while chain.seal_next():
        pass


def faults() -> list:
    """What is wrong with the chain of seals."""
    return [*chain.check(0, 10_000).faults, *chain.unchained()]
