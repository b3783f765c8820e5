"""Foretelling a call: it is decided on and tried as it would be made, and undone at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from governance.gate.calls import try_out
from governance.gate.deciding import Call, decide_on, place_of, trail_of
from governance.gate.opening import writing
from governance.policies import Verdict
from kernel.actions import Action, Change, Target
from kernel.context import Ctx
from kernel.contracts import Contract

In = TypeVar("In", bound=Contract)
Out = TypeVar("Out", bound=Contract)
Before = TypeVar("Before")
During = TypeVar("During")


@dataclass(frozen=True, slots=True)
class Foretold(Generic[Before, During]):
    """What would become of a call: whether it would wait for a person in `place`, by which rule, what it would change,
    and what was seen before and during that. `seen` is None where an earlier call did the same: nothing would change."""

    waits: bool
    rule: str
    place: str
    changes: list[Change]
    seen: tuple[Before, During] | None


def foretell(
    action: Action[In, Out, Any],
    given: In,
    target: Target,
    ctx: Ctx,
    before: Callable[[Sequence[Change]], Before],
    during: Callable[[Sequence[Change]], During],
) -> Foretold[Before, During]:
    """Try a call of `ctx` about `target` in a transaction that is rolled back. Raises what the call would raise."""
    this = Call(action, given, replace(ctx, memo={}), trail_of(action, given))
    waits = decide_on(this, target) is Verdict.QUEUE
    prepared = action.prepare(given, this.ctx)
    rule, place = this.trail.rule, place_of(target)
    if action.known is not None and action.known(given, prepared, this.ctx) is not None:
        return Foretold(False, rule, place, [], None)
    changes, first, second = tried_twice(this, prepared, before, during)
    return Foretold(waits, rule, place, changes, (first, second))


def tried_twice(
    this: Call[In, Out],
    prepared: Any,
    before: Callable[[Sequence[Change]], Before],
    during: Callable[[Sequence[Change]], During],
) -> tuple[list[Change], Before, During]:
    """What a call would change, what `before` saw without it, and what `during` saw while it was in force. Both are given
    the changes."""
    with writing():
        changes = try_out(this, prepared)
        first = before(changes)
        second: list[During] = []
        try_out(this, prepared, lambda again: second.append(during(again)))
        return changes, first, second[0]
