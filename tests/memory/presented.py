"""A proposal about memory as a reviewer is shown it: its rows and its effect."""

from __future__ import annotations

from typing import Any

from governance import hooks
from governance.contracts.presenting import EffectLine, Presentation, Snapshot
from governance.gate.opening import writing
from governance.models import Proposal
from kernel.actions import Change, get
from kernel.db import rolled_back
from tests.conftest import TEAM, Cast, Player

SHOP, TASK = "project:shop", "task:t"
WHY = {"kind": "url", "id": "https://example.org/why"}


def hold(cast: Cast, *actions: str) -> None:
    """These actions wait for a person."""
    rule = {"name": "look", "actions": list(actions)}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look first")


def the_proposal() -> Proposal:
    """The newest proposal."""
    return Proposal.objects.latest("id")


def presented(by: Player) -> Presentation:
    """The newest proposal as that reviewer sees it."""
    row = the_proposal()
    presenter = hooks.presenter_of(row.action)
    assert presenter is not None
    given = get(row.action).input.parse(row.input)
    return presenter(given, [Change.from_json(kept) for kept in row.changes], by.ctx())


def effect(by: Player, ctx_of: Player | None = None) -> tuple[list[EffectLine], list[Snapshot], list[Snapshot]]:
    """The effect of the open proposal and the contexts before and while it is in force."""
    row = the_proposal()
    action = get(row.action)
    given = action.input.parse(row.input)
    ctx = (ctx_of or by).ctx()
    changes = [Change.from_json(kept) for kept in row.changes]
    before = [each for take in hooks.snapshot_takers() for each in take(changes, by.ctx())]
    prepared = action.prepare(given, ctx)
    assert action.apply is not None
    with writing(), rolled_back():
        _, done = action.apply(given, prepared, ctx)
        lines = [line for find in hooks.effects() for line in find(list(done), by.ctx())]
        after = [each for take in hooks.snapshot_takers() for each in take(list(done), by.ctx())]
    return lines, before, after


def fields(presentation: Presentation, place: int = 0) -> dict[str, tuple[Any, Any]]:
    """Before and after of every field of a row."""
    return {each.name: (each.before, each.after) for each in presentation.rows[place].fields}
